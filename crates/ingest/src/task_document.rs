//! Task events as JSON documents: the general way for whatever the line scanner declines, above all failures.
//! Every member may be missing or misfit; what does not fit is counted and taken as missing.

use serde_json::Value;
use store::{
    EXECUTOR_METRICS, ExecutorMetrics, StageAttemptId, TaskColumn as C, TaskFlags, TaskRow,
};

use crate::{
    batch::{self, Batch, EndReason, Side, TaskEnd, TaskStart},
    json, task_line,
};

/// Where each metric is in `Task Metrics`: group, key, column.
const METRICS: &[(&[&str], &str, C)] = &[
    (&[], "Executor Deserialize Time", C::executor_deserialize_ms),
    (&[], "Executor Deserialize CPU Time", C::executor_deserialize_cpu_ns),
    (&[], "Executor Run Time", C::executor_run_ms),
    (&[], "Executor CPU Time", C::executor_cpu_ns),
    (&[], "Peak Execution Memory", C::peak_execution_memory_bytes),
    (&[], "Peak On Heap Execution Memory", C::peak_on_heap_execution_memory_bytes),
    (&[], "Peak Off Heap Execution Memory", C::peak_off_heap_execution_memory_bytes),
    (&[], "Result Size", C::result_size_bytes),
    (&[], "JVM GC Time", C::jvm_gc_ms),
    (&[], "Result Serialization Time", C::result_serialization_ms),
    (&[], "Memory Bytes Spilled", C::spill_memory_bytes),
    (&[], "Disk Bytes Spilled", C::spill_disk_bytes),
    (&[READ], "Remote Blocks Fetched", C::shuffle_remote_blocks),
    (&[READ], "Local Blocks Fetched", C::shuffle_local_blocks),
    (&[READ], "Fetch Wait Time", C::fetch_wait_ms),
    (&[READ], "Remote Bytes Read", C::shuffle_remote_bytes),
    (&[READ], "Remote Bytes Read To Disk", C::shuffle_remote_to_disk_bytes),
    (&[READ], "Local Bytes Read", C::shuffle_local_bytes),
    (&[READ], "Total Records Read", C::shuffle_read_rows),
    (&[READ], "Remote Requests Duration", C::shuffle_remote_requests_ms),
    (&[READ, PUSH], "Corrupt Merged Block Chunks", C::push_corrupt_merged_chunks),
    (&[READ, PUSH], "Merged Fetch Fallback Count", C::push_fallbacks),
    (&[READ, PUSH], "Merged Remote Blocks Fetched", C::push_remote_merged_blocks),
    (&[READ, PUSH], "Merged Local Blocks Fetched", C::push_local_merged_blocks),
    (&[READ, PUSH], "Merged Remote Chunks Fetched", C::push_remote_merged_chunks),
    (&[READ, PUSH], "Merged Local Chunks Fetched", C::push_local_merged_chunks),
    (&[READ, PUSH], "Merged Remote Bytes Read", C::push_remote_merged_bytes),
    (&[READ, PUSH], "Merged Local Bytes Read", C::push_local_merged_bytes),
    (&[READ, PUSH], "Merged Remote Requests Duration", C::push_remote_merged_requests_ms),
    (&[WRITE], "Shuffle Bytes Written", C::shuffle_write_bytes),
    (&[WRITE], "Shuffle Write Time", C::shuffle_write_ns),
    (&[WRITE], "Shuffle Records Written", C::shuffle_write_rows),
    (&["Input Metrics"], "Bytes Read", C::input_bytes),
    (&["Input Metrics"], "Records Read", C::input_rows),
    (&["Output Metrics"], "Bytes Written", C::output_bytes),
    (&["Output Metrics"], "Records Written", C::output_rows),
];
const READ: &str = "Shuffle Read Metrics";
const PUSH: &str = "Push Based Shuffle";
const WRITE: &str = "Shuffle Write Metrics";

/// A task's start; `None` when it has no task or stage.
pub(crate) fn task_start(event: &Value, batch: &mut Batch, misfits: &mut u64) -> Option<()> {
    let stage = stage(event)?;
    let row = task_row(event.get("Task Info")?, &mut batch.side, misfits)?;
    batch.starts.push(TaskStart { stage, info: *batch::info(&row) });
    Some(())
}

