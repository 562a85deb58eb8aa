//! Parts to blocks that end after a newline, for any number of threads.
//!
//! Bound: plain text is copied once (from the page cache into the block) and looked at only
//! from its end back to the last newline; nothing is allocated per line, and per block only
//! until the first buffers come back.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::borders::Borders;
use crate::codec::{Restart, Text, open_text};
use crate::damage::DamageKind;
use crate::layer::{Border, Got, Hole, Layer};
use crate::limits::PADDING_BYTES;
use crate::{Damage, Error, Limits, Part};

/// With tiny blocks, reading still goes in pieces of this size.
const FILL_BYTES_MIN: usize = 4096;
const SPARE_BUFFERS_MAX: usize = 32;

/// A stretch of one part's text.
#[derive(Debug, Default)]
pub struct Block {
    /// 0, 1, 2 … over all parts.
    pub seq: u64,
    pub part: usize,
    /// Decoded offset in the part of `bytes[0]`.
    pub offset: u64,
    /// Ends after a newline, unless the part ends here or damage follows. Its allocation is at
    /// least [`PADDING_BYTES`] longer than its content.
    pub bytes: Vec<u8>,
    /// Nothing of this part follows. (A part may end with a block of no bytes.)
    pub ends_part: bool,
    /// The first bytes, up to a newline, are probably half a line.
    pub after_damage: bool,
    /// Long lines missing right before this block, anything else right behind it.
    pub damage: Vec<Damage>,
}

/// Where to begin reading; the default is the beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Start {
    pub part: usize,
    /// 0, or a place that [`Blocks::restart_for`] found.
    pub stored_offset: u64,
    /// Decoded offset in the part at `stored_offset`.
    pub offset: u64,
    /// Decoded offset at which the first block begins.
    pub skip_to: u64,
}

/// The blocks of some parts, in order.
pub struct Blocks {
    reading: Mutex<Reading>,
    spare: Mutex<Vec<Vec<u8>>>,
    /// What a buffer holds, padding included.
    buffer_bytes: usize,
    stored_bytes_read: Arc<AtomicU64>,
}

/// Parts whose borders are remembered: the last line may be in the last but one.
const SEEN_MAX: usize = 4;

struct Reading {
    parts: Vec<Arc<dyn Part>>,
    limits: Limits,
    progress: Arc<AtomicU64>,
    /// Where the current part begins; its `part` is one past the last at the end.
    start: Start,
    text: Option<Text>,
    /// What the text of the current part came to; all of it is in `buf`.
    stop: Option<Stop>,
    seq: u64,
    buf: Buf,
    /// So much text is still thrown away unseen, because an earlier reading had it.
    skip_bytes: u64,
    dropping: Option<Dropping>,
    after_damage: bool,
    /// For the next block.
    damage: Vec<Damage>,
    seen: Vec<Seen>,
}

/// `bytes[..filled]` is text that is in no block yet.
#[derive(Default)]
struct Buf {
    bytes: Vec<u8>,
    filled: usize,
    /// Decoded offset of `bytes[0]`.
    offset: u64,
    /// There is no newline before this.
    scanned: usize,
}

enum Stop {
    Hole(Hole),
    End,
}

/// A line that is too long, whose end is not in sight.
struct Dropping {
    offset: u64,
    bytes: u64,
}

struct Seen {
    start: Start,
    restart: Restart,
    borders: Borders,
}

impl Blocks {
    pub fn new(parts: Vec<Arc<dyn Part>>, start: Start, limits: Limits) -> Blocks {
        let line_bytes_max = limits.line_bytes_max.max(1);
        let block_bytes = limits.block_bytes.clamp(1, line_bytes_max);
        let limits = Limits { block_bytes, line_bytes_max, ..limits };
        let progress = Arc::<AtomicU64>::default();
        let reading = Reading {
            parts,
            limits,
            progress: Arc::clone(&progress),
            start,
            text: None,
            stop: None,
            seq: 0,
            buf: Buf::default(),
            skip_bytes: 0,
            dropping: None,
            after_damage: false,
            damage: Vec::new(),
            seen: Vec::new(),
        };
        Blocks {
            reading: Mutex::new(reading),
            spare: Mutex::default(),
            buffer_bytes: block_bytes.max(FILL_BYTES_MIN) + PADDING_BYTES,
            stored_bytes_read: progress,
        }
    }

    /// The next block in order, `None` at the end. Reading and decoding happen in here, one
    /// thread at a time; what is done with a block is the calling thread's own time.
    ///
    /// An error is the environment's (cannot open, cannot read) and ends the reading.
    pub fn next(&self) -> Result<Option<Block>, Error> {
        let mut reading = locked(&self.reading);
        let next = reading.next(&self.spare);
        if next.is_err() {
            reading.stop();
        }
        next
    }

    /// For progress: over all parts, in the units of [`Part::size_bytes`].
    pub fn stored_bytes_read(&self) -> u64 {
        self.stored_bytes_read.load(Ordering::Relaxed)
    }

