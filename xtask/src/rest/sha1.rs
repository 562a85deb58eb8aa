//! SHA-1, by which recorded answers name their exact bytes.

const START: [u32; 5] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0];
const BLOCK_BYTES: usize = 64;

/// As 40 hexadecimal digits.
pub(super) fn sha1(bytes: &[u8]) -> String {
    let mut state = START;
    let (blocks, rest) = bytes.as_chunks::<BLOCK_BYTES>();
    for block in blocks {
        mix(&mut state, block);
    }
    // A one bit, zeros, and the length in bits end the last block.
    let mut end = [0; 2 * BLOCK_BYTES];
    end[..rest.len()].copy_from_slice(rest);
    end[rest.len()] = 0x80;
    let n_end = if rest.len() < BLOCK_BYTES - 8 { BLOCK_BYTES } else { 2 * BLOCK_BYTES };
    end[n_end - 8..n_end].copy_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());
    for block in end[..n_end].as_chunks::<BLOCK_BYTES>().0 {
        mix(&mut state, block);
    }
    state.map(|word| format!("{word:08x}")).concat()
}

fn mix(state: &mut [u32; 5], block: &[u8; BLOCK_BYTES]) {
    let mut words = [0; 80];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for i in 16..80 {
        words[i] = (words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16]).rotate_left(1);
    }
    let mut v = *state;
    for (i, word) in words.into_iter().enumerate() {
        let (mixed, constant) = match i {
            0..20 => ((v[1] & v[2]) | (!v[1] & v[3]), 0x5A82_7999),
            20..40 => (v[1] ^ v[2] ^ v[3], 0x6ED9_EBA1),
            40..60 => ((v[1] & v[2]) | (v[1] & v[3]) | (v[2] & v[3]), 0x8F1B_BCDC),
            _ => (v[1] ^ v[2] ^ v[3], 0xCA62_C1D6_u32),
        };
        let sum = v[0].rotate_left(5).wrapping_add(mixed).wrapping_add(v[4]);
        let first = sum.wrapping_add(constant).wrapping_add(word);
        v = [first, v[0], v[1].rotate_left(30), v[2], v[3]];
    }
    for (word, more) in state.iter_mut().zip(v) {
        *word = word.wrapping_add(more);
    }
}

#[cfg(test)]
mod tests {
    use super::sha1;

    #[test]
    fn known_digests() {
        assert_eq!(sha1(b""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
        assert_eq!(sha1(b"abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        let two_blocks = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(sha1(two_blocks), "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
        assert_eq!(
            sha1("a".repeat(1_000_000).as_bytes()),
            "34aa973cd4c4daa4f61eeb2bdbad27316534016f"
        );
    }
}
