//! Summary metrics of a stage attempt: five numbers of each measure, how far the largest is from the median, and the task
//! behind it.

use store::TaskColumn as C;
use views::{Measure, Spread, StageLine};

use super::table::{Cell, Column, Shown, sorted, table, words};
use super::view::{Block, View};
use super::visit::Visit;
use crate::api::Answer;
use crate::text;

/// Measures in the order of Spark's table, whether they are always shown, and what they mean.
const MEASURES: [(Measure, &str, &str); 22] = [
    (
        Measure::DurationMs,
        "Duration",
        "Launch to finish. The largest over 3 times the median: skewed data, or a slow host",
    ),
    (
        Measure::SchedulerDelayMs,
        "Scheduler delay",
        "To send the task to its executor and the result back. Over 100 ms: a busy driver, or large tasks and results",
    ),
    (
        Measure::Metric(C::executor_deserialize_ms),
        "Task deserialization time",
        "To unpack the task. Much for all: large closures; much for the first only: classes that are loaded",
    ),
    (Measure::Metric(C::executor_run_ms), "Run time", "On the executor, with waiting for data"),
    (
        Measure::Metric(C::executor_cpu_ns),
        "CPU time",
        "Of the task's thread. Far under the run time: it waited, or another process (Python) worked",
    ),
    (
        Measure::Metric(C::jvm_gc_ms),
        "GC time",
        "The JVM's garbage collection while the task ran. Over a tenth of the run time: more memory for each task",
    ),
    (
        Measure::Metric(C::result_serialization_ms),
        "Result serialization time",
        "To pack the result. Much: the result is large",
    ),
    (
        Measure::GettingResultMs,
        "Getting result time",
        "The driver fetches the result. Much: bring less data to the driver",
    ),
    (
        Measure::Metric(C::peak_execution_memory_bytes),
        "Peak execution memory",
        "Most that joins, sorts and aggregations of the task held",
    ),
    (
        Measure::Metric(C::spill_memory_bytes),
        "Spill (memory)",
        "Size in memory of what was spilled; 0 is good",
    ),
    (
        Measure::Metric(C::spill_disk_bytes),
        "Spill (disk)",
        "Size on disk of what was spilled; 0 is good",
    ),
    (
        Measure::Metric(C::input_bytes),
        "Input size",
        "Read from storage. 64 to 512 MiB for each task is good",
    ),
    (Measure::Metric(C::input_rows), "Input records", "Read from storage"),
    (Measure::Metric(C::output_bytes), "Output size", "Written to storage"),
    (Measure::Metric(C::output_rows), "Output records", "Written to storage"),
    (
        Measure::ShuffleReadBytes,
        "Shuffle read size",
        "Local and remote. Far more for one task than for most: its key is frequent",
    ),
    (Measure::Metric(C::shuffle_read_rows), "Shuffle read records", "Local and remote"),
    (
        Measure::Metric(C::fetch_wait_ms),
        "Shuffle read fetch wait time",
        "The task had nothing to do until data came. Over a tenth of the run time: busy disks or network at the source",
    ),
    (Measure::Metric(C::shuffle_remote_bytes), "Shuffle remote reads", "From other executors"),
    (Measure::Metric(C::shuffle_write_bytes), "Shuffle write size", "For later stages"),
    (Measure::Metric(C::shuffle_write_rows), "Shuffle write records", "For later stages"),
    (
        Measure::Metric(C::shuffle_write_ns),
        "Shuffle write time",
        "To write to local disk. Much: slow disks",
    ),
];

/// From so many times the median on, the largest stands out.
const OUTLIER: f64 = 3.0;

struct Row<'m> {
    name: &'static str,
    hint: &'static str,
    spread: &'m Spread,
}

