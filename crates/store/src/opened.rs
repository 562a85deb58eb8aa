//! A finished store: one application attempt, immutable, readable by any number of threads.

use hashbrown::HashMap;

use crate::{
    Blob, PlanRef, Reader, SqlPlan, StageAttemptId, StreamingProgress, TaskColumn, TaskRow, Text,
    TextPool, Wire,
    chunk::{Chunk, UserAccumulable},
    file::{self, Directory, StageDirectory},
    tables::{StageAttempt, Tables},
    text::TextSection,
};

/// Bytes that a store is read from: a vector or a mapped file.
pub type Bytes = Box<dyn AsRef<[u8]> + Send + Sync>;

/// See the module.
pub struct Store {
    bytes: Bytes,
    directory: Directory,
    texts: TextSection,
    tables: Tables,
    by_id: HashMap<StageAttemptId, usize>,
    running: HashMap<StageAttemptId, Vec<TaskRow>>,
}

impl Store {
    /// `None` when the bytes are not a whole, intact store of this format.
    pub fn open(bytes: Bytes) -> Option<Store> {
        let all = (*bytes).as_ref();
        let directory = file::open(all)?;
        let texts = TextSection::open(file::part(all, directory.texts)?)?;
        let tables = Tables::get(&mut Reader::new(file::part(all, directory.tables)?))?;
        let mut reader = Reader::new(file::part(all, directory.running)?);
        let mut running: HashMap<StageAttemptId, Vec<TaskRow>> = HashMap::new();
        for _ in 0..u32::get(&mut reader)? {
            let id = StageAttemptId::get(&mut reader)?;
            running.entry(id).or_default().push(TaskRow::get(&mut reader)?);
        }
        let by_id = directory.stages.iter().enumerate().map(|(at, s)| (s.id, at)).collect();
        Some(Store { bytes, directory, texts, tables, by_id, running })
    }

    fn part(&self, section: (u64, u64)) -> &[u8] {
        file::part((*self.bytes).as_ref(), section).unwrap_or_default()
    }

    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    pub fn text(&self, text: Text) -> &str {
        self.texts.get(self.part(self.directory.texts), text)
    }

    /// What the reader left for going on where the log ended.
    pub fn resume(&self) -> &[u8] {
        self.part(self.directory.resume)
    }

    /// Size of the whole store.
    pub fn size_bytes(&self) -> usize {
        (*self.bytes).as_ref().len()
    }

    pub(crate) fn text_pool(&self) -> TextPool {
        TextPool::read(self.part(self.directory.texts)).unwrap_or_default()
    }

    pub(crate) fn chunk_area(&self) -> &[u8] {
        self.part(self.directory.chunks)
    }

    pub(crate) fn stage_tasks(&self) -> &[StageDirectory] {
        &self.directory.stages
    }

    /// A stage attempt by its id.
    pub fn stage(&self, id: StageAttemptId) -> Option<&StageAttempt> {
        let at = self.tables.stages.binary_search_by_key(&id, |stage| stage.id).ok()?;
        self.tables.stages.get(at)
    }

    /// A value that was written down; empty when it is not there.
    pub fn blob(&self, blob: &Blob) -> &[u8] {
        file::part(self.chunk_area(), (blob.at, blob.len)).unwrap_or_default()
    }

    /// A plan of an SQL execution.
    pub fn plan(&self, plan: &PlanRef) -> Option<SqlPlan> {
        SqlPlan::get(&mut Reader::new(self.blob(&plan.blob)))
    }

    /// A value that is text.
    pub fn blob_text(&self, blob: &Blob) -> &str {
        std::str::from_utf8(self.blob(blob)).unwrap_or_default()
    }

    /// A progress report of a streaming query.
    pub fn progress(&self, blob: &Blob) -> Option<StreamingProgress> {
        StreamingProgress::get(&mut Reader::new(self.blob(blob)))
    }

    /// A bit for each metric that any task of a stage attempt reported.
    pub fn metrics_seen(&self, id: StageAttemptId) -> u64 {
        self.by_id.get(&id).map_or(0, |at| self.directory.stages[*at].metrics_seen)
    }

