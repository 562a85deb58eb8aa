//! `afterspark apps`: the applications of a folder, without replaying their logs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ingest::{Ended, Glance, Log};
use serde::Serialize;

use super::{EXIT_CODES, Failure, Outcome, answer, complain};
use crate::report::Table;
use crate::text::{self, MISSING, bytes, duration, instant};

/// List the applications whose event logs are in a folder
#[derive(Args)]
#[command(after_help = format!("Examples:
  afterspark apps /logs
  afterspark apps --format json /logs

Only the first and last lines of each log are read. A log whose end cannot be read that way says so.

{EXIT_CODES}"))]
pub(super) struct Apps {
    /// Folders of event logs, or single logs
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// How to write the list
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ListFormat {
    Text,
    Json,
    Csv,
}

/// An application of the list. Members of which the log says nothing are absent.
#[derive(Serialize)]
struct App<'l> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spark_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at_ms: Option<i64>,
    /// `ended`, `no-end` (it runs still, or its driver died) or `unknown`.
    state: &'static str,
    log: &'l str,
    log_bytes: u64,
    modified_at_ms: i64,
}

impl Apps {
    pub(super) fn run(&self) -> Result<Outcome, Failure> {
        let mut outcome = Outcome::Done;
        let mut logs = Vec::new();
        for folder in &self.folders {
            match ingest::logs_at(folder) {
                Ok((found, errors)) => {
                    let nothing = found.is_empty() && errors.is_empty();
                    let nothing = nothing.then(|| ingest::Error::Nothing { path: folder.clone() });
                    for error in errors.into_iter().chain(nothing) {
                        complain(&error.to_string(), error.hint());
                        outcome = Outcome::Partly;
                    }
                    logs.extend(found);
                }
                Err(error) => {
                    complain(&error.to_string(), error.hint());
                    outcome = Outcome::Partly;
                }
            }
        }
        let mut apps = Vec::new();
        for log in &logs {
            match ingest::glance(log) {
                Ok(glance) if glance == Glance { ended: glance.ended, ..Glance::default() } => {
                    complain(&format!("no application start in {}", log.path.display()), None);
                    outcome = Outcome::Partly;
                }
                Ok(glance) => apps.push(app(log, glance)),
                Err(error) => {
                    complain(&error.to_string(), error.hint());
                    outcome = Outcome::Partly;
                }
            }
        }
        apps.sort_by(|a, b| {
            (b.started_at_ms, &a.id, &a.attempt_id).cmp(&(a.started_at_ms, &b.id, &b.attempt_id))
        });
        let list = match self.format {
            ListFormat::Text if apps.is_empty() => String::new(),
            ListFormat::Text => lines(&apps),
            ListFormat::Json => serde_json::to_string_pretty(&apps).unwrap_or_default() + "\n",
            ListFormat::Csv => csv(&apps),
        };
        answer(|out| out.write_all(list.as_bytes()))?;
        Ok(outcome)
    }
}

fn app(log: &Log, glance: Glance) -> App<'_> {
    let (ended_at_ms, state) = match glance.ended {
        Ended::At(at) => (Some(at), "ended"),
        Ended::No => (None, "no-end"),
        Ended::Unknown => (None, "unknown"),
    };
    App {
        id: glance.id,
        attempt_id: glance.attempt_id,
        name: glance.name,
        user: glance.user,
        spark_version: glance.spark_version,
        started_at_ms: glance.started_at_ms,
        ended_at_ms,
        state,
        log: &log.name,
        log_bytes: log.size_bytes(),
        modified_at_ms: log.modified_at_ms(),
    }
}

/// Columns of the list on a terminal.
const WIDTH: usize = 100;

fn lines(apps: &[App<'_>]) -> String {
    let mut table =
        Table::new(&["<application", "<started (UTC)", "ran", "<Spark", "log", "<name"]);
    for app in apps {
        let id = app.id.as_deref().unwrap_or(app.log);
        let attempt = app.attempt_id.as_ref().map(|a| format!(" attempt {a}")).unwrap_or_default();
        let ran = match (app.started_at_ms, app.ended_at_ms, app.state) {
            (Some(from), Some(to), _) => duration(to.saturating_sub(from)),
            (_, _, "no-end") => "no end".to_owned(),
            _ => MISSING.to_owned(),
        };
        table.row(vec![
            text::one_line(&format!("{id}{attempt}"), 44),
            app.started_at_ms
                .map_or(MISSING.to_owned(), |at| instant(at).trim_end_matches(" UTC").to_owned()),
            ran,
            text::one_line(app.spark_version.as_deref().unwrap_or(MISSING), 8),
            bytes(app.log_bytes as i64),
            text::one_line(app.name.as_deref().unwrap_or_default(), WIDTH),
        ]);
    }
    let (heading, lines) = table.lines();
    let mut out = String::new();
    out.push_str(&heading);
    out.push('\n');
    for (app, line) in apps.iter().zip(lines) {
        out.push_str(&text::one_line(&line, WIDTH));
        out.push('\n');
        // where the name does not tell the log, it has a line of its own
        let id = app.id.as_deref().unwrap_or_default();
        if !app.log.contains(id) || id.is_empty() {
            out.push_str(&text::one_line(&format!("    in {}", app.log), WIDTH));
            out.push('\n');
        }
    }
    out
}

fn csv(apps: &[App<'_>]) -> String {
    let mut out = "id,attempt_id,name,user,spark_version,started_at_ms,ended_at_ms,state,log,log_bytes,modified_at_ms\n".to_owned();
    for app in apps {
        let text =
            |t: &Option<String>| t.as_deref().map(crate::report::csv_field).unwrap_or_default();
        let number = |n: Option<i64>| n.map_or_else(String::new, |n| n.to_string());
        let cells = [
            text(&app.id),
            text(&app.attempt_id),
            text(&app.name),
            text(&app.user),
            text(&app.spark_version),
            number(app.started_at_ms),
            number(app.ended_at_ms),
            app.state.to_owned(),
            crate::report::csv_field(app.log),
            app.log_bytes.to_string(),
            app.modified_at_ms.to_string(),
        ];
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    out
}
