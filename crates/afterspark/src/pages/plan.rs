//! The plan of an SQL execution as a graph: scans at the top, the result at the bottom. Boxes hold the few metrics that
//! matter for their operator, colours the share of the time, edges the rows.

use std::collections::HashMap;
use std::fmt::Write as _;

use store::{PlanNode, SqlPlan};
use views::{NodeTimes, PlanGraph, SqlMetrics, spark_bytes};

use super::dag::{BOLD, Flow, columns, edge, edge_width};
use super::graph::{self, Placed};
use super::view::Markup;
use crate::text;

/// Nodes that are drawn. A plan of more is drawn without its last.
pub(super) const NODES_MAX: usize = 3_000;
const LINE_HEIGHT: f64 = 16.0;
const PADDING: f64 = 8.0;
const LETTER: f64 = 6.7;
const WIDTH: (f64, f64) = (120.0, 290.0);

/// A plan with all that is known of it.
pub(super) struct Plan {
    pub(super) plan: SqlPlan,
    pub(super) graph: PlanGraph,
    pub(super) values: SqlMetrics,
    pub(super) times: NodeTimes,
    /// Rows that leave each node, as far as they are known.
    pub(super) rows: Vec<Option<i64>>,
    pub(super) upstream: Vec<Vec<usize>>,
}

/// How a plan is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    /// Frames around what is compiled into one function.
    pub(super) has_code: bool,
    /// Without nodes that only pass rows on.
    pub(super) is_short: bool,
    /// Data flows to the right.
    pub(super) is_wide: bool,
    /// What takes hardly any time is faint.
    pub(super) is_focused: bool,
}

/// Nodes that only pass rows on.
const PASSING: [&str; 6] = [
    "Project",
    "ColumnarToRow",
    "InputAdapter",
    "AdaptiveSparkPlan",
    "RowToColumnar",
    "WriteFiles",
];

pub(super) const CODE: &str = "WholeStageCodegen";

impl Plan {
    pub(super) fn node(&self, at: usize) -> &PlanNode {
        &self.plan.nodes[self.graph.nodes[at].plan_node]
    }

    /// The first metric of a node with one of some names.
    pub(super) fn metric(&self, at: usize, names: &[&str]) -> Option<i64> {
        let of = |name: &&str| self.node(at).metrics.iter().find(|metric| metric.name == **name);
        let metric = names.iter().find_map(of)?;
        self.values.get(&metric.accumulable)?.total
    }

    pub(super) fn is_code(&self, at: usize) -> bool {
        self.node(at).name.starts_with(CODE)
    }

    /// What people call a node.
    pub(super) fn name(&self, at: usize) -> &str {
        self.node(at).name.trim()
    }

    /// Rows that reach a node from all that it reads.
    pub(super) fn rows_in(&self, at: usize) -> Option<i64> {
        let rows = self.upstream[at].iter().map(|from| self.rows[*from]);
        rows.reduce(|a, b| Some(a?.saturating_add(b?))).flatten()
    }

    /// How many rows leave for each that comes, at filters, joins and what makes rows of rows: `0.3 % kept`, `×12 rows`.
    pub(super) fn factor(&self, at: usize) -> Option<String> {
        let name = self.name(at);
        let is_join = name.contains("Join") || name == "CartesianProduct";
        if !(is_join || name.starts_with("Filter") || matches!(name, "Generate" | "Expand")) {
            return None;
        }
        let out = self.rows[at]?;
        let largest = self.upstream[at].iter().filter_map(|from| self.rows[*from]).max();
        let into = if is_join { largest? } else { self.rows_in(at)? };
        if into <= 0 {
            return None;
        }
        let factor = out as f64 / into as f64;
        Some(if factor > 1.05 {
            format!("×{} rows", text::times(factor).trim_end_matches('×'))
        } else {
            format!("{} of rows kept", text::percent(factor))
        })
    }
}

