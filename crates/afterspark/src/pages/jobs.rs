//! `jobs/`: the jobs of an application, by state.

use store::JobStatus;
use views::{JobLine, Scope};

use super::frame::Frame;
use super::table::{Cell, Column, Shown, number, table, words};
use super::{App, Page, html};
use crate::api::{Handled, v1::Call};
use crate::text;

pub(super) const PAGE: Page = Page { path: "jobs", title: "Jobs", handler };

/// What is looked at first stands first.
const TABLES: [(JobStatus, Shown); 3] = [
    (
        JobStatus::Failed,
        Shown { tag: "failedJob", title: "Failed jobs", sort: "Job", descending: true },
    ),
    (
        JobStatus::Running,
        Shown { tag: "activeJob", title: "Running jobs", sort: "Job", descending: true },
    ),
    (
        JobStatus::Succeeded,
        Shown { tag: "completedJob", title: "Completed jobs", sort: "Duration", descending: true },
    ),
];

fn handler(call: &Call<'_>) -> Handled {
    let jobs = views::jobs(call.store, Scope::default());
    let columns = columns(call);
    let mut of_failed = self::columns(call);
    of_failed.insert(FAILURE_AT, failure(call));
    let mut tables = Vec::new();
    for (status, shown) in &TABLES {
        let of: Vec<&JobLine<'_>> = jobs.iter().filter(|job| job.row.status == *status).collect();
        if !of.is_empty() || *status == JobStatus::Succeeded {
            let columns = if *status == JobStatus::Failed { &of_failed } else { &columns };
            tables.push(table(call.query(), shown, columns, &of)?);
        }
    }
    let frame = Frame::of(call, PAGE.title);
    Ok(html(200, &App { root: &frame.root, frame: &frame, tables }))
}

/// Behind what tells what it is.
const FAILURE_AT: usize = 2;

type Row<'c> = &'c JobLine<'c>;

fn columns<'c>(call: &'c Call<'_>) -> Vec<Column<'c, Row<'c>>> {
    let text_of = |text| call.store.text(text);
    let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    vec![
        number(
            "Job",
            "Id of the job",
            |id| id.to_string(),
            |job: &Row<'_>| Some(i64::from(job.row.id)),
        ),
        words(
            "Description",
            "Of the job, or where the driver's code asked for it",
            move |job: &Row<'_>| {
                let row = job.row;
                let full = row.description.map(text_of).filter(|text| !text.is_empty());
                let full = full.unwrap_or_else(|| text_of(row.name));
                Cell::text(text::one_line(full, 100)).exact(full)
            },
        ),
        words("Group", "Job group that the driver's code named", move |job: &Row<'_>| {
            Cell::text(job.row.group.map(text_of).unwrap_or_default())
        }),
        number("Submitted", "In UTC", text::instant, |job: &Row<'_>| job.row.submitted_at_ms),
        number(
            "Duration",
            "Submission to completion; to the last event while it runs",
            text::duration,
            |job: &Row<'_>| job.duration_ms,
        ),
        number("Stages done", "Stages that were completed", text::count, move |job: &Row<'_>| {
            Some(count(job.row.counts.completed_stages.len()))
        }),
        number(
            "Stages skipped",
            "Their output was there already",
            text::count,
            move |job: &Row<'_>| Some(count(job.row.counts.skipped_stages.len())),
        ),
        number("Stages failed", "Failed attempts of stages", text::count, |job: &Row<'_>| {
            Some(job.row.counts.n_failed_stages)
        }),
        number("Tasks done", "Tasks that succeeded", text::count, |job: &Row<'_>| {
            Some(job.row.counts.n_completed_tasks)
        }),
        number(
            "Tasks",
            "Tasks of all its stages, skipped ones included",
            text::count,
            |job: &Row<'_>| Some(job.row.n_tasks),
        ),
        number("Tasks failed", "Failed attempts of tasks", text::count, |job: &Row<'_>| {
            Some(job.row.counts.n_failed_tasks)
        }),
    ]
}

/// Of what failed only.
fn failure<'c>(call: &'c Call<'_>) -> Column<'c, Row<'c>> {
    let text_of = |text| call.store.text(text);
    words("Failure", "Why the job failed", move |job: &Row<'_>| {
        let why = job.row.failure.map(text_of).unwrap_or_default();
        Cell::text(text::one_line(why, 120)).exact(why).bad_if(true)
    })
}
