//! SQL executions: plans as trees of nodes, and what the driver reported about them. Values that tasks reported are in
//! the accumulable columns of the stages that ran them.

use crate::{Blob, StageAttemptId, Text, record, tables::Pairs};

record! {
    pub struct SqlMetric {
        pub name: String,
        pub accumulable: i64,
        /// `sum`, `size`, `timing`, `nsTiming`, `average`.
        pub kind: String,
    }

    /// One operator; its children follow it in [`SqlPlan::nodes`], depth first.
    pub struct PlanNode {
        pub name: String,
        pub text: String,
        /// Distance from the root.
        pub depth: u32,
        pub metadata: Vec<(String, String)>,
        pub metrics: Vec<SqlMetric>,
    }

    /// One version of a plan; adaptive execution writes a new one whenever it changes its mind. Plans are most of what a
    /// log says about SQL, so they stay out of memory: see [`PlanRef`].
    pub struct SqlPlan {
        pub formatted: String,
        pub nodes: Vec<PlanNode>,
    }

    /// A plan that is written down; [`crate::Store::plan`] reads it.
    pub struct PlanRef {
        pub blob: Blob,
        pub n_nodes: u32,
    }

    pub struct SqlExecution {
        pub id: i64,
        pub root_id: Option<i64>,
        pub query_id: Option<Text>,
        pub description: Text,
        pub details: Text,
        pub modified_configs: Pairs,
        pub job_tags: Vec<Text>,
        pub job_group: Option<Text>,
        pub started_at_ms: i64,
        pub ended_at_ms: Option<i64>,
        /// `None` when the end event does not say; empty when it succeeded.
        pub error: Option<Text>,
        /// The first plan, then each adaptive update.
        pub plans: Vec<PlanRef>,
        /// Metrics that adaptive execution added without a new plan: a list of [`SqlMetric`] each.
        pub added_metrics: Vec<Blob>,
        /// (accumulable, value) as the driver reported them, in log order.
        pub driver_updates: Vec<(i64, i64)>,
        /// (job, succeeded), as they came; `None` while it runs.
        pub jobs: Vec<(i32, Option<bool>)>,
        pub stages: Vec<i32>,
        /// The tasks whose values count, stage by stage as the stages came; see [`CountedTasks`].
        pub counted: Vec<CountedTasks>,
    }

    /// Tasks of one stage that reported values to an execution: Spark looks at a stage's last attempt only, from the
    /// start of the last job that named the stage, and no longer than the execution runs.
    pub struct CountedTasks {
        pub stage: StageAttemptId,
        /// Indices from here on are not counted.
        pub n_indices: i32,
        /// Rows among those of the stage attempt.
        pub from_row: u64,
        pub to_row: u64,
    }
}
