//! `streaming`: the Structured Streaming queries of an application.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Endpoint, Handler, PAGE, compact, page, schema_of};
use crate::api::Handled;
use crate::api::v1::Call;

pub(super) const ENDPOINT: Endpoint = Endpoint {
    path: &["streaming"],
    path_parameters: &[],
    parameters: PAGE,
    summary: "Runs of Structured Streaming queries, in the order in which they first appear.",
    handler: Handler::Attempt(answer),
    schema: schema_of::<Queries<'_>>,
};

#[derive(Serialize, JsonSchema)]
struct Queries<'s> {
    n_queries: usize,
    queries: Vec<StreamingQuery<'s>>,
}

/// A run of a query.
#[derive(Serialize, JsonSchema)]
pub(super) struct StreamingQuery<'s> {
    /// The same for all runs from one checkpoint.
    id: &'s str,
    run_id: &'s str,
    name: Option<&'s str>,
    started_at_ms: Option<i64>,
    /// The latest instant before its end; null while it runs.
    ended_at_ms: Option<i64>,
    /// To the last event of the log while it runs.
    duration_ms: Option<i64>,
    is_terminated: bool,
    /// Why it failed.
    exception: Option<&'s str>,
    job_tags: Vec<&'s str>,
    /// Over all its reports.
    n_input_rows: i64,
    n_progress_reports: usize,
    last_batch_id: Option<i64>,
    last_batch_ms: Option<i64>,
    /// Null where Spark could not tell.
    last_input_rows_per_s: Option<f64>,
    last_processed_rows_per_s: Option<f64>,
}

impl<'s> StreamingQuery<'s> {
    pub(super) fn of(call: &Call<'s>, line: &views::StreamingQueryLine<'s>) -> StreamingQuery<'s> {
        let row = line.row;
        let last = line.last_progress.as_ref();
        let text = |text| call.store.text(text);
        StreamingQuery {
            id: text(row.id),
            run_id: text(row.run_id),
            name: row.name.map(text),
            started_at_ms: row.started_at_ms,
            ended_at_ms: row.ended_at_ms,
            duration_ms: line.duration_ms,
            is_terminated: row.terminated,
            exception: row.exception.map(text),
            job_tags: row.job_tags.iter().map(|tag| text(*tag)).collect(),
            n_input_rows: row.n_input_rows,
            n_progress_reports: row.progress.len(),
            last_batch_id: last.map(|progress| progress.batch_id),
            last_batch_ms: last.and_then(|progress| progress.batch_ms),
            last_input_rows_per_s: last.and_then(|progress| progress.input_rows_per_s),
            last_processed_rows_per_s: last.and_then(|progress| progress.processed_rows_per_s),
        }
    }
}

fn answer(call: &Call<'_>) -> Handled {
    let (offset, length) = page(call.query())?;
    let lines = views::streaming_queries(call.store, offset, length);
    Ok(compact(&Queries {
        n_queries: call.store.tables().streaming_queries.len(),
        queries: lines.map(|line| StreamingQuery::of(call, &line)).collect(),
    }))
}
