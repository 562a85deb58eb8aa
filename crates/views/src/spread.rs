//! How a measure spreads over the tasks of a stage attempt: five numbers, the task behind the largest, a histogram. Goes
//! through the values a few times and sorts none, and takes several measures at a time on several threads: a page about a
//! million tasks is not to wait.

use std::thread;

use store::{StageAttemptId, StageTasks, Store, TaskColumn as C};

use crate::{
    Measure, TaskRef, select,
    summary::{Rows, position, ratio, task_ref},
};

/// Bars of a histogram.
pub const BINS: usize = 24;

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    pub measure: Measure,
    /// Minimum, 25 %, median, 75 %, maximum over the successful tasks.
    pub five: [i64; 5],
    pub p95: i64,
    /// The successful task with the largest value; `None` when all are equal.
    pub max_task: Option<TaskRef>,
    /// Largest ÷ median; `None` when the median is 0.
    pub max_to_median: Option<f64>,
    /// Tasks by equal parts of the range from the smallest to the largest value.
    pub bins: [u32; BINS],
}

/// Threads that summarize; a request is not to take the whole machine.
const THREADS_MAX: usize = 4;

/// Of those measures that any task reported; `None` when no task succeeded.
pub fn spreads(store: &Store, id: StageAttemptId, measures: &[Measure]) -> Option<Vec<Spread>> {
    let tasks = store.tasks(id);
    let rows = Rows::of(&tasks);
    if rows.successful.is_empty() {
        return None;
    }
    let now_ms = crate::last_event_at_ms(store);
    let known: Vec<Measure> = measures.iter().copied().filter(|m| m.is_known(&tasks)).collect();
    let n_threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    let each = known.len().div_ceil(n_threads).max(1);
    let (tasks, rows) = (&tasks, &rows);
    let of = |part: &[Measure]| -> Vec<Spread> {
        part.iter().map(|measure| spread(tasks, rows, *measure, now_ms)).collect()
    };
    if tasks.n_rows() < SMALL {
        return Some(of(&known));
    }
    let done = thread::scope(|scope| {
        let parts: Vec<_> = known.chunks(each).map(|part| scope.spawn(move || of(part))).collect();
        // a thread that panicked has nothing to tell
        parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
    });
    Some(done)
}

/// Fewer tasks are summarized before a thread has started.
const SMALL: usize = 20_000;

fn spread(tasks: &StageTasks<'_>, rows: &Rows, measure: Measure, now_ms: i64) -> Spread {
    let all = measure.values(tasks, now_ms);
    let is_all = rows.successful.len() == all.len();
    let values: Vec<i64> =
        if is_all { all } else { rows.successful.iter().map(|row| all[*row as usize]).collect() };
    let n = values.len();
    let (mut min, mut max, mut at) = (i64::MAX, i64::MIN, 0);
    for (place, value) in values.iter().enumerate() {
        min = min.min(*value);
        if *value > max {
            (max, at) = (*value, place);
        }
    }
    let mut bins = [0; BINS];
    let span = max.saturating_sub(min).max(1) as f64;
    for value in &values {
        let bin = value.saturating_sub(min) as f64 / span * BINS as f64;
        bins[(bin as usize).min(BINS - 1)] += 1;
    }
    let wanted = [0.0, 0.25, 0.5, 0.75, 1.0, 0.95].map(|quantile| position(quantile, n));
    let found = if min == max { vec![min; 6] } else { select::at_ranks(&values, &wanted) };
    let five = [0, 1, 2, 3, 4].map(|at: usize| found[at]);
    let row = if is_all { at } else { rows.successful[at] as usize };
    Spread {
        measure,
        five,
        p95: found[5],
        max_task: (min != max).then(|| task_ref(tasks, row)),
        max_to_median: ratio(max, five[2]),
        bins,
    }
}

/// Memory with which no task would have spilled: the most that a task held and spilled together.
pub fn memory_without_spill_bytes(store: &Store, id: StageAttemptId) -> Option<i64> {
    let tasks = store.tasks(id);
    if !tasks.has_metric(C::peak_execution_memory_bytes) {
        return None;
    }
    let spilled = tasks.column(C::spill_memory_bytes);
    let held = tasks.column(C::peak_execution_memory_bytes);
    let both = spilled.iter().zip(&held).filter(|(spilled, _)| **spilled > 0);
    both.map(|(spilled, held)| spilled.saturating_add(*held)).max()
}

/// Duration and bytes read of successful tasks, of at most `n_max`: the slowest, the largest, and some of all others.
pub fn duration_and_bytes(
    store: &Store,
    id: StageAttemptId,
    n_max: usize,
) -> Vec<(TaskRef, i64, i64)> {
    let tasks = store.tasks(id);
    let rows = Rows::of(&tasks);
    let now_ms = crate::last_event_at_ms(store);
    let durations = Measure::DurationMs.values(&tasks, now_ms);
    let shuffled = Measure::ShuffleReadBytes.values(&tasks, now_ms);
    let input = tasks.column(C::input_bytes);
    let bytes = |row: usize| shuffled[row].wrapping_add(input[row]);
    let mut chosen: Vec<usize> = Vec::new();
    if rows.successful.len() <= n_max {
        chosen.extend(rows.successful.iter().map(|row| *row as usize));
    } else {
        let third = n_max / 3;
        let mut order: Vec<u32> = rows.successful.clone();
        let n = order.len();
        order.select_nth_unstable_by_key(n - third, |row| durations[*row as usize]);
        chosen.extend(order[n - third..].iter().map(|row| *row as usize));
        order.select_nth_unstable_by_key(n - third, |row| bytes(*row as usize));
        chosen.extend(order[n - third..].iter().map(|row| *row as usize));
        let every = n.div_ceil(third);
        chosen.extend(rows.successful.iter().step_by(every).map(|row| *row as usize));
        chosen.sort_unstable();
        chosen.dedup();
    }
    chosen.into_iter().map(|row| (task_ref(&tasks, row), durations[row], bytes(row))).collect()
}
