//! A log into a store: blocks are unpacked, read and applied side by side.
//!
//! Every worker does the same: takes the next block (unpacking happens in there), reads its lines into a
//! batch, and hands the batch over: whoever finds nobody applying applies all that is next in order, the others go on.
//! So unpacking, reading and applying overlap on any number of threads, only a few blocks and batches a thread are in
//! memory, and the order of events is that of the log.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Condvar, Mutex, PoisonError};

use scan::{Block, Blocks, Damage, DamageKind, Limits, Start};
use store::{Builder, Gap, GapKind, Sink, Store, Text, Wire};

use crate::{
    Error,
    batch::{Batch, Item},
    freshness::{Freshness, Origin, compare, origin, samples},
    lines::{self, Place},
    log::Log,
    replay::{self, Replay, State},
};

/// Stack of a worker: documents nest up to [`lines::JSON_DEPTH_MAX`] deep.
const STACK_BYTES: usize = 32 << 20;
/// Large enough that handing blocks over costs little beside reading them, small enough for a core's cache.
const BLOCK_BYTES: usize = 2 << 20;

/// How to read; no setting changes what is read.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub n_threads: usize,
    pub limits: Limits,
    /// Rows that wait to be packed.
    pub open_bytes_max: usize,
}

impl Options {
    /// Settings that keep a reading within `memory_bytes`, as far as the log's own small tables allow.
    pub fn within(n_threads: usize, memory_bytes: u64) -> Options {
        let share = usize::try_from(memory_bytes / 16).unwrap_or(usize::MAX).max(1 << 20);
        let defaults = Limits::default();
        let limits = Limits {
            block_bytes: BLOCK_BYTES.min(share / n_threads.max(1)).max(64 << 10),
            line_bytes_max: defaults.line_bytes_max.min(share.saturating_mul(2)),
            ..defaults
        };
        Options { n_threads: n_threads.max(1), limits, open_bytes_max: share.min(128 << 20) }
    }
}

struct Turn<S: Sink> {
    replay: Replay<S>,
    files: Vec<Text>,
    /// Gaps at the very end of a part: a torn line there may yet be completed.
    at_end: BTreeMap<usize, Vec<Gap>>,
    /// Decoded offset behind the last whole line, by part.
    ends: BTreeMap<usize, u64>,
}

