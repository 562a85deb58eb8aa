//! `SparkListenerTaskStart` and `SparkListenerTaskEnd` lines into rows: nine bytes in ten of a log pass through here.
//!
//! Bound: each byte is looked at once, nothing is allocated per line, and the limit should be the scanner's (2–3 GB/s a
//! core). Three habits of Spark's writer are used, each with a general way beside it: keys come in a known order;
//! most executor-metric and push-based-shuffle blocks repeat the line before byte for byte (a memo replaces 32 numbers by
//! one comparison); `internal.metrics.*` accumulables repeat the task metrics and are jumped over.
//! A line that does not fit (`None`) is read again as a JSON document by [`crate::task_document`].

use std::borrow::Cow;

use scan::{Cursor, RawStr, object};
use store::{
    EXECUTOR_METRICS, ExecutorMetrics, StageAttemptId, TaskColumn as C, TaskFlags, TaskRow, Text,
    TextPool,
};

use crate::batch::{Batch, Side, TaskEnd, TaskInfo, TaskStart, UNKNOWN_INFO};

/// What is carried from line to line.
pub(crate) struct Memo {
    /// Tasks of many executors take turns: an executor's place is told by the end of its id.
    executors: [Known; N_EXECUTORS],
    /// An executor stays on one host, so the host has the place of the executor before it.
    hosts: [Known; N_EXECUTORS],
    executor_at: usize,
    localities: [Known; N_LOCALITIES],
    executor_metrics: (Vec<u8>, u32),
    /// The last push-based-shuffle block that was all zero.
    push_zero: Vec<u8>,
}

const N_EXECUTORS: usize = 64;
const N_LOCALITIES: usize = 4;

impl Default for Memo {
    fn default() -> Self {
        Memo {
            executors: std::array::from_fn(|_| Known::default()),
            hosts: std::array::from_fn(|_| Known::default()),
            executor_at: 0,
            localities: std::array::from_fn(|_| Known::default()),
            executor_metrics: Default::default(),
            push_zero: Vec::new(),
        }
    }
}

impl Memo {
    /// The sets are gone; what was remembered of them holds no more.
    pub(crate) fn forget_executor_metrics(&mut self) {
        self.executor_metrics.0.clear();
    }
}

/// A text as it stood in a line, and its handle.
#[derive(Default)]
struct Known {
    raw: Vec<u8>,
    handle: i64,
}

impl Known {
    /// The handle of `raw`; a comparison when it is the text that is known.
    #[inline(always)]
    fn handle(&mut self, raw: RawStr<'_>, texts: &mut TextPool) -> i64 {
        if raw.bytes != self.raw || raw.bytes.is_empty() {
            self.learn(raw, texts);
        }
        self.handle
    }

    #[inline(never)]
    fn learn(&mut self, raw: RawStr<'_>, texts: &mut TextPool) {
        self.handle = texts.intern(&raw.decode()).to_column();
        self.raw.clear();
        self.raw.extend_from_slice(raw.bytes);
    }
}

/// Reads the line behind its event name; the cursor stands before the comma.
pub(crate) fn task_start(c: &mut Cursor<'_>, batch: &mut Batch) -> Option<()> {
    let mut stage = StageAttemptId::default();
    let mut info = UNKNOWN_INFO;
    let mut has_info = false;
    let side = &mut batch.side;
    let mut more = c.more(b'}')?;
    if more && c.eat(b"\"Stage ID\":") {
        stage.stage = i32::try_from(c.int()?).ok()?;
        more = c.more(b'}')?;
    }
    if more && c.eat(b"\"Stage Attempt ID\":") {
        stage.attempt = i32::try_from(c.int()?).ok()?;
        more = c.more(b'}')?;
    }
    if more && c.eat(b"\"Task Info\":") {
        *c = task_info(*c, &mut info, side)?;
        has_info = true;
        more = c.more(b'}')?;
    }
    while more {
        match c.any_key()?.bytes {
            b"Stage ID" => stage.stage = i32::try_from(c.int()?).ok()?,
            b"Stage Attempt ID" => stage.attempt = i32::try_from(c.int()?).ok()?,
            b"Task Info" => {
                *c = task_info(*c, &mut info, side)?;
                has_info = true;
            }
            _ => c.skip_value()?,
        }
        more = c.more(b'}')?;
    }
    if !c.at_end() || !has_info {
        return None;
    }
    batch.starts.push(TaskStart { stage, info });
    Some(())
}

