//! `connect`: sessions of Spark Connect clients and their operations, for every log that has them.

use schemars::JsonSchema;
use serde::Serialize;
use store::OperationState;

use super::{Endpoint, Handler, PAGE, compact, page, schema_of};
use crate::api::Handled;
use crate::api::v1::Call;

pub(super) const ENDPOINT: Endpoint = Endpoint {
    path: &["connect"],
    path_parameters: &[],
    parameters: PAGE,
    summary: "Sessions of Spark Connect clients, by user, and their operations, by tag: a page of each.",
    handler: Handler::Attempt(answer),
    schema: schema_of::<Connect<'_>>,
};

#[derive(Serialize, JsonSchema)]
struct Connect<'s> {
    n_sessions: usize,
    sessions: Vec<ConnectSession<'s>>,
    n_operations: usize,
    operations: Vec<Operation<'s>>,
}

#[derive(Serialize, JsonSchema)]
struct ConnectSession<'s> {
    id: &'s str,
    user: &'s str,
    started_at_ms: i64,
    /// Null while it is open.
    ended_at_ms: Option<i64>,
    /// To the last event of the log while it is open.
    duration_ms: i64,
    n_operations: i64,
}

#[derive(Serialize, JsonSchema)]
struct Operation<'s> {
    id: &'s str,
    /// What its jobs are tagged with.
    job_tag: &'s str,
    session_id: &'s str,
    user: &'s str,
    /// The plan or command as text.
    statement: &'s str,
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
    session_tags: Vec<&'s str>,
    job_ids: &'s [i32],
    sql_execution_ids: Vec<i64>,
    /// Null where the log does not say.
    n_produced_rows: Option<i64>,
}

fn answer(call: &Call<'_>) -> Handled {
    let (offset, length) = page(call.query())?;
    let store = call.store;
    let text = |text| store.text(text);
    let sessions = views::connect_sessions(store, offset, length).map(|line| ConnectSession {
        id: line.id,
        user: line.user,
        started_at_ms: line.row.started_at_ms,
        ended_at_ms: line.row.ended_at_ms,
        duration_ms: line.duration_ms,
        n_operations: line.row.n_operations,
    });
    let operations = views::connect_operations(store, offset, length).map(|line| Operation {
        id: text(line.row.id),
        job_tag: text(line.row.job_tag),
        session_id: text(line.row.session),
        user: text(line.row.user),
        statement: store.blob_text(&line.row.statement),
        state: state(line.row.state),
        started_at_ms: line.row.started_at_ms,
        finished_at_ms: line.row.finished_at_ms,
        closed_at_ms: line.row.closed_at_ms,
        duration_ms: line.duration_ms,
        execution_ms: line.execution_ms,
        error: store.blob_text(&line.row.error),
        session_tags: line.row.session_tags.iter().map(|tag| text(*tag)).collect(),
        job_ids: &line.row.jobs,
        sql_execution_ids: line.row.sql_executions.iter().copied().collect(),
        n_produced_rows: line.row.n_produced_rows,
    });
    Ok(compact(&Connect {
        n_sessions: store.tables().connect_sessions.len(),
        sessions: sessions.collect(),
        n_operations: store.tables().connect_operations.len(),
        operations: operations.collect(),
    }))
}

fn state(state: OperationState) -> &'static str {
    match state {
        OperationState::Started => "started",
        OperationState::Compiled => "compiled",
        OperationState::Ready => "ready",
        OperationState::Canceled => "canceled",
        OperationState::Failed => "failed",
        OperationState::Finished => "finished",
        OperationState::Closed => "closed",
    }
}
