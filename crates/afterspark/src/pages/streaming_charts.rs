//! Charts of a streaming query over its batches: rates, rows, durations split by operation, the watermark's gap, state.

use store::StreamingProgress;

use super::chart::{self, Axis, Mark};
use super::view::{Block, View};
use super::visit::Visit;
use crate::api::Date;
use crate::text;

/// Batches that a bar stands for when there are more than bars.
const BARS_MAX: usize = 400;

/// What a query's trigger says when it works longer than batches come, over the last batches that had rows.
pub(super) fn falling_behind(reports: &[StreamingProgress]) -> Option<String> {
    let with_rows = reports.iter().rev().filter(|p| p.n_input_rows > 0).take(LAST);
    let rates = with_rows.filter_map(|p| Some((p.input_rows_per_s?, p.processed_rows_per_s?)));
    let rates: Vec<(f64, f64)> =
        rates.filter(|(a, b)| a.is_finite() && b.is_finite() && *b > 0.0).collect();
    if rates.len() < LAST_MIN {
        return None;
    }
    let n = rates.len() as f64;
    let (input, done) =
        rates.iter().fold((0.0, 0.0), |sum, rate| (sum.0 + rate.0 / n, sum.1 + rate.1 / n));
    (input > done * 1.05).then(|| {
        format!(
            "The query falls behind: over its last {} batches with rows, {input:.1} rows came each second and {done:.1} were \
             worked off.",
            rates.len()
        )
    })
}

const LAST: usize = 20;
const LAST_MIN: usize = 3;

/// A number of a batch.
type Of<'o> = &'o dyn Fn(&StreamingProgress) -> Option<f64>;
/// How such a number is written.
type Write<'w> = &'w dyn Fn(f64) -> String;

pub(super) fn show(visit: &Visit<'_>, reports: &[StreamingProgress], view: &mut View) {
    view.heading("timelines", "Over the batches");
    let every = reports.len().div_ceil(BARS_MAX).max(1);
    let shown: Vec<&StreamingProgress> = reports.iter().step_by(every).collect();
    if every > 1 {
        view.note(format!("Each bar is one of {every} batches."));
    }
    let count = |n: f64| text::count(n.round() as i64);
    let tenths = |n: f64| format!("{n:.1}");
    let ms = |n: f64| text::duration(n as i64);
    let bytes = |n: f64| text::bytes(n as i64);
    let state = |of: fn(&store::StateOperator) -> i64| {
        move |p: &StreamingProgress| {
            let sum = p.state_operators.iter().map(of).fold(0, i64::saturating_add);
            (!p.state_operators.is_empty()).then_some(sum as f64)
        }
    };
    let total = state(|s| s.n_total_rows);
    let updated = state(|s| s.n_updated_rows);
    let removed = state(|s| s.n_removed_rows);
    let memory = state(|s| s.memory_bytes);
    let late = state(|s| s.n_rows_dropped_by_watermark);
    let charts: [(&str, Of<'_>, Write<'_>); 10] = [
        ("Input rate (rows/s)", &|p| p.input_rows_per_s, &tenths),
        ("Process rate (rows/s)", &|p| p.processed_rows_per_s, &tenths),
        ("Input rows", &|p| Some(p.n_input_rows as f64), &count),
        ("Batch duration", &|p| p.batch_ms.map(|ms| ms as f64), &ms),
        ("Global watermark gap", &|p| watermark_gap_ms(p).map(|ms| ms as f64), &ms),
        ("Aggregated number of total state rows", &total, &count),
        ("Aggregated number of updated state rows", &updated, &count),
        ("Aggregated number of removed state rows", &removed, &count),
        ("Aggregated state memory used", &memory, &bytes),
        ("Rows dropped by the watermark", &late, &count),
    ];
    for (title, of, write) in charts {
        if title == "Batch duration" {
            operations(visit, &shown, view);
        }
        if shown.iter().any(|p| of(p).is_some_and(|value| value != 0.0)) {
            one(visit, title, of, write, &shown, view);
        }
    }
}

