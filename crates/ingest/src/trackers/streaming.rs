//! Structured Streaming queries: their runs and what they report.

use std::collections::BTreeMap;

use serde_json::Value;
use store::{
    StateOperator, StreamingProgress, StreamingQuery, StreamingSink, StreamingSource, Text, Wire,
    record,
};

use crate::{batch::Document, instant, json, trackers::Context};

record! {
    pub(crate) struct Streaming {
        queries: Vec<StreamingQuery>,
        /// Positions in `queries` by run.
        by_run: BTreeMap<Text, u32>,
    }
}

impl Streaming {
    pub(crate) fn event(&mut self, document: &Document, cx: &mut Context<'_>) -> Option<()> {
        let event = &document.value;
        // up to Spark 3 the progress is JSON inside a string
        let owned: Value;
        let body = match event.get("progress") {
            Some(Value::String(text)) => {
                owned = serde_json::from_str(text).ok()?;
                &owned
            }
            Some(progress) => progress,
            None => event,
        };
        let run_id = cx.text(json::text(body, "runId")?);
        let id = cx.text(json::text(body, "id").unwrap_or_default());
        let name = json::text(body, "name").map(|t| cx.text(t));
        let n_known = self.queries.len();
        let at = *self.by_run.entry(run_id).or_insert(n_known as u32) as usize;
        if at == n_known {
            self.queries.push(StreamingQuery { id, run_id, ..StreamingQuery::default() });
        }
        let query = self.queries.get_mut(at)?;
        match document.kind.as_str() {
            "QueryStartedEvent" => {
                query.started_at_ms = json::text(event, "timestamp").and_then(instant::parse);
                query.name = name;
                let tags = json::list(event, "jobTags").iter();
                query.job_tags = tags.map(|t| cx.text(&json::as_text(t))).collect();
            }
            "QueryProgressEvent" => {
                let progress = progress(body);
                query.name = query.name.or(name);
                query.n_input_rows = query.n_input_rows.saturating_add(progress.n_input_rows);
                let mut bytes = Vec::new();
                progress.put(&mut bytes);
                query.progress.push(cx.blobs.put(&bytes));
            }
            "QueryTerminatedEvent" => {
                query.terminated = true;
                query.exception = json::text(event, "exception").map(|t| cx.text(t));
                query.ended_at_ms = cx.app.app.last_event_at_ms;
            }
            _ => {}
        }
        Some(())
    }

    pub(crate) fn finish(self) -> Vec<StreamingQuery> {
        self.queries
    }
}

fn count(value: &Value, key: &str) -> i64 {
    json::int(value, key).unwrap_or(0)
}

/// A rate; Spark writes `"NaN"` or `"Infinity"` where a batch took no time.
fn rate(value: &Value, key: &str) -> Option<f64> {
    value.get(key)?.as_f64().filter(|rate| rate.is_finite())
}

fn owned(value: &Value, key: &str) -> String {
    json::text(value, key).unwrap_or_default().to_owned()
}

fn text_pairs(value: &Value, key: &str) -> Vec<(String, String)> {
    let pairs = json::pairs(value, key).into_iter();
    pairs.map(|(key, value)| (key.to_owned(), value.into_owned())).collect()
}

fn whole_pairs(value: &Value, key: &str) -> Vec<(String, i64)> {
    let members = value.get(key).and_then(Value::as_object).into_iter().flatten();
    members.filter_map(|(key, value)| Some((key.clone(), json::whole(value)?))).collect()
}

/// Sums what was left out: from Spark 4 on the event has rows and rates of its sources only.
fn progress(body: &Value) -> StreamingProgress {
    let sources: Vec<StreamingSource> = json::list(body, "sources").iter().map(source).collect();
    let n_of_sources = sources.iter().fold(0, |sum: i64, s| sum.saturating_add(s.n_input_rows));
    let rate_of = |rates: &mut dyn Iterator<Item = f64>| rates.reduce(|sum, rate| sum + rate);
    let input = rate_of(&mut sources.iter().filter_map(|s| s.input_rows_per_s));
    let processed = rate_of(&mut sources.iter().filter_map(|s| s.processed_rows_per_s));
    let observed = body.get("observedMetrics").and_then(Value::as_object).into_iter().flatten();
    StreamingProgress {
        batch_id: json::int(body, "batchId").unwrap_or(-1),
        at_ms: json::text(body, "timestamp").and_then(instant::parse),
        batch_ms: json::int(body, "batchDuration")
            .or_else(|| json::int(body.get("durationMs")?, "triggerExecution")),
        n_input_rows: json::int(body, "numInputRows").unwrap_or(n_of_sources),
        input_rows_per_s: rate(body, "inputRowsPerSecond").or(input),
        processed_rows_per_s: rate(body, "processedRowsPerSecond").or(processed),
        durations: whole_pairs(body, "durationMs"),
        event_times: text_pairs(body, "eventTime"),
        state_operators: json::list(body, "stateOperators").iter().map(state_operator).collect(),
        sources,
        sink: body.get("sink").map(sink).unwrap_or_default(),
        observed_metrics: observed.map(|(name, value)| (name.clone(), value.to_string())).collect(),
    }
}

fn state_operator(operator: &Value) -> StateOperator {
    let count = |key| count(operator, key);
    StateOperator {
        name: owned(operator, "operatorName"),
        n_total_rows: count("numRowsTotal"),
        n_updated_rows: count("numRowsUpdated"),
        n_removed_rows: count("numRowsRemoved"),
        n_rows_dropped_by_watermark: count("numRowsDroppedByWatermark"),
        memory_bytes: count("memoryUsedBytes"),
        updates_ms: count("allUpdatesTimeMs"),
        removals_ms: count("allRemovalsTimeMs"),
        commit_ms: count("commitTimeMs"),
        n_shuffle_partitions: count("numShufflePartitions"),
        n_state_stores: count("numStateStoreInstances"),
        custom_metrics: whole_pairs(operator, "customMetrics"),
    }
}

fn source(source: &Value) -> StreamingSource {
    let offset = |key| {
        let offset = source.get(key).filter(|offset| !offset.is_null())?;
        Some(json::as_text(offset).into_owned())
    };
    StreamingSource {
        description: owned(source, "description"),
        start_offset: offset("startOffset"),
        end_offset: offset("endOffset"),
        latest_offset: offset("latestOffset"),
        n_input_rows: count(source, "numInputRows"),
        input_rows_per_s: rate(source, "inputRowsPerSecond"),
        processed_rows_per_s: rate(source, "processedRowsPerSecond"),
        metrics: text_pairs(source, "metrics"),
    }
}

fn sink(sink: &Value) -> StreamingSink {
    StreamingSink {
        description: owned(sink, "description"),
        // −1 stands for "not counted"
        n_output_rows: json::int(sink, "numOutputRows").filter(|n| *n >= 0),
        metrics: text_pairs(sink, "metrics"),
    }
}