    /// Where reading can begin again so that its first block begins at decoded `offset` of
    /// `part`. Near the end of what was read that is the nearest border, before it some
    /// earlier one, and in parts long past their beginning.
    pub fn restart_for(&self, part: usize, offset: u64) -> Start {
        locked(&self.reading).restart_for(part, offset)
    }

    /// Gives the bytes of a used block back, to be filled again; best as they came, because
    /// what a caller truncated or cleared is filled with zeros first.
    pub fn recycle(&self, bytes: Vec<u8>) {
        // One that grew for a long line is not kept, nor one that could not be used.
        if (self.buffer_bytes..=2 * self.buffer_bytes).contains(&bytes.capacity()) {
            let mut spare = locked(&self.spare);
            if spare.len() < SPARE_BUFFERS_MAX {
                spare.push(bytes);
            }
        }
    }
}

/// A panic in here is a bug that ends one request; the other threads read on.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Reading {
    fn next(&mut self, spare: &Mutex<Vec<Vec<u8>>>) -> Result<Option<Block>, Error> {
        while self.text.is_some() || self.start.part < self.parts.len() {
            if self.text.is_none() {
                self.open_part()?;
            }
            if self.buf.bytes.is_empty() {
                self.buf.bytes = buffer(spare, self.buffer_bytes());
            }
            self.fill()?;
            if self.dropping.is_some() && !self.drop_line() {
                continue;
            }
            match self.cut() {
                Some(end) if self.too_long(end) => self.drop_first(end),
                Some(end) => return Ok(Some(self.block(end, spare))),
                None if self.buf.filled > self.limits.line_bytes_max => self.start_dropping(),
                None if self.stop.is_some() => {
                    return Ok(Some(self.block(self.buf.filled, spare)));
                }
                None => self.grow(),
            }
        }
        Ok(None)
    }

    fn open_part(&mut self) -> Result<(), Error> {
        let Start { part, stored_offset, offset, skip_to } = self.start;
        let text = open_text(&*self.parts[part], stored_offset, self.limits, &self.progress)?;
        if self.seen.len() == SEEN_MAX {
            self.seen.remove(0);
        }
        let borders = Borders::default();
        self.seen.push(Seen { start: self.start, restart: text.restart, borders });
        self.text = Some(text);
        self.skip_bytes = skip_to.saturating_sub(offset);
        self.buf.offset = offset;
        self.after_damage = false;
        Ok(())
    }

    fn close_part(&mut self) {
        self.text = None;
        self.start = Start { part: self.start.part + 1, ..Start::default() };
    }

    fn stop(&mut self) {
        self.text = None;
        self.start.part = self.parts.len();
    }

    fn buffer_bytes(&self) -> usize {
        self.limits.block_bytes.max(FILL_BYTES_MIN)
    }

    /// Until the buffer is full or the text stops.
    fn fill(&mut self) -> Result<(), Error> {
        let Some(text) = &mut self.text else {
            return Ok(());
        };
        let buf = &mut self.buf;
        while self.stop.is_none() && buf.filled < buf.bytes.len() {
            match text.layer.read(&mut buf.bytes[buf.filled..])? {
                Got::Bytes(bytes) => {
                    buf.filled += bytes;
                    if self.skip_bytes > 0 {
                        let skip = self.skip_bytes.min(buf.filled as u64);
                        buf.throw_away(skip as usize);
                        self.skip_bytes -= skip;
                    }
                    if let (Restart::AtBorders, Some(seen)) = (text.restart, self.seen.last_mut()) {
                        seen.pass(text.layer.border());
                    }
                }
                // The earlier reading that had the text before `skip_to` reported this.
                Got::Hole(_) if self.skip_bytes > 0 => {}
                Got::Hole(hole) => self.stop = Some(Stop::Hole(hole)),
                Got::End => self.stop = Some(Stop::End),
            }
        }
        Ok(())
    }

    /// Where the next block ends: at the last newline within `block_bytes`, or else at the
    /// first one after; at the end of all text when that is near.
    fn cut(&self) -> Option<usize> {
        let Buf { bytes, filled, scanned, .. } = &self.buf;
        let near = self.limits.block_bytes.min(*filled);
        if self.stop.is_some() && near == *filled {
            return Some(near);
        }
        let within = bytes.get(*scanned..near).and_then(|bytes| memchr::memrchr(b'\n', bytes));
        if let Some(at) = within {
            return Some(scanned + at + 1);
        }
        let from = near.max(*scanned);
        memchr::memchr(b'\n', &bytes[from..*filled]).map(|at| from + at + 1)
    }

    /// A block longer than asked for is one line.
    fn too_long(&self, end: usize) -> bool {
        end > self.limits.block_bytes && end - 1 > self.limits.line_bytes_max
    }

    fn drop_first(&mut self, end: usize) {
        self.report_long_line(self.buf.offset, end as u64);
        self.buf.throw_away(end);
    }

    fn start_dropping(&mut self) {
        self.dropping = Some(Dropping { offset: self.buf.offset, bytes: 0 });
        self.drop_line();
        self.buf.bytes = Vec::new();
    }

    /// Throws the dropped line's bytes away; true when that was the last of them.
    fn drop_line(&mut self) -> bool {
        let Some(Dropping { offset, bytes }) = self.dropping.take() else {
            return true;
        };
        let filled = self.buf.filled;
        let newline = memchr::memchr(b'\n', &self.buf.bytes[self.buf.scanned..filled]);
        let end = newline.map_or(filled, |at| self.buf.scanned + at + 1);
        let bytes = bytes + end as u64;
        self.buf.throw_away(end);
        if newline.is_none() && self.stop.is_none() {
            self.dropping = Some(Dropping { offset, bytes });
            return false;
        }
        self.report_long_line(offset, bytes);
        true
    }

    fn report_long_line(&mut self, offset: u64, bytes: u64) {
        let stored_offset = self.text.as_ref().map_or(0, |text| text.layer.stored_offset());
        let kind = DamageKind::LineTooLong;
        self.damage.push(Damage { kind, offset, stored_offset, bytes: Some(bytes) });
    }

    fn grow(&mut self) {
        let buf = &mut self.buf;
        buf.scanned = buf.filled;
        let len = buf.bytes.len();
        let enough = (self.limits.line_bytes_max + 1).max(len + FILL_BYTES_MIN);
        let len = (len * 2).min(enough);
        buf.bytes.reserve_exact(len + PADDING_BYTES - buf.bytes.len());
        buf.bytes.resize(len, 0);
    }

    fn block(&mut self, end: usize, spare: &Mutex<Vec<Vec<u8>>>) -> Block {
        let offset = self.buf.offset;
        let buffer_bytes = self.buffer_bytes();
        let bytes = self.buf.split_off(end, |rest| buffer(spare, rest.max(buffer_bytes)));
        let mut block = Block {
            seq: self.seq,
            part: self.start.part,
            offset,
            bytes,
            ends_part: false,
            after_damage: std::mem::take(&mut self.after_damage),
            damage: std::mem::take(&mut self.damage),
        };
        self.seq += 1;
        if self.buf.filled > 0 {
            return block;
        }
        match self.stop.take() {
            None => {}
            Some(Stop::End) => {
                block.ends_part = true;
                self.close_part();
            }
            Some(Stop::Hole(Hole { kind, stored_offset, bytes })) => {
                let offset = self.buf.offset;
                block.damage.push(Damage { kind, offset, stored_offset, bytes });
                self.after_damage = true;
            }
        }
        block
    }

    fn restart_for(&self, part: usize, offset: u64) -> Start {
        let beginning = Start { part, stored_offset: 0, offset: 0, skip_to: offset };
        let Some(seen) = self.seen.iter().rfind(|seen| seen.start.part == part) else {
            return beginning;
        };
        match seen.restart {
            Restart::Anywhere => Start { part, stored_offset: offset, offset, skip_to: offset },
            Restart::AtBorders => seen.borders.before(offset).map_or(beginning, |border| Start {
                stored_offset: border.input,
                offset: border.decoded,
                ..beginning
            }),
            Restart::Never => beginning,
        }
    }
}

