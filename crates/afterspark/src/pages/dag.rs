//! Graphs of boxes with numbers on them: the stages of a job, and the RDDs of a stage.

use std::collections::HashMap;

use store::{RddInfo, StageAttempt, StageStatus, TaskColumn as C};
use views::StageLine;

use super::graph;
use super::view::Markup;
use super::visit::Visit;
use crate::text;

/// Boxes that are drawn; of more, the last.
const BOXES_MAX: usize = 1_000;
const LINE_HEIGHT: f64 = 16.0;
const PADDING: f64 = 8.0;
/// Of a letter, about.
const LETTER: f64 = 6.7;
const WIDTH: (f64, f64) = (110.0, 260.0);

/// A box of a graph.
#[derive(Default)]
pub(super) struct Drawn {
    /// The first stands out.
    pub(super) lines: Vec<String>,
    pub(super) class: &'static str,
    pub(super) link: String,
    /// Told when asked.
    pub(super) hint: String,
}

/// An edge, what it carries in words, and how wide it is.
pub(super) struct Flow {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) label: String,
    pub(super) width: f64,
}

/// Columns that the widest line takes; the first is in bold letters.
pub(super) fn columns(lines: &[String]) -> f64 {
    let of = |(row, line): (usize, &String)| {
        let n = text::columns(line) as f64;
        if row == 0 { n * BOLD } else { n }
    };
    lines.iter().enumerate().map(of).fold(0.0, f64::max)
}

/// How much wider bold letters are.
pub(super) const BOLD: f64 = 1.12;

/// Draws boxes and what flows between them; `label` names the drawing to those who do not see it.
pub(super) fn draw(label: &str, boxes: &[Drawn], flows: &[Flow]) -> Markup {
    let longest =
        |drawn: &Drawn| (columns(&drawn.lines) * LETTER + 2.0 * PADDING).clamp(WIDTH.0, WIDTH.1);
    let size =
        |drawn: &Drawn| (longest(drawn), drawn.lines.len() as f64 * LINE_HEIGHT + 2.0 * PADDING);
    let sizes: Vec<(f64, f64)> = boxes.iter().map(size).collect();
    let edges: Vec<(usize, usize)> = flows.iter().map(|flow| (flow.from, flow.to)).collect();
    let placed = graph::place(&sizes, &edges);
    let mut out = Markup::default();
    out.raw("<div class=\"graph\" tabindex=\"0\" role=\"region\"").attribute("aria-label", label);
    out.raw("><svg class=\"dag\"").length("width", placed.width + 8.0);
    out.length("height", placed.height + 8.0);
    let view = format!("-4 -4 {:.0} {:.0}", placed.width + 8.0, placed.height + 8.0);
    out.attribute("viewBox", &view).raw(">");
    for flow in flows.iter().filter(|flow| flow.from < sizes.len() && flow.to < sizes.len()) {
        let from = (placed.x[flow.from], placed.y[flow.from] + sizes[flow.from].1);
        let to = (placed.x[flow.to], placed.y[flow.to]);
        edge(&mut out, flow, from, to);
    }
    for (at, drawn) in boxes.iter().enumerate() {
        let (width, height) = sizes[at];
        let (left, top) = (placed.x[at] - width / 2.0, placed.y[at]);
        let has_link = !drawn.link.is_empty();
        if has_link {
            out.raw("<a").attribute("href", &drawn.link).raw(">");
        }
        out.raw("<g").attribute("class", &format!("node {}", drawn.class)).raw("><title>");
        out.text(&drawn.hint).raw("</title><rect rx=\"3\"").length("x", left).length("y", top);
        out.length("width", width).length("height", height).raw("/>");
        let columns = ((width - 2.0 * PADDING) / LETTER) as usize;
        for (row, line) in drawn.lines.iter().enumerate() {
            let class = if row == 0 { "name" } else { "" };
            out.raw("<text").attribute("class", class).length("x", left + PADDING);
            out.length("y", top + PADDING + LINE_HEIGHT * (row as f64 + 0.75)).raw(">");
            let fitting = if row == 0 { (columns as f64 / BOLD) as usize } else { columns };
            out.text(&text::one_line(line, fitting)).raw("</text>");
        }
        out.raw("</g>");
        if has_link {
            out.raw("</a>");
        }
    }
    out.raw("</svg></div>");
    out
}

/// A curve from the foot of a box to the head of another, with its label at its middle.
pub(super) fn edge(out: &mut Markup, flow: &Flow, from: (f64, f64), to: (f64, f64)) {
    let middle = f64::midpoint(from.1, to.1);
    let path = format!(
        "M{:.1} {:.1}C{:.1} {middle:.1} {:.1} {middle:.1} {:.1} {:.1}",
        from.0, from.1, from.0, to.0, to.0, to.1
    );
    out.raw("<path class=\"edge\"").attribute("d", &path).length("stroke-width", flow.width);
    out.raw("/>");
    if !flow.label.is_empty() {
        out.raw("<text class=\"flow\"").length("x", f64::midpoint(from.0, to.0) + 5.0);
        out.length("y", middle + 4.0).raw(">").text(&flow.label).raw("</text>");
    }
}

