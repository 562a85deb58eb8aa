//! `SQL/`: the SQL executions of an application, by state.

use views::{Scope, SqlLine, SqlStatus};

use super::frame::Frame;
use super::table::{Cell, Column, Shown, number, table, words};
use super::{App, Page, html};
use crate::api::{Handled, v1::Call};
use crate::text;

pub(super) const PAGE: Page = Page { path: "SQL", title: "SQL / DataFrame", handler };

/// What is looked at first stands first.
const TABLES: [(SqlStatus, Shown); 3] = [
    (SqlStatus::Failed, shown("failed", "Failed queries")),
    (SqlStatus::Running, shown("running", "Running queries")),
    (SqlStatus::Completed, shown("completed", "Completed queries")),
];

const fn shown(tag: &'static str, title: &'static str) -> Shown {
    Shown { tag, title, sort: "Duration", descending: true }
}

fn handler(call: &Call<'_>) -> Handled {
    let lines = views::sql_executions(call.store, Scope::default());
    let columns = columns(call);
    let mut of_failed = self::columns(call);
    of_failed.insert(FAILURE_AT, failure(call));
    let mut tables = Vec::new();
    for (status, shown) in &TABLES {
        let of: Vec<&SqlLine<'_>> = lines.iter().filter(|line| line.status == *status).collect();
        if !of.is_empty() || *status == SqlStatus::Completed {
            let columns = if *status == SqlStatus::Failed { &of_failed } else { &columns };
            tables.push(table(call.query(), shown, columns, &of)?);
        }
    }
    let frame = Frame::of(call, PAGE.title);
    Ok(html(200, &App { root: &frame.root, frame: &frame, tables }))
}

/// Behind what tells what it is.
const FAILURE_AT: usize = 2;

type Row<'c> = &'c SqlLine<'c>;

fn columns<'c>(call: &'c Call<'_>) -> Vec<Column<'c, Row<'c>>> {
    let text_of = |text| call.store.text(text);
    let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let jobs_that = |line: &SqlLine<'_>, result: Option<bool>| {
        line.row.jobs.iter().filter(|(_, succeeded)| *succeeded == result).count()
    };
    vec![
        number(
            "Query",
            "Id of the execution",
            |id| id.to_string(),
            |line: &Row<'_>| Some(line.row.id),
        ),
        words(
            "Description",
            "Of the query, or where the driver's code asked for it",
            move |line: &Row<'_>| {
                let full = text_of(line.row.description);
                Cell::text(text::one_line(full, 100)).exact(full)
            },
        ),
        number("Submitted", "In UTC", text::instant, |line: &Row<'_>| Some(line.row.started_at_ms)),
        number(
            "Duration",
            "Start to end; to the last event while it runs",
            text::duration,
            |line: &Row<'_>| Some(line.duration_ms),
        ),
        number("Jobs done", "Jobs that succeeded", text::count, move |line: &Row<'_>| {
            Some(count(jobs_that(line, Some(true))))
        }),
        number("Jobs failed", "Jobs that failed", text::count, move |line: &Row<'_>| {
            Some(count(jobs_that(line, Some(false))))
        }),
        number("Stages", "Of its jobs", text::count, move |line: &Row<'_>| {
            Some(count(line.row.stages.len()))
        }),
        number("Operators", "Nodes of the last plan", text::count, move |line: &Row<'_>| {
            Some(count(line.n_plan_nodes))
        }),
        number(
            "Plan changes",
            "Times that adaptive execution changed the plan",
            text::count,
            move |line: &Row<'_>| Some(count(line.n_plan_changes)),
        ),
        number(
            "Part of",
            "Id of the execution that this one is part of",
            |id| id.to_string(),
            |line: &Row<'_>| Some(line.root_id).filter(|root| *root != line.row.id),
        ),
    ]
}

/// Of what failed only.
fn failure<'c>(call: &'c Call<'_>) -> Column<'c, Row<'c>> {
    let text_of = |text| call.store.text(text);
    words("Error", "Why it failed", move |line: &Row<'_>| {
        let why = line.row.error.map(text_of).unwrap_or_default();
        Cell::text(text::one_line(why, 120)).exact(why).bad_if(true)
    })
}
