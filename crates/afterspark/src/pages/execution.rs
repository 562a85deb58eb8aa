//! `SQL/execution/?id=`: one SQL execution: its plan with what each operator did, what adaptive execution changed, its text,
//! jobs, and parts.

use store::{SqlPlan, TaskColumn as C};
use views::{SqlLine, SqlStatus};

use super::jobs::{self, spill_cell};
use super::operators;
use super::plan::{self, NODES_MAX, Plan, Style};
use super::sql::jobs_cell;
use super::table::{Cell, Link, Shown, address, table, words};
use super::view::{Block, Line, Markup, View, fact};
use super::visit::Visit;
use super::{Page, Tab};
use crate::api::Answer;
use crate::text;

pub(super) const PAGE: Page = Page { path: &["SQL", "execution"], tab: Tab::Below, view };

fn view(visit: &Visit<'_>) -> Result<View, Answer> {
    let Some(id) = visit.asked::<i64>("id") else {
        return Ok(View::nothing(400, "The address lacks the id of a query: SQL/execution/?id=0."));
    };
    let Some(line) = views::sql_execution(visit.store, id) else {
        let why = format!("The application has no query {id}, or the log lost its start.");
        return Ok(View::nothing(404, why));
    };
    let mut view = View::new(format!("Query {id}"));
    view.scripts.push("plan.js");
    view.trail
        .push(Link { text: "SQL / DataFrame".to_owned(), to: format!("{}/SQL/", visit.base) });
    if line.root_id != id {
        let to = visit.sql_link(line.root_id);
        view.trail.push(Link { text: format!("Query {}", line.root_id), to });
    }
    if let Some(error) = line.row.error.map(|text| visit.text(text)).filter(|e| !e.is_empty()) {
        let text = format!("The query failed: {}", text::one_line(error, 300));
        view.push(Block::Alarm { text, details: error.to_owned() });
    }
    let n_plans = line.row.plans.len();
    let last = n_plans.saturating_sub(1);
    let at = visit.asked::<usize>("plan").unwrap_or(last).min(last);
    let plans: Vec<SqlPlan> =
        line.row.plans.iter().filter_map(|plan| visit.store.plan(plan)).collect();
    let plan = plans.get(at).cloned().map(|plan| with_all(visit, &line, plan));
    if let Some(form) = visit.query().first("export") {
        return Err(export(form, plan.as_ref()));
    }
    view.push(Block::Facts(facts(visit, &line)));
    match &plan {
        Some(plan) => show_plan(visit, plan, &mut view)?,
        None => view.note("The log holds no plan of this query: it failed before it was planned, or the events are lost."),
    }
    show_changes(visit, &plans, at, &mut view);
    show_texts(visit, &line, plans.get(at), &mut view);
    show_jobs(visit, &line, &mut view)?;
    show_parts(visit, &line, &mut view)?;
    show_settings(visit, &line, &mut view)?;
    Ok(view)
}

fn with_all(visit: &Visit<'_>, line: &SqlLine<'_>, plan: SqlPlan) -> Plan {
    let graph = views::plan_graph(&plan);
    let values = views::sql_metrics(visit.store, line.row, &plan, &graph);
    let times = views::node_times(visit.store, line.row, &plan, &graph, &values);
    let mut upstream = vec![Vec::new(); graph.nodes.len()];
    for edge in &graph.edges {
        upstream[edge.to].push(edge.from);
    }
    let rows = plan::rows(&plan, &graph, &values, &upstream);
    Plan { plan, graph, values, times, rows, upstream }
}

fn facts(visit: &Visit<'_>, line: &SqlLine<'_>) -> Vec<super::view::Fact> {
    let row = line.row;
    let work = views::work(visit.store);
    let work = work.sql.get(&row.id);
    let sum = |column| work.and_then(|work| work.sum(column));
    let status = Cell::text(line.status.name()).bad_if(line.status == SqlStatus::Failed);
    let mut facts = vec![
        fact("Status", "", status),
        fact("Description", "", Cell::folded(visit.text(row.description), 200)),
        fact("Submitted", "When it began", visit.instant(Some(row.started_at_ms))),
        fact(
            "Duration",
            "Start to end; to the last event while it runs",
            Cell::text(text::duration(line.duration_ms)).exact(format!("{} ms", line.duration_ms)),
        ),
        fact("Jobs", "Of the query; those that failed first", jobs_cell(visit, line)),
        fact(
            "Task time",
            jobs::TASK_TIME,
            Cell::text(text::or_missing(sum(C::executor_run_ms), text::duration)),
        ),
        fact(
            "Spill",
            jobs::SPILL,
            spill_cell(sum(C::spill_disk_bytes), work.and_then(views::Work::spill_to_read)),
        ),
    ];
    if line.root_id != row.id {
        let cell = Cell::text(line.root_id.to_string()).link(visit.sql_link(line.root_id));
        facts.push(fact("Parent execution", "That it is part of", cell));
    }
    if let Some(group) = row.job_group {
        facts.push(fact("Job group", "", Cell::text(visit.text(group))));
    }
    let tags = jobs::tags_text(visit, &row.job_tags);
    if !tags.is_empty() {
        facts.push(fact("Job tags", "", Cell::text(tags)));
    }
    if let Some(id) = row.query_id {
        facts.push(fact("Query ID", "Unique everywhere", Cell::text(visit.text(id))));
    }
    facts
}

