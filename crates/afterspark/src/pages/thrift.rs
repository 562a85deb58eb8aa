//! `sqlserver/` and `sqlserver/session/?id=`: sessions and statements of clients of the Thrift server (JDBC, ODBC).

use store::StatementState;
use views::{ThriftSessionLine, ThriftStatementLine};

use super::table::{Cell, Column, Link, Shown, number, table, words};
use super::view::{Block, View, fact};
use super::visit::{Visit, encoded};
use super::{Page, Tab};
use crate::api::Answer;
use crate::text;

pub(super) const PAGES: &[Page] = &[
    Page {
        path: &["sqlserver"],
        tab: Tab::Used("JDBC/ODBC Server", |tables| {
            !tables.thrift_sessions.is_empty() || !tables.thrift_statements.is_empty()
        }),
        view,
    },
    Page { path: &["sqlserver", "session"], tab: Tab::Below, view: session },
];

const EMPTY: &str =
    "None: no client of the Thrift server did anything, or the log lacks the events.";
/// Links to jobs in a cell.
const JOBS_MAX: usize = 12;

fn view(visit: &Visit<'_>) -> Result<View, Answer> {
    let sessions: Vec<ThriftSessionLine<'_>> =
        views::thrift_sessions(visit.store, 0, usize::MAX).collect();
    let statements: Vec<ThriftStatementLine<'_>> =
        views::thrift_statements(visit.store, 0, usize::MAX).collect();
    let mut view = View::new("JDBC/ODBC Server");
    let open = sessions.iter().filter(|s| s.row.ended_at_ms.is_none()).count();
    let running = statements.iter().filter(|s| s.row.closed_at_ms.is_none()).count();
    view.push(Block::Facts(vec![
        fact("Sessions online", "When the log ended", Cell::text(open.to_string())),
        fact("Statements running", "When the log ended", Cell::text(running.to_string())),
    ]));
    let shown = Shown {
        tag: "sessionstat",
        title: "Session statistics",
        sort: "Start time",
        descending: true,
        empty: EMPTY,
    };
    view.push(Block::table(table(visit.query(), &shown, &session_columns(visit), &sessions)?));
    let rows: Vec<&ThriftStatementLine<'_>> = statements.iter().collect();
    view.push(Block::table(table(visit.query(), &STATEMENTS, &statement_columns(visit), &rows)?));
    Ok(view)
}

const STATEMENTS: Shown = Shown {
    tag: "sqlstat",
    title: "SQL statistics",
    sort: "Duration",
    descending: true,
    empty: EMPTY,
};

fn session(visit: &Visit<'_>) -> Result<View, Answer> {
    let Some(id) = visit.query().first("id") else {
        return Ok(View::nothing(
            400,
            "The address lacks the id of a session: sqlserver/session/?id=…",
        ));
    };
    let mut sessions = views::thrift_sessions(visit.store, 0, usize::MAX);
    let Some(line) = sessions.find(|s| visit.text(s.row.id) == id) else {
        let why = format!("No session had the id {}.", text::one_line(id, 80));
        return Ok(View::nothing(404, why));
    };
    let mut view = View::new(format!("Session {}", text::one_line(id, 80)));
    let up = format!("{}/sqlserver/", visit.base);
    view.trail.push(Link { text: "JDBC/ODBC Server".to_owned(), to: up });
    view.push(Block::Facts(vec![
        fact("User", "", Cell::text(visit.text(line.row.user))),
        fact("IP address", "Of the client", Cell::text(visit.text(line.row.address))),
        fact("Started", "", visit.instant(Some(line.row.started_at_ms))),
        fact("Finished", "", visit.instant(line.row.ended_at_ms)),
        fact("Duration", "", Cell::text(text::duration(line.duration_ms))),
        fact("Statements", "", Cell::text(text::count(line.row.n_statements))),
    ]));
    let all: Vec<ThriftStatementLine<'_>> =
        views::thrift_statements(visit.store, 0, usize::MAX).collect();
    let own: Vec<&ThriftStatementLine<'_>> =
        all.iter().filter(|s| visit.text(s.row.session) == id).collect();
    view.push(Block::table(table(visit.query(), &STATEMENTS, &statement_columns(visit), &own)?));
    Ok(view)
}

