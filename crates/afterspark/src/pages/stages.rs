//! `stages/`: the stage attempts of an application, by state, and the pools they ran in.

use std::fmt::Write as _;

use store::{StageStatus, TaskColumn as C};
use views::{Scope, StageLine};

use super::jobs::{INPUT, OUTPUT, SHUFFLE_READ, SHUFFLE_WRITE, SPILL, TASK_TIME, Tasks};
use super::jobs::{spill_cell, tasks_bar};
use super::table::{Cell, Column, Shown, number, sorted, table, words};
use super::view::{Block, View};
use super::visit::Visit;
use super::{Page, Tab, pools, stage};
use crate::api::Answer;
use crate::text;

pub(super) const PAGES: &[Page] =
    &[Page { path: &["stages"], tab: Tab::Always("Stages"), view }, stage::PAGE, pools::PAGE];

/// What is looked at first stands first.
pub(super) const TABLES: [(StageStatus, Shown); 5] = [
    (StageStatus::Failed, shown("failedStage", "Failed stages")),
    (StageStatus::Active, shown("activeStage", "Running stages")),
    (StageStatus::Pending, shown("pendingStage", "Stages that wait")),
    (StageStatus::Complete, shown("completedStage", "Completed stages")),
    (StageStatus::Skipped, shown("skippedStage", "Skipped stages: their output was there already")),
];

pub(super) const fn shown(tag: &'static str, title: &'static str) -> Shown {
    let empty = "None: no stage was completed, or the log ends before.";
    Shown { tag, title, sort: "Duration", descending: true, empty }
}

fn view(visit: &Visit<'_>) -> Result<View, Answer> {
    let stages = views::stages(visit.store, Scope::default());
    let mut view = View::new("Stages");
    if let Some(block) = pools::table_of_all(visit)? {
        view.push(block);
    }
    for (status, shown) in &TABLES {
        let of: Vec<&StageLine<'_>> = stages.iter().filter(|s| s.row.status == *status).collect();
        if !of.is_empty() || *status == StageStatus::Complete {
            let columns = columns_of(visit, *status);
            view.push(Block::table(table(visit.query(), shown, &columns, &of)?));
        }
    }
    Ok(view)
}

pub(super) type Row<'v> = &'v StageLine<'v>;

/// Those that make sense for a state.
pub(super) fn columns_of<'v>(
    visit: &'v Visit<'v>,
    status: StageStatus,
) -> Vec<Column<'v, Row<'v>>> {
    match status {
        StageStatus::Skipped | StageStatus::Pending => {
            let mut columns = names(visit);
            columns.push(tasks(visit));
            columns
        }
        StageStatus::Failed => {
            let mut columns = names(visit);
            columns.push(failure(visit));
            columns.extend(numbers(visit));
            columns
        }
        StageStatus::Active | StageStatus::Complete => {
            let mut columns = names(visit);
            columns.extend(numbers(visit));
            columns
        }
    }
}

fn names<'v>(visit: &'v Visit<'v>) -> Vec<Column<'v, Row<'v>>> {
    let id = |s: &Row<'_>| i64::from(s.row.id.stage) << 32 | i64::from(s.row.id.attempt.max(0));
    vec![
        sorted(
            "Stage",
            "Id of the stage; leads to it. A retry is an attempt after the first",
            move |s: &Row<'_>| Some(id(s)),
            move |s: &Row<'_>| {
                let of = s.row.id;
                let retry = match of.attempt {
                    0 => String::new(),
                    n => format!(" (retry {n})"),
                };
                Cell::text(format!("{}{retry}", of.stage)).link(visit.stage_link(of))
            },
        ),
        words(
            "Description",
            "Of its job, or where the driver's code asked for it; unfolds to the call stack",
            move |s: &Row<'_>| {
                let mut cell = Cell::text(text::one_line(description(visit, s), 100));
                visit.text(s.row.details).clone_into(&mut cell.details);
                cell
            },
        ),
        words("Pool", "Of the fair scheduler", move |s: &Row<'_>| {
            Cell::text(visit.text(s.row.pool))
        })
        .optional(),
        words("Jobs", "That asked for it", move |s: &Row<'_>| {
            let ids = s.row.job_ids.iter().copied();
            Cell::default().links(visit.jobs(ids))
        }),
    ]
}

/// What people call a stage.
pub(super) fn description<'v>(visit: &'v Visit<'_>, s: &StageLine<'_>) -> &'v str {
    let given = s.row.description.map(|text| visit.text(text)).filter(|text| !text.is_empty());
    given.unwrap_or_else(|| visit.text(s.row.name))
}

fn tasks<'v>(visit: &'v Visit<'v>) -> Column<'v, Row<'v>> {
    sorted(
        "Tasks",
        "Succeeded of all; running, failed and killed ones in brackets",
        |s: &Row<'_>| Some(s.row.n_tasks),
        move |s: &Row<'_>| tasks_cell(visit, s),
    )
}

fn tasks_cell(visit: &Visit<'_>, s: &StageLine<'_>) -> Cell {
    let counts = &s.row.counts;
    let killed = counts.killed_reasons.iter().map(|(why, n)| (visit.text(*why), *n));
    tasks_bar(&Tasks {
        n_all: s.row.n_tasks,
        n_done: counts.n_completed_indices,
        n_active: counts.n_active,
        n_failed: counts.n_failed,
        n_skipped: 0,
        killed: killed.collect(),
    })
}