/// Reads the log into `sink`; goes on from `before` where that is possible. `progress` is called now and then with the
/// stored bytes read so far.
pub fn read<S: Sink + Send>(
    log: &Log,
    before: Option<&Store>,
    sink: S,
    options: Options,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<S, Error> {
    let write_error = |source| Error::Write { source };
    let origin = before.and_then(origin).filter(|o| compare(o, log) == Freshness::Behind);
    let mut start = Start::default();
    let mut replay = match (before, origin) {
        (
            Some(store),
            Some(Origin { part, stored_offset, offset, skip_to, state: Some(state), .. }),
        ) => {
            start = Start { part: part as usize, stored_offset, offset, skip_to };
            replay::resume(sink, options.open_bytes_max, store, state).map_err(write_error)?
        }
        _ => {
            let builder = Builder::new(sink, options.open_bytes_max).map_err(write_error)?;
            let mut replay = Replay::new(builder, State::default());
            for (kind, name, n) in &log.gaps {
                let file = replay.texts().intern(name);
                replay.add_gap(&Gap { kind: *kind, file, n: *n, ..Gap::default() });
            }
            replay
        }
    };
    let files = log.parts.iter().map(|part| replay.texts().intern(part.name())).collect();
    let blocks = Blocks::new(log.parts.clone(), start, options.limits);
    let turn = Turn { replay, files, at_end: BTreeMap::new(), ends: BTreeMap::new() };
    let shared = Shared {
        blocks,
        order: Mutex::new(Order::default()),
        room: Condvar::new(),
        turn: Mutex::new(turn),
        n_waiting_max: options.n_threads + 1,
    };
    std::thread::scope(|scope| {
        for n in 0..options.n_threads {
            let worker = || shared.work(progress);
            let builder =
                std::thread::Builder::new().name(format!("read-{n}")).stack_size(STACK_BYTES);
            if let Err(source) = builder.spawn_scoped(scope, worker) {
                if n == 0 {
                    lock(&shared.order).failed = Some(Error::Thread { source });
                }
                break;
            }
        }
    });
    let order = shared.order.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = order.failed {
        return Err(error);
    }
    let turn = shared.turn.into_inner().unwrap_or_else(PoisonError::into_inner);
    finish(log, &shared.blocks, start, turn).map_err(write_error)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the workers share.
struct Shared<S: Sink> {
    blocks: Blocks,
    order: Mutex<Order>,
    /// Signalled when a batch was applied and somebody waits with another.
    room: Condvar,
    turn: Mutex<Turn<S>>,
    /// Batches that may wait for those before them.
    n_waiting_max: usize,
}

/// Whose batch comes next.
#[derive(Default)]
struct Order {
    next: u64,
    waiting: BTreeMap<u64, (Batch, Block)>,
    /// A worker is applying, and will see to what waits.
    applying: bool,
    n_blocked: usize,
    spare: Vec<Batch>,
    failed: Option<Error>,
}

impl<S: Sink + Send> Shared<S> {
    /// One worker's loop. A panic in here (a bug) is passed on when the scope ends; others must not wait for ever.
    fn work(&self, progress: &(dyn Fn(u64) + Sync)) {
        loop {
            let block = match self.blocks.next() {
                Ok(Some(block)) => block,
                Ok(None) => return,
                Err(error) => return self.fail(error.into()),
            };
            progress(self.blocks.stored_bytes_read());
            let mut batch = {
                let mut order = lock(&self.order);
                if order.failed.is_some() {
                    return;
                }
                order.spare.pop().unwrap_or_default()
            };
            let place = Place { offset: block.offset, after_damage: block.after_damage };
            self.guarded(|| lines::read_into(block.text(), place, &mut batch));
            if !self.hand_over(batch, block) {
                return;
            }
        }
    }

    fn fail(&self, error: Error) {
        lock(&self.order).failed.get_or_insert(error);
        self.room.notify_all();
    }

    /// Lets the others go when `work` panics.
    fn guarded<T>(&self, work: impl FnOnce() -> T) -> T {
        std::panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
            self.fail(Error::Write { source: std::io::Error::other("stopped by a bug") });
            std::panic::resume_unwind(panic)
        })
    }

    /// Leaves a batch to whoever is applying, or applies it and all that wait behind it. `false` when reading has failed.
    fn hand_over(&self, batch: Batch, block: Block) -> bool {
        let mut order = lock(&self.order);
        while order.waiting.len() >= self.n_waiting_max
            && order.next != block.seq
            && order.failed.is_none()
        {
            order.n_blocked += 1;
            order = self.room.wait(order).unwrap_or_else(PoisonError::into_inner);
            order.n_blocked -= 1;
        }
        order.waiting.insert(block.seq, (batch, block));
        if order.applying {
            return order.failed.is_none();
        }
        order.applying = true;
        loop {
            let next = order.next;
            let Some((mut batch, block)) = order.waiting.remove(&next) else { break };
            drop(order);
            let applied = self.guarded(|| lock(&self.turn).apply(&mut batch, &block));
            self.blocks.recycle(block);
            if let Err(source) = applied {
                self.fail(Error::Write { source });
            }
            order = lock(&self.order);
            order.next += 1;
            order.spare.push(batch);
            if order.n_blocked > 0 {
                self.room.notify_all();
            }
            if order.failed.is_some() {
                break;
            }
        }
        order.applying = false;
        order.failed.is_none()
    }
}

/// Reads a log's lines as [`read`] does and keeps nothing, to tell what scanning alone costs: decoded bytes.
pub fn scanned_bytes(log: &Log, limits: Limits) -> Result<u64, Error> {
    let blocks = Blocks::new(log.parts.clone(), Start::default(), limits);
    let mut batch = Batch::default();
    let mut bytes = 0;
    while let Some(block) = blocks.next()? {
        let place = Place { offset: block.offset, after_damage: block.after_damage };
        lines::read_into(block.text(), place, &mut batch);
        bytes += block.text().len() as u64;
        blocks.recycle(block);
    }
    Ok(bytes)
}

