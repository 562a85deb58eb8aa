//! What one block of lines holds, in line order, free of the block's bytes: task events as rows, everything else as
//! JSON documents. Batches are made by any number of threads and applied in order by one. A thread fills the same one
//! again and again, so that nothing has to grow anew and a text that came up before is known.

use serde_json::Value;
use store::{ExecutorMetrics, StageAttemptId, TaskColumn, TaskRow, TextPool, UserAccumulable};

use crate::task_line::Memo;

/// A task's start.
#[derive(Clone, Debug)]
pub(crate) struct TaskStart {
    pub(crate) stage: StageAttemptId,
    pub(crate) info: TaskInfo,
}

/// The columns before the metrics. Text columns are handles of [`Side::texts`].
pub(crate) type TaskInfo = [i64; TaskColumn::FIRST_METRIC];

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
    /// Text columns are handles of [`Side::texts`].
    pub(crate) row: TaskRow,
    pub(crate) reason: EndReason,
    /// A bit for each metric that the line names.
    pub(crate) metrics_seen: u64,
    /// Range in [`Side::accumulables`].
    pub(crate) accumulables: (u32, u32),
    /// Range in [`Side::user`].
    pub(crate) user: (u32, u32),
    /// Index in [`Side::executor_metrics`].
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
}

/// One line's worth.
#[derive(Debug)]
pub(crate) enum Item {
    /// Index in [`Batch::starts`].
    TaskStart(u32),
    /// Index in [`Batch::ends`].
    TaskEnd(u32),
    Event(Box<Document>),
    Gap {
        kind: store::GapKind,
        detail: String,
        n: u64,
        bytes: u64,
    },
}

/// See the module.
#[derive(Default)]
pub(crate) struct Batch {
    /// Decoded offset in the part of the line that an item came from, beside it.
    pub(crate) items: Vec<(u64, Item)>,
    pub(crate) starts: Vec<TaskStart>,
    pub(crate) ends: Vec<TaskEnd>,
    pub(crate) side: Side,
    /// Decoded offset behind the last whole line.
    pub(crate) end_offset: u64,
}

/// What rows point to.
#[derive(Default)]
pub(crate) struct Side {
    pub(crate) accumulables: Vec<(u64, i64)>,
    /// Text columns are handles of `texts`; the row number is not filled in.
    pub(crate) user: Vec<UserAccumulable>,
    pub(crate) executor_metrics: Vec<ExecutorMetrics>,
    pub(crate) texts: TextPool,
    /// Handles of `texts` as handles of the store; `u32::MAX` where no item that was applied has used it.
    pub(crate) stored_texts: Vec<u32>,
    pub(crate) memo: Memo,
}

/// A pool of texts that grew beyond this is not carried on to the next block.
const CARRIED_TEXT_BYTES_MAX: usize = 1 << 20;

impl Batch {
    /// Empties it for the next block.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.starts.clear();
        self.ends.clear();
        self.side.accumulables.clear();
        self.side.user.clear();
        self.side.executor_metrics.clear();
        self.side.memo.forget_executor_metrics();
        if self.side.texts.size_bytes() > CARRIED_TEXT_BYTES_MAX {
            self.side.texts = TextPool::default();
            self.side.stored_texts = Vec::new();
            self.side.memo = Memo::default();
        }
    }
}

impl TaskEnd {
    /// An end about which nothing is known.
    pub(crate) const UNKNOWN: TaskEnd = TaskEnd {
        stage: StageAttemptId { stage: 0, attempt: 0 },
        row: TaskRow::UNKNOWN,
        reason: EndReason::Success,
        metrics_seen: 0,
        accumulables: (0, 0),
        user: (0, 0),
        executor_metrics: None,
    };
}

/// The columns before the metrics of a row about which nothing is known.
pub(crate) const UNKNOWN_INFO: TaskInfo = *info(&TaskRow::UNKNOWN);

/// The columns before the metrics.
pub(crate) const fn info(row: &TaskRow) -> &TaskInfo {
    row.0.first_chunk().expect("a row has these columns")
}
