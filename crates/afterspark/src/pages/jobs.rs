//! `jobs/`: the jobs of an application, by state, and on demand by what they were part of.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use store::{JobStatus, TaskColumn as C};
use views::{JobLine, Scope, Work};

use super::job;
use super::table::{Cell, Column, Link, Shown, address, number, sorted, table, words};
use super::view::{Block, View};
use super::visit::Visit;
use super::{Page, Tab};
use crate::api::Answer;
use crate::text;

pub(super) const PAGES: &[Page] =
    &[Page { path: &["jobs"], tab: Tab::Always("Jobs"), view }, job::PAGE];

/// What is looked at first stands first.
const TABLES: [(JobStatus, Shown); 3] = [
    (JobStatus::Failed, shown("failedJob", "Failed jobs", "Job")),
    (JobStatus::Running, shown("activeJob", "Running jobs", "Job")),
    (JobStatus::Succeeded, shown("completedJob", "Completed jobs", "Duration")),
];

const fn shown(tag: &'static str, title: &'static str, sort: &'static str) -> Shown {
    let empty = "None: the application started no job, or the log ends before one was done.";
    Shown { tag, title, sort, descending: true, empty }
}

/// A job, and what was done for it.
#[derive(Clone, Copy)]
pub(super) struct Row<'c> {
    pub(super) job: &'c JobLine<'c>,
    pub(super) work: Option<&'c Work>,
}

fn view(visit: &Visit<'_>) -> Result<View, Answer> {
    let jobs = views::jobs(visit.store, Scope::default());
    let work = views::work(visit.store);
    let mut view = View::new("Jobs");
    let rows: Vec<Row<'_>> =
        jobs.iter().map(|job| Row { job, work: work.job.get(&job.row.id) }).collect();
    view.push(grouping(visit));
    let rows = match visit.query().first("of") {
        Some(of) => {
            view.note(format!("Only the jobs of {}.", text::one_line(of, 120)));
            rows.into_iter().filter(|row| keys(visit, row).iter().any(|key| key == of)).collect()
        }
        None => rows,
    };
    if visit.query().first("by").is_some() {
        view.push(Block::table(groups(visit, &rows)?));
    }
    let columns = columns(visit);
    let mut of_failed = self::columns(visit);
    of_failed.insert(FAILURE_AT, failure(visit));
    for (status, shown) in &TABLES {
        let of: Vec<Row<'_>> =
            rows.iter().filter(|row| row.job.row.status == *status).copied().collect();
        if !of.is_empty() || *status == JobStatus::Succeeded {
            let columns = if *status == JobStatus::Failed { &of_failed } else { &columns };
            view.push(Block::table(table(visit.query(), shown, columns, &of)?));
        }
    }
    Ok(view)
}

/// Ways to put jobs together.
const GROUPINGS: [(&str, &str); 3] =
    [("sql", "by SQL execution"), ("group", "by job group"), ("tag", "by job tag")];

fn grouping(visit: &Visit<'_>) -> Block {
    let link = |by: &str, title: &str| Link {
        text: title.to_owned(),
        to: address(&visit.query().without("of"), "", &[("by", by)]),
    };
    let mut links: Vec<Link> = GROUPINGS.iter().map(|(by, title)| link(by, title)).collect();
    if visit.query().first("by").is_some() || visit.query().first("of").is_some() {
        links.push(link("", "each by itself"));
    }
    let timeline = format!("{}/timeline/", visit.base);
    links.push(Link { text: "on the timeline".to_owned(), to: timeline });
    Block::Links { title: "Show jobs", links }
}

/// What a job is part of, by the grouping that is asked for; for each name a text such as `query 6`.
fn keys(visit: &Visit<'_>, row: &Row<'_>) -> Vec<String> {
    let job = row.job.row;
    let sql = || job.sql_execution.map(|id| format!("query {id}"));
    let group = || job.group.map(|group| visit.text(group).to_owned());
    match visit.query().first("by") {
        Some("group") => group().into_iter().collect(),
        Some("tag") => {
            let own = job.tags.iter().filter_map(|tag| user_tag(visit.text(*tag)));
            own.map(str::to_owned).collect()
        }
        _ => sql().into_iter().collect(),
    }
}

