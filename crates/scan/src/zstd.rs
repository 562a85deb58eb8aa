//! zstd, as Spark writes it: many frames in a row, none with a checksum, the last one open
//! while the application runs.
//!
//! Frames and their blocks are walked here, and the C library is fed exactly one block at a
//! time: it forgets what it wrote in a call that fails, so this is how everything before
//! damage comes out to the last byte.

use std::io;

use ::zstd::stream::raw::{DParameter, Decoder, Operation};

use crate::Error;
use crate::damage::DamageKind;
use crate::input::Input;
use crate::layer::{Border, Got, Hole, Layer};
use crate::limits::ZSTD_WINDOW_LOG_MAX;

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Magic, descriptor, window, dictionary id, content size.
pub(crate) const HEADER_BYTES_MAX: usize = 4 + 1 + 1 + 4 + 8;
pub(crate) const BLOCK_BYTES_MAX: usize = 128 << 10;
/// How far behind a damaged place the next frame is looked for: a wrong length may have
/// swallowed it.
const HISTORY_BYTES: usize = 256 << 10;

pub(crate) struct Zstd {
    input: Input,
    decoder: Decoder<'static>,
    state: State,
    decoded: u64,
    border: Border,
    hole: Option<Hole>,
}

#[derive(Clone, Copy)]
enum State {
    BetweenFrames,
    Skipping {
        left: u64,
    },
    BlockHeader {
        checksum: bool,
    },
    Checksum,
    /// `left` bytes of input ahead go to the library; with 0 it may still hold output.
    Feeding {
        left: usize,
        then: Then,
    },
}

#[derive(Clone, Copy)]
enum Then {
    BlockHeader {
        checksum: bool,
    },
    Checksum,
    FrameEnd,
    /// The input ends within this block; what can be decoded of it was.
    CutShort,
}

impl Zstd {
    pub(crate) fn new(mut input: Input) -> Result<Zstd, Error> {
        input.keep_history(HISTORY_BYTES);
        let decoder = new_decoder().map_err(no_decoder)?;
        Ok(Zstd {
            input,
            decoder,
            state: State::BetweenFrames,
            decoded: 0,
            border: Border { input: 0, decoded: 0 },
            hole: None,
        })
    }

    fn frame(&mut self) -> Result<Option<Got>, Error> {
        self.input.set_mark();
        let offset = self.input.offset();
        let head = self.input.need(HEADER_BYTES_MAX)?;
        if head.is_empty() {
            return Ok(Some(self.input.take_hole().map_or(Got::End, Got::Hole)));
        }
        if let [0x50..=0x5f, 0x2a, 0x4d, 0x18, a, b, c, d, ..] = *head {
            self.input.consume(8);
            self.state = State::Skipping { left: u64::from(u32::from_le_bytes([a, b, c, d])) };
            return Ok(None);
        }
        if let [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] = *head {
            self.cut_short()?;
            return Ok(None);
        }
        match frame_header(head) {
            Header::Short => self.cut_short()?,
            Header::Bad => self.damaged(DamageKind::Corrupt)?,
            Header::Unsupported => self.damaged(DamageKind::UnknownCodec)?,
            Header::Frame { bytes, checksum } => {
                self.border = Border { input: offset, decoded: self.decoded };
                // Only the session is reset; that cannot fail.
                let _ = self.decoder.reinit();
                let then = Then::BlockHeader { checksum };
                self.state = State::Feeding { left: bytes, then };
            }
        }
        Ok(None)
    }

    fn block(&mut self, checksum: bool) -> Result<(), Error> {
        let head = self.input.need(3)?;
        let [a, b, c, ..] = *head else {
            return self.cut_short();
        };
        let Some((last, content)) = block_header([a, b, c]) else {
            return self.damaged(DamageKind::Corrupt);
        };
        let whole = 3 + content;
        let have = self.input.need(whole)?.len();
        let then = match (last, checksum) {
            _ if have < whole => Then::CutShort,
            (false, _) => Then::BlockHeader { checksum },
            (true, true) => Then::Checksum,
            (true, false) => Then::FrameEnd,
        };
        self.state = State::Feeding { left: have.min(whole), then };
        Ok(())
    }

    fn feed(&mut self, to: &mut [u8], left: usize, then: Then) -> Result<Option<Got>, Error> {
        let Ok(done) = self.decoder.run_on_buffers(&self.input.ahead()[..left], to) else {
            self.damaged(DamageKind::Corrupt)?;
            return Ok(None);
        };
        self.input.consume(done.bytes_read);
        self.decoded += done.bytes_written as u64;
        let left = left - done.bytes_read;
        let full = done.bytes_written == to.len();
        if left > 0 || full {
            if done.bytes_read == 0 && done.bytes_written == 0 {
                self.damaged(DamageKind::Corrupt)?;
                return Ok(None);
            }
            self.state = State::Feeding { left, then };
        } else {
            match then {
                Then::BlockHeader { checksum } => self.state = State::BlockHeader { checksum },
                Then::Checksum => self.state = State::Checksum,
                Then::FrameEnd => self.state = State::BetweenFrames,
                Then::CutShort => self.cut_short()?,
            }
        }
        Ok((done.bytes_written > 0).then_some(Got::Bytes(done.bytes_written)))
    }

    fn checksum(&mut self) -> Result<(), Error> {
        if self.input.need(4)?.len() < 4 {
            return self.cut_short();
        }
        self.state = State::Feeding { left: 4, then: Then::FrameEnd };
        Ok(())
    }