/// From so many times the median on, the slowest task stands out.
const OUTLIER: f64 = 3.0;
/// From such a share of the run time on, what is not work stands out.
const COSTLY_SHARE: f64 = 0.1;

fn numbers<'v>(visit: &'v Visit<'v>) -> Vec<Column<'v, Row<'v>>> {
    vec![
        visit.instants("Submitted", "When the scheduler took it up", |s: &Row<'_>| {
            s.row.submitted_at_ms
        }),
        number(
            "Duration",
            "Submission to completion; to the last event while it runs",
            text::duration,
            |s: &Row<'_>| s.duration_ms,
        ),
        tasks(visit),
        number("Median task", "Of those that succeeded", text::duration, |s: &Row<'_>| {
            s.times.as_ref().map(|times| times.median_ms)
        }),
        sorted(
            "Slowest task",
            "And how many times the median that is: under 3 is good. More: skewed data, or a slow host; the stage's page \
             tells which",
            |s: &Row<'_>| s.times.as_ref().map(|times| times.slowest_ms),
            move |s: &Row<'_>| slowest_cell(visit, s),
        ),
        number(
            "Tail",
            "From when nine tenths of the tasks were done until all were: slots that wait for a few tasks",
            text::duration,
            |s: &Row<'_>| s.times.as_ref().map(|times| times.tail_ms),
        ),
        number("Task time", TASK_TIME, text::duration, |s: &Row<'_>| s.sum(C::executor_run_ms)),
        share(
            "CPU",
            "Part of the tasks' run time in which they computed: near 100 % is good. Less: they waited for storage, the \
             network, or a Python process",
            |s: &StageLine<'_>| s.cpu_share(),
            |_| false,
        ),
        share(
            "GC",
            "Part of the tasks' run time in which the JVM collected garbage: under 10 % is good. More: give tasks more \
             memory, or cache less",
            |s| s.share_of_run(C::jvm_gc_ms),
            |share| share >= COSTLY_SHARE,
        ),
        share(
            "Fetch wait",
            "Part of the tasks' run time in which they waited for shuffled data: under 10 % is good. More: busy disks or \
             network where the data lies",
            |s| s.share_of_run(C::fetch_wait_ms),
            |share| share >= COSTLY_SHARE,
        ),
        share(
            "Deserialize",
            "Time to unpack tasks, as a part of their run time. Much: tasks are too small, or carry much data with them",
            |s| s.share_of_run(C::executor_deserialize_ms),
            |share| share >= 0.5,
        )
        .optional(),
        number("Input", INPUT, text::bytes, |s: &Row<'_>| s.sum(C::input_bytes)),
        number("Output", OUTPUT, text::bytes, |s: &Row<'_>| s.sum(C::output_bytes)),
        number("Shuffle read", SHUFFLE_READ, text::bytes, |s: &Row<'_>| s.shuffle_read_bytes()),
        number("Shuffle write", SHUFFLE_WRITE, text::bytes, |s: &Row<'_>| {
            s.sum(C::shuffle_write_bytes)
        }),
        sorted(
            "Spill",
            SPILL,
            |s: &Row<'_>| s.sum(C::spill_disk_bytes),
            |s: &Row<'_>| spill_cell(s.sum(C::spill_disk_bytes), s.spill_to_read()),
        ),
    ]
}

fn share<'v>(
    title: &'static str,
    hint: &'static str,
    of: impl Fn(&StageLine<'_>) -> Option<f64> + Copy + 'v,
    is_costly: impl Fn(f64) -> bool + 'v,
) -> Column<'v, Row<'v>> {
    // sorted to a ten-thousandth
    let key = move |s: &Row<'_>| of(s).map(|share| (share * 1e4) as i64);
    sorted(title, hint, key, move |s: &Row<'_>| {
        let share = of(s);
        let costly = share.is_some_and(&is_costly);
        Cell::text(text::or_missing(share, text::percent)).costly_if(costly)
    })
}

fn slowest_cell(visit: &Visit<'_>, s: &StageLine<'_>) -> Cell {
    let Some(times) = &s.times else { return Cell::text(text::MISSING) };
    let mut written = text::duration(times.slowest_ms);
    let ratio = times.max_to_median;
    if let Some(ratio) = ratio.filter(|ratio| *ratio >= 1.5) {
        write!(written, " ({})", text::times(ratio)).ok();
    }
    let is_outlier = ratio.is_some_and(|ratio| ratio >= OUTLIER) && times.slowest_ms >= 1_000;
    let mut cell = Cell::text(written).costly_if(is_outlier);
    if let Some(task) = times.slowest {
        cell = cell.link(visit.task_link(s.row.id, task.index));
    }
    cell
}

/// Of what failed only.
fn failure<'v>(visit: &'v Visit<'v>) -> Column<'v, Row<'v>> {
    words("Failure", "Why the attempt failed", move |s: &Row<'_>| {
        let why = s.row.failure.map(|text| visit.text(text)).unwrap_or_default();
        Cell::folded(why, 120).bad_if(true)
    })
}
