//! Pages of lists, and time that goes on while something is open.

use store::Store;

use crate::app;

/// `limit` of them from `offset` on.
pub(crate) fn page<T>(rows: &[T], offset: usize, limit: usize) -> &[T] {
    let rest = rows.get(offset..).unwrap_or_default();
    rest.get(..limit).unwrap_or(rest)
}

/// From `started_at_ms` to `ended_at_ms`, or to the last event of the log.
pub(crate) fn span_ms(store: &Store, started_at_ms: i64, ended_at_ms: Option<i64>) -> i64 {
    let end = ended_at_ms.unwrap_or_else(|| app::last_event_at_ms(store));
    end.wrapping_sub(started_at_ms)
}
