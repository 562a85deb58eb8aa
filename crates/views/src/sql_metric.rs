//! Metrics of plan nodes as Spark words them: what tasks and the driver reported, put together as
//! `SQLAppStatusListener` does and printed as `MetricUtils.stringValue` does.

use hashbrown::{HashMap, HashSet};
use store::{
    CountedTasks, SqlExecution, SqlPlan, StageAttemptId, StageTasks, Store, TaskColumn as C,
    TaskFlags,
};

use crate::{
    PlanGraph, java,
    select::at_ranks,
    spark_text::{spark_bytes, spark_count, spark_metric_duration},
};

/// Averages are reported ten times as large, as whole numbers.
const AVERAGE_BASE: i64 = 10;
const NS_PER_MS: i64 = 1_000_000;
/// A metric of a data source's own; only its own code could put values together.
const CUSTOM: &str = "v2Custom_";

/// What was reported for a metric of a plan node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlMetricValue {
    /// As Spark words it.
    pub text: String,
    /// All values together, in the unit that the metric's kind says; `None` for an average or what only its source could
    /// put together.
    pub total: Option<i64>,
    /// The stage attempts whose tasks reported it, and the sum over those of each.
    pub by_stage: Vec<(StageAttemptId, i64)>,
    /// The task with the largest value, by its stage attempt and its id.
    pub largest: Option<(StageAttemptId, i64)>,
}

/// Values by accumulable.
pub type SqlMetrics = HashMap<i64, SqlMetricValue>;

/// The metrics of a graph's nodes by accumulable; of those only that something reported.
pub fn sql_metrics(
    store: &Store,
    row: &SqlExecution,
    plan: &SqlPlan,
    graph: &PlanGraph,
) -> SqlMetrics {
    let metrics = graph.nodes.iter().flat_map(|node| &plan.nodes[node.plan_node].metrics);
    let kinds: HashMap<i64, &str> =
        metrics.map(|metric| (metric.accumulable, metric.kind.as_str())).collect();
    let mut from_driver: HashMap<i64, Vec<i64>> = HashMap::new();
    for (accumulable, value) in &row.driver_updates {
        from_driver.entry(*accumulable).or_default().push(*value);
    }
    let stages = counted_stages(store, row);
    let mut by_accumulable: HashMap<i64, Vec<&CountedStage<'_>>> = HashMap::new();
    for stage in &stages {
        for id in stage.tasks.accumulable_ids() {
            let id = i64::try_from(id).ok().filter(|id| kinds.contains_key(id));
            if let Some(id) = id {
                by_accumulable.entry(id).or_default().push(stage);
            }
        }
    }
    let mut found = HashMap::new();
    for (accumulable, kind) in kinds {
        let mut all = Values::default();
        let mut by_stage = Vec::new();
        for stage in by_accumulable.get(&accumulable).into_iter().flatten() {
            let before = all.values.len();
            all.add_stage(stage, accumulable);
            let reported = all.values.get(before..).unwrap_or_default();
            if !reported.is_empty() {
                let sum = reported.iter().fold(0, |sum: i64, value| sum.wrapping_add(*value));
                by_stage.push((stage.counted.stage, sum));
            }
        }
        for value in from_driver.get(&accumulable).into_iter().flatten() {
            all.add_driver(*value);
        }
        let has_total = kind != "average" && !kind.starts_with(CUSTOM);
        let total = has_total.then(|| all.sum());
        let largest = all.largest.as_ref().map(|largest| {
            let Largest { stage, attempt, task, .. } = *largest;
            (StageAttemptId { stage, attempt }, task)
        });
        if let Some(text) = all.text(kind) {
            found.insert(accumulable, SqlMetricValue { text, total, by_stage, largest });
        }
    }
    found
}

/// Those whose values count, in the order in which Spark goes through them.
fn counted_stages<'s>(store: &'s Store, row: &'s SqlExecution) -> Vec<CountedStage<'s>> {
    let mut counted: Vec<&CountedTasks> = row.counted.iter().collect();
    if row.stages.len() > java::SMALL_SET_MAX {
        let mut order = row.stages.clone();
        java::sort_as_hash_trie(&mut order, |stage| *stage);
        let place: HashMap<i32, usize> =
            order.into_iter().enumerate().map(|(at, stage)| (stage, at)).collect();
        counted.sort_by_key(|tasks| place.get(&tasks.stage.stage));
    }
    counted.into_iter().map(|tasks| CountedStage::of(store, tasks)).collect()
}

/// A stage attempt's tasks.
struct CountedStage<'s> {
    counted: &'s CountedTasks,
    tasks: StageTasks<'s>,
    indices: Vec<i64>,
    /// Rows that do not count: of an index that had succeeded before, or beyond the stage's number of tasks.
    ignored: HashSet<usize>,
    /// Some index has several rows.
    has_retries: bool,
}

impl<'s> CountedStage<'s> {
    fn of(store: &'s Store, counted: &'s CountedTasks) -> CountedStage<'s> {
        let tasks = store.tasks(counted.stage);
        let indices = tasks.column(C::index);
        let flags = tasks.column(C::flags);
        let mut stage =
            CountedStage { counted, tasks, indices, ignored: HashSet::new(), has_retries: false };
        let n_rows = stage.rows().len();
        let (mut seen, mut done) = (Indices::for_rows(n_rows), Indices::for_rows(n_rows));
        for row in stage.rows() {
            let index = stage.indices[row];
            if !(0..i64::from(counted.n_indices)).contains(&index) || done.contains(index) {
                stage.ignored.insert(row);
                continue;
            }
            stage.has_retries |= !seen.insert(index);
            if flags[row] & (TaskFlags::FAILED | TaskFlags::KILLED) == 0 {
                done.insert(index);
            }
        }
        stage
    }

    fn rows(&self) -> std::ops::Range<usize> {
        let bounded = |row: u64| usize::try_from(row).unwrap_or(usize::MAX).min(self.indices.len());
        bounded(self.counted.from_row)..bounded(self.counted.to_row)
    }
}

