//! What the time of tasks went to, in the parts that Spark's timeline has, and over the time of a stage attempt.

use store::{StageAttemptId, Store, TaskColumn as C, TaskFlags};

/// Parts of a task's time, in their order.
pub const PHASES: [&str; 7] = [
    "scheduler delay",
    "deserialization",
    "shuffle read (waiting)",
    "computing",
    "shuffle write",
    "result serialization",
    "getting the result",
];

/// How many tasks did what, on average, in equal parts of the time.
#[derive(Clone, Debug, PartialEq)]
pub struct PhasesOverTime {
    pub from_ms: i64,
    pub to_ms: i64,
    /// By part of the time and by phase.
    pub buckets: Vec<[f64; PHASES.len()]>,
    /// Time of all tasks by phase.
    pub sums_ms: [i64; PHASES.len()],
}

/// What is needed of a task to take its time apart.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    duration_ms: i64,
    deserialize_ms: i64,
    run_ms: i64,
    fetch_wait_ms: i64,
    shuffle_write_ns: i64,
    serialization_ms: i64,
    getting_ms: i64,
}

const NS_PER_MS: i64 = 1_000_000;

impl Times {
    /// As Spark's `StagePage.makeTimeline`: what is left of the run time is computing, what is left of all is delay.
    fn phases(self) -> [i64; PHASES.len()] {
        let read = self.fetch_wait_ms.clamp(0, self.run_ms.max(0));
        let write = (self.shuffle_write_ns / NS_PER_MS).clamp(0, (self.run_ms - read).max(0));
        let computing = (self.run_ms - read - write).max(0);
        let known = [self.deserialize_ms, self.run_ms, self.serialization_ms, self.getting_ms];
        let known = known.iter().fold(0_i64, |sum, ms| sum.saturating_add((*ms).max(0)));
        let delay = self.duration_ms.saturating_sub(known).max(0);
        let [deserialize, serialize, getting] =
            [self.deserialize_ms, self.serialization_ms, self.getting_ms].map(|ms| ms.max(0));
        [delay, deserialize, read, computing, write, serialize, getting]
    }
}

/// Time of a task by phase; for one without metrics, all is computing.
pub fn task_phases(row: &store::TaskRow, duration_ms: i64) -> [i64; PHASES.len()] {
    if row[C::flags] & TaskFlags::HAS_METRICS == 0 {
        let mut phases = [0; PHASES.len()];
        phases[3] = duration_ms.max(0);
        return phases;
    }
    let getting_at_ms = row[C::getting_result_at_ms];
    let getting_ms =
        if getting_at_ms > 0 { row[C::finished_at_ms].saturating_sub(getting_at_ms) } else { 0 };
    let times = Times {
        duration_ms,
        deserialize_ms: row[C::executor_deserialize_ms],
        run_ms: row[C::executor_run_ms],
        fetch_wait_ms: row[C::fetch_wait_ms],
        shuffle_write_ns: row[C::shuffle_write_ns],
        serialization_ms: row[C::result_serialization_ms],
        getting_ms,
    };
    times.phases()
}

/// Over all task attempts of a stage attempt; `None` when it has none.
pub fn phases_over_time(
    store: &Store,
    id: StageAttemptId,
    n_buckets: usize,
) -> Option<PhasesOverTime> {
    let tasks = store.tasks(id);
    let n = tasks.n_rows();
    let now_ms = crate::last_event_at_ms(store);
    let launched = tasks.column(C::launched_at_ms);
    let mut finished = tasks.column(C::finished_at_ms);
    for at in &mut finished {
        if *at <= 0 {
            *at = now_ms;
        }
    }
    let flags = tasks.column(C::flags);
    let from_ms = launched.iter().copied().filter(|at| *at > 0).min()?;
    let to_ms = finished.iter().copied().max()?.max(from_ms + 1);
    let known = |column: C| {
        let is_known = tasks.has_metric(column);
        is_known.then(|| tasks.column(column))
    };
    let columns = [
        C::executor_deserialize_ms,
        C::executor_run_ms,
        C::fetch_wait_ms,
        C::shuffle_write_ns,
        C::result_serialization_ms,
    ]
    .map(known);
    let getting = tasks.column(C::getting_result_at_ms);
    let at = |column: usize, row: usize| columns[column].as_ref().map_or(0, |values| values[row]);
    let mut adding = Adding::new(from_ms, to_ms, n_buckets);
    for row in 0..n {
        if flags[row] & TaskFlags::NOT_STARTED != 0 || launched[row] <= 0 {
            continue;
        }
        let duration_ms = finished[row].saturating_sub(launched[row]).max(0);
        let phases = if flags[row] & TaskFlags::HAS_METRICS == 0 {
            [0, 0, 0, duration_ms, 0, 0, 0]
        } else {
            let getting_ms =
                if getting[row] > 0 { finished[row].saturating_sub(getting[row]) } else { 0 };
            let times = Times {
                duration_ms,
                deserialize_ms: at(0, row),
                run_ms: at(1, row),
                fetch_wait_ms: at(2, row),
                shuffle_write_ns: at(3, row),
                serialization_ms: at(4, row),
                getting_ms,
            };
            times.phases()
        };
        let mut begin_ms = launched[row] - from_ms;
        for (phase, ms) in phases.into_iter().enumerate().filter(|(_, ms)| *ms > 0) {
            adding.add(phase, begin_ms, ms);
            begin_ms = begin_ms.saturating_add(ms);
        }
    }
    Some(adding.sum())
}

/// Phases of tasks as they are added to buckets.
struct Adding {
    over: PhasesOverTime,
    /// What spans buckets is kept as a difference from the bucket before.
    steps: Vec<[f64; PHASES.len()]>,
    buckets_per_ms: f64,
}

impl Adding {
    fn new(from_ms: i64, to_ms: i64, n_buckets: usize) -> Adding {
        let buckets = vec![[0.0; PHASES.len()]; n_buckets];
        let over = PhasesOverTime { from_ms, to_ms, buckets, sums_ms: [0; PHASES.len()] };
        let steps = vec![[0.0; PHASES.len()]; n_buckets + 1];
        Adding { over, steps, buckets_per_ms: n_buckets as f64 / (to_ms - from_ms) as f64 }
    }

    /// A phase of a task that began so long after the first task.
    fn add(&mut self, phase: usize, begin_ms: i64, ms: i64) {
        let over = &mut self.over;
        over.sums_ms[phase] = over.sums_ms[phase].saturating_add(ms);
        let n_buckets = over.buckets.len() as f64;
        let place = |at_ms: i64| (at_ms as f64 * self.buckets_per_ms).clamp(0.0, n_buckets);
        let (from, to) = (place(begin_ms), place(begin_ms.saturating_add(ms)));
        let (first, last) = (from as usize, to as usize);
        if first == last {
            if let Some(bucket) = over.buckets.get_mut(first) {
                bucket[phase] += to - from;
            }
            return;
        }
        over.buckets[first][phase] += (first + 1) as f64 - from;
        if let Some(bucket) = over.buckets.get_mut(last) {
            bucket[phase] += to - last as f64;
        }
        self.steps[first + 1][phase] += 1.0;
        self.steps[last][phase] -= 1.0;
    }

    fn sum(self) -> PhasesOverTime {
        let Adding { mut over, steps, .. } = self;
        let mut running = [0.0; PHASES.len()];
        for (bucket, step) in over.buckets.iter_mut().zip(&steps) {
            for phase in 0..PHASES.len() {
                running[phase] += step[phase];
                bucket[phase] += running[phase];
            }
        }
        over
    }
}
