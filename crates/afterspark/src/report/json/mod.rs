//! The report as JSON. Its shape is documented by the types in `shape`; the version is raised when a member changes its
//! meaning or goes.

mod shape;

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;
use store::{EXECUTOR_METRICS, JobStatus, StageAttemptId, StageStatus, Store, TaskColumn as C};
use views::{FIVE_NUMBERS, StageLine, Summary, TaskRef};

use self::shape::{
    Accumulator, Executor, Frame, Gap, Job, Metric, Skew, SmallTasks, Sql, Stage, StageExecutor,
    StageSummary, Task, Totals,
};
use super::{Report, Writer};

/// Version of the shape.
const VERSION: u32 = 1;

pub(super) struct Json {
    pub(super) first: bool,
}

impl Json {
    fn begin(to: &mut dyn io::Write) -> io::Result<()> {
        let head = "\"format\":\"afterspark-report\"";
        writeln!(to, "{{{head},\"version\":{VERSION},\"applications\":[")
    }
}

impl Writer for Json {
    fn next(&mut self, report: &Report, to: &mut dyn io::Write) -> io::Result<()> {
        if std::mem::replace(&mut self.first, false) {
            Json::begin(to)?;
        } else {
            to.write_all(b",\n")?;
        }
        let stages = views::stages(&report.store, report.scope);
        Ok(serde_json::to_writer_pretty(to, &application(report, &stages))?)
    }

    fn end(&mut self, to: &mut dyn io::Write) -> io::Result<()> {
        if self.first {
            Json::begin(to)?;
        }
        to.write_all(b"\n]}\n")
    }
}

/// A list whose elements are shaped when they are written, one at a time: an application can have 100,000 stages.
struct Each<'s, T, F>(&'s [T], F);

impl<T, S: Serialize, F: Fn(&T) -> S> Serialize for Each<'_, T, F> {
    fn serialize<W: serde::Serializer>(&self, to: W) -> Result<W::Ok, W::Error> {
        to.collect_seq(self.0.iter().map(&self.1))
    }
}

#[derive(Serialize)]
struct Application<'s, Stages: Serialize, Summaries: Serialize> {
    log: &'s str,
    application: Frame,
    totals: Totals,
    #[serde(skip_serializing_if = "Option::is_none")]
    since_stage: Option<i32>,
    jobs: Vec<Job<'s>>,
    /// Longest first.
    stages: Stages,
    sql_executions: Vec<Sql<'s>>,
    executors: Vec<Executor<'s>>,
    events_by_kind: BTreeMap<&'s str, u64>,
    gaps: Vec<Gap>,
    /// What was asked for with `--stage`.
    #[serde(skip_serializing_if = "Option::is_none")]
    stage_summaries: Option<Summaries>,
}

fn application<'s>(
    report: &'s Report,
    stages: &'s [StageLine<'s>],
) -> Application<'s, impl Serialize, impl Serialize> {
    let store = &report.store;
    let app = views::app_summary(store, report.scope);
    Application {
        log: &report.log,
        totals: Totals {
            n_jobs: app.n_jobs,
            n_failed_jobs: app.n_failed_jobs,
            n_stages: app.n_stages,
            n_skipped_stages: app.n_skipped_stages,
            n_failed_stages: app.n_failed_stages,
            n_sql_executions: app.n_sql_executions,
            n_tasks: app.n_tasks,
            n_failed_tasks: app.n_failed_tasks,
            n_killed_tasks: app.n_killed_tasks,
            n_executors: app.n_executors,
            n_executors_removed: app.n_executors_lost,
            n_cores_max: app.n_cores_max,
            executor_run_ms: app.task_run_ms,
            jvm_gc_ms: app.gc_ms,
            input_bytes: app.input_bytes,
            output_bytes: app.output_bytes,
            shuffle_read_bytes: app.shuffle_read_bytes,
            shuffle_write_bytes: app.shuffle_write_bytes,
            spill_memory_bytes: app.spill_memory_bytes,
            spill_disk_bytes: app.spill_disk_bytes,
        },
        application: Frame {
            completed: app.ended_at_ms.is_some(),
            id: app.id,
            attempt_id: app.attempt_id,
            name: app.name,
            user: app.user,
            spark_version: app.spark_version,
            started_at_ms: app.started_at_ms,
            ended_at_ms: app.ended_at_ms,
            duration_ms: app.duration_ms,
            exit_code: app.exit_code,
            n_events: app.n_events,
        },
        since_stage: report.scope.since_stage,
        jobs: views::jobs(store, report.scope).iter().map(|job| self::job(store, job)).collect(),
        stages: Each(stages, |line: &StageLine<'s>| stage(store, line)),
        sql_executions: views::sql_executions(store, report.scope)
            .iter()
            .map(|sql| self::sql(store, sql))
            .collect(),
        executors: store
            .tables()
            .executors
            .iter()
            .map(|executor| self::executor(store, executor))
            .collect(),
        events_by_kind: store
            .tables()
            .events_by_kind
            .iter()
            .map(|(kind, n)| (store.text(*kind), *n))
            .collect(),
        gaps: views::gaps(store).into_iter().map(gap).collect(),
        stage_summaries: (!report.stages.is_empty()).then(|| {
            Each(&report.stages, |id: &StageAttemptId| {
                summary(store, *id, report.summaries(*id).as_deref())
            })
        }),
    }
}

