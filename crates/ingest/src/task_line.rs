//! `SparkListenerTaskStart` and `SparkListenerTaskEnd` lines into rows: nine bytes in ten of a log pass through here.
//!
//! Bound: each byte is looked at once, nothing is allocated per line, and the limit should be the scanner's (2–3 GB/s a
//! core). Three habits of Spark's writer are used, each with a general way beside it: keys come in a known order;
//! most executor-metric and push-based-shuffle blocks repeat the line before byte for byte (a memo replaces 32 numbers by
//! one comparison); `internal.metrics.*` accumulables repeat the task metrics and are jumped over.
//! A line that does not fit (`None`) is read again as a JSON document by [`crate::task_document`].

use scan::{Cursor, object};
use store::{EXECUTOR_METRICS, ExecutorMetrics, StageAttemptId, TaskColumn as C, TaskFlags, TaskRow, Text};

use crate::batch::{Batch, EndReason, TaskEnd, TaskStart};

/// What is carried from line to line of one block.
#[derive(Default)]
pub(crate) struct Memo<'b> {
    executor: (&'b [u8], i64),
    host: (&'b [u8], i64),
    locality: (&'b [u8], i64),
    executor_metrics: (&'b [u8], u32),
    /// The last push-based-shuffle block that was all zero.
    push_zero: &'b [u8],
}

/// The object after `"Task Info":`.
struct Info {
    row: TaskRow,
    accumulables: (u32, u32),
    user: (u32, u32),
}

/// Reads the line behind its event name; the cursor stands before the comma.
pub(crate) fn task_start<'b>(c: &mut Cursor<'b>, memo: &mut Memo<'b>, batch: &mut Batch) -> Option<()> {
    let mut stage = StageAttemptId::default();
    let mut info = None;
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
        info = Some(task_info(c, memo, batch)?);
        more = c.more(b'}')?;
    }
    while more {
        match c.any_key()?.bytes {
            b"Stage ID" => stage.stage = i32::try_from(c.int()?).ok()?,
            b"Stage Attempt ID" => stage.attempt = i32::try_from(c.int()?).ok()?,
            b"Task Info" => info = Some(task_info(c, memo, batch)?),
            _ => c.skip_value()?,
        }
        more = c.more(b'}')?;
    }
    if !c.at_end() {
        return None;
    }
    batch.starts.push(TaskStart { stage, row: info?.row });
    Some(())
}

/// Reads the line behind its event name; the cursor stands before the comma.
pub(crate) fn task_end<'b>(c: &mut Cursor<'b>, memo: &mut Memo<'b>, batch: &mut Batch) -> Option<()> {
    let mut stage = StageAttemptId::default();
    let mut info = None;
    let mut success = false;
    let mut metrics = Metrics::default();
    let mut set = None;
    let mut more = c.more(b'}')?;
    macro_rules! member {
        ($key:literal => $body:expr) => {
            if more && c.eat(concat!("\"", $key, "\":").as_bytes()) {
                $body;
                more = c.more(b'}')?;
            }
        };
    }
    member!("Stage ID" => stage.stage = i32::try_from(c.int()?).ok()?);
    member!("Stage Attempt ID" => stage.attempt = i32::try_from(c.int()?).ok()?);
    member!("Task Type" => c.skip_value()?);
    member!("Task End Reason" => success = ended_well(c)?);
    member!("Task Info" => info = Some(task_info(c, memo, batch)?));
    member!("Task Executor Metrics" => set = Some(executor_metrics(c, memo, batch)?));
    member!("Task Metrics" => metrics.read(c, memo)?);
    while more {
        match c.any_key()?.bytes {
            b"Stage ID" => stage.stage = i32::try_from(c.int()?).ok()?,
            b"Stage Attempt ID" => stage.attempt = i32::try_from(c.int()?).ok()?,
            b"Task End Reason" => success = ended_well(c)?,
            b"Task Info" => info = Some(task_info(c, memo, batch)?),
            b"Task Executor Metrics" => set = Some(executor_metrics(c, memo, batch)?),
            b"Task Metrics" => metrics.read(c, memo)?,
            _ => c.skip_value()?,
        }
        more = c.more(b'}')?;
    }
    // failures are rare and their reasons intricate: they are read as documents
    if !c.at_end() || !success {
        return None;
    }
    let Info { mut row, accumulables, user } = info?;
    row[C::flags] |= TaskFlags::HAS_METRICS;
    row.0[C::FIRST_METRIC..].copy_from_slice(&metrics.values);
    batch.ends.push(TaskEnd {
        stage,
        row,
        reason: EndReason::Success,
        metrics_seen: metrics.seen,
        accumulables,
        user,
        executor_metrics: set,
    });
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

/// A string member as a text handle; the same text as in the line before costs a comparison.
#[inline(always)]
fn text<'b>(c: &mut Cursor<'b>, memo: &mut (&'b [u8], i64), batch: &mut Batch) -> Option<i64> {
    let raw = c.string()?;
    if raw.bytes == memo.0 && !memo.0.is_empty() {
        return Some(memo.1);
    }
    let handle = batch.texts.intern(&raw.decode()).to_column();
    *memo = (raw.bytes, handle);
    Some(handle)
}

fn task_info<'b>(c: &mut Cursor<'b>, memo: &mut Memo<'b>, batch: &mut Batch) -> Option<Info> {
    let mut row = TaskRow::UNKNOWN;
    // Spark's reader takes a missing attempt for the first retry
    row[C::attempt] = 1;
    let accumulables_from = batch.accumulables.len() as u32;
    let user_from = batch.user.len() as u32;
    let mut flags = 0;
    object!(c, {
        "Task ID" => row[C::task_id] = c.int()?,
        "Index" => row[C::index] = c.int()?,
        "Attempt" => row[C::attempt] = c.int()?,
        "Partition ID" => row[C::partition_id] = c.int()?,
        "Launch Time" => row[C::launched_at_ms] = c.int()?,
        "Executor ID" => row[C::executor] = text(c, &mut memo.executor, batch)?,
        "Host" => row[C::host] = text(c, &mut memo.host, batch)?,
        "Locality" => row[C::locality] = text(c, &mut memo.locality, batch)?,
        "Speculative" => if c.boolean()? { flags |= TaskFlags::SPECULATIVE },
        "Getting Result Time" => row[C::getting_result_at_ms] = c.int()?,
        "Finish Time" => row[C::finished_at_ms] = c.int()?,
        "Failed" => if c.boolean()? { flags |= TaskFlags::FAILED },
        "Killed" => if c.boolean()? { flags |= TaskFlags::KILLED },
        "Accumulables" => accumulables(c, batch)?,
    });
    row[C::flags] = flags;
    Some(Info {
        row,
        accumulables: (accumulables_from, batch.accumulables.len() as u32),
        user: (user_from, batch.user.len() as u32),
    })
}