    fn skip(&mut self, left: u64) -> Result<(), Error> {
        let have = self.input.need(1)?.len();
        if have == 0 && left > 0 {
            return self.cut_short();
        }
        let bytes = left.min(have as u64);
        self.input.consume(bytes as usize);
        self.input.set_mark();
        self.state = match left - bytes {
            0 => State::BetweenFrames,
            left => State::Skipping { left },
        };
        Ok(())
    }

    /// The input ends here; unless it is a wrong length that says so.
    fn cut_short(&mut self) -> Result<(), Error> {
        if let Some(hole) = self.input.take_hole() {
            self.hole = Some(hole);
            self.state = State::BetweenFrames;
            let rest = self.input.ahead().len();
            self.input.consume(rest);
            self.input.set_mark();
            self.next_frame()?;
            return Ok(());
        }
        self.damaged(DamageKind::CutShort)
    }

    fn damaged(&mut self, kind: DamageKind) -> Result<(), Error> {
        let at = self.input.offset();
        let stored_offset = self.input.stored_offset();
        self.input.back_to_mark();
        let found = self.next_frame()?;
        let lost = self.input.offset().saturating_sub(at);
        let (kind, bytes) = match kind {
            // What is lost was never written.
            DamageKind::CutShort if !found => (kind, None),
            DamageKind::CutShort => (DamageKind::Corrupt, Some(lost)),
            kind => (kind, Some(lost)),
        };
        self.hole = Some(Hole { kind, stored_offset, bytes });
        self.state = State::BetweenFrames;
        Ok(())
    }

    fn next_frame(&mut self) -> Result<bool, Error> {
        if !self.input.ahead().is_empty() {
            self.input.consume(1);
        }
        let found = self.input.seek(&MAGIC, HEADER_BYTES_MAX + 3, is_frame)?;
        self.input.set_mark();
        Ok(found)
    }
}

impl Layer for Zstd {
    fn read(&mut self, to: &mut [u8]) -> Result<Got, Error> {
        loop {
            if let Some(hole) = self.hole.take() {
                return Ok(Got::Hole(hole));
            }
            match self.state {
                State::BetweenFrames => {
                    if let Some(got) = self.frame()? {
                        return Ok(got);
                    }
                }
                State::Skipping { left } => self.skip(left)?,
                State::BlockHeader { checksum } => self.block(checksum)?,
                State::Checksum => self.checksum()?,
                State::Feeding { left, then } => {
                    if let Some(got) = self.feed(to, left, then)? {
                        return Ok(got);
                    }
                }
            }
        }
    }

    fn stored_offset(&self) -> u64 {
        self.input.stored_offset()
    }

    fn border(&self) -> Border {
        self.border
    }
}

/// The C library could not allocate one.
pub(crate) fn no_decoder(source: io::Error) -> Error {
    Error::Read { path: "zstd decoder".into(), source }
}

fn new_decoder() -> io::Result<Decoder<'static>> {
    let mut decoder = Decoder::new()?;
    decoder.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG_MAX))?;
    Ok(decoder)
}

pub(crate) enum Header {
    Frame {
        bytes: usize,
        checksum: bool,
    },
    Short,
    Bad,
    /// A dictionary, or a window over the limit.
    Unsupported,
}

/// Whether it is the last one, and the bytes of its content (RFC 8878, 3.1.1.2).
pub(crate) fn block_header([a, b, c]: [u8; 3]) -> Option<(bool, usize)> {
    let word = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
    let (last, kind, bytes) = (word & 1 == 1, word >> 1 & 3, word >> 3);
    match kind {
        // A byte that is repeated.
        1 => Some((last, 1)),
        0 | 2 if bytes <= BLOCK_BYTES_MAX => Some((last, bytes)),
        _ => None,
    }
}

/// The magic alone comes up by chance once in 4 GiB, too often for "damaged" to be said of
/// the log of an application that runs: the first block must look right too.
fn is_frame(head: &[u8]) -> bool {
    let Header::Frame { bytes, .. } = frame_header(head) else {
        return false;
    };
    match head.get(bytes..bytes + 3) {
        Some(&[a, b, c]) => block_header([a, b, c]).is_some(),
        _ => true,
    }
}

/// RFC 8878, 3.1.1.1.
pub(crate) fn frame_header(head: &[u8]) -> Header {
    if !head.starts_with(&MAGIC[..head.len().min(4)]) {
        return Header::Bad;
    }
    let Some(&descriptor) = head.get(4) else {
        return Header::Short;
    };
    let single_segment = descriptor >> 5 & 1 == 1;
    let window_bytes = usize::from(!single_segment);
    let dictionary_bytes = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size_bytes = match descriptor >> 6 {
        0 => usize::from(single_segment),
        n => 1 << n,
    };
    let bytes = 5 + window_bytes + dictionary_bytes + size_bytes;
    if descriptor & 8 != 0 {
        return Header::Bad;
    }
    let Some(fields) = head.get(5..bytes) else {
        return Header::Short;
    };
    let (window, fields) = fields.split_at(window_bytes);
    let (dictionary, size) = fields.split_at(dictionary_bytes);
    if dictionary.iter().any(|&byte| byte != 0) {
        return Header::Unsupported;
    }
    let limit = 1_u64 << ZSTD_WINDOW_LOG_MAX;
    let window = match window {
        [window] => {
            let base = 1_u64 << (10 + (window >> 3));
            base + base / 8 * u64::from(window & 7)
        }
        _ => {
            let little = size.iter().rev().fold(0_u64, |sum, &byte| sum << 8 | u64::from(byte));
            if size_bytes == 2 { little + 256 } else { little }
        }
    };
    if window > limit {
        return Header::Unsupported;
    }
    Header::Frame { bytes, checksum: descriptor >> 2 & 1 == 1 }
}
