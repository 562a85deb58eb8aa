//! `connect/` and `connect/session/?id=`: sessions and operations of clients of Spark Connect.

use store::OperationState;
use views::{ConnectOperationLine, ConnectSessionLine};

use super::table::{Cell, Column, Link, Shown, number, table, words};
use super::view::{Block, View, fact};
use super::visit::{Visit, encoded};
use super::{Page, Tab};
use crate::api::Answer;
use crate::text;

pub(super) const PAGES: &[Page] = &[
    Page {
        path: &["connect"],
        tab: Tab::Used("Connect", |tables| {
            !tables.connect_sessions.is_empty() || !tables.connect_operations.is_empty()
        }),
        view,
    },
    Page { path: &["connect", "session"], tab: Tab::Below, view: session },
];

const EMPTY: &str = "None: no client of Spark Connect did anything, or the log lacks the events.";
/// Links in a cell.
const LINKS_MAX: usize = 12;

const REQUESTS: Shown = Shown {
    tag: "sqlstat",
    title: "Request statistics",
    sort: "Duration",
    descending: true,
    empty: EMPTY,
};

fn view(visit: &Visit<'_>) -> Result<View, Answer> {
    let sessions: Vec<ConnectSessionLine<'_>> =
        views::connect_sessions(visit.store, 0, usize::MAX).collect();
    let operations: Vec<ConnectOperationLine<'_>> =
        views::connect_operations(visit.store, 0, usize::MAX).collect();
    let mut view = View::new("Connect");
    let open = sessions.iter().filter(|s| s.row.ended_at_ms.is_none()).count();
    let running = operations.iter().filter(|o| o.row.closed_at_ms.is_none()).count();
    view.push(Block::Facts(vec![
        fact("Sessions online", "When the log ended", Cell::text(open.to_string())),
        fact("Requests running", "When the log ended", Cell::text(running.to_string())),
    ]));
    let shown = Shown {
        tag: "sessionstat",
        title: "Session statistics",
        sort: "Start time",
        descending: true,
        empty: EMPTY,
    };
    view.push(Block::table(table(visit.query(), &shown, &session_columns(visit), &sessions)?));
    let rows: Vec<&ConnectOperationLine<'_>> = operations.iter().collect();
    view.push(Block::table(table(visit.query(), &REQUESTS, &columns(visit), &rows)?));
    Ok(view)
}

fn link(visit: &Visit<'_>, id: &str) -> String {
    format!("{}/connect/session/?id={}", visit.base, encoded(id))
}

fn session(visit: &Visit<'_>) -> Result<View, Answer> {
    let Some(id) = visit.query().first("id") else {
        return Ok(View::nothing(
            400,
            "The address lacks the id of a session: connect/session/?id=…",
        ));
    };
    let mut sessions = views::connect_sessions(visit.store, 0, usize::MAX);
    let Some(line) = sessions.find(|s| s.id == id) else {
        let why = format!("No session had the id {}.", text::one_line(id, 80));
        return Ok(View::nothing(404, why));
    };
    let mut view = View::new(format!("Session {}", text::one_line(id, 80)));
    view.trail.push(Link { text: "Connect".to_owned(), to: format!("{}/connect/", visit.base) });
    view.push(Block::Facts(vec![
        fact("User", "", Cell::text(line.user)),
        fact("Started", "", visit.instant(Some(line.row.started_at_ms))),
        fact("Finished", "", visit.instant(line.row.ended_at_ms)),
        fact("Duration", "", Cell::text(text::duration(line.duration_ms))),
        fact("Requests", "", Cell::text(text::count(line.row.n_operations))),
    ]));
    let all: Vec<ConnectOperationLine<'_>> =
        views::connect_operations(visit.store, 0, usize::MAX).collect();
    let own: Vec<&ConnectOperationLine<'_>> =
        all.iter().filter(|o| visit.text(o.row.session) == id).collect();
    view.push(Block::table(table(visit.query(), &REQUESTS, &columns(visit), &own)?));
    Ok(view)
}

