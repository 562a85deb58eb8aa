//! The command line: verbs, what they share, and how failures end.

mod apps;
mod completions;
mod report;
mod serve;
mod size;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::text;

/// Exit codes, in the help of every verb.
const EXIT_CODES: &str = "\
Exit codes: 0 done; 2 could not do it (usage, unreadable log, no Spark events). \
When some logs of many cannot be read, the others are shown and the code is 2.";

#[derive(Parser)]
#[command(name = "afterspark", version, about = "Reads Apache Spark event logs and reports what ran and where the time went", after_help = EXIT_CODES)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Report(report::Report),
    Apps(apps::Apps),
    Serve(serve::Serve),
    Completions(completions::Completions),
}

/// What a verb came to.
enum Outcome {
    Done,
    /// Something was shown, and something else could not be.
    Partly,
}

/// Why nothing could be done.
struct Failure {
    what: String,
    hint: Option<String>,
}

impl From<ingest::Error> for Failure {
    fn from(error: ingest::Error) -> Self {
        Failure { what: error.to_string(), hint: error.hint().map(str::to_owned) }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure { what: format!("cannot write the answer: {error}"), hint: None }
    }
}

/// Runs the verb that was asked for.
pub(crate) fn run() -> ExitCode {
    let done = match Arguments::parse().verb {
        Verb::Report(verb) => verb.run(),
        Verb::Apps(verb) => verb.run(),
        Verb::Serve(verb) => verb.run(),
        Verb::Completions(verb) => verb.run(),
    };
    match done {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Partly) => ExitCode::from(2),
        Err(failure) => {
            complain(&failure.what, failure.hint.as_deref());
            ExitCode::from(2)
        }
    }
}

/// Talk, as opposed to the answer, goes to stderr, a line each; when nobody listens there it is lost, as talk is.
fn complain(what: &str, hint: Option<&str>) {
    let line = |text: &str| text::one_line(text, usize::MAX);
    let mut err = io::stderr().lock();
    writeln!(err, "afterspark: {}", line(what)).ok();
    if let Some(hint) = hint {
        writeln!(err, "hint: {}", line(hint)).ok();
    }
}

/// Writes the answer; a reader that closed its end early (`| head`) is content.
fn answer(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => Ok(done?),
    }
}
