//! What jobs and SQL executions had done: sums over the stage attempts that ran for them.

use hashbrown::HashMap;
use store::{MetricSums, StageAttempt, StageStatus, Store, TaskColumn as C};

use crate::{stage::either, summary};

/// What some stage attempts did together.
#[derive(Clone, Debug, Default)]
pub struct Work {
    pub n_stages: i64,
    /// Task attempts that ended.
    pub n_tasks: i64,
    pub n_failed_tasks: i64,
    sums: MetricSums,
    metrics_seen: u64,
}

impl Work {
    pub(crate) fn add(&mut self, store: &Store, stage: &StageAttempt) {
        let counts = &stage.counts;
        self.n_stages += 1;
        self.n_tasks += counts.n_completed + counts.n_failed + counts.n_killed;
        self.n_failed_tasks += counts.n_failed;
        self.metrics_seen |= store.metrics_seen(stage.id);
        for (sum, value) in self.sums.0.iter_mut().zip(stage.sums.0) {
            *sum = sum.wrapping_add(value);
        }
    }

    /// The sum of a metric; `None` when no task reported it.
    pub fn sum(&self, column: C) -> Option<i64> {
        let bit = column.metric_index()?;
        (self.metrics_seen >> bit & 1 == 1).then_some(self.sums[column])
    }

    /// Local and remote; `None` when no task reported either.
    pub fn shuffle_read_bytes(&self) -> Option<i64> {
        either(self.sum(C::shuffle_local_bytes), self.sum(C::shuffle_remote_bytes))
    }

    /// What was spilled to disk, as a multiple of what was read.
    pub fn spill_to_read(&self) -> Option<f64> {
        let read = either(self.sum(C::input_bytes), self.shuffle_read_bytes())?;
        summary::ratio(self.sum(C::spill_disk_bytes)?, read)
    }
}

/// What was done for whom.
#[derive(Debug, Default)]
pub struct WorkBy {
    pub job: HashMap<i32, Work>,
    pub sql: HashMap<i64, Work>,
    pub all: Work,
}

/// Sums by job and by SQL execution. A stage attempt that ran for several jobs counts for each; one that was skipped did
/// nothing.
pub fn work(store: &Store) -> WorkBy {
    let tables = store.tables();
    let sql_of: HashMap<i32, i64> =
        tables.jobs.iter().filter_map(|job| Some((job.id, job.sql_execution?))).collect();
    let mut by = WorkBy::default();
    for stage in tables.stages.iter().filter(|stage| stage.status != StageStatus::Skipped) {
        let mut executions = Vec::new();
        for job in &stage.job_ids {
            by.job.entry(*job).or_default().add(store, stage);
            let execution = sql_of.get(job).filter(|id| !executions.contains(*id));
            executions.extend(execution);
        }
        for execution in executions {
            by.sql.entry(execution).or_default().add(store, stage);
        }
        by.all.add(store, stage);
    }
    by
}
