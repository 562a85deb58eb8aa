//! The lines of a stage's tasks: which numbers of a real task end differ from task to task, and how they are drawn.
//!
//! A task's metrics, the `internal.metrics` accumulables that repeat them and the SQL metrics that mirror them get the
//! same numbers, and the running `Value` of each accumulable is the sum over the tasks that ended before, as in Spark.

use std::collections::BTreeMap;

use super::model::{Stage, shift};
use xtask::json::{Form, Json};

/// Holes of a task's identity and times; its metrics and accumulables follow.
const TASK_ID: u16 = 0;
const INDEX: u16 = 1;
const LAUNCH: u16 = 2;
const FINISH: u16 = 3;
const EXECUTOR: u16 = 4;
const METRICS_FROM: u16 = 5;

/// How a number is drawn for a task.
#[derive(Clone, Copy, PartialEq)]
enum Draw {
    /// As the task was scheduled.
    Deserialize,
    DeserializeCpu,
    Serialize,
    Run,
    /// From the task's run time.
    Cpu,
    Gc,
    /// From the task's share of the shuffle that its stage reads or writes; zero in a stage that does not.
    LocalBytes,
    RemoteBytes,
    LocalBlocks,
    RemoteBlocks,
    ReadRecords,
    FetchWait,
    WrittenBytes,
    WrittenRecords,
    WriteTime,
    /// One task in 211 spills.
    Spilled,
    SpilledInMemory,
    /// The model's own number times the task's factor.
    Scaled,
}

/// Task metrics that vary: place below `Task Metrics`, name of the accumulable that repeats it, how it is drawn.
const METRICS: [(&[&str], &str, Draw); 21] = [
    (&["Executor Deserialize Time"], "executorDeserializeTime", Draw::Deserialize),
    (&["Executor Deserialize CPU Time"], "executorDeserializeCpuTime", Draw::DeserializeCpu),
    (&["Executor Run Time"], "executorRunTime", Draw::Run),
    (&["Executor CPU Time"], "executorCpuTime", Draw::Cpu),
    (&["Peak Execution Memory"], "peakExecutionMemory", Draw::Scaled),
    (&["Peak On Heap Execution Memory"], "peakOnHeapExecutionMemory", Draw::Scaled),
    (&["Result Size"], "resultSize", Draw::Scaled),
    (&["JVM GC Time"], "jvmGCTime", Draw::Gc),
    (&["Result Serialization Time"], "resultSerializationTime", Draw::Serialize),
    (&["Memory Bytes Spilled"], "memoryBytesSpilled", Draw::SpilledInMemory),
    (&["Disk Bytes Spilled"], "diskBytesSpilled", Draw::Spilled),
    (
        &["Shuffle Read Metrics", "Remote Blocks Fetched"],
        "shuffle.read.remoteBlocksFetched",
        Draw::RemoteBlocks,
    ),
    (
        &["Shuffle Read Metrics", "Local Blocks Fetched"],
        "shuffle.read.localBlocksFetched",
        Draw::LocalBlocks,
    ),
    (&["Shuffle Read Metrics", "Fetch Wait Time"], "shuffle.read.fetchWaitTime", Draw::FetchWait),
    (
        &["Shuffle Read Metrics", "Remote Bytes Read"],
        "shuffle.read.remoteBytesRead",
        Draw::RemoteBytes,
    ),
    (
        &["Shuffle Read Metrics", "Local Bytes Read"],
        "shuffle.read.localBytesRead",
        Draw::LocalBytes,
    ),
    (
        &["Shuffle Read Metrics", "Total Records Read"],
        "shuffle.read.recordsRead",
        Draw::ReadRecords,
    ),
    (
        &["Shuffle Write Metrics", "Shuffle Bytes Written"],
        "shuffle.write.bytesWritten",
        Draw::WrittenBytes,
    ),
    (&["Shuffle Write Metrics", "Shuffle Write Time"], "shuffle.write.writeTime", Draw::WriteTime),
    (
        &["Shuffle Write Metrics", "Shuffle Records Written"],
        "shuffle.write.recordsWritten",
        Draw::WrittenRecords,
    ),
    (&["Input Metrics", "Records Read"], "input.recordsRead", Draw::Scaled),
];
const ACCUMULABLES_FROM: u16 = METRICS_FROM + METRICS.len() as u16;

