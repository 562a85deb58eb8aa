//! Batches, in log order, into the trackers and the store's builder. One thread at a time is in here.

use store::{
    Builder, Gap, GapKind, NewTask, Sink, StageAttemptId, Store, Tables, TaskColumn as C, TaskFlags, Text, TextPool,
    Wire, record,
};

use crate::{
    batch::{Batch, Document, EndReason, Item, Side, TaskEnd, TaskStart},
    gaps::Gaps,
    json, task_document,
    trackers::{Context, app, executors, rdd, sql, stages},
};

record! {
    /// Everything that is needed to go on where a reading ended, but for the builder.
    pub(crate) struct State {
        app: app::AppState,
        stages: stages::Stages,
        executors: executors::Executors,
        storage: rdd::Storage,
        sql: sql::Sql,
        gaps: Gaps,
        n_events: u64,
        events_by_kind: std::collections::BTreeMap<Text, u64>,
        n_starts: u64,
        n_ends: u64,
    }
}

impl PartialEq for Gaps {
    fn eq(&self, other: &Self) -> bool {
        self.list() == other.list()
    }
}

/// See the module.
pub(crate) struct Replay<S: Sink> {
    builder: Builder<S>,
    state: State,
    user: Vec<store::UserAccumulable>,
    unknown_kind: bool,
}

impl<S: Sink> Replay<S> {
    pub(crate) fn new(builder: Builder<S>, state: State) -> Self {
        Replay { builder, state, user: Vec::new(), unknown_kind: false }
    }

    pub(crate) fn texts(&mut self) -> &mut TextPool {
        &mut self.builder.texts
    }

    pub(crate) fn add_gap(&mut self, gap: Gap) {
        self.state.gaps.add(gap);
    }

    /// A state in a form that [`State::get`](store::Wire::get) reads back.
    pub(crate) fn save(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.state.put(&mut out);
        out
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.state.app.app.ended_at_ms.is_some()
    }

    pub(crate) fn n_events(&self) -> u64 {
        self.state.n_events + self.state.n_starts + self.state.n_ends
    }

    /// Applies a batch from `file`.
    pub(crate) fn apply(&mut self, batch: &mut Batch, file: Text) -> std::io::Result<()> {
        let Batch { items, starts, ends, side, .. } = batch;
        for (offset, item) in items {
            match item {
                Item::TaskStart(at) => self.task_start(&starts[*at as usize], side),
                Item::TaskEnd(at) => self.task_end(&mut ends[*at as usize], side)?,
                Item::Event(document) => {
                    if self.event(document)?.is_none() {
                        let detail = self.builder.text(&document.kind);
                        let kind = GapKind::BadEvent;
                        self.state.gaps.add(Gap { kind, file, detail, n: 1, bytes: 0, first_offset: *offset });
                    }
                    if self.unknown_kind {
                        self.unknown_kind = false;
                        let detail = self.builder.text(&document.full_kind);
                        let kind = GapKind::UnknownEvent;
                        self.state.gaps.add(Gap { kind, file, detail, n: 1, bytes: 0, first_offset: *offset });
                    }
                }
                Item::Gap { kind, detail, n, bytes } => {
                    let detail = self.builder.text(detail);
                    self.state.gaps.add(Gap { kind: *kind, file, detail, n: *n, bytes: *bytes, first_offset: *offset });
                }
            }
        }
        Ok(())
    }

    /// A batch's text handle as a handle of the store, which is given at first use so that the order of handles is that
    /// of the log, however it was cut into blocks.
    #[inline(always)]
    fn stored(&mut self, side: &mut Side, handle: i64) -> i64 {
        let Some(text) = Text::from_column(handle) else { return -1 };
        match side.stored_texts.get(text.0 as usize) {
            Some(stored) if *stored != u32::MAX => i64::from(*stored),
            _ => self.store_text(side, text),
        }
    }

    #[inline(never)]
    fn store_text(&mut self, side: &mut Side, text: Text) -> i64 {
        let stored = self.builder.text(side.texts.get(text));
        let at = text.0 as usize;
        if at >= side.stored_texts.len() {
            side.stored_texts.resize(at + 1, u32::MAX);
        }
        side.stored_texts[at] = stored.0;
        stored.to_column()
    }

    fn task_start(&mut self, start: &TaskStart, side: &mut Side) {
        let mut info = start.info;
        for column in [C::executor, C::host, C::locality] {
            info[column as usize] = self.stored(side, info[column as usize]);
        }
        self.state.n_starts += 1;
        self.seen_at(info[C::launched_at_ms as usize]);
        self.state.stages.task_start(start.stage, &info);
        self.state.executors.task_start(info[C::executor as usize]);
    }

    fn seen_at(&mut self, at_ms: i64) {
        let last = &mut self.state.app.app.last_event_at_ms;
        if at_ms > 0 && *last < Some(at_ms) {
            *last = Some(at_ms);
        }
    }

