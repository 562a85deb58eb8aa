//! Bytes to lines to tokens.

mod blocks;
mod borders;
mod buffers;
mod codec;
mod damage;
mod error;
mod frames;
mod gzip;
mod input;
mod joined;
pub mod json;
mod layer;
mod limits;
mod lz4;
mod lzf;
mod map;
mod part;
mod pieces;
mod reading;
mod snappy;
mod zip;
mod zstd;

pub use blocks::{Block, Blocks, Start};
pub use codec::{Codec, HEAD_BYTES};
pub use damage::{Damage, DamageKind};
pub use error::Error;
pub use json::{Cursor, RawStr};
pub use limits::{EXPANSION_FREE_BYTES, Limits, PADDING_BYTES};
pub use map::{Mapped, map_file};
pub use part::{FilePart, Part};
pub use zip::{ZipPart, is_zip, zip_entries};
