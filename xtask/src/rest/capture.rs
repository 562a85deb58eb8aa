//! `xtask rest capture`: every answer of a running server, as a recording.

use std::path::PathBuf;
use std::sync::Mutex;

use super::matrix::{self, Attempt};
use super::record::{Record, method_and_path};
use super::recording::{Recording, neutral};
use super::replay::side_by_side;
use super::tally::Tally;
use super::{API, Outcome};
use crate::http::Client;
use crate::json::Json;

#[derive(clap::Args)]
pub struct Options {
    /// http://127.0.0.1:PORT of the server, which should be just started
    base_url: String,
    /// Folder for the recording
    out: PathBuf,
    /// Folder of another recording, from OUT: only what differs from it is kept
    #[arg(long)]
    base: Option<String>,
    /// Attempts that are walked at a time
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

/// What is walked: the server, or an attempt.
pub(super) enum Part {
    Server,
    Attempt(Attempt),
}

impl Part {
    pub(super) fn name(&self) -> String {
        match self {
            Part::Server => "_server".to_owned(),
            Part::Attempt(attempt) => attempt.name(),
        }
    }

    pub(super) fn walk(&self, applications: &Json, ask: &mut matrix::Ask<'_>) -> Outcome<()> {
        match self {
            Part::Server => matrix::server(applications, ask),
            Part::Attempt(attempt) => matrix::attempt(attempt, ask),
        }
    }
}

/// The server first, then all attempts that it lists.
pub(super) fn parts(client: &mut Client) -> Outcome<(Json, Vec<Part>)> {
    let answer = client.get(&format!("{API}/applications"))?;
    let applications: Json = serde_json::from_slice(&answer.body)?;
    let attempts = matrix::attempts(&applications).into_iter().map(Part::Attempt);
    let parts = std::iter::once(Part::Server).chain(attempts).collect();
    Ok((applications, parts))
}

/// Asks a server.
pub(super) fn ask(client: &mut Client, class: &str, recorded: &str) -> Outcome<Record> {
    let (method, path) = method_and_path(recorded);
    let answer = client.ask(method, &format!("{API}{path}"));
    let answer = answer.map_err(|error| format!("{recorded}: {error}"))?;
    Ok(Record::of(recorded, class, &answer))
}

pub(super) fn run(options: &Options, print: &mut dyn FnMut(String)) -> Outcome<()> {
    let (applications, parts) = parts(&mut Client::new(&options.base_url)?)?;
    let sums = Mutex::new((0, 0));
    side_by_side(&parts, options.threads, Tally::default(), |part| {
        let mut client = Client::new(&options.base_url)?;
        let mut records = Vec::new();
        part.walk(&applications, &mut |class, path| {
            let record = ask(&mut client, class, path)?;
            let body = record.json().cloned();
            records.push(neutral(record));
            Ok(body)
        })?;
        let recording = Recording { name: part.name(), records };
        let n_bytes = recording.write(&options.out, options.base.as_deref())?;
        if let Ok(mut sums) = sums.lock() {
            *sums = (sums.0 + recording.records.len(), sums.1 + n_bytes);
        }
        Ok(Tally::default())
    })?;
    let (n_answers, n_bytes) = *sums.lock().map_err(|_| "a thread panicked")?;
    print(format!("{} files, {n_answers} answers, {n_bytes} bytes", parts.len()));
    Ok(())
}