/// Reads the line behind its event name; the cursor stands before the comma.
pub(crate) fn task_end(c: &mut Cursor<'_>, batch: &mut Batch) -> Option<()> {
    // filled in where it will stay: a row is long
    batch.ends.push(TaskEnd::UNKNOWN);
    let end = batch.ends.last_mut()?;
    let read = fill_task_end(c, end, &mut batch.side);
    if read.is_none() {
        batch.ends.pop();
    }
    read
}

fn fill_task_end(c: &mut Cursor<'_>, end: &mut TaskEnd, side: &mut Side) -> Option<()> {
    let TaskEnd { stage, row, .. } = end;
    let mut has_info = false;
    let mut success = false;
    let mut metrics_seen = 0;
    let mut set = None;
    end.accumulables.0 = side.accumulables.len() as u32;
    end.user.0 = side.user.len() as u32;
    let mut more = c.more(b'}')?;
    macro_rules! member {
        ($key:literal => $body:expr) => {
            if more && c.eat(concat!("\"", $key, "\":").as_bytes()) {
                $body;
                more = c.more(b'}')?;
            }
        };
    }
    macro_rules! info {
        () => {{
            *c = task_info(*c, row.0.first_chunk_mut()?, side)?;
            has_info = true;
        }};
    }
    member!("Stage ID" => stage.stage = i32::try_from(c.int()?).ok()?);
    member!("Stage Attempt ID" => stage.attempt = i32::try_from(c.int()?).ok()?);
    member!("Task Type" => c.skip_value()?);
    member!("Task End Reason" => success = ended_well(c)?);
    member!("Task Info" => info!());
    member!("Task Executor Metrics" => set = Some(executor_metrics(c, side)?));
    member!("Task Metrics" => metrics_seen = metrics(c, row, &mut side.memo)?);
    while more {
        match c.any_key()?.bytes {
            b"Stage ID" => stage.stage = i32::try_from(c.int()?).ok()?,
            b"Stage Attempt ID" => stage.attempt = i32::try_from(c.int()?).ok()?,
            b"Task End Reason" => success = ended_well(c)?,
            b"Task Info" => info!(),
            b"Task Executor Metrics" => set = Some(executor_metrics(c, side)?),
            b"Task Metrics" => metrics_seen = metrics(c, row, &mut side.memo)?,
            _ => c.skip_value()?,
        }
        more = c.more(b'}')?;
    }
    // failures are rare and their reasons intricate: they are read as documents
    if !c.at_end() || !success || !has_info {
        return None;
    }
    row[C::flags] |= TaskFlags::HAS_METRICS;
    end.metrics_seen = metrics_seen;
    end.executor_metrics = set;
    end.accumulables.1 = side.accumulables.len() as u32;
    end.user.1 = side.user.len() as u32;
    Some(())
}

/// Whether the reason is plain success.
#[inline(always)]
fn ended_well(c: &mut Cursor<'_>) -> Option<bool> {
    if c.eat(b"{\"Reason\":\"Success\"}") {
        return Some(true);
    }
    let mut success = false;
    object!(c, { "Reason" => success = c.string()?.bytes == b"Success" });
    Some(success)
}

fn task_info<'b>(mut c: Cursor<'b>, info: &mut TaskInfo, side: &mut Side) -> Option<Cursor<'b>> {
    let mut flags = 0;
    // Spark's reader takes a missing attempt for the first retry
    info[C::attempt as usize] = 1;
    info[C::task_id as usize] = i64::MIN;
    object!(c, {
        "Task ID" => info[C::task_id as usize] = c.int()?,
        "Index" => info[C::index as usize] = c.int()?,
        "Attempt" => info[C::attempt as usize] = c.int()?,
        "Partition ID" => info[C::partition_id as usize] = c.int()?,
        "Launch Time" => info[C::launched_at_ms as usize] = c.int()?,
        "Executor ID" => info[C::executor as usize] = executor(&mut c, side)?,
        "Host" => info[C::host as usize] = host(&mut c, side)?,
        "Locality" => info[C::locality as usize] = locality(&mut c, side)?,
        "Speculative" => if c.boolean()? { flags |= TaskFlags::SPECULATIVE },
        "Getting Result Time" => info[C::getting_result_at_ms as usize] = c.int()?,
        "Finish Time" => info[C::finished_at_ms as usize] = c.int()?,
        "Failed" => if c.boolean()? { flags |= TaskFlags::FAILED },
        "Killed" => if c.boolean()? { flags |= TaskFlags::KILLED },
        "Accumulables" => c = accumulables(c, side)?,
    });
    info[C::flags as usize] = flags;
    // a task without an id is none
    (info[C::task_id as usize] != i64::MIN).then_some(c)
}

