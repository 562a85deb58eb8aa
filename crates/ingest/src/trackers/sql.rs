//! SQL executions: their plans, adaptive changes, driver-side metric updates, jobs and stages.

use std::collections::BTreeMap;

use serde_json::Value;
use store::{PlanNode, PlanRef, SqlExecution, SqlMetric, SqlPlan, Wire, record};

use crate::{json, trackers::Context};

/// Nodes of one plan that are kept; a larger plan is cut and counted.
const PLAN_NODES_MAX: usize = 100_000;

record! {
    pub(crate) struct Sql {
        executions: BTreeMap<i64, SqlExecution>,
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

    pub(crate) fn ended(&mut self, event: &Value, cx: &mut Context<'_>) -> Option<()> {
        let execution = self.executions.get_mut(&json::int(event, "executionId")?)?;
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

    pub(crate) fn job_start(&mut self, event: &Value) -> Option<()> {
        let properties = event.get("Properties")?;
        let id = json::text(properties, "spark.sql.execution.id")?.parse().ok()?;
        let execution = self
            .executions
            .entry(id)
            .or_insert_with(|| SqlExecution { id, ..SqlExecution::default() });
        let job = json::int32(event, "Job ID")?;
        execution.jobs.retain(|(known, _)| *known != job);
        execution.jobs.push((job, None));
        for stage in json::int_list(event, "Stage IDs") {
            if let Err(at) = execution.stages.binary_search(&stage) {
                execution.stages.insert(at, stage);
            }
        }
        Some(())
    }

    pub(crate) fn job_end(&mut self, execution: i64, job: i32, succeeded: bool) {
        let jobs = self.executions.get_mut(&execution).map(|e| e.jobs.iter_mut());
        for (_, result) in jobs.into_iter().flatten().filter(|(id, _)| *id == job) {
            *result = Some(succeeded);
        }
    }

    pub(crate) fn finish(self) -> Vec<SqlExecution> {
        self.executions.into_values().collect()
    }
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
