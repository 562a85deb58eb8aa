//! Parts to blocks that end after a newline, for any number of threads.
//!
//! Text that has to be decoded in order is read by one thread at a time. Whole zstd frames are
//! found by one thread at a time, unpacked by all, and joined in order.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use ::zstd::bulk::Decompressor;

use crate::buffers::{Buffers, locked};
use crate::frames::{Frames, InOrder, Run, Step, Unpacked};
use crate::reading::{FILL_BYTES_MIN, Reading};
use crate::{Damage, Error, Limits, Part};

/// Runs that wait in memory for one before them.
const EARLY_RUNS_MAX: usize = 2;

/// A stretch of one part's text.
#[derive(Debug, Default)]
pub struct Block {
    /// 0, 1, 2 … over all parts.
    pub seq: u64,
    pub part: usize,
    /// Decoded offset in the part of the first byte.
    pub offset: u64,
    /// Nothing of this part follows. (A part may end with a block of no bytes.)
    pub ends_part: bool,
    /// The first bytes, up to a newline, are probably half a line.
    pub after_damage: bool,
    /// Long lines missing right before this block, anything else right behind it.
    pub damage: Vec<Damage>,
    #[expect(clippy::rc_buffer, reason = "the vector comes back to be filled again")]
    pub(crate) bytes: Arc<Vec<u8>>,
    pub(crate) range: Range<usize>,
    /// `bytes` are those of a run, which other blocks share.
    pub(crate) of_run: bool,
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
    /// Locked before `reading` where both are.
    source: Mutex<Source>,
    reading: Mutex<Reading>,
    /// Signalled when a run was given to `reading`, and when it came to be that run's turn.
    handed_in: Condvar,
    buffers: Buffers,
    decoders: Mutex<Vec<Decompressor<'static>>>,
    stored_bytes_read: Arc<AtomicU64>,
}

/// What is read next.
struct Source {
    parts: Vec<Arc<dyn Part>>,
    limits: Limits,
    progress: Arc<AtomicU64>,
    next: Next,
    /// So many runs were handed out.
    n_runs: u64,
}

enum Next {
    Part(Start),
    Frames(Frames),
    /// From a place on to the end of its part.
    InOrder {
        from: InOrder,
        skip_to: u64,
    },
    /// The text that `reading` has open.
    Text {
        part: usize,
    },
    Nothing,
}

impl Block {
    /// Ends after a newline, unless the part ends here or damage follows. At least
    /// [`crate::PADDING_BYTES`] more are behind it in the same allocation.
    pub fn text(&self) -> &[u8] {
        &self.bytes[self.range.clone()]
    }

    /// Bytes from the first one to the end of the allocation.
    pub fn allocated_bytes(&self) -> usize {
        self.bytes.capacity() - self.range.start
    }
}

impl Blocks {
    pub fn new(parts: Vec<Arc<dyn Part>>, start: Start, limits: Limits) -> Blocks {
        let line_bytes_max = limits.line_bytes_max.max(1);
        let block_bytes = limits.block_bytes.clamp(1, line_bytes_max);
        let limits = Limits { block_bytes, line_bytes_max, ..limits };
        let progress = Arc::<AtomicU64>::default();
        let source = Source {
            parts,
            limits,
            progress: Arc::clone(&progress),
            next: Next::Part(start),
            n_runs: 0,
        };
        Blocks {
            source: Mutex::new(source),
            reading: Mutex::new(Reading::new(limits)),
            handed_in: Condvar::new(),
            buffers: Buffers::new(block_bytes.max(FILL_BYTES_MIN)),
            decoders: Mutex::default(),
            stored_bytes_read: progress,
        }
    }

    /// The next block in order, `None` at the end. What cannot be unpacked side by side is
    /// decoded in here by one thread at a time; what is done with a block is the calling
    /// thread's own time.
    ///
    /// An error is the environment's (cannot open, cannot read) and ends the reading.
    pub fn next(&self) -> Result<Option<Block>, Error> {
        loop {
            if let Some(block) = self.next_unpacked(&mut locked(&self.reading)) {
                return Ok(Some(block));
            }
            let mut source = locked(&self.source);
            let in_order = locked(&self.reading).in_order.is_some();
            let run = if in_order { None } else { source.run()? };
            let Some(run) = run else {
                return self.next_in_order(&mut source);
            };
            let ticket = Ticket { blocks: self, n: source.n_runs };
            source.n_runs += 1;
            drop(source);
            let unpacked = self.unpack(run)?;
            ticket.hand_in(unpacked);
        }
    }

    /// Of what was unpacked, or else of the text that is read in order.
    fn next_in_order(&self, source: &mut Source) -> Result<Option<Block>, Error> {
        let n_runs = source.n_runs;
        let mut reading = self.wait_while(|reading| reading.n_handed_in < n_runs);
        if let Some(block) = self.next_unpacked(&mut reading) {
            return Ok(Some(block));
        }
        if let Some(from) = reading.in_order.take() {
            reading.next_run = n_runs;
            source.next = Next::InOrder { from, skip_to: 0 };
        }
        let block = source.block(&mut reading, &self.buffers);
        if block.is_err() {
            source.next = Next::Nothing;
        }
        block
    }

