//! `afterspark report`: what ran, and where the time went.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use clap::Args;
use ingest::{Log, Options};
use store::{GapKind, Severity, Store};

use super::{EXIT_CODES, Failure, Outcome, answer, complain, size};
use crate::{
    cache::Cache,
    progress::Progress,
    report::{self, Format, Report as Answer, StagePick},
    settings,
    text::Paint,
};

/// Report what ran and where the time went, for each event log
#[derive(Args)]
#[command(after_help = format!("Examples:
  afterspark report /logs/app-20261201001103-0000
  afterspark report --stage 12 --format json /logs/eventlog_v2_application_1700000000000_0042

A LOG is an event log file (plain, zstd, lz4, snappy, lzf or gzip, told by content),
a rolling folder (eventlog_v2_…), a Databricks folder, a zip downloaded from a
history server, or a folder of logs. With --stage, csv is a line for each metric.

{EXIT_CODES}"))]
pub(super) struct Report {
    /// Event logs, or folders of them
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// How to write the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Add the five-number summary of every metric of this stage (or "all"); can be repeated
    #[arg(long, value_name = "ID[.ATTEMPT]")]
    stage: Vec<StagePick>,
    /// Only what came after this stage: stages with a higher id, and what ran them
    #[arg(long, value_name = "N")]
    since_stage: Option<i32>,
    /// Memory to stay within, for example 1g [default: a quarter of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    memory: Option<u64>,
    /// Where logs that were read are kept in compact form [default: the variable `AFTERSPARK_CACHE_DIR`, or the user's cache folder]
    #[arg(long, value_name = "DIR")]
    cache_dir: Option<PathBuf>,
    /// Read the logs anew and keep nothing
    #[arg(long, conflicts_with = "cache_dir")]
    no_cache: bool,
    /// Threads to read with [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

impl Report {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        let n_threads = self.threads.map_or_else(settings::n_threads, usize::from);
        let memory_bytes = self.memory.unwrap_or_else(settings::memory_bytes);
        let options = Options::within(n_threads, memory_bytes);
        let dir =
            if self.no_cache { None } else { self.cache_dir.clone().or_else(settings::cache_dir) };
        let cache = Cache::new(dir);
        let (logs, mut outcome) = self.find_logs();
        let mut writer = report::writer(self.format, Paint::for_stdout());
        let mut warned = false;
        for log in &logs {
            let mut warn = |what: String| {
                if !std::mem::replace(&mut warned, true) {
                    complain(&what, None);
                }
            };
            // a bug that one log brings out must not cost the reports on the others
            let shown = catch_unwind(AssertUnwindSafe(|| {
                let report = self.report(log, &cache, options, &mut warn)?;
                answer(|out| writer.next(&report, out))
            }));
            let shown = shown.unwrap_or_else(|_| {
                let what = format!("cannot report on {}: stopped by a bug", log.path.display());
                Err(Failure {
                    what,
                    hint: Some("please report it, with the log if you may".to_owned()),
                })
            });
            match shown {
                Ok(()) => {}
                Err(failure) => {
                    complain(&failure.what, failure.hint.as_deref());
                    outcome = Outcome::Partly;
                }
            }
        }
        answer(|out| writer.end(out))?;
        Ok(outcome)
    }

    fn find_logs(&self) -> (Vec<Log>, Outcome) {
        let mut found = Vec::new();
        let mut outcome = Outcome::Done;
        for path in &self.logs {
            match ingest::logs_at(path) {
                Ok((logs, errors)) => {
                    let nothing = logs.is_empty() && errors.is_empty();
                    let nothing = nothing.then(|| ingest::Error::Nothing { path: path.clone() });
                    for error in errors.into_iter().chain(nothing) {
                        complain(&error.to_string(), error.hint());
                        outcome = Outcome::Partly;
                    }
                    found.extend(logs);
                }
                Err(error) => {
                    complain(&error.to_string(), error.hint());
                    outcome = Outcome::Partly;
                }
            }
        }
        (found, outcome)
    }

    fn report(
        &self,
        log: &Log,
        cache: &Cache,
        options: Options,
        warn: &mut dyn FnMut(String),
    ) -> Result<Answer, Failure> {
        let progress = Progress::new(&log.name, log.size_bytes());
        let opened = cache.open(log, options, &|bytes| progress.set(bytes), warn);
        progress.done();
        let (store, _origin) = opened?;
        if store.tables().app.n_events == 0 {
            return Err(no_events(&store, log));
        }
        let scope = views::Scope { since_stage: self.since_stage };
        report::of(store, &log.name, scope, &self.stage).map_err(|what| Failure {
            hint: Some("--format csv lists all stages".to_owned()),
            what: format!("{what} in {}", log.path.display()),
        })
    }
}

/// Why there is nothing to report.
fn no_events(store: &Store, log: &Log) -> Failure {
    let path = log.path.display();
    let unreadable = views::gaps(store)
        .into_iter()
        .find(|gap| gap.severity == Severity::Error && gap.kind != GapKind::BadLine.name());
    match unreadable {
        Some(gap) => {
            let detail =
                if gap.detail.is_empty() { String::new() } else { format!(" ({})", gap.detail) };
            let (kind, meaning) = (gap.kind, gap.meaning);
            Failure {
                what: format!("no Spark events can be read from {path}: {kind}{detail}, {meaning}"),
                hint: None,
            }
        }
        None => {
            let hint = "is it an event log? (spark.eventLog.enabled writes them; driver logs are something else)";
            Failure { what: format!("no Spark events in {path}"), hint: Some(hint.to_owned()) }
        }
    }
}
