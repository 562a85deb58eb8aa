//! The columns of a task attempt. Missing numbers are −1 in fixed columns and 0 in metric columns; which metrics
//! a log carries at all is in [`crate::StageAttempt::metrics_seen`].

/// Declares the columns once: name in code, text for people.
macro_rules! task_columns {
    ($( $(#[$meta:meta])* $name:ident = $label:literal ),* $(,)?) => {
        /// A number kept for every task attempt. The unit is in the name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        #[expect(non_camel_case_types, reason = "the names are column names, with their units")]
        pub enum TaskColumn { $( $(#[$meta])* $name ),* }

        impl TaskColumn {
            pub const ALL: &'static [TaskColumn] = &[$( TaskColumn::$name ),*];
            pub const COUNT: usize = TaskColumn::ALL.len();

            /// The column's name.
            pub fn name(self) -> &'static str {
                match self { $( TaskColumn::$name => stringify!($name) ),* }
            }

            /// What it is called in a table.
            pub fn label(self) -> &'static str {
                match self { $( TaskColumn::$name => $label ),* }
            }
        }
    };
}

task_columns! {
    /// Unique in the application, one per task attempt.
    task_id = "task id",
    /// Position (partition) in the stage.
    index = "index",
    /// Which try of that index, from 0.
    attempt = "attempt",
    partition_id = "partition",
    launched_at_ms = "launched",
    /// 0 while the task runs.
    finished_at_ms = "finished",
    /// 0 when the result came with the status update.
    getting_result_at_ms = "getting result since",
    /// A [`crate::Text`].
    executor = "executor",
    /// A [`crate::Text`].
    host = "host",
    /// A [`crate::Text`], for example `PROCESS_LOCAL`.
    locality = "locality",
    /// Bits of [`crate::TaskFlags`].
    flags = "flags",
    /// A [`crate::Text`]: why the attempt failed or was killed; −1 for none.
    error = "error",
    /// Index into the chunk's executor-metric sets; −1 for none.
    executor_metrics = "executor metrics",
    // metrics, in the order of the log
    executor_deserialize_ms = "deserialize",
    executor_deserialize_cpu_ns = "deserialize CPU",
    executor_run_ms = "run",
    executor_cpu_ns = "CPU",
    peak_execution_memory_bytes = "peak execution memory",
    peak_on_heap_execution_memory_bytes = "peak on-heap execution memory",
    peak_off_heap_execution_memory_bytes = "peak off-heap execution memory",
    result_size_bytes = "result size",
    jvm_gc_ms = "GC",
    result_serialization_ms = "result serialization",
    spill_memory_bytes = "spill (memory)",
    spill_disk_bytes = "spill (disk)",
    shuffle_remote_blocks = "shuffle remote blocks",
    shuffle_local_blocks = "shuffle local blocks",
    fetch_wait_ms = "fetch wait",
    shuffle_remote_bytes = "shuffle remote read",
    shuffle_remote_to_disk_bytes = "shuffle remote read to disk",
    shuffle_local_bytes = "shuffle local read",
    shuffle_read_rows = "shuffle read rows",
    shuffle_remote_requests_ms = "shuffle remote requests",
    push_corrupt_merged_chunks = "corrupt merged chunks",
    push_fallbacks = "merged fetch fallbacks",
    push_remote_merged_blocks = "remote merged blocks",
    push_local_merged_blocks = "local merged blocks",
    push_remote_merged_chunks = "remote merged chunks",
    push_local_merged_chunks = "local merged chunks",
    push_remote_merged_bytes = "remote merged read",
    push_local_merged_bytes = "local merged read",
    push_remote_merged_requests_ms = "remote merged requests",
    shuffle_write_bytes = "shuffle write",
    shuffle_write_ns = "shuffle write time",
    shuffle_write_rows = "shuffle write rows",
    input_bytes = "input",
    input_rows = "input rows",
    output_bytes = "output",
    output_rows = "output rows",
}

impl TaskColumn {
    pub const FIRST_METRIC: usize = TaskColumn::executor_deserialize_ms as usize;
    pub const N_METRICS: usize = TaskColumn::COUNT - TaskColumn::FIRST_METRIC;

    /// The metric columns.
    pub fn metrics() -> &'static [TaskColumn] {
        &TaskColumn::ALL[TaskColumn::FIRST_METRIC..]
    }

    /// Position among the metrics, and bit in [`crate::StageAttempt::metrics_seen`].
    pub fn metric_index(self) -> Option<usize> {
        (self as usize).checked_sub(TaskColumn::FIRST_METRIC)
    }
}

/// Bits of [`TaskColumn::flags`].
pub struct TaskFlags;

impl TaskFlags {
    pub const SPECULATIVE: i64 = 1;
    pub const FAILED: i64 = 1 << 1;
    pub const KILLED: i64 = 1 << 2;
    /// The end event carried task metrics.
    pub const HAS_METRICS: i64 = 1 << 3;
    /// No end event: the task was running when the log ended.
    pub const RUNNING: i64 = 1 << 4;
    /// An end event for a task that was not known to run (no start event, or ended before). Spark's history server
    /// has no row for it; neither do the answers that copy Spark.
    pub const NOT_STARTED: i64 = 1 << 5;
    /// `TaskResultLost`, `Resubmitted` and others are kinds of failure; this one is counted as killed.
    pub const COMMIT_DENIED: i64 = 1 << 6;
}

/// Names of the executor metrics (peaks) that Spark logs, in its order.
pub const EXECUTOR_METRICS: [&str; 23] = [
    "JVMHeapMemory",
    "JVMOffHeapMemory",
    "OnHeapExecutionMemory",
    "OffHeapExecutionMemory",
    "OnHeapStorageMemory",
    "OffHeapStorageMemory",
    "OnHeapUnifiedMemory",
    "OffHeapUnifiedMemory",
    "DirectPoolMemory",
    "MappedPoolMemory",
    "ProcessTreeJVMVMemory",
    "ProcessTreeJVMRSSMemory",
    "ProcessTreePythonVMemory",
    "ProcessTreePythonRSSMemory",
    "ProcessTreeOtherVMemory",
    "ProcessTreeOtherRSSMemory",
    "MinorGCCount",
    "MinorGCTime",
    "MajorGCCount",
    "MajorGCTime",
    "TotalGCTime",
    "ConcurrentGCCount",
    "ConcurrentGCTime",
];

/// One set of executor metrics.
pub type ExecutorMetrics = [i64; EXECUTOR_METRICS.len()];

/// One task attempt, a value for each [`TaskColumn`].
#[derive(Clone, Debug, PartialEq)]
pub struct TaskRow(pub [i64; TaskColumn::COUNT]);

impl std::ops::Index<TaskColumn> for TaskRow {
    type Output = i64;
    #[inline(always)]
    fn index(&self, column: TaskColumn) -> &i64 {
        &self.0[column as usize]
    }
}

impl std::ops::IndexMut<TaskColumn> for TaskRow {
    #[inline(always)]
    fn index_mut(&mut self, column: TaskColumn) -> &mut i64 {
        &mut self.0[column as usize]
    }
}

impl TaskRow {
    /// From launch to finish; wraps as Spark's own arithmetic does when a log lies about its instants.
    pub fn duration_ms(&self) -> i64 {
        self[TaskColumn::finished_at_ms].wrapping_sub(self[TaskColumn::launched_at_ms])
    }

    /// A row about which nothing is known.
    pub const UNKNOWN: TaskRow = {
        let mut values = [0; TaskColumn::COUNT];
        values[TaskColumn::partition_id as usize] = -1;
        values[TaskColumn::error as usize] = -1;
        values[TaskColumn::executor_metrics as usize] = -1;
        TaskRow(values)
    };
}

impl crate::Wire for TaskRow {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }
    fn get(from: &mut crate::Reader<'_>) -> Option<Self> {
        <[i64; TaskColumn::COUNT]>::get(from).map(TaskRow)
    }
}