fn across<'a>(shown: &[&StreamingProgress], write: &'a dyn Fn(f64) -> String) -> Axis<'a> {
    Axis { from: 0.0, to: shown.len() as f64, write }
}

/// Number and time of a batch.
fn name(visit: &Visit<'_>, p: &StreamingProgress) -> String {
    let at = p.at_ms.map_or_else(|| text::MISSING.to_owned(), |at| visit.zone.write(at));
    format!("batch {} ({at})", p.batch_id)
}

fn batch_at<'a>(shown: &'a [&StreamingProgress]) -> impl Fn(f64) -> String + 'a {
    move |at: f64| {
        let at = (at as usize).min(shown.len().saturating_sub(1));
        shown.get(at).map_or_else(String::new, |p| format!("batch {}", p.batch_id))
    }
}

fn one(
    visit: &Visit<'_>,
    title: &str,
    of: Of<'_>,
    write: &dyn Fn(f64) -> String,
    shown: &[&StreamingProgress],
    view: &mut View,
) {
    let marks: Vec<Mark> = shown
        .iter()
        .enumerate()
        .filter_map(|(at, p)| {
            let value = of(p).filter(|value| value.is_finite())?;
            Some(Mark {
                from: at as f64,
                to: at as f64 + 1.0,
                parts: vec![(0, value.max(0.0))],
                hint: format!("{}: {}", name(visit, p), write(value)),
                link: String::new(),
            })
        })
        .collect();
    let highest = marks.iter().map(|mark| mark.parts[0].1).fold(0.0, f64::max);
    let up = Axis { from: 0.0, to: if highest > 0.0 { highest } else { 1.0 }, write };
    let names = batch_at(shown);
    let markup = chart::bars(title, &across(shown, &names), &up, &marks, &[]);
    view.push(Block::Markup(markup));
}

/// Durations of each batch by operation, each with a colour and a name.
fn operations(visit: &Visit<'_>, shown: &[&StreamingProgress], view: &mut View) {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in shown.iter().flat_map(|p| &p.durations) {
        if name != "triggerExecution" && !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names.sort_unstable();
    if names.is_empty() {
        return;
    }
    let marks: Vec<Mark> = shown
        .iter()
        .enumerate()
        .map(|(at, p)| {
            let of = |(colour, name): (usize, &&str)| {
                let ms = p.durations.iter().find(|(known, _)| known == name).map(|(_, ms)| *ms);
                (colour, ms.unwrap_or(0).max(0) as f64)
            };
            let told = names.iter().filter_map(|name| {
                let (_, ms) = p.durations.iter().find(|(known, _)| known == name)?;
                Some(format!("{name} {}", text::duration(*ms)))
            });
            let hint = format!("{}: {}", name(visit, p), told.collect::<Vec<_>>().join(", "));
            Mark {
                from: at as f64,
                to: at as f64 + 1.0,
                parts: names.iter().enumerate().map(of).collect(),
                hint,
                link: String::new(),
            }
        })
        .collect();
    let height = |mark: &Mark| mark.parts.iter().map(|(_, ms)| ms).sum::<f64>();
    let highest = marks.iter().map(height).fold(1.0, f64::max);
    let up = Axis { from: 0.0, to: highest, write: &|ms| text::duration(ms as i64) };
    let legend: Vec<(String, usize)> =
        names.iter().enumerate().map(|(colour, name)| ((*name).to_owned(), colour)).collect();
    let at = batch_at(shown);
    let markup = chart::bars("Operation duration", &across(shown, &at), &up, &marks, &legend);
    view.push(Block::Markup(markup));
}

/// How far the watermark is behind the trigger.
fn watermark_gap_ms(p: &StreamingProgress) -> Option<i64> {
    let (_, watermark) = p.event_times.iter().find(|(name, _)| name == "watermark")?;
    let Date(watermark_ms) = Date::read(watermark)?;
    // before the first event the watermark is that of 1970
    (watermark_ms > 0).then(|| p.at_ms.map(|at| at.saturating_sub(watermark_ms)))?
}
