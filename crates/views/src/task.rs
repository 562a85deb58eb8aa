//! Task attempts of a stage attempt, a page at a time.

use store::{Pairs, StageAttemptId, StageTasks, Store, TaskColumn as C, TaskFlags, TaskRow, Text};

use crate::{
    measure::{TaskStatus, task_status},
    task_order::{self, TaskKey},
};

/// A user's accumulable as a task reported it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskAccumulable<'s> {
    pub id: i64,
    pub name: Option<&'s str>,
    pub update: Option<&'s str>,
    pub value: Option<&'s str>,
}

/// A task attempt, for reading.
#[derive(Clone, Debug)]
pub struct TaskLine<'s> {
    pub row: TaskRow,
    pub status: TaskStatus,
    /// From launch to finish; to the last event of the log while it runs.
    pub duration_ms: i64,
    pub executor: &'s str,
    pub host: &'s str,
    pub locality: &'s str,
    pub error: Option<&'s str>,
    /// The end event carried metrics.
    pub has_metrics: bool,
    /// As Spark's `AppStatusUtils.schedulerDelay`; 0 for a task that has not ended.
    pub scheduler_delay_ms: i64,
    /// 0 where the result came with the status.
    pub getting_result_ms: i64,
    pub accumulables: Vec<TaskAccumulable<'s>>,
}

/// Which tasks are asked for, and in which order.
#[derive(Clone, Debug, Default)]
pub struct TaskQuery {
    pub key: TaskKey,
    pub descending: bool,
    /// In that order, those before are left out.
    pub offset: usize,
    /// At most so many.
    pub n_max: usize,
    /// Only tasks of one of these; all when `None`.
    pub statuses: Option<Vec<TaskStatus>>,
    pub only: TasksOnly,
}

/// Only tasks that are like this; what is empty or `None` holds for all.
#[derive(Clone, Debug, Default)]
pub struct TasksOnly {
    pub index: Option<i64>,
    pub task_id: Option<i64>,
    pub executor: Option<String>,
    pub host: Option<String>,
    /// In the names of executor, host and locality, and in the error; small letters.
    pub text: String,
    pub speculative: bool,
    /// That ran at some time between two instants.
    pub within_ms: Option<(i64, i64)>,
}

/// The tasks asked for. Rows that Spark's server has no task for (an end without a start) are not among them. What is
/// sorted by is read, and of all else only what is returned; so a page of a stage of a million tasks takes tens of
/// milliseconds.
pub fn tasks<'s>(store: &'s Store, id: StageAttemptId, query: &TaskQuery) -> Vec<TaskLine<'s>> {
    let mut lines = Vec::new();
    visit_tasks(store, id, query, |line| lines.push(line));
    lines
}

/// As [`tasks`], one by one, so that they need not be in memory together.
pub fn visit_tasks<'s>(
    store: &'s Store,
    id: StageAttemptId,
    query: &TaskQuery,
    mut visit: impl FnMut(TaskLine<'s>),
) {
    let tasks = store.tasks(id);
    let now_ms = crate::last_event_at_ms(store);
    for row in task_order::page(store, &tasks, query, now_ms) {
        visit(line(store, &tasks, row, now_ms));
    }
}

/// The tasks of indices that were tried more than once, each in the order of its tries: of at most so many indices, those
/// that come first.
pub fn attempt_chains(store: &Store, id: StageAttemptId, n_max: usize) -> Vec<Vec<TaskLine<'_>>> {
    let tasks = store.tasks(id);
    let (indices, attempts) = (tasks.column(C::index), tasks.column(C::attempt));
    let retried = attempts.iter().zip(&indices).filter(|(attempt, _)| **attempt > 0);
    let mut wanted: Vec<i64> = retried.map(|(_, index)| *index).collect();
    wanted.sort_unstable();
    wanted.dedup();
    wanted.truncate(n_max);
    if wanted.is_empty() {
        return Vec::new();
    }
    let now_ms = crate::last_event_at_ms(store);
    let mut chains: Vec<Vec<TaskLine<'_>>> = wanted.iter().map(|_| Vec::new()).collect();
    for (row, index) in indices.iter().enumerate() {
        if let Ok(at) = wanted.binary_search(index) {
            chains[at].push(line(store, &tasks, row, now_ms));
        }
    }
    for chain in &mut chains {
        chain.sort_by_key(|task| task.row[C::attempt]);
    }
    chains
}

/// How many tasks fit a query, whatever the page.
pub fn n_tasks_that(store: &Store, id: StageAttemptId, query: &TaskQuery) -> usize {
    task_order::wanted(store, &store.tasks(id), query).len()
}

/// Number of task attempts that Spark's server would have.
pub fn n_tasks_of(store: &Store, id: StageAttemptId) -> usize {
    let flags = store.tasks(id).column(C::flags);
    flags.iter().filter(|flags| **flags & TaskFlags::NOT_STARTED == 0).count()
}

fn line<'s>(store: &'s Store, tasks: &StageTasks<'_>, at: usize, now_ms: i64) -> TaskLine<'s> {
    let row = tasks.row(at);
    let optional = |handle: i64| Text::from_column(handle).map(|text| store.text(text));
    let text = |column: C| optional(row[column]).unwrap_or_default();
    let status = task_status(row[C::flags], row[C::getting_result_at_ms]);
    let ends_at_ms = if row[C::finished_at_ms] > 0 { row[C::finished_at_ms] } else { now_ms };
    let duration_ms = ends_at_ms.wrapping_sub(row[C::launched_at_ms]);
    let has_metrics = row[C::flags] & TaskFlags::HAS_METRICS != 0;
    let fetching_at_ms = row[C::getting_result_at_ms];
    let getting_result_ms =
        if fetching_at_ms > 0 { ends_at_ms.wrapping_sub(fetching_at_ms) } else { 0 };
    let is_ended = !matches!(status, TaskStatus::Running | TaskStatus::GettingResult);
    let scheduler_delay_ms = if is_ended && has_metrics && duration_ms > 0 {
        duration_ms
            .wrapping_sub(row[C::executor_run_ms])
            .wrapping_sub(row[C::executor_deserialize_ms])
            .wrapping_sub(row[C::result_serialization_ms])
            .wrapping_sub(getting_result_ms)
            .max(0)
    } else {
        0
    };
    let accumulables = tasks.user_accumulables(at).into_iter();
    let accumulables = accumulables.map(|[_, id, name, update, value]| TaskAccumulable {
        id,
        name: optional(name),
        update: optional(update),
        value: optional(value),
    });
    TaskLine {
        status,
        duration_ms,
        executor: text(C::executor),
        host: text(C::host),
        locality: text(C::locality),
        error: optional(row[C::error]),
        has_metrics,
        scheduler_delay_ms,
        getting_result_ms,
        accumulables: accumulables.collect(),
        row,
    }
}

/// Names and addresses of the logs of the executors that have any, as the log tells them.
pub fn executor_log_pairs<'s>(store: &'s Store, executor: &str) -> Option<(&'s Pairs, &'s Pairs)> {
    let mut rows = store.tables().executors.iter();
    let row = rows.find(|row| store.text(row.id) == executor)?;
    Some((&row.logs, &row.attributes))
}