/// SQL metrics that mirror a task metric.
const SQL_MIRRORS: [(&str, Draw); 11] = [
    ("duration", Draw::Run),
    ("shuffle bytes written", Draw::WrittenBytes),
    ("shuffle records written", Draw::WrittenRecords),
    ("shuffle write time", Draw::WriteTime),
    ("local bytes read", Draw::LocalBytes),
    ("remote bytes read", Draw::RemoteBytes),
    ("local blocks read", Draw::LocalBlocks),
    ("remote blocks read", Draw::RemoteBlocks),
    ("records read", Draw::ReadRecords),
    ("fetch wait time", Draw::FetchWait),
    ("spill size", Draw::SpilledInMemory),
];

/// One task as it is scheduled.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Task {
    /// First, so that tasks are ordered by the time they end.
    pub(super) finish: u64,
    pub(super) id: u64,
    pub(super) index: u64,
    pub(super) launch: u64,
    pub(super) run_ms: u64,
    pub(super) executor: u64,
    /// Random bits for everything else that varies.
    pub(super) dice: u64,
}

impl Task {
    /// A task and when it ends: after deserializing, running, serializing the result and a scheduler delay.
    pub(super) fn scheduled(self) -> Task {
        let delay_ms = 2 + (self.dice >> 12) % 6;
        let finish =
            self.launch + self.deserialize_ms() + self.run_ms + self.serialize_ms() + delay_ms;
        Task { finish, ..self }
    }

    fn deserialize_ms(&self) -> u64 {
        2 + (self.dice >> 8) % 14
    }

    fn serialize_ms(&self) -> u64 {
        u64::from((self.dice >> 16).is_multiple_of(8))
    }
}

/// An accumulable of a task end: which it is of its stage, and how its update is drawn.
struct Update {
    slot: u16,
    draw: Draw,
    base: u64,
    /// Written as text, as SQL metrics are.
    quoted: bool,
    /// How many accumulables of the task share the number (two exchanges that are read, say).
    shares: u64,
}

struct TaskEnd {
    form: Form,
    updates: Vec<Update>,
    /// The model's own numbers of [`METRICS`].
    bases: [u64; METRICS.len()],
}

/// Whether a stage's tasks read a shuffle and write one.
#[derive(Clone, Copy)]
pub(super) struct Shuffle {
    pub(super) reads: bool,
    pub(super) writes: bool,
}

/// The lines of one stage's tasks and the sums of their accumulables so far.
pub(super) struct TaskLines {
    start: Form,
    ends: Vec<TaskEnd>,
    shuffle: Shuffle,
    values: Vec<u64>,
    slots: BTreeMap<u64, u16>,
    totals: Vec<u64>,
}

/// What is done to the accumulables of every task and stage before they are copied.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// Number of SQL metrics a task updates; the model's own when absent.
    pub(super) accumulators: Option<usize>,
    /// Without the `internal.metrics` accumulables, as with `spark.eventLog.includeTaskMetricsAccumulators=false`.
    pub(super) slim: bool,
}

/// Accumulator ids from here on are those added for [`Shape::accumulators`], a thousand for each model stage.
pub(super) const EXTRA_FROM: u64 = 50_000;
pub(super) const EXTRA_PER_STAGE: u64 = 1_000;

impl Shape {
    /// Trims or extends a list of accumulables of the model stage at `position`.
    pub(super) fn apply(self, accumulables: &mut Vec<Json>, position: usize) {
        let is_sql = |a: &Json| a.get("Metadata").is_some_and(|m| m.text() == "sql");
        if self.slim {
            accumulables.retain(|a| !name(a).starts_with("internal.metrics."));
        }
        let Some(wanted) = self.accumulators else { return };
        let (mut sql, others): (Vec<Json>, Vec<Json>) = accumulables.drain(..).partition(is_sql);
        let own = sql.len();
        sql.truncate(wanted);
        for extra in 0..wanted.saturating_sub(own) {
            let mut added = if own > 0 { sql[extra % own].clone() } else { extra_metric() };
            added.set("ID", EXTRA_FROM + position as u64 * EXTRA_PER_STAGE + extra as u64);
            added.set("Name", format!("rows of part {extra}"));
            sql.push(added);
        }
        accumulables.extend(sql);
        accumulables.extend(others);
    }
}

fn extra_metric() -> Json {
    let field = |key: &str, value: Json| (key.to_owned(), value);
    Json::Object(vec![
        field("ID", 0.into()),
        field("Name", "".into()),
        field("Update", "1000".into()),
        field("Value", "1000".into()),
        field("Internal", Json::Bool(true)),
        field("Count Failed Values", Json::Bool(true)),
        field("Metadata", "sql".into()),
    ])
}

