//! `timeline/`: the whole application on one axis: queries, jobs, stages, executors, slots, and what the driver did when no
//! stage ran. `from` and `to` (ms) choose a part, to which the tables below are limited too.

use std::io::Write as _;

use store::{ExecutorChange, StageStatus};
use views::Scope;

use super::executor_times;
use super::jobs;
use super::lanes::{Bar, Lane, lanes};
use super::stages;
use super::table::{Cell, Column, Link, Shown, address, number, sorted, table, words};
use super::view::{Block, Markup, View, fact};
use super::visit::{Visit, since_start};
use super::{Page, Tab};
use crate::api::Answer;
use crate::text;

pub(super) const PAGES: &[Page] =
    &[Page { path: &["timeline"], tab: Tab::Always("Timeline"), view }];

const PARTS: usize = 300;
/// Bars of a kind that are drawn without a script.
const DRAWN_MAX: usize = 400;

fn view(visit: &Visit<'_>) -> Result<View, Answer> {
    let Some(occupancy) = views::occupancy(visit.store, PARTS) else {
        let mut view = View::new("Timeline");
        view.note("The log does not tell when the application began, so that nothing can be drawn over its time.");
        return Ok(view);
    };
    let (begin_ms, end_ms) = (occupancy.from_ms, occupancy.to_ms);
    let from_ms = visit.asked::<i64>("from").unwrap_or(begin_ms).clamp(begin_ms, end_ms);
    let to_ms = visit.asked::<i64>("to").unwrap_or(end_ms).clamp(from_ms, end_ms);
    let lanes = lanes(visit, from_ms, to_ms);
    if visit.query().first("export") == Some("json") {
        return Err(export(&lanes, (begin_ms, end_ms)));
    }
    let mut view = View::new("Timeline");
    view.scripts.push("timeline.js");
    view.push(times(visit, from_ms, to_ms));
    if (from_ms, to_ms) != (begin_ms, end_ms) {
        let link = Link {
            text: "the whole application".to_owned(),
            to: address(visit.query(), "", &[("from", ""), ("to", "")]),
        };
        view.push(Block::Links {
            title: "Only a part of the time is shown. Show",
            links: vec![link],
        });
    }
    view.push(Block::Markup(canvas(visit, begin_ms, end_ms)));
    view.push(Block::Markup(drawn(visit, &lanes, from_ms, to_ms)));
    view.push(Block::Markup(executor_times::slots(visit, &occupancy)));
    view.push(pauses(visit, from_ms, to_ms)?);
    view.push(executors(visit, from_ms, to_ms)?);
    let within = |from: Option<i64>, to: Option<i64>| {
        from.is_some_and(|from| from <= to_ms && to.is_none_or(|to| to >= from_ms))
    };
    let all = views::jobs(visit.store, Scope::default());
    let work = views::work(visit.store);
    let rows: Vec<jobs::Row<'_>> = all
        .iter()
        .filter(|job| within(job.row.submitted_at_ms, job.row.completed_at_ms))
        .map(|job| jobs::Row { job, work: work.job.get(&job.row.id) })
        .collect();
    let shown = Shown {
        tag: "job",
        title: "Jobs in this time",
        sort: "Duration",
        descending: true,
        empty: "None.",
    };
    view.push(Block::table(table(visit.query(), &shown, &jobs::columns(visit), &rows)?));
    let all = views::stages(visit.store, Scope::default());
    let rows: Vec<&views::StageLine<'_>> =
        all.iter().filter(|s| within(s.row.submitted_at_ms, s.row.completed_at_ms)).collect();
    let shown = Shown { tag: "stage", title: "Stages in this time", ..shown };
    let columns = stages::columns_of(visit, StageStatus::Complete);
    view.push(Block::table(table(visit.query(), &shown, &columns, &rows)?));
    Ok(view)
}

/// How the time divides.
fn times(visit: &Visit<'_>, from_ms: i64, to_ms: i64) -> Block {
    let mut facts = vec![
        fact("From", "", visit.instant(Some(from_ms))),
        fact("To", "", visit.instant(Some(to_ms))),
        fact("Time", "", Cell::text(text::duration(to_ms.saturating_sub(from_ms)))),
    ];
    if let Some(busy) = views::busy(visit.store) {
        let share = |ms: i64| ms as f64 / busy.lifetime_ms.max(1) as f64;
        let paused_ms = busy.lifetime_ms.saturating_sub(busy.stages_ms);
        let told = |ms: i64| {
            let cell = Cell::text(format!("{} ({})", text::duration(ms), text::percent(share(ms))));
            cell.bar([share(ms).clamp(0.0, 1.0), 0.0, 0.0])
        };
        facts.push(fact("With a stage", "Of the whole application", told(busy.stages_ms)));
        facts.push(fact("Driver only", "No stage was there to run", told(paused_ms)));
    }
    Block::Facts(facts)
}

