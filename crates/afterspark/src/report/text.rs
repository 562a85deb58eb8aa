//! The report as text for people: at most 100 columns, the slowest first, what is wrong at the top.

use std::fmt::Write;

use store::{JobStatus, Severity, StageStatus, TaskColumn as C};
use views::{AppSummary, StageLine, Summary};

use super::{Report, Writer, table::Table};
use crate::text::{self, Paint, bytes, count, counted, duration, or_missing, percent, times};

const WIDTH: usize = 100;
/// Stages that are shown; the longest, and those about which there is something to say.
const STAGES_SHOWN: usize = 25;
const JOBS_SHOWN: usize = 10;
const GAPS_SHOWN: usize = 20;

pub(super) struct Text {
    pub(super) paint: Paint,
    pub(super) first: bool,
}

impl Writer for Text {
    fn next(&mut self, report: &Report) -> String {
        let mut out = String::new();
        if !std::mem::replace(&mut self.first, false) {
            let _ = writeln!(out, "\n{}\n", "─".repeat(WIDTH));
        }
        let page = Page { report, paint: self.paint };
        page.head(&mut out);
        page.failures(&mut out);
        page.stages(&mut out);
        page.jobs(&mut out);
        for (id, summaries) in &report.stages {
            page.stage(*id, summaries.as_deref(), &mut out);
        }
        page.gaps(&mut out);
        out
    }

    fn end(&mut self) -> String {
        String::new()
    }
}

struct Page<'r> {
    report: &'r Report,
    paint: Paint,
}

/// A line that wraps between items at the page's width.
fn items(items: &[String]) -> String {
    let mut out = String::new();
    let mut column = 0;
    for item in items.iter().filter(|item| !item.is_empty()) {
        let width = item.chars().count();
        if column > 0 && column + 3 + width > WIDTH {
            out.push('\n');
            column = 0;
        }
        if column > 0 {
            out.push_str(" · ");
            column += 3;
        }
        out.push_str(item);
        column += width;
    }
    out.push('\n');
    out
}

