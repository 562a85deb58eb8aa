//! A store that is being filled. Full chunks leave memory at once, to wherever the [`Sink`] puts them; the small
//! tables and the text pool follow when the log ends.

use hashbrown::HashMap;

use crate::{
    Blobs, ExecutorMetrics, StageAttemptId, TaskRow, Text, TextPool,
    chunk::{CHUNK_ROWS, ChunkBuffer, UserAccumulable},
    file::{FileWriter, Sink},
    tables::Tables,
};

/// One task attempt as it is handed over.
pub struct NewTask<'a> {
    pub row: &'a TaskRow,
    /// (accumulable, update) of SQL metrics and other internal accumulables.
    pub accumulables: &'a [(u64, i64)],
    /// Accumulables of the user; the row number is filled in here.
    pub user: &'a [UserAccumulable],
    pub executor_metrics: Option<&'a ExecutorMetrics>,
}

pub(crate) struct StageTasks {
    pub(crate) id: StageAttemptId,
    pub(crate) metrics_seen: u64,
    pub(crate) n_rows: u64,
    buffer: ChunkBuffer,
    /// (offset, length) in the chunk area.
    pub(crate) chunks: Vec<(u64, u64)>,
}

/// Tasks that were kept so far.
#[derive(Clone, Copy)]
pub struct RowCounts<'b> {
    stages: &'b [StageTasks],
    by_id: &'b HashMap<StageAttemptId, usize>,
}

impl RowCounts<'_> {
    /// Of a stage attempt.
    pub fn of(&self, id: StageAttemptId) -> u64 {
        self.by_id.get(&id).map_or(0, |at| self.stages[*at].n_rows)
    }
}

/// See the module.
pub struct Builder<S: Sink> {
    pub texts: TextPool,
    /// Blobs of the event that is being applied; see [`Builder::begin_event`].
    pub blobs: Blobs,
    stages: Vec<StageTasks>,
    by_id: HashMap<StageAttemptId, usize>,
    last: usize,
    open_bytes: usize,
    open_bytes_max: usize,
    file: FileWriter<S>,
    scratch: Vec<u8>,
}

impl<S: Sink> Builder<S> {
    /// `open_bytes_max` bounds the rows that wait to be packed, over all stages.
    pub fn new(sink: S, open_bytes_max: usize) -> Result<Self, std::io::Error> {
        Ok(Builder {
            texts: TextPool::default(),
            blobs: Blobs::default(),
            stages: Vec::new(),
            by_id: HashMap::new(),
            last: 0,
            open_bytes: 0,
            open_bytes_max,
            file: FileWriter::new(sink)?,
            scratch: Vec::new(),
        })
    }

    /// Goes on with what another store held.
    pub fn resume(
        sink: S,
        open_bytes_max: usize,
        store: &crate::Store,
    ) -> Result<Self, std::io::Error> {
        let mut builder = Builder::new(sink, open_bytes_max)?;
        builder.texts = store.text_pool();
        builder.file.append_chunks(store.chunk_area())?;
        for tasks in store.stage_tasks() {
            builder.by_id.insert(tasks.id, builder.stages.len());
            builder.stages.push(StageTasks {
                id: tasks.id,
                metrics_seen: tasks.metrics_seen,
                n_rows: tasks.n_rows,
                buffer: ChunkBuffer::default(),
                chunks: tasks.chunks.clone(),
            });
        }
        Ok(builder)
    }

    /// What an event is applied to, and how many rows there are so far.
    pub fn parts(&mut self) -> (&mut TextPool, &mut Blobs, RowCounts<'_>) {
        (&mut self.texts, &mut self.blobs, RowCounts { stages: &self.stages, by_id: &self.by_id })
    }

    fn stage(&mut self, id: StageAttemptId) -> usize {
        if self.stages.get(self.last).is_none_or(|stage| stage.id != id) {
            let next = self.stages.len();
            self.last = *self.by_id.entry(id).or_insert(next);
            if self.last == next {
                self.stages.push(StageTasks {
                    id,
                    metrics_seen: 0,
                    n_rows: 0,
                    buffer: ChunkBuffer::default(),
                    chunks: Vec::new(),
                });
            }
        }
        self.last
    }

    /// Keeps a task attempt. `metrics_seen` has a bit for each metric that its end event named.
    pub fn add_task(
        &mut self,
        id: StageAttemptId,
        metrics_seen: u64,
        task: &NewTask<'_>,
    ) -> std::io::Result<()> {
        let at = self.stage(id);
        let stage = &mut self.stages[at];
        stage.metrics_seen |= metrics_seen;
        stage.n_rows += 1;
        let number = stage.buffer.rows.len() as i64;
        stage.buffer.add_row(task.row, task.executor_metrics);
        for &(accumulable, value) in task.accumulables {
            stage.buffer.add_accumulable(accumulable, value);
        }
        for user in task.user {
            let mut user = *user;
            user[0] = number;
            stage.buffer.user.push(user);
        }
        self.open_bytes += size_of::<TaskRow>() + task.accumulables.len() * 10;
        if stage.buffer.rows.len() >= CHUNK_ROWS {
            self.pack(at)?;
        } else if self.open_bytes > self.open_bytes_max {
            self.pack_all()?;
        }
        Ok(())
    }

    fn pack(&mut self, at: usize) -> std::io::Result<()> {
        let stage = &mut self.stages[at];
        if stage.buffer.rows.is_empty() {
            return Ok(());
        }
        self.open_bytes = self.open_bytes.saturating_sub(stage.buffer.size_bytes());
        self.scratch.clear();
        stage.buffer.pack(&mut self.scratch);
        stage.chunks.push((self.file.chunks_len(), self.scratch.len() as u64));
        self.file.append_chunks(&self.scratch)
    }

    fn pack_all(&mut self) -> std::io::Result<()> {
        for at in 0..self.stages.len() {
            self.pack(at)?;
            self.stages[at].buffer = ChunkBuffer::default();
        }
        self.open_bytes = 0;
        Ok(())
    }

    /// Blobs may be put from now on, until [`Builder::end_event`].
    pub fn begin_event(&mut self) {
        self.blobs.begin_at(self.file.chunks_len());
    }

    /// Writes what was put since [`Builder::begin_event`]. Nothing else may have been written in between.
    pub fn end_event(&mut self) -> std::io::Result<()> {
        let waiting = self.blobs.take();
        if waiting.is_empty() { Ok(()) } else { self.file.append_chunks(&waiting) }
    }

    /// A stage attempt will get no more rows, most likely: its open rows leave memory.
    pub fn close_stage(&mut self, id: StageAttemptId) -> std::io::Result<()> {
        if let Some(&at) = self.by_id.get(&id) {
            self.pack(at)?;
            self.stages[at].buffer = ChunkBuffer::default();
        }
        Ok(())
    }

    /// Writes the rest. `running` are rows of tasks without an end; `resume` is what a reader needs to go on where
    /// this reading ended (its own form).
    pub fn finish(
        mut self,
        tables: &Tables,
        running: &[(StageAttemptId, TaskRow)],
        resume: &[u8],
    ) -> std::io::Result<S> {
        self.pack_all()?;
        self.file.finish(&self.texts, tables, &self.stages, running, resume)
    }

    /// Shorthand for interning.
    pub fn text(&mut self, text: &str) -> Text {
        self.texts.intern(text)
    }
}