fn export(lanes: &[Lane], (begin_ms, end_ms): (i64, i64)) -> Answer {
    let mut out = Vec::new();
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    // writing to memory does not fail
    write!(out, "{{\"from\":{begin_ms},\"to\":{end_ms},\"lanes\":[").ok();
    for (at, lane) in lanes.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        write!(out, "{comma}{{\"name\":{},\"n_all\":{},\"bars\":[", quoted(lane.name), lane.n_all)
            .ok();
        for (at, bar) in lane.bars.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let (label, link) = (quoted(&bar.label), quoted(&bar.link));
            write!(out, "{comma}[{},{},{},{label},{link}]", bar.from_ms, bar.to_ms, bar.state).ok();
        }
        out.extend_from_slice(b"]}");
    }
    out.extend_from_slice(b"]}");
    Answer::of(200, "application/json", out)
}

fn canvas(visit: &Visit<'_>, begin_ms: i64, end_ms: i64) -> Markup {
    let mut out = Markup::default();
    out.raw("<div class=\"timeline\" data-script hidden><canvas id=\"timeline\" tabindex=\"0\" height=\"420\" role=\"img\" \
             aria-label=\"Timeline: plus and minus zoom, arrows move, Enter limits the tables below to what is seen\"");
    out.attribute("data-source", &format!("{}/timeline/?export=json", visit.base));
    out.attribute("data-from", &begin_ms.to_string()).attribute("data-to", &end_ms.to_string());
    out.raw("></canvas><output id=\"timeline-range\"></output> <button type=\"button\" id=\"timeline-brush\">Limit the tables \
             to this time</button> <span class=\"n\">Drag to move, Ctrl and wheel or + and − to zoom, click to open</span></div>");
    out
}

/// Pixels of the drawing.
const WIDTH: f64 = 940.0;
const LEFT: f64 = 76.0;
const ROW: f64 = 11.0;
/// Rows of a lane; what overlaps more is drawn on the last.
const ROWS_MAX: usize = 12;

/// The lanes for those who have no script: the longest bars of each.
fn drawn(visit: &Visit<'_>, lanes: &[Lane], from_ms: i64, to_ms: i64) -> Markup {
    let mut out = Markup::default();
    let span = to_ms.saturating_sub(from_ms).max(1) as f64;
    let x = |at: i64| LEFT + (WIDTH - LEFT) * ((at - from_ms) as f64 / span).clamp(0.0, 1.0);
    let mut rows: Vec<(&Bar, f64)> = Vec::new();
    let mut names = Vec::new();
    let mut top = 6.0;
    for lane in lanes.iter().filter(|lane| !lane.bars.is_empty()) {
        names.push((lane.name, top));
        let mut longest: Vec<&Bar> = lane.bars.iter().collect();
        longest.sort_by_key(|bar| std::cmp::Reverse(bar.to_ms - bar.from_ms));
        longest.truncate(DRAWN_MAX);
        longest.sort_by_key(|bar| bar.from_ms);
        let mut ends: Vec<i64> = Vec::new();
        for bar in longest {
            let free = ends.iter().position(|end| *end <= bar.from_ms);
            let row = free.unwrap_or(ends.len()).min(ROWS_MAX - 1);
            match ends.get_mut(row) {
                Some(end) => *end = (*end).max(bar.to_ms),
                None => ends.push(bar.to_ms),
            }
            rows.push((bar, top + ROW * row as f64));
        }
        top += ROW * ends.len() as f64 + 8.0;
    }
    out.raw("<figure class=\"chart lanes\"><svg role=\"group\" aria-label=\"Timeline of the application\"");
    out.attribute("viewBox", &format!("0 0 {WIDTH} {:.0}", top + 18.0)).raw(">");
    for (name, top) in names {
        out.raw("<text").length("x", 0.0).length("y", top + 9.0).raw(">").text(name).raw("</text>");
    }
    for (bar, top) in rows {
        let has_link = !bar.link.is_empty();
        if has_link {
            out.raw("<a").attribute("href", &bar.link).attribute("aria-label", &bar.label).raw(">");
        }
        let (left, right) = (x(bar.from_ms), x(bar.to_ms));
        out.raw("<rect").attribute("class", &format!("s{}", bar.state)).length("x", left);
        out.length("y", top).length("width", (right - left).max(1.0)).length("height", ROW - 2.0);
        let took = text::duration(bar.to_ms.saturating_sub(bar.from_ms));
        out.raw("><title>").text(&format!("{} ({took})", bar.label)).raw("</title></rect>");
        if has_link {
            out.raw("</a>");
        }
    }
    let started_at_ms = visit.started_at_ms.unwrap_or(from_ms);
    for step in 0..=4 {
        let at = from_ms + (span * f64::from(step) / 4.0) as i64;
        let class = match step {
            0 => "across first",
            4 => "across last",
            _ => "across",
        };
        out.raw("<text").attribute("class", class).length("x", x(at)).length("y", top + 12.0);
        out.raw(">").text(&since_start(at, started_at_ms)).raw("</text>");
    }
    out.raw("</svg><figcaption>Green is done, red failed, blue runs, grey is neither</figcaption></figure>");
    out
}

