//! `SQL/`: the SQL executions of an application, by state, and what they sum up to.

use std::collections::{HashMap, HashSet};

use store::TaskColumn as C;
use views::{Scope, SqlLine, SqlStatus, Work, WorkBy};

use super::execution;
use super::jobs::{INPUT, OUTPUT, SHUFFLE_READ, SHUFFLE_WRITE, TASK_TIME, spill};
use super::table::{Cell, Column, Link, Shown, address, number, sorted, table, words};
use super::view::{Block, View, fact};
use super::visit::Visit;
use super::{Page, Tab};
use crate::api::Answer;
use crate::text;

pub(super) const PAGES: &[Page] = &[
    Page {
        path: &["SQL"],
        tab: Tab::Used("SQL / DataFrame", |tables| !tables.sql_executions.is_empty()),
        view,
    },
    execution::PAGE,
];

/// What is looked at first stands first.
const TABLES: [(SqlStatus, Shown); 3] = [
    (SqlStatus::Failed, shown("failed", "Failed queries")),
    (SqlStatus::Running, shown("running", "Running queries")),
    (SqlStatus::Completed, shown("completed", "Completed queries")),
];

const fn shown(tag: &'static str, title: &'static str) -> Shown {
    let empty = "None: the application ran no SQL and no DataFrame action to its end, or the log lacks the events.";
    Shown { tag, title, sort: "Duration", descending: true, empty }
}

/// An execution, what was done for it, and what is part of it.
#[derive(Clone, Copy)]
struct Row<'c> {
    line: &'c SqlLine<'c>,
    work: Option<&'c Work>,
    parts: &'c [i64],
}

fn view(visit: &Visit<'_>) -> Result<View, Answer> {
    let lines = views::sql_executions(visit.store, Scope::default());
    let work = views::work(visit.store);
    let parts = parts(&lines);
    let mut view = View::new("SQL / DataFrame");
    view.push(summary(&lines));
    let shows_parts = visit.query().first("parts") == Some("each");
    if !parts.is_empty() {
        let to = if shows_parts { "" } else { "each" };
        let text = if shows_parts { "only whole queries" } else { "also parts by themselves" };
        let link = Link { text: text.to_owned(), to: address(visit.query(), "", &[("parts", to)]) };
        view.push(Block::Links { title: "Show", links: vec![link] });
    }
    let known: HashSet<i64> = lines.iter().map(|line| line.row.id).collect();
    let is_part = |line: &SqlLine<'_>| line.root_id != line.row.id && known.contains(&line.root_id);
    let columns = columns(visit, &work);
    let mut of_failed = self::columns(visit, &work);
    of_failed.insert(FAILURE_AT, failure(visit));
    for (status, shown) in &TABLES {
        let of = lines.iter().filter(|line| line.status == *status);
        let of = of.filter(|line| shows_parts || !is_part(line));
        let rows: Vec<Row<'_>> = of
            .map(|line| Row {
                line,
                work: work.sql.get(&line.row.id),
                parts: parts.get(&line.row.id).map_or(&[], Vec::as_slice),
            })
            .collect();
        if !rows.is_empty() || *status == SqlStatus::Completed {
            let columns = if *status == SqlStatus::Failed { &of_failed } else { &columns };
            view.push(Block::table(table(visit.query(), shown, columns, &rows)?));
        }
    }
    Ok(view)
}

