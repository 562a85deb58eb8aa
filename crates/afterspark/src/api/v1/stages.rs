//! `stages`, the attempts of one stage, and one attempt.

use serde::Serialize;
use store::{EXECUTOR_METRICS, StageAttempt, StageExecutor, StageStatus, TaskColumn as C};
use views::{TaskQuery, TaskStatus};

use super::{
    Call, Route,
    distributions::{self, ExecutorDistributions, TaskDistributions},
    params::{self, Wanted},
    task_shape::{Accumulable, Shaper, Task},
};
use crate::api::{Answer, Date, Handled, json::Members};

pub(super) const ROUTES: &[Route] =
    &[(&["stages"], list), (&["stages", "#"], attempts), (&["stages", "#", "#"], one)];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Stage<'s> {
    status: &'static str,
    stage_id: i32,
    attempt_id: i32,
    num_tasks: i64,
    num_active_tasks: i64,
    num_complete_tasks: i64,
    num_failed_tasks: i64,
    num_killed_tasks: i64,
    num_completed_indices: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    submission_time: Option<Date>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_task_launched_time: Option<Date>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completion_time: Option<Date>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure_reason: Option<&'s str>,
    #[serde(flatten)]
    sums: Sums,
    name: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'s str>,
    details: &'s str,
    scheduling_pool: &'s str,
    rdd_ids: Vec<i32>,
    accumulator_updates: Vec<Accumulable<'s>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<Members<String, Task<'s>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    executor_summary: Option<Members<&'s str, ExecutorSummary>>,
    killed_tasks_summary: Members<&'s str, i64>,
    resource_profile_id: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_executor_metrics: Option<Members<&'static str, i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_metrics_distributions: Option<TaskDistributions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    executor_metrics_distributions: Option<ExecutorDistributions>,
    is_shuffle_push_enabled: bool,
    shuffle_mergers_count: i32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sums {
    executor_deserialize_time: i64,
    executor_deserialize_cpu_time: i64,
    executor_run_time: i64,
    executor_cpu_time: i64,
    result_size: i64,
    jvm_gc_time: i64,
    result_serialization_time: i64,
    memory_bytes_spilled: i64,
    disk_bytes_spilled: i64,
    peak_execution_memory: i64,
    input_bytes: i64,
    input_records: i64,
    output_bytes: i64,
    output_records: i64,
    shuffle_remote_blocks_fetched: i64,
    shuffle_local_blocks_fetched: i64,
    shuffle_fetch_wait_time: i64,
    shuffle_remote_bytes_read: i64,
    shuffle_remote_bytes_read_to_disk: i64,
    shuffle_local_bytes_read: i64,
    shuffle_read_bytes: i64,
    shuffle_read_records: i64,
    shuffle_corrupt_merged_block_chunks: i64,
    shuffle_merged_fetch_fallback_count: i64,
    shuffle_merged_remote_blocks_fetched: i64,
    shuffle_merged_local_blocks_fetched: i64,
    shuffle_merged_remote_chunks_fetched: i64,
    shuffle_merged_local_chunks_fetched: i64,
    shuffle_merged_remote_bytes_read: i64,
    shuffle_merged_local_bytes_read: i64,
    shuffle_remote_reqs_duration: i64,
    shuffle_merged_remote_reqs_duration: i64,
    shuffle_write_bytes: i64,
    shuffle_write_time: i64,
    shuffle_write_records: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExecutorSummary {
    task_time: i64,
    failed_tasks: i64,
    succeeded_tasks: i64,
    killed_tasks: i64,
    input_bytes: i64,
    input_records: i64,
    output_bytes: i64,
    output_records: i64,
    shuffle_read: i64,
    shuffle_read_records: i64,
    shuffle_write: i64,
    shuffle_write_records: i64,
    memory_bytes_spilled: i64,
    disk_bytes_spilled: i64,
    is_blacklisted_for_stage: bool,
    peak_memory_metrics: Members<&'static str, i64>,
    is_excluded_for_stage: bool,
}

/// How much of a stage attempt is asked for.
struct Detail {
    details: bool,
    /// Of the tasks; all when `None`.
    task_status: Option<Vec<Wanted<TaskStatus>>>,
    with_summaries: bool,
    /// In ascending order.
    quantiles: Vec<f64>,
}

impl Detail {
    fn of(call: &Call<'_>, details: bool) -> Result<Detail, Answer> {
        let query = call.query();
        Ok(Detail {
            details: params::boolean(query, "details", details),
            task_status: params::task_statuses(query, "taskStatus")?,
            with_summaries: params::boolean(query, "withSummaries", false),
            quantiles: params::quantiles(query, &[0.0, 0.25, 0.5, 0.75, 1.0])?,
        })
    }
}

fn name_of(status: StageStatus) -> &'static str {
    match status {
        StageStatus::Pending => "PENDING",
        StageStatus::Active => "ACTIVE",
        StageStatus::Complete => "COMPLETE",
        StageStatus::Failed => "FAILED",
        StageStatus::Skipped => "SKIPPED",
    }
}

