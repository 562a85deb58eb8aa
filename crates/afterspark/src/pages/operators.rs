//! The operators of a plan as a table, and one of them in full, with the stages and tasks that ran it.

use store::StageAttemptId;

use super::plan::{Plan, scan_facts, subject};
use super::table::{Cell, Column, Link, Shown, address, number, sorted, table, words};
use super::view::{Block, View, fact};
use super::visit::Visit;
use crate::api::Answer;
use crate::text;

/// All operators, those that took most of the time first.
pub(super) fn show_all(visit: &Visit<'_>, plan: &Plan, view: &mut View) -> Result<(), Answer> {
    let nodes: Vec<usize> = (0..plan.graph.nodes.len()).filter(|at| !plan.is_code(*at)).collect();
    let shown = Shown {
        tag: "operator",
        title: "Operators, and the share of the query's task time of each",
        sort: "Share",
        descending: true,
        empty: "None: the plan is empty.",
    };
    let columns = columns(visit, plan);
    view.push(Block::table(table(visit.query(), &shown, &columns, &nodes)?));
    let elsewhere = plan.times.elsewhere.share;
    let outside = if elsewhere > 0.0 {
        format!(" {} are outside of any operator that reports something.", text::percent(elsewhere))
    } else {
        String::new()
    };
    view.note(format!(
        "Shares are exclusive and come to 100 %. An operator that measures its own time gets that; what is left of a stage's \
         task time goes in equal parts to the others that ran in it.{outside} Times of operators are sums over tasks, which \
         run beside each other, so they can exceed the time that the query took.",
    ));
    Ok(())
}

fn columns<'v>(visit: &'v Visit<'v>, plan: &'v Plan) -> Vec<Column<'v, usize>> {
    let link = |at: usize| {
        let to = address(visit.query(), "", &[("node", &at.to_string())]);
        format!("{to}#node")
    };
    let total = |names: &'static [&'static str]| move |at: &usize| plan.metric(*at, names);
    vec![
        words("Operator", "Leads to all that is known of it", move |at: &usize| {
            Cell::text(plan.name(*at))
                .exact(text::one_line(&plan.node(*at).text, 300))
                .link(link(*at))
        }),
        words("Of", "Table, keys or condition", move |at: &usize| {
            Cell::text(subject(plan.node(*at)))
        }),
        sorted(
            "Share",
            "Of the task time of the query, exclusive",
            move |at: &usize| Some((plan.times.nodes[*at].share * 1e6) as i64),
            move |at: &usize| {
                let share = plan.times.nodes[*at].share;
                let own_ms = plan.times.nodes[*at].own_ms as i64;
                let cell = Cell::text(text::percent(share)).bar([share, 0.0, 0.0]);
                cell.exact(text::duration(own_ms)).costly_if(share >= 0.25)
            },
        ),
        number("Rows in", "From all that it reads", text::count, move |at: &usize| {
            plan.rows_in(*at)
        }),
        number("Rows out", "That leave it", text::count, move |at: &usize| plan.rows[*at]),
        words("Factor", "Rows out for rows in", move |at: &usize| {
            Cell::text(plan.factor(*at).unwrap_or_default())
        }),
        sorted(
            "Expected rows",
            "That adaptive execution or the statistics expected; more than ten times off is marked",
            move |at: &usize| expected(plan, *at).map(|rows| rows as i64),
            move |at: &usize| expected_cell(plan, *at),
        ),
        number(
            "Bytes",
            "Written, read or held by it",
            text::bytes,
            total(&["shuffle bytes written", "size of files read", "written output", "data size"]),
        ),
        number("Spill", "To disk, for lack of memory", text::bytes, total(&["spill size"])),
        words("Stages", "In which it ran", move |at: &usize| {
            let stages = plan.times.stages[*at].iter().copied();
            Cell::default().links(visit.stages(stages))
        }),
    ]
}

