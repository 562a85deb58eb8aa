//! Structured Streaming queries and the progress that they report after each batch.

use crate::{Blob, Text, record};

record! {
    /// A run of a query.
    pub struct StreamingQuery {
        /// The same for all runs from one checkpoint.
        pub id: Text,
        pub run_id: Text,
        pub name: Option<Text>,
        pub started_at_ms: Option<i64>,
        /// The events of a query's end carry no instant: the latest that came before it.
        pub ended_at_ms: Option<i64>,
        pub terminated: bool,
        pub exception: Option<Text>,
        pub job_tags: Vec<Text>,
        /// Sum over the reports.
        pub n_input_rows: i64,
        /// Each progress report in log order; [`crate::Store::progress`] reads it.
        pub progress: Vec<Blob>,
    }

    /// What a query reported about a batch.
    pub struct StreamingProgress {
        pub batch_id: i64,
        /// When the batch was triggered.
        pub at_ms: Option<i64>,
        pub batch_ms: Option<i64>,
        pub n_input_rows: i64,
        /// `None` where Spark could not tell.
        pub input_rows_per_s: Option<f64>,
        pub processed_rows_per_s: Option<f64>,
        /// Phase of the batch and its duration in ms.
        pub durations: Vec<(String, i64)>,
        /// Statistic of the event times (`min`, `max`, `avg`, `watermark`) and instant as Spark writes it.
        pub event_times: Vec<(String, String)>,
        pub state_operators: Vec<StateOperator>,
        pub sources: Vec<StreamingSource>,
        pub sink: StreamingSink,
        /// Name of an observed metric and its value as JSON.
        pub observed_metrics: Vec<(String, String)>,
    }

    pub struct StateOperator {
        pub name: String,
        pub n_total_rows: i64,
        pub n_updated_rows: i64,
        pub n_removed_rows: i64,
        pub n_rows_dropped_by_watermark: i64,
        pub memory_bytes: i64,
        pub updates_ms: i64,
        pub removals_ms: i64,
        pub commit_ms: i64,
        pub n_shuffle_partitions: i64,
        pub n_state_stores: i64,
        pub custom_metrics: Vec<(String, i64)>,
    }

    pub struct StreamingSource {
        pub description: String,
        /// Offsets as the source writes them, often as JSON.
        pub start_offset: Option<String>,
        pub end_offset: Option<String>,
        pub latest_offset: Option<String>,
        pub n_input_rows: i64,
        pub input_rows_per_s: Option<f64>,
        pub processed_rows_per_s: Option<f64>,
        pub metrics: Vec<(String, String)>,
    }

    pub struct StreamingSink {
        pub description: String,
        /// `None` for a sink that does not count.
        pub n_output_rows: Option<i64>,
        pub metrics: Vec<(String, String)>,
    }
}
