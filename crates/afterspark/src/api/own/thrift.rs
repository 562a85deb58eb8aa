//! `thrift`: sessions of the Thrift server's clients (JDBC and ODBC) and their statements.

use schemars::JsonSchema;
use serde::Serialize;
use store::StatementState;

use super::{Endpoint, Handler, PAGE, compact, page, schema_of};
use crate::api::Handled;
use crate::api::v1::Call;

pub(super) const ENDPOINT: Endpoint = Endpoint {
    path: &["thrift"],
    path_parameters: &[],
    parameters: PAGE,
    summary: "Sessions of the Thrift server's clients and their statements, by start: a page of each.",
    handler: Handler::Attempt(answer),
    schema: schema_of::<Thrift<'_>>,
};

#[derive(Serialize, JsonSchema)]
struct Thrift<'s> {
    n_sessions: usize,
    sessions: Vec<ThriftSession<'s>>,
    n_statements: usize,
    statements: Vec<Statement<'s>>,
}

#[derive(Serialize, JsonSchema)]
struct ThriftSession<'s> {
    id: &'s str,
    user: &'s str,
    /// The client's.
    address: &'s str,
    started_at_ms: i64,
    /// Null while it is open.
    ended_at_ms: Option<i64>,
    /// To the last event of the log while it is open.
    duration_ms: i64,
    n_statements: i64,
}

#[derive(Serialize, JsonSchema)]
struct Statement<'s> {
    id: &'s str,
    session_id: &'s str,
    user: &'s str,
    /// What its jobs are grouped by.
    job_group: &'s str,
    statement: &'s str,
    /// The executed plan; empty when there is none.
    plan: &'s str,
    state: &'static str,
    started_at_ms: i64,
    finished_at_ms: Option<i64>,
    closed_at_ms: Option<i64>,
    /// Until it was closed; to the last event of the log before that.
    duration_ms: i64,
    /// Until it had its result, or failed to.
    execution_ms: i64,
    /// Why it failed; empty when it did not.
    error: &'s str,
    job_ids: &'s [i32],
}

fn answer(call: &Call<'_>) -> Handled {
    let (offset, length) = page(call.query())?;
    let store = call.store;
    let text = |text| store.text(text);
    let sessions = views::thrift_sessions(store, offset, length).map(|line| ThriftSession {
        id: text(line.row.id),
        user: text(line.row.user),
        address: text(line.row.address),
        started_at_ms: line.row.started_at_ms,
        ended_at_ms: line.row.ended_at_ms,
        duration_ms: line.duration_ms,
        n_statements: line.row.n_statements,
    });
    let statements = views::thrift_statements(store, offset, length).map(|line| Statement {
        id: text(line.row.id),
        session_id: text(line.row.session),
        user: text(line.row.user),
        job_group: text(line.row.group),
        statement: store.blob_text(&line.row.statement),
        plan: store.blob_text(&line.row.plan),
        state: state(line.row.state),
        started_at_ms: line.row.started_at_ms,
        finished_at_ms: line.row.finished_at_ms,
        closed_at_ms: line.row.closed_at_ms,
        duration_ms: line.duration_ms,
        execution_ms: line.execution_ms,
        error: store.blob_text(&line.row.error),
        job_ids: &line.row.jobs,
    });
    Ok(compact(&Thrift {
        n_sessions: store.tables().thrift_sessions.len(),
        sessions: sessions.collect(),
        n_statements: store.tables().thrift_statements.len(),
        statements: statements.collect(),
    }))
}

fn state(state: StatementState) -> &'static str {
    match state {
        StatementState::Started => "started",
        StatementState::Compiled => "compiled",
        StatementState::Canceled => "canceled",
        StatementState::TimedOut => "timed-out",
        StatementState::Failed => "failed",
        StatementState::Finished => "finished",
        StatementState::Closed => "closed",
    }
}
