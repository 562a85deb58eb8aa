//! What one block of lines holds, in line order, free of the block's bytes: task events as rows, everything else as
//! JSON documents. Batches are made by any number of threads and applied in order by one.

use serde_json::Value;
use store::{ExecutorMetrics, StageAttemptId, TaskRow, TextPool, UserAccumulable};

/// A task's start.
#[derive(Clone, Debug)]
pub(crate) struct TaskStart {
    pub(crate) stage: StageAttemptId,
    /// Text columns are handles of [`Batch::texts`].
    pub(crate) row: TaskRow,
}

/// How a task ended, as far as counting goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndReason {
    Success,
    /// Killed, or denied to commit: counted as killed. The text is in the row's `error`.
    Killed,
    Failed,
    /// A finished map task whose output was lost; its metrics stay those of its first end.
    Resubmitted,
}

/// A task's end.
#[derive(Clone, Debug)]
pub(crate) struct TaskEnd {
    pub(crate) stage: StageAttemptId,
    pub(crate) row: TaskRow,
    pub(crate) reason: EndReason,
    /// A bit for each metric that the line names.
    pub(crate) metrics_seen: u64,
    /// Range in [`Batch::accumulables`].
    pub(crate) accumulables: (u32, u32),
    /// Range in [`Batch::user`].
    pub(crate) user: (u32, u32),
    /// Index in [`Batch::executor_metrics`].
    pub(crate) executor_metrics: Option<u32>,
}

/// An event that is not about a task.
#[derive(Debug)]
pub(crate) struct Document {
    /// The event's name without its package: `SparkListenerJobStart`.
    pub(crate) kind: String,
    /// The event's name as it stands in the log.
    pub(crate) full_kind: String,
    pub(crate) value: Value,
    /// The line, where it is kept as it was written.
    pub(crate) line: Option<String>,
}

/// One line's worth.
#[derive(Debug)]
pub(crate) enum Item {
    /// Index in [`Batch::starts`].
    TaskStart(u32),
    /// Index in [`Batch::ends`].
    TaskEnd(u32),
    Event(Box<Document>),
    Gap { kind: store::GapKind, detail: String, n: u64, bytes: u64 },
}

/// See the module.
#[derive(Default)]
pub(crate) struct Batch {
    /// Decoded offset in the part of the line that an item came from, beside it.
    pub(crate) items: Vec<(u64, Item)>,
    pub(crate) starts: Vec<TaskStart>,
    pub(crate) ends: Vec<TaskEnd>,
    pub(crate) accumulables: Vec<(u64, i64)>,
    /// Text columns are handles of `texts`; the row number is not filled in.
    pub(crate) user: Vec<UserAccumulable>,
    pub(crate) executor_metrics: Vec<ExecutorMetrics>,
    pub(crate) texts: TextPool,
    /// Decoded offset behind the last whole line.
    pub(crate) end_offset: u64,
}