const INTERNAL: &[u8] = b"internal.metrics.";
const SQL_TAIL: &[u8] = b",\"Internal\":true,\"Count Failed Values\":true,\"Metadata\":\"sql\"}";

fn accumulables(c: &mut Cursor<'_>, batch: &mut Batch) -> Option<()> {
    let mut more = c.open(b'[', b']')?;
    while more {
        let before = *c;
        if usual_accumulable(c, batch).is_none() {
            *c = before;
            any_accumulable(c, batch)?;
        }
        more = c.more(b']')?;
    }
    Some(())
}

/// An accumulable in the form that Spark 2 to 4 write SQL metrics and `internal.metrics.*` in.
#[inline(always)]
fn usual_accumulable(c: &mut Cursor<'_>, batch: &mut Batch) -> Option<()> {
    if !c.eat(b"{\"ID\":") {
        return None;
    }
    let id = u64::try_from(c.int()?).ok()?;
    if !c.eat(b",\"Name\":\"") {
        return None;
    }
    let rest = c.rest();
    if rest.starts_with(INTERNAL) {
        // numbers only: the first closing brace ends it, unless the value is a list
        let end = memchr::memchr2(b'}', b'[', rest)?;
        return if rest[end] == b'}' { c.advance(end + 1) } else { None };
    }
    let name = memchr::memchr2(b'"', b'\\', rest)?;
    c.advance(name)?;
    if !c.eat(b"\",\"Update\":\"") {
        return None;
    }
    let update = c.int()?;
    if !c.eat(b"\",\"Value\":\"") {
        return None;
    }
    c.int()?;
    if !c.eat(b"\"") || !c.eat(SQL_TAIL) {
        return None;
    }
    batch.accumulables.push((id, update));
    Some(())
}

/// Any accumulable: numbers become column values, a user's are kept as text.
#[inline(never)]
fn any_accumulable(c: &mut Cursor<'_>, batch: &mut Batch) -> Option<()> {
    let (mut id, mut name, mut internal, mut sql) = (None, None, false, false);
    let (mut update, mut value) = (None, None);
    object!(c, {
        "ID" => id = Some(c.int()?),
        "Name" => name = Some(c.string()?.decode().into_owned()),
        "Update" => update = Some(c.raw_value()?),
        "Value" => value = Some(c.raw_value()?),
        "Internal" => internal = c.boolean()?,
        "Metadata" => sql = c.raw_value()? == b"\"sql\"",
    });
    let unquoted = |raw: &[u8]| {
        let mut inner = Cursor::new(raw);
        match inner.string() {
            Some(text) => text.decode().into_owned(),
            None => String::from_utf8_lossy(raw).into_owned(),
        }
    };
    let update = update.map(unquoted);
    let value = value.map(unquoted);
    add_accumulable(batch, id?, name.as_deref(), update.as_deref(), value.as_deref(), internal || sql);
    Some(())
}

