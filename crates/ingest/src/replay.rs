//! Batches, in log order, into the trackers and the store's builder. One thread at a time is in here.

use store::{
    Builder, Gap, GapKind, NewTask, Sink, Store, Tables, TaskColumn as C, TaskFlags, Text,
    TextPool, Wire, record,
};

use crate::{
    batch::{Batch, Document, EndReason, Item, Side, TaskEnd, TaskStart},
    dispatch::{self, Applied},
    gaps::Gaps,
    trackers::{app, connect, executors, rdd, sql, stages, streaming, thrift},
};

record! {
    /// Everything that is needed to go on where a reading ended, but for the builder.
    pub(crate) struct State {
        pub(crate) app: app::AppState,
        pub(crate) stages: stages::Stages,
        pub(crate) executors: executors::Executors,
        pub(crate) storage: rdd::Storage,
        pub(crate) sql: sql::Sql,
        pub(crate) streaming: streaming::Streaming,
        pub(crate) connect: connect::Connect,
        pub(crate) thrift: thrift::Thrift,
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
}

impl<S: Sink> Replay<S> {
    pub(crate) fn new(builder: Builder<S>, state: State) -> Self {
        Replay { builder, state, user: Vec::new() }
    }

    pub(crate) fn texts(&mut self) -> &mut TextPool {
        &mut self.builder.texts
    }

    pub(crate) fn add_gap(&mut self, gap: &Gap) {
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
                    if let Some(kind) = self.event(document)? {
                        let detail = self.builder.text(&document.full_kind);
                        self.state.gaps.add(&Gap {
                            kind,
                            file,
                            detail,
                            n: 1,
                            bytes: 0,
                            first_offset: *offset,
                        });
                    }
                }
                Item::Gap { kind, detail, n, bytes } => {
                    let detail = self.builder.text(detail);
                    self.state.gaps.add(&Gap {
                        kind: *kind,
                        file,
                        detail,
                        n: *n,
                        bytes: *bytes,
                        first_offset: *offset,
                    });
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
        let accumulables =
            &side.accumulables[end.accumulables.0 as usize..end.accumulables.1 as usize];
        let task = NewTask { row: &end.row, accumulables, user: &self.user, executor_metrics: set };
        self.builder.add_task(end.stage, end.metrics_seen, &task)?;
        if ended.stage_removed {
            self.builder.close_stage(end.stage)?;
        }
        Ok(())
    }

    /// Hands the event to its tracker; the gap that it leaves, if it does.
    fn event(&mut self, document: &Document) -> std::io::Result<Option<GapKind>> {
        let kind = self.builder.text(&document.full_kind);
        *self.state.events_by_kind.entry(kind).or_default() += 1;
        self.state.n_events += 1;
        self.builder.begin_event();
        let (texts, blobs, rows) = self.builder.parts();
        let applied = dispatch::apply(document, &mut self.state, texts, blobs, rows);
        self.builder.end_event()?;
        match applied {
            Applied::Done => Ok(None),
            Applied::StageClosed(id) => self.builder.close_stage(id).map(|()| None),
            Applied::Lacking => Ok(Some(GapKind::BadEvent)),
            Applied::UnknownKind => Ok(Some(GapKind::UnknownEvent)),
            Applied::SecondApplication => Ok(Some(GapKind::SecondApplication)),
        }
    }

    /// Freezes what was read. `resume` goes into the store as it is; `extra` are gaps of this moment only, such as a torn
    /// last line of a log that may still grow.
    pub(crate) fn finish(mut self, resume: &[u8], extra: Vec<Gap>) -> std::io::Result<S> {
        for gap in extra {
            self.state.gaps.add(&gap);
        }
        for (kind, n) in [
            ("SparkListenerTaskStart", self.state.n_starts),
            ("SparkListenerTaskEnd", self.state.n_ends),
        ] {
            if n > 0 {
                let kind = self.builder.text(kind);
                *self.state.events_by_kind.entry(kind).or_default() += n;
            }
        }
        let n_events = self.n_events();
        let state = self.state;
        let n_end_without_start = state.stages.n_end_without_start();
        let n_without_stage = state.stages.n_without_stage();
        let finished = state.stages.finish();
        let (connect_sessions, connect_operations) = state.connect.finish(&self.builder.texts);
        let (thrift_sessions, thrift_statements) = state.thrift.finish();
        let (executors, executor_events) = state.executors.finish();
        let mut gaps = state.gaps;
        let ended = state.app.app.ended_at_ms.is_some();
        for (kind, n) in [
            (GapKind::TaskEndWithoutStart, n_end_without_start),
            (GapKind::TaskWithoutStage, n_without_stage),
            (GapKind::TaskStartWithoutEnd, finished.n_tasks_left_open),
            (GapKind::JobWithoutEnd, if ended { finished.n_open_jobs } else { 0 }),
            (GapKind::StageWithoutEnd, if ended { finished.n_open_stages } else { 0 }),
            (GapKind::NoApplicationEnd, u64::from(!ended)),
            (GapKind::NoApplicationStart, u64::from(!state.app.started)),
            (GapKind::NoEnvironment, u64::from(state.app.environment.is_none())),
        ] {
            if n > 0 {
                gaps.add(&Gap { kind, n, ..Gap::default() });
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
            persisted_rdds: state.storage.finish(),
            misc_processes: state.app.processes.into_values().collect(),
            sql_executions: state.sql.finish(self.builder.parts().2),
            streaming_queries: state.streaming.finish(),
            connect_sessions,
            connect_operations,
            thrift_sessions,
            thrift_statements,
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