pub(super) fn show(visit: &Visit<'_>, line: &StageLine<'_>, view: &mut View) -> Result<(), Answer> {
    let id = line.row.id;
    let measures = MEASURES.map(|(measure, _, _)| measure);
    let Some(spreads) = views::spreads(visit.store, id, &measures) else {
        view.heading("summary", "Summary metrics");
        view.note("No task has succeeded, so that none reported metrics.");
        return Ok(());
    };
    let named = |spread: &'_ Spread| MEASURES.iter().position(|m| m.0 == spread.measure);
    let named = spreads.iter().filter_map(|spread| {
        let (_, name, hint) = MEASURES[named(spread)?];
        Some(Row { name, hint, spread })
    });
    let is_told = |row: &Row<'_>| row.spread.five[4] != 0 || ALWAYS.contains(&row.name);
    let rows: Vec<Row<'_>> = named.filter(is_told).collect();
    let mut table = table(visit.query(), &SHOWN, &columns(visit, id), &rows)?;
    table.is_plain = true;
    view.push(Block::table(table));
    view.note(format!(
        "Of the {} tasks that succeeded. Each number is taken by itself: the task with the median of bytes need not be that with the median of records. \
         Tasks that failed or run still are left out.",
        text::count(line.row.counts.n_completed),
    ));
    speculation(line, view);
    Ok(())
}

/// Shown even where they are 0.
const ALWAYS: [&str; 3] = ["Duration", "GC time", "Scheduler delay"];

const SHOWN: Shown = Shown {
    tag: "spread",
    title: "Summary metrics of completed tasks",
    sort: "",
    descending: false,
    empty: "None.",
};

fn columns<'v>(visit: &'v Visit<'v>, id: store::StageAttemptId) -> Vec<Column<'v, Row<'v>>> {
    let of = |at: usize, title: &'static str, hint: &'static str| {
        sorted(
            title,
            hint,
            move |row: &Row<'_>| Some(row.spread.five[at]),
            move |row: &Row<'_>| {
                let value = row.spread.five[at];
                let written = text::quantity(value, row.spread.measure.unit());
                Cell::text(written).exact(value.to_string())
            },
        )
    };
    vec![
        words("Metric", "What it means is told when asked", |row: &Row<'_>| {
            Cell::text(row.name).exact(row.hint)
        }),
        of(0, "Min", "The smallest"),
        of(1, "25th percentile", "A quarter of the tasks have less"),
        of(2, "Median", "Half of the tasks have less"),
        of(3, "75th percentile", "A quarter of the tasks have more"),
        sorted(
            "95th percentile",
            "One task of twenty has more",
            |row: &Row<'_>| Some(row.spread.p95),
            |row: &Row<'_>| {
                let value = row.spread.p95;
                Cell::text(text::quantity(value, row.spread.measure.unit()))
                    .exact(value.to_string())
            },
        ),
        sorted(
            "Max",
            "The largest; leads to its task",
            |row: &Row<'_>| Some(row.spread.five[4]),
            move |row: &Row<'_>| {
                let value = row.spread.five[4];
                let cell = Cell::text(text::quantity(value, row.spread.measure.unit()));
                let cell = cell.exact(value.to_string());
                match row.spread.max_task {
                    Some(task) => cell.link(visit.task_link(id, task.index)),
                    None => cell,
                }
            },
        ),
        sorted(
            "Max ÷ median",
            "Under 3 is good; more is marked",
            |row: &Row<'_>| row.spread.max_to_median.map(|ratio| (ratio * 100.0) as i64),
            |row: &Row<'_>| {
                let ratio = row.spread.max_to_median;
                let is_far = ratio.is_some_and(|ratio| ratio >= OUTLIER);
                let cell = Cell::text(text::or_missing(ratio, text::times));
                if is_far { cell.bad_if(true) } else { cell }
            },
        ),
        words("Spread", "Tasks by value, from the smallest to the largest", |row: &Row<'_>| Cell {
            bins: Some(Box::new(row.spread.bins)),
            ..Cell::default()
        }),
    ]
}

fn speculation(line: &StageLine<'_>, view: &mut View) {
    let counts = &line.row.counts.speculation;
    if counts.n_tasks == 0 {
        return;
    }
    let n = |n: i64| Cell::text(text::count(n));
    view.heading("speculation", "Speculative copies of tasks");
    view.push(Block::Facts(vec![
        super::view::fact("Total", "Copies that were started", n(counts.n_tasks)),
        super::view::fact("Active", "That run", n(counts.n_active)),
        super::view::fact(
            "Complete",
            "That were faster than what they copied",
            n(counts.n_completed),
        ),
        super::view::fact("Failed", "", n(counts.n_failed)),
        super::view::fact(
            "Killed",
            "What they copied was faster: their work was for nothing",
            n(counts.n_killed),
        ),
    ]));
}