#[inline(always)]
fn executor(c: &mut Cursor<'_>, side: &mut Side) -> Option<i64> {
    let raw = c.string()?;
    let at = match raw.bytes {
        [.., tens, ones] => usize::from(*tens) * 10 + usize::from(*ones),
        [ones] => usize::from(*ones),
        [] => 0,
    };
    side.memo.executor_at = at % N_EXECUTORS;
    Some(side.memo.executors[at % N_EXECUTORS].handle(raw, &mut side.texts))
}

#[inline(always)]
fn host(c: &mut Cursor<'_>, side: &mut Side) -> Option<i64> {
    let raw = c.string()?;
    Some(side.memo.hosts[side.memo.executor_at].handle(raw, &mut side.texts))
}

#[inline(always)]
fn locality(c: &mut Cursor<'_>, side: &mut Side) -> Option<i64> {
    let raw = c.string()?;
    Some(side.memo.localities[raw.bytes.len() % N_LOCALITIES].handle(raw, &mut side.texts))
}

const INTERNAL: &[u8] = b"internal.metrics.";
const INTERNAL_TAIL: &[u8] = b",\"Internal\":true,\"Count Failed Values\":true}";

fn accumulables<'b>(mut c: Cursor<'b>, side: &mut Side) -> Option<Cursor<'b>> {
    let mut more = c.open(b'[', b']')?;
    while more {
        c = match usual_accumulable(c, side) {
            Some(after) => after,
            None => any_accumulable(c, side)?,
        };
        more = c.more(b']')?;
    }
    Some(c)
}

/// An accumulable in the form that Spark 2 to 4 write SQL metrics and `internal.metrics.*` in. Its name and its value so
/// far are of no use.
#[inline(always)]
fn usual_accumulable<'b>(mut c: Cursor<'b>, side: &mut Side) -> Option<Cursor<'b>> {
    let usual = |as_usual: bool| as_usual.then_some(());
    usual(c.eat(b"{\"ID\":"))?;
    let id = c.int()?;
    if c.eat(b",\"Name\":\"internal.metrics.") {
        // the first closing brace is the end, unless the value is a list of objects
        let from = c.rest();
        c.skip_past(b'}')?;
        let text = &from[..from.len() - c.rest().len()];
        let tail = text.len().checked_sub(INTERNAL_TAIL.len())?;
        usual(Cursor::new(&text[tail..]).eat(INTERNAL_TAIL))?;
        return Some(c);
    }
    usual(c.eat(b",\"Name\":"))?;
    c.string()?;
    usual(c.eat(b",\"Update\":\""))?;
    let update = c.int()?;
    usual(c.eat(b"\",\"Value\":\""))?;
    c.skip_digits();
    usual(c.eat(b"\",\"Internal\":true,\"Count Failed Values\":true,\"Metadata\":\"sql\"}"))?;
    side.accumulables.push((u64::try_from(id).ok()?, update));
    Some(c)
}

/// Any accumulable: numbers become column values, a user's are kept as text.
#[inline(never)]
fn any_accumulable<'b>(mut c: Cursor<'b>, side: &mut Side) -> Option<Cursor<'b>> {
    let (mut id, mut name, mut internal, mut sql) = (None, None, false, false);
    let (mut update, mut value) = (None, None);
    object!(c, {
        "ID" => id = Some(c.int()?),
        "Name" => name = Some(c.string()?.decode()),
        "Update" => update = Some(c.raw_value()?),
        "Value" => value = Some(c.raw_value()?),
        "Internal" => internal = c.boolean()?,
        "Metadata" => sql = c.raw_value()? == b"\"sql\"",
    });
    let (update, value) = (update.map(unquoted), value.map(unquoted));
    add_accumulable(
        side,
        id?,
        name.as_deref(),
        update.as_deref(),
        value.as_deref(),
        internal || sql,
    );
    Some(c)
}

/// The text of a string, or any other value as it stands.
fn unquoted(raw: &[u8]) -> Cow<'_, str> {
    Cursor::new(raw).string().map_or_else(|| String::from_utf8_lossy(raw), |text| text.decode())
}