impl<S: Sink> Turn<S> {
    fn apply(&mut self, batch: &mut Batch, block: &Block) -> std::io::Result<()> {
        let file = self.files[block.part];
        if !block.text().is_empty() {
            self.settle(block.part);
        }
        let (before, behind): (Vec<&Damage>, Vec<&Damage>) =
            block.damage.iter().partition(|d| d.kind == DamageKind::LineTooLong);
        for damage in before {
            let gap = self.gap(damage, file);
            self.replay.add_gap(&gap);
        }
        let mut last_torn = None;
        // a line without its end may yet be completed, also where the bytes end inside a compressed block
        if !block.text().ends_with(b"\n")
            && let Some((_, Item::Gap { kind: GapKind::TornLine, .. })) = batch.items.last()
            && !block.text().is_empty()
        {
            last_torn = batch.items.pop();
        }
        self.replay.apply(batch, file)?;
        // a block without a whole line says nothing of how far the whole lines before it went
        if batch.end_offset > block.offset {
            self.ends.insert(block.part, batch.end_offset);
        }
        if let Some((offset, Item::Gap { kind, n, bytes, .. })) = last_torn {
            let gap = Gap { kind, file, n, bytes, first_offset: offset, ..Gap::default() };
            self.at_end.entry(block.part).or_default().push(gap);
        }
        for damage in behind {
            let gap = self.gap(damage, file);
            self.at_end.entry(block.part).or_default().push(gap);
        }
        Ok(())
    }

    /// More of the part came after its damage: it is there to stay.
    fn settle(&mut self, part: usize) {
        for gap in self.at_end.remove(&part).unwrap_or_default() {
            self.replay.add_gap(&gap);
        }
    }

    fn gap(&mut self, damage: &Damage, file: Text) -> Gap {
        let (kind, detail) = match damage.kind {
            DamageKind::LineTooLong => (GapKind::LongLine, String::new()),
            DamageKind::CutShort => (GapKind::CutShort, String::new()),
            DamageKind::Corrupt => (GapKind::Corrupt, String::new()),
            DamageKind::Expansion => (GapKind::Expansion, String::new()),
            DamageKind::UnknownCodec => (GapKind::Corrupt, "form that is not supported".to_owned()),
        };
        let detail = self.replay.texts().intern(&detail);
        Gap {
            kind,
            file,
            detail,
            n: 1,
            bytes: damage.bytes.unwrap_or(0),
            first_offset: damage.offset,
        }
    }
}

fn finish<S: Sink>(
    log: &Log,
    blocks: &Blocks,
    start: Start,
    mut turn: Turn<S>,
) -> std::io::Result<S> {
    let last = log.parts.len().saturating_sub(1);
    let mut extra = turn.at_end.remove(&last).unwrap_or_default();
    for gap in turn.at_end.into_values().flatten() {
        turn.replay.add_gap(&gap);
    }
    let ended = turn.replay.has_ended();
    // the open end of a running application's log is no loss: what is missing is yet to come
    if !ended {
        extra.retain(|gap| gap.kind != GapKind::CutShort || gap.bytes > 0);
    }
    let end =
        turn.ends.get(&last).copied().unwrap_or(if start.part == last { start.skip_to } else { 0 });
    let again = if ended { Start::default() } else { blocks.restart_for(last, end) };
    let origin = Origin {
        files: log.files.clone(),
        samples: samples(&log.parts, &log.files).unwrap_or(0),
        part: again.part as u64,
        stored_offset: again.stored_offset,
        offset: again.offset,
        skip_to: again.skip_to,
        state: None,
    };
    let mut resume = Vec::new();
    origin.put(&mut resume);
    if !ended {
        // the last field of the record: the state in place of "none"
        resume.pop();
        resume.push(1);
        resume.extend_from_slice(&turn.replay.save());
    }
    turn.replay.finish(&resume, extra)
}