fn name(accumulable: &Json) -> &str {
    accumulable.get("Name").map_or("", Json::text)
}

fn identity(event: &mut Json, stage: u64) {
    event.set("Stage ID", stage);
    event.replace(&["Task Info", "Task ID"], Json::Hole("", TASK_ID, ""));
    event.replace(&["Task Info", "Index"], Json::Hole("", INDEX, ""));
    event.replace(&["Task Info", "Partition ID"], Json::Hole("", INDEX, ""));
    event.replace(&["Task Info", "Launch Time"], Json::Hole("", LAUNCH, ""));
    event.replace(&["Task Info", "Executor ID"], Json::Hole("\"", EXECUTOR, "\""));
    event.replace(&["Task Info", "Host"], Json::Hole("\"host-", EXECUTOR, "\""));
}

/// How the update of an accumulable is drawn, by its name.
fn draw_of(name: &str) -> Draw {
    let internal = name.strip_prefix("internal.metrics.");
    let metric = METRICS.iter().find(|m| Some(m.1) == internal).map(|m| m.2);
    let mirror = SQL_MIRRORS.iter().find(|m| m.0 == name).map(|m| m.1);
    metric.or(mirror).unwrap_or(Draw::Scaled)
}

impl TaskLines {
    /// The lines of stage `id`, copied from the model stage at `position` with accumulators moved by `shift_by`.
    pub(super) fn new(
        model: &Stage,
        position: usize,
        id: u64,
        shift_by: u64,
        shape: Shape,
        shuffle: Shuffle,
    ) -> TaskLines {
        let mut start = model.task_start.clone();
        identity(&mut start, id);
        let mut lines = TaskLines {
            start: Form::line(&start),
            ends: Vec::new(),
            shuffle,
            values: Vec::new(),
            slots: BTreeMap::new(),
            totals: Vec::new(),
        };
        for event in &model.task_ends {
            let mut event = event.clone();
            if let Some(list) = accumulables(&mut event) {
                shape.apply(list, position);
            }
            shift(&mut event, shift_by);
            let end = lines.task_end(event, id);
            lines.ends.push(end);
        }
        lines.totals = vec![0; lines.slots.len()];
        lines.values = vec![0; usize::from(ACCUMULABLES_FROM) + 2 * lines.slots.len()];
        lines
    }

    fn task_end(&mut self, mut event: Json, stage: u64) -> TaskEnd {
        identity(&mut event, stage);
        if self.shuffle.writes {
            event.set("Task Type", "ShuffleMapTask");
        }
        event.replace(&["Task Info", "Finish Time"], Json::Hole("", FINISH, ""));
        let mut bases = [0; METRICS.len()];
        for (i, (path, _, _)) in METRICS.iter().enumerate() {
            let path = [&["Task Metrics"], *path].concat();
            bases[i] = event.at(&path).and_then(Json::number).unwrap_or(0);
            event.replace(&path, Json::Hole("", METRICS_FROM + i as u16, ""));
        }
        let mut updates: Vec<Update> = Vec::new();
        for accumulable in accumulables(&mut event).into_iter().flatten() {
            let base = accumulable.get("Update").and_then(Json::number);
            let id = accumulable.get("ID").and_then(Json::number);
            let (Some(base), Some(id)) = (base, id) else { continue };
            let next = self.slots.len() as u16;
            let slot = *self.slots.entry(id).or_insert(next);
            let hole = ACCUMULABLES_FROM + 2 * slot;
            let quoted = matches!(accumulable.get("Update"), Some(Json::Text(_)));
            let quote = if quoted { "\"" } else { "" };
            accumulable.set("Update", Json::Hole(quote, hole, quote));
            accumulable.set("Value", Json::Hole(quote, hole + 1, quote));
            updates.push(Update {
                slot,
                draw: draw_of(name(accumulable)),
                base,
                quoted,
                shares: 1,
            });
        }
        share_mirrors(&mut updates);
        TaskEnd { form: Form::line(&event), updates, bases }
    }

    pub(super) fn write_start(&mut self, task: &Task, out: &mut Vec<u8>) {
        self.identify(task);
        self.start.write(&self.values, out);
    }

