//! What the time of an SQL execution went to, by the nodes of its plan.
//!
//! Spark measures few operators by themselves. The run time of the tasks of each stage is divided among the nodes that
//! reported something in it: a node that measures its own time gets that; what is left goes in equal parts to the others.
//! So shares are exclusive and come to 100 %; they are exact for what is measured and an estimate for the rest.

use hashbrown::HashMap;
use store::{SqlExecution, SqlPlan, StageAttemptId, Store, TaskColumn as C};

use crate::{PlanGraph, SqlMetrics, plan_graph::WHOLE_STAGE_CODEGEN};

/// Time of a plan node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NodeTime {
    /// Run time of tasks that is the node's own.
    pub own_ms: f64,
    /// Of the run time of all tasks of the execution.
    pub share: f64,
}

/// Times of all nodes of a graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeTimes {
    /// By the graph's nodes.
    pub nodes: Vec<NodeTime>,
    /// Of stages in which no node reported anything.
    pub elsewhere: NodeTime,
    /// Run time of all tasks of the execution.
    pub task_run_ms: i64,
    /// The stage attempts in which each node reported something.
    pub stages: Vec<Vec<StageAttemptId>>,
}

/// Durations that do not count tasks' time: requests run beside each other, and the driver is no task.
const OUTSIDE: [&str; 2] = ["remote reqs duration", "remote merged reqs duration"];
/// Holds the time of what it reads from, too.
const WITH_CHILDREN: &str = "time in aggregation build";

/// Divides the time of an execution.
pub fn node_times(
    store: &Store,
    row: &SqlExecution,
    plan: &SqlPlan,
    graph: &PlanGraph,
    values: &SqlMetrics,
) -> NodeTimes {
    let n = graph.nodes.len();
    let mut times = NodeTimes {
        nodes: vec![NodeTime::default(); n],
        stages: vec![Vec::new(); n],
        ..NodeTimes::default()
    };
    // by stage the nodes in it, with their own time where they measure it
    let mut within: HashMap<StageAttemptId, Vec<(usize, Option<Own>)>> = HashMap::new();
    for (at, node) in graph.nodes.iter().enumerate() {
        let plan_node = &plan.nodes[node.plan_node];
        let is_code = plan_node.name.starts_with(WHOLE_STAGE_CODEGEN);
        let mut own: HashMap<StageAttemptId, Option<Own>> = HashMap::new();
        for metric in &plan_node.metrics {
            let Some(value) = values.get(&metric.accumulable) else { continue };
            for (stage, sum) in &value.by_stage {
                let own = own.entry(*stage).or_default();
                let ms = match metric.kind.as_str() {
                    "timing" => *sum as f64,
                    "nsTiming" => *sum as f64 / 1e6,
                    _ => continue,
                };
                if !OUTSIDE.contains(&metric.name.as_str()) {
                    let own = own.get_or_insert_default();
                    own.ms += ms.max(0.0);
                    own.has_children |= metric.name == WITH_CHILDREN;
                }
            }
        }
        let mut stages: Vec<StageAttemptId> = own.keys().copied().collect();
        stages.sort_unstable();
        for stage in &stages {
            if !is_code && let Some(own) = own.get(stage) {
                within.entry(*stage).or_default().push((at, *own));
            }
        }
        times.stages[at] = stages;
    }
    let upstream = upstream(graph);
    for counted in &row.counted {
        let run_ms = store.stage(counted.stage).map_or(0, |stage| stage.sums[C::executor_run_ms]);
        let run_ms = run_ms.max(0);
        times.task_run_ms = times.task_run_ms.saturating_add(run_ms);
        match within.remove(&counted.stage) {
            Some(nodes) => divide(run_ms as f64, nodes, &upstream, &mut times.nodes),
            None => times.elsewhere.own_ms += run_ms as f64,
        }
    }
    let all: f64 = times.nodes.iter().map(|node| node.own_ms).sum::<f64>() + times.elsewhere.own_ms;
    if all > 0.0 {
        for node in times.nodes.iter_mut().chain([&mut times.elsewhere]) {
            node.share = node.own_ms / all;
        }
    }
    times
}

/// What a node measured in a stage.
#[derive(Clone, Copy, Debug, Default)]
struct Own {
    ms: f64,
    has_children: bool,
}

fn divide(
    run_ms: f64,
    mut nodes: Vec<(usize, Option<Own>)>,
    upstream: &[Vec<usize>],
    times: &mut [NodeTime],
) {
    // a node comes before what it reads from, so that the last are made exclusive first
    for place in (0..nodes.len()).rev() {
        if let (at, Some(own)) = nodes[place]
            && own.has_children
        {
            let mut below = Vec::new();
            let mut open = upstream[at].clone();
            while let Some(from) = open.pop() {
                if nodes.iter().any(|(node, _)| *node == from) && !below.contains(&from) {
                    below.push(from);
                    open.extend(&upstream[from]);
                }
            }
            let known = |(node, own): &(usize, Option<Own>)| {
                own.filter(|_| below.contains(node)).map_or(0.0, |own| own.ms)
            };
            let children_ms: f64 = nodes.iter().map(known).sum();
            nodes[place].1 = Some(Own { ms: (own.ms - children_ms).max(0.0), has_children: false });
        }
    }
    let measured_ms: f64 = nodes.iter().filter_map(|(_, own)| *own).map(|own| own.ms).sum();
    let n_others = nodes.iter().filter(|(_, own)| own.is_none()).count();
    let rest_ms = (run_ms - measured_ms).max(0.0);
    // what measures more than there is, is made to fit; where all measure, they share what is left
    let factor = match n_others {
        _ if measured_ms > run_ms => run_ms / measured_ms,
        0 if measured_ms > 0.0 => run_ms / measured_ms,
        _ => 1.0,
    };
    let n_all = nodes.len() as f64;
    for (at, own) in nodes {
        times[at].own_ms += match own {
            Some(_) if measured_ms <= 0.0 && n_others == 0 => rest_ms / n_all,
            Some(own) => own.ms * factor,
            None => rest_ms / n_others as f64,
        };
    }
}

/// For each node those that it reads from.
fn upstream(graph: &PlanGraph) -> Vec<Vec<usize>> {
    let mut upstream = vec![Vec::new(); graph.nodes.len()];
    for edge in &graph.edges {
        if let Some(of) = upstream.get_mut(edge.to) {
            of.push(edge.from);
        }
    }
    upstream
}
