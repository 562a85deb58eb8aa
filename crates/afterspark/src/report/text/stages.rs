//! The stages of the report: one line of numbers each, one of words, and remarks about what stands out.

use std::fmt::Write;

use store::{StageStatus, TaskColumn as C};
use views::{StageLine, Summary, TaskRef};

use super::{Page, WIDTH, items};
use crate::{
    report::table::Table,
    text::{self, bytes, count, counted, duration, or_missing, percent, times},
};

/// Stages that are always shown, and at most.
const STAGES_SHOWN_MIN: usize = 10;
const STAGES_SHOWN_MAX: usize = 40;
/// A stage with less of the time is shown only among the first few, or when there is something to say about it.
const SHARE_SHOWN_MIN: f64 = 0.01;
/// Names by which the stages that are not shown are summed up.
const NAMES_SHOWN: usize = 3;
/// A wait for the first task is worth a remark from this length on, when it is a fifth of the stage.
const WAIT_MS_MIN: i64 = 1_000;
/// A slowest task is worth a remark from this many times the median on, when it made half of the stage's time.
const STRAGGLER_RATIO: f64 = 5.0;
const STRAGGLER_MS_MIN: i64 = 2_000;
const INDENT: &str = "      ";

impl Page<'_> {
    pub(super) fn stages(&self, out: &mut String) {
        let ran: Vec<&StageLine<'_>> =
            self.stages.iter().filter(|s| s.duration_ms.is_some()).collect();
        if ran.is_empty() {
            let _ = writeln!(out, "\nNo stage ran.");
            return;
        }
        let (shown, rest) = choose(&ran);
        let heading = "Stages, longest first (share is of all stage time)";
        let _ = writeln!(out, "\n{}", self.paint.strong(heading));
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
            self.remarks(stage, with_output, out);
        }
        self.rest(&rest, out);
        let legend = "sh. = shuffle; GC = share of task run time; median, slowest: tasks; — = not in the log";
        let _ = writeln!(out, "{}", self.paint.faint(legend));
    }

    /// What the stages that are not shown come to, by name.
    fn rest(&self, rest: &[&StageLine<'_>], out: &mut String) {
        if rest.is_empty() {
            return;
        }
        let share: f64 = rest.iter().map(|s| s.share).sum();
        let what = counted(rest.len() as i64, "shorter stage", "shorter stages");
        let share = percent(share.min(1.0));
        let _ = writeln!(out, "… and {what} with {share} of the time (--format csv lists all):");
        for group in views::by_name(&self.report.store, rest).iter().take(NAMES_SHOWN) {
            let n = counted(group.n_stages as i64, "stage", "stages");
            let name = text::one_line(&group.name, WIDTH - 40);
            let _ = writeln!(out, "{INDENT}{n} {name}, {} together", duration(group.duration_ms));
        }
    }

    fn remarks(&self, stage: &StageLine<'_>, with_output: bool, out: &mut String) {
        let counts = &stage.row.counts;
        let described = stage.row.description.map(|t| self.text(t)).filter(|t| !t.is_empty());
        let mut facts: Vec<String> = described.map(|t| text::one_line(t, 30)).into_iter().collect();
        facts.push(text::one_line(self.text(stage.row.name), 60));
        match stage.row.status {
            StageStatus::Active => facts.push("still running at the end of the log".to_owned()),
            StageStatus::Failed => facts.push("FAILED".to_owned()),
            _ => {}
        }
        if let Some(n) = stage.sum(C::output_bytes).filter(|n| !with_output && *n > 0) {
            facts.push(format!("output {}", bytes(n)));
        }
        let facts = text::one_line(&facts.join(" · "), WIDTH - INDENT.len());
        let _ = writeln!(out, "{INDENT}{}", self.paint.faint(&facts));
        self.time_remarks(stage, out);
        if counts.n_failed + counts.n_killed > 0 {
            self.lost_tasks(stage, out);
        }
        if let Some(skew) = &stage.skew {
            let than = match skew.median_bytes {
                0 => "the median task nothing".to_owned(),
                median => {
                    let ratio = skew.task_bytes as f64 / median as f64;
                    format!("{} the median of {}", times(ratio), bytes(median))
                }
            };
            let read = bytes(skew.task_bytes);
            self.notice(&format!("! skew: task {} read {read}, {than}", task(&skew.task)), out);
        }
        if let Some(small) = &stage.small_tasks {
            let n_tasks = counted(small.n_tasks, "task", "tasks");
            let n_cores = counted(small.n_cores, "core", "cores");
            let largest = match small.largest_bytes {
                0 => "none reads anything".to_owned(),
                n => format!("none reads more than {}", bytes(n)),
            };
            self.notice(&format!("! small tasks: {n_tasks} on {n_cores}, {largest}"), out);
        }
    }

    /// What the time went to when it was not the tasks' work, or not that of most tasks.
    fn time_remarks(&self, stage: &StageLine<'_>, out: &mut String) {
        let total_ms = stage.duration_ms.unwrap_or(0);
        if let Some(wait_ms) = stage.wait_ms.filter(|w| *w >= WAIT_MS_MIN && *w >= total_ms / 5) {
            self.notice(&format!("! waited {} for its first task", duration(wait_ms)), out);
        }
        if let Some(times) = &stage.times
            && let (Some(slowest), Some(ratio)) = (&times.slowest, times.max_to_median)
            && ratio >= STRAGGLER_RATIO
            && times.slowest_ms.saturating_sub(times.median_ms)
                >= total_ms.max(STRAGGLER_MS_MIN) / 2
        {
            let ran = duration(times.slowest_ms);
            let than =
                format!("{} the median of {}", text::times(ratio), duration(times.median_ms));
            self.notice(&format!("! slowest: task {} took {ran}, {than}", task(slowest)), out);
        }
        if let Some(spilled) = stage.sum(C::spill_disk_bytes).filter(|n| *n > 0) {
            self.notice(&format!("! spilled {} to disk", bytes(spilled)), out);
        }
    }

    fn notice(&self, line: &str, out: &mut String) {
        let line = text::one_line(line, WIDTH - INDENT.len());
        let _ = writeln!(out, "{INDENT}{}", self.paint.notice(&line));
    }

    /// How many task attempts failed or were killed, and what most of them said.
    fn lost_tasks(&self, stage: &StageLine<'_>, out: &mut String) {
        let counts = &stage.row.counts;
        let mut lost = Vec::new();
        if counts.n_failed > 0 {
            lost.push(counted(counts.n_failed, "failed task", "failed tasks"));
        }
        if counts.n_killed > 0 {
            lost.push(counted(counts.n_killed, "killed task", "killed tasks"));
        }
        let mut line = format!("! {}", lost.join(", "));
        let errors = views::task_errors(&self.report.store, stage.row.id);
        if let Some(most) = errors.first() {
            let how_often =
                if errors.len() > 1 { format!("{} × ", most.n) } else { String::new() };
            let _ = write!(line, ": {how_often}{}", most.first_line);
        }
        self.notice(&line, out);
    }

    /// The five-number summaries of a stage attempt.
    pub(super) fn summary(
        &self,
        id: store::StageAttemptId,
        summaries: Option<&[Summary]>,
        out: &mut String,
    ) {
        let heading = format!("Stage {id}: its successful tasks");
        let _ = writeln!(out, "\n{}", self.paint.strong(&heading));
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
            "<task with the maximum",
        ]);
        let (zero, other): (Vec<&Summary>, Vec<&Summary>) =
            summaries.iter().partition(|s| s.max == 0 && s.quantiles[0] == 0);
        for s in other {
            let mut cells = vec![s.measure.label().to_owned()];
            cells.extend(s.quantiles.iter().map(|q| text::quantity(*q, s.measure.unit())));
            cells.push(or_missing(s.max_to_median, times));
            cells.push(s.max_task.as_ref().map_or_else(|| "all equal".to_owned(), task));
            table.row(cells);
        }
        let (heading, lines) = table.lines();
        let _ = writeln!(out, "{}", self.paint.faint(&text::one_line(&heading, WIDTH)));
        for line in lines {
            let _ = writeln!(out, "{}", text::one_line(&line, WIDTH));
        }
        let mut zero: Vec<String> = zero.iter().map(|s| s.measure.label().to_owned()).collect();
        if let Some(first) = zero.first_mut() {
            *first = format!("All zero: {first}");
            out.push_str(&items(&zero));
        }
    }
}

