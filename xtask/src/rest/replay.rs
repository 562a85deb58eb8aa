//! `xtask rest replay`: every question of a recording, asked of a running server.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::difference::How;
use super::exceptions::Exceptions;
use super::record::{Record, method_and_path};
use super::recording::{self, Recording};
use super::tally::Tally;
use super::{API, EXCEPTIONS, Outcome};
use crate::http::Client;

#[derive(clap::Args)]
pub struct Options {
    /// Folder of recorded answers: APP[_ATTEMPT].jsonl.zst or .gz
    recorded: PathBuf,
    /// http://127.0.0.1:PORT of the server to ask
    base_url: String,
    /// Only files whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Only classes of endpoints whose name contains this
    #[arg(long, default_value = "")]
    class: String,
    /// Differing answers shown of each class
    #[arg(long, default_value_t = 3)]
    show: usize,
    /// Files that are replayed at a time
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Table of the differences that are meant
    #[arg(long, default_value = EXCEPTIONS, hide_default_value = true)]
    exceptions: PathBuf,
    #[command(flatten)]
    how: How,
}

/// Asks, compares and prints; whether all answers are as recorded.
///
/// # Errors
/// When a recording cannot be read.
pub(super) fn run(options: &Options, print: &mut dyn FnMut(String)) -> Outcome<bool> {
    let exceptions = Exceptions::load(&options.exceptions)?;
    let mut files = recording::files(&options.recorded)?;
    files.retain(|path| path.to_string_lossy().contains(&options.only));
    let tally = side_by_side(&files, options.threads, Tally::new(options.show), |path| {
        let is_wanted = |record: &Record| record.class.contains(&options.class);
        file(path, &options.base_url, options.how, &exceptions, options.show, is_wanted)
    })?;
    tally.print(&exceptions, print);
    Ok(tally.n_wrong() == 0)
}

/// Replays the wanted records of one file.
///
/// # Errors
/// When the recording cannot be read.
pub fn file(
    path: &Path,
    base_url: &str,
    how: How,
    exceptions: &Exceptions,
    show: usize,
    is_wanted: impl Fn(&Record) -> bool,
) -> Outcome<Tally> {
    let recording = Recording::load(path)?;
    let is_ended = recording.is_ended();
    let mut client = Client::new(base_url)?;
    let mut tally = Tally::new(show);
    for golden in recording.records.iter().filter(|record| is_wanted(record)) {
        let (method, path) = method_and_path(&golden.path);
        match client.ask(method, &format!("{API}{path}")) {
            Ok(answer) => {
                let ours = Record::of(&golden.path, &golden.class, &answer);
                tally.compare(golden, &ours, is_ended, how, exceptions);
            }
            Err(error) => tally.missing(golden, &error.to_string()),
        }
    }
    Ok(tally)
}

/// Does each piece of work on one of some threads and adds up what comes out.
pub(super) fn side_by_side<T: Sync>(
    work: &[T],
    n_threads: usize,
    start: Tally,
    one: impl Fn(&T) -> Outcome<Tally> + Sync,
) -> Outcome<Tally> {
    let next = AtomicUsize::new(0);
    let sum = Mutex::new(Ok(start));
    std::thread::scope(|scope| {
        for _ in 0..n_threads.clamp(1, work.len().max(1)) {
            scope.spawn(|| {
                while let Some(piece) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let done = one(piece);
                    let Ok(mut sum) = sum.lock() else { return };
                    match (done, &mut *sum) {
                        (Ok(more), Ok(sum)) => sum.add(more),
                        (Err(error), sum @ Ok(_)) => *sum = Err(error),
                        (_, Err(_)) => return,
                    }
                }
            });
        }
    });
    sum.into_inner().map_err(|_| "a thread panicked")?
}