/// Switches of the drawing: parameter, value, and what it does.
const SWITCHES: [(&str, &str, &str); 4] = [
    ("code", "show", "frames of compiled code"),
    ("noise", "hide", "without what only passes rows on"),
    ("flow", "right", "left to right"),
    ("focus", "hot", "only the hot path in full colour"),
];

fn show_plan(visit: &Visit<'_>, plan: &Plan, view: &mut View) -> Result<(), Answer> {
    let is_on = |name: &str, value: &str| visit.query().first(name) == Some(value);
    let style = Style {
        has_code: is_on("code", "show"),
        is_short: is_on("noise", "hide"),
        is_wide: is_on("flow", "right"),
        is_focused: is_on("focus", "hot"),
    };
    view.heading("graph", "Plan");
    let switches = SWITCHES.iter().map(|(name, value, title)| {
        let on = is_on(name, value);
        let mark = if on { "☑" } else { "☐" };
        let to = address(visit.query(), "", &[(name, if on { "" } else { value })]);
        Link { text: format!("{mark} {title}"), to: format!("{to}#graph") }
    });
    view.push(Block::Links { title: "", links: switches.collect() });
    let chosen = visit.asked::<usize>("node").filter(|at| *at < plan.graph.nodes.len());
    let link = |at: usize| {
        let to = address(visit.query(), "", &[("node", &at.to_string())]);
        format!("{to}#node")
    };
    let mut markup = Markup::default();
    markup.raw("<div class=\"tools\" data-script hidden id=\"plan-tools\"><label>Find an operator <input id=\"plan-search\" \
                type=\"search\"></label> <output id=\"plan-count\"></output><button id=\"plan-in\" type=\"button\" \
                aria-label=\"Larger\">+</button><button id=\"plan-out\" type=\"button\" aria-label=\"Smaller\">−</button>\
                <button id=\"plan-fit\" type=\"button\">All</button><span class=\"n\">Drag to move, Ctrl and wheel to \
                zoom</span></div><div id=\"plan-frame\"><div id=\"plan-view\" class=\"graph\" tabindex=\"0\" role=\"region\" \
                aria-label=\"Plan\">");
    view.push(Block::Markup(markup));
    view.push(Block::Markup(plan::draw(plan, style, chosen, &link)));
    let mut markup = Markup::default();
    markup.raw("</div><div id=\"plan-map\" data-script hidden aria-hidden=\"true\"></div></div>");
    view.push(Block::Markup(markup));
    if plan.graph.nodes.len() > NODES_MAX {
        view.note(format!(
            "Only the first {NODES_MAX} of {} operators are drawn.",
            plan.graph.nodes.len()
        ));
    }
    let export = |form| address(visit.query(), "", &[("export", form)]);
    let files = [("SVG", "svg"), ("DOT", "dot"), ("TXT", "txt")];
    let files = files.map(|(text, form)| Link { text: text.to_owned(), to: export(form) });
    view.push(Block::Links { title: "Download the plan as", links: files.into() });
    if let Some(at) = chosen {
        operators::show_node(visit, plan, at, view)?;
    }
    operators::show_all(visit, plan, view)
}

fn export(form: &str, plan: Option<&Plan>) -> Answer {
    let Some(plan) = plan else { return Answer::text(404, "the query has no plan") };
    let (content_type, text) = match form {
        "svg" => {
            let style = Style { has_code: true, ..Style::default() };
            ("image/svg+xml", plan::draw(plan, style, None, &|_| String::new()).to_string())
        }
        "dot" => ("text/vnd.graphviz; charset=utf-8", plan::dot(plan)),
        "txt" => ("text/plain; charset=utf-8", plan.plan.formatted.clone()),
        _ => return Answer::text(400, "export is svg, dot or txt"),
    };
    let name = format!("attachment; filename=plan.{form}");
    Answer::of(200, content_type, text.into_bytes()).with_header("content-disposition", name)
}

