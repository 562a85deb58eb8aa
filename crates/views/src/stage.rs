//! Stage attempts: what each did, how long, and whether its tasks look alike.

use store::{StageAttempt, StageAttemptId, StageStatus, Store, TaskColumn as C};

use crate::{
    Measure, TaskRef, app,
    summary::{self, Rows},
};

/// A task is skewed when it reads more than this many times the median bytes. (The classic job report's rule.)
pub const SKEW_RATIO: i64 = 5;
/// With a median of nothing, one task must read at least this much to count as skew: 1 MiB.
pub const SKEW_FLOOR_BYTES: i64 = 1 << 20;
/// Tasks that all read less than this are small: 1 MiB. (The classic job report's rule.)
pub const SMALL_TASK_BYTES: i64 = 1 << 20;
/// More than this many small tasks a core are too many. (The classic job report's rule.)
pub const SMALL_TASKS_PER_CORE: i64 = 2;

/// One task reads far more than the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skew {
    pub task: TaskRef,
    pub task_bytes: i64,
    pub median_bytes: i64,
}

/// Many tasks read little each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallTasks {
    pub n_tasks: i64,
    pub n_cores: i64,
    pub largest_bytes: i64,
}

/// How the successful tasks of a stage attempt compare.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskTimes {
    pub median_ms: i64,
    pub slowest_ms: i64,
    pub slowest: Option<TaskRef>,
    pub max_to_median: Option<f64>,
    /// From when nine tenths of them were done until all were.
    pub tail_ms: i64,
}

/// A stage attempt, for reading.
#[derive(Clone, Debug, PartialEq)]
pub struct StageLine<'s> {
    pub row: &'s StageAttempt,
    /// Submission to completion; to the last event while it runs; `None` when it was never submitted.
    pub duration_ms: Option<i64>,
    /// Of the durations of all stage attempts.
    pub share: f64,
    /// From the submission until the first task began: what a busy cluster or a slow start of executors costs.
    pub wait_ms: Option<i64>,
    pub gc_share: Option<f64>,
    /// Whether any of its tasks reported the metric; a sum of one that none did means nothing.
    pub metrics_seen: u64,
    /// `None` when no task succeeded.
    pub times: Option<TaskTimes>,
    pub skew: Option<Skew>,
    pub small_tasks: Option<SmallTasks>,
}

impl StageLine<'_> {
    /// The sum of a metric over the stage attempt; `None` when no task reported it.
    pub fn sum(&self, column: C) -> Option<i64> {
        let bit = column.metric_index()?;
        (self.metrics_seen >> bit & 1 == 1).then_some(self.row.sums[column])
    }

    /// Local and remote; `None` when no task reported either.
    pub fn shuffle_read_bytes(&self) -> Option<i64> {
        either(self.sum(C::shuffle_local_bytes), self.sum(C::shuffle_remote_bytes))
    }

    /// What part of the tasks' run time a time in ms is.
    pub fn share_of_run(&self, column: C) -> Option<f64> {
        summary::ratio(self.sum(column)?, self.row.sums[C::executor_run_ms])
    }

    /// What part of the tasks' run time they computed; the rest they waited.
    pub fn cpu_share(&self) -> Option<f64> {
        let cpu_ms = self.sum(C::executor_cpu_ns)? / NS_PER_MS;
        summary::ratio(cpu_ms, self.row.sums[C::executor_run_ms])
    }

    /// What was spilled to disk, as a multiple of what was read.
    pub fn spill_to_read(&self) -> Option<f64> {
        let read = either(self.sum(C::input_bytes), self.shuffle_read_bytes())?;
        summary::ratio(self.sum(C::spill_disk_bytes)?, read)
    }
}

const NS_PER_MS: i64 = 1_000_000;

/// The sum of two numbers of which one may be missing.
pub(crate) fn either(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.wrapping_add(b)),
        (one, None) | (None, one) => one,
    }
}

/// Which part of an application is asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Only stages with a higher id, and what ran them.
    pub since_stage: Option<i32>,
}

impl Scope {
    pub(crate) fn has(self, stage: i32) -> bool {
        self.since_stage.is_none_or(|since| stage > since)
    }

    pub(crate) fn is_all(self) -> bool {
        self.since_stage.is_none()
    }
}

/// The stage attempts in scope, the longest first, by id where equal; those never submitted last.
pub fn stages(store: &Store, scope: Scope) -> Vec<StageLine<'_>> {
    let n_cores = app::cores_max(store);
    let now_ms = app::last_event_at_ms(store);
    let mut lines: Vec<StageLine<'_>> = store
        .tables()
        .stages
        .iter()
        .filter(|row| scope.has(row.id.stage))
        .map(|row| stage_line(store, row, n_cores, now_ms))
        .collect();
    let total_ms = lines.iter().filter_map(|s| s.duration_ms).fold(0, i64::saturating_add);
    for line in &mut lines {
        let own_ms = line.duration_ms.unwrap_or(0);
        line.share = if total_ms > 0 { own_ms as f64 / total_ms as f64 } else { 0.0 };
    }
    lines.sort_by_key(|s| (std::cmp::Reverse(s.duration_ms), s.row.id));
    lines
}

