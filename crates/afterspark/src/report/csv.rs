//! The report as CSV (RFC 4180): a line for each stage attempt, or with `--stage` a line for each metric of each.
//! Empty where the log does not say. Text that a spreadsheet could take for a formula is set off with an apostrophe.

use std::io;

use store::{StageAttemptId, TaskColumn as C};
use views::Summary;

use super::{Report, Writer};

const STAGES: &str = "app_id,app_attempt_id,stage,attempt,status,name,submitted_at_ms,completed_at_ms,duration_ms,share,\
n_tasks,n_completed_tasks,n_failed_tasks,n_killed_tasks,executor_run_ms,executor_cpu_ns,jvm_gc_ms,gc_share,input_bytes,\
input_rows,output_bytes,output_rows,shuffle_read_bytes,shuffle_read_rows,shuffle_write_bytes,shuffle_write_rows,\
spill_memory_bytes,spill_disk_bytes,task_ms_median,task_ms_max,task_ms_max_to_median,slowest_task_index,\
skew_task_index,skew_task_bytes,skew_median_bytes,small_tasks\n";
const SUMMARY: &str = "app_id,app_attempt_id,stage,attempt,metric,min,p25,median,p75,max,max_to_median,max_task_id,max_task_index\n";

pub(super) struct Csv {
    pub(super) first: bool,
}

/// A field that needs it is quoted.
pub(crate) fn field(text: &str) -> String {
    let text = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err()
    {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

fn number(n: Option<i64>) -> String {
    n.map_or_else(String::new, |n| n.to_string())
}

fn ratio(n: Option<f64>) -> String {
    n.map_or_else(String::new, |n| format!("{n:.4}"))
}

impl Writer for Csv {
    fn next(&mut self, report: &Report, to: &mut dyn io::Write) -> io::Result<()> {
        let summary = !report.stages.is_empty();
        if std::mem::replace(&mut self.first, false) {
            to.write_all(if summary { SUMMARY } else { STAGES }.as_bytes())?;
        }
        let app = &report.store.tables().app;
        let id = |text: Option<store::Text>| {
            text.map_or_else(String::new, |t| field(report.store.text(t)))
        };
        let app = format!("{},{}", id(app.id), id(app.attempt_id));
        if !summary {
            return lines(&app, stages(report), to);
        }
        for id in &report.stages {
            lines(&app, summaries(*id, &report.summaries(*id).unwrap_or_default()), to)?;
        }
        Ok(())
    }

    fn end(&mut self, _to: &mut dyn io::Write) -> io::Result<()> {
        Ok(())
    }
}

fn lines(app: &str, lines: Vec<Vec<String>>, to: &mut dyn io::Write) -> io::Result<()> {
    for line in lines {
        writeln!(to, "{app},{}", line.join(","))?;
    }
    Ok(())
}

fn summaries(id: StageAttemptId, summaries: &[Summary]) -> Vec<Vec<String>> {
    let line = |s: &Summary| {
        let mut line =
            vec![id.stage.to_string(), id.attempt.to_string(), s.measure.name().to_owned()];
        line.extend(s.quantiles.iter().map(ToString::to_string));
        line.push(ratio(s.max_to_median));
        line.push(number(s.max_task.map(|t| t.task_id)));
        line.push(number(s.max_task.map(|t| t.index)));
        line
    };
    summaries.iter().map(line).collect()
}

fn stages(report: &Report) -> Vec<Vec<String>> {
    let store = &report.store;
    let line = |s: &views::StageLine<'_>| {
        let row = s.row;
        let sum = |column| number(s.sum(column));
        let times = s.times.as_ref();
        vec![
            row.id.stage.to_string(),
            row.id.attempt.to_string(),
            format!("{:?}", row.status).to_uppercase(),
            field(store.text(row.name)),
            number(row.submitted_at_ms),
            number(row.completed_at_ms),
            number(s.duration_ms),
            format!("{:.4}", s.share),
            row.n_tasks.to_string(),
            row.counts.n_completed.to_string(),
            row.counts.n_failed.to_string(),
            row.counts.n_killed.to_string(),
            sum(C::executor_run_ms),
            sum(C::executor_cpu_ns),
            sum(C::jvm_gc_ms),
            ratio(s.sum(C::jvm_gc_ms).and(s.gc_share)),
            sum(C::input_bytes),
            sum(C::input_rows),
            sum(C::output_bytes),
            sum(C::output_rows),
            number(s.shuffle_read_bytes()),
            sum(C::shuffle_read_rows),
            sum(C::shuffle_write_bytes),
            sum(C::shuffle_write_rows),
            sum(C::spill_memory_bytes),
            sum(C::spill_disk_bytes),
            number(times.map(|t| t.median_ms)),
            number(times.map(|t| t.slowest_ms)),
            ratio(times.and_then(|t| t.max_to_median)),
            number(times.and_then(|t| t.slowest).map(|t| t.index)),
            number(s.skew.map(|k| k.task.index)),
            number(s.skew.map(|k| k.task_bytes)),
            number(s.skew.map(|k| k.median_bytes)),
            s.small_tasks.is_some().to_string(),
        ]
    };
    views::stages(store, report.scope).iter().map(line).collect()
}
