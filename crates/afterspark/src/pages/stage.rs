//! `stages/stage/?id=&attempt=`: one stage attempt: what its tasks' time went to, how they compare, and each of them.

use store::{StageAttemptId, StageStatus, TaskColumn as C};
use views::StageLine;

use super::jobs::{SPILL, TASK_TIME, spill_cell};
use super::table::{Cell, Link, Shown, number, table, words};
use super::view::{Block, Fact, View, fact};
use super::visit::Visit;
use super::{
    Page, Tab, dag, operators, stage_charts, stage_executors, stage_numbers, stages, tasks,
};
use crate::api::Answer;
use crate::text;

pub(super) const PAGE: Page = Page { path: &["stages", "stage"], tab: Tab::Below, view };

fn view(visit: &Visit<'_>) -> Result<View, Answer> {
    let Some(stage) = visit.asked::<i32>("id") else {
        return Ok(View::nothing(
            400,
            "The address lacks the id of a stage: stages/stage/?id=0&attempt=0.",
        ));
    };
    let attempts = views::attempts_of(visit.store, stage, None);
    let Some(last) = attempts.last().copied() else {
        let why = format!("The application has no stage {stage}, or the log lost its events.");
        return Ok(View::nothing(404, why));
    };
    let attempt = visit.asked::<i32>("attempt");
    let id = attempt.map_or(last, |attempt| StageAttemptId { stage, attempt });
    let Some(line) = views::stage(visit.store, id) else {
        let mut view = View::nothing(404, format!("Stage {stage} has no attempt {}.", id.attempt));
        view.push(Block::Links { title: "Its attempts:", links: visit.stages(attempts) });
        return Ok(view);
    };
    if let Some(file) = stage_charts::export(visit, id).or_else(|| tasks::export(visit, &line)) {
        return Err(file);
    }
    let retry =
        if attempts.len() > 1 { format!(" (attempt {})", id.attempt) } else { String::new() };
    let mut view = View::new(format!("Stage {stage}{retry}"));
    view.scripts.push("tasks.js");
    trail(visit, &line, &mut view);
    if let Some(why) = line.row.failure {
        let full = visit.text(why);
        let text = format!("The stage failed: {}", text::one_line(full, 300));
        view.push(Block::Alarm { text, details: full.to_owned() });
    }
    view.push(Block::Facts(facts(visit, &line, &attempts)));
    let operators = operators::of_stage(visit, id);
    if !operators.is_empty() {
        view.push(Block::Links { title: "Operators that it ran:", links: operators });
    }
    if line.row.status == StageStatus::Skipped {
        view.note("Skipped: its output was there already, from an earlier job, so that no task had to run.");
        rdds(visit, &line, &mut view);
        return Ok(view);
    }
    errors(visit, id, &mut view)?;
    let n_tasks = views::n_tasks_of(visit.store, id);
    if n_tasks == 0 {
        view.note("No task of this attempt has started, as far as the log tells.");
    } else {
        stage_charts::show(visit, &line, &mut view);
        stage_numbers::show(visit, &line, &mut view)?;
        stage_executors::show(visit, &line, &mut view)?;
    }
    accumulators(visit, &line, &mut view)?;
    tasks::show(visit, &line, n_tasks, &mut view);
    rdds(visit, &line, &mut view);
    Ok(view)
}

/// From the query or job to the stage.
fn trail(visit: &Visit<'_>, line: &StageLine<'_>, view: &mut View) {
    view.trail.push(Link { text: "Stages".to_owned(), to: format!("{}/stages/", visit.base) });
    let job = line.row.job_ids.first().and_then(|job| views::job(visit.store, *job));
    if let Some(job) = job {
        if let Some(sql) = job.row.sql_execution {
            view.trail.push(Link { text: format!("Query {sql}"), to: visit.sql_link(sql) });
        }
        view.trail
            .push(Link { text: format!("Job {}", job.row.id), to: visit.job_link(job.row.id) });
    }
}

