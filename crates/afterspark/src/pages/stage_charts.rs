//! Charts of a stage attempt: what its tasks did over time, how their durations spread, and whether those that took long
//! read much. And the tasks one by one, by range, for the timeline that is drawn in the browser.

use std::io::Write as _;

use store::{StageAttemptId, TaskColumn as C};
use views::{Measure, PHASES, StageLine};

use super::chart::{self, Axis, Mark, Series};
use super::table::Cell;
use super::view::{Block, Markup, View, fact};
use super::visit::{Visit, since_start};
use crate::api::Answer;
use crate::text;

/// Parts of the time that the chart tells apart.
const BUCKETS: usize = 280;
/// Dots of the scatter.
const DOTS_MAX: usize = 600;
/// Tasks that are sent at a time.
const TASKS_MAX: usize = 20_000;

pub(super) fn show(visit: &Visit<'_>, line: &StageLine<'_>, view: &mut View) {
    let id = line.row.id;
    view.heading("time", "What the time went to");
    use_of_slots(visit, line, view);
    if let Some(over) = views::phases_over_time(visit.store, id, BUCKETS) {
        view.push(Block::Markup(phases(visit, &over)));
        let mut markup = Markup::default();
        let source = format!("{}&export=timeline", visit.stage_link(id));
        markup.raw("<div data-script hidden class=\"timeline\"><canvas id=\"tasks-timeline\" tabindex=\"0\" height=\"260\" \
                    role=\"img\" aria-label=\"Tasks by executor over time: plus and minus zoom, arrows move\"");
        markup.attribute("data-source", &source).attribute("data-from", &over.from_ms.to_string());
        markup.attribute("data-to", &over.to_ms.to_string()).raw("></canvas>");
        markup.raw("<output id=\"tasks-range\"></output></div>");
        view.push(Block::Markup(markup));
    }
    histogram(visit, id, view);
    scatter(visit, id, view);
}

/// Slots that were there, the part in which tasks ran, and the part in which they computed.
fn use_of_slots(visit: &Visit<'_>, line: &StageLine<'_>, view: &mut View) {
    let Some(run_ms) = line.sum(C::executor_run_ms) else { return };
    let cores = views::cores_max(visit.store);
    let slots_ms = cores.zip(line.duration_ms).map(|(n, ms)| n.saturating_mul(ms));
    let cpu_ms = line.sum(C::executor_cpu_ns).map(|ns| ns / 1_000_000);
    let largest = slots_ms.unwrap_or(run_ms).max(run_ms).max(1) as f64;
    let bar = |ms: Option<i64>| {
        let share = ms.map_or(0.0, |ms| (ms as f64 / largest).clamp(0.0, 1.0));
        let percent = ms.map(|ms| format!(" ({})", text::percent(ms as f64 / largest)));
        let written = text::or_missing(ms, text::duration);
        Cell::text(format!("{written}{}", percent.unwrap_or_default())).bar([share, 0.0, 0.0])
    };
    view.push(Block::Facts(vec![
        fact(
            "Slots",
            "Cores of all executors, for as long as the stage took: what there was to be had",
            bar(slots_ms),
        ),
        fact(
            "Tasks ran",
            "Run time of all tasks. Far less than the slots: too few tasks, a long tail, or others had the slots",
            bar(Some(run_ms)),
        ),
        fact(
            "Computed",
            "CPU time of the JVM's task threads. Far less than tasks ran: they waited for storage, network, or Python",
            bar(cpu_ms),
        ),
        fact(
            "Collected garbage",
            "While tasks ran. More than a tenth: too little memory",
            bar(line.sum(C::jvm_gc_ms)),
        ),
    ]));
}

fn phases(visit: &Visit<'_>, over: &views::PhasesOverTime) -> Markup {
    let span = (over.to_ms - over.from_ms) as f64;
    let started_at_ms = visit.started_at_ms.unwrap_or(over.from_ms);
    let write = |at: f64| since_start(at as i64, started_at_ms);
    let across = Axis { from: over.from_ms as f64, to: over.to_ms as f64, write: &write };
    let sums = over.buckets.iter().map(|bucket| bucket.iter().sum::<f64>());
    let highest = sums.fold(1.0, f64::max);
    let up = Axis { from: 0.0, to: highest, write: &|n| format!("{n:.1}") };
    // the uppermost is drawn first, so that each covers what is below it
    let series = (0..PHASES.len()).rev().map(|phase| {
        let points = over.buckets.iter().enumerate().map(|(at, bucket)| {
            let at = over.from_ms as f64 + span * at as f64 / over.buckets.len() as f64;
            (at, bucket[..=phase].iter().sum())
        });
        let mut points: Vec<(f64, f64)> = points.collect();
        points.push((over.to_ms as f64, points.last().map_or(0.0, |last| last.1)));
        let name = format!("{} ({})", PHASES[phase], text::duration(over.sums_ms[phase]));
        Series { name, colour: phase, is_filled: true, points }
    });
    let title = "Tasks at a time, by what they did (all tasks; in brackets the time of all)";
    chart::steps(title, &across, &up, &series.collect::<Vec<_>>())
}

