//! `jobs/job/?id=`: one job, its stages, and how they depend on each other.

use store::{JobStatus, StageStatus};
use views::{JobLine, StageLine};

use super::jobs::{self, description, spill_cell};
use super::table::{Cell, Link, table};
use super::view::{Block, View, fact};
use super::visit::Visit;
use super::{Page, Tab, dag, stages};
use crate::api::Answer;
use crate::text;

pub(super) const PAGE: Page = Page { path: &["jobs", "job"], tab: Tab::Below, view };

fn view(visit: &Visit<'_>) -> Result<View, Answer> {
    let Some(id) = visit.asked::<i32>("id") else {
        return Ok(View::nothing(400, "The address lacks the id of a job: jobs/job/?id=0."));
    };
    let Some(job) = views::job(visit.store, id) else {
        let why = format!("The application has no job {id}, or the log lost its start.");
        return Ok(View::nothing(404, why));
    };
    let mut view = View::new(format!("Job {id}"));
    view.trail.push(Link { text: "Jobs".to_owned(), to: format!("{}/jobs/", visit.base) });
    if let Some(sql) = job.row.sql_execution {
        view.trail.push(Link { text: format!("Query {sql}"), to: visit.sql_link(sql) });
    }
    if let Some(why) = job.row.failure {
        let full = visit.text(why);
        let text = format!("The job failed: {}", text::one_line(full, 300));
        view.push(Block::Alarm { text, details: full.to_owned() });
    }
    view.push(Block::Facts(facts(visit, &job)));
    let lines = views::stages_of(visit.store, &job.row.stage_ids);
    view.heading("dag", "How its stages depend on each other");
    view.push(Block::Markup(dag::stages(visit, &lines)));
    for (status, shown) in &stages::TABLES {
        let of: Vec<&StageLine<'_>> = lines.iter().filter(|s| s.row.status == *status).collect();
        if !of.is_empty() || *status == StageStatus::Complete {
            let columns = stages::columns_of(visit, *status);
            view.push(Block::table(table(visit.query(), shown, &columns, &of)?));
        }
    }
    Ok(view)
}

fn facts(visit: &Visit<'_>, job: &JobLine<'_>) -> Vec<super::view::Fact> {
    let row = job.row;
    let (state, is_bad) = match row.status {
        JobStatus::Running => ("RUNNING", false),
        JobStatus::Succeeded => ("SUCCEEDED", false),
        JobStatus::Failed => ("FAILED", true),
    };
    let work = views::work(visit.store);
    let work = work.job.get(&row.id);
    let sum = |column| work.and_then(|work| work.sum(column));
    let mut facts = vec![
        fact("Status", "", Cell::text(state).bad_if(is_bad)),
        fact("Description", "", Cell::folded(description(visit, job), 200)),
        fact("Submitted", "When the driver asked for it", visit.instant(row.submitted_at_ms)),
        fact("Completed", "", visit.instant(row.completed_at_ms)),
        fact(
            "Duration",
            "Submission to completion; to the last event while it runs",
            Cell::text(text::or_missing(job.duration_ms, text::duration)),
        ),
    ];
    if let Some(wait_ms) = job.wait_ms {
        let hint = "From the submission until its first task began: what other work, or a slow start of executors, costs";
        let cell = Cell::text(text::duration(wait_ms)).costly_if(wait_ms >= LONG_WAIT_MS);
        facts.push(fact("Waited", hint, cell));
    }
    facts.push(fact(
        "Task time",
        jobs::TASK_TIME,
        Cell::text(text::or_missing(sum(store::TaskColumn::executor_run_ms), text::duration)),
    ));
    let spilled = sum(store::TaskColumn::spill_disk_bytes);
    let to_read = work.and_then(views::Work::spill_to_read);
    facts.push(fact("Spill", jobs::SPILL, spill_cell(spilled, to_read)));
    if let Some(sql) = row.sql_execution {
        let cell = Cell::text(sql.to_string()).link(visit.sql_link(sql));
        facts.push(fact("Associated SQL query", "That the job is part of", cell));
    }
    if let Some(group) = row.group {
        facts.push(fact(
            "Job group",
            "As the driver's code named it",
            Cell::text(visit.text(group)),
        ));
    }
    let tags = jobs::tags_text(visit, &row.tags);
    if !tags.is_empty() {
        facts.push(fact("Job tags", "As the driver's code named them", Cell::text(tags)));
    }
    facts
}

/// A job that waits so long for its first task is worth a look.
const LONG_WAIT_MS: i64 = 10_000;
