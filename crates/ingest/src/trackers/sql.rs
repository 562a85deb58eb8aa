//! SQL executions: their plans, adaptive changes, driver-side metric updates, jobs and stages.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde_json::Value;
use store::{
    CountedTasks, PlanNode, PlanRef, RowCounts, SqlExecution, SqlMetric, SqlPlan, StageAttemptId,
    Wire, record,
};

use crate::{json, trackers::Context};

/// Nodes of one plan that are kept; a larger plan is cut and counted.
const PLAN_NODES_MAX: usize = 100_000;

record! {
    pub(crate) struct Sql {
        executions: BTreeMap<i64, SqlExecution>,
        stages: BTreeMap<i32, LiveStage>,
    }

    /// A stage of executions that run.
    pub(crate) struct LiveStage {
        /// The last attempt.
        attempt: i32,
        n_indices: i32,
        /// The first row that counts.
        from_row: u64,
        executions: Vec<i64>,
    }
}

impl Sql {
    pub(crate) fn started(&mut self, event: &Value, cx: &mut Context<'_>) -> Option<()> {
        let id = json::int(event, "executionId")?;
        let at_ms = json::int(event, "time").unwrap_or(0);
        cx.seen_at(Some(at_ms));
        let tags = json::list(event, "jobTags");
        let plan = plan(event, cx);
        let text = |key, cx: &mut Context<'_>| json::text(event, key).map(|t| cx.text(t));
        let execution = SqlExecution {
            id,
            root_id: json::int(event, "rootExecutionId"),
            query_id: text("queryId", cx),
            description: text("description", cx).unwrap_or_default(),
            details: text("details", cx).unwrap_or_default(),
            modified_configs: cx.pairs(event, "modifiedConfigs"),
            job_tags: tags.iter().map(|t| cx.text(&json::as_text(t))).collect(),
            job_group: text("jobGroupId", cx),
            started_at_ms: at_ms,
            plans: vec![plan],
            ..SqlExecution::default()
        };
        // jobs that came before it stay
        let known = self.executions.entry(id).or_default();
        let (jobs, stages) = (std::mem::take(&mut known.jobs), std::mem::take(&mut known.stages));
        *known = SqlExecution { jobs, stages, ..execution };
        Some(())
    }

    pub(crate) fn ended(
        &mut self,
        event: &Value,
        cx: &mut Context<'_>,
        rows: RowCounts<'_>,
    ) -> Option<()> {
        let id = json::int(event, "executionId")?;
        let execution = self.executions.get_mut(&id)?;
        if execution.ended_at_ms.is_none() {
            execution.counted = counted(&execution.stages, &self.stages, rows);
            for stage in &execution.stages {
                if let Entry::Occupied(mut live) = self.stages.entry(*stage) {
                    live.get_mut().executions.retain(|other| *other != id);
                    if live.get().executions.is_empty() {
                        live.remove();
                    }
                }
            }
        }
        execution.ended_at_ms = json::int(event, "time");
        execution.error = json::text(event, "errorMessage").map(|t| cx.text(t));
        cx.seen_at(execution.ended_at_ms);
        Some(())
    }

    pub(crate) fn adaptive_plan(&mut self, event: &Value, cx: &mut Context<'_>) -> Option<()> {
        let plan = plan(event, cx);
        let execution = self.executions.get_mut(&json::int(event, "executionId")?)?;
        execution.plans.push(plan);
        Some(())
    }

    pub(crate) fn adaptive_metrics(&mut self, event: &Value, cx: &mut Context<'_>) -> Option<()> {
        let metrics: Vec<SqlMetric> =
            json::list(event, "sqlPlanMetrics").iter().filter_map(metric).collect();
        let execution = self.executions.get_mut(&json::int(event, "executionId")?)?;
        execution.added_metrics.push(cx.blobs.put(&bytes(&metrics)));
        Some(())
    }

    pub(crate) fn driver_updates(&mut self, event: &Value) -> Option<()> {
        let execution = self.executions.get_mut(&json::int(event, "executionId")?)?;
        for pair in json::list(event, "accumUpdates") {
            if let Some([id, value]) = pair.as_array().map(Vec::as_slice) {
                execution.driver_updates.push((json::whole(id)?, json::whole(value)?));
            }
        }
        Some(())
    }