/// Rows that leave each node: what it says, or what passes through it.
pub(super) fn rows(
    plan: &SqlPlan,
    graph: &PlanGraph,
    values: &SqlMetrics,
    upstream: &[Vec<usize>],
) -> Vec<Option<i64>> {
    let said = |at: usize| {
        let node = &plan.nodes[graph.nodes[at].plan_node];
        let of = |name: &&str| node.metrics.iter().find(|metric| metric.name == **name);
        let metric = ["number of output rows", "shuffle records written", "records read"];
        let metric = metric.iter().find_map(of)?;
        values.get(&metric.accumulable)?.total
    };
    let mut rows: Vec<Option<i64>> = vec![None; graph.nodes.len()];
    // what a node reads from has a higher id, but for what is reused
    for at in (0..graph.nodes.len()).rev() {
        let passed = || upstream[at].iter().map(|from| rows[*from]);
        let name = plan.nodes[graph.nodes[at].plan_node].name.trim();
        let keeps_rows = !name.contains("Aggregate") && !name.contains("Limit");
        rows[at] = said(at).or_else(|| {
            if !keeps_rows || upstream[at].is_empty() {
                return None;
            }
            passed().reduce(|a, b| Some(a?.saturating_add(b?))).flatten()
        });
    }
    rows
}

/// What stands in the box of a node, the name first.
fn lines(plan: &Plan, at: usize) -> Vec<String> {
    let node = plan.node(at);
    let name = plan.name(at);
    let mut lines = vec![name.to_owned()];
    let told = subject(node);
    if !told.is_empty() {
        lines.push(told);
    }
    let count = |names: &[&str], what: &str| {
        plan.metric(at, names).map(|n| format!("{} {what}", text::count(n)))
    };
    let bytes = |names: &[&str], what: &str| {
        plan.metric(at, names).filter(|n| *n > 0).map(|n| format!("{what} {}", text::bytes(n)))
    };
    let time = |names: &[&str], what: &str| {
        plan.metric(at, names).filter(|n| *n > 0).map(|n| format!("{what} {}", text::duration(n)))
    };
    let mut metrics: Vec<Option<String>> = Vec::new();
    if name.starts_with("Scan") || name.starts_with("BatchScan") {
        metrics.push(count(&["number of output rows"], "rows"));
        let read = bytes(&["size of files read"], "read");
        metrics.push(read.map(|read| {
            let files = count(&["number of files read"], "files");
            files.map_or_else(|| read.clone(), |files| format!("{read}, {files}"))
        }));
        metrics.push(count(&["number of partitions read"], "partitions"));
    } else if name.contains("Exchange") || name.starts_with("ShuffleExchange") {
        metrics.push(bytes(&["shuffle bytes written", "data size"], "wrote"));
        metrics.push(count(&["shuffle records written", "number of output rows"], "rows"));
        metrics.push(time(&["fetch wait time", "time to broadcast"], "waited"));
    } else if name.starts_with("AQEShuffleRead") {
        metrics.push(count(&["number of partitions"], "partitions"));
        metrics.push(count(&["number of coalesced partitions"], "coalesced"));
        metrics.push(count(&["number of skewed partition splits"], "splits of skewed ones"));
    } else {
        metrics.push(count(&["number of output rows"], "rows"));
        metrics.push(plan.factor(at));
        metrics.push(time(
            &["sort time", "time in aggregation build", "time to build hash map"],
            "took",
        ));
        metrics.push(bytes(&["data sent to Python workers"], "to Python"));
        metrics.push(bytes(&["written output"], "wrote"));
    }
    metrics.push(bytes(&["spill size"], "spilled"));
    lines.extend(metrics.into_iter().flatten().take(METRICS_MAX));
    lines
}

/// Metrics in a box.
const METRICS_MAX: usize = 4;

/// What an operator is about: the table of a scan, the keys of a join, the condition of a filter.
pub(super) fn subject(node: &PlanNode) -> String {
    let name = node.name.trim();
    let rest = node.text.strip_prefix(name).unwrap_or(&node.text).trim();
    let of = |key: &str| {
        node.metadata.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    };
    if name.starts_with("Scan") {
        return of("Location").map(place).unwrap_or_default();
    }
    if name.contains("Join") || name.starts_with("Filter") || name.contains("Exchange") {
        return text::one_line(rest, 60);
    }
    String::new()
}