/// The stages of a job: of each its last attempt.
pub(super) fn stages(visit: &Visit<'_>, lines: &[StageLine<'_>]) -> Markup {
    let mut last: Vec<&StageLine<'_>> = Vec::new();
    for line in lines {
        match last.last_mut().filter(|known| known.row.id.stage == line.row.id.stage) {
            Some(known) => *known = line,
            None => last.push(line),
        }
    }
    let drawn = &last[last.len().saturating_sub(BOXES_MAX)..];
    let place: HashMap<i32, usize> =
        drawn.iter().enumerate().map(|(at, line)| (line.row.id.stage, at)).collect();
    let boxes: Vec<Drawn> = drawn.iter().map(|line| stage_box(visit, line)).collect();
    let largest = drawn.iter().filter_map(|s| s.sum(C::shuffle_write_bytes)).max().unwrap_or(0);
    let flows = drawn.iter().enumerate().flat_map(|(to, line)| {
        line.row.parent_ids.iter().filter_map(|id| place.get(id)).map(move |from| (*from, to))
    });
    let flows = flows.map(|(from, to)| {
        let bytes = drawn[from].sum(C::shuffle_write_bytes).filter(|bytes| *bytes > 0);
        Flow {
            from,
            to,
            label: bytes.map_or_else(String::new, text::bytes),
            width: edge_width(bytes.unwrap_or(0), largest),
        }
    });
    draw("Stages of the job", &boxes, &flows.collect::<Vec<_>>())
}

/// From 1 to 7, by the logarithm.
pub(super) fn edge_width(amount: i64, largest: i64) -> f64 {
    if amount <= 0 || largest <= 0 {
        return 1.0;
    }
    1.0 + 6.0 * (1.0 + amount as f64).ln() / (1.0 + largest as f64).ln()
}

fn stage_box(visit: &Visit<'_>, line: &StageLine<'_>) -> Drawn {
    let row = line.row;
    let (class, state) = match row.status {
        StageStatus::Skipped => ("skipped", " (skipped)"),
        StageStatus::Failed => ("failed", " (failed)"),
        StageStatus::Active => ("active", " (running)"),
        StageStatus::Pending => ("skipped", " (waits)"),
        StageStatus::Complete => ("", ""),
    };
    let retry =
        if row.id.attempt > 0 { format!(" retry {}", row.id.attempt) } else { String::new() };
    let mut lines = vec![
        format!("Stage {}{retry}{state}", row.id.stage),
        text::one_line(visit.text(row.name), 34),
    ];
    if row.status != StageStatus::Skipped {
        let tasks = text::counted(row.n_tasks, "task", "tasks");
        lines.push(format!("{} · {tasks}", text::or_missing(line.duration_ms, text::duration)));
        let named = [
            ("in", line.sum(C::input_bytes)),
            ("read", line.shuffle_read_bytes()),
            ("out", line.sum(C::output_bytes)),
            ("spill", line.sum(C::spill_disk_bytes)),
        ];
        let named = named.into_iter().filter_map(|(name, bytes)| Some((name, bytes?)));
        let named = named.filter(|(_, bytes)| *bytes > 0);
        let named: Vec<String> =
            named.map(|(name, bytes)| format!("{name} {}", text::bytes(bytes))).collect();
        if !named.is_empty() {
            lines.push(named.join(" · "));
        }
    }
    Drawn { lines, class, link: visit.stage_link(row.id), hint: visit.text(row.details).to_owned() }
}

/// The RDDs that a stage computes, one from another.
pub(super) fn rdds(visit: &Visit<'_>, row: &StageAttempt) -> Markup {
    let drawn = &row.rdds[..row.rdds.len().min(BOXES_MAX)];
    let place: HashMap<i32, usize> =
        drawn.iter().enumerate().map(|(at, rdd)| (rdd.id, at)).collect();
    let boxes: Vec<Drawn> = drawn.iter().map(|rdd| rdd_box(visit, rdd)).collect();
    let flows = drawn.iter().enumerate().flat_map(|(to, rdd)| {
        rdd.parent_ids.iter().filter_map(|id| place.get(id)).map(move |from| Flow {
            from: *from,
            to,
            label: String::new(),
            width: 1.0,
        })
    });
    draw("RDDs of the stage", &boxes, &flows.collect::<Vec<_>>())
}

fn rdd_box(visit: &Visit<'_>, rdd: &RddInfo) -> Drawn {
    let scope =
        rdd.scope.map(|scope| scope_name(visit.text(scope))).filter(|name| !name.is_empty());
    let name = format!("{} [{}]", text::one_line(visit.text(rdd.name), 60), rdd.id);
    let mut lines = vec![scope.unwrap_or_else(|| name.clone())];
    if lines[0] != name {
        lines.push(name);
    }
    let is_cached = rdd.level.memory || rdd.level.disk;
    let mut marks = Vec::new();
    if is_cached {
        marks.push("cached".to_owned());
    }
    if rdd.barrier {
        marks.push("barrier".to_owned());
    }
    let determinism = rdd.determinism.map(|level| visit.text(level)).unwrap_or_default();
    if !matches!(determinism, "" | "DETERMINATE") {
        marks.push(determinism.to_lowercase());
    }
    if !marks.is_empty() {
        lines.push(marks.join(", "));
    }
    let is_there = views::persisted_rdd(visit.store, rdd.id).is_some();
    let link =
        if is_there { format!("{}/storage/rdd/?id={}", visit.base, rdd.id) } else { String::new() };
    let class = if is_cached { "cached" } else { "" };
    Drawn { lines, class, link, hint: visit.text(rdd.call_site).to_owned() }
}

/// The name of the operation, out of `{"id":"1","name":"map"}`.
fn scope_name(scope: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(scope).unwrap_or_default();
    value.get("name").and_then(|name| name.as_str()).unwrap_or_default().to_owned()
}