/// Keeps one accumulable where it belongs. Shared with the document reader.
pub(crate) fn add_accumulable(
    batch: &mut Batch,
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
            batch.accumulables.push((id, update));
        }
        return;
    }
    let mut handle = |text: Option<&str>| text.map_or(-1, |t| batch.texts.intern(t).to_column());
    let user = [0, id, handle(name), handle(update), handle(value)];
    batch.user.push(user);
}

fn executor_metrics<'b>(c: &mut Cursor<'b>, memo: &mut Memo<'b>, batch: &mut Batch) -> Option<u32> {
    let (known, set) = memo.executor_metrics;
    if !known.is_empty() && c.eat(known) {
        return Some(set);
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
    let set = batch.executor_metrics.len() as u32;
    batch.executor_metrics.push(values);
    memo.executor_metrics = (text, set);
    Some(set)
}

/// Task metrics as they are read: values in column order, and a bit for each that was there.
struct Metrics {
    values: [i64; C::N_METRICS],
    seen: u64,
}

impl Default for Metrics {
    fn default() -> Self {
        Metrics { values: [0; C::N_METRICS], seen: 0 }
    }
}

impl Metrics {
    #[inline(always)]
    fn set(&mut self, column: C, value: i64) {
        let at = column as usize - C::FIRST_METRIC;
        self.values[at] = value;
        self.seen |= 1 << at;
    }

    fn read<'b>(&mut self, c: &mut Cursor<'b>, memo: &mut Memo<'b>) -> Option<()> {
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

    fn read_shuffle_read<'b>(&mut self, c: &mut Cursor<'b>, memo: &mut Memo<'b>) -> Option<()> {
        object!(c, {
            "Remote Blocks Fetched" => self.set(C::shuffle_remote_blocks, c.int()?),
            "Local Blocks Fetched" => self.set(C::shuffle_local_blocks, c.int()?),
            "Fetch Wait Time" => self.set(C::fetch_wait_ms, c.int()?),
            "Remote Bytes Read" => self.set(C::shuffle_remote_bytes, c.int()?),
            "Remote Bytes Read To Disk" => self.set(C::shuffle_remote_to_disk_bytes, c.int()?),
            "Local Bytes Read" => self.set(C::shuffle_local_bytes, c.int()?),
            "Total Records Read" => self.set(C::shuffle_read_rows, c.int()?),
            "Remote Requests Duration" => self.set(C::shuffle_remote_requests_ms, c.int()?),
            "Push Based Shuffle" => self.read_push(c, memo)?,
        });
        Some(())
    }

    fn read_push<'b>(&mut self, c: &mut Cursor<'b>, memo: &mut Memo<'b>) -> Option<()> {
        const PUSH: std::ops::Range<usize> = C::push_corrupt_merged_chunks as usize - C::FIRST_METRIC
            ..C::push_remote_merged_requests_ms as usize - C::FIRST_METRIC + 1;
        if !memo.push_zero.is_empty() && c.eat(memo.push_zero) {
            self.seen |= ((1 << PUSH.len()) - 1) << PUSH.start;
            return Some(());
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
        let all = ((1u64 << PUSH.len()) - 1) << PUSH.start;
        if self.values[PUSH].iter().all(|v| *v == 0) && self.seen & all == all {
            memo.push_zero = &before[..before.len() - c.rest().len()];
        }
        Some(())
    }

    fn read_shuffle_write(&mut self, c: &mut Cursor<'_>) -> Option<()> {
        object!(c, {
            "Shuffle Bytes Written" => self.set(C::shuffle_write_bytes, c.int()?),
            "Shuffle Write Time" => self.set(C::shuffle_write_ns, c.int()?),
            "Shuffle Records Written" => self.set(C::shuffle_write_rows, c.int()?),
        });
        Some(())
    }

    fn read_input(&mut self, c: &mut Cursor<'_>) -> Option<()> {
        object!(c, {
            "Bytes Read" => self.set(C::input_bytes, c.int()?),
            "Records Read" => self.set(C::input_rows, c.int()?),
        });
        Some(())
    }

    fn read_output(&mut self, c: &mut Cursor<'_>) -> Option<()> {
        object!(c, {
            "Bytes Written" => self.set(C::output_bytes, c.int()?),
            "Records Written" => self.set(C::output_rows, c.int()?),
        });
        Some(())
    }
}

/// The handle of a text column, for the document reader.
pub(crate) fn intern(batch: &mut Batch, text: Option<&str>) -> i64 {
    text.map_or(Text::EMPTY.to_column(), |t| batch.texts.intern(t).to_column())
}
