//! `StreamingQuery/` and `StreamingQuery/statistics/?id=`: runs of Structured Streaming queries, and what they reported about
//! their batches.

use store::StreamingProgress;
use views::StreamingQueryLine;

use super::streaming_charts;
use super::table::{Cell, Column, Link, Shown, number, sorted, table, words};
use super::view::{Block, View, fact};
use super::visit::{Visit, encoded};
use super::{Page, Tab};
use crate::api::Answer;
use crate::text;

pub(super) const PAGES: &[Page] = &[
    Page {
        path: &["StreamingQuery"],
        tab: Tab::Used("Structured Streaming", |tables| !tables.streaming_queries.is_empty()),
        view,
    },
    Page { path: &["StreamingQuery", "statistics"], tab: Tab::Below, view: statistics },
];

const EMPTY: &str =
    "None: the application ran no Structured Streaming query, or the log lacks the events.";
/// Reports that a page takes in; of more, the last.
const REPORTS_MAX: usize = 2_000;

type Row<'r> = &'r StreamingQueryLine<'r>;

fn link(visit: &Visit<'_>, row: &store::StreamingQuery) -> String {
    format!("{}/StreamingQuery/statistics/?id={}", visit.base, encoded(visit.text(row.run_id)))
}

fn view(visit: &Visit<'_>) -> Result<View, Answer> {
    let lines: Vec<StreamingQueryLine<'_>> =
        views::streaming_queries(visit.store, 0, usize::MAX).collect();
    let mut view = View::new("Structured Streaming");
    let (active, done): (Vec<Row<'_>>, Vec<Row<'_>>) =
        lines.iter().partition(|line| !line.row.terminated);
    let has_ended = visit.store.tables().app.ended_at_ms.is_some();
    let active_title =
        if has_ended { "Queries without an end in the log" } else { "Active streaming queries" };
    for (tag, title, rows) in
        [("active", active_title, active), ("completed", "Completed streaming queries", done)]
    {
        if rows.is_empty() && tag == "active" {
            continue;
        }
        let shown = Shown { tag, title, sort: "Start time", descending: true, empty: EMPTY };
        view.push(Block::table(table(visit.query(), &shown, &columns(visit), &rows)?));
    }
    Ok(view)
}

fn status(visit: &Visit<'_>, line: &StreamingQueryLine<'_>) -> Cell {
    match (line.row.exception.is_some(), line.row.terminated) {
        (true, _) => Cell::text("FAILED").bad_if(true),
        (false, true) => Cell::text("FINISHED"),
        (false, false) if visit.store.tables().app.ended_at_ms.is_some() => {
            Cell::text("no end logged")
                .exact("The application ended without an event about the query's end")
        }
        (false, false) => Cell::text("RUNNING"),
    }
}

fn rate(value: Option<f64>) -> String {
    text::or_missing(value.filter(|value| value.is_finite()), |value| format!("{value:.1}"))
}

/// A rate on average over the reports of a run, of many the last; rates that Spark could not tell are left out.
fn average(
    visit: &Visit<'_>,
    line: &StreamingQueryLine<'_>,
    of: fn(&StreamingProgress) -> Option<f64>,
) -> Option<f64> {
    let offset = line.row.progress.len().saturating_sub(REPORTS_MAX);
    let reports = views::streaming_progress(visit.store, line.row, offset, REPORTS_MAX);
    let rates = reports.filter_map(|p| of(&p)).filter(|rate| rate.is_finite());
    let (n, sum) = rates.fold((0_u32, 0.0), |(n, sum), rate| (n + 1, sum + rate));
    (n > 0).then(|| sum / f64::from(n))
}

