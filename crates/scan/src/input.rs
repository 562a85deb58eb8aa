//! A window over the layer below, in which a decoder looks ahead, and back after damage.

use crate::layer::{Border, Got, Hole, Layer, Stored};
use crate::{Error, HEAD_BYTES};

const FIRST_BYTES: usize = 256 << 10;

pub(crate) struct Input {
    below: Box<dyn Layer>,
    /// `below` is the stored file, so offsets here are offsets there.
    lowest: bool,
    buf: Vec<u8>,
    /// `mark <= pos <= end`: what was consumed since `mark` can be gone back to.
    mark: usize,
    pos: usize,
    end: usize,
    /// Offset in `below` of `buf[0]`.
    base: u64,
    /// At most so much before `pos` is kept.
    history_bytes: usize,
    hole: Option<Hole>,
    ended: bool,
    /// Added to offsets where this begins in the middle of a file.
    begin: u64,
}

impl Input {
    pub(crate) fn new(below: Box<dyn Layer>, lowest: bool) -> Input {
        Input::holding(below, lowest, FIRST_BYTES)
    }

    /// Over a file; of a short one, all that is to come is held at once.
    pub(crate) fn of_stored(stored: Stored) -> Input {
        let bytes = usize::try_from(stored.left_bytes()).unwrap_or(FIRST_BYTES);
        // one more, to see the end
        let bytes = bytes.saturating_add(1).clamp(HEAD_BYTES, FIRST_BYTES);
        Input::holding(Box::new(stored), true, bytes)
    }

    fn holding(below: Box<dyn Layer>, lowest: bool, first_bytes: usize) -> Input {
        let begin = below.stored_offset();
        Input {
            below,
            lowest,
            buf: vec![0; first_bytes],
            mark: 0,
            pos: 0,
            end: 0,
            base: 0,
            history_bytes: 0,
            hole: None,
            ended: false,
            begin,
        }
    }

    pub(crate) fn keep_history(&mut self, bytes: usize) {
        self.history_bytes = bytes;
    }

    /// At least `bytes` bytes ahead, fewer only where the layer below ends or has a hole.
    pub(crate) fn need(&mut self, bytes: usize) -> Result<&[u8], Error> {
        while self.end - self.pos < bytes && self.hole.is_none() && !self.ended {
            self.refill(bytes)?;
        }
        Ok(self.ahead())
    }

    pub(crate) fn ahead(&self) -> &[u8] {
        &self.buf[self.pos..self.end]
    }

    pub(crate) fn consume(&mut self, bytes: usize) {
        self.pos += bytes;
        debug_assert!(self.pos <= self.end);
        if self.history_bytes == 0 {
            self.mark = self.pos;
        }
    }

    pub(crate) fn set_mark(&mut self) {
        self.mark = self.pos;
    }

    /// Goes back to the mark or as far as history reaches; bytes gone back.
    pub(crate) fn back_to_mark(&mut self) -> usize {
        let back = self.pos - self.mark;
        self.pos = self.mark;
        back
    }

    /// Offset in the layer below, from where it began.
    pub(crate) fn offset(&self) -> u64 {
        self.base + self.pos as u64
    }

    pub(crate) fn stored_offset(&self) -> u64 {
        if self.lowest { self.begin + self.offset() } else { self.below.stored_offset() }
    }

    pub(crate) fn border_below(&self) -> Border {
        self.below.border()
    }

    /// The hole that ends what is ahead; asking for it lets reading go on behind it.
    pub(crate) fn take_hole(&mut self) -> Option<Hole> {
        self.hole.take()
    }

    /// Copies what is ahead, or lets the layer below write straight into `to`.
    pub(crate) fn read(&mut self, to: &mut [u8]) -> Result<Got, Error> {
        if self.pos < self.end {
            let bytes = to.len().min(self.end - self.pos);
            to[..bytes].copy_from_slice(&self.buf[self.pos..self.pos + bytes]);
            self.consume(bytes);
            return Ok(Got::Bytes(bytes));
        }
        if let Some(hole) = self.hole.take() {
            return Ok(Got::Hole(hole));
        }
        if self.ended {
            return Ok(Got::End);
        }
        let got = self.below.read(to)?;
        match &got {
            Got::Bytes(bytes) => self.base += *bytes as u64,
            Got::Hole(_) => {}
            Got::End => self.ended = true,
        }
        Ok(got)
    }

    /// Moves on to where `pattern` begins and `accept` likes the `look` bytes there (fewer at
    /// the end). False when there is no such place before the end or a hole; all is consumed.
    pub(crate) fn seek(
        &mut self,
        pattern: &[u8],
        look: usize,
        accept: impl Fn(&[u8]) -> bool,
    ) -> Result<bool, Error> {
        let finder = memchr::memmem::Finder::new(pattern);
        loop {
            let ahead = self.need(pattern.len())?;
            if ahead.len() < pattern.len() {
                let rest = ahead.len();
                self.consume(rest);
                return Ok(false);
            }
            match finder.find(ahead) {
                Some(at) => {
                    self.consume(at);
                    if accept(self.need(look)?) {
                        return Ok(true);
                    }
                    self.consume(1);
                }
                None => {
                    let past = ahead.len() - (pattern.len() - 1);
                    self.consume(past);
                }
            }
        }
    }

    fn refill(&mut self, bytes: usize) -> Result<(), Error> {
        if self.end == self.buf.len() || self.pos + bytes > self.buf.len() {
            self.compact();
        }
        if self.end == self.buf.len() {
            // Grows with what is really there, whatever length a header announced.
            self.buf.resize(self.buf.len() * 2, 0);
        }
        match self.below.read(&mut self.buf[self.end..])? {
            Got::Bytes(bytes) => self.end += bytes,
            Got::Hole(hole) => self.hole = Some(hole),
            Got::End => self.ended = true,
        }
        Ok(())
    }

    fn compact(&mut self) {
        let from = self.mark.max(self.pos.saturating_sub(self.history_bytes));
        if from == 0 {
            return;
        }
        self.buf.copy_within(from..self.end, 0);
        self.base += from as u64;
        self.mark = 0;
        self.pos -= from;
        self.end -= from;
    }
}