const STATUSES: [&str; 5] = ["ACTIVE", "COMPLETE", "FAILED", "PENDING", "SKIPPED"];

/// Whether a stage attempt has tasks of a status, by its counts.
fn has_tasks(row: &StageAttempt, wanted: Wanted<TaskStatus>) -> bool {
    let counts = &row.counts;
    match wanted {
        Wanted::Is(TaskStatus::Running | TaskStatus::GettingResult) => counts.n_active > 0,
        Wanted::Is(TaskStatus::Success) => counts.n_completed > 0,
        Wanted::Is(TaskStatus::Failed) => counts.n_failed > 0,
        Wanted::Is(TaskStatus::Killed) => counts.n_killed > 0,
        Wanted::Unknown => {
            let known = [counts.n_active, counts.n_completed, counts.n_failed, counts.n_killed];
            known.iter().fold(row.n_tasks, |rest, n| rest.wrapping_sub(*n)) > 0
        }
        Wanted::Nothing => false,
    }
}

fn list(call: &Call<'_>) -> Handled {
    let statuses = params::one_of(call.query(), "status", &STATUSES)?;
    let detail = Detail::of(call, false)?;
    let rows = call.store.tables().stages.iter().rev().filter(|row| {
        let status = name_of(row.status);
        statuses.as_ref().is_none_or(|wanted| wanted.contains(&status))
            && (!detail.details
                || detail
                    .task_status
                    .as_ref()
                    .is_none_or(|wanted| wanted.iter().any(|w| has_tasks(row, *w))))
    });
    Ok(Answer::json(&rows.map(|row| shape(call, row, &detail)).collect::<Vec<_>>()))
}

fn attempts(call: &Call<'_>) -> Handled {
    let detail = Detail::of(call, true)?;
    let stage = call.int_id(0)?;
    let stages = &call.store.tables().stages;
    let rows: Vec<Stage<'_>> =
        attempts_of(stages, stage).iter().map(|row| shape(call, row, &detail)).collect();
    if rows.is_empty() {
        return Err(Answer::text(404, format!("unknown stage: {stage}")));
    }
    Ok(Answer::json(&rows))
}

fn one(call: &Call<'_>) -> Handled {
    let detail = Detail::of(call, true)?;
    let (stage, attempt) = (call.int_id(0)?, call.int_id(1)?);
    let rows = attempts_of(&call.store.tables().stages, stage);
    if rows.is_empty() {
        return Err(Answer::text(404, format!("unknown stage: {stage}")));
    }
    let row = rows.iter().find(|row| row.id.attempt == attempt).ok_or_else(|| {
        let known: Vec<String> = rows.iter().map(|row| row.id.attempt.to_string()).collect();
        let known = known.join(",");
        let message = format!("unknown attempt for stage {stage}.  Found attempts: [{known}]");
        Answer::text(404, message)
    })?;
    Ok(Answer::json(&shape(call, row, &detail)))
}

