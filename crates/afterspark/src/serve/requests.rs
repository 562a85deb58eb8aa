//! A line on stderr for each request. A thread of its own writes them, and when nobody reads there, lines are dropped
//! rather than requests held up. Nothing that a client sends can begin a line or a field.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use serde::Serialize;

use crate::api::Date;

/// Lines that wait to be written.
const WAITING_MAX: usize = 4_096;
/// Characters of a path or a client's name for itself that are told.
const SHOWN_MAX: usize = 2_000;

/// How a request is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogForm {
    /// `key=value`, values in quotes where they need them.
    Text,
    /// An object a line.
    Json,
}

/// What is told of a request.
#[derive(Serialize)]
pub(super) struct Line<'l> {
    pub(super) time: Date,
    pub(super) client: &'l str,
    pub(super) method: &'l str,
    pub(super) uri: &'l str,
    pub(super) status: u16,
    /// Of the body.
    pub(super) bytes: u64,
    pub(super) ms: f64,
    #[serde(skip_serializing_if = "is_empty")]
    pub(super) agent: &'l str,
    /// Why the body broke off.
    #[serde(skip_serializing_if = "is_empty")]
    pub(super) error: &'l str,
}

fn is_empty(text: &&str) -> bool {
    text.is_empty()
}

/// See the module.
pub(super) struct Log {
    form: LogForm,
    lines: SyncSender<String>,
    n_dropped: AtomicU64,
}

impl Log {
    pub(super) fn start(form: LogForm) -> io::Result<Log> {
        let (lines, waiting) = sync_channel::<String>(WAITING_MAX);
        let run = move || {
            while let Ok(line) = waiting.recv() {
                let mut all = line;
                while let Ok(line) = waiting.try_recv() {
                    all.push_str(&line);
                }
                io::stderr().lock().write_all(all.as_bytes()).ok();
            }
        };
        std::thread::Builder::new().name("log".to_owned()).spawn(run)?;
        Ok(Log { form, lines, n_dropped: AtomicU64::new(0) })
    }

    pub(super) fn tell(&self, line: &Line<'_>) {
        let line = match self.form {
            LogForm::Text => text(line),
            // numbers and texts: writing them cannot fail
            LogForm::Json => serde_json::to_string(line).unwrap_or_default() + "\n",
        };
        if let Err(TrySendError::Full(_)) = self.lines.try_send(line) {
            self.n_dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn n_dropped(&self) -> u64 {
        self.n_dropped.load(Ordering::Relaxed)
    }
}

fn text(line: &Line<'_>) -> String {
    let mut out = format!("time={} client={} method=", line.time, line.client);
    push(&mut out, line.method);
    out.push_str(" uri=");
    push(&mut out, line.uri);
    // writing to a string cannot fail
    write!(out, " status={} bytes={} ms={:.3}", line.status, line.bytes, line.ms).ok();
    for (name, value) in [("agent", line.agent), ("error", line.error)] {
        if !value.is_empty() {
            write!(out, " {name}=").ok();
            push(&mut out, value);
        }
    }
    out.push('\n');
    out
}

/// A value, in quotes and escaped where it holds anything but what is plain to read.
fn push(out: &mut String, value: &str) {
    let is_plain = |c: char| c.is_ascii_graphic() && c != '"' && c != '\\';
    let cut = value.char_indices().nth(SHOWN_MAX).map_or(value, |(at, _)| &value[..at]);
    if !cut.is_empty() && cut.chars().all(is_plain) && cut.len() == value.len() {
        out.push_str(cut);
        return;
    }
    out.push('"');
    for c in cut.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            c => out.extend(c.escape_default()),
        }
    }
    if cut.len() < value.len() {
        out.push_str("...");
    }
    out.push('"');
}

/// Tells of something that is no answer to a request.
pub(super) fn warn(what: &str) {
    let line = crate::text::one_line(what, usize::MAX);
    writeln!(io::stderr().lock(), "afterspark: {line}").ok();
}

/// Milliseconds with three decimals.
pub(super) fn ms(took: Duration) -> f64 {
    (took.as_micros() as f64) / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line<'l>(uri: &'l str, agent: &'l str) -> Line<'l> {
        let (method, error, client) = ("GET", "", "127.0.0.1");
        let (status, bytes, ms, time) = (200, 12, 1.5, Date(0));
        Line { time, client, method, uri, status, bytes, ms, agent, error }
    }

    #[test]
    fn nothing_that_is_sent_begins_a_line_or_a_field() {
        let told = text(&line("/a\n/b", "x status=500 \"\\\u{1b}[2J\u{2028}"));
        let expected = "time=1970-01-01T00:00:00.000GMT client=127.0.0.1 method=GET uri=\"/a\\n/b\" status=200 \
                        bytes=12 ms=1.500 agent=\"x status=500 \\\"\\\\\\u{1b}[2J\\u{2028}\"\n";
        assert_eq!(told, expected);
        let long = "x".repeat(10_000);
        assert!(text(&line(&long, "")).len() < 2_200);
    }
}
