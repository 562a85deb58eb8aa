//! Every bound that reading a log has, by name.

/// What reading may hold and how far compressed input may grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// About how long a block is; never more than `line_bytes_max`.
    pub block_bytes: usize,
    /// A longer line is dropped and reported.
    pub line_bytes_max: usize,
    /// Decoded bytes per stored byte, in force once [`EXPANSION_FREE_BYTES`] came out.
    pub expansion_ratio_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { block_bytes: 4 << 20, line_bytes_max: 64 << 20, expansion_ratio_max: 1_000 }
    }
}

/// So much may come out of a file of any size: a short log of a quiet application may
/// compress very well.
pub const EXPANSION_FREE_BYTES: u64 = 256 << 20;

/// Bytes after a block's content that a scanner may rely on to exist in the same allocation.
pub const PADDING_BYTES: usize = 64;

/// Room before the text of unpacked frames, for the half line that precedes it. Longer ones are
/// moved there by moving the text.
pub(crate) const FRONT_BYTES: usize = 256 << 10;

/// The text of frames that are unpacked at once is at most so many blocks long.
pub(crate) const UNPACKED_BLOCKS_MAX: usize = 32;

/// A codec inside a codec (a gzip of a zstd) is followed this deep.
pub(crate) const CODEC_DEPTH_MAX: usize = 3;

/// Longest block that the headers of `LZ4Block`, snappy-java and LZF may announce.
pub(crate) const PIECE_BYTES_MAX: usize = 64 << 20;

/// zstd's own default limit, and what `zstd --ultra -22` writes.
pub(crate) const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// After so many holes the rest of a part is given up: looking for the next place to go on
/// costs time, and a file may be made of such places.
pub(crate) const HOLES_MAX: u32 = 10_000;

/// So much may be unpacked in vain, for the same reason.
pub(crate) const WASTED_BYTES_MAX: u64 = 1 << 30;

impl Limits {
    pub(crate) fn expands_too_much(&self, stored_bytes: u64, decoded_bytes: u64) -> bool {
        decoded_bytes > EXPANSION_FREE_BYTES
            && decoded_bytes / self.expansion_ratio_max.max(1) > stored_bytes
    }
}
