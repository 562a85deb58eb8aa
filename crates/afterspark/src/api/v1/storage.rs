//! `storage/rdd`: persisted RDDs.

use serde::Serialize;
use store::{PersistedRdd, RddPartition, RddShare};

use super::{Call, Route};
use crate::api::{Answer, Handled};

pub(super) const ROUTES: &[Route] = &[(&["storage", "rdd"], list), (&["storage", "rdd", "#"], one)];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rdd<'s> {
    id: i32,
    name: &'s str,
    num_partitions: i64,
    num_cached_partitions: usize,
    storage_level: String,
    memory_used: i64,
    disk_used: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_distribution: Option<Vec<Share<'s>>>,
    partitions: Vec<Partition<'s>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Share<'s> {
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<&'s str>,
    memory_used: i64,
    memory_remaining: i64,
    disk_used: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_heap_memory_used: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    off_heap_memory_used: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_heap_memory_remaining: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    off_heap_memory_remaining: Option<i64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Partition<'s> {
    block_name: &'s str,
    storage_level: String,
    memory_used: i64,
    disk_used: i64,
    executors: Vec<&'s str>,
}

fn list(call: &Call<'_>) -> Handled {
    let cached = views::cached_rdds(call.store);
    Ok(Answer::json(&cached.map(|rdd| shape(call, rdd)).collect::<Vec<_>>()))
}

fn one(call: &Call<'_>) -> Handled {
    let id: i32 = call.ids[0].parse().map_err(|_| Answer::page(404))?;
    let rdd = views::persisted_rdd(call.store, id)
        .ok_or_else(|| Answer::text(404, format!("no rdd found w/ id {id}")))?;
    Ok(Answer::json(&shape(call, rdd)))
}

fn shape<'c>(call: &Call<'c>, rdd: &'c PersistedRdd) -> Rdd<'c> {
    let text = |text| call.store.text(text);
    let share = |share: &RddShare| {
        let (on_heap_left, off_heap_left) = share.left.on_and_off_heap_bytes.unzip();
        Share {
            address: share.left.address.map(text),
            memory_used: share.memory_bytes,
            memory_remaining: share.left.memory_bytes,
            disk_used: share.disk_bytes,
            on_heap_memory_used: on_heap_left.map(|_| share.on_heap_bytes),
            off_heap_memory_used: off_heap_left.map(|_| share.off_heap_bytes),
            on_heap_memory_remaining: on_heap_left,
            off_heap_memory_remaining: off_heap_left,
        }
    };
    let partition = |partition: &RddPartition| Partition {
        block_name: text(partition.block),
        storage_level: views::level_text(&views::partition_level(rdd, partition)),
        memory_used: partition.memory_bytes,
        disk_used: partition.disk_bytes,
        executors: partition.executors.iter().map(|e| text(*e)).collect(),
    };
    let shares: Vec<_> = views::rdd_shares(call.store, rdd).into_iter().map(share).collect();
    Rdd {
        id: rdd.id,
        name: text(rdd.name),
        num_partitions: rdd.n_partitions,
        num_cached_partitions: rdd.partitions.len(),
        storage_level: views::level_text(&rdd.level),
        memory_used: rdd.memory_bytes,
        disk_used: rdd.disk_bytes,
        data_distribution: (!shares.is_empty()).then_some(shares),
        partitions: rdd.partitions.iter().map(partition).collect(),
    }
}
