//! `executors`, `allexecutors`, `allmiscellaneousprocess`.

use serde::Serialize;
use store::{EXECUTOR_METRICS, MiscProcess};
use views::ExecutorLine;

use super::{Call, Route};
use crate::api::{Answer, Date, Handled, json::Members};

pub(super) const ROUTES: &[Route] = &[
    (&["executors"], active),
    (&["allexecutors"], all),
    (&["allmiscellaneousprocess"], processes),
];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Executor<'s> {
    id: &'s str,
    /// Missing for one that never registered a block manager nor was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    host_port: Option<&'s str>,
    is_active: bool,
    rdd_blocks: i64,
    memory_used: i64,
    disk_used: i64,
    total_cores: i64,
    max_tasks: i64,
    active_tasks: i64,
    failed_tasks: i64,
    completed_tasks: i64,
    total_tasks: i64,
    total_duration: i64,
    #[serde(rename = "totalGCTime")]
    total_gc_time: i64,
    total_input_bytes: i64,
    total_shuffle_read: i64,
    total_shuffle_write: i64,
    is_blacklisted: bool,
    max_memory: i64,
    add_time: Date,
    #[serde(skip_serializing_if = "Option::is_none")]
    remove_time: Option<Date>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remove_reason: Option<&'s str>,
    executor_logs: Members<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_metrics: Option<MemoryMetrics>,
    blacklisted_in_stages: &'s [i32],
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_memory_metrics: Option<Members<&'static str, i64>>,
    attributes: Members<&'s str, &'s str>,
    resources: Members<&'s str, Resource<'s>>,
    resource_profile_id: i32,
    is_excluded: bool,
    excluded_in_stages: &'s [i32],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MemoryMetrics {
    used_on_heap_storage_memory: i64,
    used_off_heap_storage_memory: i64,
    total_on_heap_storage_memory: i64,
    total_off_heap_storage_memory: i64,
}

#[derive(Serialize)]
struct Resource<'s> {
    name: &'s str,
    addresses: Vec<&'s str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Process<'s> {
    id: &'s str,
    host_port: &'s str,
    is_active: bool,
    total_cores: i64,
    add_time: Date,
    process_logs: Members<&'s str, &'s str>,
}

/// The last added first, as ids are counted up.
fn active(call: &Call<'_>) -> Handled {
    let lines = views::executors(call.store).into_iter().rev();
    let shapes: Vec<_> =
        lines.filter(|line| line.row.active).map(|line| shape(call, &line)).collect();
    Ok(Answer::json(&shapes))
}

fn all(call: &Call<'_>) -> Handled {
    let lines = views::executors(call.store);
    Ok(Answer::json(&lines.iter().map(|line| shape(call, line)).collect::<Vec<_>>()))
}

fn shape<'c>(call: &Call<'c>, line: &ExecutorLine<'c>) -> Executor<'c> {
    let row = line.row;
    let text = |text| call.store.text(text);
    let pairs = |pairs: &store::Pairs| -> Members<&'c str, &'c str> {
        Members(pairs.iter().map(|(name, value)| (text(*name), text(*value))).collect())
    };
    let resource = |(name, addresses): &(store::Text, Vec<store::Text>)| {
        let name = text(*name);
        (name, Resource { name, addresses: addresses.iter().map(|a| text(*a)).collect() })
    };
    let memory_metrics = row.on_heap_memory_bytes.map(|on_heap| MemoryMetrics {
        used_on_heap_storage_memory: row.on_heap_used_bytes,
        used_off_heap_storage_memory: row.off_heap_used_bytes,
        total_on_heap_storage_memory: on_heap,
        total_off_heap_storage_memory: row.off_heap_memory_bytes.unwrap_or(0),
    });
    let peak = row.peak.map(|peak| Members(EXECUTOR_METRICS.into_iter().zip(peak).collect()));
    let logs = call.settings().log_urls(call.store, &row.logs, &row.attributes);
    Executor {
        id: line.id,
        host_port: row.host_port.or(row.host).map(text),
        is_active: row.active,
        rdd_blocks: row.n_rdd_blocks,
        memory_used: row.memory_used_bytes,
        disk_used: row.disk_used_bytes,
        total_cores: row.total_cores,
        max_tasks: row.max_tasks,
        active_tasks: row.n_active_tasks,
        failed_tasks: row.n_failed_tasks,
        completed_tasks: row.n_completed_tasks,
        total_tasks: row.n_total_tasks,
        total_duration: line.duration_ms,
        total_gc_time: line.gc_ms,
        total_input_bytes: row.input_bytes,
        total_shuffle_read: row.shuffle_read_bytes,
        total_shuffle_write: row.shuffle_write_bytes,
        is_blacklisted: row.excluded,
        max_memory: row.max_memory_bytes,
        add_time: Date(row.added_at_ms),
        remove_time: row.removed_at_ms.map(Date),
        remove_reason: row.remove_reason.map(text),
        executor_logs: Members(logs),
        memory_metrics,
        blacklisted_in_stages: &row.excluded_in_stages,
        peak_memory_metrics: peak,
        attributes: pairs(&row.attributes),
        resources: Members(row.resources.iter().map(resource).collect()),
        resource_profile_id: row.resource_profile,
        is_excluded: row.excluded,
        excluded_in_stages: &row.excluded_in_stages,
    }
}

fn processes(call: &Call<'_>) -> Handled {
    let text = |text| call.store.text(text);
    let shape = |process: &MiscProcess| Process {
        id: text(process.id),
        host_port: text(process.host_port),
        is_active: true,
        total_cores: process.n_cores,
        add_time: Date(process.at_ms),
        process_logs: Members(process.logs.iter().map(|(n, url)| (text(*n), text(*url))).collect()),
    };
    let all = views::misc_processes(call.store);
    Ok(Answer::json(&all.into_iter().map(shape).collect::<Vec<_>>()))
}