    pub(crate) fn job_start(&mut self, event: &Value, rows: RowCounts<'_>) -> Option<()> {
        let properties = event.get("Properties")?;
        let id: i64 = json::text(properties, "spark.sql.execution.id")?.parse().ok()?;
        let execution = self
            .executions
            .entry(id)
            .or_insert_with(|| SqlExecution { id, ..SqlExecution::default() });
        let job = json::int32(event, "Job ID")?;
        match execution.jobs.iter_mut().find(|(known, _)| *known == job) {
            Some((_, result)) => *result = None,
            None => execution.jobs.push((job, None)),
        }
        for stage in json::int_list(event, "Stage IDs") {
            let live = self.stages.entry(stage).or_default();
            live.start(StageAttemptId { stage, attempt: 0 }, i32::MAX, rows);
            if !live.executions.contains(&id) {
                live.executions.push(id);
                execution.stages.push(stage);
            }
        }
        for info in json::list(event, "Stage Infos") {
            let live = json::int32(info, "Stage ID").and_then(|id| self.stages.get_mut(&id));
            if let (Some(live), Some(n)) = (live, json::int32(info, "Number of Tasks")) {
                live.n_indices = n;
            }
        }
        Some(())
    }

    pub(crate) fn stage_submitted(&mut self, event: &Value, rows: RowCounts<'_>) -> Option<()> {
        let info = event.get("Stage Info")?;
        let stage = json::int32(info, "Stage ID")?;
        let attempt = json::int32(info, "Stage Attempt ID").unwrap_or(0);
        let live = self.stages.get_mut(&stage)?;
        if live.attempt != attempt {
            live.start(StageAttemptId { stage, attempt }, live.n_indices, rows);
        }
        Some(())
    }

    pub(crate) fn job_end(&mut self, execution: i64, job: i32, succeeded: bool) {
        let jobs = self.executions.get_mut(&execution).map(|e| e.jobs.iter_mut());
        for (_, result) in jobs.into_iter().flatten().filter(|(id, _)| *id == job) {
            *result = Some(succeeded);
        }
    }

    pub(crate) fn finish(self, rows: RowCounts<'_>) -> Vec<SqlExecution> {
        let Sql { executions, stages } = self;
        let executions = executions.into_values().map(|mut execution| {
            if execution.ended_at_ms.is_none() {
                execution.counted = counted(&execution.stages, &stages, rows);
            }
            execution.stages.sort_unstable();
            execution.stages.dedup();
            execution
        });
        executions.collect()
    }
}

impl LiveStage {
    fn start(&mut self, id: StageAttemptId, n_indices: i32, rows: RowCounts<'_>) {
        self.attempt = id.attempt;
        self.n_indices = n_indices;
        self.from_row = rows.of(id);
    }
}

/// What counts for an execution by now.
fn counted(
    stages: &[i32],
    live: &BTreeMap<i32, LiveStage>,
    rows: RowCounts<'_>,
) -> Vec<CountedTasks> {
    let known = stages.iter().filter_map(|stage| Some((*stage, live.get(stage)?)));
    let counted = known.map(|(stage, live)| {
        let stage = StageAttemptId { stage, attempt: live.attempt };
        let LiveStage { n_indices, from_row, .. } = *live;
        CountedTasks { stage, n_indices, from_row, to_row: rows.of(stage) }
    });
    counted.collect()
}

/// The form that blobs are kept in.
fn bytes(value: &impl Wire) -> Vec<u8> {
    let mut out = Vec::new();
    value.put(&mut out);
    out
}

fn owned(value: &Value, key: &str) -> String {
    json::text(value, key).unwrap_or_default().to_owned()
}

fn metric(metric: &Value) -> Option<SqlMetric> {
    Some(SqlMetric {
        name: json::text(metric, "name")?.to_owned(),
        accumulable: json::int(metric, "accumulatorId")?,
        kind: owned(metric, "metricType"),
    })
}

fn plan(event: &Value, cx: &mut Context<'_>) -> PlanRef {
    let mut nodes = Vec::new();
    let mut open: Vec<(&Value, u32)> =
        event.get("sparkPlanInfo").map(|root| (root, 0)).into_iter().collect();
    while let Some((node, depth)) = open.pop() {
        if nodes.len() >= PLAN_NODES_MAX {
            break;
        }
        let metadata = json::pairs(node, "metadata").into_iter();
        nodes.push(PlanNode {
            name: owned(node, "nodeName"),
            text: owned(node, "simpleString"),
            depth,
            metadata: metadata.map(|(key, value)| (key.to_owned(), value.into_owned())).collect(),
            metrics: json::list(node, "metrics").iter().filter_map(metric).collect(),
        });
        open.extend(json::list(node, "children").iter().rev().map(|child| (child, depth + 1)));
    }
    let n_nodes = nodes.len() as u32;
    let plan = SqlPlan { formatted: owned(event, "physicalPlanDescription"), nodes };
    PlanRef { blob: cx.blobs.put(&bytes(&plan)), n_nodes }
}
