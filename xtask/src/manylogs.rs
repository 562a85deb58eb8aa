//! `xtask manylogs LOG OUT N`: a folder of N small applications, each a copy of one real log under its own id and time.
//!
//! What is the same in all copies is compressed once: a log is four zstd frames one after the other, as Spark itself ends
//! a frame each time it flushes. So making them is bound by creating files. The same arguments give the same bytes.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use xtask::json::{Form, Json};

use crate::Outcome;
use crate::biglog::read_events;

/// Milliseconds between the starts of two applications.
const STEP_MS: u64 = 1_000;
const LEVEL: i32 = 3;
/// Four digits of a number stand behind the day in an application's id.
const PER_DAY: usize = 10_000;

#[derive(Args)]
pub(crate) struct Options {
    /// Real event log (plain or zstd) of a small application
    log: PathBuf,
    /// Folder for the logs
    out: PathBuf,
    /// How many
    n: usize,
}

pub(crate) fn run(options: &Options) -> Outcome<()> {
    write(&options.log, &options.out, options.n)
}

/// Writes the logs that are not there yet, so that a folder can be made larger.
pub(crate) fn write(log: &Path, out: &Path, n: usize) -> Outcome<()> {
    let events = read_events(log)?;
    let position = |kind: &str| {
        let is = |event: &Json| event.get("Event").is_some_and(|e| e.text().ends_with(kind));
        events.iter().position(is).ok_or(format!("{}: no {kind}", log.display()))
    };
    let start = position("ApplicationStart")?;
    let end = position("ApplicationEnd")?;
    if end < start {
        return Err(format!("{}: ends before it starts", log.display()).into());
    }
    let before = frame(&events[..start])?;
    let between = frame(&events[start + 1..end])?;
    let after = frame(&events[end + 1..])?;
    fs::create_dir_all(out)?;
    for i in 0..n {
        let id = id(i);
        let path = out.join(format!("{id}.zstd"));
        if path.exists() {
            continue;
        }
        let mut first = events[start].clone();
        first.set("App ID", id);
        first.set("App Name", format!("small application {i}"));
        let mut last = events[end].clone();
        for event in [&mut first, &mut last] {
            let at_ms = event.get("Timestamp").and_then(Json::number).unwrap_or(0);
            event.set("Timestamp", at_ms + i as u64 * STEP_MS);
        }
        let frames = [&before, &frame(&[first])?, &between, &frame(&[last])?, &after];
        // Whole or not there: a run that was stopped can be gone on with.
        let unfinished = out.join(".unfinished");
        fs::write(&unfinished, frames.map(Vec::as_slice).concat())?;
        fs::rename(unfinished, path)?;
    }
    Ok(())
}

/// Id of the i-th application.
pub(crate) fn id(i: usize) -> String {
    format!("app-{:08}-{:04}", i / PER_DAY, i % PER_DAY)
}

fn frame(events: &[Json]) -> Outcome<Vec<u8>> {
    if events.is_empty() {
        return Ok(Vec::new());
    }
    let mut lines = Vec::new();
    for event in events {
        Form::line(event).write(&[], &mut lines);
    }
    Ok(zstd::encode_all(lines.as_slice(), LEVEL)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_own_id_and_time() {
        let log =
            Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/logs/local-1796085595791"));
        let out = std::env::temp_dir().join(format!("manylogs-{}", std::process::id()));
        write(log, &out, 2).unwrap();
        let template = read_events(log).unwrap();
        let copies = [0, 1].map(|i| read_events(&out.join(format!("{}.zstd", id(i)))).unwrap());
        fs::remove_dir_all(&out).unwrap();
        let differing = |a: &[Json], b: &[Json]| a.iter().zip(b).filter(|(a, b)| a != b).count();
        assert!(copies.iter().all(|copy| copy.len() == template.len()));
        // Start and end; of the first copy the end is where it was.
        assert_eq!(differing(&template, &copies[0]), 1);
        assert_eq!(differing(&copies[0], &copies[1]), 2);
    }
}
