//! Five numbers, or any quantiles, of what the tasks of a stage attempt report.

use store::{StageAttemptId, StageTasks, Store, TaskColumn as C, TaskFlags};

use crate::{
    Measure,
    measure::{TaskStatus, task_status},
    select,
};

/// The quantiles of a five-number summary.
pub const FIVE_NUMBERS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// A task attempt by the numbers people know it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskRef {
    pub task_id: i64,
    pub index: i64,
    pub attempt: i64,
}

/// Quantiles of one measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub measure: Measure,
    /// A value for each quantile asked, over the successful tasks.
    pub quantiles: Vec<i64>,
    /// What the history server answers, where that is something else: for some measures it counts the successful tasks
    /// but walks an index that holds the failed ones too.
    pub as_spark: Option<Vec<i64>>,
    pub max: i64,
    /// The successful task with the largest value; the one that ended first among equals. `None` when all values are equal.
    pub max_task: Option<TaskRef>,
    /// Largest value ÷ median; `None` when the median is 0.
    pub max_to_median: Option<f64>,
}

/// Which rows of a stage attempt count as what.
pub(crate) struct Rows {
    /// Row numbers of successful tasks with a known start.
    pub(crate) successful: Vec<u32>,
    /// Row numbers of all tasks with a known start that ended.
    pub(crate) ended: Vec<u32>,
    pub(crate) running: Vec<u32>,
}

impl Rows {
    pub(crate) fn of(tasks: &StageTasks<'_>) -> Rows {
        let flags = tasks.column(C::flags);
        let mut rows = Rows { successful: Vec::new(), ended: Vec::new(), running: Vec::new() };
        for (row, flags) in flags.iter().enumerate() {
            if flags & TaskFlags::NOT_STARTED != 0 {
                continue;
            }
            match task_status(*flags, 0) {
                TaskStatus::Running | TaskStatus::GettingResult => {
                    rows.running.push(row as u32);
                    continue;
                }
                TaskStatus::Success => rows.successful.push(row as u32),
                TaskStatus::Failed | TaskStatus::Killed => {}
            }
            rows.ended.push(row as u32);
        }
        rows
    }
}

/// Position of a quantile among `n` sorted values, as Spark's `AppStatusStore.taskSummary` has it.
pub(crate) fn position(quantile: f64, n: usize) -> usize {
    ((quantile * n as f64) as usize).min(n - 1)
}

/// Summaries of all measures of a stage attempt at the quantiles; `None` when no task succeeded (Spark: "No tasks
/// reported metrics").
pub fn summaries(store: &Store, id: StageAttemptId, quantiles: &[f64]) -> Option<Vec<Summary>> {
    let tasks = store.tasks(id);
    let rows = Rows::of(&tasks);
    if rows.successful.is_empty() {
        return None;
    }
    let now_ms = crate::app::last_event_at_ms(store);
    let measures = Measure::all().into_iter();
    Some(
        measures
            .filter(|m| m.is_known(&tasks))
            .map(|m| summary(&tasks, &rows, m, quantiles, now_ms))
            .collect(),
    )
}

/// Positions at which Spark's scan of an index of `n` values stops for quantiles of `n_tasks` tasks, in ascending order;
/// `None` where it finds no value. It steps from one to the next, so that a quantile below 0 stops nowhere or moves those
/// behind it (`AppStatusStore.taskSummary`).
fn scanned(quantiles: &[f64], n_tasks: usize, n: usize) -> Vec<Option<usize>> {
    let n_tasks = n_tasks as i64;
    let (mut next, mut current, mut last) = (0_i64, -1_i64, None);
    let mut stops = Vec::with_capacity(quantiles.len());
    for quantile in quantiles {
        let index = ((quantile * n_tasks as f64) as i64).min(n_tasks - 1);
        if index != current {
            let skip = index.saturating_sub(current).saturating_sub(1).max(0);
            current = index;
            next = next.saturating_add(skip).min(n as i64);
            let stop = (next < n as i64).then_some(next as usize);
            // where it finds none, it keeps what it had
            if stop.is_some() {
                last = stop;
                next += 1;
            }
            stops.push(stop);
        } else {
            stops.push(last);
        }
    }
    stops
}