fn session_columns<'v>(visit: &'v Visit<'v>) -> Vec<Column<'v, ConnectSessionLine<'v>>> {
    type Row<'r> = ConnectSessionLine<'r>;
    vec![
        words("User", "", |s: &Row<'_>| Cell::text(s.user)),
        words("Session ID", "Leads to its requests", move |s: &Row<'_>| {
            Cell::text(s.id).link(link(visit, s.id))
        }),
        visit.instants("Start time", "", |s: &Row<'_>| Some(s.row.started_at_ms)),
        visit.instants("Finish time", "", |s: &Row<'_>| s.row.ended_at_ms),
        number(
            "Duration",
            "To the last event of the log while it is open",
            text::duration,
            |s: &Row<'_>| Some(s.duration_ms),
        ),
        number("Total execute", "Requests", text::count, |s: &Row<'_>| Some(s.row.n_operations)),
    ]
}

fn state(o: &ConnectOperationLine<'_>, has_error: bool) -> Cell {
    let name = match o.row.state {
        OperationState::Started => "STARTED",
        OperationState::Compiled => "COMPILED",
        OperationState::Ready => "READY",
        OperationState::Canceled => "CANCELED",
        OperationState::Failed => "FAILED",
        OperationState::Finished => "FINISHED",
        OperationState::Closed => "CLOSED",
    };
    // Spark's page shows those that failed as closed
    let failed = has_error && name != "FAILED";
    Cell::text(if failed { format!("{name} (failed)") } else { name.to_owned() }).bad_if(has_error)
}

fn columns<'v>(visit: &'v Visit<'v>) -> Vec<Column<'v, &'v ConnectOperationLine<'v>>> {
    type Row<'r> = &'r ConnectOperationLine<'r>;
    let error = |o: &Row<'_>| visit.store.blob_text(&o.row.error);
    vec![
        words("User", "", move |o: &Row<'_>| Cell::text(visit.text(o.row.user))),
        words("Jobs", "That it started", move |o: &Row<'_>| {
            Cell::default().links(visit.jobs(o.row.jobs.iter().take(LINKS_MAX).copied()))
        }),
        words("SQL queries", "That it ran", move |o: &Row<'_>| {
            let ids = o.row.sql_executions.iter().take(LINKS_MAX);
            let links = ids.map(|id| Link { text: id.to_string(), to: visit.sql_link(*id) });
            Cell::default().links(links.collect())
        }),
        words("Session ID", "Leads to its requests", move |o: &Row<'_>| {
            let id = visit.text(o.row.session);
            Cell::text(id).link(link(visit, id))
        }),
        visit.instants("Start time", "", |o: &Row<'_>| Some(o.row.started_at_ms)),
        visit.instants("Finish time", "Executed, before results were fetched", |o: &Row<'_>| {
            o.row.finished_at_ms
        }),
        visit
            .instants("Close time", "After results were fetched", |o: &Row<'_>| o.row.closed_at_ms),
        number("Execution time", "Start to finish", text::duration, |o: &Row<'_>| {
            Some(o.execution_ms)
        }),
        number("Duration", "Start to close", text::duration, |o: &Row<'_>| Some(o.duration_ms)),
        number("Rows", "That were sent to the client", text::count, |o: &Row<'_>| {
            o.row.n_produced_rows
        })
        .optional(),
        words("Statement", "The plan or command that the client sent", move |o: &Row<'_>| {
            Cell::folded(visit.store.blob_text(&o.row.statement), 80)
        }),
        words("State", "Those that failed end closed, too", move |o: &Row<'_>| {
            state(o, !error(o).is_empty())
        }),
        words("Operation ID", "", move |o: &Row<'_>| Cell::text(visit.text(o.row.id))).optional(),
        words("Job tag", "What its jobs are tagged with", move |o: &Row<'_>| {
            Cell::text(visit.text(o.row.job_tag))
        })
        .optional(),
        words("Session tags", "Of the client's own", move |o: &Row<'_>| {
            let tags = o.row.session_tags.iter().map(|tag| visit.text(*tag));
            Cell::text(tags.collect::<Vec<_>>().join(", "))
        })
        .optional(),
        words("Detail", "Why it failed", move |o: &Row<'_>| {
            Cell::folded(error(o), 100).bad_if(true)
        }),
    ]
}
