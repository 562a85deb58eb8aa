//! `streaming/{run}`: a run of a Structured Streaming query and what it reported about its batches.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::streaming::StreamingQuery;
use super::{Endpoint, Handler, PAGE, Parameter, compact, page, refusal, schema_of};
use crate::api::Handled;
use crate::api::v1::Call;

pub(super) const ENDPOINT: Endpoint = Endpoint {
    path: &["streaming", "*"],
    path_parameters: &[Parameter { name: "run", description: "The id of a run.", default: None }],
    parameters: PAGE,
    summary: "A run of a Structured Streaming query, and a page of what it reported about its batches.",
    handler: Handler::Attempt(answer),
    schema: schema_of::<Run<'_>>,
};

#[derive(Serialize, JsonSchema)]
struct Run<'s> {
    query: StreamingQuery<'s>,
    progress: Vec<Progress>,
}

/// What a query reported about a batch.
#[derive(Serialize, JsonSchema)]
struct Progress {
    batch_id: i64,
    /// When the batch was triggered.
    at_ms: Option<i64>,
    batch_ms: Option<i64>,
    n_input_rows: i64,
    /// Null where Spark could not tell, as are the other rates.
    input_rows_per_s: Option<f64>,
    processed_rows_per_s: Option<f64>,
    /// By phase of the batch.
    durations_ms: BTreeMap<String, i64>,
    /// `min`, `max`, `avg` and `watermark` of the event times, as Spark writes instants.
    event_times: BTreeMap<String, String>,
    state_operators: Vec<StateOperator>,
    sources: Vec<Source>,
    sink: Sink,
    /// Values as JSON.
    observed_metrics: BTreeMap<String, String>,
}

#[derive(Serialize, JsonSchema)]
struct StateOperator {
    name: String,
    n_total_rows: i64,
    n_updated_rows: i64,
    n_removed_rows: i64,
    n_rows_dropped_by_watermark: i64,
    memory_bytes: i64,
    updates_ms: i64,
    removals_ms: i64,
    commit_ms: i64,
    n_shuffle_partitions: i64,
    n_state_stores: i64,
    custom_metrics: BTreeMap<String, i64>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StreamingSource")]
struct Source {
    description: String,
    /// Offsets as the source writes them, often as JSON.
    start_offset: Option<String>,
    end_offset: Option<String>,
    latest_offset: Option<String>,
    n_input_rows: i64,
    input_rows_per_s: Option<f64>,
    processed_rows_per_s: Option<f64>,
    metrics: BTreeMap<String, String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StreamingSink")]
struct Sink {
    description: String,
    /// Null for a sink that does not count.
    n_output_rows: Option<i64>,
    metrics: BTreeMap<String, String>,
}

fn answer(call: &Call<'_>) -> Handled {
    let (offset, length) = page(call.query())?;
    let run = call.ids.first().copied().unwrap_or_default();
    let line = views::streaming_query(call.store, run)
        .ok_or_else(|| refusal(404, &format!("no run of a streaming query with the id {run}")))?;
    let progress = views::streaming_progress(call.store, line.row, offset, length);
    Ok(compact(&Run {
        query: StreamingQuery::of(call, &line),
        progress: progress.map(shape).collect(),
    }))
}

fn shape(progress: store::StreamingProgress) -> Progress {
    Progress {
        batch_id: progress.batch_id,
        at_ms: progress.at_ms,
        batch_ms: progress.batch_ms,
        n_input_rows: progress.n_input_rows,
        input_rows_per_s: progress.input_rows_per_s,
        processed_rows_per_s: progress.processed_rows_per_s,
        durations_ms: progress.durations.into_iter().collect(),
        event_times: progress.event_times.into_iter().collect(),
        state_operators: progress.state_operators.into_iter().map(state_operator).collect(),
        sources: progress.sources.into_iter().map(source).collect(),
        sink: Sink {
            description: progress.sink.description,
            n_output_rows: progress.sink.n_output_rows,
            metrics: progress.sink.metrics.into_iter().collect(),
        },
        observed_metrics: progress.observed_metrics.into_iter().collect(),
    }
}

fn state_operator(operator: store::StateOperator) -> StateOperator {
    StateOperator {
        name: operator.name,
        n_total_rows: operator.n_total_rows,
        n_updated_rows: operator.n_updated_rows,
        n_removed_rows: operator.n_removed_rows,
        n_rows_dropped_by_watermark: operator.n_rows_dropped_by_watermark,
        memory_bytes: operator.memory_bytes,
        updates_ms: operator.updates_ms,
        removals_ms: operator.removals_ms,
        commit_ms: operator.commit_ms,
        n_shuffle_partitions: operator.n_shuffle_partitions,
        n_state_stores: operator.n_state_stores,
        custom_metrics: operator.custom_metrics.into_iter().collect(),
    }
}

fn source(source: store::StreamingSource) -> Source {
    Source {
        description: source.description,
        start_offset: source.start_offset,
        end_offset: source.end_offset,
        latest_offset: source.latest_offset,
        n_input_rows: source.n_input_rows,
        input_rows_per_s: source.input_rows_per_s,
        processed_rows_per_s: source.processed_rows_per_s,
        metrics: source.metrics.into_iter().collect(),
    }
}
