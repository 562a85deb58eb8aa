//! Jobs and SQL executions: what was asked for, and what came of it.

use store::{Job, SqlExecution, Store};

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

/// What became of an SQL execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqlStatus {
    Running,
    Completed,
    Failed,
}

/// An SQL execution, for reading.
#[derive(Clone, Debug, PartialEq)]
pub struct SqlLine<'s> {
    pub row: &'s SqlExecution,
    pub status: SqlStatus,
    pub duration_ms: i64,
    /// Adaptive execution changed the plan this many times.
    pub n_plan_changes: usize,
    pub n_plan_nodes: usize,
}

/// SQL executions in scope, by id.
pub fn sql_executions(store: &Store, scope: Scope) -> Vec<SqlLine<'_>> {
    let now_ms = app::last_event_at_ms(store);
    let rows = store.tables().sql_executions.iter();
    rows.filter(|row| scope.is_all() || row.stages.iter().any(|s| scope.has(*s)))
        .map(|row| {
            let failed_job = row.jobs.iter().any(|(_, succeeded)| *succeeded == Some(false));
            let error = row.error.is_some_and(|e| !store.text(e).is_empty());
            let status = match row.ended_at_ms {
                None => SqlStatus::Running,
                Some(_) if error || failed_job => SqlStatus::Failed,
                Some(_) => SqlStatus::Completed,
            };
            SqlLine {
                row,
                status,
                duration_ms: row
                    .ended_at_ms
                    .unwrap_or(now_ms)
                    .saturating_sub(row.started_at_ms)
                    .max(0),
                n_plan_changes: row.plans.len().saturating_sub(1),
                n_plan_nodes: row.plans.last().map_or(0, |plan| plan.n_nodes as usize),
            }
        })
        .collect()
}