/// Keeps one accumulable where it belongs. Shared with the document reader.
pub(crate) fn add_accumulable(
    side: &mut Side,
    id: i64,
    name: Option<&str>,
    update: Option<&str>,
    value: Option<&str>,
    internal: bool,
) {
    if name.is_some_and(|name| name.as_bytes().starts_with(INTERNAL)) {
        return;
    }
    let number = update.and_then(|u| u.parse::<i64>().ok());
    if internal {
        if let (Ok(id), Some(update)) = (u64::try_from(id), number) {
            side.accumulables.push((id, update));
        }
        return;
    }
    let mut handle = |text: Option<&str>| text.map_or(-1, |t| side.texts.intern(t).to_column());
    let user = [0, id, handle(name), handle(update), handle(value)];
    side.user.push(user);
}

fn executor_metrics(c: &mut Cursor<'_>, side: &mut Side) -> Option<u32> {
    let (known, set) = &side.memo.executor_metrics;
    if !known.is_empty() && c.eat_text(known) {
        return Some(*set);
    }
    let before = c.rest();
    let mut values: ExecutorMetrics = [0; EXECUTOR_METRICS.len()];
    let mut more = c.open(b'{', b'}')?;
    let mut expected = 0;
    while more {
        let key = c.any_key()?;
        // as in the list, from the one expected on
        let found = (expected..EXECUTOR_METRICS.len())
            .chain(0..expected)
            .find(|at| EXECUTOR_METRICS[*at].as_bytes() == key.bytes);
        match found {
            Some(at) => {
                values[at] = c.int()?;
                expected = at + 1;
            }
            None => c.skip_value()?,
        }
        more = c.more(b'}')?;
    }
    let text = &before[..before.len() - c.rest().len()];
    let set = side.executor_metrics.len() as u32;
    side.executor_metrics.push(values);
    let (known, known_set) = &mut side.memo.executor_metrics;
    known.clear();
    known.extend_from_slice(text);
    *known_set = set;
    Some(set)
}

/// Reads the object of task metrics into the row; a bit for each that was there.
fn metrics(c: &mut Cursor<'_>, row: &mut TaskRow, memo: &mut Memo) -> Option<u64> {
    let mut metrics = Metrics { row, seen: 0 };
    let mut at = *c;
    metrics.read(&mut at, memo)?;
    *c = at;
    Some(metrics.seen)
}

struct Metrics<'a> {
    row: &'a mut TaskRow,
    seen: u64,
}

