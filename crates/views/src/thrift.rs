//! What clients of the Thrift server (JDBC and ODBC) had done, for reading.

use store::{Store, ThriftSession, ThriftStatement};

use crate::span::{page, span_ms};

/// A session, for reading.
#[derive(Clone, Debug, PartialEq)]
pub struct ThriftSessionLine<'s> {
    pub row: &'s ThriftSession,
    /// To the last event of the log while it is open.
    pub duration_ms: i64,
}

/// A statement, for reading.
#[derive(Clone, Debug, PartialEq)]
pub struct ThriftStatementLine<'s> {
    pub row: &'s ThriftStatement,
    /// Until it was closed; to the last event of the log before that.
    pub duration_ms: i64,
    /// Until it had its result, or failed to.
    pub execution_ms: i64,
}

/// Sessions by start: `limit` from `offset` on.
pub fn thrift_sessions(
    store: &Store,
    offset: usize,
    limit: usize,
) -> impl Iterator<Item = ThriftSessionLine<'_>> {
    let rows = page(&store.tables().thrift_sessions, offset, limit).iter();
    rows.map(|row| ThriftSessionLine {
        row,
        duration_ms: span_ms(store, row.started_at_ms, row.ended_at_ms),
    })
}

/// Statements by start: `limit` from `offset` on.
pub fn thrift_statements(
    store: &Store,
    offset: usize,
    limit: usize,
) -> impl Iterator<Item = ThriftStatementLine<'_>> {
    let rows = page(&store.tables().thrift_statements, offset, limit).iter();
    rows.map(|row| ThriftStatementLine {
        row,
        duration_ms: span_ms(store, row.started_at_ms, row.closed_at_ms),
        execution_ms: span_ms(store, row.started_at_ms, row.finished_at_ms),
    })
}
