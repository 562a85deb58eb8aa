//! One application attempt as immutable columns: ids, units, interned text, small tables, task columns, and the
//! versioned, checksummed byte form that is the same in memory, on disk and mapped. Knows neither JSON nor HTTP
//! nor the clock nor the file system.
#![forbid(unsafe_code)]

mod blob;
mod builder;
mod chunk;
mod file;
mod gap;
mod opened;
mod packed;
mod servers;
mod sql;
mod stage_executors;
mod streaming;
mod tables;
mod task;
mod text;
mod wire;

pub use blob::{Blob, Blobs};
pub use builder::{Builder, NewTask, RowCounts};
pub use chunk::{AccumulableRun, CHUNK_ROWS, Chunk, UserAccumulable};
pub use file::{FORMAT, Sink};
pub use gap::{Gap, GapKind, Severity};
pub use opened::{Bytes, StageTasks, Store};
pub use packed::Packed;
pub use servers::*;
pub use sql::{CountedTasks, PlanNode, PlanRef, SqlExecution, SqlMetric, SqlPlan};
pub use stage_executors::StageExecutors;
pub use streaming::*;
pub use tables::*;
pub use task::{EXECUTOR_METRICS, ExecutorMetrics, TaskColumn, TaskFlags, TaskRow};
pub use text::{Text, TextPool, java_order};
pub use wire::{Reader, Wire};