fn columns<'v>(visit: &'v Visit<'v>) -> Vec<Column<'v, Row<'v>>> {
    let thousandths = |value: Option<f64>| value.map(|value| (value * 1e3) as i64);
    let input = move |line: &Row<'_>| average(visit, line, |p| p.input_rows_per_s);
    let done = move |line: &Row<'_>| average(visit, line, |p| p.processed_rows_per_s);
    vec![
        words(
            "Name",
            "As the driver's code named it; leads to its statistics",
            move |line: &Row<'_>| {
                let name =
                    line.row.name.map(|name| visit.text(name)).filter(|name| !name.is_empty());
                Cell::text(text::one_line(name.unwrap_or("<no name>"), 80))
                    .link(link(visit, line.row))
            },
        ),
        words("Status", "", move |line: &Row<'_>| status(visit, line)),
        words("ID", "The same for all runs from one checkpoint", move |line: &Row<'_>| {
            Cell::text(visit.text(line.row.id))
        }),
        words("Run ID", "Of this run; leads to its statistics", move |line: &Row<'_>| {
            Cell::text(visit.text(line.row.run_id)).link(link(visit, line.row))
        }),
        visit.instants("Start time", "", |line: &Row<'_>| line.row.started_at_ms),
        number(
            "Duration",
            "To its end; to the last event while it runs",
            text::duration,
            |line: &Row<'_>| line.duration_ms,
        ),
        sorted(
            "Avg input /sec",
            "Rows that came for each second, on average over the batches",
            move |line: &Row<'_>| thousandths(input(line)),
            move |line: &Row<'_>| Cell::text(rate(input(line))),
        ),
        sorted(
            "Avg process /sec",
            "Rows for each second of work, on average over the batches",
            move |line: &Row<'_>| thousandths(done(line)),
            move |line: &Row<'_>| Cell::text(rate(done(line))),
        ),
        number(
            "Latest batch",
            "Its number",
            |n| n.to_string(),
            |line: &Row<'_>| line.last_progress.as_ref().map(|progress| progress.batch_id),
        ),
        number("Batches", "That were reported", text::count, |line: &Row<'_>| {
            i64::try_from(line.row.progress.len()).ok()
        }),
        words("Error", "Why it failed", move |line: &Row<'_>| {
            let why = line.row.exception.map(|text| visit.text(text)).unwrap_or_default();
            Cell::folded(why, 120).bad_if(true)
        }),
    ]
}

fn statistics(visit: &Visit<'_>) -> Result<View, Answer> {
    let Some(run) = visit.query().first("id") else {
        return Ok(View::nothing(
            400,
            "The address lacks the id of a run: StreamingQuery/statistics/?id=…",
        ));
    };
    let Some(line) = views::streaming_query(visit.store, run) else {
        let why = format!("No streaming query ran with the run id {}.", text::one_line(run, 80));
        return Ok(View::nothing(404, why));
    };
    let name = line.row.name.map_or("<no name>", |name| visit.text(name));
    let mut view = View::new(format!("Streaming query {}", text::one_line(name, 80)));
    let up = format!("{}/StreamingQuery/", visit.base);
    view.trail.push(Link { text: "Structured Streaming".to_owned(), to: up });
    if let Some(why) = line.row.exception.map(|text| visit.text(text)) {
        let text = format!("The query failed: {}", text::one_line(why, 300));
        view.push(Block::Alarm { text, details: why.to_owned() });
    }
    let n = line.row.progress.len();
    view.push(Block::Facts(vec![
        fact("Status", "", status(visit, &line)),
        fact("Name", "", Cell::text(text::one_line(name, 120))),
        fact(
            "ID",
            "The same for all runs from one checkpoint",
            Cell::text(visit.text(line.row.id)),
        ),
        fact("Run ID", "", Cell::text(visit.text(line.row.run_id))),
        fact("Started", "", visit.instant(line.row.started_at_ms)),
        fact("Ran for", "", Cell::text(text::or_missing(line.duration_ms, text::duration))),
        fact("Completed batches", "That were reported", Cell::text(text::count(n as i64))),
        fact("Input rows", "Of all batches", Cell::text(text::count(line.row.n_input_rows))),
    ]));
    let offset = n.saturating_sub(REPORTS_MAX);
    let reports: Vec<StreamingProgress> =
        views::streaming_progress(visit.store, line.row, offset, REPORTS_MAX).collect();
    if reports.is_empty() {
        view.note("The query reported no batch before the log ended.");
        return Ok(view);
    }
    if offset > 0 {
        view.note(format!("Shown are the last {REPORTS_MAX} of {n} batches."));
    }
    if let Some(told) = streaming_charts::falling_behind(&reports) {
        view.push(Block::Alarm { text: told, details: String::new() });
    }
    streaming_charts::show(visit, &reports, &mut view);
    view.push(batches(visit, &line, &reports)?);
    Ok(view)
}