    /// The task attempts of a stage attempt; none for one that the log does not know.
    pub fn tasks(&self, id: StageAttemptId) -> StageTasks<'_> {
        let directory = self.by_id.get(&id).map(|at| &self.directory.stages[*at]);
        let area = self.chunk_area();
        let chunks: Vec<Chunk<'_>> = directory
            .into_iter()
            .flat_map(|d| &d.chunks)
            .filter_map(|chunk| Chunk::open(file::part(area, *chunk)?))
            .collect();
        StageTasks::new(
            chunks,
            self.running.get(&id).map_or(&[], Vec::as_slice),
            directory.map_or(0, |d| d.metrics_seen),
        )
    }

    /// Number of task attempts in the store.
    pub fn n_tasks(&self) -> u64 {
        let running: usize = self.running.values().map(Vec::len).sum();
        self.directory.stages.iter().map(|s| s.n_rows).sum::<u64>() + running as u64
    }
}

/// The task attempts of a stage attempt: those that ended, in that order, then those that did not.
pub struct StageTasks<'a> {
    metrics_seen: u64,
    chunks: Vec<Chunk<'a>>,
    /// First row of each chunk, and the first row after the last.
    starts: Vec<usize>,
    running: &'a [TaskRow],
}

impl<'a> StageTasks<'a> {
    fn new(chunks: Vec<Chunk<'a>>, running: &'a [TaskRow], metrics_seen: u64) -> Self {
        let mut starts = Vec::with_capacity(chunks.len() + 1);
        starts.push(0);
        let mut n_rows = 0;
        for chunk in &chunks {
            n_rows += chunk.n_rows();
            starts.push(n_rows);
        }
        StageTasks { metrics_seen, chunks, starts, running }
    }

    fn n_packed(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    pub fn n_rows(&self) -> usize {
        self.n_packed() + self.running.len()
    }

    /// The chunk that holds a row, and the row's number there; `None` for one that runs.
    fn locate(&self, row: usize) -> Option<(&Chunk<'a>, usize)> {
        let at = self.starts.partition_point(|start| *start <= row).checked_sub(1)?;
        Some((self.chunks.get(at)?, row - self.starts[at]))
    }

    /// A column, a value for each row.
    pub fn column(&self, column: TaskColumn) -> Vec<i64> {
        let mut out = Vec::with_capacity(self.n_rows());
        for chunk in &self.chunks {
            chunk.column(column).read(chunk.n_rows(), &mut out);
        }
        out.extend(self.running.iter().map(|row| row[column]));
        out
    }

    /// One value of a column; 0 when there is no such row.
    pub fn value(&self, column: TaskColumn, row: usize) -> i64 {
        match self.locate(row) {
            Some((chunk, row)) => chunk.column(column).get(row),
            None => self.running.get(row - self.n_packed().min(row)).map_or(0, |r| r[column]),
        }
    }

    /// All values of a row; [`TaskRow::UNKNOWN`] when there is no such row.
    pub fn row(&self, row: usize) -> TaskRow {
        let mut values = TaskRow::UNKNOWN;
        match self.locate(row) {
            Some((chunk, row)) => {
                for column in TaskColumn::ALL {
                    values[*column] = chunk.column(*column).get(row);
                }
            }
            None => {
                if let Some(known) = self.running.get(row - self.n_packed().min(row)) {
                    values.clone_from(known);
                }
            }
        }
        values
    }

    /// The user's accumulables that the task of a row reported, in the order of the log.
    pub fn user_accumulables(&self, row: usize) -> Vec<UserAccumulable> {
        self.locate(row).map(|(chunk, row)| chunk.user_accumulables_of(row)).unwrap_or_default()
    }

    /// A bit for each metric that any task of the stage attempt reported.
    pub fn metrics_seen(&self) -> u64 {
        self.metrics_seen
    }

    /// Whether any task of the stage attempt reported the metric.
    pub fn has_metric(&self, column: TaskColumn) -> bool {
        column.metric_index().is_none_or(|bit| self.metrics_seen >> bit & 1 == 1)
    }

    /// The packed chunks; their rows are the first rows here.
    pub fn chunks(&self) -> &[Chunk<'a>] {
        &self.chunks
    }

    /// Ids of the accumulables that tasks reported, ascending.
    pub fn accumulable_ids(&self) -> Vec<u64> {
        let mut ids: Vec<u64> =
            self.chunks.iter().flat_map(Chunk::accumulables).map(|a| a.id).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Row and value of each task that reported the accumulable.
    pub fn accumulable(&self, id: u64) -> Vec<(usize, i64)> {
        let mut out = Vec::new();
        for (chunk, first) in self.chunks.iter().zip(&self.starts) {
            if let Some(run) = chunk.accumulables().iter().find(|run| run.id == id) {
                out.extend(run.iter().map(|(row, value)| (first + row, value)));
            }
        }
        out
    }
}
