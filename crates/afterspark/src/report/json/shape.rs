//! The members of the report. Those of which the log says nothing are absent.

use std::collections::BTreeMap;

use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Frame {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) attempt_id: Option<String>,
    pub(super) name: String,
    pub(super) user: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) spark_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) started_at_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ended_at_ms: Option<i64>,
    /// To the last event where there is no end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) duration_ms: Option<i64>,
    pub(super) completed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exit_code: Option<i32>,
    pub(super) n_events: u64,
}

#[derive(Serialize)]
pub(super) struct Totals {
    pub(super) n_jobs: usize,
    pub(super) n_failed_jobs: usize,
    pub(super) n_stages: usize,
    pub(super) n_skipped_stages: usize,
    pub(super) n_failed_stages: usize,
    pub(super) n_sql_executions: usize,
    pub(super) n_tasks: i64,
    pub(super) n_failed_tasks: i64,
    pub(super) n_killed_tasks: i64,
    pub(super) n_executors: usize,
    pub(super) n_executors_removed: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) n_cores_max: Option<i64>,
    pub(super) executor_run_ms: i64,
    pub(super) jvm_gc_ms: i64,
    pub(super) input_bytes: i64,
    pub(super) output_bytes: i64,
    pub(super) shuffle_read_bytes: i64,
    pub(super) shuffle_write_bytes: i64,
    pub(super) spill_memory_bytes: i64,
    pub(super) spill_disk_bytes: i64,
}

#[derive(Serialize)]
pub(super) struct Job<'s> {
    pub(super) id: i32,
    pub(super) name: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) group: Option<&'s str>,
    pub(super) tags: Vec<&'s str>,
    pub(super) status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) failure: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) submitted_at_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) completed_at_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) duration_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sql_execution: Option<i64>,
    pub(super) stage_ids: &'s [i32],
    pub(super) n_tasks: i64,
    pub(super) n_active_tasks: i64,
    pub(super) n_completed_tasks: i64,
    pub(super) n_skipped_tasks: i64,
    pub(super) n_failed_tasks: i64,
    pub(super) n_killed_tasks: i64,
    pub(super) n_completed_indices: i64,
    pub(super) n_active_stages: i64,
    pub(super) n_completed_stages: usize,
    pub(super) n_skipped_stages: usize,
    pub(super) n_failed_stages: i64,
    pub(super) killed_tasks_by_reason: BTreeMap<&'s str, i64>,
}

#[derive(Serialize)]
pub(super) struct Stage<'s> {
    pub(super) id: i32,
    pub(super) attempt: i32,
    pub(super) name: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<&'s str>,
    pub(super) status: &'static str,
    pub(super) pool: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) failure: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) submitted_at_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) first_task_launched_at_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) completed_at_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) duration_ms: Option<i64>,
    /// From the submission until the first task began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) wait_ms: Option<i64>,
    /// Of the durations of all stage attempts, 0 to 1.
    pub(super) share: f64,
    pub(super) job_ids: &'s [i32],
    pub(super) parent_ids: &'s [i32],
    pub(super) rdd_ids: Vec<i32>,
    pub(super) resource_profile: i32,
    pub(super) n_tasks: i64,
    pub(super) n_active_tasks: i64,
    pub(super) n_completed_tasks: i64,
    pub(super) n_failed_tasks: i64,
    pub(super) n_killed_tasks: i64,
    pub(super) n_completed_indices: i64,
    pub(super) killed_tasks_by_reason: BTreeMap<&'s str, i64>,
    /// Sums over tasks, of the metrics that any task reported.
    pub(super) metrics: BTreeMap<&'static str, i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shuffle_read_bytes: Option<i64>,
    /// GC time ÷ run time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) gc_share: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) task_ms_median: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) task_ms_max: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) task_ms_max_to_median: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) slowest_task: Option<Task>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) skew: Option<Skew>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) small_tasks: Option<SmallTasks>,
    /// Peaks over its tasks and executors, under Spark's names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) peak_executor_metrics: Option<BTreeMap<&'static str, i64>>,
    /// The user's accumulators.
    pub(super) accumulators: Vec<Accumulator<'s>>,
}

#[derive(Serialize)]
pub(super) struct Accumulator<'s> {
    pub(super) id: i64,
    pub(super) name: Option<&'s str>,
    pub(super) update: Option<&'s str>,
    pub(super) value: Option<&'s str>,
}

#[derive(Serialize)]
pub(super) struct Task {
    pub(super) task_id: i64,
    pub(super) index: i64,
    pub(super) attempt: i64,
}

#[derive(Serialize)]
pub(super) struct Skew {
    pub(super) task: Task,
    pub(super) task_bytes: i64,
    pub(super) median_bytes: i64,
}

#[derive(Serialize)]
pub(super) struct SmallTasks {
    pub(super) n_tasks: i64,
    pub(super) n_cores: i64,
    pub(super) largest_bytes: i64,
}

#[derive(Serialize)]
pub(super) struct Sql<'s> {
    pub(super) id: i64,
    pub(super) description: &'s str,
    pub(super) status: &'static str,
    pub(super) started_at_ms: i64,
    pub(super) duration_ms: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<&'s str>,
    pub(super) job_ids: Vec<i32>,
    pub(super) stage_ids: &'s [i32],
    pub(super) n_plan_changes: usize,
    pub(super) n_plan_nodes: usize,
}

#[derive(Serialize)]
pub(super) struct Executor<'s> {
    pub(super) id: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) host_port: Option<&'s str>,
    pub(super) active: bool,
    pub(super) added_at_ms: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) removed_at_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) remove_reason: Option<&'s str>,
    pub(super) excluded: bool,
    pub(super) n_cores: i64,
    pub(super) n_active_tasks: i64,
    pub(super) n_completed_tasks: i64,
    pub(super) n_failed_tasks: i64,
    pub(super) n_total_tasks: i64,
    pub(super) task_ms: i64,
    pub(super) jvm_gc_ms: i64,
    pub(super) input_bytes: i64,
    pub(super) shuffle_read_bytes: i64,
    pub(super) shuffle_write_bytes: i64,
    pub(super) max_memory_bytes: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) peak_executor_metrics: Option<BTreeMap<&'static str, i64>>,
}

#[derive(Serialize)]
pub(super) struct Gap {
    pub(super) kind: &'static str,
    pub(super) severity: &'static str,
    pub(super) meaning: &'static str,
    pub(super) n: u64,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) file: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) detail: String,
    pub(super) bytes: u64,
    pub(super) first_offset: u64,
}

#[derive(Serialize)]
pub(super) struct StageSummary<'s> {
    pub(super) id: i32,
    pub(super) attempt: i32,
    pub(super) quantiles: [f64; 5],
    /// Absent when no task succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) metrics: Option<BTreeMap<&'static str, Metric>>,
    pub(super) executors: BTreeMap<&'s str, StageExecutor>,
}

#[derive(Serialize)]
pub(super) struct Metric {
    /// Over the successful tasks.
    pub(super) values: Vec<i64>,
    /// What the history server answers, where that is something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) as_spark: Option<Vec<i64>>,
    pub(super) max: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_to_median: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_task: Option<Task>,
}

#[derive(Serialize)]
pub(super) struct StageExecutor {
    pub(super) task_ms: i64,
    pub(super) n_succeeded_tasks: i64,
    pub(super) n_failed_tasks: i64,
    pub(super) n_killed_tasks: i64,
    pub(super) excluded: bool,
    pub(super) metrics: BTreeMap<&'static str, i64>,
}