/// The stages worth a line, and the others.
fn choose<'a, 's>(ran: &[&'a StageLine<'s>]) -> (Vec<&'a StageLine<'s>>, Vec<&'a StageLine<'s>>) {
    let (mut shown, mut rest) = (Vec::new(), Vec::new());
    for (at, stage) in ran.iter().enumerate() {
        let counts = &stage.row.counts;
        let remarkable = stage.skew.is_some()
            || stage.row.status != StageStatus::Complete
            || counts.n_failed + counts.n_killed > 0;
        let worth_it = at < STAGES_SHOWN_MIN || stage.share >= SHARE_SHOWN_MIN || remarkable;
        if worth_it && shown.len() < STAGES_SHOWN_MAX { &mut shown } else { &mut rest }
            .push(*stage);
    }
    (shown, rest)
}

fn stage_table(stages: &[&StageLine<'_>], with_output: bool) -> Table {
    let mut headings = vec!["share", "time", "stage", "tasks", "input", "output", "sh. read"];
    headings.extend(["sh. write", "spill", "GC", "median", "slowest", "max÷med"]);
    headings.retain(|h| with_output || *h != "output");
    let mut table = Table::new(&headings);
    for s in stages {
        let size =
            |n: Option<i64>| or_missing(n, |n| if n == 0 { "0".to_owned() } else { bytes(n) });
        // the JVM's collections count for every task that ran meanwhile, so a sum can exceed the run time
        let gc = |share: f64| if share > 1.0 { ">100 %".to_owned() } else { percent(share) };
        let times_of = s.times.as_ref();
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
            or_missing(s.sum(C::jvm_gc_ms).and(s.gc_share), gc),
            or_missing(times_of, |t| duration(t.median_ms)),
            or_missing(times_of, |t| duration(t.slowest_ms)),
            or_missing(times_of.and_then(|t| t.max_to_median), times),
        ]);
        table.row(cells);
    }
    table
}

/// `1234 (index 7)`, with the attempt unless it is the first.
fn task(task: &TaskRef) -> String {
    let attempt =
        if task.attempt > 0 { format!(", attempt {}", task.attempt) } else { String::new() };
    format!("{} (index {}{attempt})", task.task_id, task.index)
}