impl Page<'_> {
    fn text(&self, text: store::Text) -> &str {
        self.report.store.text(text)
    }

    fn head(&self, out: &mut String) {
        let app = views::app_summary(&self.report.store, self.report.scope);
        let name = if app.name.is_empty() { "(no name)" } else { &app.name };
        let id = app.id.clone().unwrap_or_else(|| self.report.log.clone());
        let attempt = app.attempt_id.as_ref().map(|a| format!(" attempt {a}")).unwrap_or_default();
        let id = text::one_line(&format!("{id}{attempt}"), 60);
        let name = text::one_line(name, WIDTH.saturating_sub(id.chars().count() + 3));
        let _ = writeln!(out, "{} · {id}", self.paint.strong(&name));
        out.push_str(&items(&frame(&app)));
        if let Some(since) = self.report.scope.since_stage {
            let _ = writeln!(out, "Only what came after stage {since}:");
        }
        out.push_str(&items(&extent(&app)));
        out.push_str(&items(&volume(&app)));
        let gaps = views::gaps(&self.report.store);
        let worst = gaps.iter().map(|g| g.severity).max();
        if worst.is_some_and(|s| s > Severity::Note) {
            let warning =
                "! part of this log could not be used, some numbers are lower bounds: see Gaps";
            let _ = writeln!(out, "{}", self.paint.notice(warning));
        }
    }

    fn failures(&self, out: &mut String) {
        let jobs = views::jobs(&self.report.store, self.report.scope);
        let failed_jobs = jobs.iter().filter(|j| j.row.status == JobStatus::Failed);
        let mut lines: Vec<String> = failed_jobs
            .map(|j| {
                format!(
                    "job {}: {}",
                    j.row.id,
                    j.row.failure.map_or("no reason given", |t| self.text(t))
                )
            })
            .collect();
        let stages = views::stages(&self.report.store, self.report.scope);
        let mut failed: Vec<&StageLine<'_>> =
            stages.iter().filter(|s| s.row.status == StageStatus::Failed).collect();
        failed.sort_by_key(|s| s.row.id);
        lines.extend(failed.iter().map(|s| {
            let reason = s.row.failure.map_or("no reason given", |t| self.text(t));
            format!("stage {}: {reason}", s.row.id)
        }));
        if lines.is_empty() {
            return;
        }
        let _ = writeln!(out, "\n{}", self.paint.alarm("Failed"));
        for line in lines.iter().take(GAPS_SHOWN) {
            let first_line = line.lines().next().unwrap_or_default();
            let _ = writeln!(out, "  {}", text::one_line(first_line, WIDTH - 2));
        }
        if lines.len() > GAPS_SHOWN {
            let _ = writeln!(out, "  … and {} more", lines.len() - GAPS_SHOWN);
        }
    }

    fn stages(&self, out: &mut String) {
        let all = views::stages(&self.report.store, self.report.scope);
        let ran: Vec<&StageLine<'_>> = all.iter().filter(|s| s.duration_ms.is_some()).collect();
        if ran.is_empty() {
            let _ = writeln!(out, "\nNo stage ran.");
            return;
        }
        let shown: Vec<&StageLine<'_>> = ran
            .iter()
            .enumerate()
            .filter(|(i, s)| {
                *i < STAGES_SHOWN || s.skew.is_some() || s.row.status == StageStatus::Failed
            })
            .map(|(_, s)| *s)
            .take(2 * STAGES_SHOWN)
            .collect();
        let _ = writeln!(
            out,
            "\n{}",
            self.paint.strong("Stages, longest first (share is of all stage time)")
        );
        let mut with_output = true;
        let mut table = stage_table(&shown, with_output);
        if table.width() > WIDTH {
            with_output = false;
            table = stage_table(&shown, with_output);
        }
        let (heading, lines) = table.lines();
        let _ = writeln!(out, "{}", self.paint.faint(&heading));
        for (stage, line) in shown.iter().zip(lines) {
            let _ = writeln!(out, "{line}");
            self.stage_remarks(stage, with_output, out);
        }
        if ran.len() > shown.len() {
            let rest: f64 = 1.0 - shown.iter().map(|s| s.share).sum::<f64>();
            let rest = percent(rest.max(0.0));
            let n = ran.len() - shown.len();
            let _ = writeln!(
                out,
                "… and {n} shorter stages with {rest} of the time; --format csv lists all"
            );
        }
    }

    fn stage_remarks(&self, stage: &StageLine<'_>, with_output: bool, out: &mut String) {
        let indent = "      ";
        let name = text::one_line(self.text(stage.row.name), WIDTH - 40);
        let mut facts = vec![name];
        match stage.row.status {
            StageStatus::Active => facts.push("still running at the end of the log".to_owned()),
            StageStatus::Failed => facts.push("FAILED".to_owned()),
            _ => {}
        }
        if stage.row.counts.n_failed > 0 {
            facts.push(counted(stage.row.counts.n_failed, "failed task", "failed tasks"));
        }
        if stage.row.counts.n_killed > 0 {
            facts.push(counted(stage.row.counts.n_killed, "killed task", "killed tasks"));
        }
        if let Some(n) = stage.sum(C::output_bytes).filter(|n| !with_output && *n > 0) {
            facts.push(format!("output {}", bytes(n)));
        }
        let _ = writeln!(out, "{indent}{}", self.paint.faint(&facts.join(" · ")));
        if let Some(skew) = &stage.skew {
            let ratio = match skew.median_bytes {
                0 => "the median task nothing".to_owned(),
                median => format!(
                    "{} the median of {}",
                    times(skew.task_bytes as f64 / median as f64),
                    bytes(median)
                ),
            };
            let line = format!(
                "! skew: task {} read {}, {ratio}",
                task(&skew.task),
                bytes(skew.task_bytes)
            );
            let _ = writeln!(out, "{indent}{}", self.paint.notice(&line));
        }
        if let Some(small) = &stage.small_tasks {
            let line = format!(
                "! small tasks: {} on {}, none reads more than {}",
                counted(small.n_tasks, "task", "tasks"),
                counted(small.n_cores, "core", "cores"),
                bytes(small.largest_bytes)
            );
            let _ = writeln!(out, "{indent}{}", self.paint.notice(&line));
        }
    }

    fn jobs(&self, out: &mut String) {
        let mut jobs = views::jobs(&self.report.store, self.report.scope);
        if jobs.is_empty() {
            return;
        }
        jobs.sort_by_key(|j| (std::cmp::Reverse(j.duration_ms), j.row.id));
        let _ = writeln!(out, "\n{}", self.paint.strong("Jobs, longest first"));
        let mut table = Table::new(&["job", "time", "<state", "stages", "tasks", "SQL", "<"]);
        for job in jobs.iter().take(JOBS_SHOWN) {
            let counts = &job.row.counts;
            let state = match job.row.status {
                JobStatus::Running => "running",
                JobStatus::Succeeded => "ok",
                JobStatus::Failed => "FAILED",
            };
            let what = job.row.description.unwrap_or(job.row.name);
            let what = if self.text(what).is_empty() { job.row.name } else { what };
            table.row(vec![
                job.row.id.to_string(),
                or_missing(job.duration_ms, duration),
                state.to_owned(),
                (job.row.stage_ids.len()
                    - counts.skipped_stages.len().min(job.row.stage_ids.len()))
                .to_string(),
                count(counts.n_completed_tasks),
                job.row.sql_execution.map_or_else(String::new, |id| id.to_string()),
                text::one_line(self.text(what), 50),
            ]);
        }
        let (heading, lines) = table.lines();
        let _ = writeln!(out, "{}", self.paint.faint(&heading));
        for line in lines {
            let _ = writeln!(out, "{}", text::one_line(&line, WIDTH));
        }
        if jobs.len() > JOBS_SHOWN {
            let _ = writeln!(
                out,
                "… and {} shorter jobs; --format json lists all",
                jobs.len() - JOBS_SHOWN
            );
        }
    }

    fn stage(&self, id: store::StageAttemptId, summaries: Option<&[Summary]>, out: &mut String) {
        let _ =
            writeln!(out, "\n{}", self.paint.strong(&format!("Stage {id}: its successful tasks")));
        let Some(summaries) = summaries else {
            let _ = writeln!(out, "No task of it succeeded.");
            return;
        };
        let mut table = Table::new(&[
            "<metric",
            "min",
            "25 %",
            "median",
            "75 %",
            "max",
            "max÷median",
            "<slowest or largest",
        ]);
        let mut zero = Vec::new();
        for s in summaries {
            if s.max == 0 && s.quantiles[0] == 0 {
                zero.push(s.measure.label());
                continue;
            }
            let mut cells = vec![s.measure.label().to_owned()];
            cells.extend(s.quantiles.iter().map(|q| text::quantity(*q, s.measure.unit())));
            cells.push(or_missing(s.max_to_median, times));
            cells.push(
                s.max_task
                    .as_ref()
                    .map_or_else(|| "all equal".to_owned(), |t| format!("task {}", task(t))),
            );
            table.row(cells);
        }
        let (heading, lines) = table.lines();
        let _ = writeln!(out, "{}", self.paint.faint(&heading));
        for line in lines {
            let _ = writeln!(out, "{line}");
        }
        if !zero.is_empty() {
            let mut words: Vec<String> = zero.iter().map(|z| (*z).to_owned()).collect();
            words[0] = format!("All zero: {}", words[0]);
            out.push_str(&items(&words));
        }
    }

    fn gaps(&self, out: &mut String) {
        let gaps = views::gaps(&self.report.store);
        if gaps.is_empty() {
            return;
        }
        let _ =
            writeln!(out, "\n{}", self.paint.strong("Gaps: what of this log could not be used"));
        for gap in gaps.iter().take(GAPS_SHOWN) {
            let mut what = format!("{} × {}", count(gap.n as i64), gap.kind);
            if !gap.detail.is_empty() {
                let _ = write!(what, " ({})", text::one_line(&gap.detail, 60));
            }
            if !gap.file.is_empty() {
                let _ = write!(
                    what,
                    ", first in {} at byte {}",
                    text::one_line(&gap.file, 60),
                    gap.first_offset
                );
            }
            let line = format!("{:5} {}", gap.severity.name(), text::one_line(&what, WIDTH - 8));
            let line = if gap.severity == Severity::Note { line } else { self.paint.notice(&line) };
            let _ = writeln!(out, "  {line}\n        {}", self.paint.faint(gap.meaning));
        }
        if gaps.len() > GAPS_SHOWN {
            let _ = writeln!(
                out,
                "  … and {} more kinds; --format json lists all",
                gaps.len() - GAPS_SHOWN
            );
        }
    }
}

