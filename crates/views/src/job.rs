//! Jobs: what was asked for, and what came of it.

use store::{Job, Store};

use crate::{Scope, app};

/// A job, for reading.
#[derive(Clone, Debug, PartialEq)]
pub struct JobLine<'s> {
    pub row: &'s Job,
    /// Submission to completion; to the last event while it runs.
    pub duration_ms: Option<i64>,
}

/// Jobs in scope, by id.
pub fn jobs(store: &Store, scope: Scope) -> Vec<JobLine<'_>> {
    let now_ms = app::last_event_at_ms(store);
    let rows = store
        .tables()
        .jobs
        .iter()
        .filter(|job| job.stage_ids.iter().any(|s| scope.has(*s)) || scope.is_all());
    rows.map(|row| {
        let end_ms = row.completed_at_ms.unwrap_or(now_ms);
        JobLine {
            row,
            duration_ms: row.submitted_at_ms.map(|from| end_ms.saturating_sub(from).max(0)),
        }
    })
    .collect()
}
