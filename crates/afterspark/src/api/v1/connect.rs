//! Spark Connect sessions and operations (4.3).

use serde::Serialize;
use store::OperationState;
use views::{ConnectOperationLine, ConnectSessionLine};

use super::{Call, Route, params};
use crate::api::{Answer, Handled, base64};

pub(super) const ROUTES: &[Route] = &[
    (&["connect", "sessions"], sessions),
    (&["connect", "sessions", "*"], session),
    (&["connect", "operations"], operations),
    (&["connect", "operations", "detail"], operation),
];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Session<'s> {
    session_id: &'s str,
    user_id: &'s str,
    start_timestamp: i64,
    finish_timestamp: i64,
    total_execution: i64,
    total_time: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Operation<'s> {
    job_tag: &'s str,
    operation_id: &'s str,
    session_id: &'s str,
    user_id: &'s str,
    statement: &'s str,
    state: &'static str,
    start_timestamp: i64,
    finish_timestamp: i64,
    close_timestamp: i64,
    duration: i64,
    execution_time: i64,
    spark_session_tags: Vec<&'s str>,
    job_ids: Vec<String>,
    sql_exec_ids: Vec<String>,
    detail: &'s str,
}

/// What is asked for of a list: all of it unless a length is given; without one the offset counts for nothing.
fn page(call: &Call<'_>) -> Result<(usize, usize), Answer> {
    let offset = params::int(call.query(), "offset", 0)?;
    let length = params::int(call.query(), "length", -1)?;
    let whole = (0, usize::MAX);
    let page = (usize::try_from(offset).unwrap_or(0), usize::try_from(length).unwrap_or(0));
    Ok(if length > 0 { page } else { whole })
}

fn sessions(call: &Call<'_>) -> Handled {
    let (offset, limit) = page(call)?;
    let lines = views::connect_sessions(call.store, offset, limit);
    Ok(Answer::json(&lines.map(|line| session_shape(&line)).collect::<Vec<_>>()))
}

fn session(call: &Call<'_>) -> Handled {
    let id = call.ids[0];
    let user =
        call.query().first("userId").ok_or_else(|| Answer::text(400, "userId is required."))?;
    let user = base64::decode_text(user)
        .ok_or_else(|| Answer::text(400, "userId must be a base64url-encoded string."))?;
    let line = views::connect_session(call.store, &user, id)
        .ok_or_else(|| Answer::text(404, format!("unknown session id: {id}")))?;
    Ok(Answer::json(&session_shape(&line)))
}

fn session_shape<'s>(line: &ConnectSessionLine<'s>) -> Session<'s> {
    Session {
        session_id: line.id,
        user_id: line.user,
        start_timestamp: line.row.started_at_ms,
        finish_timestamp: line.row.ended_at_ms.unwrap_or(0),
        total_execution: line.row.n_operations,
        total_time: line.duration_ms,
    }
}

fn operations(call: &Call<'_>) -> Handled {
    let (offset, limit) = page(call)?;
    let lines = views::connect_operations(call.store, offset, limit);
    Ok(Answer::json(&lines.map(|line| operation_shape(call, &line)).collect::<Vec<_>>()))
}

fn operation(call: &Call<'_>) -> Handled {
    let tag = call.query().first("jobTag").filter(|tag| !tag.is_empty());
    let tag = tag.ok_or_else(|| Answer::text(400, "jobTag is required."))?;
    let line = views::connect_operation(call.store, tag)
        .ok_or_else(|| Answer::text(404, format!("unknown jobTag: {tag}")))?;
    Ok(Answer::json(&operation_shape(call, &line)))
}

fn operation_shape<'c>(call: &Call<'c>, line: &ConnectOperationLine<'c>) -> Operation<'c> {
    let row = line.row;
    let text = |text| call.store.text(text);
    let mut spark_session_tags: Vec<&str> = row.session_tags.iter().map(|t| text(*t)).collect();
    spark_session_tags.sort_by(|a, b| store::java_order(a, b));
    let mut jobs = row.jobs.clone();
    jobs.sort_unstable();
    Operation {
        job_tag: text(row.job_tag),
        operation_id: text(row.id),
        session_id: text(row.session),
        user_id: text(row.user),
        statement: call.store.blob_text(&row.statement),
        state: match row.state {
            OperationState::Started => "STARTED",
            OperationState::Compiled => "COMPILED",
            OperationState::Ready => "READY",
            OperationState::Canceled => "CANCELED",
            OperationState::Failed => "FAILED",
            OperationState::Finished => "FINISHED",
            OperationState::Closed => "CLOSED",
        },
        start_timestamp: row.started_at_ms,
        finish_timestamp: row.finished_at_ms.unwrap_or(0),
        close_timestamp: row.closed_at_ms.unwrap_or(0),
        duration: line.duration_ms,
        execution_time: line.execution_ms,
        spark_session_tags,
        job_ids: jobs.iter().map(i32::to_string).collect(),
        sql_exec_ids: row.sql_executions.iter().map(i64::to_string).collect(),
        detail: call.store.blob_text(&row.error),
    }
}
