//! RDDs as stages describe them, those that are persisted, and the blocks that hold them. Follows Spark's
//! `AppStatusListener`: sums never fall below zero, and a block that is taken back counts even if it was never there.
//! An event costs no more than a look-up, however many RDDs, partitions and executors there are.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use store::{
    Executor, MemoryLeft, PersistedRdd, RddInfo, RddPartition, RddShare, StorageLevel, Text, record,
};

use crate::{json, trackers::Context};

record! {
    /// Persisted RDDs and where they lie.
    pub(crate) struct Storage {
        rdds: BTreeMap<i32, LiveRdd>,
        /// The RDDs that have a share on an executor, and the partitions that lie there.
        on_executor: BTreeMap<Text, OnExecutor>,
    }

    struct OnExecutor {
        left: MemoryLeft,
        shares: BTreeSet<i32>,
        partitions: BTreeSet<(i32, Text)>,
    }

    struct LiveRdd {
        name: Text,
        n_partitions: i64,
        level: StorageLevel,
        memory_bytes: i64,
        disk_bytes: i64,
        shares: BTreeMap<Text, Share>,
        n_shares_max: u64,
        /// By the names of their blocks.
        partitions: BTreeMap<Text, Partition>,
        n_partitions_seen: u64,
    }

    struct Share {
        memory_bytes: i64,
        disk_bytes: i64,
        on_heap_bytes: i64,
        off_heap_bytes: i64,
    }

    struct Partition {
        /// Its place in the order of caching.
        place: u64,
        executors: Vec<Text>,
        memory_bytes: i64,
        disk_bytes: i64,
    }
}

/// Adds as Spark does.
fn add(value: &mut i64, delta: i64) {
    *value = value.wrapping_add(delta).max(0);
}

fn is_valid(level: &StorageLevel) -> bool {
    (level.disk || level.memory) && level.replication > 0
}

impl Storage {
    /// A stage is submitted that uses the RDD.
    pub(crate) fn persist(&mut self, rdd: &RddInfo) {
        if is_valid(&rdd.level) {
            self.rdds.entry(rdd.id).or_insert_with(|| LiveRdd {
                name: rdd.name,
                n_partitions: rdd.n_partitions,
                level: rdd.level.clone(),
                ..LiveRdd::default()
            });
        }
    }

    pub(crate) fn executor_removed(&mut self, executor: Text) {
        let Some(held) = self.on_executor.remove(&executor) else { return };
        for rdd in held.shares {
            if let Some(rdd) = self.rdds.get_mut(&rdd) {
                rdd.shares.remove(&executor);
            }
        }
        for (id, block) in held.partitions {
            let Some(rdd) = self.rdds.get_mut(&id) else { continue };
            let Some(partition) = rdd.partitions.get_mut(&block) else { continue };
            // an executor's part of a partition is taken to be as large as any other's
            let n = partition.executors.len().max(1) as i64;
            let (memory, disk) = (partition.memory_bytes / n, partition.disk_bytes / n);
            add(&mut rdd.memory_bytes, -memory);
            add(&mut rdd.disk_bytes, -disk);
            add(&mut partition.memory_bytes, -memory);
            add(&mut partition.disk_bytes, -disk);
            partition.executors.retain(|e| *e != executor);
            if partition.executors.is_empty() {
                rdd.partitions.remove(&block);
            }
        }
    }

    pub(crate) fn finish(self) -> Vec<PersistedRdd> {
        let left = |executor| self.on_executor.get(&executor).map(|e| e.left.clone());
        let rdds = self.rdds.into_iter();
        rdds.map(|(id, rdd)| {
            let mut partitions: Vec<(Text, Partition)> = rdd.partitions.into_iter().collect();
            partitions.sort_by_key(|(_, partition)| partition.place);
            let share = |(executor, share): (Text, Share)| RddShare {
                executor,
                memory_bytes: share.memory_bytes,
                disk_bytes: share.disk_bytes,
                on_heap_bytes: share.on_heap_bytes,
                off_heap_bytes: share.off_heap_bytes,
                left: left(executor).unwrap_or_default(),
            };
            let partition = |(block, partition): (Text, Partition)| RddPartition {
                block,
                executors: partition.executors,
                memory_bytes: partition.memory_bytes,
                disk_bytes: partition.disk_bytes,
            };
            PersistedRdd {
                id,
                name: rdd.name,
                n_partitions: rdd.n_partitions,
                level: rdd.level,
                memory_bytes: rdd.memory_bytes,
                disk_bytes: rdd.disk_bytes,
                shares: rdd.shares.into_iter().map(share).collect(),
                n_shares_max: rdd.n_shares_max,
                partitions: partitions.into_iter().map(partition).collect(),
            }
        })
        .collect()
    }
}

pub(crate) fn unpersisted(event: &Value, cx: &mut Context<'_>) -> Option<()> {
    let id = json::int32(event, "RDD ID")?;
    let Some(rdd) = cx.storage.rdds.remove(&id) else { return Some(()) };
    for (block, partition) in rdd.partitions {
        for executor in partition.executors {
            if let Some(held) = cx.storage.on_executor.get_mut(&executor) {
                held.partitions.remove(&(id, block));
            }
            if let Some(executor) = cx.executors.live(executor) {
                executor.n_rdd_blocks -= 1;
            }
        }
    }
    for (executor, share) in rdd.shares {
        if let Some(held) = cx.storage.on_executor.get_mut(&executor) {
            held.shares.remove(&id);
        }
        let Some(executor) = cx.executors.live(executor) else { continue };
        if executor.on_heap_memory_bytes.is_some() {
            if rdd.level.off_heap {
                add(&mut executor.off_heap_used_bytes, -share.off_heap_bytes);
            } else {
                add(&mut executor.on_heap_used_bytes, -share.on_heap_bytes);
            }
        }
        add(&mut executor.memory_used_bytes, -share.memory_bytes);
        add(&mut executor.disk_used_bytes, -share.disk_bytes);
    }
    Some(())
}

