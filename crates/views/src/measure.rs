//! What can be asked of every task of a stage attempt: Spark's metrics and the few numbers it derives from them.

use store::{StageTasks, TaskColumn as C, TaskFlags};

/// The unit a number is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Ms,
    Ns,
    Bytes,
    Rows,
    Count,
}

/// A number that every task has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// From launch to finish, as Spark's `duration`.
    DurationMs,
    /// Duration less run time, (de)serialization and fetching the result, at least 0: `AppStatusUtils.schedulerDelay`.
    SchedulerDelayMs,
    /// From the first byte of the result to the finish; 0 where the result came with the status.
    GettingResultMs,
    /// Local and remote.
    ShuffleReadBytes,
    /// Local and remote.
    ShuffleBlocks,
    Metric(C),
}

impl Measure {
    /// All measures, in the order of Spark's task summary.
    pub fn all() -> Vec<Measure> {
        let mut all =
            vec![Measure::DurationMs, Measure::SchedulerDelayMs, Measure::GettingResultMs];
        for metric in C::metrics() {
            if *metric == C::shuffle_remote_blocks {
                all.extend([Measure::ShuffleReadBytes, Measure::ShuffleBlocks]);
            }
            all.push(Measure::Metric(*metric));
        }
        all
    }

    /// With its unit.
    pub fn name(self) -> &'static str {
        match self {
            Measure::DurationMs => "duration_ms",
            Measure::SchedulerDelayMs => "scheduler_delay_ms",
            Measure::GettingResultMs => "getting_result_ms",
            Measure::ShuffleReadBytes => "shuffle_read_bytes",
            Measure::ShuffleBlocks => "shuffle_blocks",
            Measure::Metric(column) => column.name(),
        }
    }

    /// For people, without its unit.
    pub fn label(self) -> &'static str {
        match self {
            Measure::DurationMs => "duration",
            Measure::SchedulerDelayMs => "scheduler delay",
            Measure::GettingResultMs => "getting result",
            Measure::ShuffleReadBytes => "shuffle read",
            Measure::ShuffleBlocks => "shuffle blocks",
            Measure::Metric(column) => column.label(),
        }
    }

    pub fn unit(self) -> Unit {
        let name = self.name();
        if name.ends_with("_ms") {
            Unit::Ms
        } else if name.ends_with("_ns") {
            Unit::Ns
        } else if name.ends_with("_bytes") {
            Unit::Bytes
        } else if name.ends_with("_rows") {
            Unit::Rows
        } else {
            Unit::Count
        }
    }

    /// Whether Spark's own quantiles of this measure are taken over an index that also holds failed tasks.
    pub(crate) fn mixes_failed(self) -> bool {
        matches!(self, Measure::DurationMs | Measure::SchedulerDelayMs | Measure::GettingResultMs)
    }

    /// Whether any task of the stage attempt reported what this is made of.
    pub fn is_known(self, tasks: &StageTasks<'_>) -> bool {
        match self {
            Measure::DurationMs | Measure::GettingResultMs => true,
            Measure::SchedulerDelayMs => tasks.has_metric(C::executor_run_ms),
            Measure::ShuffleReadBytes => {
                tasks.has_metric(C::shuffle_local_bytes)
                    || tasks.has_metric(C::shuffle_remote_bytes)
            }
            Measure::ShuffleBlocks => {
                tasks.has_metric(C::shuffle_local_blocks)
                    || tasks.has_metric(C::shuffle_remote_blocks)
            }
            Measure::Metric(column) => tasks.has_metric(column),
        }
    }

    /// A value for each row. A task that runs still has run until `now_ms`.
    pub fn values(self, tasks: &StageTasks<'_>, now_ms: i64) -> Vec<i64> {
        match self {
            Measure::DurationMs => durations(tasks, now_ms),
            Measure::GettingResultMs => {
                let finished = zip(
                    tasks.column(C::launched_at_ms),
                    durations(tasks, now_ms),
                    i64::wrapping_add,
                );
                let fetching = tasks.column(C::getting_result_at_ms);
                zip(
                    finished,
                    fetching,
                    |end, from| if from > 0 { end.wrapping_sub(from) } else { 0 },
                )
            }
            Measure::SchedulerDelayMs => {
                let mut rest = durations(tasks, now_ms);
                for part in [
                    tasks.column(C::executor_run_ms),
                    tasks.column(C::executor_deserialize_ms),
                    tasks.column(C::result_serialization_ms),
                    Measure::GettingResultMs.values(tasks, now_ms),
                ] {
                    rest = zip(rest, part, i64::wrapping_sub);
                }
                rest.into_iter().map(|ms| ms.max(0)).collect()
            }
            Measure::ShuffleReadBytes => {
                let local = tasks.column(C::shuffle_local_bytes);
                zip(local, tasks.column(C::shuffle_remote_bytes), i64::wrapping_add)
            }
            Measure::ShuffleBlocks => {
                let local = tasks.column(C::shuffle_local_blocks);
                zip(local, tasks.column(C::shuffle_remote_blocks), i64::wrapping_add)
            }
            Measure::Metric(column) => tasks.column(column),
        }
    }
}

fn durations(tasks: &StageTasks<'_>, now_ms: i64) -> Vec<i64> {
    let launched = tasks.column(C::launched_at_ms);
    let finished = tasks.column(C::finished_at_ms).into_iter();
    let finished = finished.map(|at| if at > 0 { at } else { now_ms }).collect();
    zip(finished, launched, i64::wrapping_sub)
}

pub(crate) fn zip(mut a: Vec<i64>, b: Vec<i64>, f: impl Fn(i64, i64) -> i64) -> Vec<i64> {
    for (a, b) in a.iter_mut().zip(b) {
        *a = f(*a, b);
    }
    a
}

/// What became of a task attempt, as Spark's `TaskInfo.status` says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStatus {
    Running,
    GettingResult,
    Success,
    Failed,
    Killed,
}

/// The status of a row.
pub fn task_status(flags: i64, getting_result_at_ms: i64) -> TaskStatus {
    if flags & TaskFlags::RUNNING != 0 {
        return if getting_result_at_ms > 0 {
            TaskStatus::GettingResult
        } else {
            TaskStatus::Running
        };
    }
    if flags & TaskFlags::FAILED != 0 {
        TaskStatus::Failed
    } else if flags & TaskFlags::KILLED != 0 {
        TaskStatus::Killed
    } else {
        TaskStatus::Success
    }
}

impl TaskStatus {
    /// As Spark writes it.
    pub fn as_spark(self) -> &'static str {
        match self {
            TaskStatus::Running => "RUNNING",
            TaskStatus::GettingResult => "GET RESULT",
            TaskStatus::Success => "SUCCESS",
            TaskStatus::Failed => "FAILED",
            TaskStatus::Killed => "KILLED",
        }
    }
}
