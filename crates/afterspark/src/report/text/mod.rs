//! The report as text for people: at most 100 columns, the slowest first, what is wrong at the top.

mod stages;

use std::fmt::Write;
use std::io;

use store::{JobStatus, Severity, StageStatus};
use views::{AppSummary, StageLine};

use super::{Report, Writer, table::Table};
use crate::text::{self, Paint, bytes, count, counted, duration, or_missing, percent};

const WIDTH: usize = 100;
const JOBS_SHOWN: usize = 10;
/// Lines of a list of failures or gaps.
const LINES_SHOWN: usize = 20;

pub(super) struct Text {
    pub(super) paint: Paint,
    pub(super) first: bool,
}

impl Writer for Text {
    fn next(&mut self, report: &Report, to: &mut dyn io::Write) -> io::Result<()> {
        let mut out = String::new();
        if !std::mem::replace(&mut self.first, false) {
            let _ = writeln!(out, "\n{}\n", "─".repeat(WIDTH));
        }
        let stages = views::stages(&report.store, report.scope);
        let page = Page { report, paint: self.paint, stages };
        page.head(&mut out);
        page.failures(&mut out);
        page.stages(&mut out);
        page.jobs(&mut out);
        for id in &report.stages {
            to.write_all(out.as_bytes())?;
            out.clear();
            page.summary(*id, report.summaries(*id).as_deref(), &mut out);
        }
        page.gaps(&mut out);
        to.write_all(out.as_bytes())
    }

    fn end(&mut self, _to: &mut dyn io::Write) -> io::Result<()> {
        Ok(())
    }
}

struct Page<'r> {
    report: &'r Report,
    paint: Paint,
    stages: Vec<StageLine<'r>>,
}

/// A line that wraps between items at the page's width.
fn items(items: &[String]) -> String {
    let mut out = String::new();
    let mut column = 0;
    for item in items.iter().filter(|item| !item.is_empty()) {
        let width = text::columns(item);
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
        let name = text::one_line(name, WIDTH.saturating_sub(text::columns(&id) + 3));
        let _ = writeln!(out, "{} · {id}", self.paint.strong(&name));
        out.push_str(&items(&frame(&app)));
        if let Some(since) = self.report.scope.since_stage {
            let _ = writeln!(out, "Only what came after stage {since}:");
        }
        out.push_str(&items(&extent(&app)));
        out.push_str(&items(&volume(&app)));
        self.pauses(out);
        let gaps = views::gaps(&self.report.store);
        let worst = gaps.iter().map(|g| g.severity).max();
        if worst.is_some_and(|s| s > Severity::Note) {
            let warning =
                "! part of this log could not be used, some numbers are lower bounds: see Gaps";
            let _ = writeln!(out, "{}", self.paint.notice(warning));
        }
    }

    /// How much of the time anything ran, and where nothing did.
    fn pauses(&self, out: &mut String) {
        let busy = views::busy(&self.report.store);
        let Some(busy) = busy.filter(|b| b.lifetime_ms > 0 && !self.stages.is_empty()) else {
            return;
        };
        let share = percent(busy.stages_ms as f64 / busy.lifetime_ms as f64);
        let mut facts =
            vec![format!("stages ran for {} ({share} of the time)", duration(busy.stages_ms))];
        for pause in &busy.pauses {
            let length = duration(pause.duration_ms());
            match (pause.after, pause.before) {
                (None, Some(_)) => facts.push(format!("{length} before the first stage")),
                (Some(_), None) => facts.push(format!("{length} after the last")),
                _ => {}
            }
        }
        let between = busy.pauses.iter().filter(|p| p.after.is_some() && p.before.is_some());
        if let Some(longest) = between.max_by_key(|p| p.duration_ms()) {
            let length = duration(longest.duration_ms());
            let after = longest.after.map_or_else(String::new, |id| format!(", after stage {id}"));
            facts.push(format!("longest pause between stages {length}{after}"));
        }
        out.push_str(&items(&facts));
    }

    fn failures(&self, out: &mut String) {
        let jobs = views::jobs(&self.report.store, self.report.scope);
        let reason = |text: Option<store::Text>| text.map_or("no reason given", |t| self.text(t));
        let mut lines: Vec<String> = Vec::new();
        for job in jobs.iter().filter(|j| j.row.status == JobStatus::Failed) {
            lines.push(format!("job {}: {}", job.row.id, reason(job.row.failure)));
        }
        let mut failed: Vec<&StageLine<'_>> =
            self.stages.iter().filter(|s| s.row.status == StageStatus::Failed).collect();
        failed.sort_by_key(|s| s.row.id);
        lines.extend(
            failed.iter().map(|s| format!("stage {}: {}", s.row.id, reason(s.row.failure))),
        );
        if lines.is_empty() {
            return;
        }
        let _ = writeln!(out, "\n{}", self.paint.alarm("Failed"));
        for line in lines.iter().take(LINES_SHOWN) {
            let _ = writeln!(out, "  {}", text::one_line(line, WIDTH - 2));
        }
        if lines.len() > LINES_SHOWN {
            let _ = writeln!(out, "  … and {} more", lines.len() - LINES_SHOWN);
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
            let described = job.row.description.filter(|t| !self.text(*t).is_empty());
            let what = self.text(described.unwrap_or(job.row.name));
            let n_stages = job.row.stage_ids.len().saturating_sub(counts.skipped_stages.len());
            table.row(vec![
                job.row.id.to_string(),
                or_missing(job.duration_ms, duration),
                state.to_owned(),
                n_stages.to_string(),
                count(counts.n_completed_tasks),
                job.row.sql_execution.map_or_else(String::new, |id| id.to_string()),
                text::one_line(what, 50),
            ]);
        }
        let (heading, lines) = table.lines();
        let _ = writeln!(out, "{}", self.paint.faint(&heading));
        for line in lines {
            let _ = writeln!(out, "{}", text::one_line(&line, WIDTH));
        }
        if jobs.len() > JOBS_SHOWN {
            let rest = jobs.len() - JOBS_SHOWN;
            let _ = writeln!(
                out,
                "… and {}; --format json lists all",
                counted(rest as i64, "shorter job", "shorter jobs")
            );
        }
    }

    fn gaps(&self, out: &mut String) {
        let gaps = views::gaps(&self.report.store);
        if gaps.is_empty() {
            return;
        }
        let heading = "Gaps: what of this log could not be used";
        let _ = writeln!(out, "\n{}", self.paint.strong(heading));
        for gap in gaps.iter().take(LINES_SHOWN) {
            let mut what = format!("{} × {}", count(gap.n as i64), gap.kind);
            if !gap.detail.is_empty() {
                let _ = write!(what, " ({})", text::one_line(&gap.detail, 60));
            }
            if !gap.file.is_empty() {
                let file = text::one_line(&gap.file, 60);
                let _ = write!(what, ", first in {file} at byte {}", gap.first_offset);
            }
            let line = format!("{:5} {}", gap.severity.name(), text::one_line(&what, WIDTH - 8));
            let line = if gap.severity == Severity::Note { line } else { self.paint.notice(&line) };
            let _ = writeln!(out, "  {line}\n        {}", self.paint.faint(gap.meaning));
        }
        if gaps.len() > LINES_SHOWN {
            let rest = gaps.len() - LINES_SHOWN;
            let _ = writeln!(out, "  … and {rest} more kinds; --format json lists all");
        }
    }
}

