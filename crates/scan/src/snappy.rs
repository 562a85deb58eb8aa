//! The framing of snappy-java: a header of 16 bytes, then chunks of a big-endian length and
//! raw snappy. The header comes again where streams were appended to each other.

use crate::pieces::{Framing, Header, Packing, Piece};

const STREAM_HEADER_BYTES: usize = 16;
/// A copy of at most 64 bytes takes two bytes of input or more.
const RATIO_MAX: usize = 64;

#[derive(Default)]
pub(crate) struct Snappy(snap::raw::Decoder);

impl Framing for Snappy {
    const HEADER_BYTES: usize = STREAM_HEADER_BYTES;
    const MAGIC: &[u8] = b"\x82SNAPPY\0";
    const LOOK_BYTES: usize = STREAM_HEADER_BYTES;

    fn header(head: &[u8]) -> Header {
        if head.starts_with(Self::MAGIC) {
            let whole = head.len() >= STREAM_HEADER_BYTES;
            return if whole { Header::Nothing(STREAM_HEADER_BYTES) } else { Header::Short };
        }
        if Self::MAGIC.starts_with(head) {
            return Header::Short;
        }
        let [a, b, c, d, ref packed @ ..] = *head else {
            return Header::Short;
        };
        let packed_bytes = u32::from_be_bytes([a, b, c, d]) as usize;
        if packed_bytes == 0 {
            return Header::Nothing(4);
        }
        // The plain length is the first thing within the chunk.
        let varint = &packed[..packed.len().min(packed_bytes)];
        let Ok(plain_bytes) = snap::raw::decompress_len(varint) else {
            let cut = varint.len() < packed_bytes && varint.iter().all(|byte| byte & 0x80 != 0);
            return if cut && varint.len() < 5 { Header::Short } else { Header::Bad };
        };
        let packing = Packing::Packed;
        let piece = Piece { header_bytes: 4, packed_bytes, plain_bytes, packing, checksum: 0 };
        piece.checked(RATIO_MAX)
    }

    fn unpack(&mut self, _: &Piece, packed: &[u8], to: &mut [u8]) -> bool {
        // A chunk of no text has nothing to unpack into.
        to.is_empty() || self.0.decompress(packed, to).is_ok_and(|bytes| bytes == to.len())
    }
}
