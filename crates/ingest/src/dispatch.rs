//! Which tracker each event that is not about a task belongs to.

use serde_json::Value;
use store::{Blobs, RowCounts, StageAttemptId, TextPool};

use crate::{
    batch::Document,
    json,
    replay::State,
    task_document,
    trackers::{Context, app, executors, rdd, stages},
};

/// What became of an event.
pub(crate) enum Applied {
    Done,
    /// A stage attempt ended that will get no more tasks.
    StageClosed(StageAttemptId),
    /// It lacks what it needs, or is of something that the log does not know.
    Lacking,
    UnknownKind,
    /// Another application starts in a log that has one.
    SecondApplication,
}

impl From<Option<()>> for Applied {
    fn from(done: Option<()>) -> Self {
        done.map_or(Applied::Lacking, |()| Applied::Done)
    }
}

/// Hands the event to its tracker.
pub(crate) fn apply(
    document: &Document,
    state: &mut State,
    texts: &mut TextPool,
    blobs: &mut Blobs,
    rows: RowCounts<'_>,
) -> Applied {
    jobs_and_stages(document, state, texts, blobs, rows)
        .or_else(|| executors_and_blocks(document, state, texts, blobs))
        .or_else(|| sql_and_streaming(document, state, texts, blobs, rows))
        .or_else(|| application(document, state, texts, blobs))
        .unwrap_or(Applied::UnknownKind)
}

/// The trackers that others write to beside their own.
macro_rules! context {
    ($state:ident, $texts:ident, $blobs:ident) => {
        &mut Context {
            texts: $texts,
            blobs: $blobs,
            app: &mut $state.app,
            executors: &mut $state.executors,
            storage: &mut $state.storage,
        }
    };
}

fn jobs_and_stages(
    document: &Document,
    state: &mut State,
    texts: &mut TextPool,
    blobs: &mut Blobs,
    rows: RowCounts<'_>,
) -> Option<Applied> {
    let event = &document.value;
    let cx = context!(state, texts, blobs);
    let done = match document.kind.as_str() {
        "SparkListenerJobStart" => {
            // jobs outside SQL have no execution, and most no client's operation, which is not a fault
            state.sql.job_start(event, rows);
            state.connect.job_start(event, cx);
            state.thrift.job_start(event, cx);
            state.stages.job_start(event, cx)
        }
        "SparkListenerJobEnd" => {
            let known = state.stages.job_end(event, cx);
            if let Some((Some(execution), succeeded)) = known {
                let job = json::int32(event, "Job ID").unwrap_or(-1);
                state.sql.job_end(execution, job, succeeded);
            }
            known.map(|_| ())
        }
        "SparkListenerStageSubmitted" => {
            state.sql.stage_submitted(event, rows);
            state.stages.stage_submitted(event, cx)
        }
        "SparkListenerStageCompleted" => {
            let known = state.stages.stage_completed(event, cx);
            state.executors.forget_dead(&state.stages);
            if let Some((id, true)) = known {
                return Some(Applied::StageClosed(id));
            }
            known.map(|_| ())
        }
        "SparkListenerTaskGettingResult" => {
            state.stages.task_getting_result(event);
            Some(())
        }
        "SparkListenerSpeculativeTaskSubmitted" => {
            state.stages.speculative_task_submitted(event);
            Some(())
        }
        "SparkListenerStageExecutorMetrics" => stage_executor_metrics(event, &mut state.stages, cx),
        "SparkListenerExecutorMetricsUpdate" => {
            executor_metrics_update(event, &mut state.stages, cx)
        }
        _ => return None,
    };
    Some(done.into())
}

fn executors_and_blocks(
    document: &Document,
    state: &mut State,
    texts: &mut TextPool,
    blobs: &mut Blobs,
) -> Option<Applied> {
    let event = &document.value;
    let cx = context!(state, texts, blobs);
    let done = match document.kind.as_str() {
        "SparkListenerExecutorAdded" => executors::added(event, cx),
        "SparkListenerExecutorRemoved" => {
            executors::removed(event, &state.stages, cx);
            event.get("Executor ID").map(|_| ())
        }
        "SparkListenerBlockManagerAdded" => executors::block_manager_added(event, cx),
        "SparkListenerBlockUpdated" => rdd::block_updated(event, cx),
        "SparkListenerUnpersistRDD" => rdd::unpersisted(event, cx),
        // nothing that any answer shows depends on these
        "SparkListenerBlockManagerRemoved"
        | "SparkListenerUnschedulableTaskSetAdded"
        | "SparkListenerUnschedulableTaskSetRemoved" => Some(()),
        kind if executors::is_exclusion(kind) => {
            executors::exclusion(kind, event, &mut state.stages, cx)
        }
        _ => return None,
    };
    Some(done.into())
}

