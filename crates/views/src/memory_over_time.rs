//! Memory of the executors' JVMs over the time of an application, as their tasks reported it: the log has a peak for each
//! task since Spark 3.1 (`Task Executor Metrics`), which is of the executor at that time, not of the task.

use store::{EXECUTOR_METRICS, StageAttemptId, Store, TaskColumn as C, Text};

/// The most in a part of the time, over all executors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MemoryPart {
    pub heap_bytes: i64,
    pub execution_bytes: i64,
    pub storage_bytes: i64,
    /// Of the run time of the tasks that ended in it.
    pub gc_share: f64,
}

/// Where the most heap was in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeapPeak<'s> {
    pub bytes: i64,
    pub executor: &'s str,
    pub at_ms: i64,
    pub stage: StageAttemptId,
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryOverTime<'s> {
    pub from_ms: i64,
    pub to_ms: i64,
    pub parts: Vec<MemoryPart>,
    /// `None` when no task reported memory.
    pub peak: Option<HeapPeak<'s>>,
}

/// In so many equal parts; `None` when the log does not tell the application's times.
pub fn memory_over_time(store: &Store, n_parts: usize) -> Option<MemoryOverTime<'_>> {
    let app = &store.tables().app;
    let from_ms = app.started_at_ms?;
    let to_ms = app.ended_at_ms.unwrap_or_else(|| crate::last_event_at_ms(store));
    let to_ms = to_ms.max(from_ms.saturating_add(1));
    let place = |name: &str| EXECUTOR_METRICS.iter().position(|known| *known == name);
    let (heap, execution, storage) = (
        place("JVMHeapMemory")?,
        [place("OnHeapExecutionMemory")?, place("OffHeapExecutionMemory")?],
        [place("OnHeapStorageMemory")?, place("OffHeapStorageMemory")?],
    );
    let mut over =
        MemoryOverTime { from_ms, to_ms, parts: vec![MemoryPart::default(); n_parts], peak: None };
    let mut times = vec![(0_i64, 0_i64); n_parts];
    let span = (to_ms - from_ms) as f64;
    for stage in &store.tables().stages {
        let tasks = store.tasks(stage.id);
        let mut first = 0;
        for chunk in tasks.chunks() {
            let n = chunk.n_rows();
            let read = |column: C| {
                let mut values = Vec::with_capacity(n);
                chunk.column(column).read(n, &mut values);
                values
            };
            let (finished, sets) = (read(C::finished_at_ms), read(C::executor_metrics));
            let (gc, run) = (read(C::jvm_gc_ms), read(C::executor_run_ms));
            for row in 0..n {
                if finished[row] <= 0 {
                    continue;
                }
                let part = (finished[row] - from_ms).max(0) as f64 / span * n_parts as f64;
                let part = (part as usize).min(n_parts - 1);
                times[part].0 = times[part].0.saturating_add(gc[row]);
                times[part].1 = times[part].1.saturating_add(run[row]);
                if sets[row] < 0 {
                    continue;
                }
                let Some(set) = chunk.executor_metrics(sets[row]) else { continue };
                let most = &mut over.parts[part];
                most.heap_bytes = most.heap_bytes.max(set[heap]);
                let both = |at: [usize; 2]| set[at[0]].saturating_add(set[at[1]]);
                most.execution_bytes = most.execution_bytes.max(both(execution));
                most.storage_bytes = most.storage_bytes.max(both(storage));
                if over.peak.as_ref().is_none_or(|peak| set[heap] > peak.bytes) && set[heap] > 0 {
                    let executor = tasks.value(C::executor, first + row);
                    let executor = Text::from_column(executor).map_or("", |text| store.text(text));
                    let (bytes, at_ms) = (set[heap], finished[row]);
                    over.peak = Some(HeapPeak { bytes, executor, at_ms, stage: stage.id });
                }
            }
            first += n;
        }
    }
    for (part, (gc_ms, run_ms)) in over.parts.iter_mut().zip(times) {
        part.gc_share =
            if run_ms > 0 { (gc_ms as f64 / run_ms as f64).clamp(0.0, 1.0) } else { 0.0 };
    }
    Some(over)
}
