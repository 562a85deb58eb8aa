//! The small tables of a store: everything but task attempts.
//!
//! Names are Spark's terms, units are in the names. Instants are milliseconds since the epoch (`_at_ms`). `Option` is
//! "the log does not say". Counts are signed because Spark's own are: a log with lost events can make them negative.

use std::collections::BTreeMap;

use crate::{
    ExecutorMetrics, StageExecutors, Text, choices, gap::Gap, record, servers, sql, streaming,
    task::TaskColumn,
};

/// Pairs in the order of the log.
pub type Pairs = Vec<(Text, Text)>;

/// The sum of each task metric, in the order of [`TaskColumn::metrics`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricSums(pub [i64; TaskColumn::N_METRICS]);

impl Default for MetricSums {
    fn default() -> Self {
        MetricSums([0; TaskColumn::N_METRICS])
    }
}

impl std::ops::Index<TaskColumn> for MetricSums {
    type Output = i64;
    /// The sum of a metric column; of another column, none.
    fn index(&self, column: TaskColumn) -> &i64 {
        column.metric_index().map_or(&0, |at| &self.0[at])
    }
}

impl crate::Wire for MetricSums {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }
    fn get(from: &mut crate::Reader<'_>) -> Option<Self> {
        crate::Wire::get(from).map(MetricSums)
    }
}

choices! {
    /// What became of a job.
    pub enum JobStatus { Running, Succeeded, Failed }

    /// What became of a stage attempt.
    pub enum StageStatus { Pending, Active, Complete, Failed, Skipped }

    /// What happened to an executor.
    pub enum ExecutorChange { Added, Removed, Excluded, Unexcluded, ExcludedForStage, NodeExcluded, NodeUnexcluded, NodeExcludedForStage }
}

/// A try of a stage; almost everything that is measured belongs to one. An attempt of −1 occurs in logs up to 3.4
/// (a task that started after its stage was cancelled).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StageAttemptId {
    pub stage: i32,
    pub attempt: i32,
}

impl std::fmt::Display for StageAttemptId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.stage, self.attempt)
    }
}

impl crate::Wire for StageAttemptId {
    fn put(&self, out: &mut Vec<u8>) {
        self.stage.put(out);
        self.attempt.put(out);
    }
    fn get(from: &mut crate::Reader<'_>) -> Option<Self> {
        Some(StageAttemptId { stage: i32::get(from)?, attempt: i32::get(from)? })
    }
}

record! {
    /// The application attempt that the log tells of.
    pub struct App {
        pub name: Text,
        pub id: Option<Text>,
        pub attempt_id: Option<Text>,
        pub user: Text,
        pub started_at_ms: Option<i64>,
        /// From the end event; `None` while running or when the driver died.
        pub ended_at_ms: Option<i64>,
        pub exit_code: Option<i32>,
        pub spark_version: Option<Text>,
        pub driver_logs: Pairs,
        pub driver_attributes: Pairs,
        /// The latest instant that any event carries.
        pub last_event_at_ms: Option<i64>,
        pub n_events: u64,
    }

    /// The last environment update of the log.
    pub struct Environment {
        pub jvm: Pairs,
        pub spark: Pairs,
        pub hadoop: Pairs,
        pub system: Pairs,
        pub metrics: Pairs,
        pub classpath: Pairs,
    }

    pub struct ResourceRequest {
        pub name: Text,
        pub amount: f64,
        pub discovery_script: Text,
        pub vendor: Text,
    }

    pub struct ResourceProfile {
        pub id: i32,
        pub executor_resources: Vec<ResourceRequest>,
        pub task_resources: Vec<ResourceRequest>,
    }

    pub struct JobCounts {
        pub n_active_tasks: i64,
        pub n_completed_tasks: i64,
        pub n_skipped_tasks: i64,
        pub n_failed_tasks: i64,
        pub n_killed_tasks: i64,
        /// Distinct (stage, task index) pairs that succeeded.
        pub n_completed_indices: i64,
        pub n_active_stages: i64,
        pub n_failed_stages: i64,
        pub completed_stages: Vec<i32>,
        pub skipped_stages: Vec<i32>,
        pub killed_reasons: BTreeMap<Text, i64>,
    }