fn reasons<'s>(store: &'s Store, reasons: &BTreeMap<store::Text, i64>) -> BTreeMap<&'s str, i64> {
    reasons.iter().map(|(reason, n)| (store.text(*reason), *n)).collect()
}

fn job<'s>(store: &'s Store, job: &views::JobLine<'s>) -> Job<'s> {
    let counts = &job.row.counts;
    Job {
        id: job.row.id,
        name: store.text(job.row.name),
        description: job.row.description.map(|t| store.text(t)),
        group: job.row.group.map(|t| store.text(t)),
        tags: job.row.tags.iter().map(|t| store.text(*t)).collect(),
        status: match job.row.status {
            JobStatus::Running => "RUNNING",
            JobStatus::Succeeded => "SUCCEEDED",
            JobStatus::Failed => "FAILED",
        },
        failure: job.row.failure.map(|t| store.text(t)),
        submitted_at_ms: job.row.submitted_at_ms,
        completed_at_ms: job.row.completed_at_ms,
        duration_ms: job.duration_ms,
        sql_execution: job.row.sql_execution,
        stage_ids: &job.row.stage_ids,
        n_tasks: job.row.n_tasks,
        n_active_tasks: counts.n_active_tasks,
        n_completed_tasks: counts.n_completed_tasks,
        n_skipped_tasks: counts.n_skipped_tasks,
        n_failed_tasks: counts.n_failed_tasks,
        n_killed_tasks: counts.n_killed_tasks,
        n_completed_indices: counts.n_completed_indices,
        n_active_stages: counts.n_active_stages,
        n_completed_stages: counts.completed_stages.len(),
        n_skipped_stages: counts.skipped_stages.len(),
        n_failed_stages: counts.n_failed_stages,
        killed_tasks_by_reason: reasons(store, &counts.killed_reasons),
    }
}

fn status(status: StageStatus) -> &'static str {
    match status {
        StageStatus::Pending => "PENDING",
        StageStatus::Active => "ACTIVE",
        StageStatus::Complete => "COMPLETE",
        StageStatus::Failed => "FAILED",
        StageStatus::Skipped => "SKIPPED",
    }
}

fn peaks(peak: Option<&store::ExecutorMetrics>) -> Option<BTreeMap<&'static str, i64>> {
    Some(EXECUTOR_METRICS.into_iter().zip(peak?.iter().copied()).collect())
}

fn stage<'s>(store: &'s Store, line: &StageLine<'s>) -> Stage<'s> {
    let row = line.row;
    let users = row
        .accumulables
        .iter()
        .filter(|a| !a.internal && a.metadata.is_none_or(|metadata| store.text(metadata) != "sql"));
    let text = |t| store.text(t);
    Stage {
        id: row.id.stage,
        attempt: row.id.attempt,
        name: text(row.name),
        description: row.description.map(text),
        status: status(row.status),
        pool: text(row.pool),
        failure: row.failure.map(text),
        submitted_at_ms: row.submitted_at_ms,
        first_task_launched_at_ms: row.first_task_launched_at_ms,
        completed_at_ms: row.completed_at_ms,
        duration_ms: line.duration_ms,
        wait_ms: line.wait_ms,
        share: line.share,
        job_ids: &row.job_ids,
        parent_ids: &row.parent_ids,
        rdd_ids: row.rdds.iter().map(|rdd| rdd.id).collect(),
        resource_profile: row.resource_profile,
        n_tasks: row.n_tasks,
        n_active_tasks: row.counts.n_active,
        n_completed_tasks: row.counts.n_completed,
        n_failed_tasks: row.counts.n_failed,
        n_killed_tasks: row.counts.n_killed,
        n_completed_indices: row.counts.n_completed_indices,
        killed_tasks_by_reason: reasons(store, &row.counts.killed_reasons),
        metrics: C::metrics().iter().filter_map(|c| Some((c.name(), line.sum(*c)?))).collect(),
        shuffle_read_bytes: line.shuffle_read_bytes(),
        gc_share: line.sum(C::jvm_gc_ms).and(line.gc_share),
        task_ms_median: line.times.as_ref().map(|t| t.median_ms),
        task_ms_max: line.times.as_ref().map(|t| t.slowest_ms),
        task_ms_max_to_median: line.times.as_ref().and_then(|t| t.max_to_median),
        slowest_task: line.times.as_ref().and_then(|t| t.slowest.as_ref().map(task)),
        skew: line.skew.as_ref().map(|s| Skew {
            task: task(&s.task),
            task_bytes: s.task_bytes,
            median_bytes: s.median_bytes,
        }),
        small_tasks: line.small_tasks.as_ref().map(|s| SmallTasks {
            n_tasks: s.n_tasks,
            n_cores: s.n_cores,
            largest_bytes: s.largest_bytes,
        }),
        peak_executor_metrics: peaks(row.peak.as_ref()),
        accumulators: users
            .map(|a| Accumulator {
                id: a.id,
                name: a.name.map(text),
                update: a.update.map(text),
                value: a.value.map(text),
            })
            .collect(),
    }
}

