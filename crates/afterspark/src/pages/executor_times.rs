//! Executors over time: how many there were, what of their slots was used, their memory, and garbage collection.

use views::Occupancy;

use super::chart::{self, Axis, Series};
use super::table::Cell;
use super::view::{Block, Markup, View, fact};
use super::visit::{Visit, since_start};
use crate::text;

/// Parts of the time that charts tell apart.
const PARTS: usize = 300;
/// A number of a part of the time.
type Of = fn(&views::MemoryPart) -> i64;

pub(super) fn show(visit: &Visit<'_>, view: &mut View) {
    view.heading("time", "Over time");
    let Some(occupancy) = views::occupancy(visit.store, PARTS) else {
        view.note("The log does not tell when the application began, so that nothing can be drawn over its time.");
        return;
    };
    let over = |of: fn(&views::Slots) -> f64| -> Vec<(f64, f64)> { points(&occupancy, of) };
    let series = vec![Series {
        name: "executors that were there".to_owned(),
        colour: 0,
        is_filled: true,
        points: over(|slots| slots.executors),
    }];
    view.push(Block::Markup(one(visit, &occupancy, "Executors", &count, &series)));
    view.push(Block::Markup(slots(visit, &occupancy)));
    memory(visit, view);
}

fn count(n: f64) -> String {
    if n >= 10.0 { text::count(n.round() as i64) } else { format!("{n:.1}") }
}

/// Slots that there were, those in use, and tasks that waited for one.
pub(super) fn slots(visit: &Visit<'_>, occupancy: &Occupancy) -> Markup {
    let series = vec![
        Series {
            name: "slots in use (tasks that run)".to_owned(),
            colour: 3,
            is_filled: true,
            points: points(occupancy, |slots| slots.used),
        },
        Series {
            name: "slots that there were (cores of executors)".to_owned(),
            colour: 0,
            is_filled: false,
            points: points(occupancy, |slots| slots.available),
        },
    ];
    let mut markup = one(visit, occupancy, "Slots", &count, &series);
    let waiting = points(occupancy, |slots| slots.pending);
    if waiting.iter().any(|(_, n)| *n >= 0.5) {
        let series = vec![Series {
            name: "tasks that waited for a slot".to_owned(),
            colour: 2,
            is_filled: true,
            points: waiting,
        }];
        let more = one(visit, occupancy, "Pending tasks", &count, &series);
        markup.append(&more);
    }
    markup
}

fn points(occupancy: &Occupancy, of: fn(&views::Slots) -> f64) -> Vec<(f64, f64)> {
    let values = occupancy.parts.iter().map(of).collect::<Vec<_>>();
    at_times(occupancy.from_ms, occupancy.to_ms, &values)
}

fn at_times(from_ms: i64, to_ms: i64, values: &[f64]) -> Vec<(f64, f64)> {
    let part = (to_ms - from_ms) as f64 / values.len().max(1) as f64;
    let at = |(place, value): (usize, &f64)| (from_ms as f64 + part * place as f64, *value);
    let mut points: Vec<(f64, f64)> = values.iter().enumerate().map(at).collect();
    points.extend(values.last().map(|last| (to_ms as f64, *last)));
    points
}

fn one(
    visit: &Visit<'_>,
    occupancy: &Occupancy,
    title: &str,
    write: &dyn Fn(f64) -> String,
    series: &[Series],
) -> Markup {
    over_time(visit, (occupancy.from_ms, occupancy.to_ms), title, write, series)
}

fn over_time(
    visit: &Visit<'_>,
    (from_ms, to_ms): (i64, i64),
    title: &str,
    write: &dyn Fn(f64) -> String,
    series: &[Series],
) -> Markup {
    let started_at_ms = visit.started_at_ms.unwrap_or(from_ms);
    let offset = |at: f64| since_start(at as i64, started_at_ms);
    let across = Axis { from: from_ms as f64, to: to_ms as f64, write: &offset };
    let values = series.iter().flat_map(|series| &series.points).map(|(_, value)| *value);
    let highest = values.fold(0.0, f64::max);
    let up = Axis { from: 0.0, to: if highest > 0.0 { highest } else { 1.0 }, write };
    chart::steps(title, &across, &up, series)
}

fn memory(visit: &Visit<'_>, view: &mut View) {
    let Some(over) = views::memory_over_time(visit.store, PARTS) else { return };
    let gc: Vec<f64> = over.parts.iter().map(|part| part.gc_share).collect();
    let times = (over.from_ms, over.to_ms);
    let Some(peak) = &over.peak else {
        view.note(
            "Tasks reported no memory: Spark writes it since 3.1, and polls it only as often as \
             spark.executor.metrics.pollingInterval says (0: with heartbeats, so that short tasks have none).",
        );
        return;
    };
    let set = views::environment(visit.store).and_then(|environment| {
        let found = environment.spark.iter().find(|(name, _)| *name == "spark.executor.memory");
        found.map(|(_, value)| (*value).to_owned())
    });
    view.push(Block::Facts(vec![
        fact(
            "Most heap in use",
            "Of any executor's JVM, as its tasks reported it",
            Cell::text(text::bytes(peak.bytes)).exact(format!("{} bytes", peak.bytes)),
        ),
        fact("On", "The executor", Cell::text(peak.executor)),
        fact("At", "When the task that reported it ended", visit.instant(Some(peak.at_ms))),
        fact("In stage", "", Cell::default().links(visit.stages([peak.stage]))),
        fact(
            "Heap of an executor",
            "spark.executor.memory; a heap that comes near it collects garbage all the time, and then fails",
            Cell::text(set.unwrap_or_else(|| "1g (default)".to_owned())),
        ),
    ]));
    let bytes = |n: f64| text::bytes(n as i64);
    let named: [(&str, usize, Of); 3] = [
        ("heap of the JVM", 0, |part| part.heap_bytes),
        ("execution (joins, sorts, aggregations)", 3, |part| part.execution_bytes),
        ("storage (cached blocks)", 2, |part| part.storage_bytes),
    ];
    let series = named.map(|(name, colour, of)| {
        let values: Vec<f64> = over.parts.iter().map(|part| of(part) as f64).collect();
        let points = at_times(over.from_ms, over.to_ms, &values);
        Series { name: name.to_owned(), colour, is_filled: colour == 0, points }
    });
    let title = "Memory: the most on any executor";
    view.push(Block::Markup(over_time(visit, times, title, &bytes, &series)));
    if gc.iter().any(|share| *share > 0.0) {
        let points = at_times(over.from_ms, over.to_ms, &gc);
        let name = "of the tasks' run time (a tenth and more is too much)".to_owned();
        let series = [Series { name, colour: 1, is_filled: true, points }];
        let title = "Garbage collection";
        view.push(Block::Markup(over_time(visit, times, title, &text::percent, &series)));
    }
}