impl Metrics<'_> {
    #[inline(always)]
    fn set(&mut self, column: C, value: i64) {
        self.row[column] = value;
        self.seen |= 1 << (column as usize - C::FIRST_METRIC);
    }

    #[inline(always)]
    fn read(&mut self, c: &mut Cursor<'_>, memo: &mut Memo) -> Option<()> {
        object!(c, {
            "Executor Deserialize Time" => self.set(C::executor_deserialize_ms, c.int()?),
            "Executor Deserialize CPU Time" => self.set(C::executor_deserialize_cpu_ns, c.int()?),
            "Executor Run Time" => self.set(C::executor_run_ms, c.int()?),
            "Executor CPU Time" => self.set(C::executor_cpu_ns, c.int()?),
            "Peak Execution Memory" => self.set(C::peak_execution_memory_bytes, c.int()?),
            "Peak On Heap Execution Memory" => self.set(C::peak_on_heap_execution_memory_bytes, c.int()?),
            "Peak Off Heap Execution Memory" => self.set(C::peak_off_heap_execution_memory_bytes, c.int()?),
            "Result Size" => self.set(C::result_size_bytes, c.int()?),
            "JVM GC Time" => self.set(C::jvm_gc_ms, c.int()?),
            "Result Serialization Time" => self.set(C::result_serialization_ms, c.int()?),
            "Memory Bytes Spilled" => self.set(C::spill_memory_bytes, c.int()?),
            "Disk Bytes Spilled" => self.set(C::spill_disk_bytes, c.int()?),
            "Shuffle Read Metrics" => self.read_shuffle_read(c, memo)?,
            "Shuffle Write Metrics" => self.read_shuffle_write(c)?,
            "Input Metrics" => self.read_input(c)?,
            "Output Metrics" => self.read_output(c)?,
            "Updated Blocks" => if !c.eat(b"[]") { c.skip_value()? },
        });
        Some(())
    }

    #[inline(always)]
    fn read_shuffle_read(&mut self, c: &mut Cursor<'_>, memo: &mut Memo) -> Option<()> {
        object!(c, {
            "Remote Blocks Fetched" => self.set(C::shuffle_remote_blocks, c.int()?),
            "Local Blocks Fetched" => self.set(C::shuffle_local_blocks, c.int()?),
            "Fetch Wait Time" => self.set(C::fetch_wait_ms, c.int()?),
            "Remote Bytes Read" => self.set(C::shuffle_remote_bytes, c.int()?),
            "Remote Bytes Read To Disk" => self.set(C::shuffle_remote_to_disk_bytes, c.int()?),
            "Local Bytes Read" => self.set(C::shuffle_local_bytes, c.int()?),
            "Total Records Read" => self.set(C::shuffle_read_rows, c.int()?),
            "Remote Requests Duration" => self.set(C::shuffle_remote_requests_ms, c.int()?),
            "Push Based Shuffle" => *c = self.read_push(*c, memo)?,
        });
        Some(())
    }

    fn read_push<'b>(&mut self, mut c: Cursor<'b>, memo: &mut Memo) -> Option<Cursor<'b>> {
        const PUSH: std::ops::RangeInclusive<usize> =
            C::push_corrupt_merged_chunks as usize..=C::push_remote_merged_requests_ms as usize;
        const ALL_SEEN: u64 =
            ((1 << (*PUSH.end() + 1 - *PUSH.start())) - 1) << (*PUSH.start() - C::FIRST_METRIC);
        if !memo.push_zero.is_empty() && c.eat_text(&memo.push_zero) {
            self.seen |= ALL_SEEN;
            return Some(c);
        }
        let before = c.rest();
        object!(c, {
            "Corrupt Merged Block Chunks" => self.set(C::push_corrupt_merged_chunks, c.int()?),
            "Merged Fetch Fallback Count" => self.set(C::push_fallbacks, c.int()?),
            "Merged Remote Blocks Fetched" => self.set(C::push_remote_merged_blocks, c.int()?),
            "Merged Local Blocks Fetched" => self.set(C::push_local_merged_blocks, c.int()?),
            "Merged Remote Chunks Fetched" => self.set(C::push_remote_merged_chunks, c.int()?),
            "Merged Local Chunks Fetched" => self.set(C::push_local_merged_chunks, c.int()?),
            "Merged Remote Bytes Read" => self.set(C::push_remote_merged_bytes, c.int()?),
            "Merged Local Bytes Read" => self.set(C::push_local_merged_bytes, c.int()?),
            "Merged Remote Requests Duration" => self.set(C::push_remote_merged_requests_ms, c.int()?),
        });
        if self.row.0[PUSH].iter().all(|v| *v == 0) && self.seen & ALL_SEEN == ALL_SEEN {
            memo.push_zero.clear();
            memo.push_zero.extend_from_slice(&before[..before.len() - c.rest().len()]);
        }
        Some(c)
    }

    #[inline(always)]
    fn read_shuffle_write(&mut self, c: &mut Cursor<'_>) -> Option<()> {
        object!(c, {
            "Shuffle Bytes Written" => self.set(C::shuffle_write_bytes, c.int()?),
            "Shuffle Write Time" => self.set(C::shuffle_write_ns, c.int()?),
            "Shuffle Records Written" => self.set(C::shuffle_write_rows, c.int()?),
        });
        Some(())
    }

    #[inline(always)]
    fn read_input(&mut self, c: &mut Cursor<'_>) -> Option<()> {
        object!(c, {
            "Bytes Read" => self.set(C::input_bytes, c.int()?),
            "Records Read" => self.set(C::input_rows, c.int()?),
        });
        Some(())
    }

    #[inline(always)]
    fn read_output(&mut self, c: &mut Cursor<'_>) -> Option<()> {
        object!(c, {
            "Bytes Written" => self.set(C::output_bytes, c.int()?),
            "Records Written" => self.set(C::output_rows, c.int()?),
        });
        Some(())
    }
}

/// The handle of a text column, for the document reader.
pub(crate) fn intern(side: &mut Side, text: Option<&str>) -> i64 {
    text.map_or(Text::EMPTY.to_column(), |t| side.texts.intern(t).to_column())
}