/// A task's end; `None` when it has no task or stage.
pub(crate) fn task_end(event: &Value, batch: &mut Batch, misfits: &mut u64) -> Option<()> {
    let stage = stage(event)?;
    let info = event.get("Task Info")?;
    let side = &mut batch.side;
    let mut row = task_row(info, side, misfits)?;
    let (accumulables_from, user_from) = (side.accumulables.len() as u32, side.user.len() as u32);
    for accumulable in json::list(info, "Accumulables") {
        let Some(id) = json::int(accumulable, "ID") else {
            *misfits += 1;
            continue;
        };
        let sql = json::text(accumulable, "Metadata") == Some("sql");
        let internal = sql || json::boolean(accumulable, "Internal") == Some(true);
        let update = accumulable.get("Update").map(json::as_text);
        let value = accumulable.get("Value").map(json::as_text);
        let name = json::text(accumulable, "Name");
        task_line::add_accumulable(side, id, name, update.as_deref(), value.as_deref(), internal);
    }
    let empty = Value::Null;
    let (reason, error) = end_reason(event.get("Task End Reason").unwrap_or(&empty));
    if let Some(error) = error {
        row[C::error] = side.texts.intern(&error).to_column();
    }
    row[C::flags] |= TaskFlags::HAS_METRICS;
    let mut metrics_seen = 0;
    if let Some(metrics) = event.get("Task Metrics") {
        metrics_seen = read_metrics(metrics, &mut row, misfits);
    }
    let executor_metrics = event.get("Task Executor Metrics").map(|set| {
        side.executor_metrics.push(executor_metrics(set));
        (side.executor_metrics.len() - 1) as u32
    });
    batch.ends.push(TaskEnd {
        stage,
        row,
        reason,
        metrics_seen,
        accumulables: (accumulables_from, side.accumulables.len() as u32),
        user: (user_from, side.user.len() as u32),
        executor_metrics,
    });
    Some(())
}

fn stage(event: &Value) -> Option<StageAttemptId> {
    let attempt = json::int32(event, "Stage Attempt ID").unwrap_or(0);
    Some(StageAttemptId { stage: json::int32(event, "Stage ID")?, attempt })
}

fn read_metrics(metrics: &Value, row: &mut TaskRow, misfits: &mut u64) -> u64 {
    let mut seen = 0;
    for (path, key, column) in METRICS {
        let group = path.iter().try_fold(metrics, |at, key| at.get(key));
        let Some(value) = group.and_then(|group| group.get(key)) else { continue };
        match json::whole(value) {
            Some(n) => {
                row[*column] = n;
                seen |= 1 << (*column as usize - C::FIRST_METRIC);
            }
            None => *misfits += 1,
        }
    }
    seen
}

fn task_row(info: &Value, side: &mut Side, misfits: &mut u64) -> Option<TaskRow> {
    let mut row = TaskRow::UNKNOWN;
    row[C::attempt] = 1;
    row[C::task_id] = json::int(info, "Task ID")?;
    for (key, column) in [
        ("Index", C::index),
        ("Attempt", C::attempt),
        ("Partition ID", C::partition_id),
        ("Launch Time", C::launched_at_ms),
        ("Getting Result Time", C::getting_result_at_ms),
        ("Finish Time", C::finished_at_ms),
    ] {
        match (info.get(key), json::int(info, key)) {
            (_, Some(n)) => row[column] = n,
            (Some(_), None) => *misfits += 1,
            (None, None) => {}
        }
    }
    row[C::executor] = task_line::intern(side, json::text(info, "Executor ID"));
    row[C::host] = task_line::intern(side, json::text(info, "Host"));
    row[C::locality] = task_line::intern(side, json::text(info, "Locality"));
    for (key, flag) in [
        ("Speculative", TaskFlags::SPECULATIVE),
        ("Failed", TaskFlags::FAILED),
        ("Killed", TaskFlags::KILLED),
    ] {
        if json::boolean(info, key) == Some(true) {
            row[C::flags] |= flag;
        }
    }
    Some(row)
}