    fn unpack(&self, run: Run) -> Result<Unpacked, Error> {
        let buffer = self.buffers.for_run(run.buffer_bytes());
        let spare = locked(&self.decoders).pop();
        let mut decoder =
            spare.map_or_else(Decompressor::new, Ok).map_err(crate::zstd::no_decoder)?;
        let unpacked = run.unpack(&mut decoder, buffer);
        locked(&self.decoders).push(decoder);
        Ok(unpacked)
    }

    fn next_unpacked(&self, reading: &mut Reading) -> Option<Block> {
        let next_run = reading.next_run;
        let block = reading.next_unpacked(&self.buffers);
        if reading.next_run != next_run || reading.in_order.is_some() {
            self.handed_in.notify_all();
        }
        block
    }

    fn wait_while(&self, mut not_yet: impl FnMut(&Reading) -> bool) -> MutexGuard<'_, Reading> {
        let reading = locked(&self.reading);
        let waited = self.handed_in.wait_while(reading, |reading| not_yet(reading));
        waited.unwrap_or_else(PoisonError::into_inner)
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

    /// Gives the buffer of a used block back, to be filled again.
    pub fn recycle(&self, block: Block) {
        // Others may still be at other blocks of the same buffer.
        if let Ok(bytes) = Arc::try_unwrap(block.bytes) {
            if block.of_run {
                self.buffers.give_back_run(bytes);
            } else {
                self.buffers.give_back_block(bytes);
            }
        }
    }
}

/// The right and the duty to hand in a run.
struct Ticket<'a> {
    blocks: &'a Blocks,
    n: u64,
}

impl Ticket<'_> {
    /// Waits when many others did so before their turn.
    fn hand_in(self, unpacked: Unpacked) {
        let n = self.n;
        let mut reading = self
            .blocks
            .wait_while(|reading| reading.unpacked.len() >= EARLY_RUNS_MAX && reading.next_run < n);
        reading.hand_in(n, unpacked);
        self.blocks.handed_in.notify_all();
        drop(reading);
        std::mem::forget(self);
    }
}

impl Drop for Ticket<'_> {
    /// Without its run there is no text to go on with: an error, or a bug.
    fn drop(&mut self) {
        locked(&self.blocks.source).next = Next::Nothing;
        locked(&self.blocks.reading).lose_run();
        self.blocks.handed_in.notify_all();
    }
}

impl Source {
    /// Frames that can be unpacked by whoever asks; `None` when text must be read in order, or
    /// nothing is left.
    fn run(&mut self) -> Result<Option<Run>, Error> {
        let run = self.next_run();
        if run.is_err() {
            self.next = Next::Nothing;
        }
        run
    }

    fn next_run(&mut self) -> Result<Option<Run>, Error> {
        loop {
            self.next = match &mut self.next {
                Next::Part(start) => {
                    let start = *start;
                    let Some(part) = self.parts.get(start.part) else {
                        self.next = Next::Nothing;
                        continue;
                    };
                    let from = InOrder {
                        part: start.part,
                        stored_offset: start.stored_offset,
                        begins_at: Some(start.offset),
                        progress_bytes: self.progress.load(Ordering::Relaxed),
                    };
                    let skip_to = start.skip_to;
                    let frames = if skip_to > start.offset {
                        None
                    } else {
                        Frames::open(&**part, from, self.limits, &self.progress)?
                    };
                    frames.map_or(Next::InOrder { from, skip_to }, Next::Frames)
                }
                Next::Frames(frames) => match frames.next()? {
                    Step::Run(run) => {
                        if run.ends_part {
                            let part = run.from.part + 1;
                            self.next = Next::Part(Start { part, ..Start::default() });
                        }
                        return Ok(Some(run));
                    }
                    Step::Other(from) => Next::InOrder { from, skip_to: 0 },
                },
                Next::InOrder { .. } | Next::Text { .. } | Next::Nothing => return Ok(None),
            }
        }
    }

    /// Of text that must be read in order; every run before it was joined and used up.
    fn block(&mut self, reading: &mut Reading, buffers: &Buffers) -> Result<Option<Block>, Error> {
        let part = match self.next {
            Next::InOrder { from, skip_to } => {
                self.progress.store(from.progress_bytes, Ordering::Relaxed);
                reading.open(&*self.parts[from.part], from, skip_to, &self.progress)?;
                self.next = Next::Text { part: from.part };
                from.part
            }
            Next::Text { part } => part,
            Next::Part(_) | Next::Frames(_) | Next::Nothing => return Ok(None),
        };
        let block = reading.next_of_text(buffers)?;
        if block.ends_part {
            self.next = Next::Part(Start { part: part + 1, ..Start::default() });
        }
        Ok(Some(block))
    }
}
