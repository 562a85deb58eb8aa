//! Work on the repository: `cargo run --release -p xtask -- COMMAND`.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a program for developers: it talks, and it reads the clock and the environment"
)]

mod bench;
mod biglog;
mod manylogs;
mod suite;
mod tidy;

use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, Subcommand};

pub(crate) use xtask::Outcome;

#[derive(Parser)]
#[command(about = "Work on the repository")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write a huge but valid event log by repeating the events of a real application.
    Biglog(biglog::Options),
    /// Fill a folder with many small applications made out of one real log.
    Manylogs(manylogs::Options),
    /// Measure the program and Spark's history server on the same log, and write docs/performance.md.
    Bench(Box<bench::Command>),
    /// Check what style can be checked by a program.
    Tidy(tidy::Options),
    /// Compare reports with the answers of Spark's history server over a whole folder of logs.
    Compare(xtask::compare::Options),
    /// Ask a server what Spark's history server is asked, and compare the answers.
    #[command(subcommand)]
    Rest(xtask::rest::Command),
    /// Format, lints and all tests.
    Test,
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Biglog(options) => write_biglog(&options),
        Command::Bench(command) => bench::run(&command),
        Command::Manylogs(options) => manylogs::run(&options),
        Command::Tidy(options) => tidy::run(&options),
        Command::Compare(options) => xtask::compare::run(&options, &mut |line| println!("{line}")),
        Command::Rest(command) => return rest(&command),
        Command::Test => suite::run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::from(2)
        }
    }
}

/// A difference is an answer, with a status of its own.
fn rest(command: &xtask::rest::Command) -> ExitCode {
    match xtask::rest::run(command, &mut |line| println!("{line}")) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::from(2)
        }
    }
}

fn write_biglog(options: &biglog::Options) -> Outcome<()> {
    let started = Instant::now();
    let bytes = biglog::run(options)?;
    let seconds = started.elapsed().as_secs_f64();
    let rate = bytes as f64 / 1e6 / seconds;
    println!("{}: {bytes} bytes of events, {seconds:.1} s, {rate:.0} MB/s", options.out.display());
    Ok(())
}