fn attempts_of(stages: &[StageAttempt], stage: i32) -> &[StageAttempt] {
    let from = stages.partition_point(|row| row.id.stage < stage);
    let n = stages[from..].partition_point(|row| row.id.stage == stage);
    &stages[from..from + n]
}

fn shape<'s>(call: &Call<'s>, row: &'s StageAttempt, detail: &Detail) -> Stage<'s> {
    let store = call.store;
    let text = |text| store.text(text);
    let executors = (detail.details || detail.with_summaries).then(|| row.executors.unpack());
    let executors = executors.as_ref();
    let tasks = detail.details.then(|| {
        let statuses = detail.task_status.as_ref();
        let statuses = statuses.map(|wanted| wanted.iter().filter_map(Wanted::known).collect());
        let query = TaskQuery { n_max: usize::MAX, statuses, ..TaskQuery::default() };
        let tasks = Shaper::new(call).tasks(row.id, &query);
        Members(tasks.into_iter().map(|task| (task.task_id.to_string(), task)).collect())
    });
    let executor_summary = executors.filter(|_| detail.details).map(|executors| {
        Members(executors.iter().map(|(id, e)| (text(*id), executor_summary(e))).collect())
    });
    let with_summaries = detail.with_summaries;
    let counts = &row.counts;
    let killed = counts.killed_reasons.iter().map(|(reason, n)| (text(*reason), *n));
    Stage {
        status: name_of(row.status),
        stage_id: row.id.stage,
        attempt_id: row.id.attempt,
        num_tasks: row.n_tasks,
        num_active_tasks: counts.n_active,
        num_complete_tasks: counts.n_completed,
        num_failed_tasks: counts.n_failed,
        num_killed_tasks: counts.n_killed,
        num_completed_indices: counts.n_completed_indices,
        submission_time: row.submitted_at_ms.map(Date),
        first_task_launched_time: row.first_task_launched_at_ms.map(Date),
        completion_time: row.completed_at_ms.map(Date),
        failure_reason: row.failure.map(text),
        sums: sums(row),
        name: text(row.name),
        description: row.description.map(text),
        details: text(row.details),
        scheduling_pool: text(row.pool),
        rdd_ids: row.rdds.iter().map(|rdd| rdd.id).collect(),
        accumulator_updates: accumulables(call, row),
        tasks,
        executor_summary,
        killed_tasks_summary: Members(killed.collect()),
        resource_profile_id: row.resource_profile,
        peak_executor_metrics: row.peak.map(|peak| named(&peak)),
        task_metrics_distributions: with_summaries
            .then(|| distributions::of_tasks(call, row.id, &detail.quantiles))
            .flatten(),
        executor_metrics_distributions: executors.filter(|e| with_summaries && !e.is_empty()).map(
            |executors| {
                let executors: Vec<&StageExecutor> = executors.values().collect();
                distributions::of_executors(&executors, &detail.quantiles)
            },
        ),
        is_shuffle_push_enabled: row.push_based_shuffle,
        shuffle_mergers_count: row.n_shuffle_mergers,
    }
}

fn named(peak: &store::ExecutorMetrics) -> Members<&'static str, i64> {
    Members(EXECUTOR_METRICS.into_iter().zip(*peak).collect())
}

/// The user's own: neither Spark's internal ones nor SQL metrics.
fn accumulables<'s>(call: &Call<'s>, row: &'s StageAttempt) -> Vec<Accumulable<'s>> {
    let text = |text| call.store.text(text);
    let own = row
        .accumulables
        .iter()
        .filter(|a| !a.internal && a.metadata.is_none_or(|metadata| text(metadata) != "sql"));
    own.map(|a| Accumulable {
        id: a.id,
        name: a.name.map(text),
        update: a.update.map(text),
        value: a.value.map(text),
    })
    .collect()
}