/// Task indices of a stage, none below 0: mostly all from 0 on, but a log may say anything.
struct Indices {
    low: Vec<bool>,
    high: HashSet<i64>,
}

impl Indices {
    fn for_rows(n_rows: usize) -> Indices {
        Indices { low: vec![false; n_rows.saturating_mul(2)], high: HashSet::new() }
    }

    fn contains(&self, index: i64) -> bool {
        let low = usize::try_from(index).ok().and_then(|at| self.low.get(at));
        low.copied().unwrap_or_else(|| self.high.contains(&index))
    }

    /// Whether it is new.
    fn insert(&mut self, index: i64) -> bool {
        match usize::try_from(index).ok().and_then(|at| self.low.get_mut(at)) {
            Some(known) => !std::mem::replace(known, true),
            None => self.high.insert(index),
        }
    }
}

/// The largest value that a task reported, and that task.
struct Largest {
    value: i64,
    stage: i32,
    attempt: i32,
    task: i64,
}

/// What was reported for one accumulable.
#[derive(Default)]
struct Values {
    values: Vec<i64>,
    /// Tasks of the stages that reported nothing: Spark counts them as 0.
    n_silent: u64,
    largest: Option<Largest>,
    is_reported: bool,
}

impl Values {
    fn add_stage(&mut self, stage: &CountedStage<'_>, accumulable: i64) {
        let rows = stage.rows();
        let id = accumulable as u64;
        let reported = stage.tasks.accumulable(id).into_iter();
        let reported =
            reported.filter(|(row, _)| rows.contains(row) && !stage.ignored.contains(row));
        // by index, where an index can come twice
        let mut at: HashMap<i64, usize> = HashMap::new();
        let before = self.values.len();
        let mut largest: Option<(i64, usize)> = None;
        for (row, value) in reported {
            if largest.is_none_or(|(known, _)| value > known) {
                largest = Some((value, row));
            }
            if stage.has_retries {
                let index = stage.indices[row];
                if let Some(at) = at.get(&index) {
                    self.values[*at] = value;
                    continue;
                }
                at.insert(index, self.values.len());
            }
            self.values.push(value);
        }
        let Some((value, row)) = largest else { return };
        self.is_reported = true;
        let n_reported = (self.values.len() - before) as u64;
        self.n_silent += (stage.counted.n_indices as u64).saturating_sub(n_reported);
        if self.largest.as_ref().is_none_or(|known| value > known.value) {
            let task = stage.tasks.value(C::task_id, row);
            let StageAttemptId { stage, attempt } = stage.counted.stage;
            self.largest = Some(Largest { value, stage, attempt, task });
        }
    }

    fn add_driver(&mut self, value: i64) {
        if self.is_reported && self.largest.as_ref().is_some_and(|known| value > known.value) {
            self.largest = None;
        }
        self.is_reported = true;
        self.values.push(value);
    }

    /// `None` where nothing was reported.
    fn text(mut self, kind: &str) -> Option<String> {
        if !self.is_reported {
            return None;
        }
        let format: fn(i64) -> String = match kind {
            "sum" => return Some(spark_count(self.sum())),
            "average" => {
                self.values.retain(|value| *value > 0);
                self.n_silent = 0;
                spark_tenths
            }
            "size" => spark_bytes,
            "timing" => spark_metric_duration,
            "nsTiming" => |ns| spark_metric_duration(ns / NS_PER_MS),
            _ if kind.starts_with(CUSTOM) => return Some("N/A".to_owned()),
            _ => |value| format!("[unknown] {}", spark_count(value)),
        };
        self.values.retain(|value| *value >= 0);
        let n = self.values.len() as u64 + self.n_silent;
        if n <= 1 {
            return Some(format(self.values.first().copied().unwrap_or(0)));
        }
        let [min, middle, max] = self.at_ranks([0, n / 2, n - 1]).map(format);
        let task = match &self.largest {
            None => "driver".to_owned(),
            Some(Largest { stage, attempt, task, .. }) => {
                format!("stage {stage}.{attempt}: task {task}")
            }
        };
        let spread = format!("({min}, {middle}, {max} ({task}))");
        Some(if kind == "average" {
            format!("(min, med, max (stageId: taskId)):\n{spread}")
        } else {
            let sum = format(self.sum());
            format!("total (min, med, max (stageId: taskId))\n{sum} {spread}")
        })
    }

    fn sum(&self) -> i64 {
        self.values.iter().fold(0, |sum: i64, value| sum.wrapping_add(*value))
    }

    /// Values by rank among those reported, none below 0, and the silent zeros before them.
    fn at_ranks(&self, ranks: [u64; 3]) -> [i64; 3] {
        let among = ranks.iter().filter_map(|rank| rank.checked_sub(self.n_silent));
        let among: Vec<usize> = among.map(|rank| rank as usize).collect();
        let mut found = at_ranks(&self.values, &among).into_iter();
        ranks.map(|rank| if rank < self.n_silent { 0 } else { found.next().unwrap_or(0) })
    }
}

/// Averages.
fn spark_tenths(value: i64) -> String {
    let whole = spark_count(value / AVERAGE_BASE);
    match value % AVERAGE_BASE {
        0 => whole,
        tenths => format!("{whole}.{tenths}"),
    }
}