/// Values of one measure at some quantiles, as Spark's server has them.
#[derive(Clone, Debug, PartialEq)]
pub struct SparkQuantiles {
    pub measure: Measure,
    /// `None` where Spark finds none, which it writes as not a number.
    pub values: Vec<Option<i64>>,
}

/// Quantiles of every measure, over the values that Spark's server takes; `None` when no task succeeded. `quantiles` must
/// be in ascending order. No state is kept between calls.
pub fn spark_quantiles(
    store: &Store,
    id: StageAttemptId,
    quantiles: &[f64],
) -> Option<Vec<SparkQuantiles>> {
    let tasks = store.tasks(id);
    let rows = Rows::of(&tasks);
    let n_tasks = rows.successful.len();
    if n_tasks == 0 {
        return None;
    }
    let now_ms = crate::app::last_event_at_ms(store);
    let of = |measure: Measure| {
        let all = measure.values(&tasks, now_ms);
        let values = spark_values(measure, all, &rows);
        let stops = scanned(quantiles, n_tasks, values.len());
        let ranks: Vec<usize> = stops.iter().flatten().copied().collect();
        let mut found = select::at_ranks(&values, &ranks).into_iter();
        let values = stops.iter().map(|stop| stop.and_then(|_| found.next())).collect();
        SparkQuantiles { measure, values }
    };
    Some(Measure::all().into_iter().map(of).collect())
}

/// The values of the index that Spark's server scans for a measure.
fn spark_values(measure: Measure, all: Vec<i64>, rows: &Rows) -> Vec<i64> {
    if rows.successful.len() == all.len() {
        return all;
    }
    let of = |rows: &[u32]| rows.iter().map(|row| all[*row as usize]).collect::<Vec<i64>>();
    if !measure.mixes_failed() {
        return of(&rows.successful);
    }
    let mut values = of(&rows.ended);
    if measure == Measure::DurationMs {
        values.extend(of(&rows.running));
    }
    values
}

pub(crate) fn summary(
    tasks: &StageTasks<'_>,
    rows: &Rows,
    measure: Measure,
    quantiles: &[f64],
    now_ms: i64,
) -> Summary {
    let all = measure.values(tasks, now_ms);
    let mut values: Vec<i64> = rows.successful.iter().map(|row| all[*row as usize]).collect();
    let largest = rows.successful.iter().rev().max_by_key(|row| all[**row as usize]).copied();
    let n = values.len();
    let all_equal = values.windows(2).all(|w| w[0] == w[1]);
    if !all_equal {
        values.sort_unstable();
    }
    let pick = |values: &[i64]| -> Vec<i64> {
        quantiles.iter().map(|q| values[position(*q, n)]).collect()
    };
    let own = pick(&values);
    let mixed = measure.mixes_failed() && (rows.ended.len() > n || !rows.running.is_empty());
    let as_spark = mixed.then(|| {
        let mut values = spark_values(measure, all.clone(), rows);
        values.sort_unstable();
        pick(&values)
    });
    let median = values[position(0.5, n)];
    let max = values[n - 1];
    Summary {
        measure,
        as_spark: as_spark.filter(|spark| *spark != own),
        quantiles: own,
        max,
        max_task: largest.filter(|_| !all_equal).map(|row| task_ref(tasks, row as usize)),
        max_to_median: ratio(max, median),
    }
}

/// `None` when the divisor is 0.
pub(crate) fn ratio(value: i64, by: i64) -> Option<f64> {
    (by != 0).then(|| value as f64 / by as f64)
}

/// The task of a row.
pub(crate) fn task_ref(tasks: &StageTasks<'_>, row: usize) -> TaskRef {
    let get = |column| tasks.value(column, row);
    TaskRef { task_id: get(C::task_id), index: get(C::index), attempt: get(C::attempt) }
}