fn batches(
    visit: &Visit<'_>,
    line: &StreamingQueryLine<'_>,
    reports: &[StreamingProgress],
) -> Result<Block, Answer> {
    // the description of a batch's executions names its run and number
    let run = visit.text(line.row.run_id);
    let all = views::sql_executions(visit.store, views::Scope::default());
    let of_run: Vec<(String, i64, Vec<i32>)> = all
        .iter()
        .filter(|sql| visit.text(sql.row.description).contains(run))
        .map(|sql| {
            let jobs = sql.row.jobs.iter().map(|(id, _)| *id).collect();
            (visit.text(sql.row.description).to_owned(), sql.row.id, jobs)
        })
        .collect();
    let of_batch = move |batch: i64| {
        let name = format!("batch = {batch}");
        let is_own = move |text: &str| {
            text.split(&name)
                .nth(1)
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        of_run.iter().filter(|(text, _, _)| is_own(text)).cloned().collect::<Vec<_>>()
    };
    let of_batch = std::rc::Rc::new(of_batch);
    let of_jobs = of_batch.clone();
    let columns: Vec<Column<'_, StreamingProgress>> = vec![
        number("Batch", "Its number", |n| n.to_string(), |p: &StreamingProgress| Some(p.batch_id)),
        visit.instants("Triggered", "", |p: &StreamingProgress| p.at_ms),
        number("Duration", "Of the batch", text::duration, |p: &StreamingProgress| p.batch_ms),
        number("Input rows", "", text::count, |p: &StreamingProgress| Some(p.n_input_rows)),
        sorted(
            "Input /sec",
            "Rows that came, for each second",
            |p: &StreamingProgress| p.input_rows_per_s.map(|r| (r * 1e3) as i64),
            |p: &StreamingProgress| Cell::text(rate(p.input_rows_per_s)),
        ),
        sorted(
            "Process /sec",
            "Rows that were worked off, for each second of work. Under the input: it falls behind",
            |p: &StreamingProgress| p.processed_rows_per_s.map(|r| (r * 1e3) as i64),
            |p: &StreamingProgress| Cell::text(rate(p.processed_rows_per_s)),
        ),
        words("Operations", "What the time of the batch went to", |p: &StreamingProgress| {
            let mut parts: Vec<&(String, i64)> = p
                .durations
                .iter()
                .filter(|(name, ms)| name != "triggerExecution" && *ms > 0)
                .collect();
            parts.sort_by_key(|(_, ms)| std::cmp::Reverse(*ms));
            let told = parts.iter().map(|(name, ms)| format!("{name} {}", text::duration(*ms)));
            Cell::text(text::one_line(&told.collect::<Vec<_>>().join(", "), 160))
        }),
        number("State rows", "In all state stores", text::count, |p: &StreamingProgress| {
            let rows = p.state_operators.iter().map(|state| state.n_total_rows);
            (!p.state_operators.is_empty()).then(|| rows.fold(0, i64::saturating_add))
        }),
        words("Queries", "SQL executions of the batch", move |p: &StreamingProgress| {
            let links = of_batch(p.batch_id)
                .into_iter()
                .map(|(_, id, _)| Link { text: id.to_string(), to: visit.sql_link(id) });
            Cell::default().links(links.collect())
        }),
        words("Jobs", "Of the batch", move |p: &StreamingProgress| {
            let ids = of_jobs(p.batch_id).into_iter().flat_map(|(_, _, jobs)| jobs);
            Cell::default().links(visit.jobs(ids))
        }),
    ];
    let shown =
        Shown { tag: "batch", title: "Batches", sort: "Batch", descending: true, empty: EMPTY };
    Ok(Block::table(table(visit.query(), &shown, &columns, reports)?))
}