/// Jobs that belong together.
#[derive(Default)]
struct Group {
    name: String,
    sql: Option<i64>,
    n_jobs: i64,
    n_failed: i64,
    duration_ms: i64,
    work: BTreeMap<i32, Work>,
}

impl Group {
    fn sum(&self, of: impl Fn(&Work) -> Option<i64>) -> Option<i64> {
        self.work.values().filter_map(of).reduce(i64::wrapping_add)
    }
}

fn groups(visit: &Visit<'_>, rows: &[Row<'_>]) -> Result<super::table::Table, Answer> {
    let mut by_name: BTreeMap<String, Group> = BTreeMap::new();
    for row in rows {
        let mut names = keys(visit, row);
        if names.is_empty() {
            names.push("none".to_owned());
        }
        for name in names {
            let group = by_name.entry(name.clone()).or_default();
            group.name = name;
            group.sql = row.job.row.sql_execution;
            group.n_jobs += 1;
            group.n_failed += i64::from(row.job.row.status == JobStatus::Failed);
            group.duration_ms = group.duration_ms.saturating_add(row.job.duration_ms.unwrap_or(0));
            if let Some(work) = row.work {
                group.work.insert(row.job.row.id, work.clone());
            }
        }
    }
    let groups: Vec<Group> = by_name.into_values().collect();
    let is_sql = !matches!(visit.query().first("by"), Some("group" | "tag"));
    let columns = vec![
        words("Jobs of", "What they are part of; leads to its jobs", move |g: &Group| {
            let to = address(visit.query(), "", &[("of", &g.name)]);
            let sql = g.sql.filter(|_| is_sql);
            let links = sql.map(|id| Link { text: "its page".to_owned(), to: visit.sql_link(id) });
            Cell::text(&g.name).link(to).links(links.into_iter().collect())
        }),
        sorted(
            "Failed",
            "Jobs that failed",
            |g: &Group| Some(g.n_failed),
            |g: &Group| Cell::text(text::count(g.n_failed)).bad_if(g.n_failed > 0),
        ),
        number("Jobs", "How many", text::count, |g: &Group| Some(g.n_jobs)),
        number("Duration", "Of its jobs, added up", text::duration, |g: &Group| {
            Some(g.duration_ms)
        }),
        number("Task time", TASK_TIME, text::duration, |g: &Group| {
            g.sum(|work| work.sum(C::executor_run_ms))
        }),
        number("Input", INPUT, text::bytes, |g: &Group| g.sum(|work| work.sum(C::input_bytes))),
        number("Shuffle read", SHUFFLE_READ, text::bytes, |g: &Group| {
            g.sum(Work::shuffle_read_bytes)
        }),
        number("Shuffle write", SHUFFLE_WRITE, text::bytes, |g: &Group| {
            g.sum(|work| work.sum(C::shuffle_write_bytes))
        }),
        number("Spill", SPILL, text::bytes, |g: &Group| {
            g.sum(|work| work.sum(C::spill_disk_bytes))
        }),
    ];
    let shown = Shown { descending: true, ..shown("group", "Jobs together", "Failed") };
    table(visit.query(), &shown, &columns, &groups)
}

pub(super) const TASK_TIME: &str = "Run time of all tasks, added up: what the work costs in slots";
pub(super) const INPUT: &str =
    "Bytes read from storage. Much of it: read fewer columns or partitions";
pub(super) const OUTPUT: &str = "Bytes written to storage";
pub(super) const SHUFFLE_READ: &str =
    "Bytes that tasks fetched from other stages, local and remote";
pub(super) const SHUFFLE_WRITE: &str = "Bytes that tasks wrote for later stages to fetch";
pub(super) const SPILL: &str = "Bytes written to disk because memory did not suffice; 0 is good. Any: more memory for each \
                                task, or more and smaller partitions";

/// Behind what tells what it is.
const FAILURE_AT: usize = 2;

