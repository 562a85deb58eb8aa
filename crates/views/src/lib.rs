//! Questions about a store, answered in plain values named in Spark's words. Every surface shows numbers that come from
//! here, so that a page, the API and a report cannot disagree. Knows neither events nor JSON nor HTML.
#![forbid(unsafe_code)]

mod app;
mod by_host;
mod connect;
mod environment;
mod error;
mod executor;
mod group;
mod java;
mod job;
mod measure;
mod memory_over_time;
mod node_time;
mod occupancy;
mod pause;
mod pause_kind;
mod plan_change;
mod plan_graph;
mod select;
mod span;
mod spark_text;
mod spread;
mod sql;
mod sql_metric;
mod stage;
mod storage;
mod streaming;
mod summary;
mod task;
mod task_order;
mod task_phase;
mod thrift;
mod work;

pub use app::{AppSummary, GapLine, app_summary, cores_max, gaps, last_event_at_ms};
pub use by_host::{HostLine, by_host};
pub use connect::{
    ConnectOperationLine, ConnectSessionLine, connect_operation, connect_operations,
    connect_session, connect_sessions,
};
pub use environment::{EnvironmentLines, environment, resource_profiles};
pub use error::{TaskError, task_errors};
pub use executor::{ExecutorLine, LogUrlPattern, executors, log_urls, misc_processes};
pub use group::{NameGroup, by_name};
pub use job::{JobLine, job, jobs};
pub use measure::{Measure, TaskStatus, Unit, task_status};
pub use memory_over_time::{HeapPeak, MemoryOverTime, MemoryPart, memory_over_time};
pub use node_time::{NodeTime, NodeTimes, node_times};
pub use occupancy::{Occupancy, Slots, occupancy};
pub use pause::{Busy, Pause, busy};
pub use pause_kind::{PauseKind, pause_kind};
pub use plan_change::{PlanChange, plan_change};
pub use plan_graph::{PlanEdge, PlanGraph, PlanGraphNode, plan_graph};
pub use spark_text::{spark_bytes, spark_duration};
pub use spread::{BINS, Spread, duration_and_bytes, memory_without_spill_bytes, spreads};
pub use sql::{SqlLine, SqlStatus, sql_execution, sql_executions};
pub use sql_metric::{SqlMetricValue, SqlMetrics, sql_metrics};
pub use stage::{
    SKEW_FLOOR_BYTES, SKEW_RATIO, SMALL_TASK_BYTES, SMALL_TASKS_PER_CORE, Scope, Skew, SmallTasks,
    StageLine, TaskTimes, attempts_of, stage, stages, stages_of,
};
pub use storage::{cached_rdds, level_text, partition_level, persisted_rdd, rdd_shares};
pub use streaming::{StreamingQueryLine, streaming_progress, streaming_queries, streaming_query};
pub use summary::{FIVE_NUMBERS, SparkQuantiles, Summary, TaskRef, spark_quantiles, summaries};
pub use task::{
    TaskAccumulable, TaskLine, TaskQuery, TasksOnly, attempt_chains, executor_log_pairs,
    n_tasks_of, n_tasks_that, tasks, visit_tasks,
};
pub use task_order::TaskKey;
pub use task_phase::{PHASES, PhasesOverTime, phases_over_time, task_phases};
pub use thrift::{ThriftSessionLine, ThriftStatementLine, thrift_sessions, thrift_statements};
pub use work::{Work, WorkBy, work};
