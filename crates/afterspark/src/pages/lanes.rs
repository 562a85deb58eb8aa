//! What the timeline draws: bars of queries, jobs, stages, pauses and executors.

use store::{JobStatus, StageAttempt, StageStatus};
use views::{Scope, SqlStatus};

use super::jobs;
use super::visit::Visit;
use crate::text;

/// Bars of a kind that are sent: of more, the longest.
const BARS_MAX: usize = 20_000;
/// Characters of a bar's label.
const LABEL_MAX: usize = 80;

/// A bar of the timeline.
pub(super) struct Bar {
    pub(super) id: i64,
    pub(super) from_ms: i64,
    pub(super) to_ms: i64,
    /// 0 done, 1 failed, 2 runs, 3 else.
    pub(super) state: u8,
    pub(super) label: String,
    pub(super) link: String,
}

/// Bars of a kind.
pub(super) struct Lane {
    pub(super) name: &'static str,
    pub(super) bars: Vec<Bar>,
    pub(super) n_all: usize,
}

pub(super) fn lanes(visit: &Visit<'_>, from_ms: i64, to_ms: i64) -> Vec<Lane> {
    let lane = |name, mut bars: Vec<Bar>| {
        bars.retain(|bar| bar.from_ms <= to_ms && bar.to_ms >= from_ms);
        let n_all = bars.len();
        if n_all > BARS_MAX {
            bars.sort_by_key(|bar| std::cmp::Reverse(bar.to_ms - bar.from_ms));
            bars.truncate(BARS_MAX);
        }
        bars.sort_by_key(|bar| (bar.from_ms, bar.id));
        Lane { name, bars, n_all }
    };
    let now_ms = views::last_event_at_ms(visit.store);
    vec![
        lane("Queries", queries(visit, now_ms)),
        lane("Jobs", all_jobs(visit, now_ms)),
        lane("Stages", all_stages(visit, now_ms)),
        lane("Driver only", pauses(visit)),
        lane("Executors", executors(visit, now_ms)),
    ]
}

fn queries(visit: &Visit<'_>, now_ms: i64) -> Vec<Bar> {
    let bar = |line: views::SqlLine<'_>| Bar {
        id: line.row.id,
        from_ms: line.row.started_at_ms,
        to_ms: line.row.ended_at_ms.unwrap_or(now_ms),
        state: match line.status {
            SqlStatus::Completed => 0,
            SqlStatus::Failed => 1,
            SqlStatus::Running => 2,
        },
        label: labelled(&format!("query {}: ", line.row.id), visit.text(line.row.description)),
        link: visit.sql_link(line.row.id),
    };
    views::sql_executions(visit.store, Scope::default()).into_iter().map(bar).collect()
}

fn all_jobs(visit: &Visit<'_>, now_ms: i64) -> Vec<Bar> {
    let bar = |job: &views::JobLine<'_>| {
        Some(Bar {
            id: i64::from(job.row.id),
            from_ms: job.row.submitted_at_ms?,
            to_ms: job.row.completed_at_ms.unwrap_or(now_ms),
            state: match job.row.status {
                JobStatus::Succeeded => 0,
                JobStatus::Failed => 1,
                JobStatus::Running => 2,
            },
            label: labelled(&format!("job {}: ", job.row.id), jobs::description(visit, job)),
            link: visit.job_link(job.row.id),
        })
    };
    views::jobs(visit.store, Scope::default()).iter().filter_map(bar).collect()
}

fn all_stages(visit: &Visit<'_>, now_ms: i64) -> Vec<Bar> {
    let bar = |stage: &StageAttempt| {
        Some(Bar {
            id: i64::from(stage.id.stage),
            from_ms: stage.submitted_at_ms?,
            to_ms: stage.completed_at_ms.unwrap_or(now_ms),
            state: match stage.status {
                StageStatus::Complete => 0,
                StageStatus::Failed => 1,
                StageStatus::Active => 2,
                StageStatus::Pending | StageStatus::Skipped => 3,
            },
            label: labelled(&format!("stage {}: ", stage.id), visit.text(stage.name)),
            link: visit.stage_link(stage.id),
        })
    };
    visit.store.tables().stages.iter().filter_map(bar).collect()
}

/// Times in which the driver alone was at work.
fn pauses(visit: &Visit<'_>) -> Vec<Bar> {
    let bar = |(at, pause): (usize, &views::Pause)| Bar {
        id: at as i64,
        from_ms: pause.from_ms,
        to_ms: pause.to_ms,
        state: 3,
        label: views::pause_kind(visit.store, pause).label(),
        link: String::new(),
    };
    let busy = views::busy(visit.store);
    busy.iter().flat_map(|busy| &busy.pauses).enumerate().map(bar).collect()
}

fn executors(visit: &Visit<'_>, now_ms: i64) -> Vec<Bar> {
    let end_ms = visit.store.tables().app.ended_at_ms.unwrap_or(now_ms);
    let bar = |(at, e): (usize, &views::ExecutorLine<'_>)| {
        let why = e.row.remove_reason.map(|why| visit.text(why)).unwrap_or_default();
        let gone = if e.row.active { String::new() } else { format!(" removed: {why}") };
        Bar {
            id: at as i64,
            from_ms: e.row.added_at_ms,
            to_ms: e.row.removed_at_ms.unwrap_or(end_ms),
            state: if e.row.active { 3 } else { 1 },
            label: labelled(&format!("executor {}", e.id), &gone),
            link: format!("{}/executors/", visit.base),
        }
    };
    views::executors(visit.store).iter().enumerate().map(bar).collect()
}

/// A bar's label: what it is, and what strangers call it, cut.
fn labelled(what: &str, text: &str) -> String {
    let mut label = what.to_owned();
    label.push_str(&text::one_line(text, LABEL_MAX));
    label
}