/// The end of the path of the first file: `InMemoryFileIndex(1 paths)[file:/data/events]` is `…/data/events`.
fn place(location: &str) -> String {
    let paths = location.split('[').nth(1).unwrap_or(location).trim_end_matches(']');
    let first = paths.split(", ").next().unwrap_or_default();
    let mut segments: Vec<&str> = first.rsplit('/').filter(|s| !s.is_empty()).take(2).collect();
    segments.reverse();
    segments.join("/")
}

/// Where a node's page shows it.
pub(super) type NodeLink<'l> = &'l dyn Fn(usize) -> String;

/// The graph as SVG. `chosen` is a node that stands out.
pub(super) fn draw(plan: &Plan, style: Style, chosen: Option<usize>, link: NodeLink<'_>) -> Markup {
    let shown = shown(plan, style);
    let place: HashMap<usize, usize> =
        shown.iter().enumerate().map(|(at, node)| (*node, at)).collect();
    let boxes: Vec<Vec<String>> = shown.iter().map(|node| box_lines(plan, *node)).collect();
    let size = |lines: &Vec<String>| {
        let width = (columns(lines) * LETTER + 2.0 * PADDING).clamp(WIDTH.0, WIDTH.1);
        (width, lines.len() as f64 * LINE_HEIGHT + 2.0 * PADDING)
    };
    let sizes: Vec<(f64, f64)> = boxes.iter().map(size).collect();
    let edges = edges(plan, &shown, &place);
    let turned: Vec<(f64, f64)> = sizes.iter().map(|(w, h)| (*h, *w)).collect();
    let mut placed = graph::place(if style.is_wide { &turned } else { &sizes }, &edges);
    if style.is_wide {
        // the centre of each across, the left edge down
        let Placed { x, y, width, height } = placed;
        let centre = |(left, (w, _)): (&f64, &(f64, f64))| left + w / 2.0;
        let xs = y.iter().zip(&sizes).map(centre).collect();
        let ys = x.iter().zip(&sizes).map(|(middle, (_, h))| middle - h / 2.0).collect();
        placed = Placed { x: xs, y: ys, width: height, height: width };
    }
    let (width, height) = (placed.width + 2.0 * MARGIN, placed.height + 2.0 * MARGIN);
    let mut out = Markup::default();
    out.raw("<svg id=\"plan\" class=\"dag\" xmlns=\"http://www.w3.org/2000/svg\"");
    out.length("width", width).length("height", height);
    out.attribute("viewBox", &format!("{} {} {width:.0} {height:.0}", -MARGIN, -MARGIN)).raw(">");
    if style.has_code {
        frames(&mut out, plan, &shown, &placed, &sizes);
    }
    let largest = plan.rows.iter().flatten().max().copied().unwrap_or(0);
    for (from, to) in &edges {
        let rows = plan.rows[shown[*from]];
        let flow = Flow {
            from: *from,
            to: *to,
            label: rows.map_or_else(String::new, text::count),
            width: edge_width(rows.unwrap_or(0), largest),
        };
        let (a, b) = if style.is_wide {
            let right = placed.x[*from] + sizes[*from].0 / 2.0;
            let left = placed.x[*to] - sizes[*to].0 / 2.0;
            let middle = |at: usize| placed.y[at] + sizes[at].1 / 2.0;
            ((right, middle(*from)), (left, middle(*to)))
        } else {
            ((placed.x[*from], placed.y[*from] + sizes[*from].1), (placed.x[*to], placed.y[*to]))
        };
        edge(&mut out, &flow, a, b);
    }
    for (at, node) in shown.iter().enumerate() {
        let corner = (placed.x[at] - sizes[at].0 / 2.0, placed.y[at]);
        let drawn = Drawn { at: *node, corner, size: sizes[at], lines: &boxes[at] };
        node_box(&mut out, plan, style, chosen, &drawn, link);
    }
    out.raw("</svg>");
    out
}

const MARGIN: f64 = 16.0;