/// Those of Spark's table, and more.
#[expect(clippy::too_many_lines, reason = "columns, one after the other")]
pub(super) fn columns<'v>(visit: &'v Visit<'v>) -> Vec<Column<'v, Row<'v>>> {
    let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    vec![
        sorted(
            "Job",
            "Id of the job; leads to it",
            |row: &Row<'_>| Some(i64::from(row.job.row.id)),
            {
                move |row: &Row<'_>| {
                    let id = row.job.row.id;
                    Cell::text(id.to_string()).link(visit.job_link(id))
                }
            },
        ),
        words(
            "Description",
            "Of the job, or where the driver's code asked for it",
            move |row: &Row<'_>| {
                let full = description(visit, row.job);
                Cell::text(text::one_line(full, 100)).exact(full)
            },
        ),
        words("Query", "The SQL execution that the job is part of", move |row: &Row<'_>| {
            let id = row.job.row.sql_execution;
            id.map_or_else(Cell::default, |id| Cell::text(id.to_string()).link(visit.sql_link(id)))
        }),
        words("Group", "Job group that the driver's code named", move |row: &Row<'_>| {
            Cell::text(row.job.row.group.map(|text| visit.text(text)).unwrap_or_default())
        }),
        words("Tags", "Job tags that the driver's code named", move |row: &Row<'_>| {
            let tags = tags_text(visit, &row.job.row.tags);
            Cell::text(text::one_line(&tags, 60)).exact(tags)
        }),
        visit.instants("Submitted", "When the driver asked for it", |row: &Row<'_>| {
            row.job.row.submitted_at_ms
        }),
        number(
            "Duration",
            "Submission to completion; to the last event while it runs",
            text::duration,
            |row: &Row<'_>| row.job.duration_ms,
        ),
        sorted(
            "Stages",
            "Succeeded of all that were not skipped; failed attempts and skipped ones in brackets",
            move |row: &Row<'_>| Some(count(row.job.row.counts.completed_stages.len())),
            move |row: &Row<'_>| Cell::text(stages_text(row.job)),
        ),
        sorted(
            "Tasks",
            "Succeeded of all; running, failed, skipped and killed ones in brackets",
            |row: &Row<'_>| Some(row.job.row.n_tasks),
            move |row: &Row<'_>| tasks_cell(visit, row.job),
        ),
        number("Task time", TASK_TIME, text::duration, |row: &Row<'_>| {
            row.work.and_then(|work| work.sum(C::executor_run_ms))
        }),
        number("Input", INPUT, text::bytes, |row: &Row<'_>| {
            row.work.and_then(|work| work.sum(C::input_bytes))
        }),
        number("Output", OUTPUT, text::bytes, |row: &Row<'_>| {
            row.work.and_then(|work| work.sum(C::output_bytes))
        })
        .optional(),
        number("Shuffle read", SHUFFLE_READ, text::bytes, |row: &Row<'_>| {
            row.work.and_then(Work::shuffle_read_bytes)
        }),
        number("Shuffle write", SHUFFLE_WRITE, text::bytes, |row: &Row<'_>| {
            row.work.and_then(|work| work.sum(C::shuffle_write_bytes))
        })
        .optional(),
        spill(|row: &Row<'_>| row.work),
    ]
}

/// Job tags as the driver's code gave them: Spark puts some of its own beside them, and a session's name before each.
pub(super) fn tags_text(visit: &Visit<'_>, tags: &[store::Text]) -> String {
    let own = tags.iter().filter_map(|tag| user_tag(visit.text(*tag)));
    own.collect::<Vec<_>>().join(", ")
}

/// `None` for a tag of Spark's own (`SparkSession.managedJobTags`).
fn user_tag(tag: &str) -> Option<&str> {
    if !tag.starts_with("spark-session-") {
        return Some(tag);
    }
    tag.split_once("-tag-").map(|(_, own)| own)
}

/// What was spilled, and how much that is of what was read.
pub(super) fn spill<'v, R>(
    work: impl for<'r> Fn(&'r R) -> Option<&'r Work> + Copy + 'v,
) -> Column<'v, R> {
    let bytes = move |row: &R| work(row).and_then(|work| work.sum(C::spill_disk_bytes));
    sorted("Spill", SPILL, bytes, move |row: &R| {
        spill_cell(bytes(row), work(row).and_then(Work::spill_to_read))
    })
}