fn sql_and_streaming(
    document: &Document,
    state: &mut State,
    texts: &mut TextPool,
    blobs: &mut Blobs,
    rows: RowCounts<'_>,
) -> Option<Applied> {
    let event = &document.value;
    let cx = context!(state, texts, blobs);
    let done = match document.kind.as_str() {
        "SparkListenerSQLExecutionStart" => {
            state.connect.sql_started(event, cx);
            state.sql.started(event, cx)
        }
        "SparkListenerSQLExecutionEnd" => {
            state.sql.ended(event, cx, rows);
            event.get("executionId").map(|_| ())
        }
        "SparkListenerSQLAdaptiveExecutionUpdate" => state.sql.adaptive_plan(event, cx),
        "SparkListenerSQLAdaptiveSQLMetricUpdates" => state.sql.adaptive_metrics(event, cx),
        "SparkListenerDriverAccumUpdates" => state.sql.driver_updates(event),
        "QueryStartedEvent" | "QueryProgressEvent" | "QueryIdleEvent" | "QueryTerminatedEvent" => {
            state.streaming.event(document, cx)
        }
        kind if kind.starts_with("SparkListenerConnect") => state.connect.event(document, cx),
        kind if kind.starts_with("SparkListenerThriftServer") => state.thrift.event(document, cx),
        // changes of the catalog (tables made and dropped); Spark's own interface ignores them too
        _ if document.full_kind.starts_with("org.apache.spark.sql.catalyst.catalog.") => Some(()),
        _ => return None,
    };
    Some(done.into())
}

fn application(
    document: &Document,
    state: &mut State,
    texts: &mut TextPool,
    blobs: &mut Blobs,
) -> Option<Applied> {
    let event = &document.value;
    let cx = context!(state, texts, blobs);
    let done = match document.kind.as_str() {
        "SparkListenerLogStart" => app::log_start(event, cx),
        "SparkListenerApplicationStart" => {
            if app::started(event, cx) {
                return Some(Applied::SecondApplication);
            }
            Some(())
        }
        "SparkListenerApplicationEnd" => {
            app::ended(event, cx);
            Some(())
        }
        "SparkListenerEnvironmentUpdate" => {
            app::environment(event, cx);
            Some(())
        }
        "SparkListenerResourceProfileAdded" => app::resource_profile(event, cx),
        "SparkListenerMiscellaneousProcessAdded" => app::misc_process(event, cx),
        _ => return None,
    };
    Some(done.into())
}

fn stage_executor_metrics(
    event: &Value,
    stages: &mut stages::Stages,
    cx: &mut Context<'_>,
) -> Option<()> {
    let executor = cx.text(json::text(event, "Executor ID")?);
    peaks(event, executor, stages, cx)
}

fn executor_metrics_update(
    event: &Value,
    stages: &mut stages::Stages,
    cx: &mut Context<'_>,
) -> Option<()> {
    let executor = cx.text(json::text(event, "Executor ID")?);
    for update in json::list(event, "Executor Metrics Updated") {
        peaks(update, executor, stages, cx)?;
    }
    Some(())
}

/// The peaks that `of` names for a stage attempt.
fn peaks(
    of: &Value,
    executor: store::Text,
    stages: &mut stages::Stages,
    cx: &mut Context<'_>,
) -> Option<()> {
    let attempt = json::int32(of, "Stage Attempt ID").unwrap_or(0);
    let id = StageAttemptId { stage: json::int32(of, "Stage ID")?, attempt };
    let set = task_document::executor_metrics(of.get("Executor Metrics")?);
    cx.executors.peaks(executor, &set);
    stages.peaks(id, executor, &set);
    Some(())
}