/// The plan after each change of adaptive execution, and the first and the last side by side.
fn show_changes(visit: &Visit<'_>, plans: &[SqlPlan], shown: usize, view: &mut View) {
    if plans.len() < 2 {
        return;
    }
    view.heading("changes", "What adaptive execution changed");
    // of more steps than anybody reads, the first and the last
    let from = plans.len().saturating_sub(STEPS_MAX);
    let steps: Vec<usize> = (0..plans.len()).filter(|at| *at == 0 || *at >= from).collect();
    let mut list = Markup::default();
    list.raw("<ol class=\"steps\">");
    for (place, at) in steps.iter().copied().enumerate() {
        let (name, told) = match place.checked_sub(1) {
            None => ("Initial plan".to_owned(), vec!["as planned before anything ran".to_owned()]),
            Some(before) => {
                let is_last = if at + 1 == plans.len() { ", final" } else { "" };
                (format!("Plan {at}{is_last}"), told(&plans[steps[before]], &plans[at]))
            }
        };
        let to = address(visit.query(), "", &[("plan", &at.to_string()), ("node", "")]);
        list.raw("<li").attribute("class", if shown == at { "chosen" } else { "" }).raw("><a");
        list.attribute("href", &format!("{to}#graph")).raw(">").text(&name).raw("</a>");
        for line in &told {
            list.raw("<br>").text(line);
        }
        list.raw("</li>");
    }
    list.raw("</ol>");
    view.push(Block::Markup(list));
    let (first, last) = (tree(&plans[0]), tree(&plans[plans.len() - 1]));
    let lines = beside(&first, &last);
    let (left, right) = ("Initial plan".to_owned(), "Final plan".to_owned());
    view.push(Block::Beside { left, right, lines });
}

/// The difference between two plans, in words.
fn told(before: &SqlPlan, after: &SqlPlan) -> Vec<String> {
    let change = views::plan_change(before, after);
    let words_of = |what: &str, list: &[(String, usize)]| {
        let one = |(name, n): &(String, usize)| {
            if *n == 1 { name.clone() } else { format!("{n} {name}") }
        };
        let names = list.iter().map(one).collect::<Vec<_>>().join(", ");
        (!list.is_empty()).then(|| format!("{what}: {names}"))
    };
    let mut told = change.reasons;
    told.extend(words_of("new", &change.added));
    told.extend(words_of("gone", &change.removed));
    if told.is_empty() {
        told.push("the same operators".to_owned());
    }
    told
}

/// Steps that are told of one execution.
const STEPS_MAX: usize = 30;

/// Operators, each further in than what reads from it.
fn tree(plan: &SqlPlan) -> Vec<(String, String)> {
    let nodes = plan.nodes.iter().take(NODES_MAX);
    let is_plain =
        |node: &&store::PlanNode| !node.name.starts_with(plan::CODE) && node.name != "InputAdapter";
    nodes
        .filter(is_plain)
        .map(|node| {
            let depth = usize::try_from(node.depth).unwrap_or(0).min(DEPTH_MAX);
            let subject = plan::subject(node);
            let line = format!("{}{} {subject}", "· ".repeat(depth), node.name.trim());
            (node.name.trim().to_owned(), line)
        })
        .collect()
}

/// How far in a line goes.
const DEPTH_MAX: usize = 40;

/// Two lists of lines with what is alike at the same height, by their longest common subsequence.
fn beside(left: &[(String, String)], right: &[(String, String)]) -> Vec<[Line; 2]> {
    let (n, m) = (left.len(), right.len());
    let line = |of: &(String, String), is_changed| Line { text: of.1.clone(), is_changed };
    let mut out = Vec::new();
    if n * m > CELLS_MAX {
        for at in 0..n.max(m) {
            let of = |list: &[(String, String)]| {
                list.get(at).map_or_else(Line::default, |of| line(of, false))
            };
            out.push([of(left), of(right)]);
        }
        return out;
    }
    let mut length = vec![vec![0_u32; m + 1]; n + 1];
    for a in (0..n).rev() {
        for b in (0..m).rev() {
            length[a][b] = if left[a].0 == right[b].0 {
                length[a + 1][b + 1] + 1
            } else {
                length[a + 1][b].max(length[a][b + 1])
            };
        }
    }
    let (mut a, mut b) = (0, 0);
    while a < n || b < m {
        if a < n && b < m && left[a].0 == right[b].0 {
            out.push([line(&left[a], false), line(&right[b], false)]);
            (a, b) = (a + 1, b + 1);
        } else if b == m || a < n && length[a + 1][b] >= length[a][b + 1] {
            out.push([line(&left[a], true), Line::default()]);
            a += 1;
        } else {
            out.push([Line::default(), line(&right[b], true)]);
            b += 1;
        }
    }
    out
}

/// Pairs of lines that are compared; beyond, lists stand side by side as they are.
const CELLS_MAX: usize = 4_000_000;

