//! LZF chunks as compress-lzf writes them: "ZV", a type, lengths of two bytes, big-endian.

use crate::pieces::{Framing, Header, Packing, Piece};

/// A copy of at most 264 bytes takes three bytes of input.
const RATIO_MAX: usize = 264 / 3;
const CHUNK_BYTES_MAX: usize = 0xffff;

pub(crate) struct Lzf;

impl Framing for Lzf {
    const HEADER_BYTES: usize = 7;
    const MAGIC: &[u8] = b"ZV";
    /// Two letters are weak evidence: the chunk after is looked at too.
    const LOOK_BYTES: usize = 2 * Self::HEADER_BYTES + CHUNK_BYTES_MAX;

    fn header(head: &[u8]) -> Header {
        let number = |at: usize| usize::from(head[at]) << 8 | usize::from(head[at + 1]);
        let (header_bytes, packed_bytes, plain_bytes, packing) = match *head {
            [b'Z', b'V', 0, _, _, ..] => (5, number(3), number(3), Packing::Raw),
            [b'Z', b'V', 1, _, _, _, _, ..] => (7, number(3), number(5), Packing::Packed),
            [b'Z'] | [b'Z', b'V'] | [b'Z', b'V', 0 | 1, ..] => return Header::Short,
            _ => return Header::Bad,
        };
        let piece = Piece { header_bytes, packed_bytes, plain_bytes, packing, checksum: 0 };
        piece.checked(RATIO_MAX)
    }

    fn unpack(&mut self, piece: &Piece, packed: &[u8], to: &mut [u8]) -> bool {
        match piece.packing {
            Packing::Raw => {
                to.copy_from_slice(packed);
                true
            }
            Packing::Packed => unpack(packed, to).is_some(),
        }
    }
}

/// A byte below 32 begins that many literals and one more; any other a copy: three bits of
/// length (7: another byte adds to it) and thirteen of distance.
fn unpack(packed: &[u8], to: &mut [u8]) -> Option<()> {
    let (mut from, mut at) = (0, 0);
    while from < packed.len() {
        let control = usize::from(packed[from]);
        from += 1;
        if control < 32 {
            let bytes = control + 1;
            to.get_mut(at..at + bytes)?.copy_from_slice(packed.get(from..from + bytes)?);
            from += bytes;
            at += bytes;
            continue;
        }
        let mut bytes = (control >> 5) + 2;
        if bytes == 9 {
            bytes += usize::from(*packed.get(from)?);
            from += 1;
        }
        let distance = ((control & 31) << 8 | usize::from(*packed.get(from)?)) + 1;
        from += 1;
        let begin = at.checked_sub(distance)?;
        let end = at + bytes;
        if end > to.len() {
            return None;
        }
        if distance >= bytes {
            to.copy_within(begin..begin + bytes, at);
        } else {
            // The copy reads what it writes: a run.
            for at in at..end {
                to[at] = to[at - distance];
            }
        }
        at = end;
    }
    (at == to.len()).then_some(())
}
