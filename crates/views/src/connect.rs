//! What clients of Spark Connect had done, for reading.

use store::{ConnectOperation, ConnectSession, Store, java_order};

use crate::span::{page, span_ms};

/// A session of a Connect client, for reading.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectSessionLine<'s> {
    pub row: &'s ConnectSession,
    pub user: &'s str,
    pub id: &'s str,
    /// To the last event of the log while it is open.
    pub duration_ms: i64,
}

/// An operation of a Connect client, for reading.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectOperationLine<'s> {
    pub row: &'s ConnectOperation,
    /// Until it was closed; to the last event of the log before that.
    pub duration_ms: i64,
    /// Until it had its result, or failed to.
    pub execution_ms: i64,
}

fn session_line<'s>(store: &'s Store, row: &'s ConnectSession) -> ConnectSessionLine<'s> {
    ConnectSessionLine {
        row,
        user: store.text(row.user),
        id: store.text(row.id),
        duration_ms: span_ms(store, row.started_at_ms, row.ended_at_ms),
    }
}

fn operation_line<'s>(store: &Store, row: &'s ConnectOperation) -> ConnectOperationLine<'s> {
    ConnectOperationLine {
        row,
        duration_ms: span_ms(store, row.started_at_ms, row.closed_at_ms),
        execution_ms: span_ms(store, row.started_at_ms, row.finished_at_ms),
    }
}

/// Sessions of Connect by user and id: `limit` from `offset` on.
pub fn connect_sessions(
    store: &Store,
    offset: usize,
    limit: usize,
) -> impl Iterator<Item = ConnectSessionLine<'_>> {
    let rows = page(&store.tables().connect_sessions, offset, limit);
    rows.iter().map(|row| session_line(store, row))
}

/// A session of Connect by user and id.
pub fn connect_session<'s>(
    store: &'s Store,
    user: &str,
    id: &str,
) -> Option<ConnectSessionLine<'s>> {
    let name = format!("{user}/{id}");
    let sessions = &store.tables().connect_sessions;
    let name_of = |s: &ConnectSession| format!("{}/{}", store.text(s.user), store.text(s.id));
    let at = sessions.binary_search_by(|s| java_order(&name_of(s), &name)).ok()?;
    sessions.get(at).map(|row| session_line(store, row))
}

/// Operations of Connect by their tags: `limit` from `offset` on.
pub fn connect_operations(
    store: &Store,
    offset: usize,
    limit: usize,
) -> impl Iterator<Item = ConnectOperationLine<'_>> {
    let rows = page(&store.tables().connect_operations, offset, limit);
    rows.iter().map(|row| operation_line(store, row))
}

/// An operation of Connect by its tag.
pub fn connect_operation<'s>(store: &'s Store, tag: &str) -> Option<ConnectOperationLine<'s>> {
    let operations = &store.tables().connect_operations;
    let at = operations.binary_search_by(|o| java_order(store.text(o.job_tag), tag)).ok()?;
    operations.get(at).map(|row| operation_line(store, row))
}
