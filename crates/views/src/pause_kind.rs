//! What a time without a stage most likely was, by what surrounds it.

use store::Store;

use crate::Pause;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseKind {
    /// Before the first stage, outside of any query: the driver and its executors start, code runs.
    Start,
    /// Within an SQL execution, before its first job: the driver plans, lists files or collects statistics.
    Planning(i64),
    /// Within an SQL execution, between its jobs or after the last: planning goes on, broadcasts are built, output is
    /// committed.
    WithinQuery(i64),
    /// Within a job: its stages wait.
    WithinJob(i32),
    /// Outside of any query and job: the driver's own code.
    DriverCode,
    /// After the last stage, outside of any query.
    End,
}

impl PauseKind {
    /// In a few words.
    pub fn label(self) -> String {
        match self {
            PauseKind::Start => "start of the application".to_owned(),
            PauseKind::Planning(id) => format!("planning or listing files of query {id}"),
            PauseKind::WithinQuery(id) => {
                format!("query {id} on the driver: planning, broadcast or commit")
            }
            PauseKind::WithinJob(id) => format!("job {id} waits"),
            PauseKind::DriverCode => "the driver's own code, outside of any query".to_owned(),
            PauseKind::End => "after the last stage".to_owned(),
        }
    }
}

/// What covers most of a pause: the query or job in which the middle of it lies.
pub fn pause_kind(store: &Store, pause: &Pause) -> PauseKind {
    let middle = pause.from_ms / 2 + pause.to_ms / 2;
    let tables = store.tables();
    let now_ms = crate::last_event_at_ms(store);
    let within = |from: i64, to: Option<i64>| from <= middle && middle <= to.unwrap_or(now_ms);
    let job = tables
        .jobs
        .iter()
        .find(|job| job.submitted_at_ms.is_some_and(|from| within(from, job.completed_at_ms)));
    if let Some(job) = job {
        return PauseKind::WithinJob(job.id);
    }
    // the innermost is the one that began last
    let running = tables.sql_executions.iter();
    let running = running.filter(|sql| within(sql.started_at_ms, sql.ended_at_ms));
    if let Some(sql) = running.max_by_key(|sql| sql.started_at_ms) {
        let first_job = tables.jobs.iter().filter(|job| job.sql_execution == Some(sql.id));
        let first_at_ms = first_job.filter_map(|job| job.submitted_at_ms).min();
        return match first_at_ms {
            Some(at_ms) if at_ms < middle => PauseKind::WithinQuery(sql.id),
            _ => PauseKind::Planning(sql.id),
        };
    }
    match (pause.after, pause.before) {
        (None, _) => PauseKind::Start,
        (_, None) => PauseKind::End,
        _ => PauseKind::DriverCode,
    }
}