/// One stage attempt; its share is not known.
pub fn stage(store: &Store, id: StageAttemptId) -> Option<StageLine<'_>> {
    let row = store.stage(id)?;
    Some(stage_line(store, row, app::cores_max(store), app::last_event_at_ms(store)))
}

/// The attempts of some stages, by id; their shares are not known.
pub fn stages_of<'s>(store: &'s Store, ids: &[i32]) -> Vec<StageLine<'s>> {
    let (n_cores, now_ms) = (app::cores_max(store), app::last_event_at_ms(store));
    let wanted: hashbrown::HashSet<i32> = ids.iter().copied().collect();
    let rows = store.tables().stages.iter().filter(|row| wanted.contains(&row.id.stage));
    rows.map(|row| stage_line(store, row, n_cores, now_ms)).collect()
}

/// The stage attempts of a stage, or the one attempt; in order.
pub fn attempts_of(store: &Store, stage: i32, attempt: Option<i32>) -> Vec<StageAttemptId> {
    let ids = store.tables().stages.iter().map(|s| s.id);
    ids.filter(|id| id.stage == stage && attempt.is_none_or(|a| a == id.attempt)).collect()
}

fn stage_line<'s>(
    store: &'s Store,
    row: &'s StageAttempt,
    n_cores: Option<i64>,
    now_ms: i64,
) -> StageLine<'s> {
    let end_ms = match row.status {
        StageStatus::Active => row.completed_at_ms.or(Some(now_ms)),
        _ => row.completed_at_ms,
    };
    let run_ms = row.sums[C::executor_run_ms];
    let mut line = StageLine {
        row,
        duration_ms: row
            .submitted_at_ms
            .zip(end_ms)
            .map(|(from, to)| to.saturating_sub(from).max(0)),
        share: 0.0,
        wait_ms: row
            .submitted_at_ms
            .zip(row.first_task_launched_at_ms)
            .map(|(from, to)| to.saturating_sub(from).max(0)),
        gc_share: summary::ratio(row.sums[C::jvm_gc_ms], run_ms),
        metrics_seen: 0,
        times: None,
        skew: None,
        small_tasks: None,
    };
    let tasks = store.tasks(row.id);
    line.metrics_seen = tasks.metrics_seen();
    let rows = Rows::of(&tasks);
    let Some(first) = rows.successful.first() else { return line };
    let duration = summary::summary(&tasks, &rows, Measure::DurationMs, &[0.5], now_ms);
    line.times = Some(TaskTimes {
        median_ms: duration.quantiles[0],
        slowest_ms: duration.max,
        // when all took equally long, the first
        slowest: duration.max_task.or_else(|| Some(summary::task_ref(&tasks, *first as usize))),
        max_to_median: duration.max_to_median,
        tail_ms: tail_ms(&tasks, &rows),
    });
    let shuffle = Measure::ShuffleReadBytes.values(&tasks, now_ms);
    let input = tasks.column(C::input_bytes);
    let bytes: Vec<i64> = rows
        .successful
        .iter()
        .map(|r| input[*r as usize].wrapping_add(shuffle[*r as usize]))
        .collect();
    let mut sorted = bytes.clone();
    sorted.sort_unstable();
    let (median_bytes, largest_bytes) = (sorted[sorted.len() / 2], sorted[sorted.len() - 1]);
    let over = if median_bytes > 0 {
        largest_bytes > SKEW_RATIO * median_bytes
    } else {
        largest_bytes >= SKEW_FLOOR_BYTES
    };
    if over && bytes.len() > 1 {
        let at = bytes.iter().position(|b| *b == largest_bytes).unwrap_or(0);
        let task = summary::task_ref(&tasks, rows.successful[at] as usize);
        line.skew = Some(Skew { task, task_bytes: largest_bytes, median_bytes });
    }
    let n_tasks = bytes.len() as i64;
    line.small_tasks = n_cores
        .filter(|n| n_tasks > SMALL_TASKS_PER_CORE * n && largest_bytes < SMALL_TASK_BYTES)
        .map(|n_cores| SmallTasks { n_tasks, n_cores, largest_bytes });
    line
}

/// From when nine tenths of the successful tasks were done until all were.
fn tail_ms(tasks: &store::StageTasks<'_>, rows: &Rows) -> i64 {
    let finished = tasks.column(C::finished_at_ms);
    let mut at_ms: Vec<i64> = rows.successful.iter().map(|row| finished[*row as usize]).collect();
    let (Some(last), n) = (at_ms.iter().max().copied(), at_ms.len()) else { return 0 };
    // the task with which nine tenths are done
    let (_, most_done, _) = at_ms.select_nth_unstable((n * 9).div_ceil(10).max(1) - 1);
    last.saturating_sub(*most_done)
}
