//! `LZ4Block`, the framing of lz4-java that Spark uses: magic, token, packed length, plain
//! length, checksum of the plain bytes. A piece of no bytes ends a stream; where streams were
//! appended to each other, another follows.

use twox_hash::XxHash32;

use crate::pieces::{Framing, Header, Packing, Piece};

const SEED: u32 = 0x9747_b28c;
/// lz4-java's `asChecksum` keeps so many bits.
const CHECKSUM_BITS: u32 = 0x0fff_ffff;
/// A match is lengthened by at most 255 bytes for each byte of input.
const RATIO_MAX: usize = 255;

pub(crate) struct Lz4Block;

impl Framing for Lz4Block {
    const HEADER_BYTES: usize = 21;
    const MAGIC: &[u8] = b"LZ4Block";
    const LOOK_BYTES: usize = Self::HEADER_BYTES;

    fn header(head: &[u8]) -> Header {
        if !head.starts_with(&Self::MAGIC[..head.len().min(8)]) {
            return Header::Bad;
        }
        let Some(fields) = head.get(8..Self::HEADER_BYTES) else {
            return Header::Short;
        };
        let number = |at: usize| {
            u32::from_le_bytes([fields[at], fields[at + 1], fields[at + 2], fields[at + 3]])
        };
        let packing = match fields[0] & 0xf0 {
            0x10 => Packing::Raw,
            0x20 => Packing::Packed,
            _ => return Header::Bad,
        };
        let (packed_bytes, plain_bytes) = (number(1) as usize, number(5) as usize);
        if plain_bytes == 0 {
            return if packed_bytes == 0 { Header::Nothing(21) } else { Header::Bad };
        }
        let checksum = number(9);
        Piece { header_bytes: 21, packed_bytes, plain_bytes, packing, checksum }.checked(RATIO_MAX)
    }

    fn unpack(&mut self, piece: &Piece, packed: &[u8], to: &mut [u8]) -> bool {
        match piece.packing {
            Packing::Raw => to.copy_from_slice(packed),
            Packing::Packed => match lz4_flex::block::decompress_into(packed, to) {
                Ok(bytes) if bytes == to.len() => {}
                _ => return false,
            },
        }
        XxHash32::oneshot(SEED, to) & CHECKSUM_BITS == piece.checksum
    }
}