fn executor_summary(e: &StageExecutor) -> ExecutorSummary {
    ExecutorSummary {
        task_time: e.task_ms,
        failed_tasks: e.n_failed,
        succeeded_tasks: e.n_succeeded,
        killed_tasks: e.n_killed,
        input_bytes: e.sums[C::input_bytes],
        input_records: e.sums[C::input_rows],
        output_bytes: e.sums[C::output_bytes],
        output_records: e.sums[C::output_rows],
        shuffle_read: e.sums[C::shuffle_local_bytes].wrapping_add(e.sums[C::shuffle_remote_bytes]),
        shuffle_read_records: e.sums[C::shuffle_read_rows],
        shuffle_write: e.sums[C::shuffle_write_bytes],
        shuffle_write_records: e.sums[C::shuffle_write_rows],
        memory_bytes_spilled: e.sums[C::spill_memory_bytes],
        disk_bytes_spilled: e.sums[C::spill_disk_bytes],
        is_blacklisted_for_stage: e.excluded,
        peak_memory_metrics: named(&e.peak.unwrap_or_default()),
        is_excluded_for_stage: e.excluded,
    }
}

fn sums(row: &StageAttempt) -> Sums {
    let sum = |column| row.sums[column];
    Sums {
        executor_deserialize_time: sum(C::executor_deserialize_ms),
        executor_deserialize_cpu_time: sum(C::executor_deserialize_cpu_ns),
        executor_run_time: sum(C::executor_run_ms),
        executor_cpu_time: sum(C::executor_cpu_ns),
        result_size: sum(C::result_size_bytes),
        jvm_gc_time: sum(C::jvm_gc_ms),
        result_serialization_time: sum(C::result_serialization_ms),
        memory_bytes_spilled: sum(C::spill_memory_bytes),
        disk_bytes_spilled: sum(C::spill_disk_bytes),
        peak_execution_memory: sum(C::peak_execution_memory_bytes),
        input_bytes: sum(C::input_bytes),
        input_records: sum(C::input_rows),
        output_bytes: sum(C::output_bytes),
        output_records: sum(C::output_rows),
        shuffle_remote_blocks_fetched: sum(C::shuffle_remote_blocks),
        shuffle_local_blocks_fetched: sum(C::shuffle_local_blocks),
        shuffle_fetch_wait_time: sum(C::fetch_wait_ms),
        shuffle_remote_bytes_read: sum(C::shuffle_remote_bytes),
        shuffle_remote_bytes_read_to_disk: sum(C::shuffle_remote_to_disk_bytes),
        shuffle_local_bytes_read: sum(C::shuffle_local_bytes),
        shuffle_read_bytes: sum(C::shuffle_local_bytes).wrapping_add(sum(C::shuffle_remote_bytes)),
        shuffle_read_records: sum(C::shuffle_read_rows),
        shuffle_corrupt_merged_block_chunks: sum(C::push_corrupt_merged_chunks),
        shuffle_merged_fetch_fallback_count: sum(C::push_fallbacks),
        shuffle_merged_remote_blocks_fetched: sum(C::push_remote_merged_blocks),
        shuffle_merged_local_blocks_fetched: sum(C::push_local_merged_blocks),
        shuffle_merged_remote_chunks_fetched: sum(C::push_remote_merged_chunks),
        shuffle_merged_local_chunks_fetched: sum(C::push_local_merged_chunks),
        shuffle_merged_remote_bytes_read: sum(C::push_remote_merged_bytes),
        shuffle_merged_local_bytes_read: sum(C::push_local_merged_bytes),
        shuffle_remote_reqs_duration: sum(C::shuffle_remote_requests_ms),
        shuffle_merged_remote_reqs_duration: sum(C::push_remote_merged_requests_ms),
        shuffle_write_bytes: sum(C::shuffle_write_bytes),
        shuffle_write_time: sum(C::shuffle_write_ns),
        shuffle_write_records: sum(C::shuffle_write_rows),
    }
}