fn frame(app: &AppSummary) -> Vec<String> {
    let ended = app.ended_at_ms.is_some();
    vec![
        app.spark_version.as_ref().map_or("Spark of an unknown version".to_owned(), |v| {
            format!("Spark {}", text::one_line(v, 30))
        }),
        if app.user.is_empty() {
            String::new()
        } else {
            format!("user {}", text::one_line(&app.user, 30))
        },
        app.started_at_ms.map_or("start unknown".to_owned(), text::instant),
        match (app.duration_ms, ended) {
            (Some(ms), true) => format!("ran {}", duration(ms)),
            (Some(ms), false) => {
                format!("{} until the log's last event, no end in it", duration(ms))
            }
            (None, _) => String::new(),
        },
        app.exit_code
            .filter(|code| *code != 0)
            .map_or(String::new(), |code| format!("exit code {code}")),
    ]
}

fn extent(app: &AppSummary) -> Vec<String> {
    let of = |n: usize, one, many, failed: usize| {
        let failed = if failed > 0 { format!(" ({failed} failed)") } else { String::new() };
        counted(n as i64, one, many) + &failed
    };
    let ran = app.n_stages - app.n_skipped_stages;
    let mut out = vec![
        of(app.n_jobs, "job", "jobs", app.n_failed_jobs),
        of(ran, "stage", "stages", app.n_failed_stages),
    ];
    if app.n_skipped_stages > 0 {
        out.push(format!("{} skipped", app.n_skipped_stages));
    }
    out.push(of(app.n_tasks as usize, "task", "tasks", app.n_failed_tasks as usize));
    if app.n_sql_executions > 0 {
        out.push(counted(app.n_sql_executions as i64, "SQL execution", "SQL executions"));
    }
    out.push(counted(app.n_executors as i64, "executor", "executors"));
    if let Some(n) = app.n_cores_max {
        out.push(counted(n, "core", "cores"));
    }
    if app.n_executors_lost > 0 {
        out.push(counted(app.n_executors_lost as i64, "executor removed", "executors removed"));
    }
    out
}