fn session_columns<'v>(visit: &'v Visit<'v>) -> Vec<Column<'v, ThriftSessionLine<'v>>> {
    type Row<'r> = ThriftSessionLine<'r>;
    let link = |id: &str| format!("{}/sqlserver/session/?id={}", visit.base, encoded(id));
    vec![
        words("User", "", move |s: &Row<'_>| Cell::text(visit.text(s.row.user))),
        words("IP", "Of the client", move |s: &Row<'_>| Cell::text(visit.text(s.row.address))),
        words("Session ID", "Leads to its statements", move |s: &Row<'_>| {
            let id = visit.text(s.row.id);
            Cell::text(id).link(link(id))
        }),
        visit.instants("Start time", "", |s: &Row<'_>| Some(s.row.started_at_ms)),
        visit.instants("Finish time", "", |s: &Row<'_>| s.row.ended_at_ms),
        number(
            "Duration",
            "To the last event of the log while it is open",
            text::duration,
            |s: &Row<'_>| Some(s.duration_ms),
        ),
        number("Total execute", "Statements", text::count, |s: &Row<'_>| Some(s.row.n_statements)),
    ]
}

fn state(s: &ThriftStatementLine<'_>, has_error: bool) -> Cell {
    let name = match s.row.state {
        StatementState::Started => "STARTED",
        StatementState::Compiled => "COMPILED",
        StatementState::Canceled => "CANCELED",
        StatementState::TimedOut => "TIMEDOUT",
        StatementState::Failed => "FAILED",
        StatementState::Finished => "FINISHED",
        StatementState::Closed => "CLOSED",
    };
    // Spark's page shows those that failed as closed
    let failed = has_error && name != "FAILED";
    Cell::text(if failed { format!("{name} (failed)") } else { name.to_owned() }).bad_if(has_error)
}

fn statement_columns<'v>(visit: &'v Visit<'v>) -> Vec<Column<'v, &'v ThriftStatementLine<'v>>> {
    type Row<'r> = &'r ThriftStatementLine<'r>;
    let error = |s: &Row<'_>| visit.store.blob_text(&s.row.error);
    let session = |s: &Row<'_>| {
        let id = visit.text(s.row.session);
        (id, format!("{}/sqlserver/session/?id={}", visit.base, encoded(id)))
    };
    vec![
        words("User", "", move |s: &Row<'_>| Cell::text(visit.text(s.row.user))),
        words("Jobs", "That it started", move |s: &Row<'_>| {
            Cell::default().links(visit.jobs(s.row.jobs.iter().take(JOBS_MAX).copied()))
        }),
        words("Group ID", "What its jobs are grouped by", move |s: &Row<'_>| {
            Cell::text(visit.text(s.row.group))
        }),
        words("Session", "Of the client", move |s: &Row<'_>| {
            let (id, link) = session(s);
            Cell::text(id).link(link)
        })
        .optional(),
        visit.instants("Start time", "", |s: &Row<'_>| Some(s.row.started_at_ms)),
        visit.instants("Finish time", "Executed, before results were fetched", |s: &Row<'_>| {
            s.row.finished_at_ms
        }),
        visit
            .instants("Close time", "After results were fetched", |s: &Row<'_>| s.row.closed_at_ms),
        number("Execution time", "Start to finish", text::duration, |s: &Row<'_>| {
            Some(s.execution_ms)
        }),
        number("Duration", "Start to close", text::duration, |s: &Row<'_>| Some(s.duration_ms)),
        words("Statement", "As the client sent it", move |s: &Row<'_>| {
            Cell::folded(visit.store.blob_text(&s.row.statement), 100)
        }),
        words("State", "Those that failed end closed, too", move |s: &Row<'_>| {
            state(s, !error(s).is_empty())
        }),
        words("Detail", "Why it failed, or its plan", move |s: &Row<'_>| {
            let why = error(s);
            if why.is_empty() {
                Cell::folded(visit.store.blob_text(&s.row.plan), 40)
            } else {
                Cell::folded(why, 100).bad_if(true)
            }
        }),
    ]
}