/// By execution, those that are part of it.
fn parts(lines: &[SqlLine<'_>]) -> HashMap<i64, Vec<i64>> {
    let mut parts: HashMap<i64, Vec<i64>> = HashMap::new();
    for line in lines.iter().filter(|line| line.root_id != line.row.id) {
        parts.entry(line.root_id).or_default().push(line.row.id);
    }
    parts
}

/// How many there are, how long they take, and how many failed: the summary of Spark 4.3.
fn summary(lines: &[SqlLine<'_>]) -> Block {
    let with = |status| lines.iter().filter(|line| line.status == status).count() as i64;
    let n = lines.len() as i64;
    let total_ms = lines.iter().fold(0_i64, |sum, line| sum.saturating_add(line.duration_ms));
    let average_ms = (n > 0).then(|| total_ms / n.max(1));
    let failed = with(SqlStatus::Failed);
    let rate = (n > 0).then(|| failed as f64 / n as f64);
    Block::Facts(vec![
        fact("Queries", "With those that are parts of others", Cell::text(text::count(n))),
        fact(
            "Average duration",
            "Of all queries",
            Cell::text(text::or_missing(average_ms, text::duration)),
        ),
        fact("Running", "When the log ended", Cell::text(text::count(with(SqlStatus::Running)))),
        fact("Failed", "", Cell::text(text::count(failed)).bad_if(failed > 0)),
        fact("Failure rate", "", Cell::text(text::or_missing(rate, text::percent))),
    ])
}

/// Behind what tells what it is.
const FAILURE_AT: usize = 2;

/// Links to jobs in a cell.
const JOBS_MAX: usize = 8;

/// Jobs of an execution, those that failed first; what a bracket says holds for those that follow.
pub(super) fn jobs_cell(visit: &Visit<'_>, line: &SqlLine<'_>) -> Cell {
    let jobs = line.jobs();
    let that = |result: Option<bool>| -> Vec<i32> {
        jobs.iter().filter(|job| job.1 == result).map(|job| job.0).collect()
    };
    let (failed, running, done) = (that(Some(false)), that(None), that(Some(true)));
    let n = jobs.len();
    let mut links = visit.jobs(failed.iter().copied());
    for link in &mut links {
        link.text.push_str(" (failed)");
    }
    let mut of_running = visit.jobs(running.iter().copied());
    for link in &mut of_running {
        link.text.push_str(" (running)");
    }
    links.extend(of_running);
    links.extend(visit.jobs(done));
    let text = if n > JOBS_MAX { format!("{n}:") } else { String::new() };
    links.truncate(JOBS_MAX);
    Cell::text(text).links(links).bad_if(!failed.is_empty())
}

#[expect(clippy::too_many_lines, reason = "columns, one after the other")]
fn columns<'v>(visit: &'v Visit<'v>, work: &'v WorkBy) -> Vec<Column<'v, Row<'v>>> {
    let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let all_ms = work.all.sum(C::executor_run_ms);
    let share = move |row: &Row<'_>| {
        let own = row.work.and_then(|work| work.sum(C::executor_run_ms))?;
        all_ms.filter(|all| *all > 0).map(|all| own as f64 / all as f64)
    };
    vec![
        sorted(
            "Query",
            "Id of the execution; leads to its plan",
            |row: &Row<'_>| Some(row.line.row.id),
            {
                move |row: &Row<'_>| {
                    let id = row.line.row.id;
                    Cell::text(id.to_string()).link(visit.sql_link(id))
                }
            },
        ),
        words(
            "Description",
            "Of the query: its text, or what the driver's code called it",
            move |row: &Row<'_>| {
                let full = visit.text(row.line.row.description);
                Cell::text(text::one_line(full, 100)).exact(full)
            },
        ),
        visit.instants("Submitted", "When it began", |row: &Row<'_>| {
            Some(row.line.row.started_at_ms)
        }),
        number(
            "Duration",
            "Start to end; to the last event while it runs",
            text::duration,
            |row: &Row<'_>| Some(row.line.duration_ms),
        ),
        number("Task time", TASK_TIME, text::duration, |row: &Row<'_>| {
            row.work.and_then(|work| work.sum(C::executor_run_ms))
        }),
        sorted(
            "Share",
            "Of the task time of the whole application: where to look first",
            move |row: &Row<'_>| share(row).map(|share| (share * 1e6) as i64),
            move |row: &Row<'_>| Cell::text(text::or_missing(share(row), text::percent)),
        ),
        number("Tasks", "Task attempts of its stages", text::count, |row: &Row<'_>| {
            row.work.map(|work| work.n_tasks)
        })
        .optional(),
        number("Input", INPUT, text::bytes, |row: &Row<'_>| {
            row.work.and_then(|work| work.sum(C::input_bytes))
        }),
        number("Output", OUTPUT, text::bytes, |row: &Row<'_>| {
            row.work.and_then(|work| work.sum(C::output_bytes))
        })
        .optional(),
        number("Shuffle read", SHUFFLE_READ, text::bytes, |row: &Row<'_>| {
            row.work.and_then(Work::shuffle_read_bytes)
        }),
        number("Shuffle write", SHUFFLE_WRITE, text::bytes, |row: &Row<'_>| {
            row.work.and_then(|work| work.sum(C::shuffle_write_bytes))
        })
        .optional(),
        spill(|row: &Row<'_>| row.work),
        sorted(
            "Jobs",
            "Of the query; those that failed first",
            move |row: &Row<'_>| Some(count(row.line.row.jobs.len())),
            move |row: &Row<'_>| jobs_cell(visit, row.line),
        ),
        sorted(
            "Sub executions",
            "Queries that are part of it: a command's work often is",
            move |row: &Row<'_>| Some(count(row.parts.len())),
            move |row: &Row<'_>| {
                let link = |id: &i64| Link { text: id.to_string(), to: visit.sql_link(*id) };
                Cell::default().links(row.parts.iter().take(JOBS_MAX).map(link).collect())
            },
        ),
        number("Operators", "Nodes of the last plan", text::count, move |row: &Row<'_>| {
            Some(count(row.line.n_plan_nodes))
        })
        .optional(),
        number(
            "Plan changes",
            "Times that adaptive execution changed the plan",
            text::count,
            move |row: &Row<'_>| Some(count(row.line.n_plan_changes)),
        )
        .optional(),
        words("Group", "Job group that the driver's code named", move |row: &Row<'_>| {
            Cell::text(row.line.row.job_group.map(|text| visit.text(text)).unwrap_or_default())
        })
        .optional(),
        words(
            "Query ID",
            "Ordered by time, so that neighbours begin alike",
            move |row: &Row<'_>| {
                Cell::text(row.line.row.query_id.map(|text| visit.text(text)).unwrap_or_default())
            },
        )
        .optional(),
    ]
}

/// Of what failed only.
fn failure<'v>(visit: &'v Visit<'v>) -> Column<'v, Row<'v>> {
    words("Error message", "Why it failed", move |row: &Row<'_>| {
        let why = row.line.row.error.map(|text| visit.text(text)).unwrap_or_default();
        Cell::folded(why, 120).bad_if(true)
    })
}
