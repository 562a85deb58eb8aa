//! RDDs as stages describe them, those that are persisted, and the blocks that hold them.

use std::collections::BTreeMap;

use serde_json::Value;
use store::{Block, PersistedRdd, RddInfo, StorageLevel, Text, record};

use crate::{json, trackers::Context};

record! {
    /// Persisted RDDs, and the latest state of each block on each executor.
    pub(crate) struct Storage {
        rdds: BTreeMap<i32, PersistedRdd>,
        /// By executor, RDD (−1 for what is no RDD's) and name.
        blocks: BTreeMap<(Text, (i32, Text)), Block>,
        /// Executors that hold blocks of an RDD.
        holders: BTreeMap<i32, BTreeMap<Text, bool>>,
    }
}

impl Storage {
    pub(crate) fn persist(&mut self, rdd: &RddInfo) {
        if rdd.level.disk || rdd.level.memory {
            let first = PersistedRdd { rdd: rdd.clone(), unpersisted: false };
            self.rdds.entry(rdd.id).or_insert(first).unpersisted = false;
        }
    }

    pub(crate) fn unpersist(&mut self, event: &Value) -> Option<()> {
        let id = json::int32(event, "RDD ID")?;
        if let Some(rdd) = self.rdds.get_mut(&id) {
            rdd.unpersisted = true;
        }
        for executor in self.holders.remove(&id).unwrap_or_default().into_keys() {
            let first = (executor, (id, Text(0)));
            remove_range(&mut self.blocks, first..=(executor, (id, Text(u32::MAX))));
        }
        Some(())
    }

    pub(crate) fn executor_removed(&mut self, executor: Text) {
        let first = (executor, (i32::MIN, Text(0)));
        remove_range(&mut self.blocks, first..=(executor, (i32::MAX, Text(u32::MAX))));
    }

    pub(crate) fn finish(self) -> (Vec<PersistedRdd>, Vec<Block>) {
        (self.rdds.into_values().collect(), self.blocks.into_values().collect())
    }
}

fn remove_range<K: Ord + Copy, V>(map: &mut BTreeMap<K, V>, range: std::ops::RangeInclusive<K>) {
    let keys: Vec<K> = map.range(range).map(|(key, _)| *key).collect();
    for key in keys {
        map.remove(&key);
    }
}

/// Of `rdd_12_3`: 12.
fn rdd_of(block: &str) -> Option<i32> {
    block.strip_prefix("rdd_")?.split('_').next()?.parse().ok()
}

pub(crate) fn block_updated(event: &Value, cx: &mut Context<'_>) -> Option<()> {
    let info = event.get("Block Updated Info")?;
    let manager = info.get("Block Manager ID")?;
    let name = json::text(info, "Block ID")?;
    let rdd = rdd_of(name).unwrap_or(-1);
    let block = Block {
        name: cx.text(name),
        executor: cx.text(json::text(manager, "Executor ID")?),
        level: storage_level(info.get("Storage Level")?),
        memory_bytes: json::int(info, "Memory Size").unwrap_or(0),
        disk_bytes: json::int(info, "Disk Size").unwrap_or(0),
    };
    let key = (block.executor, (rdd, block.name));
    if block.level.disk || block.level.memory {
        cx.storage.holders.entry(rdd).or_default().insert(block.executor, true);
        cx.storage.blocks.insert(key, block);
    } else {
        cx.storage.blocks.remove(&key);
    }
    Some(())
}

fn storage_level(level: &Value) -> StorageLevel {
    let flag = |key| json::boolean(level, key).unwrap_or(false);
    StorageLevel {
        disk: flag("Use Disk"),
        memory: flag("Use Memory"),
        off_heap: flag("Use Off Heap"),
        deserialized: flag("Deserialized"),
        replication: json::int32(level, "Replication").unwrap_or(1),
    }
}

pub(crate) fn info(info: &Value, cx: &mut Context<'_>) -> Option<RddInfo> {
    Some(RddInfo {
        id: json::int32(info, "RDD ID")?,
        name: cx.text(json::text(info, "Name").unwrap_or_default()),
        scope: json::text(info, "Scope").map(|t| cx.text(t)),
        call_site: cx.text(json::text(info, "Callsite").unwrap_or_default()),
        parent_ids: json::int_list(info, "Parent IDs"),
        level: info.get("Storage Level").map(storage_level).unwrap_or_default(),
        barrier: json::boolean(info, "Barrier").unwrap_or(false),
        determinism: json::text(info, "DeterministicLevel").map(|t| cx.text(t)),
        n_partitions: json::int(info, "Number of Partitions").unwrap_or(0),
        n_cached_partitions: json::int(info, "Number of Cached Partitions").unwrap_or(0),
        memory_bytes: json::int(info, "Memory Size").unwrap_or(0),
        disk_bytes: json::int(info, "Disk Size").unwrap_or(0),
    })
}
