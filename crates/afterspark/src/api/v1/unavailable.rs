//! What a history server cannot tell: threads and the statistics of `DStream`s.

use super::{Call, Route};
use crate::api::{Answer, Handled};

pub(super) const ROUTES: &[Route] = &[
    (&["executors", "*", "threads"], executor_threads),
    (&["threads"], task_threads),
    (&["streaming", "statistics"], streaming),
    (&["streaming", "receivers"], streaming),
    (&["streaming", "receivers", "#"], streaming),
    (&["streaming", "batches"], streaming_batches),
    (&["streaming", "batches", "##"], streaming),
    (&["streaming", "batches", "##", "operations"], streaming),
    (&["streaming", "batches", "##", "operations", "#"], streaming),
];

const NO_THREADS: &str = "Thread dumps not available through the history server.";

fn threads_of(executor: &str) -> Answer {
    if executor == "driver" || executor.bytes().all(|b| b.is_ascii_digit()) {
        Answer::text(503, NO_THREADS)
    } else {
        Answer::text(400, "Invalid executorId: neither 'driver' nor number.")
    }
}

fn executor_threads(call: &Call<'_>) -> Handled {
    Ok(threads_of(call.ids[0]))
}

fn task_threads(call: &Call<'_>) -> Handled {
    if call.query().first("taskId").is_some_and(|id| !id.is_empty() && id.parse::<i64>().is_err()) {
        return Err(Answer::page(404));
    }
    // Spark's server fails where no executor is named
    call.query().first("executorId").map(threads_of).ok_or_else(|| Answer::page(500))
}

fn streaming(call: &Call<'_>) -> Handled {
    let name = &call.attempt.name;
    Err(Answer::text(404, format!("no streaming listener attached to {name}")))
}

const BATCH_STATUS: [&str; 3] = ["COMPLETED", "QUEUED", "PROCESSING"];

fn streaming_batches(call: &Call<'_>) -> Handled {
    let is_known = |status: &str| {
        status.is_empty() || BATCH_STATUS.iter().any(|known| known.eq_ignore_ascii_case(status))
    };
    if call.query().all("status").all(is_known) { streaming(call) } else { Err(Answer::page(404)) }
}