    pub(super) fn write_end(&mut self, task: &Task, out: &mut Vec<u8>) {
        self.identify(task);
        let end = &self.ends[(task.index % self.ends.len() as u64) as usize];
        for (i, (_, _, draw)) in METRICS.iter().enumerate() {
            self.values[usize::from(METRICS_FROM) + i] =
                drawn(*draw, task, end.bases[i], self.shuffle);
        }
        for update in &end.updates {
            let value = drawn(update.draw, task, update.base, self.shuffle) / update.shares;
            let slot = usize::from(update.slot);
            let hole = usize::from(ACCUMULABLES_FROM) + 2 * slot;
            self.totals[slot] += value;
            self.values[hole] = value;
            self.values[hole + 1] = self.totals[slot];
        }
        end.form.write(&self.values, out);
    }

    fn identify(&mut self, task: &Task) {
        self.values[usize::from(TASK_ID)] = task.id;
        self.values[usize::from(INDEX)] = task.index;
        self.values[usize::from(LAUNCH)] = task.launch;
        self.values[usize::from(FINISH)] = task.finish;
        self.values[usize::from(EXECUTOR)] = task.executor;
    }

    /// Puts the sums over all tasks into the accumulables of the stage's end, and drops those no task updated.
    pub(super) fn put_totals(&self, stage_info: &mut Json) {
        let Some(list) = stage_info.get_mut("Accumulables").and_then(Json::list_mut) else {
            return;
        };
        for accumulable in list {
            let id = accumulable.get("ID").and_then(Json::number);
            let Some(slot) = id.and_then(|id| self.slots.get(&id)) else { continue };
            let total = self.totals[usize::from(*slot)];
            let quoted = matches!(accumulable.get("Value"), Some(Json::Text(_)));
            accumulable
                .set("Value", if quoted { total.to_string().into() } else { Json::from(total) });
        }
    }
}

fn accumulables(event: &mut Json) -> Option<&mut Vec<Json>> {
    event.get_mut("Task Info")?.get_mut("Accumulables")?.list_mut()
}

/// SQL metrics that mirror the same task metric split it between them; times are not split.
fn share_mirrors(updates: &mut [Update]) {
    const WHOLE: [Draw; 2] = [Draw::Scaled, Draw::Run];
    let mirrors = |u: &Update| u.quoted && !WHOLE.contains(&u.draw);
    let draws: Vec<Draw> = updates.iter().filter(|u| mirrors(u)).map(|u| u.draw).collect();
    for update in updates.iter_mut().filter(|u| mirrors(u)) {
        update.shares = draws.iter().filter(|draw| **draw == update.draw).count() as u64;
    }
}

/// A number of a task. Everything that is not scaled from the model follows from the task's index and run time.
fn drawn(draw: Draw, task: &Task, base: u64, shuffle: Shuffle) -> u64 {
    let Shuffle { reads, writes } = shuffle;
    let i = task.index;
    let read_bytes = if reads { 1_000 + i * 7_919 % 90_000 } else { 0 };
    let written_bytes = if writes { 500 + i * 104_729 % 50_000 } else { 0 };
    let spilled = if i.is_multiple_of(211) { 1 << 20 } else { 0 };
    match draw {
        Draw::Deserialize => task.deserialize_ms(),
        Draw::DeserializeCpu => task.deserialize_ms() * (500_000 + task.dice % 400_000),
        Draw::Serialize => task.serialize_ms(),
        Draw::Run => task.run_ms,
        Draw::Cpu => task.run_ms * (600_000 + task.dice % 350_000),
        Draw::Gc => task.run_ms * (20 + (task.dice >> 20) % 50) / 1_000,
        Draw::LocalBytes => read_bytes / 16,
        Draw::RemoteBytes => read_bytes - read_bytes / 16,
        Draw::LocalBlocks => u64::from(reads) * 2,
        Draw::RemoteBlocks => u64::from(reads) * 30,
        Draw::ReadRecords => u64::from(reads) * (10 + i % 400),
        Draw::FetchWait => u64::from(reads) * task.run_ms * ((task.dice >> 28) % 40) / 1_000,
        Draw::WrittenBytes => written_bytes,
        Draw::WrittenRecords => u64::from(writes) * (10 + i * 31 % 300),
        Draw::WriteTime => written_bytes * 40,
        Draw::Spilled => spilled,
        Draw::SpilledInMemory => spilled * 4,
        // Between a half and three halves of the model's, a little different for each number.
        Draw::Scaled => base * (512 + (task.dice >> 40) % 1_024 + base % 64) / 1_056,
    }
}
