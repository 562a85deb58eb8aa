//! `sql` and one execution.

use serde::Serialize;
use views::{Scope, SqlLine};

use super::{Call, Route, SparkApi, params, sql_table};
use crate::api::{Answer, Date, Handled, json::Members};

pub(super) const ROUTES: &[Route] =
    &[(&["sql"], list), (&["sql", "##"], one), (&["sql", "sqlTable"], sql_table::table)];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Execution<'s> {
    id: i64,
    status: &'static str,
    description: &'s str,
    plan_description: String,
    submission_time: Date,
    duration: i64,
    running_job_ids: Vec<i32>,
    success_job_ids: Vec<i32>,
    failed_job_ids: Vec<i32>,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    #[serde(skip_serializing_if = "Option::is_none")]
    query_id: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_message: Option<&'s str>,
    root_execution_id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified_configs: Option<Members<&'s str, &'s str>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    node_id: usize,
    node_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    whole_stage_codegen_id: Option<i64>,
    metrics: Vec<Metric>,
    #[serde(skip_serializing_if = "Option::is_none")]
    desc: Option<String>,
}

#[derive(Serialize)]
struct Metric {
    name: String,
    value: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Edge {
    from_id: usize,
    to_id: usize,
}

/// What of an execution is asked for.
struct Wanted {
    nodes: bool,
    plan_text: bool,
}

impl Wanted {
    fn read(call: &Call<'_>) -> Wanted {
        let query = call.query();
        Wanted {
            nodes: params::boolean(query, "details", true),
            plan_text: params::boolean(query, "planDescription", true),
        }
    }
}

fn list(call: &Call<'_>) -> Handled {
    let wanted = Wanted::read(call);
    let offset = params::int(call.query(), "offset", 0)?;
    let length = params::int(call.query(), "length", -1)?;
    let lines = views::sql_executions(call.store, Scope::default());
    // without a length there is no offset either
    let (skip, n_max) = match usize::try_from(length) {
        Ok(length) if length > 0 => (usize::try_from(offset).unwrap_or(0), length),
        _ => (0, lines.len()),
    };
    let page = lines.iter().skip(skip).take(n_max);
    Ok(Answer::json(&page.map(|line| shape(call, line, &wanted)).collect::<Vec<_>>()))
}

fn one(call: &Call<'_>) -> Handled {
    let wanted = Wanted::read(call);
    let id = call.ids.first().copied().unwrap_or_default();
    let line = id.parse().ok().and_then(|id| views::sql_execution(call.store, id));
    let line =
        line.ok_or_else(|| Answer::text(404, format!("unknown query execution id: {id}")))?;
    Ok(Answer::json(&shape(call, &line, &wanted)))
}

fn shape<'s>(call: &Call<'s>, line: &SqlLine<'s>, wanted: &Wanted) -> Execution<'s> {
    let row = line.row;
    let text = |text| call.store.text(text);
    let jobs = line.jobs();
    let jobs_that = |result: Option<bool>| {
        jobs.iter().filter(|job| job.1 == result).map(|job| job.0).collect::<Vec<_>>()
    };
    let plan = row.plans.last().filter(|_| wanted.nodes || wanted.plan_text);
    let plan = plan.and_then(|plan| call.store.plan(plan)).unwrap_or_default();
    let (nodes, edges) =
        if wanted.nodes { graph(call, line, &plan) } else { (Vec::new(), Vec::new()) };
    let configs = row.modified_configs.iter().map(|(key, value)| (text(*key), text(*value)));
    Execution {
        id: row.id,
        status: line.status.name(),
        description: text(row.description),
        plan_description: if wanted.plan_text { plan.formatted } else { String::new() },
        submission_time: Date(row.started_at_ms),
        duration: line.duration_ms,
        running_job_ids: jobs_that(None),
        success_job_ids: jobs_that(Some(true)),
        failed_job_ids: jobs_that(Some(false)),
        nodes,
        edges,
        query_id: row.query_id.map(text),
        error_message: row.error.map(text),
        root_execution_id: line.root_id,
        modified_configs: (call.settings().api >= SparkApi::V4_3)
            .then(|| Members(configs.collect())),
    }
}

fn graph(call: &Call<'_>, line: &SqlLine<'_>, plan: &store::SqlPlan) -> (Vec<Node>, Vec<Edge>) {
    let graph = views::plan_graph(plan);
    let values = views::sql_metrics(call.store, line.row, plan, &graph);
    let has_desc = call.settings().api >= SparkApi::V4_3;
    let nodes = graph.nodes.iter().enumerate().rev().map(|(node_id, node)| {
        let of = &plan.nodes[node.plan_node];
        let metrics = of.metrics.iter().filter_map(|metric| {
            let value = values.get(&metric.accumulable)?.text.clone();
            Some(Metric { name: java_trim(&metric.name).to_owned(), value })
        });
        let cluster = node.cluster.and_then(|id| graph.nodes.get(id));
        let cluster = cluster.map(|cluster| plan.nodes[cluster.plan_node].name.as_str());
        Node {
            node_id,
            node_name: java_trim(&of.name).to_owned(),
            whole_stage_codegen_id: cluster.and_then(codegen_id),
            metrics: metrics.collect(),
            desc: has_desc.then(|| of.text.clone()),
        }
    });
    let edges = graph.edges.iter().map(|edge| Edge { from_id: edge.from, to_id: edge.to });
    (nodes.collect(), edges.collect())
}

/// The number in `WholeStageCodegen (2)`.
fn codegen_id(name: &str) -> Option<i64> {
    java_trim(name).strip_prefix("WholeStageCodegen (")?.strip_suffix(')')?.parse().ok()
}

/// `String.trim`.
fn java_trim(text: &str) -> &str {
    text.trim_matches(|c: char| c <= ' ')
}
