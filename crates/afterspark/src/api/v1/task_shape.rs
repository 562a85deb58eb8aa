//! A task attempt in the form of Spark's API.

use std::collections::HashMap;

use serde::Serialize;
use store::{StageAttemptId, TaskColumn as C, TaskFlags, TaskRow};
use views::{TaskLine, TaskQuery};

use super::Call;
use crate::api::{Date, json::Members};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Task<'s> {
    pub(super) task_id: i64,
    index: i64,
    attempt: i64,
    partition_id: i64,
    launch_time: Date,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_fetch_start: Option<Date>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration: Option<i64>,
    executor_id: &'s str,
    host: &'s str,
    status: &'static str,
    task_locality: &'s str,
    speculative: bool,
    accumulator_updates: Vec<Accumulable<'s>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_message: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_metrics: Option<TaskMetrics>,
    executor_logs: Members<String, String>,
    scheduler_delay: i64,
    getting_result_time: i64,
}

#[derive(Serialize)]
pub(super) struct Accumulable<'s> {
    pub(super) id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) update: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) value: Option<&'s str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TaskMetrics {
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
    input_metrics: InputMetrics,
    output_metrics: OutputMetrics,
    shuffle_read_metrics: ShuffleReadMetrics,
    shuffle_write_metrics: ShuffleWriteMetrics,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InputMetrics {
    bytes_read: i64,
    records_read: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OutputMetrics {
    bytes_written: i64,
    records_written: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShuffleReadMetrics {
    remote_blocks_fetched: i64,
    local_blocks_fetched: i64,
    fetch_wait_time: i64,
    remote_bytes_read: i64,
    remote_bytes_read_to_disk: i64,
    local_bytes_read: i64,
    records_read: i64,
    remote_reqs_duration: i64,
    shuffle_push_read_metrics: ShufflePushReadMetrics,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShufflePushReadMetrics {
    corrupt_merged_block_chunks: i64,
    merged_fetch_fallback_count: i64,
    remote_merged_blocks_fetched: i64,
    local_merged_blocks_fetched: i64,
    remote_merged_chunks_fetched: i64,
    local_merged_chunks_fetched: i64,
    remote_merged_bytes_read: i64,
    local_merged_bytes_read: i64,
    remote_merged_reqs_duration: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShuffleWriteMetrics {
    bytes_written: i64,
    write_time: i64,
    records_written: i64,
}

fn metrics(row: &TaskRow) -> TaskMetrics {
    TaskMetrics {
        executor_deserialize_time: row[C::executor_deserialize_ms],
        executor_deserialize_cpu_time: row[C::executor_deserialize_cpu_ns],
        executor_run_time: row[C::executor_run_ms],
        executor_cpu_time: row[C::executor_cpu_ns],
        result_size: row[C::result_size_bytes],
        jvm_gc_time: row[C::jvm_gc_ms],
        result_serialization_time: row[C::result_serialization_ms],
        memory_bytes_spilled: row[C::spill_memory_bytes],
        disk_bytes_spilled: row[C::spill_disk_bytes],
        peak_execution_memory: row[C::peak_execution_memory_bytes],
        input_metrics: InputMetrics {
            bytes_read: row[C::input_bytes],
            records_read: row[C::input_rows],
        },
        output_metrics: OutputMetrics {
            bytes_written: row[C::output_bytes],
            records_written: row[C::output_rows],
        },
        shuffle_read_metrics: ShuffleReadMetrics {
            remote_blocks_fetched: row[C::shuffle_remote_blocks],
            local_blocks_fetched: row[C::shuffle_local_blocks],
            fetch_wait_time: row[C::fetch_wait_ms],
            remote_bytes_read: row[C::shuffle_remote_bytes],
            remote_bytes_read_to_disk: row[C::shuffle_remote_to_disk_bytes],
            local_bytes_read: row[C::shuffle_local_bytes],
            records_read: row[C::shuffle_read_rows],
            remote_reqs_duration: row[C::shuffle_remote_requests_ms],
            shuffle_push_read_metrics: ShufflePushReadMetrics {
                corrupt_merged_block_chunks: row[C::push_corrupt_merged_chunks],
                merged_fetch_fallback_count: row[C::push_fallbacks],
                remote_merged_blocks_fetched: row[C::push_remote_merged_blocks],
                local_merged_blocks_fetched: row[C::push_local_merged_blocks],
                remote_merged_chunks_fetched: row[C::push_remote_merged_chunks],
                local_merged_chunks_fetched: row[C::push_local_merged_chunks],
                remote_merged_bytes_read: row[C::push_remote_merged_bytes],
                local_merged_bytes_read: row[C::push_local_merged_bytes],
                remote_merged_reqs_duration: row[C::push_remote_merged_requests_ms],
            },
        },
        shuffle_write_metrics: ShuffleWriteMetrics {
            bytes_written: row[C::shuffle_write_bytes],
            write_time: row[C::shuffle_write_ns],
            records_written: row[C::shuffle_write_rows],
        },
    }
}

/// Makes tasks of lines; the addresses of an executor's logs are made once.
pub(super) struct Shaper<'c, 's> {
    call: &'c Call<'s>,
    logs: HashMap<&'s str, Vec<(String, String)>>,
}

impl<'c, 's> Shaper<'c, 's> {
    pub(super) fn new(call: &'c Call<'s>) -> Self {
        Shaper { call, logs: HashMap::new() }
    }

    pub(super) fn task(&mut self, line: TaskLine<'s>) -> Task<'s> {
        let call = self.call;
        let logs = self.logs.entry(line.executor).or_insert_with(|| {
            let pairs = views::executor_log_pairs(call.store, line.executor);
            pairs.map_or_else(Vec::new, |(logs, attributes)| {
                call.settings().log_urls(call.store, logs, attributes)
            })
        });
        let row = &line.row;
        let fetching = row[C::getting_result_at_ms];
        let accumulables = line.accumulables.into_iter();
        Task {
            task_id: row[C::task_id],
            index: row[C::index],
            attempt: row[C::attempt],
            partition_id: row[C::partition_id],
            launch_time: Date(row[C::launched_at_ms]),
            result_fetch_start: (fetching > 0).then_some(Date(fetching)),
            duration: Some(line.duration_ms).filter(|ms| *ms > 0),
            executor_id: line.executor,
            host: line.host,
            status: line.status.as_spark(),
            task_locality: line.locality,
            speculative: row[C::flags] & TaskFlags::SPECULATIVE != 0,
            accumulator_updates: accumulables
                .map(|a| Accumulable { id: a.id, name: a.name, update: a.update, value: a.value })
                .collect(),
            error_message: line.error,
            task_metrics: line.has_metrics.then(|| metrics(row)),
            executor_logs: Members(logs.clone()),
            scheduler_delay: line.scheduler_delay_ms,
            getting_result_time: line.getting_result_ms,
        }
    }

    pub(super) fn tasks(&mut self, id: StageAttemptId, query: &TaskQuery) -> Vec<Task<'s>> {
        let mut tasks = Vec::new();
        views::visit_tasks(self.call.store, id, query, |line| tasks.push(self.task(line)));
        tasks
    }
}