    fn task_end(&mut self, end: &mut TaskEnd, side: &mut Side) -> std::io::Result<()> {
        for column in [C::executor, C::host, C::locality, C::error] {
            end.row[column] = self.stored(side, end.row[column]);
        }
        self.state.n_ends += 1;
        self.seen_at(end.row[C::finished_at_ms]);
        self.user.clear();
        for at in end.user.0..end.user.1 {
            let mut user = side.user[at as usize];
            for handle in &mut user[2..] {
                *handle = self.stored(side, *handle);
            }
            self.user.push(user);
        }
        let set = end.executor_metrics.map(|set| &side.executor_metrics[set as usize]);
        let ended = self.state.stages.task_end(end, set);
        self.state.executors.task_end(&end.row, end.reason, set);
        if !ended.started {
            end.row[C::flags] |= TaskFlags::NOT_STARTED;
        }
        if end.reason == EndReason::Killed && end.row[C::flags] & TaskFlags::KILLED == 0 {
            end.row[C::flags] |= TaskFlags::COMMIT_DENIED;
        }
        let accumulables = &side.accumulables[end.accumulables.0 as usize..end.accumulables.1 as usize];
        let task = NewTask { row: &end.row, accumulables, user: &self.user, executor_metrics: set };
        self.builder.add_task(end.stage, end.metrics_seen, task)?;
        if ended.stage_removed {
            self.builder.close_stage(end.stage)?;
        }
        Ok(())
    }

    /// `Ok(None)` when the event lacks what it needs.
    fn event(&mut self, document: &Document) -> std::io::Result<Option<()>> {
        let kind = self.builder.text(&document.full_kind);
        *self.state.events_by_kind.entry(kind).or_default() += 1;
        self.state.n_events += 1;
        let State { app, stages, executors, storage, sql, .. } = &mut self.state;
        let cx = &mut Context { texts: &mut self.builder.texts, app, executors, storage };
        let event = &document.value;
        let done = match document.kind.as_str() {
            "SparkListenerJobStart" => {
                let done = stages.job_start(event, cx);
                // jobs outside SQL have no execution, which is not a fault
                let _none = sql.job_start(event);
                done
            }
            "SparkListenerJobEnd" => {
                if let Some((Some(execution), succeeded)) = stages.job_end(event, cx) {
                    sql.job_end(execution, json::int32(event, "Job ID").unwrap_or(-1), succeeded);
                }
                event.get("Job ID").map(|_| ())
            }
            "SparkListenerStageSubmitted" => stages.stage_submitted(event, cx),
            "SparkListenerStageCompleted" => {
                if let Some(id) = stages.stage_completed(event, cx) {
                    self.builder_close(id)?;
                }
                let State { executors, stages, .. } = &mut self.state;
                executors.forget_dead(stages);
                event.get("Stage Info").map(|_| ())
            }
            "SparkListenerTaskGettingResult" => {
                stages.task_getting_result(event);
                Some(())
            }
            "SparkListenerSpeculativeTaskSubmitted" => {
                stages.speculative_task_submitted(event);
                Some(())
            }
            "SparkListenerStageExecutorMetrics" => stage_executor_metrics(event, stages, cx),
            "SparkListenerExecutorMetricsUpdate" => executor_metrics_update(event, stages, cx),
            "SparkListenerExecutorAdded" => executors::added(event, cx),
            "SparkListenerExecutorRemoved" => {
                executors::removed(event, stages, cx);
                event.get("Executor ID").map(|_| ())
            }
            "SparkListenerBlockManagerAdded" => executors::block_manager_added(event, cx),
            "SparkListenerBlockUpdated" => rdd::block_updated(event, cx),
            "SparkListenerUnpersistRDD" => cx.storage.unpersist(event, cx.texts),
            "SparkListenerLogStart" => app::log_start(event, cx),
            "SparkListenerApplicationStart" => app::started(event, cx),
            "SparkListenerApplicationEnd" => app::ended(event, cx),
            "SparkListenerEnvironmentUpdate" => app::environment(event, cx),
            "SparkListenerResourceProfileAdded" => app::resource_profile(event, cx),
            "SparkListenerMiscellaneousProcessAdded" => app::misc_process(event, cx),
            "SparkListenerSQLExecutionStart" => sql.started(event, cx),
            "SparkListenerSQLExecutionEnd" => {
                sql.ended(event, cx);
                event.get("executionId").map(|_| ())
            }
            "SparkListenerSQLAdaptiveExecutionUpdate" => sql.adaptive_plan(event, cx),
            "SparkListenerSQLAdaptiveSQLMetricUpdates" => sql.adaptive_metrics(event, cx),
            "SparkListenerDriverAccumUpdates" => sql.driver_updates(event),
            "QueryStartedEvent" | "QueryProgressEvent" | "QueryIdleEvent" | "QueryTerminatedEvent" => {
                app::streaming(document, cx)
            }
            // nothing that any answer shows depends on these
            "SparkListenerBlockManagerRemoved"
            | "SparkListenerUnschedulableTaskSetAdded"
            | "SparkListenerUnschedulableTaskSetRemoved" => Some(()),
            kind if kind.contains("cluded") || kind.contains("blacklisted") || kind.contains("Blacklisted") => {
                executors::exclusion(kind, event, stages, cx)
            }
            kind if kind.starts_with("SparkListenerConnect") || kind.starts_with("SparkListenerThriftServer") => {
                app::server_event(document, cx)
            }
            _ => {
                self.unknown_kind = true;
                Some(())
            }
        };
        Ok(done)
    }

