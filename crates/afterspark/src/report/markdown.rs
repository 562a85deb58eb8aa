//! The report as Markdown, for issues, chats and wikis. Text from the log is escaped: it comes from strangers.

use std::fmt::Write;
use std::io;

use store::{StageStatus, TaskColumn as C};

use super::{Report, Writer};
use crate::text::{self, bytes, count, duration, or_missing, percent, times};

/// Stages that are listed.
const STAGES_SHOWN: usize = 50;

pub(super) struct Markdown {
    pub(super) first: bool,
}

/// Text that Markdown, or HTML inside it, would take for markup.
fn escape(text: &str, width: usize) -> String {
    let mut out = String::new();
    for c in text::one_line(text, width).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '#' | '+' | '!' | '|'
            | '~' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

impl Writer for Markdown {
    fn next(&mut self, report: &Report, to: &mut dyn io::Write) -> io::Result<()> {
        let mut out = String::new();
        if !std::mem::replace(&mut self.first, false) {
            out.push('\n');
        }
        head(report, &mut out);
        stages(report, &mut out);
        for id in &report.stages {
            to.write_all(out.as_bytes())?;
            out.clear();
            stage(*id, report.summaries(*id).as_deref(), &mut out);
        }
        gaps(report, &mut out);
        to.write_all(out.as_bytes())
    }

    fn end(&mut self, _to: &mut dyn io::Write) -> io::Result<()> {
        Ok(())
    }
}

fn head(report: &Report, out: &mut String) {
    let app = views::app_summary(&report.store, report.scope);
    let id = app.id.as_deref().unwrap_or(&report.log);
    let _ = writeln!(out, "## {} ({})\n", escape(&app.name, 200), escape(id, 100));
    let version = or_missing(app.spark_version.as_deref(), |v| escape(v, 40));
    let started = or_missing(app.started_at_ms, text::instant);
    let ran = or_missing(app.duration_ms, duration);
    let state = if app.ended_at_ms.is_some() { "ran" } else { "no end in the log; so far" };
    let _ = writeln!(
        out,
        "Spark {version}, user {}, started {started}, {state} {ran}.",
        escape(&app.user, 60)
    );
    let _ = writeln!(
        out,
        "{} ({} failed), {} ({} failed; {} more skipped), {} ({} failed), {} cores at most.",
        text::counted(app.n_jobs as i64, "job", "jobs"),
        app.n_failed_jobs,
        text::counted((app.n_stages - app.n_skipped_stages) as i64, "stage", "stages"),
        app.n_failed_stages,
        app.n_skipped_stages,
        text::counted(app.n_tasks, "task", "tasks"),
        count(app.n_failed_tasks),
        or_missing(app.n_cores_max, count),
    );
    let _ = writeln!(
        out,
        "Input {}, output {}, shuffle read {}, shuffle write {}, spill on disk {}.",
        bytes(app.input_bytes),
        bytes(app.output_bytes),
        bytes(app.shuffle_read_bytes),
        bytes(app.shuffle_write_bytes),
        bytes(app.spill_disk_bytes),
    );
}

fn stages(report: &Report, out: &mut String) {
    let all = views::stages(&report.store, report.scope);
    let ran: Vec<_> = all.iter().filter(|s| s.duration_ms.is_some()).collect();
    out.push_str("\n### Stages, longest first\n\n");
    out.push_str("| stage | name | share | time | tasks | input | output | shuffle read | shuffle write | spill | GC | median | slowest | max÷median | remarks |\n");
    out.push_str("|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n");
    for s in ran.iter().take(STAGES_SHOWN) {
        let size = |n: Option<i64>| or_missing(n, bytes);
        let mut remarks = Vec::new();
        match (s.row.status, s.row.failure) {
            (StageStatus::Failed, reason) => {
                let reason = reason.map(|t| escape(report.store.text(t), 120));
                remarks.push(format!("FAILED: {}", reason.unwrap_or_default()));
            }
            (StageStatus::Active, _) => remarks.push("still running".to_owned()),
            _ => {}
        }
        if let Some(skew) = &s.skew {
            let (index, read, median) =
                (skew.task.index, bytes(skew.task_bytes), bytes(skew.median_bytes));
            remarks.push(format!("skew: index {index} read {read}, median {median}"));
        }
        if let Some(small) = &s.small_tasks {
            remarks.push(match small.largest_bytes {
                0 => "small tasks: none reads anything".to_owned(),
                largest => format!("small tasks: none reads more than {}", bytes(largest)),
            });
        }
        if s.row.counts.n_failed > 0 {
            remarks.push(text::counted(s.row.counts.n_failed, "failed task", "failed tasks"));
        }
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            s.row.id,
            escape(report.store.text(s.row.name), 80),
            percent(s.share),
            or_missing(s.duration_ms, duration),
            count(s.row.n_tasks),
            size(s.sum(C::input_bytes)),
            size(s.sum(C::output_bytes)),
            size(s.shuffle_read_bytes()),
            size(s.sum(C::shuffle_write_bytes)),
            size(s.sum(C::spill_disk_bytes)),
            or_missing(s.sum(C::jvm_gc_ms).and(s.gc_share), percent),
            or_missing(s.times.as_ref(), |t| duration(t.median_ms)),
            or_missing(s.times.as_ref(), |t| duration(t.slowest_ms)),
            or_missing(s.times.as_ref().and_then(|t| t.max_to_median), times),
            remarks.join("; "),
        );
    }
    if ran.len() > STAGES_SHOWN {
        let _ = writeln!(out, "\n… and {} shorter stages.", ran.len() - STAGES_SHOWN);
    }
}

fn stage(id: store::StageAttemptId, summaries: Option<&[views::Summary]>, out: &mut String) {
    let _ = writeln!(out, "\n### Stage {id}: its successful tasks\n");
    let Some(summaries) = summaries else {
        out.push_str("No task of it succeeded.\n");
        return;
    };
    out.push_str("| metric | min | 25 % | median | 75 % | max | max÷median | task of the max |\n");
    out.push_str("|---|--:|--:|--:|--:|--:|--:|---|\n");
    for s in summaries.iter().filter(|s| s.max != 0 || s.quantiles[0] != 0) {
        let values: Vec<String> =
            s.quantiles.iter().map(|q| text::quantity(*q, s.measure.unit())).collect();
        let task = s
            .max_task
            .map_or("all equal".to_owned(), |t| format!("{} (index {})", t.task_id, t.index));
        let ratio = or_missing(s.max_to_median, times);
        let _ =
            writeln!(out, "| {} | {} | {ratio} | {task} |", s.measure.label(), values.join(" | "));
    }
}

fn gaps(report: &Report, out: &mut String) {
    let gaps = views::gaps(&report.store);
    if gaps.is_empty() {
        return;
    }
    out.push_str("\n### Gaps: what of this log could not be used\n\n");
    out.push_str(
        "| severity | kind | number | place of the first | meaning |\n|---|---|--:|---|---|\n",
    );
    for gap in gaps {
        let detail = if gap.detail.is_empty() {
            String::new()
        } else {
            format!(" ({})", escape(&gap.detail, 100))
        };
        let place = if gap.file.is_empty() {
            String::new()
        } else {
            format!("{} at byte {}", escape(&gap.file, 100), gap.first_offset)
        };
        let _ = writeln!(
            out,
            "| {} | {}{detail} | {} | {place} | {} |",
            gap.severity.name(),
            gap.kind,
            count(gap.n as i64),
            gap.meaning
        );
    }
}
