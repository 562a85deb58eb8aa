//! What each executor did for one stage attempt, packed: an application of 10,000 stages on 200 executors has two
//! million of these, most of whose numbers are small or equal.

use std::collections::BTreeMap;

use crate::{
    EXECUTOR_METRICS, MetricSums, Reader, StageExecutor, TaskColumn, Text, Wire,
    packed::{self, Packed},
};

/// id, four counts, flags; then sums; then peaks.
const N_FIXED: usize = 6;
const N_COLUMNS: usize = N_FIXED + TaskColumn::N_METRICS + EXECUTOR_METRICS.len();
const EXCLUDED: i64 = 1;
const HAS_PEAK: i64 = 2;

/// The executors of a stage attempt, by their id, in packed form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageExecutors {
    bytes: Vec<u8>,
}

impl Wire for StageExecutors {
    fn put(&self, out: &mut Vec<u8>) {
        self.bytes.put(out);
    }
    fn get(from: &mut Reader<'_>) -> Option<Self> {
        Vec::<u8>::get(from).map(|bytes| StageExecutors { bytes })
    }
}

fn row(id: Text, executor: &StageExecutor) -> [i64; N_COLUMNS] {
    let mut row = [0; N_COLUMNS];
    let flags = if executor.excluded { EXCLUDED } else { 0 };
    row[0] = id.to_column();
    row[1] = executor.task_ms;
    row[2] = executor.n_failed;
    row[3] = executor.n_succeeded;
    row[4] = executor.n_killed;
    row[5] = flags | if executor.peak.is_some() { HAS_PEAK } else { 0 };
    row[N_FIXED..N_FIXED + TaskColumn::N_METRICS].copy_from_slice(&executor.sums.0);
    if let Some(peak) = &executor.peak {
        row[N_FIXED + TaskColumn::N_METRICS..].copy_from_slice(peak);
    }
    row
}

fn executor(row: &[i64; N_COLUMNS]) -> (Text, StageExecutor) {
    let mut sums = MetricSums::default();
    sums.0.copy_from_slice(&row[N_FIXED..N_FIXED + TaskColumn::N_METRICS]);
    let mut peak = [0; EXECUTOR_METRICS.len()];
    peak.copy_from_slice(&row[N_FIXED + TaskColumn::N_METRICS..]);
    let executor = StageExecutor {
        task_ms: row[1],
        n_failed: row[2],
        n_succeeded: row[3],
        n_killed: row[4],
        sums,
        excluded: row[5] & EXCLUDED != 0,
        peak: (row[5] & HAS_PEAK != 0).then_some(peak),
    };
    (Text::from_column(row[0]).unwrap_or_default(), executor)
}

impl StageExecutors {
    pub fn pack(executors: &BTreeMap<Text, StageExecutor>) -> StageExecutors {
        let rows: Vec<_> = executors.iter().map(|(id, executor)| row(*id, executor)).collect();
        let mut bytes = Vec::new();
        (rows.len() as u32).put(&mut bytes);
        for column in 0..N_COLUMNS {
            let values = || rows.iter().map(|row| row[column]);
            let (base, width) = packed::shape(values());
            // most columns are zero throughout, which costs a byte
            let zero = base == 0 && width == 0;
            (if zero { ZERO } else { width }).put(&mut bytes);
            if !zero {
                base.put(&mut bytes);
                packed::write(values(), base, width, &mut bytes);
            }
        }
        StageExecutors { bytes }
    }

    /// By id; empty when the bytes are not those of [`StageExecutors::pack`].
    pub fn unpack(&self) -> BTreeMap<Text, StageExecutor> {
        self.read().unwrap_or_default()
    }

    fn read(&self) -> Option<BTreeMap<Text, StageExecutor>> {
        if self.bytes.is_empty() {
            return Some(BTreeMap::new());
        }
        let mut reader = Reader::new(&self.bytes);
        let n = u32::get(&mut reader)? as usize;
        // an id takes at least a bit of difference, so more rows than that are a lie
        let mut rows =
            vec![[0; N_COLUMNS]; if n <= self.bytes.len() * 8 { n } else { return None }];
        for column in 0..N_COLUMNS {
            let width = u8::get(&mut reader)?;
            if width == ZERO {
                continue;
            }
            let base = i64::get(&mut reader)?;
            let bytes = reader.take(n.checked_mul(usize::from(width))?)?;
            let (values, _) = Packed::open(base, width, n, bytes)?;
            for (i, row) in rows.iter_mut().enumerate() {
                row[column] = values.get(i);
            }
        }
        Some(rows.iter().map(executor).collect())
    }
}

/// In place of a width: the column is zero throughout.
const ZERO: u8 = 0xff;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_comes_back() {
        let mut executors = BTreeMap::new();
        for n in 0..300 {
            let mut e =
                StageExecutor { task_ms: n * 1_000_003, n_failed: -n, ..StageExecutor::default() };
            e.sums.0[7] = i64::MAX - n;
            e.sums.0[35] = i64::MIN + n;
            e.excluded = n % 3 == 0;
            e.peak = (n % 2 == 0).then_some([n; EXECUTOR_METRICS.len()]);
            executors.insert(Text(n as u32 * 7), e);
        }
        assert_eq!(StageExecutors::pack(&executors).unpack(), executors);
        let none = BTreeMap::new();
        assert_eq!(StageExecutors::pack(&none).unpack(), none);
        let cut = StageExecutors { bytes: vec![255; 9] };
        assert_eq!(cut.unpack(), none);
    }
}