    pub struct Job {
        pub id: i32,
        pub name: Text,
        pub description: Option<Text>,
        pub group: Option<Text>,
        pub tags: Vec<Text>,
        pub submitted_at_ms: Option<i64>,
        pub completed_at_ms: Option<i64>,
        pub status: JobStatus,
        pub failure: Option<Text>,
        pub stage_ids: Vec<i32>,
        /// As the job's start says; too high when stages turn out to be skipped.
        pub n_tasks: i64,
        pub sql_execution: Option<i64>,
        pub counts: JobCounts,
    }

    pub struct StorageLevel {
        pub disk: bool,
        pub memory: bool,
        pub off_heap: bool,
        pub deserialized: bool,
        pub replication: i32,
    }

    /// An RDD as a stage's information describes it.
    pub struct RddInfo {
        pub id: i32,
        pub name: Text,
        pub scope: Option<Text>,
        pub call_site: Text,
        pub parent_ids: Vec<i32>,
        pub level: StorageLevel,
        pub barrier: bool,
        pub determinism: Option<Text>,
        pub n_partitions: i64,
        pub n_cached_partitions: i64,
        pub memory_bytes: i64,
        pub disk_bytes: i64,
    }

    /// A named accumulable with its values as Spark writes them.
    pub struct Accumulable {
        pub id: i64,
        pub name: Option<Text>,
        pub update: Option<Text>,
        pub value: Option<Text>,
        pub internal: bool,
        pub metadata: Option<Text>,
    }

    pub struct SpeculationCounts {
        pub n_tasks: i64,
        pub n_active: i64,
        pub n_completed: i64,
        pub n_failed: i64,
        pub n_killed: i64,
    }

    pub struct StageCounts {
        pub n_active: i64,
        pub n_completed: i64,
        pub n_failed: i64,
        pub n_killed: i64,
        /// Distinct task indexes that succeeded.
        pub n_completed_indices: i64,
        pub killed_reasons: BTreeMap<Text, i64>,
        pub speculation: SpeculationCounts,
    }

    /// What one executor did for one stage attempt.
    pub struct StageExecutor {
        /// Sum of task durations, failed ones included.
        pub task_ms: i64,
        pub n_failed: i64,
        pub n_succeeded: i64,
        pub n_killed: i64,
        pub sums: MetricSums,
        pub excluded: bool,
        pub peak: Option<ExecutorMetrics>,
    }

    pub struct StageAttempt {
        pub id: StageAttemptId,
        pub name: Text,
        pub description: Option<Text>,
        pub details: Text,
        pub pool: Text,
        pub status: StageStatus,
        pub n_tasks: i64,
        pub submitted_at_ms: Option<i64>,
        pub first_task_launched_at_ms: Option<i64>,
        pub completed_at_ms: Option<i64>,
        pub failure: Option<Text>,
        pub job_ids: Vec<i32>,
        pub parent_ids: Vec<i32>,
        pub rdds: Vec<RddInfo>,
        pub accumulables: Vec<Accumulable>,
        pub counts: StageCounts,
        pub locality: BTreeMap<Text, i64>,
        pub sums: MetricSums,
        pub peak: Option<ExecutorMetrics>,
        pub executors: StageExecutors,
        pub resource_profile: i32,
        pub push_based_shuffle: bool,
        pub n_shuffle_mergers: i32,
        /// How many speculative tasks the scheduler asked for.
        pub n_speculative_submitted: i64,
    }