fn show_texts(visit: &Visit<'_>, line: &SqlLine<'_>, plan: Option<&SqlPlan>, view: &mut View) {
    view.heading("texts", "Texts");
    let description = visit.text(line.row.description);
    if !description.is_empty() {
        let (title, text) = ("Text or description".to_owned(), description.to_owned());
        view.push(Block::Text { id: "description", title, text, is_open: true });
    }
    let stack = without_lambdas(visit.text(line.row.details));
    if !stack.is_empty() {
        let title = "Where the driver's code asked for it".to_owned();
        view.push(Block::Text { id: "details", title, text: stack, is_open: false });
    }
    if let Some(plan) = plan.filter(|plan| !plan.formatted.is_empty()) {
        let (title, text) = ("Plan in full".to_owned(), plan.formatted.clone());
        view.push(Block::Text { id: "plan-details", title, text, is_open: false });
    }
    view.note(
        "Spark writes the text of a query to the log only as its description: where the driver's code set a job description \
         or group, that stands in its place.",
    );
}

/// A call stack without frames that tell nothing: reflection, and lambdas of the JVM.
fn without_lambdas(stack: &str) -> String {
    let is_noise = |line: &&str| {
        let line = line.trim();
        [
            "java.base/jdk.internal.reflect.",
            "java.base/java.lang.reflect.",
            "jdk.internal.reflect.",
            "py4j.",
        ]
        .iter()
        .any(|noise| line.starts_with(noise))
            || line.contains("$$Lambda$")
    };
    stack.lines().filter(|line| !is_noise(line)).collect::<Vec<_>>().join("\n")
}

fn show_jobs(visit: &Visit<'_>, line: &SqlLine<'_>, view: &mut View) -> Result<(), Answer> {
    let own = line.row.jobs.iter().filter_map(|(id, _)| views::job(visit.store, *id));
    let own: Vec<views::JobLine<'_>> = own.collect();
    let work = views::work(visit.store);
    let rows: Vec<jobs::Row<'_>> =
        own.iter().map(|job| jobs::Row { job, work: work.job.get(&job.row.id) }).collect();
    let shown = Shown {
        tag: "job",
        title: "Associated jobs",
        sort: "Duration",
        descending: true,
        empty: "None: the query ran on the driver alone, or the work is in a part of it (below).",
    };
    view.push(Block::table(table(visit.query(), &shown, &jobs::columns(visit), &rows)?));
    Ok(())
}

/// Executions that belong to the same, merged into one list as a tree.
fn show_parts(visit: &Visit<'_>, line: &SqlLine<'_>, view: &mut View) -> Result<(), Answer> {
    let all = views::sql_executions(visit.store, views::Scope::default());
    let family: Vec<&SqlLine<'_>> =
        all.iter().filter(|other| other.root_id == line.root_id).collect();
    if family.len() < 2 {
        return Ok(());
    }
    let columns = vec![
        words("Query", "Its id; parts stand further in", move |part: &&SqlLine<'_>| {
            let id = part.row.id;
            let text = if part.root_id == id { id.to_string() } else { format!("↳ {id}") };
            Cell::text(text).link(visit.sql_link(id))
        }),
        words("Status", "", |part: &&SqlLine<'_>| {
            Cell::text(part.status.name()).bad_if(part.status == SqlStatus::Failed)
        }),
        words("Description", "", move |part: &&SqlLine<'_>| {
            Cell::text(text::one_line(visit.text(part.row.description), 100))
        }),
        super::table::number("Duration", "Start to end", text::duration, |part: &&SqlLine<'_>| {
            Some(part.duration_ms)
        }),
        words("Jobs", "Of the part", move |part: &&SqlLine<'_>| jobs_cell(visit, part)),
    ];
    let shown = Shown {
        tag: "sub",
        title: "The query and its parts",
        sort: "Duration",
        descending: true,
        empty: "None.",
    };
    view.push(Block::table(table(visit.query(), &shown, &columns, &family)?));
    Ok(())
}

fn show_settings(visit: &Visit<'_>, line: &SqlLine<'_>, view: &mut View) -> Result<(), Answer> {
    let redaction = visit.call.settings().redaction();
    let pairs: Vec<(&str, &str)> = line
        .row
        .modified_configs
        .iter()
        .map(|(name, value)| (visit.text(*name), visit.text(*value)))
        .map(|(name, value)| (name, redaction.redact(name, value)))
        .collect();
    if pairs.is_empty() {
        return Ok(());
    }
    let columns = vec![
        words("Name", "Of the setting", |pair: &(&str, &str)| Cell::text(pair.0)),
        words("Value", "In the session of the query", |pair: &(&str, &str)| Cell::text(pair.1)),
    ];
    let shown = Shown {
        tag: "configs",
        title: "Settings that the session had changed",
        sort: "Name",
        descending: false,
        empty: "None.",
    };
    view.push(Block::table(table(visit.query(), &shown, &columns, &pairs)?));
    Ok(())
}
