//! Questions about a store, answered in plain values named in Spark's words. Every surface shows numbers that come from
//! here, so that a page, the API and a report cannot disagree. Knows neither events nor JSON nor HTML.
#![forbid(unsafe_code)]

mod app;
mod connect;
mod environment;
mod error;
mod executor;
mod group;
mod java;
mod job;
mod measure;
mod pause;
mod plan_graph;
mod select;
mod span;
mod spark_text;
mod sql;
mod sql_metric;
mod stage;
mod storage;
mod streaming;
mod summary;
mod task;
mod task_order;
mod thrift;

pub use app::{AppSummary, GapLine, app_summary, cores_max, gaps, last_event_at_ms};
pub use connect::{
    ConnectOperationLine, ConnectSessionLine, connect_operation, connect_operations,
    connect_session, connect_sessions,
};
pub use environment::{EnvironmentLines, environment, resource_profiles};
pub use error::{TaskError, task_errors};
pub use executor::{ExecutorLine, LogUrlPattern, executors, log_urls, misc_processes};
pub use group::{NameGroup, by_name};
pub use job::{JobLine, jobs};
pub use measure::{Measure, TaskStatus, Unit, task_status};
pub use pause::{Busy, Pause, busy};
pub use plan_graph::{PlanEdge, PlanGraph, PlanGraphNode, plan_graph};
pub use spark_text::{spark_bytes, spark_duration};
pub use sql::{SqlLine, SqlStatus, sql_execution, sql_executions};
pub use sql_metric::sql_metric_texts;
pub use stage::{
    SKEW_FLOOR_BYTES, SKEW_RATIO, SMALL_TASK_BYTES, SMALL_TASKS_PER_CORE, Scope, Skew, SmallTasks,
    StageLine, TaskTimes, attempts_of, stages,
};
pub use storage::{cached_rdds, level_text, partition_level, persisted_rdd, rdd_shares};
pub use streaming::{StreamingQueryLine, streaming_progress, streaming_queries, streaming_query};
pub use summary::{FIVE_NUMBERS, SparkQuantiles, Summary, TaskRef, spark_quantiles, summaries};
pub use task::{
    TaskAccumulable, TaskLine, TaskQuery, executor_log_pairs, n_tasks_of, tasks, visit_tasks,
};
pub use task_order::TaskKey;
pub use thrift::{ThriftSessionLine, ThriftStatementLine, thrift_sessions, thrift_statements};