#[expect(clippy::too_many_lines, reason = "facts, one after the other")]
fn facts(visit: &Visit<'_>, line: &StageLine<'_>, attempts: &[StageAttemptId]) -> Vec<Fact> {
    let row = line.row;
    let of = |bytes: Option<i64>, rows: Option<i64>| {
        let rows = rows.map(|n| format!(" / {}", text::counted(n, "record", "records")));
        let written = text::or_missing(bytes, text::bytes);
        Cell::text(format!("{written}{}", rows.unwrap_or_default()))
            .exact(bytes.map_or_else(String::new, |bytes| format!("{bytes} bytes")))
    };
    let (state, is_bad) = match row.status {
        StageStatus::Pending => ("PENDING", false),
        StageStatus::Active => ("ACTIVE", false),
        StageStatus::Complete => ("COMPLETE", false),
        StageStatus::Failed => ("FAILED", true),
        StageStatus::Skipped => ("SKIPPED", false),
    };
    let mut facts = vec![
        fact("Status", "", Cell::text(state).bad_if(is_bad)),
        fact("Description", "Unfolds to the call stack", {
            let mut cell = Cell::text(text::one_line(stages::description(visit, line), 160));
            visit.text(row.details).clone_into(&mut cell.details);
            cell
        }),
        fact("Submitted", "When the scheduler took it up", visit.instant(row.submitted_at_ms)),
        fact(
            "Duration",
            "Submission to completion; to the last event while it runs",
            Cell::text(text::or_missing(line.duration_ms, text::duration)),
        ),
        fact(
            "Total time across all tasks",
            TASK_TIME,
            Cell::text(text::or_missing(line.sum(C::executor_run_ms), text::duration)),
        ),
    ];
    if let Some(wait_ms) = line.wait_ms.filter(|ms| *ms >= SHORT_MS) {
        let hint = "From the submission until the first task began: a busy cluster, or executors that start slowly";
        facts.push(fact("Waited", hint, Cell::text(text::duration(wait_ms))));
    }
    if let Some(times) = line.times.as_ref().filter(|times| times.tail_ms > 0) {
        let hint = "From when nine tenths of the tasks were done until all were: slots wait for a few tasks";
        let share = line.duration_ms.filter(|all| *all > 0);
        let share = share.map(|all| times.tail_ms as f64 / all as f64);
        let percent = share.map(|share| format!(" ({} of the stage)", text::percent(share)));
        let written = format!("{}{}", text::duration(times.tail_ms), percent.unwrap_or_default());
        let is_long = share.is_some_and(|share| share >= 0.3) && times.tail_ms >= 1_000;
        facts.push(fact("Tail", hint, Cell::text(written).costly_if(is_long)));
    }
    if !row.locality.is_empty() {
        let names = row.locality.iter().map(|(name, n)| {
            let name = match visit.text(*name) {
                "PROCESS_LOCAL" => "Process local",
                "NODE_LOCAL" => "Node local",
                "RACK_LOCAL" => "Rack local",
                "ANY" => "Any",
                "NO_PREF" => "No preference",
                other => other,
            };
            format!("{name}: {}", text::count(*n))
        });
        let hint =
            "How near to their data tasks ran: any and rack local ones read over the network";
        let cell = Cell::text(names.collect::<Vec<_>>().join("; "));
        facts.push(fact("Locality level summary", hint, cell));
    }
    if row.resource_profile != 0 {
        let cell = Cell::text(row.resource_profile.to_string());
        facts.push(fact("Resource profile", "Id; see the environment", cell));
    }
    let pairs = [
        ("Input", line.sum(C::input_bytes), line.sum(C::input_rows)),
        ("Output", line.sum(C::output_bytes), line.sum(C::output_rows)),
        ("Shuffle read", line.shuffle_read_bytes(), line.sum(C::shuffle_read_rows)),
        ("Shuffle write", line.sum(C::shuffle_write_bytes), line.sum(C::shuffle_write_rows)),
    ];
    for (name, bytes, rows) in pairs {
        if bytes.is_some_and(|bytes| bytes > 0) || rows.is_some_and(|rows| rows > 0) {
            facts.push(fact(name, "Size / records", of(bytes, rows)));
        }
    }
    facts.extend(spill(visit, line));
    let job_ids = row.job_ids.iter().copied();
    facts.push(fact("Associated jobs", "", Cell::default().links(visit.jobs(job_ids))));
    if attempts.len() > 1 {
        let links = visit.stages(attempts.iter().copied());
        facts.push(fact("Attempts of the stage", "Each has a page", Cell::default().links(links)));
    }
    if row.push_based_shuffle {
        let written = text::counted(i64::from(row.n_shuffle_mergers), "merger", "mergers");
        facts.push(fact(
            "Push-based shuffle",
            "Blocks are merged where they are read",
            Cell::text(written),
        ));
    }
    facts
}

