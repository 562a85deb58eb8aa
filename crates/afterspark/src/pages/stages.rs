//! `stages/`: the stage attempts of an application, by state.

use store::{StageStatus, TaskColumn as C};
use views::{Scope, StageLine};

use super::frame::Frame;
use super::table::{Cell, Column, Shown, number, table, words};
use super::{App, Page, html};
use crate::api::{Handled, v1::Call};
use crate::text;

pub(super) const PAGE: Page = Page { path: "stages", title: "Stages", handler };

/// What is looked at first stands first.
const TABLES: [(StageStatus, Shown); 5] = [
    (StageStatus::Failed, shown("failedStage", "Failed stages")),
    (StageStatus::Active, shown("activeStage", "Running stages")),
    (StageStatus::Pending, shown("pendingStage", "Stages that wait")),
    (StageStatus::Complete, shown("completedStage", "Completed stages")),
    (StageStatus::Skipped, shown("skippedStage", "Skipped stages")),
];

const fn shown(tag: &'static str, title: &'static str) -> Shown {
    Shown { tag, title, sort: "Duration", descending: true }
}

fn handler(call: &Call<'_>) -> Handled {
    let stages = views::stages(call.store, Scope::default());
    let columns = columns(call);
    let mut of_failed = self::columns(call);
    of_failed.insert(FAILURE_AT, failure(call));
    let mut tables = Vec::new();
    for (status, shown) in &TABLES {
        let of: Vec<&StageLine<'_>> = stages.iter().filter(|s| s.row.status == *status).collect();
        if !of.is_empty() || *status == StageStatus::Complete {
            let columns = if *status == StageStatus::Failed { &of_failed } else { &columns };
            tables.push(table(call.query(), shown, columns, &of)?);
        }
    }
    let frame = Frame::of(call, PAGE.title);
    Ok(html(200, &App { root: &frame.root, frame: &frame, tables }))
}

/// Behind what tells what it is.
const FAILURE_AT: usize = 3;

type Row<'c> = &'c StageLine<'c>;

fn columns<'c>(call: &'c Call<'_>) -> Vec<Column<'c, Row<'c>>> {
    let text_of = |text| call.store.text(text);
    vec![
        number(
            "Stage",
            "Id of the stage",
            |id| id.to_string(),
            |s: &Row<'_>| Some(i64::from(s.row.id.stage)),
        ),
        number(
            "Attempt",
            "Of the stage; from 0",
            |id| id.to_string(),
            |s: &Row<'_>| Some(i64::from(s.row.id.attempt)),
        ),
        words(
            "Description",
            "Of its job, or where the driver's code asked for it",
            move |s: &Row<'_>| {
                let full = s.row.description.map(text_of).filter(|text| !text.is_empty());
                let full = full.unwrap_or_else(|| text_of(s.row.name));
                Cell::text(text::one_line(full, 100)).exact(text_of(s.row.details))
            },
        ),
        number("Submitted", "In UTC", text::instant, |s: &Row<'_>| s.row.submitted_at_ms),
        number(
            "Duration",
            "Submission to completion; to the last event while it runs",
            text::duration,
            |s: &Row<'_>| s.duration_ms,
        ),
        number("Tasks", "Of the stage", text::count, |s: &Row<'_>| Some(s.row.n_tasks)),
        number("Failed", "Failed attempts of tasks", text::count, |s: &Row<'_>| {
            Some(s.row.counts.n_failed)
        }),
        number("Slowest task", "Of those that succeeded", text::duration, |s: &Row<'_>| {
            s.times.as_ref().map(|times| times.slowest_ms)
        }),
        number("Median task", "Of those that succeeded", text::duration, |s: &Row<'_>| {
            s.times.as_ref().map(|times| times.median_ms)
        }),
        number("Input", "Bytes read from storage", text::bytes, |s: &Row<'_>| {
            s.sum(C::input_bytes)
        }),
        number("Output", "Bytes written to storage", text::bytes, |s: &Row<'_>| {
            s.sum(C::output_bytes)
        }),
        number("Shuffle read", "Bytes, local and remote", text::bytes, |s: &Row<'_>| {
            s.shuffle_read_bytes()
        }),
        number("Shuffle write", "Bytes", text::bytes, |s: &Row<'_>| s.sum(C::shuffle_write_bytes)),
        number(
            "Spill",
            "Bytes that were written to disk for lack of memory",
            text::bytes,
            |s: &Row<'_>| s.sum(C::spill_disk_bytes),
        ),
        number(
            "GC",
            "Time the JVM collected garbage while tasks ran, over all tasks",
            text::duration,
            |s: &Row<'_>| s.sum(C::jvm_gc_ms),
        ),
    ]
}

/// Of what failed only.
fn failure<'c>(call: &'c Call<'_>) -> Column<'c, Row<'c>> {
    let text_of = |text| call.store.text(text);
    words("Failure", "Why the attempt failed", move |s: &Row<'_>| {
        let why = s.row.failure.map(text_of).unwrap_or_default();
        Cell::text(text::one_line(why, 120)).exact(why).bad_if(true)
    })
}