impl Buf {
    fn throw_away(&mut self, bytes: usize) {
        self.bytes.copy_within(bytes..self.filled, 0);
        self.filled -= bytes;
        self.offset += bytes as u64;
        self.scanned = 0;
    }

    /// Takes the first `end` bytes out; what follows them moves to a buffer that `new` makes.
    fn split_off(&mut self, end: usize, new: impl FnOnce(usize) -> Vec<u8>) -> Vec<u8> {
        self.offset += end as u64;
        self.scanned = 0;
        if end == 0 {
            return Vec::with_capacity(PADDING_BYTES);
        }
        let rest = self.filled - end;
        let mut bytes = if rest > 0 { new(rest) } else { Vec::new() };
        bytes[..rest].copy_from_slice(&self.bytes[end..self.filled]);
        self.filled = rest;
        std::mem::swap(&mut bytes, &mut self.bytes);
        bytes.truncate(end);
        bytes
    }
}

impl Seen {
    fn pass(&mut self, border: Border) {
        self.borders.push(Border {
            input: self.start.stored_offset + border.input,
            decoded: self.start.offset + border.decoded,
        });
    }
}

/// `len` bytes of no particular content, with padding behind. A buffer that comes back is
/// as long as its content was, so only its last few bytes need filling.
fn buffer(spare: &Mutex<Vec<Vec<u8>>>, len: usize) -> Vec<u8> {
    let mut bytes = locked(spare).pop().unwrap_or_default();
    if bytes.capacity() < len + PADDING_BYTES {
        bytes = vec![0; len + PADDING_BYTES];
    }
    bytes.resize(len, 0);
    bytes
}