fn pauses(visit: &Visit<'_>, from_ms: i64, to_ms: i64) -> Result<Block, Answer> {
    let busy = views::busy(visit.store);
    let rows: Vec<&views::Pause> = busy
        .iter()
        .flat_map(|busy| &busy.pauses)
        .filter(|pause| pause.from_ms <= to_ms && pause.to_ms >= from_ms)
        .collect();
    let kind = |pause: &&views::Pause| {
        let kind = views::pause_kind(visit.store, pause);
        let cell = Cell::text(kind.label());
        match kind {
            views::PauseKind::Planning(id) | views::PauseKind::WithinQuery(id) => {
                cell.link(visit.sql_link(id))
            }
            views::PauseKind::WithinJob(id) => cell.link(visit.job_link(id)),
            _ => cell,
        }
    };
    let stage = |id: Option<store::StageAttemptId>| Cell::default().links(visit.stages(id));
    let columns: Vec<Column<'_, &views::Pause>> = vec![
        words("What it most likely was", "By the queries and jobs around it", kind),
        visit.instants("From", "", |pause: &&views::Pause| Some(pause.from_ms)),
        number("Duration", "Without any stage", text::duration, |pause: &&views::Pause| {
            Some(pause.duration_ms())
        }),
        sorted(
            "After stage",
            "",
            |pause: &&views::Pause| pause.after.map(|id| i64::from(id.stage)),
            move |pause| stage(pause.after),
        ),
        sorted(
            "Before stage",
            "",
            |pause: &&views::Pause| pause.before.map(|id| i64::from(id.stage)),
            move |pause| stage(pause.before),
        ),
    ];
    let shown = Shown {
        tag: "gap",
        title: "When only the driver worked",
        sort: "Duration",
        descending: true,
        empty: "None: a stage was there to run all the time.",
    };
    Ok(Block::table(table(visit.query(), &shown, &columns, &rows)?))
}

fn executors(visit: &Visit<'_>, from_ms: i64, to_ms: i64) -> Result<Block, Answer> {
    let rows: Vec<&store::ExecutorEvent> = visit
        .store
        .tables()
        .executor_events
        .iter()
        .filter(|event| (from_ms..=to_ms).contains(&event.at_ms))
        .collect();
    let name = |change: ExecutorChange| match change {
        ExecutorChange::Added => "added",
        ExecutorChange::Removed => "removed",
        ExecutorChange::Excluded => "excluded",
        ExecutorChange::Unexcluded => "no longer excluded",
        ExecutorChange::ExcludedForStage => "excluded for a stage",
        ExecutorChange::NodeExcluded => "host excluded",
        ExecutorChange::NodeUnexcluded => "host no longer excluded",
        ExecutorChange::NodeExcludedForStage => "host excluded for a stage",
    };
    let columns: Vec<Column<'_, &store::ExecutorEvent>> = vec![
        visit.instants("When", "", |event: &&store::ExecutorEvent| Some(event.at_ms)),
        words("Executor or host", "", move |event: &&store::ExecutorEvent| {
            Cell::text(visit.text(event.subject))
        }),
        words("What happened", "", move |event: &&store::ExecutorEvent| {
            Cell::text(name(event.change))
                .bad_if(event.change == ExecutorChange::Removed && event.reason.is_some())
        }),
        words("Why", "As the cluster manager said", move |event: &&store::ExecutorEvent| {
            Cell::folded(event.reason.map(|why| visit.text(why)).unwrap_or_default(), 140)
        }),
    ];
    let shown = Shown {
        tag: "executor",
        title: "Executors that came and went",
        sort: "When",
        descending: false,
        empty: "None in this time.",
    };
    Ok(Block::table(table(visit.query(), &shown, &columns, &rows)?))
}
