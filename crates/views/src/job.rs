//! Jobs: what was asked for, and what came of it.

use store::{Job, StageAttemptId, Store};

use crate::{Scope, app};

/// A job, for reading.
#[derive(Clone, Debug, PartialEq)]
pub struct JobLine<'s> {
    pub row: &'s Job,
    /// Submission to completion; to the last event while it runs.
    pub duration_ms: Option<i64>,
    /// From the submission to the first task of its stages that was launched after it; `None` when there was none.
    pub wait_ms: Option<i64>,
}

fn line<'s>(store: &'s Store, row: &'s Job, now_ms: i64) -> JobLine<'s> {
    let end_ms = row.completed_at_ms.unwrap_or(now_ms);
    let first_launch = |from: i64| {
        let launched = |stage: &i32| {
            let attempts = StageAttemptId { stage: *stage, attempt: i32::MIN };
            let rows = &store.tables().stages;
            let first = rows.partition_point(|row| row.id < attempts);
            let own = rows[first..].iter().take_while(|row| row.id.stage == *stage);
            own.filter_map(|row| row.first_task_launched_at_ms).filter(|at| *at >= from).min()
        };
        row.stage_ids.iter().filter_map(launched).min().map(|at| at.saturating_sub(from))
    };
    JobLine {
        row,
        duration_ms: row.submitted_at_ms.map(|from| end_ms.saturating_sub(from).max(0)),
        wait_ms: row.submitted_at_ms.and_then(first_launch),
    }
}

/// Jobs in scope, by id.
pub fn jobs(store: &Store, scope: Scope) -> Vec<JobLine<'_>> {
    let now_ms = app::last_event_at_ms(store);
    let rows = store.tables().jobs.iter();
    rows.filter(|job| job.stage_ids.iter().any(|s| scope.has(*s)) || scope.is_all())
        .map(|row| line(store, row, now_ms))
        .collect()
}

/// One job.
pub fn job(store: &Store, id: i32) -> Option<JobLine<'_>> {
    let rows = &store.tables().jobs;
    let at = rows.binary_search_by_key(&id, |row| row.id).ok()?;
    Some(line(store, &rows[at], app::last_event_at_ms(store)))
}
