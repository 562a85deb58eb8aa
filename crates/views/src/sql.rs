//! SQL executions: what was asked for, and what came of it.

use store::{SqlExecution, Store};

use crate::{Scope, app, java};

/// What became of an SQL execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqlStatus {
    Running,
    Completed,
    Failed,
}

impl SqlStatus {
    /// As Spark names it.
    pub fn name(self) -> &'static str {
        match self {
            SqlStatus::Running => "RUNNING",
            SqlStatus::Completed => "COMPLETED",
            SqlStatus::Failed => "FAILED",
        }
    }

    /// `SQLExecutionUIData.executionStatus`: what the end event says of an error counts before the jobs do.
    fn of(store: &Store, row: &SqlExecution) -> SqlStatus {
        let failed_job = || row.jobs.iter().any(|(_, succeeded)| *succeeded == Some(false));
        match (row.error, row.ended_at_ms) {
            (Some(error), _) if store.text(error).is_empty() => SqlStatus::Completed,
            (Some(_), _) => SqlStatus::Failed,
            (None, None) => SqlStatus::Running,
            (None, Some(_)) if failed_job() => SqlStatus::Failed,
            (None, Some(_)) => SqlStatus::Completed,
        }
    }
}

/// An SQL execution, for reading.
#[derive(Clone, Debug, PartialEq)]
pub struct SqlLine<'s> {
    pub row: &'s SqlExecution,
    pub status: SqlStatus,
    /// To the last event of the log while it runs.
    pub duration_ms: i64,
    /// The execution that this one is part of, or its own id.
    pub root_id: i64,
    /// Adaptive execution changed the plan this many times.
    pub n_plan_changes: usize,
    pub n_plan_nodes: usize,
}

impl<'s> SqlLine<'s> {
    fn of(store: &Store, row: &'s SqlExecution, now_ms: i64) -> SqlLine<'s> {
        let end_ms = row.ended_at_ms.unwrap_or(now_ms);
        SqlLine {
            row,
            status: SqlStatus::of(store, row),
            duration_ms: end_ms.saturating_sub(row.started_at_ms).max(0),
            root_id: row.root_id.unwrap_or(row.id),
            n_plan_changes: row.plans.len().saturating_sub(1),
            n_plan_nodes: row.plans.last().map_or(0, |plan| plan.n_nodes as usize),
        }
    }

    /// Its jobs and whether they succeeded (`None` while they run), in the order in which Spark's API lists them.
    pub fn jobs(&self) -> Vec<(i32, Option<bool>)> {
        let mut jobs = self.row.jobs.clone();
        java::sort_as_hash_trie(&mut jobs, |(id, _)| *id);
        jobs
    }
}

/// SQL executions in scope, by id.
pub fn sql_executions(store: &Store, scope: Scope) -> Vec<SqlLine<'_>> {
    let now_ms = app::last_event_at_ms(store);
    let rows = store.tables().sql_executions.iter();
    rows.filter(|row| scope.is_all() || row.stages.iter().any(|s| scope.has(*s)))
        .map(|row| SqlLine::of(store, row, now_ms))
        .collect()
}

/// One SQL execution.
pub fn sql_execution(store: &Store, id: i64) -> Option<SqlLine<'_>> {
    let rows = &store.tables().sql_executions;
    let at = rows.binary_search_by_key(&id, |row| row.id).ok()?;
    Some(SqlLine::of(store, &rows[at], app::last_event_at_ms(store)))
}
