//! A plan as the graph that Spark draws of it: `SparkPlanGraph`, node for node with the same ids.

use hashbrown::HashMap;
use store::{PlanNode, SqlPlan};

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanGraph {
    /// By id, which count from 0.
    pub nodes: Vec<PlanGraphNode>,
    pub edges: Vec<PlanEdge>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanGraphNode {
    /// Index in [`SqlPlan::nodes`].
    pub plan_node: usize,
    /// The node of the generated code that this one is compiled into.
    pub cluster: Option<usize>,
}

/// Rows flow from one node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanEdge {
    pub from: usize,
    pub to: usize,
}

/// Code that is generated for several operators is a node with this name, and theirs around them.
pub(crate) const WHOLE_STAGE_CODEGEN: &str = "WholeStageCodegen";

/// The graph of a plan.
pub fn plan_graph(plan: &SqlPlan) -> PlanGraph {
    let nodes = &plan.nodes;
    let ends = subtree_ends(nodes);
    let kinds = kinds(nodes, &ends);
    let mut graph = PlanGraph::default();
    // exchanges and subqueries by what they are: Spark finds a reused one by that
    let mut exchanges: HashMap<u32, usize> = HashMap::new();
    let mut open = Vec::new();
    if !nodes.is_empty() {
        open.push(Visit { at: 0, parent: None, cluster: None });
    }
    while let Some(Visit { at, parent, cluster }) = open.pop() {
        let name = nodes[at].name.as_str();
        let child = (at + 1 < ends[at]).then_some(at + 1);
        // what stands in for its only child; one that lacks it is not drawn
        let below = |cluster| child.map(|at| Visit { at, parent, cluster });
        let reused = |at: usize| exchanges.get(&kinds[at]).copied();
        let edge = |from| parent.map(|to| PlanEdge { from, to });
        match name {
            _ if name.starts_with(WHOLE_STAGE_CODEGEN) => {
                let id = graph.nodes.len();
                graph.nodes.push(PlanGraphNode { plan_node: at, cluster: None });
                open.extend(below(Some(id)));
            }
            "InputAdapter" | "TableCacheQueryStage" | "ResultQueryStage" => {
                open.extend(below(None));
            }
            "BroadcastQueryStage" | "ShuffleQueryStage" => match child.and_then(reused) {
                Some(known) => graph.edges.extend(edge(known)),
                None => open.extend(below(None)),
            },
            // a subquery is never part of the code around it
            "Subquery" if cluster.is_some() => open.push(Visit { at, parent, cluster: None }),
            "Subquery" if reused(at).is_some() => {
                let edge = reused(at).and_then(edge);
                graph.edges.extend(edge.filter(|edge| !graph.edges.contains(edge)));
            }
            "ReusedSubquery" => open.extend(below(cluster)),
            "ReusedExchange" if child.and_then(reused).is_some() => {
                graph.edges.extend(child.and_then(reused).and_then(edge));
            }
            _ => {
                let id = graph.nodes.len();
                graph.nodes.push(PlanGraphNode { plan_node: at, cluster });
                if name.contains("Exchange") || name == "Subquery" {
                    exchanges.insert(kinds[at], id);
                }
                graph.edges.extend(edge(id));
                let first = open.len();
                let mut child = at + 1;
                while child < ends[at] {
                    open.push(Visit { at: child, parent: Some(id), cluster });
                    child = ends[child];
                }
                open[first..].reverse();
            }
        }
    }
    graph
}

struct Visit {
    at: usize,
    parent: Option<usize>,
    cluster: Option<usize>,
}

/// For each node the index after its last descendant.
fn subtree_ends(nodes: &[PlanNode]) -> Vec<usize> {
    let mut ends = vec![nodes.len(); nodes.len()];
    // nodes whose subtree is still open, by depth
    let mut open: Vec<usize> = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        while let Some(last) = open.pop_if(|last| nodes[*last].depth >= node.depth) {
            ends[last] = at;
        }
        open.push(at);
    }
    ends
}

/// A number for each subtree, the same where name, text and children are.
fn kinds(nodes: &[PlanNode], ends: &[usize]) -> Vec<u32> {
    let mut known: HashMap<(&str, &str, Vec<u32>), u32> = HashMap::new();
    let mut kinds = vec![0; nodes.len()];
    for at in (0..nodes.len()).rev() {
        let mut children = Vec::new();
        let mut child = at + 1;
        while child < ends[at] {
            children.push(kinds[child]);
            child = ends[child];
        }
        let next = known.len() as u32;
        kinds[at] = *known.entry((&nodes[at].name, &nodes[at].text, children)).or_insert(next);
    }
    kinds
}
