//! Runs of whole zstd frames, found by their headers alone, so that they can be unpacked side by side.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use ::zstd::bulk::Decompressor;

use crate::codec::Codec;
use crate::input::Input;
use crate::layer::Stored;
use crate::limits::{FRONT_BYTES, PADDING_BYTES, UNPACKED_BLOCKS_MAX};
use crate::zstd::{BLOCK_BYTES_MAX, HEADER_BYTES_MAX, Header, block_header, frame_header};
use crate::{Error, HEAD_BYTES, Limits, Part};

/// Small frames are taken together until they are so long: handing over costs more than they do.
const RUN_BYTES: usize = 256 << 10;

/// The place in a part at which the text has to be decoded in order, by one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InOrder {
    pub(crate) part: usize,
    pub(crate) stored_offset: u64,
    /// Nothing of the part precedes, and this is the decoded offset.
    pub(crate) begins_at: Option<u64>,
    /// What progress comes to here.
    pub(crate) progress_bytes: u64,
}

impl InOrder {
    /// A later place of the same part.
    fn at(self, stored_offset: u64) -> InOrder {
        let progress_bytes = self.progress_bytes + (stored_offset - self.stored_offset);
        let begins_at = self.begins_at.filter(|_| stored_offset == self.stored_offset);
        InOrder { stored_offset, begins_at, progress_bytes, ..self }
    }
}

/// Some frames in a row, none of them open.
pub(crate) struct Run {
    pub(crate) from: InOrder,
    /// The last of its part.
    pub(crate) ends_part: bool,
    packed: Vec<u8>,
    frames: Vec<usize>,
    plain_bytes_max: usize,
}

/// A run's text.
pub(crate) struct Unpacked {
    pub(crate) from: InOrder,
    /// Behind the text.
    pub(crate) to: InOrder,
    pub(crate) ends_part: bool,
    /// The text is in `begin..end`; before it is room for the half line that precedes it,
    /// behind it padding.
    pub(crate) bytes: Vec<u8>,
    pub(crate) begin: usize,
    pub(crate) end: usize,
    /// (stored offset, index in `bytes`) at which each frame begins.
    pub(crate) borders: Vec<(u64, usize)>,
    /// The frame at `to` cannot be unpacked.
    pub(crate) failed: bool,
}

pub(crate) enum Step {
    Run(Run),
    /// What follows is no whole frame of a usual size.
    Other(InOrder),
}

/// The frames of one part.
pub(crate) struct Frames {
    input: Input,
    from: InOrder,
    n_blocks_max: usize,
}

impl Frames {
    /// `None` where the part is not a row of zstd frames.
    pub(crate) fn open(
        part: &dyn Part,
        from: InOrder,
        limits: Limits,
        progress: &Arc<AtomicU64>,
    ) -> Result<Option<Frames>, Error> {
        let n_blocks_max = limits.unpacked_bytes_max() / BLOCK_BYTES_MAX;
        if n_blocks_max == 0 || part.readable_bytes() != part.size_bytes() {
            return Ok(None);
        }
        let mut head = Vec::new();
        let head_bytes = HEAD_BYTES as u64;
        let seen = part.open(from.stored_offset)?.take(head_bytes).read_to_end(&mut head);
        if seen.is_err() || Codec::detect(&head) != Codec::Zstd {
            return Ok(None);
        }
        let stored = Stored::open(part, from.stored_offset, limits, Arc::clone(progress))?;
        Ok(Some(Frames { input: Input::of_stored(stored), from, n_blocks_max }))
    }

    pub(crate) fn next(&mut self) -> Result<Step, Error> {
        let from = self.from.at(self.input.stored_offset());
        let mut frames = Vec::new();
        let (mut packed_bytes, mut n_blocks) = (0, 0);
        // The first frame alone tells much of a log, and often that is all that is asked for.
        let enough = if from.begins_at.is_some() { 1 } else { RUN_BYTES };
        while packed_bytes < enough {
            let Some((bytes, blocks)) = self.frame(packed_bytes, self.n_blocks_max - n_blocks)?
            else {
                break;
            };
            frames.push(bytes);
            packed_bytes += bytes;
            n_blocks += blocks;
        }
        if frames.is_empty() {
            return Ok(Step::Other(from));
        }
        let packed = self.input.ahead()[..packed_bytes].to_vec();
        self.input.consume(packed_bytes);
        let ends_part = self.input.need(1)?.is_empty() && self.input.take_hole().is_none();
        let plain_bytes_max = n_blocks * BLOCK_BYTES_MAX;
        Ok(Step::Run(Run { from, ends_part, packed, frames, plain_bytes_max }))
    }

    /// Bytes and blocks of the frame that begins `at` bytes ahead, when all of it is there.
    fn frame(&mut self, at: usize, n_blocks_max: usize) -> Result<Option<(usize, usize)>, Error> {
        let ahead = self.input.need(at + HEADER_BYTES_MAX)?;
        let Header::Frame { bytes, checksum } = frame_header(&ahead[at.min(ahead.len())..]) else {
            return Ok(None);
        };
        let mut end = at + bytes;
        for n_blocks in 1..=n_blocks_max {
            let Some(&[a, b, c]) = self.input.need(end + 3)?.get(end..end + 3) else {
                return Ok(None);
            };
            let Some((last, content_bytes)) = block_header([a, b, c]) else {
                return Ok(None);
            };
            end += 3 + content_bytes;
            if last {
                end += if checksum { 4 } else { 0 };
                let whole = self.input.need(end)?.len() >= end;
                return Ok(whole.then_some((end - at, n_blocks)));
            }
        }
        Ok(None)
    }
}

impl Run {
    /// How long a buffer its text needs.
    pub(crate) fn buffer_bytes(&self) -> usize {
        self.front_bytes() + self.plain_bytes_max + PADDING_BYTES
    }

    /// No half line precedes the first run of a part.
    fn front_bytes(&self) -> usize {
        if self.from.begins_at.is_some() { 0 } else { FRONT_BYTES }
    }

    /// `buffer` is at least [`Run::buffer_bytes`] long.
    pub(crate) fn unpack(self, with: &mut Decompressor<'_>, mut buffer: Vec<u8>) -> Unpacked {
        let begin = self.front_bytes();
        let Run { from, ends_part, packed, frames, plain_bytes_max } = self;
        let (mut end, mut at) = (begin, 0);
        let mut borders = Vec::with_capacity(frames.len());
        let mut failed = false;
        for bytes in frames {
            let to = &mut buffer[end..begin + plain_bytes_max];
            let Ok(plain_bytes) = with.decompress_to_buffer(&packed[at..at + bytes], to) else {
                failed = true;
                break;
            };
            borders.push((from.stored_offset + at as u64, end));
            at += bytes;
            end += plain_bytes;
        }
        let to = from.at(from.stored_offset + at as u64);
        Unpacked { from, to, ends_part, bytes: buffer, begin, end, borders, failed }
    }
}

impl Limits {
    /// Of a run's text.
    fn unpacked_bytes_max(&self) -> usize {
        self.block_bytes.saturating_mul(UNPACKED_BLOCKS_MAX).min(self.line_bytes_max)
    }
}
