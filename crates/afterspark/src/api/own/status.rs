//! `status`: what the server looks at, and how far it has come.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Endpoint, Handler, compact, schema_of};
use crate::api::Handled;
use crate::api::v1::SparkApi;
use crate::serve::Library;

pub(super) const ENDPOINT: Endpoint = Endpoint {
    path: &["status"],
    path_parameters: &[],
    parameters: &[],
    summary: "What the server looks at, and how far it has come.",
    handler: Handler::Server(answer),
    schema: schema_of::<Status>,
};

#[derive(Serialize, JsonSchema)]
struct Status {
    version: &'static str,
    /// The Spark whose answers `/api/v1` gives.
    spark_api: &'static str,
    sources: Vec<Source>,
    scan: Scan,
}

#[derive(Serialize, JsonSchema)]
struct Source {
    name: String,
    place: String,
}

/// The list of applications.
#[derive(Serialize, JsonSchema)]
struct Scan {
    n_applications: usize,
    /// Files and folders that hold logs.
    n_logs: usize,
    /// Seen, and not yet looked into.
    n_pending: usize,
    /// That hold no application's log.
    n_others: usize,
    n_unreadable: usize,
    /// Since the server started.
    n_scans: u64,
    is_scanning: bool,
    /// End of the last scan that was finished.
    scanned_at_ms: Option<i64>,
    /// What cannot be read; the first hundred.
    problems: Vec<Unreadable>,
}

#[derive(Serialize, JsonSchema)]
struct Unreadable {
    path: String,
    what: String,
}

fn answer(library: &Library) -> Handled {
    let progress = library.progress();
    let sources = library.sources().iter();
    let problems = progress.problems.into_iter();
    Ok(compact(&Status {
        version: env!("CARGO_PKG_VERSION"),
        spark_api: match library.answer_settings().api {
            SparkApi::V4_2 => "4.2",
            SparkApi::V4_3 => "4.3",
        },
        sources: sources
            .map(|source| Source { name: source.name.clone(), place: source.place.clone() })
            .collect(),
        scan: Scan {
            n_applications: progress.n_applications,
            n_logs: progress.n_logs,
            n_pending: progress.n_pending,
            n_others: progress.n_others,
            n_unreadable: progress.n_unreadable,
            n_scans: progress.n_scans,
            is_scanning: progress.scanning,
            scanned_at_ms: progress.scanned_at_ms,
            problems: problems
                .map(|problem| Unreadable { path: problem.path, what: problem.what })
                .collect(),
        },
    }))
}