/// Graph nodes that get a box.
fn shown(plan: &Plan, style: Style) -> Vec<usize> {
    let is_shown = |at: &usize| {
        let name = plan.name(*at);
        !plan.is_code(*at) && (!style.is_short || !PASSING.contains(&name))
    };
    (0..plan.graph.nodes.len()).filter(is_shown).take(NODES_MAX).collect()
}

/// Edges between boxes; what lies between two that is not shown is passed through.
fn edges(plan: &Plan, shown: &[usize], place: &HashMap<usize, usize>) -> Vec<(usize, usize)> {
    let mut edges = Vec::new();
    for (at, node) in shown.iter().enumerate() {
        let mut open: Vec<usize> = plan.upstream[*node].iter().rev().copied().collect();
        // a plan is no circle, but a log may say so
        let mut n_steps = 0;
        while let Some(from) = open.pop() {
            n_steps += 1;
            match place.get(&from) {
                Some(from) => edges.push((*from, at)),
                None if n_steps <= NODES_MAX => open.extend(plan.upstream[from].iter().rev()),
                None => {}
            }
        }
    }
    edges
}

fn box_lines(plan: &Plan, at: usize) -> Vec<String> {
    let mut lines = lines(plan, at);
    let share = plan.times.nodes[at].share;
    if share >= 0.005 {
        lines[0] = format!("{} · {}", lines[0], text::percent(share));
    }
    lines
}

struct Drawn<'d> {
    at: usize,
    corner: (f64, f64),
    size: (f64, f64),
    lines: &'d [String],
}

/// Shares of the time from which on a box is warmer.
const HEAT: [f64; 4] = [0.02, 0.1, 0.25, 0.5];
/// What takes less is faint when the rest is in focus.
const FAINT_SHARE: f64 = 0.02;

fn node_box(
    out: &mut Markup,
    plan: &Plan,
    style: Style,
    chosen: Option<usize>,
    drawn: &Drawn<'_>,
    link: NodeLink<'_>,
) {
    let at = drawn.at;
    let share = plan.times.nodes[at].share;
    let heat = HEAT.iter().filter(|from| share >= **from).count();
    let is_faint = style.is_focused && share < FAINT_SHARE;
    let class = format!(
        "node heat{heat}{}{}",
        if is_faint { " faint" } else { "" },
        if chosen == Some(at) { " chosen" } else { "" },
    );
    let node = plan.node(at);
    out.raw("<a").attribute("href", &link(at)).raw("><g").attribute("class", &class);
    out.attribute("data-node", &at.to_string()).attribute("data-name", node.name.trim());
    out.attribute("data-text", &text::one_line(&node.text, SEARCHED_MAX)).raw("><title>");
    out.text(&text::one_line(&node.text, HINT_MAX)).raw("</title><rect rx=\"3\"");
    out.length("x", drawn.corner.0).length("y", drawn.corner.1);
    out.length("width", drawn.size.0).length("height", drawn.size.1).raw("/>");
    let columns = ((drawn.size.0 - 2.0 * PADDING) / LETTER) as usize;
    for (row, line) in drawn.lines.iter().enumerate() {
        out.raw("<text").attribute("class", if row == 0 { "name" } else { "" });
        out.length("x", drawn.corner.0 + PADDING);
        out.length("y", drawn.corner.1 + PADDING + LINE_HEIGHT * (row as f64 + 0.75)).raw(">");
        let fitting = if row == 0 { (columns as f64 / BOLD) as usize } else { columns };
        out.text(&text::one_line(line, fitting)).raw("</text>");
    }
    out.raw("</g></a>");
}

/// Characters of a node's text that are searched, and that are told when asked.
const SEARCHED_MAX: usize = 300;
const HINT_MAX: usize = 600;

