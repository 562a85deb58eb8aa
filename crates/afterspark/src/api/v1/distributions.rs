//! Distributions of a stage attempt's metrics over its tasks and over its executors.

use serde::Serialize;
use store::{EXECUTOR_METRICS, StageAttemptId, StageExecutor, TaskColumn as C};
use views::{Measure, SparkQuantiles};

use super::Call;
use crate::api::json::{Double, Members};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskDistributions {
    quantiles: Vec<Double>,
    duration: Vec<Double>,
    executor_deserialize_time: Vec<Double>,
    executor_deserialize_cpu_time: Vec<Double>,
    executor_run_time: Vec<Double>,
    executor_cpu_time: Vec<Double>,
    result_size: Vec<Double>,
    jvm_gc_time: Vec<Double>,
    result_serialization_time: Vec<Double>,
    getting_result_time: Vec<Double>,
    scheduler_delay: Vec<Double>,
    peak_execution_memory: Vec<Double>,
    memory_bytes_spilled: Vec<Double>,
    disk_bytes_spilled: Vec<Double>,
    input_metrics: Input,
    output_metrics: Output,
    shuffle_read_metrics: ShuffleRead,
    shuffle_write_metrics: ShuffleWrite,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Input {
    bytes_read: Vec<Double>,
    records_read: Vec<Double>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Output {
    bytes_written: Vec<Double>,
    records_written: Vec<Double>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShuffleRead {
    read_bytes: Vec<Double>,
    read_records: Vec<Double>,
    remote_blocks_fetched: Vec<Double>,
    local_blocks_fetched: Vec<Double>,
    fetch_wait_time: Vec<Double>,
    remote_bytes_read: Vec<Double>,
    remote_bytes_read_to_disk: Vec<Double>,
    total_blocks_fetched: Vec<Double>,
    remote_reqs_duration: Vec<Double>,
    shuffle_push_read_metrics_dist: ShufflePushRead,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShufflePushRead {
    corrupt_merged_block_chunks: Vec<Double>,
    merged_fetch_fallback_count: Vec<Double>,
    remote_merged_blocks_fetched: Vec<Double>,
    local_merged_blocks_fetched: Vec<Double>,
    remote_merged_chunks_fetched: Vec<Double>,
    local_merged_chunks_fetched: Vec<Double>,
    remote_merged_bytes_read: Vec<Double>,
    local_merged_bytes_read: Vec<Double>,
    remote_merged_reqs_duration: Vec<Double>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShuffleWrite {
    write_bytes: Vec<Double>,
    write_records: Vec<Double>,
    write_time: Vec<Double>,
}

/// `quantiles` in ascending order. `None` when no task succeeded.
pub(super) fn of_tasks(
    call: &Call<'_>,
    id: StageAttemptId,
    quantiles: &[f64],
) -> Option<TaskDistributions> {
    let found = views::spark_quantiles(call.store, id, quantiles)?;
    let of = |measure: Measure| -> Vec<Double> {
        let quantiles = found.iter().find(|q: &&SparkQuantiles| q.measure == measure);
        let values = quantiles.map_or(&[][..], |q| &q.values);
        values.iter().map(|value| Double(value.map_or(f64::NAN, |v| v as f64))).collect()
    };
    let metric = |column| of(Measure::Metric(column));
    Some(TaskDistributions {
        quantiles: quantiles.iter().copied().map(Double).collect(),
        duration: of(Measure::DurationMs),
        executor_deserialize_time: metric(C::executor_deserialize_ms),
        executor_deserialize_cpu_time: metric(C::executor_deserialize_cpu_ns),
        executor_run_time: metric(C::executor_run_ms),
        executor_cpu_time: metric(C::executor_cpu_ns),
        result_size: metric(C::result_size_bytes),
        jvm_gc_time: metric(C::jvm_gc_ms),
        result_serialization_time: metric(C::result_serialization_ms),
        getting_result_time: of(Measure::GettingResultMs),
        scheduler_delay: of(Measure::SchedulerDelayMs),
        peak_execution_memory: metric(C::peak_execution_memory_bytes),
        memory_bytes_spilled: metric(C::spill_memory_bytes),
        disk_bytes_spilled: metric(C::spill_disk_bytes),
        input_metrics: Input {
            bytes_read: metric(C::input_bytes),
            records_read: metric(C::input_rows),
        },
        output_metrics: Output {
            bytes_written: metric(C::output_bytes),
            records_written: metric(C::output_rows),
        },
        shuffle_read_metrics: ShuffleRead {
            read_bytes: of(Measure::ShuffleReadBytes),
            read_records: metric(C::shuffle_read_rows),
            remote_blocks_fetched: metric(C::shuffle_remote_blocks),
            local_blocks_fetched: metric(C::shuffle_local_blocks),
            fetch_wait_time: metric(C::fetch_wait_ms),
            remote_bytes_read: metric(C::shuffle_remote_bytes),
            remote_bytes_read_to_disk: metric(C::shuffle_remote_to_disk_bytes),
            total_blocks_fetched: of(Measure::ShuffleBlocks),
            remote_reqs_duration: metric(C::shuffle_remote_requests_ms),
            shuffle_push_read_metrics_dist: ShufflePushRead {
                corrupt_merged_block_chunks: metric(C::push_corrupt_merged_chunks),
                merged_fetch_fallback_count: metric(C::push_fallbacks),
                remote_merged_blocks_fetched: metric(C::push_remote_merged_blocks),
                local_merged_blocks_fetched: metric(C::push_local_merged_blocks),
                remote_merged_chunks_fetched: metric(C::push_remote_merged_chunks),
                local_merged_chunks_fetched: metric(C::push_local_merged_chunks),
                remote_merged_bytes_read: metric(C::push_remote_merged_bytes),
                local_merged_bytes_read: metric(C::push_local_merged_bytes),
                remote_merged_reqs_duration: metric(C::push_remote_merged_requests_ms),
            },
        },
        shuffle_write_metrics: ShuffleWrite {
            write_bytes: metric(C::shuffle_write_bytes),
            write_records: metric(C::shuffle_write_rows),
            write_time: metric(C::shuffle_write_ns),
        },
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExecutorDistributions {
    quantiles: Vec<Double>,
    task_time: Vec<Double>,
    failed_tasks: Vec<Double>,
    succeeded_tasks: Vec<Double>,
    killed_tasks: Vec<Double>,
    input_bytes: Vec<Double>,
    input_records: Vec<Double>,
    output_bytes: Vec<Double>,
    output_records: Vec<Double>,
    shuffle_read: Vec<Double>,
    shuffle_read_records: Vec<Double>,
    shuffle_write: Vec<Double>,
    shuffle_write_records: Vec<Double>,
    memory_bytes_spilled: Vec<Double>,
    disk_bytes_spilled: Vec<Double>,
    peak_memory_metrics: Members<&'static str, Vec<Double>>,
}

/// Values at the quantiles; 0 where there are none.
fn picked(mut values: Vec<i64>, quantiles: &[f64]) -> Vec<Double> {
    values.sort_unstable();
    let n = values.len();
    let at = |q: f64| ((q * n as f64) as usize).min(n.saturating_sub(1));
    quantiles.iter().map(|q| Double(values.get(at(*q)).map_or(0.0, |v| *v as f64))).collect()
}

pub(super) fn of_executors(
    executors: &[&StageExecutor],
    quantiles: &[f64],
) -> ExecutorDistributions {
    let of = |value: &dyn Fn(&StageExecutor) -> i64| {
        picked(executors.iter().map(|e| value(e)).collect(), quantiles)
    };
    let metric = |column: C| of(&|e| e.sums[column]);
    let peak = |at: usize| {
        let values = executors.iter().map(|e| e.peak.map_or(0, |peak| peak[at])).collect();
        picked(values, quantiles)
    };
    ExecutorDistributions {
        quantiles: quantiles.iter().copied().map(Double).collect(),
        task_time: of(&|e| e.task_ms),
        failed_tasks: of(&|e| e.n_failed),
        succeeded_tasks: of(&|e| e.n_succeeded),
        killed_tasks: of(&|e| e.n_killed),
        input_bytes: metric(C::input_bytes),
        input_records: metric(C::input_rows),
        output_bytes: metric(C::output_bytes),
        output_records: metric(C::output_rows),
        shuffle_read: of(&|e| {
            e.sums[C::shuffle_local_bytes].wrapping_add(e.sums[C::shuffle_remote_bytes])
        }),
        shuffle_read_records: metric(C::shuffle_read_rows),
        shuffle_write: metric(C::shuffle_write_bytes),
        shuffle_write_records: metric(C::shuffle_write_rows),
        memory_bytes_spilled: metric(C::spill_memory_bytes),
        disk_bytes_spilled: metric(C::spill_disk_bytes),
        peak_memory_metrics: Members(
            EXECUTOR_METRICS.iter().enumerate().map(|(at, name)| (*name, peak(at))).collect(),
        ),
    }
}