    fn builder_close(&mut self, id: StageAttemptId) -> std::io::Result<()> {
        self.builder.close_stage(id)
    }

    /// Freezes what was read. `resume` goes into the store as it is; `extra` are gaps of this moment only, such as a torn
    /// last line of a log that may still grow.
    pub(crate) fn finish(mut self, resume: &[u8], extra: Vec<Gap>) -> std::io::Result<S> {
        for gap in extra {
            self.state.gaps.add(gap);
        }
        for (kind, n) in [("SparkListenerTaskStart", self.state.n_starts), ("SparkListenerTaskEnd", self.state.n_ends)] {
            if n > 0 {
                let kind = self.builder.text(kind);
                *self.state.events_by_kind.entry(kind).or_default() += n;
            }
        }
        let n_events = self.n_events();
        let state = self.state;
        let n_end_without_start = state.stages.n_end_without_start();
        let finished = state.stages.finish();
        let (executors, executor_events) = state.executors.finish();
        let (persisted_rdds, blocks) = state.storage.finish();
        let mut gaps = state.gaps;
        let ended = state.app.app.ended_at_ms.is_some();
        for (kind, n) in [
            (GapKind::TaskEndWithoutStart, n_end_without_start),
            (GapKind::TaskStartWithoutEnd, finished.n_tasks_left_open),
            (GapKind::JobWithoutEnd, if ended { finished.n_open_jobs } else { 0 }),
            (GapKind::StageWithoutEnd, if ended { finished.n_open_stages } else { 0 }),
            (GapKind::NoApplicationEnd, u64::from(!ended)),
            (GapKind::NoApplicationStart, u64::from(!state.app.started)),
            (GapKind::NoEnvironment, u64::from(state.app.environment.is_none())),
        ] {
            if n > 0 {
                gaps.add(Gap { kind, n, ..Gap::default() });
            }
        }
        let mut app = state.app.app;
        app.n_events = n_events;
        let tables = Tables {
            app,
            environment: state.app.environment,
            resource_profiles: state.app.profiles.into_values().collect(),
            jobs: finished.jobs,
            stages: finished.stages,
            executors,
            executor_events,
            blocks,
            persisted_rdds,
            misc_processes: state.app.processes,
            sql_executions: state.sql.finish(),
            streaming_queries: state.app.queries,
            server_events: state.app.server_events,
            events_by_kind: state.events_by_kind,
            gaps: gaps.list(),
        };
        self.builder.finish(&tables, &finished.running, resume)
    }
}

/// A builder and state that go on from a store, if it left a state.
pub(crate) fn resume<S: Sink>(
    sink: S,
    open_bytes_max: usize,
    store: &Store,
    state: State,
) -> std::io::Result<Replay<S>> {
    Ok(Replay::new(Builder::resume(sink, open_bytes_max, store)?, state))
}

fn stage_executor_metrics(event: &serde_json::Value, stages: &mut stages::Stages, cx: &mut Context<'_>) -> Option<()> {
    let executor = cx.text(json::text(event, "Executor ID")?);
    let attempt = json::int32(event, "Stage Attempt ID").unwrap_or(0);
    let id = StageAttemptId { stage: json::int32(event, "Stage ID")?, attempt };
    let set = task_document::executor_metrics(event.get("Executor Metrics")?);
    cx.executors.peaks(executor, &set);
    stages.peaks(id, executor, &set);
    Some(())
}

fn executor_metrics_update(event: &serde_json::Value, stages: &mut stages::Stages, cx: &mut Context<'_>) -> Option<()> {
    let executor = cx.text(json::text(event, "Executor ID")?);
    for update in json::list(event, "Executor Metrics Updated") {
        let attempt = json::int32(update, "Stage Attempt ID").unwrap_or(0);
        let id = StageAttemptId { stage: json::int32(update, "Stage ID")?, attempt };
        let set = task_document::executor_metrics(update.get("Executor Metrics")?);
        cx.executors.peaks(executor, &set);
        stages.peaks(id, executor, &set);
    }
    Some(())
}