/// Frames around what is compiled into one function, with the time of all tasks in it.
fn frames(out: &mut Markup, plan: &Plan, shown: &[usize], placed: &Placed, sizes: &[(f64, f64)]) {
    let mut around: HashMap<usize, [f64; 4]> = HashMap::new();
    for (at, node) in shown.iter().enumerate() {
        let Some(code) = plan.graph.nodes[*node].cluster else { continue };
        let (left, top) = (placed.x[at] - sizes[at].0 / 2.0, placed.y[at]);
        let own = [left, top, left + sizes[at].0, top + sizes[at].1];
        let known = around.entry(code).or_insert(own);
        *known = [
            known[0].min(own[0]),
            known[1].min(own[1]),
            known[2].max(own[2]),
            known[3].max(own[3]),
        ];
    }
    let mut all: Vec<(usize, [f64; 4])> = around.into_iter().collect();
    all.sort_by_key(|(code, _)| *code);
    for (code, [left, top, right, bottom]) in all {
        out.raw("<g class=\"code\"><rect rx=\"5\"").length("x", left - 8.0).length("y", top - 18.0);
        out.length("width", right - left + 16.0).length("height", bottom - top + 26.0).raw("/>");
        out.raw("<text").length("x", left - 2.0).length("y", top - 6.0).raw(">");
        let spent = plan.metric(code, &["duration"]);
        let spent = spent.map(|ms| format!(" · {} over all tasks", text::duration(ms)));
        let number = plan.name(code).trim_start_matches(CODE).trim().to_owned();
        out.text(&format!("compiled {number}{}", spent.unwrap_or_default())).raw("</text></g>");
    }
}

/// The graph for Graphviz.
pub(super) fn dot(plan: &Plan) -> String {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut out = String::from("digraph plan {\n");
    for at in 0..plan.graph.nodes.len() {
        let name = quoted(&text::one_line(plan.name(at), HINT_MAX));
        writeln!(out, "  {at} [label=\"{name}\"];").ok();
    }
    for edge in &plan.graph.edges {
        writeln!(out, "  {} -> {};", edge.from, edge.to).ok();
    }
    out.push_str("}\n");
    out
}

/// What a scan read, in words: files and their average size, partitions, pushed filters.
pub(super) fn scan_facts(plan: &Plan, at: usize) -> Vec<(&'static str, String)> {
    let node = plan.node(at);
    let of = |key: &str| {
        let found = node.metadata.iter().find(|(known, _)| known == key);
        found.map(|(_, value)| value.clone()).filter(|value| !value.is_empty() && value != "[]")
    };
    let mut facts: Vec<(&'static str, String)> = Vec::new();
    for (name, key) in [
        ("Location", "Location"),
        ("Format", "Format"),
        ("Partition filters", "PartitionFilters"),
        ("Pushed filters", "PushedFilters"),
        ("Data filters", "DataFilters"),
        ("Columns read", "ReadSchema"),
        ("Buckets", "SelectedBucketsCount"),
    ] {
        facts.extend(of(key).map(|value| (name, text::one_line(&value, 1_000))));
    }
    let (files, bytes) =
        (plan.metric(at, &["number of files read"]), plan.metric(at, &["size of files read"]));
    if let (Some(files), Some(bytes)) = (files.filter(|n| *n > 0), bytes) {
        let average = bytes / files;
        let is_small = files >= SMALL_FILES_MIN && average < SMALL_FILE_BYTES;
        let warning =
            if is_small { ": many small files, each costs a request and a start" } else { "" };
        let told = format!(
            "{} of {} on average, {}{warning}",
            text::counted(files, "file", "files"),
            text::bytes(average),
            spark_bytes(bytes),
        );
        facts.push(("Files read", told));
    }
    let (read, all) = (
        plan.metric(at, &["number of partitions read"]),
        plan.metric(at, &["static number of files read"]),
    );
    facts.extend(read.map(|n| ("Partitions read", text::count(n))));
    facts.extend(all.map(|n| ("Files before dynamic pruning", text::count(n))));
    facts
}

/// Fewer files are no matter.
const SMALL_FILES_MIN: i64 = 100;
/// Files under 16 MiB on average make scans slow: opening one costs as much as reading 4 MiB
/// (`spark.sql.files.openCostInBytes`).
const SMALL_FILE_BYTES: i64 = 16 << 20;