/// A set of executor metrics; a missing one is 0, as for Spark's reader.
pub(crate) fn executor_metrics(set: &Value) -> ExecutorMetrics {
    let mut out = [0; EXECUTOR_METRICS.len()];
    for (value, name) in out.iter_mut().zip(EXECUTOR_METRICS) {
        *value = json::int(set, name).unwrap_or(0);
    }
    out
}

/// The reason and Spark's text for it (`TaskFailedReason.toErrorString`; for a killed task just the kill reason).
fn end_reason(reason: &Value) -> (EndReason, Option<String>) {
    let text = |key| json::text(reason, key);
    let number = |key, absent| json::int(reason, key).unwrap_or(absent);
    let message = match text("Reason").unwrap_or_default() {
        "Success" => return (EndReason::Success, None),
        "Resubmitted" => {
            let message = "Resubmitted (resubmitted due to lost executor)".to_owned();
            return (EndReason::Resubmitted, Some(message));
        }
        "TaskKilled" => {
            let message = text("Kill Reason").unwrap_or("unknown reason").to_owned();
            return (EndReason::Killed, Some(message));
        }
        "TaskCommitDenied" => {
            let message = format!(
                "TaskCommitDenied (Driver denied task commit) for job: {}, partition: {}, attemptNumber: {}",
                number("Job ID", -1),
                number("Partition ID", -1),
                number("Attempt Number", -1)
            );
            return (EndReason::Killed, Some(message));
        }
        "FetchFailed" => fetch_failed(reason),
        "ExceptionFailure" => exception(reason),
        "TaskResultLost" => "TaskResultLost (result lost from block manager)".to_owned(),
        "ExecutorLostFailure" => {
            let by_task = json::boolean(reason, "Exit Caused By App").unwrap_or(true);
            let whose = if by_task {
                "caused by one of the running tasks"
            } else {
                "unrelated to the running tasks"
            };
            let executor = text("Executor ID").unwrap_or("unknown");
            let loss = text("Loss Reason").map(|r| format!(" Reason: {r}")).unwrap_or_default();
            format!("ExecutorLostFailure (executor {executor} exited {whose}){loss}")
        }
        _ => "UnknownReason".to_owned(),
    };
    (EndReason::Failed, Some(message))
}

fn fetch_failed(reason: &Value) -> String {
    let address = match reason.get("Block Manager Address") {
        Some(bm) if bm.is_object() => format!(
            "BlockManagerId({}, {}, {}, None)",
            json::text(bm, "Executor ID").unwrap_or_default(),
            json::text(bm, "Host").unwrap_or_default(),
            json::int(bm, "Port").unwrap_or(0)
        ),
        _ => "null".to_owned(),
    };
    let map_index = json::int(reason, "Map Index").map_or("Unknown".to_owned(), |i| i.to_string());
    let number = |key| json::int(reason, key).unwrap_or(-1);
    format!(
        "FetchFailed({address}, shuffleId={}, mapIndex={map_index}, mapId={}, reduceId={}, message=\n{}\n)",
        number("Shuffle ID"),
        number("Map ID"),
        number("Reduce ID"),
        json::text(reason, "Message").unwrap_or("Unknown reason")
    )
}

fn exception(reason: &Value) -> String {
    if let Some(trace) = json::text(reason, "Full Stack Trace") {
        return trace.to_owned();
    }
    let frames: Vec<String> = json::list(reason, "Stack Trace")
        .iter()
        .map(|f| {
            let class = json::text(f, "Declaring Class").unwrap_or_default();
            let method = json::text(f, "Method Name").unwrap_or_default();
            let file = json::text(f, "File Name").unwrap_or_default();
            let line = json::int(f, "Line Number").unwrap_or(0);
            format!("        {class}.{method}({file}:{line})")
        })
        .collect();
    format!(
        "{}: {}\n{}",
        json::text(reason, "Class Name").unwrap_or_default(),
        json::text(reason, "Description").unwrap_or_default(),
        frames.join("\n")
    )
}
