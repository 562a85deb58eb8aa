//! Executors and the driver, other processes, and where their logs are.

use store::{EXECUTOR_METRICS, Executor, MiscProcess, Pairs, Store, java_order};

use crate::app;

/// The driver's id among the executors.
const DRIVER: &str = "driver";
/// The id that stands for an unknown executor; it is listed nowhere.
const FALLBACK: &str = "fallback";

/// An executor or the driver, for reading.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutorLine<'s> {
    pub row: &'s Executor,
    pub id: &'s str,
    /// Of an executor the sum of its tasks' durations. Of the driver, its uptime: start to end of the application, to the
    /// last event where there is no end.
    pub duration_ms: i64,
    /// Of an executor the collection time of its tasks. Of the driver, that of its process where it is known.
    pub gc_ms: i64,
}

/// All executors and the driver, by id.
pub fn executors(store: &Store) -> Vec<ExecutorLine<'_>> {
    let rows = store.tables().executors.iter();
    let mut lines: Vec<ExecutorLine<'_>> =
        rows.map(|row| executor_line(store, row)).filter(|line| line.id != FALLBACK).collect();
    lines.sort_by(|a, b| java_order(a.id, b.id));
    lines
}

fn executor_line<'s>(store: &'s Store, row: &'s Executor) -> ExecutorLine<'s> {
    let mut line =
        ExecutorLine { row, id: store.text(row.id), duration_ms: row.task_ms, gc_ms: row.gc_ms };
    if line.id == DRIVER {
        line.duration_ms = uptime_ms(store).unwrap_or(line.duration_ms);
        let total = EXECUTOR_METRICS.iter().position(|name| *name == "TotalGCTime");
        let peak = row.peak.as_ref().zip(total).map(|(peak, total)| peak[total]);
        line.gc_ms = peak.unwrap_or(line.gc_ms);
    }
    line
}

/// `None` when the log does not tell when the application started, or tells that it ended at 0.
fn uptime_ms(store: &Store) -> Option<i64> {
    let app = &store.tables().app;
    let ended_at_ms = app.ended_at_ms.filter(|at| *at >= 0);
    let end = ended_at_ms.unwrap_or_else(|| app::last_event_at_ms(store));
    (end != 0).then(|| app.started_at_ms.map(|from| end.wrapping_sub(from)))?
}

/// Processes of the application that are neither driver nor executors, by id.
pub fn misc_processes(store: &Store) -> Vec<&MiscProcess> {
    let mut processes: Vec<&MiscProcess> = store.tables().misc_processes.iter().collect();
    processes.sort_by(|a, b| java_order(store.text(a.id), store.text(b.id)));
    processes
}

/// A pattern of addresses of executors' logs, as `spark.history.custom.executor.log.url` has it: `{{NAME}}` stands for
/// an attribute of the executor, and `{{FILE_NAME}}` for each file that its attribute `LOG_FILES` lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogUrlPattern {
    pattern: String,
    /// The attributes that stand in the pattern, each once.
    names: Vec<String>,
    has_file_name: bool,
}

const FILE_NAME: &str = "FILE_NAME";
const LOG_FILES: &str = "LOG_FILES";

impl LogUrlPattern {
    pub fn new(pattern: &str) -> LogUrlPattern {
        let is_name = |name: &str| {
            let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
            !name.is_empty() && name.bytes().all(fits)
        };
        let mut names: Vec<String> = Vec::new();
        let mut has_file_name = false;
        let mut rest = pattern;
        while let Some(at) = rest.find("{{") {
            let inner = &rest[at + 2..];
            match inner.split_once("}}").filter(|(name, _)| is_name(name)) {
                Some((name, after)) => {
                    has_file_name |= name == FILE_NAME;
                    if name != FILE_NAME && !names.iter().any(|known| known == name) {
                        names.push(name.to_owned());
                    }
                    rest = after;
                }
                None => rest = &rest[at + 1..],
            }
        }
        LogUrlPattern { pattern: pattern.to_owned(), names, has_file_name }
    }