fn histogram(visit: &Visit<'_>, id: StageAttemptId, view: &mut View) {
    let spread = views::spreads(visit.store, id, &[Measure::DurationMs]);
    let Some(spread) = spread.and_then(|all| all.into_iter().next()) else { return };
    let (min, max) = (spread.five[0], spread.five[4]);
    if min == max {
        return;
    }
    let across = Axis { from: min as f64, to: max as f64, write: &|ms| text::duration(ms as i64) };
    let highest = spread.bins.iter().max().copied().unwrap_or(1);
    let up = Axis { from: 0.0, to: f64::from(highest), write: &|n| text::count(n.round() as i64) };
    let width = (max - min) as f64 / views::BINS as f64;
    let marks = spread.bins.iter().enumerate().filter(|(_, n)| **n > 0).map(|(at, n)| {
        let (from, to) = (min as f64 + width * at as f64, min as f64 + width * (at + 1) as f64);
        let hint = format!(
            "{} took {} to {}",
            text::counted(i64::from(*n), "task", "tasks"),
            text::duration(from as i64),
            text::duration(to as i64)
        );
        Mark { from, to, parts: vec![(3, f64::from(*n))], hint, link: String::new() }
    });
    let title = "Tasks by duration (those that succeeded)";
    view.push(Block::Markup(chart::bars(title, &across, &up, &marks.collect::<Vec<_>>(), &[])));
}

fn scatter(visit: &Visit<'_>, id: StageAttemptId, view: &mut View) {
    let all = views::duration_and_bytes(visit.store, id, DOTS_MAX);
    let largest = all.iter().map(|(_, _, bytes)| *bytes).max().unwrap_or(0);
    let longest = all.iter().map(|(_, ms, _)| *ms).max().unwrap_or(0);
    if all.len() < 3 || largest <= 0 || longest <= 0 {
        return;
    }
    let across = Axis { from: 0.0, to: largest as f64, write: &|n| text::bytes(n as i64) };
    let up = Axis { from: 0.0, to: longest as f64, write: &|ms| text::duration(ms as i64) };
    let marks = all.iter().map(|(task, ms, bytes)| Mark {
        from: *bytes as f64,
        to: *bytes as f64,
        parts: vec![(0, *ms as f64)],
        hint: format!("task {}: {}, read {}", task.index, text::duration(*ms), text::bytes(*bytes)),
        link: String::new(),
    });
    let title = "Duration against bytes read: a rising line is data, dots high on the left are slow hosts or waiting";
    view.push(Block::Markup(chart::dots(title, &across, &up, &marks.collect::<Vec<_>>())));
}

/// Tasks between `from` and `to` (ms), as JSON: of more than can be sent, the longest. Each is a list: index, attempt, task
/// id, launch, duration, status, executor's place in `executors`, and the time of each phase.
pub(super) fn export(visit: &Visit<'_>, id: StageAttemptId) -> Option<Answer> {
    if visit.query().first("export")? != "timeline" {
        return None;
    }
    let from_ms = visit.asked::<i64>("from").unwrap_or(i64::MIN);
    let to_ms = visit.asked::<i64>("to").unwrap_or(i64::MAX);
    let query = views::TaskQuery {
        key: views::TaskKey::Derived(Measure::DurationMs),
        descending: true,
        n_max: TASKS_MAX,
        only: views::TasksOnly { within_ms: Some((from_ms, to_ms)), ..views::TasksOnly::default() },
        ..views::TaskQuery::default()
    };
    let mut executors: Vec<&str> = Vec::new();
    let mut out = Vec::new();
    let n_all = views::n_tasks_that(visit.store, id, &query);
    out.extend_from_slice(b"{\"tasks\":[");
    let mut is_first = true;
    views::visit_tasks(visit.store, id, &query, |task| {
        let executor = executors.iter().position(|known| *known == task.executor);
        let executor = executor.unwrap_or_else(|| {
            executors.push(task.executor);
            executors.len() - 1
        });
        let phases = views::task_phases(&task.row, task.duration_ms);
        let comma = if is_first { "" } else { "," };
        is_first = false;
        // writing to memory does not fail
        write!(
            out,
            "{comma}[{},{},{},{},{},\"{}\",{executor},{}]",
            task.row[C::index],
            task.row[C::attempt],
            task.row[C::task_id],
            task.row[C::launched_at_ms],
            task.duration_ms,
            task.status.as_spark(),
            phases.map(|ms| ms.to_string()).join(","),
        )
        .ok();
    });
    let rest = serde_json::json!({ "executors": executors, "phases": PHASES, "n_all": n_all });
    let rest = rest.to_string();
    out.extend_from_slice(b"],");
    out.extend_from_slice(rest.trim_start_matches('{').as_bytes());
    Some(Answer::of(200, "application/json", out))
}