    pub struct Executor {
        pub id: Text,
        pub host: Option<Text>,
        pub host_port: Option<Text>,
        pub active: bool,
        pub total_cores: i64,
        pub max_tasks: i64,
        pub added_at_ms: i64,
        pub removed_at_ms: Option<i64>,
        pub remove_reason: Option<Text>,
        pub n_active_tasks: i64,
        pub n_completed_tasks: i64,
        pub n_failed_tasks: i64,
        pub n_total_tasks: i64,
        pub task_ms: i64,
        pub gc_ms: i64,
        pub input_bytes: i64,
        pub shuffle_read_bytes: i64,
        pub shuffle_write_bytes: i64,
        pub max_memory_bytes: i64,
        pub on_heap_memory_bytes: Option<i64>,
        pub off_heap_memory_bytes: Option<i64>,
        /// Storage memory in use, as far as block updates tell, as are the four that follow.
        pub memory_used_bytes: i64,
        pub on_heap_used_bytes: i64,
        pub off_heap_used_bytes: i64,
        pub disk_used_bytes: i64,
        pub n_rdd_blocks: i64,
        pub logs: Pairs,
        pub attributes: Pairs,
        /// Name of a resource and its addresses.
        pub resources: Vec<(Text, Vec<Text>)>,
        pub resource_profile: i32,
        pub excluded: bool,
        pub excluded_in_stages: Vec<i32>,
        pub peak: Option<ExecutorMetrics>,
    }

    /// A change to the set of executors, in log order.
    pub struct ExecutorEvent {
        pub at_ms: i64,
        /// An executor, or for `Node…` a host.
        pub subject: Text,
        pub change: ExecutorChange,
        pub reason: Option<Text>,
        pub stage: Option<StageAttemptId>,
        pub n_failures: Option<i64>,
        pub n_cores: Option<i64>,
    }

    /// An RDD that was persisted and not taken back. Where it lies is known only to logs with block updates
    /// (`spark.eventLog.logBlockUpdates.enabled`).
    pub struct PersistedRdd {
        pub id: i32,
        pub name: Text,
        pub n_partitions: i64,
        pub level: StorageLevel,
        pub memory_bytes: i64,
        pub disk_bytes: i64,
        /// What executors hold of it, by their id.
        pub shares: Vec<RddShare>,
        /// On how many executors it lay at the same time, at most.
        pub n_shares_max: u64,
        /// Cached ones, in the order in which they were cached.
        pub partitions: Vec<RddPartition>,
    }

    /// What an executor holds of an RDD.
    pub struct RddShare {
        pub executor: Text,
        pub memory_bytes: i64,
        pub disk_bytes: i64,
        pub on_heap_bytes: i64,
        pub off_heap_bytes: i64,
        pub left: MemoryLeft,
    }

    /// What was left of an executor's storage memory when it last told of a block of a persisted RDD.
    pub struct MemoryLeft {
        /// Host and port, or the host where no block manager registered.
        pub address: Option<Text>,
        pub memory_bytes: i64,
        /// Of heap and of memory outside of it; logs before 2.2 do not tell them apart.
        pub on_and_off_heap_bytes: Option<(i64, i64)>,
    }

    pub struct RddPartition {
        pub block: Text,
        pub executors: Vec<Text>,
        pub memory_bytes: i64,
        pub disk_bytes: i64,
    }

    pub struct MiscProcess {
        pub id: Text,
        pub at_ms: i64,
        pub host_port: Text,
        pub n_cores: i64,
        pub logs: Pairs,
    }

    /// Everything but task attempts.
    pub struct Tables {
        pub app: App,
        pub environment: Option<Environment>,
        pub resource_profiles: Vec<ResourceProfile>,
        /// In the order of their ids, as are the stages.
        pub jobs: Vec<Job>,
        pub stages: Vec<StageAttempt>,
        pub executors: Vec<Executor>,
        pub executor_events: Vec<ExecutorEvent>,
        pub persisted_rdds: Vec<PersistedRdd>,
        pub misc_processes: Vec<MiscProcess>,
        pub sql_executions: Vec<sql::SqlExecution>,
        /// In the order in which they first appear.
        pub streaming_queries: Vec<streaming::StreamingQuery>,
        /// By user and id, in the order of [`crate::java_order`].
        pub connect_sessions: Vec<servers::ConnectSession>,
        /// By tag, in the order of [`crate::java_order`].
        pub connect_operations: Vec<servers::ConnectOperation>,
        /// By start, as are the statements.
        pub thrift_sessions: Vec<servers::ThriftSession>,
        pub thrift_statements: Vec<servers::ThriftStatement>,
        /// Number of events by kind, as the log names them.
        pub events_by_kind: BTreeMap<Text, u64>,
        pub gaps: Vec<Gap>,
    }
}