/// Bytes, and their ratio to what was read where that tells something.
pub(super) fn spill_cell(spill_bytes: Option<i64>, to_read: Option<f64>) -> Cell {
    let Some(bytes) = spill_bytes else { return Cell::text(text::MISSING) };
    let of_read = to_read.filter(|_| bytes > 0);
    let of_read = of_read.map(|ratio| format!(" ({} of read)", text::percent(ratio)));
    let written = format!("{}{}", text::bytes(bytes), of_read.unwrap_or_default());
    Cell::text(written).exact(bytes.to_string()).costly_if(bytes > 0)
}

/// What people call a job.
pub(super) fn description<'v>(visit: &'v Visit<'_>, job: &JobLine<'_>) -> &'v str {
    let given = job.row.description.map(|text| visit.text(text)).filter(|text| !text.is_empty());
    given.unwrap_or_else(|| visit.text(job.row.name))
}

fn stages_text(job: &JobLine<'_>) -> String {
    let counts = &job.row.counts;
    let n_skipped = counts.skipped_stages.len();
    let n_all = job.row.stage_ids.len().saturating_sub(n_skipped);
    let mut written = format!("{}/{n_all}", counts.completed_stages.len());
    if counts.n_failed_stages > 0 {
        write!(written, " ({} failed)", counts.n_failed_stages).ok();
    }
    if n_skipped > 0 {
        write!(written, " ({n_skipped} skipped)").ok();
    }
    written
}

fn tasks_cell(visit: &Visit<'_>, job: &JobLine<'_>) -> Cell {
    let counts = &job.row.counts;
    let n_all = job.row.n_tasks.saturating_sub(counts.n_skipped_tasks);
    let killed = counts.killed_reasons.iter().map(|(why, n)| (visit.text(*why), *n));
    tasks_bar(&Tasks {
        n_all,
        n_done: counts.n_completed_indices,
        n_active: counts.n_active_tasks,
        n_failed: counts.n_failed_tasks,
        n_skipped: counts.n_skipped_tasks,
        killed: killed.collect(),
    })
}

/// Numbers of tasks.
pub(super) struct Tasks<'t> {
    pub(super) n_all: i64,
    pub(super) n_done: i64,
    pub(super) n_active: i64,
    pub(super) n_failed: i64,
    pub(super) n_skipped: i64,
    /// Why, and how many.
    pub(super) killed: Vec<(&'t str, i64)>,
}

/// `7/20 (5 running) (2 failed) (4 skipped) (2 killed: reason)`, with a bar.
pub(super) fn tasks_bar(tasks: &Tasks<'_>) -> Cell {
    let mut written = format!("{}/{}", text::count(tasks.n_done), text::count(tasks.n_all));
    let counted =
        [(tasks.n_active, "running"), (tasks.n_failed, "failed"), (tasks.n_skipped, "skipped")];
    for (n, what) in counted.into_iter().filter(|(n, _)| *n > 0) {
        write!(written, " ({} {what})", text::count(n)).ok();
    }
    for (why, n) in &tasks.killed {
        write!(written, " ({} killed: {})", text::count(*n), text::one_line(why, 60)).ok();
    }
    let share = |n: i64| (n as f64 / tasks.n_all.max(1) as f64).clamp(0.0, 1.0);
    let done = share(tasks.n_done);
    let runs = share(tasks.n_active).min(1.0 - done);
    let failed =
        if tasks.n_failed > 0 { share(tasks.n_failed).min(1.0 - done - runs) } else { 0.0 };
    Cell::text(written).bar([done, runs, failed])
}

/// Of what failed only.
fn failure<'v>(visit: &'v Visit<'v>) -> Column<'v, Row<'v>> {
    words("Failure", "Why the job failed", move |row: &Row<'_>| {
        let why = row.job.row.failure.map(|text| visit.text(text)).unwrap_or_default();
        Cell::folded(why, 120).bad_if(true)
    })
}