/// What a block update says.
struct Update {
    block: Text,
    level: StorageLevel,
    executor: Text,
    memory_bytes: i64,
    disk_bytes: i64,
}

/// Of `rdd_12_3`: 12.
fn rdd_of(block: &str) -> Option<i32> {
    let (rdd, partition) = block.strip_prefix("rdd_")?.split_once('_')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    (is_number(rdd) && is_number(partition)).then(|| rdd.parse().ok())?
}

/// Blocks of RDDs and of broadcast variables count for their executor, others nowhere.
pub(crate) fn block_updated(event: &Value, cx: &mut Context<'_>) -> Option<()> {
    let info = event.get("Block Updated Info")?;
    let manager = info.get("Block Manager ID")?;
    let name = json::text(info, "Block ID")?;
    let rdd = rdd_of(name);
    let level = storage_level(info.get("Storage Level")?);
    let executor = json::text(manager, "Executor ID")?;
    if rdd.is_none() && !name.starts_with("broadcast_") {
        return Some(());
    }
    // gone from where it does not lie any more
    let delta = |key, stays: bool| {
        let bytes = json::int(info, key).unwrap_or(0);
        if stays { bytes } else { bytes.wrapping_neg() }
    };
    let update = Update {
        block: if rdd.is_some() { cx.text(name) } else { Text::default() },
        executor: cx.text(executor),
        memory_bytes: delta("Memory Size", level.memory),
        disk_bytes: delta("Disk Size", level.disk),
        level,
    };
    let executor = cx.executors.live(update.executor);
    if let Some(executor) = executor {
        if executor.on_heap_memory_bytes.is_some() {
            let used = if update.level.off_heap {
                &mut executor.off_heap_used_bytes
            } else {
                &mut executor.on_heap_used_bytes
            };
            add(used, update.memory_bytes);
        }
        add(&mut executor.memory_used_bytes, update.memory_bytes);
        add(&mut executor.disk_used_bytes, update.disk_bytes);
    }
    if let Some(id) = rdd {
        let executor = cx.executors.live(update.executor);
        cx.storage.rdd_block(id, &update, executor);
    }
    Some(())
}

impl Storage {
    fn rdd_block(&mut self, id: i32, update: &Update, executor: Option<&mut Executor>) {
        let Some(rdd) = self.rdds.get_mut(&id) else { return };
        let n_more_blocks = rdd.partition(update, |is_held| {
            let held = self.on_executor.entry(update.executor).or_default();
            if is_held {
                held.partitions.insert((id, update.block));
            } else {
                held.partitions.remove(&(id, update.block));
            }
        });
        if let Some(executor) = executor {
            executor.n_rdd_blocks += n_more_blocks;
            let held = self.on_executor.entry(update.executor).or_default();
            if executor.n_rdd_blocks > 0 {
                let share = rdd.shares.entry(update.executor).or_default();
                add(&mut share.memory_bytes, update.memory_bytes);
                add(&mut share.disk_bytes, update.disk_bytes);
                if executor.on_heap_memory_bytes.is_some() {
                    let used = if update.level.off_heap {
                        &mut share.off_heap_bytes
                    } else {
                        &mut share.on_heap_bytes
                    };
                    add(used, update.memory_bytes);
                }
                rdd.n_shares_max = rdd.n_shares_max.max(rdd.shares.len() as u64);
                held.shares.insert(id);
            } else {
                rdd.shares.remove(&update.executor);
                held.shares.remove(&id);
            }
            held.left = memory_left(executor);
        }
        add(&mut rdd.memory_bytes, update.memory_bytes);
        add(&mut rdd.disk_bytes, update.disk_bytes);
    }
}

impl LiveRdd {
    /// Brings the partition up to date and says whether it lies on the executor; how many more blocks it has there.
    fn partition(&mut self, update: &Update, held: impl FnOnce(bool)) -> i64 {
        let place = self.n_partitions_seen;
        let partition = self.partitions.entry(update.block).or_insert_with(|| {
            self.n_partitions_seen += 1;
            Partition { place, ..Partition::default() }
        });
        let is_valid = is_valid(&update.level);
        let n_more_blocks = if !is_valid {
            partition.executors.retain(|e| *e != update.executor);
            -1
        } else if partition.executors.contains(&update.executor) {
            0
        } else {
            partition.executors.push(update.executor);
            1
        };
        held(is_valid);
        if partition.executors.is_empty() {
            self.partitions.remove(&update.block);
        } else {
            add(&mut partition.memory_bytes, update.memory_bytes);
            add(&mut partition.disk_bytes, update.disk_bytes);
        }
        n_more_blocks
    }
}

fn memory_left(executor: &Executor) -> MemoryLeft {
    let on_heap =
        executor.on_heap_memory_bytes.map(|b| b.wrapping_sub(executor.on_heap_used_bytes));
    let off_heap = executor.off_heap_memory_bytes.unwrap_or(0);
    MemoryLeft {
        address: executor.host_port.or(executor.host),
        memory_bytes: executor.max_memory_bytes.wrapping_sub(executor.memory_used_bytes),
        on_and_off_heap_bytes: on_heap
            .map(|on_heap| (on_heap, off_heap.wrapping_sub(executor.off_heap_used_bytes))),
    }
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
