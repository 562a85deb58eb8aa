//! Structured Streaming queries and their progress, for reading.

use store::{Store, StreamingProgress, StreamingQuery};

use crate::span::{page, span_ms};

/// A run of a query, for reading.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamingQueryLine<'s> {
    pub row: &'s StreamingQuery,
    /// To the last event of the log while it runs; `None` when the log does not say when it began.
    pub duration_ms: Option<i64>,
    /// What it reported last.
    pub last_progress: Option<StreamingProgress>,
}

fn line<'s>(store: &'s Store, row: &'s StreamingQuery) -> StreamingQueryLine<'s> {
    StreamingQueryLine {
        row,
        duration_ms: row.started_at_ms.map(|from| span_ms(store, from, row.ended_at_ms)),
        last_progress: row.progress.last().and_then(|blob| store.progress(blob)),
    }
}

/// Runs of queries in the order in which they first appear: `limit` from `offset` on.
pub fn streaming_queries(
    store: &Store,
    offset: usize,
    limit: usize,
) -> impl Iterator<Item = StreamingQueryLine<'_>> {
    page(&store.tables().streaming_queries, offset, limit).iter().map(|row| line(store, row))
}

/// A run of a query by its run id.
pub fn streaming_query<'s>(store: &'s Store, run_id: &str) -> Option<StreamingQueryLine<'s>> {
    let mut rows = store.tables().streaming_queries.iter();
    rows.find(|row| store.text(row.run_id) == run_id).map(|row| line(store, row))
}

/// Reports of a run in log order: `limit` from `offset` on.
pub fn streaming_progress<'s>(
    store: &'s Store,
    row: &'s StreamingQuery,
    offset: usize,
    limit: usize,
) -> impl Iterator<Item = StreamingProgress> {
    page(&row.progress, offset, limit).iter().filter_map(|blob| store.progress(blob))
}
