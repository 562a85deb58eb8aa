//! `jobs` and one job.

use std::collections::BTreeMap;

use serde::Serialize;
use store::JobStatus;
use views::{JobLine, Scope};

use super::{Call, Route, params};
use crate::api::{Answer, Date, Handled};

pub(super) const ROUTES: &[Route] = &[(&["jobs"], list), (&["jobs", "#"], one)];

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Job<'s> {
    job_id: i32,
    name: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    submission_time: Option<Date>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completion_time: Option<Date>,
    stage_ids: &'s [i32],
    #[serde(skip_serializing_if = "Option::is_none")]
    job_group: Option<&'s str>,
    job_tags: Vec<&'s str>,
    status: &'static str,
    num_tasks: i64,
    num_active_tasks: i64,
    num_completed_tasks: i64,
    num_skipped_tasks: i64,
    num_failed_tasks: i64,
    num_killed_tasks: i64,
    num_completed_indices: i64,
    num_active_stages: i64,
    num_completed_stages: usize,
    num_skipped_stages: usize,
    num_failed_stages: i64,
    killed_tasks_summary: BTreeMap<&'s str, i64>,
}

fn name_of(status: JobStatus) -> &'static str {
    match status {
        JobStatus::Running => "RUNNING",
        JobStatus::Succeeded => "SUCCEEDED",
        JobStatus::Failed => "FAILED",
    }
}

const STATUSES: [&str; 4] = ["RUNNING", "SUCCEEDED", "FAILED", "UNKNOWN"];

fn list(call: &Call<'_>) -> Handled {
    let wanted = params::one_of(call.query(), "status", &STATUSES)?;
    let jobs = views::jobs(call.store, Scope::default());
    let jobs = jobs.iter().rev();
    let jobs: Vec<Job<'_>> = jobs
        .filter(|job| wanted.as_ref().is_none_or(|w| w.contains(&name_of(job.row.status))))
        .map(|job| shape(call, job))
        .collect();
    Ok(Answer::json(&jobs))
}

fn one(call: &Call<'_>) -> Handled {
    let id = call.int_id(0)?;
    let jobs = views::jobs(call.store, Scope::default());
    let job = jobs.iter().find(|job| job.row.id == id);
    let job = job.ok_or_else(|| Answer::text(404, format!("unknown job: {id}")))?;
    Ok(Answer::json(&shape(call, job)))
}

fn shape<'s>(call: &Call<'s>, job: &JobLine<'s>) -> Job<'s> {
    let (row, counts) = (job.row, &job.row.counts);
    let text = |text| call.store.text(text);
    Job {
        job_id: row.id,
        name: text(row.name),
        description: row.description.map(text),
        submission_time: row.submitted_at_ms.map(Date),
        completion_time: row.completed_at_ms.map(Date),
        stage_ids: &row.stage_ids,
        job_group: row.group.map(text),
        job_tags: sorted(row.tags.iter().map(|tag| text(*tag)).collect()),
        status: name_of(row.status),
        num_tasks: row.n_tasks,
        num_active_tasks: counts.n_active_tasks,
        num_completed_tasks: counts.n_completed_tasks,
        num_skipped_tasks: counts.n_skipped_tasks,
        num_failed_tasks: counts.n_failed_tasks,
        num_killed_tasks: counts.n_killed_tasks,
        num_completed_indices: counts.n_completed_indices,
        num_active_stages: counts.n_active_stages,
        num_completed_stages: counts.completed_stages.len(),
        num_skipped_stages: counts.skipped_stages.len(),
        num_failed_stages: counts.n_failed_stages,
        killed_tasks_summary: counts
            .killed_reasons
            .iter()
            .map(|(reason, n)| (text(*reason), *n))
            .collect(),
    }
}

fn sorted(mut texts: Vec<&str>) -> Vec<&str> {
    texts.sort_unstable();
    texts
}