/// Rows that the planner expected to leave a node: the statistics that stand in its text, or in that of the query stage
/// that it is part of.
fn expected(plan: &Plan, at: usize) -> Option<f64> {
    let place = plan.graph.nodes[at].plan_node;
    let own = &plan.plan.nodes[place].text;
    let above = place.checked_sub(1).map(|above| &plan.plan.nodes[above]);
    let above = above.filter(|node| node.name.ends_with("QueryStage")).map(|node| &node.text);
    [Some(own), above].into_iter().flatten().find_map(|text| {
        let rest = text.split("rowCount=").nth(1)?;
        let number = rest.split([')', ',']).next()?;
        number.trim().parse::<f64>().ok().filter(|rows| rows.is_finite())
    })
}

fn expected_cell(plan: &Plan, at: usize) -> Cell {
    let Some(expected) = expected(plan, at) else { return Cell::default() };
    let off = plan.rows[at].map(|rows| {
        let (a, b) = (expected.max(1.0), (rows as f64).max(1.0));
        (a / b).max(b / a)
    });
    let is_off = off.is_some_and(|off| off > 10.0);
    Cell::text(text::count(expected as i64)).costly_if(is_off)
}

/// One operator: its text, what it read, its metrics, stages and slowest tasks.
pub(super) fn show_node(
    visit: &Visit<'_>,
    plan: &Plan,
    at: usize,
    view: &mut View,
) -> Result<(), Answer> {
    let node = plan.node(at);
    view.heading("node", format!("Operator: {}", plan.name(at)));
    let time = plan.times.nodes[at];
    let stages = plan.times.stages[at].iter().copied();
    let mut facts = vec![
        fact(
            "Share of the task time",
            "Exclusive; see below the operators how it is known",
            Cell::text(format!(
                "{} ({})",
                text::percent(time.share),
                text::duration(time.own_ms as i64)
            )),
        ),
        fact("Rows in", "From all that it reads", optional(plan.rows_in(at))),
        fact("Rows out", "", optional(plan.rows[at])),
        fact("Ran in stages", "", Cell::default().links(visit.stages(stages))),
    ];
    if let Some(code) = plan.graph.nodes[at].cluster {
        let spent = plan.metric(code, &["duration"]).map(|ms| {
            format!("{}, {} over all its tasks together", plan.name(code), text::duration(ms))
        });
        let hint = "Operators that are compiled into one function share its time, which holds that of what they read";
        facts.push(fact(
            "Compiled into",
            hint,
            Cell::text(spent.unwrap_or_else(|| plan.name(code).to_owned())),
        ));
    }
    let reads = plan.upstream[at].iter().map(|from| Link {
        text: plan.name(*from).to_owned(),
        to: format!("{}#node", address(visit.query(), "", &[("node", &from.to_string())])),
    });
    facts.push(fact("Reads from", "", Cell::default().links(reads.collect())));
    let readers = plan.graph.edges.iter().filter(|edge| edge.from == at).map(|edge| Link {
        text: plan.name(edge.to).to_owned(),
        to: format!("{}#node", address(visit.query(), "", &[("node", &edge.to.to_string())])),
    });
    let readers: Vec<Link> = readers.collect();
    let hint = "Several: what it made is reused (ReusedExchange, a subquery), so it ran once";
    facts.push(fact("Read by", hint, Cell::default().links(readers)));
    for (name, value) in scan_facts(plan, at) {
        facts.push(fact(name, "", Cell::text(value)));
    }
    view.push(Block::Facts(facts));
    if !node.text.is_empty() {
        let (title, text) = ("Of the plan".to_owned(), node.text.clone());
        view.push(Block::Text { id: "node-text", title, text, is_open: true });
    }
    view.push(metrics(visit, plan, at)?);
    Ok(())
}

fn optional(rows: Option<i64>) -> Cell {
    Cell::text(text::or_missing(rows, text::count))
}

/// A metric, as Spark words it taken apart.
struct Metric<'p> {
    name: &'p str,
    total: String,
    spread: [String; 3],
    largest: Option<(StageAttemptId, i64)>,
}

