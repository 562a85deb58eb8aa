//! Up to [`CHUNK_ROWS`] task attempts of one stage attempt, in the order they ended, as packed columns.
//!
//! Form: four counts (rows, accumulable columns, user accumulable rows, executor metric sets; u32), a directory of
//! base and width for each run, then the runs. Open chunks are kept row by row, which is how rows arrive.

use hashbrown::HashMap;

use crate::{
    EXECUTOR_METRICS, ExecutorMetrics, TaskColumn, TaskRow, Wire,
    packed::{self, Packed},
    wire::Reader,
};

/// Rows of a full chunk. 1,024 rows of 50 columns fit a second-level cache while they are packed.
pub const CHUNK_ROWS: usize = 1_024;

/// A user's accumulable as a task reported it: row, id, name, update, value (the last three as text handles, −1 none).
pub type UserAccumulable = [i64; 5];
const N_USER: usize = 5;

/// Rows that wait to be packed.
#[derive(Default)]
pub(crate) struct ChunkBuffer {
    pub(crate) rows: Vec<TaskRow>,
    accumulables: Vec<AccumulableBuffer>,
    /// Column of an accumulable by its id.
    by_id: HashMap<u64, usize>,
    /// Column that the next accumulable is expected in: tasks of a stage list theirs in the same order.
    expected: usize,
    pub(crate) user: Vec<UserAccumulable>,
    sets: Vec<ExecutorMetrics>,
}

struct AccumulableBuffer {
    id: u64,
    rows: Vec<u16>,
    values: Vec<i64>,
}

impl ChunkBuffer {
    pub(crate) fn add_accumulable(&mut self, id: u64, value: i64) {
        let row = (self.rows.len() - 1) as u16;
        let at = match self.accumulables.get(self.expected) {
            Some(column) if column.id == id => self.expected,
            _ => self.find(id),
        };
        let column = &mut self.accumulables[at];
        column.rows.push(row);
        column.values.push(value);
        self.expected = at + 1;
    }

    #[inline(never)]
    fn find(&mut self, id: u64) -> usize {
        let next = self.accumulables.len();
        let at = *self.by_id.entry(id).or_insert(next);
        if at == next {
            self.accumulables.push(AccumulableBuffer { id, rows: Vec::new(), values: Vec::new() });
        }
        at
    }

    /// Begins a row. Its executor metrics are mostly those of the row before.
    pub(crate) fn add_row(&mut self, row: &TaskRow, set: Option<&ExecutorMetrics>) {
        self.rows.push(row.clone());
        self.expected = 0;
        if let (Some(set), Some(row)) = (set, self.rows.last_mut()) {
            if self.sets.last() != Some(set) {
                self.sets.push(*set);
            }
            row[TaskColumn::executor_metrics] = (self.sets.len() - 1) as i64;
        }
    }

    pub(crate) fn size_bytes(&self) -> usize {
        self.rows.len() * size_of::<TaskRow>()
            + self.accumulables.iter().map(|a| a.values.len() * 10).sum::<usize>()
            + (self.user.len() * N_USER + self.sets.len() * EXECUTOR_METRICS.len()) * 8
    }

    /// Appends the packed form to `out` and empties the buffer.
    pub(crate) fn pack(&mut self, out: &mut Vec<u8>) {
        let rows = std::mem::take(&mut self.rows);
        self.accumulables.retain(|a| !a.values.is_empty());
        self.accumulables.sort_by_key(|a| a.id);
        self.by_id = self.accumulables.iter().enumerate().map(|(at, a)| (a.id, at)).collect();
        for n in [rows.len(), self.accumulables.len(), self.user.len(), self.sets.len()] {
            (n as u32).put(out);
        }
        let directory_at = out.len();
        let n_runs = TaskColumn::COUNT + N_USER + EXECUTOR_METRICS.len();
        out.resize(directory_at + n_runs * 9 + self.accumulables.len() * 30, 0);
        let mut directory = Vec::with_capacity(out.len() - directory_at);
        let run =
            |values: &mut dyn FnMut() -> Vec<i64>, directory: &mut Vec<u8>, out: &mut Vec<u8>| {
                let values = values();
                let (base, width) = packed::shape(values.iter().copied());
                base.put(directory);
                width.put(directory);
                packed::write(values.iter().copied(), base, width, out);
            };
        for column in 0..TaskColumn::COUNT {
            let values = || rows.iter().map(|row| row.0[column]);
            let (base, width) = packed::shape(values());
            base.put(&mut directory);
            width.put(&mut directory);
            packed::write(values(), base, width, out);
        }
        for i in 0..N_USER {
            run(&mut || self.user.iter().map(|u| u[i]).collect(), &mut directory, out);
        }
        for i in 0..EXECUTOR_METRICS.len() {
            run(&mut || self.sets.iter().map(|s| s[i]).collect(), &mut directory, out);
        }
        for a in &mut self.accumulables {
            a.id.put(&mut directory);
            (a.values.len() as u32).put(&mut directory);
            // a column that every row has needs no row numbers
            let sparse = a.values.len() != rows.len() || a.rows.windows(2).any(|w| w[0] >= w[1]);
            let numbers = || a.rows.iter().map(|r| i64::from(*r)).filter(|_| sparse);
            let (base, width) = packed::shape(numbers());
            base.put(&mut directory);
            (width | if sparse { SPARSE } else { 0 }).put(&mut directory);
            packed::write(numbers(), base, width, out);
            let (base, width) = packed::shape(a.values.iter().copied());
            base.put(&mut directory);
            width.put(&mut directory);
            packed::write(a.values.iter().copied(), base, width, out);
            a.rows.clear();
            a.values.clear();
        }
        out[directory_at..directory_at + directory.len()].copy_from_slice(&directory);
        self.user.clear();
        self.sets.clear();
        // keep the allocation of the rows, which are the bulk
        self.rows = rows;
        self.rows.clear();
    }
}