/// Shorter waits are not told.
const SHORT_MS: i64 = 500;

/// Spilled bytes, and the memory with which nothing would have been spilled.
fn spill(visit: &Visit<'_>, line: &StageLine<'_>) -> Vec<Fact> {
    let (memory, disk) = (line.sum(C::spill_memory_bytes), line.sum(C::spill_disk_bytes));
    if memory.max(disk).is_none_or(|bytes| bytes <= 0) {
        return Vec::new();
    }
    let hint = "Size in memory of what was spilled";
    let mut facts = vec![
        fact(
            "Spill (memory)",
            hint,
            Cell::text(text::or_missing(memory, text::bytes)).costly_if(true),
        ),
        fact("Spill (disk)", SPILL, spill_cell(disk, line.spill_to_read())),
    ];
    if let Some(bytes) = views::memory_without_spill_bytes(visit.store, line.row.id) {
        let hint = "The most that a task held and spilled together. Execution memory of an executor is shared by the tasks \
                    that run on it at the same time";
        let cell = Cell::text(format!("{} for each task", text::bytes(bytes)));
        facts.push(fact("Memory that would avoid it", hint, cell));
    }
    facts
}

/// Why tasks failed, alike ones together.
fn errors(visit: &Visit<'_>, id: StageAttemptId, view: &mut View) -> Result<(), Answer> {
    let errors = views::task_errors(visit.store, id);
    if errors.is_empty() {
        return Ok(());
    }
    let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let columns = vec![
        number("Tasks", "Attempts that ended so", text::count, move |e: &views::TaskError| {
            Some(count(e.n))
        }),
        words(
            "Why tasks failed or were killed",
            "First line of what they said",
            |e: &views::TaskError| Cell::text(text::one_line(&e.first_line, 300)).bad_if(true),
        ),
        words("First task", "Leads to it", move |e: &views::TaskError| {
            Cell::text(e.task_index.to_string()).link(visit.task_link(id, e.task_index))
        }),
    ];
    let shown = Shown {
        tag: "errors",
        title: "Failures of tasks",
        sort: "Tasks",
        descending: true,
        empty: "None.",
    };
    view.push(Block::table(table(visit.query(), &shown, &columns, &errors)?));
    Ok(())
}

/// Named accumulables that are the user's.
fn accumulators(visit: &Visit<'_>, line: &StageLine<'_>, view: &mut View) -> Result<(), Answer> {
    type Row<'r> = &'r store::Accumulable;
    let is_users = |a: &Row<'_>| {
        let is_named =
            |name| !visit.text(name).is_empty() && !visit.text(name).starts_with("internal.");
        a.name.is_some_and(is_named) && !a.internal && a.metadata.is_none()
    };
    let rows: Vec<Row<'_>> = line.row.accumulables.iter().filter(is_users).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let columns = vec![
        number("ID", "Of the accumulable", |id| id.to_string(), |a: &Row<'_>| Some(a.id)),
        words("Name", "As the driver's code named it", move |a: &Row<'_>| {
            Cell::text(a.name.map(|name| visit.text(name)).unwrap_or_default())
        }),
        words("Value", "When the stage attempt was done", move |a: &Row<'_>| {
            let value = a.value.map_or(text::MISSING, |value| visit.text(value));
            Cell::text(text::one_line(value, 200)).exact(value)
        }),
    ];
    let shown = Shown {
        tag: "accumulators",
        title: "Accumulators",
        sort: "ID",
        descending: false,
        empty: "None.",
    };
    view.push(Block::table(table(visit.query(), &shown, &columns, &rows)?));
    Ok(())
}

fn rdds(visit: &Visit<'_>, line: &StageLine<'_>, view: &mut View) {
    if line.row.rdds.is_empty() {
        return;
    }
    view.heading("dag", "RDDs that it computes");
    view.push(Block::Markup(dag::rdds(visit, line.row)));
}
