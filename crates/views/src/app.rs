//! The application attempt as a whole.

use store::{ExecutorChange, Severity, StageStatus, Store, TaskColumn as C};

use crate::Scope;

/// Sums over all stage attempts, and the frame they ran in.
#[derive(Clone, Debug, PartialEq)]
pub struct AppSummary {
    pub name: String,
    pub id: Option<String>,
    pub attempt_id: Option<String>,
    pub user: String,
    pub spark_version: Option<String>,
    pub started_at_ms: Option<i64>,
    /// From the end event.
    pub ended_at_ms: Option<i64>,
    /// Start to end; to the last event where there is no end.
    pub duration_ms: Option<i64>,
    pub exit_code: Option<i32>,
    pub n_events: u64,
    pub n_jobs: usize,
    pub n_failed_jobs: usize,
    pub n_stages: usize,
    pub n_skipped_stages: usize,
    pub n_failed_stages: usize,
    pub n_sql_executions: usize,
    pub n_tasks: i64,
    pub n_failed_tasks: i64,
    pub n_killed_tasks: i64,
    /// Executors that ran tasks, the driver in local mode included.
    pub n_executors: usize,
    pub n_executors_lost: usize,
    /// Cores at the same time, at most; `None` when no executor said how many it has.
    pub n_cores_max: Option<i64>,
    pub task_run_ms: i64,
    pub gc_ms: i64,
    pub input_bytes: i64,
    pub output_bytes: i64,
    pub shuffle_read_bytes: i64,
    pub shuffle_write_bytes: i64,
    pub spill_memory_bytes: i64,
    pub spill_disk_bytes: i64,
}

/// The last instant the log knows of.
pub fn last_event_at_ms(store: &Store) -> i64 {
    store.tables().app.last_event_at_ms.unwrap_or(0)
}

/// The attempt's frame, and the sums over what is in scope.
pub fn app_summary(store: &Store, scope: Scope) -> AppSummary {
    let tables = store.tables();
    let stages: Vec<&store::StageAttempt> =
        tables.stages.iter().filter(|s| scope.has(s.id.stage)).collect();
    let jobs = crate::jobs(store, scope);
    let app = &tables.app;
    let text = |t| store.text(t).to_owned();
    let sum = |column| stages.iter().fold(0, |sum: i64, s| sum.wrapping_add(s.sums[column]));
    let with_status = |status| stages.iter().filter(|s| s.status == status).count();
    let ended_at_ms = app.ended_at_ms.or(app.last_event_at_ms);
    AppSummary {
        name: text(app.name),
        id: app.id.map(text),
        attempt_id: app.attempt_id.map(text),
        user: text(app.user),
        spark_version: app.spark_version.map(text),
        started_at_ms: app.started_at_ms,
        ended_at_ms: app.ended_at_ms,
        duration_ms: app.started_at_ms.zip(ended_at_ms).map(|(from, to)| to.saturating_sub(from)),
        exit_code: app.exit_code,
        n_events: app.n_events,
        n_jobs: jobs.len(),
        n_failed_jobs: jobs.iter().filter(|j| j.row.status == store::JobStatus::Failed).count(),
        n_stages: stages.len(),
        n_skipped_stages: with_status(StageStatus::Skipped),
        n_failed_stages: with_status(StageStatus::Failed),
        n_sql_executions: crate::sql_executions(store, scope).len(),
        n_tasks: stages
            .iter()
            .map(|s| s.counts.n_completed + s.counts.n_failed + s.counts.n_killed)
            .sum(),
        n_failed_tasks: stages.iter().map(|s| s.counts.n_failed).sum(),
        n_killed_tasks: stages.iter().map(|s| s.counts.n_killed).sum(),
        n_executors: tables
            .executors
            .iter()
            .filter(|e| e.total_cores > 0 || e.n_total_tasks > 0)
            .count(),
        n_executors_lost: tables.executors.iter().filter(|e| !e.active).count(),
        n_cores_max: cores_max(store),
        task_run_ms: sum(C::executor_run_ms),
        gc_ms: sum(C::jvm_gc_ms),
        input_bytes: sum(C::input_bytes),
        output_bytes: sum(C::output_bytes),
        shuffle_read_bytes: sum(C::shuffle_local_bytes).wrapping_add(sum(C::shuffle_remote_bytes)),
        shuffle_write_bytes: sum(C::shuffle_write_bytes),
        spill_memory_bytes: sum(C::spill_memory_bytes),
        spill_disk_bytes: sum(C::spill_disk_bytes),
    }
}

/// More cores than this on one executor are a lie.
const CORES_MAX: i64 = 1 << 20;

/// The largest number of cores that executors had at one moment.
pub fn cores_max(store: &Store) -> Option<i64> {
    let mut cores = hashbrown::HashMap::new();
    let (mut now, mut max) = (0, 0);
    for event in &store.tables().executor_events {
        match event.change {
            ExecutorChange::Added => {
                let n = event.n_cores.unwrap_or(0).clamp(0, CORES_MAX);
                now += n - cores.insert(event.subject, n).unwrap_or(0);
                max = max.max(now);
            }
            ExecutorChange::Removed => now -= cores.remove(&event.subject).unwrap_or(0),
            _ => {}
        }
    }
    (max > 0).then_some(max)
}

/// A gap in the log, for reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GapLine {
    pub kind: &'static str,
    pub severity: Severity,
    pub meaning: &'static str,
    /// Empty when it is about the whole log.
    pub file: String,
    pub detail: String,
    pub n: u64,
    /// Decoded bytes that were passed over; 0 when none or unknown.
    pub bytes: u64,
    pub first_offset: u64,
}

/// The gaps, worst first.
pub fn gaps(store: &Store) -> Vec<GapLine> {
    let mut lines: Vec<GapLine> = store
        .tables()
        .gaps
        .iter()
        .map(|gap| GapLine {
            kind: gap.kind.name(),
            severity: gap.kind.severity(),
            meaning: gap.kind.meaning(),
            file: store.text(gap.file).to_owned(),
            detail: store.text(gap.detail).to_owned(),
            n: gap.n,
            bytes: gap.bytes,
            first_offset: gap.first_offset,
        })
        .collect();
    lines.sort_by(|a, b| {
        let key =
            |g: &GapLine| (std::cmp::Reverse(g.severity), g.kind, g.file.clone(), g.first_offset);
        key(a).cmp(&key(b)).then_with(|| a.detail.cmp(&b.detail))
    });
    lines
}
