//! SQL executions: plans as trees of nodes, and what the driver reported about them. Values that tasks reported are in
//! the accumulable columns of the stages that ran them.

use crate::{Text, record, tables::Pairs};

record! {
    pub struct SqlMetric {
        pub name: Text,
        pub accumulable: i64,
        /// `sum`, `size`, `timing`, `nsTiming`, `average`.
        pub kind: Text,
    }

    /// One operator; its children follow it in [`SqlPlan::nodes`], depth first.
    pub struct PlanNode {
        pub name: Text,
        pub text: Text,
        /// Distance from the root.
        pub depth: u32,
        pub metadata: Pairs,
        pub metrics: Vec<SqlMetric>,
    }

    /// One version of a plan; adaptive execution writes a new one whenever it changes its mind.
    pub struct SqlPlan {
        pub formatted: Text,
        pub nodes: Vec<PlanNode>,
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
        pub plans: Vec<SqlPlan>,
        /// Metrics that adaptive execution added without a new plan.
        pub added_metrics: Vec<SqlMetric>,
        /// (accumulable, value) as the driver reported them, in log order.
        pub driver_updates: Vec<(i64, i64)>,
        /// (job, succeeded); `None` while it runs.
        pub jobs: Vec<(i32, Option<bool>)>,
        pub stages: Vec<i32>,
    }
}
