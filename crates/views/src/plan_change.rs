//! What adaptive execution changed from one plan to the next, and why, as far as the plans tell.

use std::collections::BTreeMap;

use store::SqlPlan;

/// A difference between two plans.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanChange {
    /// Operators by name: how many more or fewer there are.
    pub added: Vec<(String, usize)>,
    pub removed: Vec<(String, usize)>,
    /// In words.
    pub reasons: Vec<String>,
}

const JOINS: [&str; 5] = [
    "SortMergeJoin",
    "BroadcastHashJoin",
    "ShuffledHashJoin",
    "BroadcastNestedLoopJoin",
    "CartesianProduct",
];

/// The difference between two plans of an execution.
pub fn plan_change(before: &SqlPlan, after: &SqlPlan) -> PlanChange {
    let (had, has) = (counts(before), counts(after));
    let more = |a: &BTreeMap<String, usize>, b: &BTreeMap<String, usize>| -> Vec<(String, usize)> {
        let of = |(name, n): (&String, &usize)| {
            let n = n.saturating_sub(b.get(name).copied().unwrap_or(0));
            (n > 0).then(|| (name.clone(), n))
        };
        a.iter().filter_map(of).collect()
    };
    let mut change =
        PlanChange { added: more(&has, &had), removed: more(&had, &has), reasons: Vec::new() };
    let is_join = |(name, _): &&(String, usize)| JOINS.iter().any(|join| name.starts_with(join));
    let joins = |list: &[(String, usize)]| -> Vec<String> {
        list.iter().filter(is_join).map(|(name, _)| name.clone()).collect()
    };
    let (gone, new) = (joins(&change.removed), joins(&change.added));
    if !gone.is_empty() && !new.is_empty() {
        let why = if new.iter().any(|name| name.starts_with("Broadcast")) {
            ": one side turned out small enough to send to all executors"
        } else if new.iter().any(|name| name.contains("skew=true")) {
            ": some partitions were far larger than the others and were split"
        } else {
            ""
        };
        change.reasons.push(format!(
            "join switched from {} to {}{why}",
            gone.join(", "),
            new.join(", ")
        ));
    }
    let reads = |plan: &SqlPlan, what: &str| {
        let is = |node: &&store::PlanNode| {
            node.name.starts_with("AQEShuffleRead") && node.text.contains(what)
        };
        plan.nodes.iter().filter(is).count()
    };
    for (what, why) in [
        (
            "coalesced",
            "shuffle read coalesced: partitions were small, so that a task reads several",
        ),
        ("skewed", "skewed partitions split: several tasks read what would be one task's"),
        ("local", "shuffle read made local: after the join was switched, data need not move"),
    ] {
        let n = reads(after, what).saturating_sub(reads(before, what));
        if n > 0 {
            change.reasons.push(if n == 1 { why.to_owned() } else { format!("{why} ({n} times)") });
        }
    }
    let stages =
        |plan: &SqlPlan| plan.nodes.iter().filter(|node| node.name.ends_with("QueryStage")).count();
    let n_stages = stages(after).saturating_sub(stages(before));
    if n_stages > 0 {
        let plural = if n_stages == 1 { "exchange" } else { "exchanges" };
        change.reasons.push(format!(
            "{n_stages} {plural} became a stage of its own, whose sizes are then known"
        ));
    }
    let is_emptied =
        |(name, _): &(String, usize)| name == "LocalTableScan" || name == "EmptyRelation";
    if change.added.iter().any(is_emptied) && change.removed.len() > 1 {
        change.reasons.push("a part that turned out to be empty was cut off".to_owned());
    }
    change
}

/// Operators by name, without the number of their code.
fn counts(plan: &SqlPlan) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for node in &plan.nodes {
        let name = node.name.split(" (").next().unwrap_or_default().trim();
        if !matches!(name, "InputAdapter" | "WholeStageCodegen" | "AdaptiveSparkPlan") {
            *counts.entry(name.to_owned()).or_default() += 1;
        }
    }
    counts
}