fn metrics(visit: &Visit<'_>, plan: &Plan, at: usize) -> Result<Block, Answer> {
    let rows: Vec<Metric<'_>> = plan
        .node(at)
        .metrics
        .iter()
        .filter_map(|metric| {
            let value = plan.values.get(&metric.accumulable)?;
            let (total, spread) = taken_apart(&value.text);
            Some(Metric { name: metric.name.trim(), total, spread, largest: value.largest })
        })
        .collect();
    let shown = Shown {
        tag: "metric",
        title: "Metrics of the operator",
        sort: "Metric",
        descending: false,
        empty: "None: the operator measures nothing, or nothing was reported before the log ended.",
    };
    let spread = |at: usize| move |metric: &Metric<'_>| Cell::text(&metric.spread[at]);
    let columns = vec![
        words("Metric", "As Spark names it", |metric: &Metric<'_>| Cell::text(metric.name)),
        words("Total", "Over all tasks", |metric: &Metric<'_>| Cell::text(&metric.total)),
        words("Min", "Of a task", spread(0)),
        words("Med", "Of a task", spread(1)),
        words("Max", "Of a task", spread(2)),
        words("Task of the maximum", "Leads to it", move |metric: &Metric<'_>| {
            let Some((stage, task)) = metric.largest.filter(|_| !metric.spread[2].is_empty())
            else {
                return Cell::default();
            };
            let to = format!("{}&task.id={task}#task", visit.stage_link(stage));
            Cell::text(format!("stage {stage}, task {task}")).link(to)
        }),
    ];
    Ok(Block::table(table(visit.query(), &shown, &columns, &rows)?))
}

/// Total and spread of `total (min, med, max (stageId: taskId))\n42.2 s (351 ms, 1.8 s, 5.9 s (stage 10.0: task 27))`;
/// commas also group the digits of numbers, so parts are told apart by comma and space.
fn taken_apart(worded: &str) -> (String, [String; 3]) {
    let Some((_, values)) = worded.split_once('\n') else {
        return (worded.to_owned(), Default::default());
    };
    let (total, spread) = values.split_once('(').unwrap_or((values, ""));
    let mut parts = spread
        .split(", ")
        .map(|part| part.split(" (").next().unwrap_or_default().trim_end_matches(')').to_owned());
    let spread = std::array::from_fn(|_| parts.next().unwrap_or_default());
    (total.trim().to_owned(), spread)
}

/// By the nodes of plans, the queries that a stage attempt ran for and the operators that it ran.
pub(super) fn of_stage(visit: &Visit<'_>, id: StageAttemptId) -> Vec<Link> {
    let mut links = Vec::new();
    let Some(stage) = visit.store.stage(id) else { return links };
    let jobs = stage.job_ids.iter().filter_map(|job| views::job(visit.store, *job));
    let mut executions: Vec<i64> = jobs.filter_map(|job| job.row.sql_execution).collect();
    executions.dedup();
    let ids = visit.store.tasks(id).accumulable_ids();
    for execution in executions {
        let Some(line) = views::sql_execution(visit.store, execution) else { continue };
        let plan = line.row.plans.last().and_then(|plan| visit.store.plan(plan));
        let Some(plan) = plan else { continue };
        let graph = views::plan_graph(&plan);
        for (at, node) in graph.nodes.iter().enumerate() {
            let node = &plan.nodes[node.plan_node];
            let ran = node.metrics.iter().any(|metric| {
                u64::try_from(metric.accumulable).is_ok_and(|id| ids.binary_search(&id).is_ok())
            });
            if ran && !node.name.starts_with(super::plan::CODE) {
                let to = format!("{}&node={at}#node", visit.sql_link(execution));
                let subject = subject(node);
                let text = format!("{} {}", node.name.trim(), text::one_line(&subject, 30));
                links.push(Link { text: text.trim().to_owned(), to });
            }
        }
    }
    links
}
