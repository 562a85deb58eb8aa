//! `xtask rest`: the REST API of a server beside that of Spark's own history server, question by question.
//!
//! `capture` records a server's answers, `replay` asks a server what was recorded and compares, and `live` starts Spark's
//! server and ours on one folder and asks both.

mod capture;
mod difference;
mod exceptions;
mod live;
mod matrix;
mod record;
mod recording;
mod replay;
mod sha1;
mod tally;
mod zip;

pub use difference::{Difference, How, compare};
pub use exceptions::Exceptions;
pub use record::{Content, Record, method_and_path};
pub use recording::{Recording, attempt_of, files, find};
pub use replay::file as replay_file;
pub use tally::Tally;

use crate::Outcome;

/// What recorded paths are below.
const API: &str = "/api/v1";
/// The table of the differences that are meant.
pub const EXCEPTIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/differences.tsv");

#[derive(clap::Subcommand)]
pub enum Command {
    /// Record every answer of a running server
    Capture(capture::Options),
    /// Ask a running server every recorded question, and compare
    Replay(replay::Options),
    /// Start Spark's history server and ours on one folder, ask both everything, and compare
    Live(live::Options),
}

/// Runs a command; whether nothing differs.
///
/// # Errors
/// When something cannot be read, started or written.
pub fn run(command: &Command, print: &mut dyn FnMut(String)) -> Outcome<bool> {
    match command {
        Command::Capture(options) => capture::run(options, print).map(|()| true),
        Command::Replay(options) => replay::run(options, print),
        Command::Live(options) => live::run(options, print),
    }
}