/// Marks a column that not every row has; its row numbers stand before its values.
const SPARSE: u8 = 0x80;

/// The values of one accumulable in a chunk.
pub struct AccumulableRun<'a> {
    pub id: u64,
    pub n: usize,
    rows: Option<Packed<'a>>,
    values: Packed<'a>,
}

impl AccumulableRun<'_> {
    /// Row in the chunk and value, in row order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, i64)> {
        (0..self.n).map(|i| (self.rows.map_or(i, |rows| rows.get(i) as usize), self.values.get(i)))
    }
}

/// A packed chunk, its directory read.
pub struct Chunk<'a> {
    n_rows: usize,
    columns: Vec<Packed<'a>>,
    n_user: usize,
    user: Vec<Packed<'a>>,
    n_sets: usize,
    sets: Vec<Packed<'a>>,
    accumulables: Vec<AccumulableRun<'a>>,
}

impl<'a> Chunk<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Option<Chunk<'a>> {
        let mut head = Reader::new(bytes);
        let mut count = || u32::get(&mut head).map(|n| n as usize);
        let (n_rows, n_accumulables, n_user, n_sets) = (count()?, count()?, count()?, count()?);
        let n_runs = TaskColumn::COUNT + N_USER + EXECUTOR_METRICS.len();
        let n_directory = (n_runs * 9).checked_add(n_accumulables.checked_mul(30)?)?;
        let mut directory = Reader::new(head.take(n_directory)?);
        let mut data = &bytes[16 + n_directory..];
        let mut runs = |n_runs: usize, n: usize, data: &mut &'a [u8]| {
            let mut out = Vec::with_capacity(n_runs);
            for _ in 0..n_runs {
                let (base, width) = (i64::get(&mut directory)?, u8::get(&mut directory)?);
                let (run, rest) = Packed::open(base, width, n, data)?;
                *data = rest;
                out.push(run);
            }
            Some(out)
        };
        let columns = runs(TaskColumn::COUNT, n_rows, &mut data)?;
        let user = runs(N_USER, n_user, &mut data)?;
        let sets = runs(EXECUTOR_METRICS.len(), n_sets, &mut data)?;
        let mut accumulables = Vec::with_capacity(n_accumulables);
        for _ in 0..n_accumulables {
            let id = u64::get(&mut directory)?;
            let n = u32::get(&mut directory)? as usize;
            let (base, width) = (i64::get(&mut directory)?, u8::get(&mut directory)?);
            let rows = if width & SPARSE != 0 {
                let (run, rest) = Packed::open(base, width & !SPARSE, n, data)?;
                data = rest;
                Some(run)
            } else {
                None
            };
            let (base, width) = (i64::get(&mut directory)?, u8::get(&mut directory)?);
            let (values, rest) = Packed::open(base, width, n, data)?;
            data = rest;
            accumulables.push(AccumulableRun { id, n, rows, values });
        }
        Some(Chunk { n_rows, columns, n_user, user, n_sets, sets, accumulables })
    }

    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    pub fn column(&self, column: TaskColumn) -> Packed<'a> {
        self.columns[column as usize]
    }

    pub fn accumulables(&self) -> &[AccumulableRun<'a>] {
        &self.accumulables
    }

    pub fn user_accumulables(&self) -> impl Iterator<Item = UserAccumulable> {
        (0..self.n_user).map(|i| std::array::from_fn(|k| self.user[k].get(i)))
    }

    /// Those of one row.
    pub(crate) fn user_accumulables_of(&self, row: usize) -> Vec<UserAccumulable> {
        let row = row as i64;
        let at = |i: usize| self.user[0].get(i);
        // rows are packed in their order
        let (mut from, mut to) = (0, self.n_user);
        while from < to {
            let middle = from + (to - from) / 2;
            if at(middle) < row {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        let own = (from..self.n_user).take_while(|i| at(*i) == row);
        own.map(|i| std::array::from_fn(|k| self.user[k].get(i))).collect()
    }

    /// A set of executor metrics, by the number in [`TaskColumn::executor_metrics`].
    pub fn executor_metrics(&self, set: i64) -> Option<ExecutorMetrics> {
        let set = usize::try_from(set).ok().filter(|set| *set < self.n_sets)?;
        Some(std::array::from_fn(|k| self.sets[k].get(set)))
    }
}
