//! Persisted RDDs, for reading.

use store::{PersistedRdd, RddPartition, RddShare, StorageLevel, Store};

use crate::java;

/// Persisted RDDs of which something is cached, by id.
pub fn cached_rdds(store: &Store) -> impl Iterator<Item = &PersistedRdd> {
    store.tables().persisted_rdds.iter().filter(|rdd| !rdd.partitions.is_empty())
}

/// A persisted RDD by its id, cached or not.
pub fn persisted_rdd(store: &Store, id: i32) -> Option<&PersistedRdd> {
    let rdds = &store.tables().persisted_rdds;
    rdds.binary_search_by_key(&id, |rdd| rdd.id).ok().and_then(|at| rdds.get(at))
}

/// What executors hold of an RDD, in the order in which Spark lists them.
pub fn rdd_shares<'s>(store: &'s Store, rdd: &'s PersistedRdd) -> Vec<&'s RddShare> {
    let mut shares: Vec<&RddShare> = rdd.shares.iter().collect();
    java::sort_as_hash_map(&mut shares, rdd.n_shares_max, |share| store.text(share.executor));
    shares
}

/// How a partition really lies: where it has bytes, and on as many executors as hold it.
pub fn partition_level(rdd: &PersistedRdd, partition: &RddPartition) -> StorageLevel {
    let memory = partition.memory_bytes > 0;
    StorageLevel {
        disk: partition.disk_bytes > 0,
        memory,
        off_heap: rdd.level.off_heap,
        deserialized: memory && rdd.level.deserialized,
        replication: i32::try_from(partition.executors.len()).unwrap_or(i32::MAX),
    }
}

/// `Disk Memory Deserialized 1x Replicated`.
pub fn level_text(level: &StorageLevel) -> String {
    let disk = if level.disk { "Disk " } else { "" };
    let memory = match (level.memory, level.off_heap) {
        (true, true) => "Memory (off heap) ",
        (true, false) => "Memory ",
        (false, _) => "",
    };
    let form = if level.deserialized { "Deserialized" } else { "Serialized" };
    format!("{disk}{memory}{form} {}x Replicated", level.replication)
}