    /// Names and addresses of an executor's logs by the pattern; `None` when the executor lacks an attribute that stands
    /// in it, upon which those of the log are shown.
    pub fn urls(&self, attributes: &[(&str, &str)]) -> Option<Vec<(String, String)>> {
        let of = |name: &str| attributes.iter().rev().find(|(n, _)| *n == name).map(|(_, v)| *v);
        let mut url = self.pattern.clone();
        for name in &self.names {
            let value = if name == LOG_FILES { None } else { of(name) };
            url = url.replace(&format!("{{{{{name}}}}}"), value?);
        }
        if !self.has_file_name {
            return Some(vec![("log".to_owned(), url)]);
        }
        let place = format!("{{{{{FILE_NAME}}}}}");
        let mut files: Vec<(String, String)> = Vec::new();
        for file in java_split(of(LOG_FILES)?) {
            if !files.iter().any(|(known, _)| known == file) {
                files.push((file.to_owned(), url.replace(&place, file)));
            }
        }
        Some(files)
    }
}

/// As Java splits at commas: without the empty ones at the end.
fn java_split(list: &str) -> impl Iterator<Item = &str> {
    let end = list.trim_end_matches(',');
    // an empty list is one empty name, a list of commas none
    let is_none = end.is_empty() && !list.is_empty();
    end.split(',').filter(move |_| !is_none)
}

/// Names and addresses of an executor's logs: by the pattern where there is one that fits, as the log has them otherwise.
pub fn log_urls(
    store: &Store,
    logs: &Pairs,
    attributes: &Pairs,
    pattern: Option<&LogUrlPattern>,
) -> Vec<(String, String)> {
    let texts = |pairs: &Pairs| -> Vec<(&str, &str)> {
        pairs.iter().map(|(name, value)| (store.text(*name), store.text(*value))).collect()
    };
    let attributes = if pattern.is_some() { texts(attributes) } else { Vec::new() };
    pattern.and_then(|pattern| pattern.urls(&attributes)).unwrap_or_else(|| {
        let logs = texts(logs).into_iter();
        logs.map(|(name, url)| (name.to_owned(), url.to_owned())).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(pattern: &str, attributes: &[(&str, &str)]) -> Option<Vec<(String, String)>> {
        LogUrlPattern::new(pattern).urls(attributes)
    }

    fn pair(name: &str, url: &str) -> (String, String) {
        (name.to_owned(), url.to_owned())
    }

    #[test]
    fn attributes_stand_for_their_names() {
        let attributes = [("HOST", "a:1"), ("USER", "ann"), ("LOG_FILES", "stdout,stderr,,")];
        let one = urls("http://{{HOST}}/{{USER}}/{{HOST}}", &attributes);
        assert_eq!(one, Some(vec![pair("log", "http://a:1/ann/a:1")]));
        let files = urls("http://{{HOST}}/{{FILE_NAME}}?{{FILE_NAME}}", &attributes);
        let (out, err) = ("http://a:1/stdout?stdout", "http://a:1/stderr?stderr");
        assert_eq!(files, Some(vec![pair("stdout", out), pair("stderr", err)]));
        assert_eq!(urls("x", &[]), Some(vec![pair("log", "x")]));
        assert_eq!(
            urls("{{}}{{a b}}{{{{HOST}}}}", &attributes).map(|u| u[0].1.clone()).as_deref(),
            Some("{{}}{{a b}}{{a:1}}")
        );
    }

    #[test]
    fn what_is_missing_leaves_the_logs_as_they_are() {
        assert_eq!(urls("{{HOST}}", &[]), None);
        assert_eq!(urls("{{FILE_NAME}}", &[("HOST", "a")]), None);
        assert_eq!(urls("{{LOG_FILES}}", &[("LOG_FILES", "a")]), None);
    }
}