fn task(task: &TaskRef) -> Task {
    Task { task_id: task.task_id, index: task.index, attempt: task.attempt }
}

fn sql<'s>(store: &'s Store, line: &views::SqlLine<'s>) -> Sql<'s> {
    Sql {
        id: line.row.id,
        description: store.text(line.row.description),
        status: line.status.name(),
        started_at_ms: line.row.started_at_ms,
        duration_ms: line.duration_ms,
        error: line.row.error.map(|t| store.text(t)).filter(|e| !e.is_empty()),
        job_ids: line.row.jobs.iter().map(|(job, _)| *job).collect(),
        stage_ids: &line.row.stages,
        n_plan_changes: line.n_plan_changes,
        n_plan_nodes: line.n_plan_nodes,
    }
}

fn executor<'s>(store: &'s Store, row: &store::Executor) -> Executor<'s> {
    Executor {
        id: store.text(row.id),
        host_port: row.host_port.map(|t| store.text(t)),
        active: row.active,
        added_at_ms: row.added_at_ms,
        removed_at_ms: row.removed_at_ms,
        remove_reason: row.remove_reason.map(|t| store.text(t)),
        excluded: row.excluded,
        n_cores: row.total_cores,
        n_active_tasks: row.n_active_tasks,
        n_completed_tasks: row.n_completed_tasks,
        n_failed_tasks: row.n_failed_tasks,
        n_total_tasks: row.n_total_tasks,
        task_ms: row.task_ms,
        jvm_gc_ms: row.gc_ms,
        input_bytes: row.input_bytes,
        shuffle_read_bytes: row.shuffle_read_bytes,
        shuffle_write_bytes: row.shuffle_write_bytes,
        max_memory_bytes: row.max_memory_bytes,
        peak_executor_metrics: peaks(row.peak.as_ref()),
    }
}

fn gap(gap: views::GapLine) -> Gap {
    Gap {
        kind: gap.kind,
        severity: gap.severity.name(),
        meaning: gap.meaning,
        n: gap.n,
        file: gap.file,
        detail: gap.detail,
        bytes: gap.bytes,
        first_offset: gap.first_offset,
    }
}

fn summary<'s>(
    store: &'s Store,
    id: StageAttemptId,
    metrics: Option<&[Summary]>,
) -> StageSummary<'s> {
    let row = store.stage(id);
    let metric = |s: &Summary| Metric {
        values: s.quantiles.clone(),
        as_spark: s.as_spark.clone(),
        max: s.max,
        max_to_median: s.max_to_median,
        max_task: s.max_task.as_ref().map(task),
    };
    let executors = row.map(|row| row.executors.unpack()).unwrap_or_default();
    StageSummary {
        id: id.stage,
        attempt: id.attempt,
        quantiles: FIVE_NUMBERS,
        metrics: metrics.map(|all| all.iter().map(|s| (s.measure.name(), metric(s))).collect()),
        executors: executors
            .iter()
            .map(|(id, e)| {
                let metrics = C::metrics().iter().map(|c| (c.name(), e.sums[*c])).collect();
                let executor = StageExecutor {
                    task_ms: e.task_ms,
                    n_succeeded_tasks: e.n_succeeded,
                    n_failed_tasks: e.n_failed,
                    n_killed_tasks: e.n_killed,
                    excluded: e.excluded,
                    metrics,
                };
                (store.text(*id), executor)
            })
            .collect(),
    }
}
