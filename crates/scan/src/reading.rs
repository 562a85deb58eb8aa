//! Text to blocks, in order.
//!
//! Bound: plain text is copied once (from the page cache into the block) and looked at only
//! from its end back to the last newline; nothing is allocated per line, and per block only
//! until the first buffers come back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::blocks::{Block, Start};
use crate::borders::Borders;
use crate::buffers::Buffers;
use crate::codec::{Restart, Text, open_text};
use crate::damage::DamageKind;
use crate::frames::{InOrder, Unpacked};
use crate::joined::Joined;
use crate::layer::{Border, Got, Hole, Layer};
use crate::limits::PADDING_BYTES;
use crate::{Damage, Error, Limits, Part};

/// With tiny blocks, reading still goes in pieces of this size.
pub(crate) const FILL_BYTES_MIN: usize = 4096;
/// Parts whose borders are remembered: the last line may be in the last but one.
const SEEN_MAX: usize = 4;

pub(crate) struct Reading {
    pub(crate) limits: Limits,
    /// Where `text` begins.
    start: Start,
    text: Option<Text>,
    /// What the text came to; all of it is in `buf`.
    stop: Option<Stop>,
    pub(crate) seq: u64,
    pub(crate) buf: Buf,
    /// So much text is still thrown away unseen, because an earlier reading had it.
    skip_bytes: u64,
    dropping: Option<Dropping>,
    after_damage: bool,
    /// For the next block.
    pub(crate) damage: Vec<Damage>,
    pub(crate) seen: Vec<Seen>,
    pub(crate) n_handed_in: u64,
    /// The run that is joined next.
    pub(crate) next_run: u64,
    /// By number.
    pub(crate) unpacked: BTreeMap<u64, Unpacked>,
    /// A run will never come.
    pub(crate) is_lost: bool,
    /// The run whose text is made blocks of.
    pub(crate) joined: Option<Joined>,
    /// Unpacking side by side ended here, behind what is in `buf`.
    pub(crate) in_order: Option<InOrder>,
}

/// `bytes[..filled]` is text that is in no block yet.
#[derive(Default)]
pub(crate) struct Buf {
    pub(crate) bytes: Vec<u8>,
    pub(crate) filled: usize,
    /// Decoded offset of `bytes[0]`.
    pub(crate) offset: u64,
    /// There is no newline before this.
    pub(crate) scanned: usize,
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

/// A part, and where decoding of it can begin again.
pub(crate) struct Seen {
    pub(crate) part: usize,
    pub(crate) restart: Restart,
    pub(crate) borders: Borders,
}

impl Reading {
    pub(crate) fn new(limits: Limits) -> Reading {
        Reading {
            limits,
            start: Start::default(),
            text: None,
            stop: None,
            seq: 0,
            buf: Buf::default(),
            skip_bytes: 0,
            dropping: None,
            after_damage: false,
            damage: Vec::new(),
            seen: Vec::new(),
            n_handed_in: 0,
            next_run: 0,
            unpacked: BTreeMap::new(),
            is_lost: false,
            joined: None,
            in_order: None,
        }
    }

    /// Goes on with a text that is decoded here; it follows what is in `buf`.
    pub(crate) fn open(
        &mut self,
        part: &dyn Part,
        from: InOrder,
        skip_to: u64,
        progress: &Arc<AtomicU64>,
    ) -> Result<(), Error> {
        if let Some(offset) = from.begins_at {
            self.begin(offset);
        }
        let offset = self.buf.offset + self.buf.filled as u64;
        let text = open_text(part, from.stored_offset, offset, self.limits, progress)?;
        self.see(from.part).restart = text.restart;
        self.start = Start { part: from.part, stored_offset: from.stored_offset, offset, skip_to };
        self.text = Some(text);
        self.skip_bytes = skip_to.saturating_sub(offset);
        Ok(())
    }

    /// A part begins.
    pub(crate) fn begin(&mut self, offset: u64) {
        self.buf.filled = 0;
        self.buf.scanned = 0;
        self.buf.offset = offset;
        self.after_damage = false;
    }

    pub(crate) fn see(&mut self, part: usize) -> &mut Seen {
        let at = self.seen.iter().position(|seen| seen.part == part).unwrap_or_else(|| {
            if self.seen.len() == SEEN_MAX {
                self.seen.remove(0);
            }
            self.seen.push(Seen { part, restart: Restart::AtBorders, borders: Borders::default() });
            self.seen.len() - 1
        });
        &mut self.seen[at]
    }

    /// The next block of the text that is open; the last one says that it is.
    pub(crate) fn next_of_text(&mut self, buffers: &Buffers) -> Result<Block, Error> {
        loop {
            if self.buf.bytes.is_empty() {
                self.buf.bytes = buffers.for_block(self.buffer_bytes());
            }
            self.fill()?;
            if self.dropping.is_some() && !self.drop_line() {
                continue;
            }
            match self.cut() {
                Some(end) if self.limits.too_long(end) => self.drop_first(end),
                Some(end) => return Ok(self.block(end, buffers)),
                None if self.buf.filled > self.limits.line_bytes_max => self.start_dropping(),
                None if self.stop.is_some() => return Ok(self.block(self.buf.filled, buffers)),
                None => self.grow(),
            }
        }
    }

    pub(crate) fn buffer_bytes(&self) -> usize {
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
                        let Border { input, decoded } = text.layer.border();
                        seen.borders.push(Border {
                            input: self.start.stored_offset + input,
                            decoded: self.start.offset + decoded,
                        });
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

    fn cut(&self) -> Option<usize> {
        let Buf { bytes, filled, scanned, .. } = &self.buf;
        self.limits.cut(&bytes[..*filled], *scanned, self.stop.is_some())
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

    fn block(&mut self, end: usize, buffers: &Buffers) -> Block {
        let offset = self.buf.offset;
        let buffer_bytes = self.buffer_bytes();
        let bytes = self.buf.split_off(end, |rest| buffers.for_block(rest.max(buffer_bytes)));
        let mut block = Block {
            seq: self.seq,
            part: self.start.part,
            offset,
            range: 0..bytes.len(),
            bytes: Arc::new(bytes),
            of_run: false,
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
                self.text = None;
            }
            Some(Stop::Hole(Hole { kind, stored_offset, bytes })) => {
                let offset = self.buf.offset;
                block.damage.push(Damage { kind, offset, stored_offset, bytes });
                self.after_damage = true;
            }
        }
        block
    }

    pub(crate) fn restart_for(&self, part: usize, offset: u64) -> Start {
        let beginning = Start { part, stored_offset: 0, offset: 0, skip_to: offset };
        let Some(seen) = self.seen.iter().rfind(|seen| seen.part == part) else {
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

impl Limits {
    /// Where the next block of a text ends: at the last newline within `block_bytes`, or else at
    /// the first one after; at the end of all text when that is near. There is no newline before
    /// `scanned`.
    pub(crate) fn cut(&self, text: &[u8], scanned: usize, is_all: bool) -> Option<usize> {
        let near = self.block_bytes.min(text.len());
        if is_all && near == text.len() {
            return Some(near);
        }
        let within = text.get(scanned..near).and_then(|bytes| memchr::memrchr(b'\n', bytes));
        if let Some(at) = within {
            return Some(scanned + at + 1);
        }
        let from = near.max(scanned);
        memchr::memchr(b'\n', &text[from..]).map(|at| from + at + 1)
    }

    /// A block longer than asked for is one line.
    pub(crate) fn too_long(&self, block_bytes: usize) -> bool {
        block_bytes > self.block_bytes && block_bytes - 1 > self.line_bytes_max
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