fn volume(app: &AppSummary) -> Vec<String> {
    vec![
        format!("input {}", bytes(app.input_bytes)),
        format!("output {}", bytes(app.output_bytes)),
        format!("shuffle read {}", bytes(app.shuffle_read_bytes)),
        format!("shuffle write {}", bytes(app.shuffle_write_bytes)),
        format!("spill {} on disk", bytes(app.spill_disk_bytes)),
        format!("task run time {}", duration(app.task_run_ms)),
        if app.task_run_ms > 0 {
            format!("GC {} of it", percent(app.gc_ms as f64 / app.task_run_ms as f64))
        } else {
            String::new()
        },
    ]
}

fn stage_table(stages: &[&StageLine<'_>], with_output: bool) -> Table {
    let mut headings = vec![
        "share", "time", "stage", "tasks", "input", "output", "sh.read", "sh.write", "spill", "GC",
    ];
    headings.extend(["median", "slowest", "max÷med"]);
    headings.retain(|h| with_output || *h != "output");
    let mut table = Table::new(&headings);
    for s in stages {
        let size =
            |n: Option<i64>| or_missing(n, |n| if n == 0 { "0".to_owned() } else { bytes(n) });
        let mut cells = vec![
            percent(s.share),
            or_missing(s.duration_ms, duration),
            s.row.id.to_string(),
            count(s.row.n_tasks),
            size(s.sum(C::input_bytes)),
        ];
        if with_output {
            cells.push(size(s.sum(C::output_bytes)));
        }
        cells.extend([
            size(s.shuffle_read_bytes()),
            size(s.sum(C::shuffle_write_bytes)),
            size(s.sum(C::spill_disk_bytes)),
            or_missing(s.sum(C::jvm_gc_ms).and(s.gc_share), percent),
            or_missing(s.times.as_ref(), |t| duration(t.median_ms)),
            or_missing(s.times.as_ref(), |t| duration(t.slowest_ms)),
            or_missing(s.times.as_ref().and_then(|t| t.max_to_median), times),
        ]);
        table.row(cells);
    }
    table
}

/// `1234 (index 7)`, with the attempt unless it is the first.
fn task(task: &views::TaskRef) -> String {
    let attempt =
        if task.attempt > 0 { format!(", attempt {}", task.attempt) } else { String::new() };
    format!("{} (index {}{attempt})", task.task_id, task.index)
}