fn frame(app: &AppSummary) -> Vec<String> {
    let version = app.spark_version.as_ref();
    let version = version.map_or("of an unknown version".to_owned(), |v| text::one_line(v, 30));
    let user = text::one_line(&app.user, 30);
    vec![
        format!("Spark {version}"),
        if user.is_empty() { user } else { format!("user {user}") },
        app.started_at_ms.map_or("start unknown".to_owned(), text::instant),
        match (app.duration_ms, app.ended_at_ms) {
            (Some(ms), Some(_)) => format!("ran {}", duration(ms)),
            (Some(ms), None) => {
                format!("{} until the log's last event, no end in it", duration(ms))
            }
            (None, _) => String::new(),
        },
        match app.exit_code {
            Some(code) if code != 0 => format!("exit code {code}"),
            _ => String::new(),
        },
    ]
}

fn extent(app: &AppSummary) -> Vec<String> {
    let of = |n: usize, one, many, failed: usize| {
        let failed = if failed > 0 { format!(" ({failed} failed)") } else { String::new() };
        counted(n as i64, one, many) + &failed
    };
    let optional = |n: usize, one, many| {
        if n > 0 { counted(n as i64, one, many) } else { String::new() }
    };
    vec![
        of(app.n_jobs, "job", "jobs", app.n_failed_jobs),
        of(app.n_stages - app.n_skipped_stages, "stage", "stages", app.n_failed_stages),
        optional(app.n_skipped_stages, "skipped stage", "skipped stages"),
        of(app.n_tasks.max(0) as usize, "task", "tasks", app.n_failed_tasks.max(0) as usize),
        optional(app.n_sql_executions, "SQL execution", "SQL executions"),
        counted(app.n_executors as i64, "executor", "executors"),
        app.n_cores_max.map_or_else(String::new, |n| counted(n, "core", "cores")),
        optional(app.n_executors_lost, "executor removed", "executors removed"),
    ]
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
