//! One file or folder into an entry: whether Spark would list it, and what its first and last lines say.

use std::path::Path;
use std::sync::Arc;

use ingest::{Candidate, Ended, Error, Form, Glance, Log};

use crate::attempt::{Attempt, Source};
use crate::entry::{Entry, Fingerprint, Trouble};

/// The endings by which Spark knows a codec; it cannot read files with others.
const CODEC_ENDINGS: [&str; 4] = ["lz4", "lzf", "snappy", "zstd"];
/// Endings that Spark cannot read and that can mean nothing else.
const OWN_ENDINGS: [&str; 3] = ["zip", "gz", "zst"];

/// Looks at a candidate. A source that is itself a log is looked at whatever its name.
pub(crate) fn look(candidate: &Candidate, source: &Arc<Source>) -> Entry {
    let fingerprint = Fingerprint::of(candidate);
    let mut entry = Entry { fingerprint, attempts: Vec::new(), trouble: None, end_is_open: false };
    let named = candidate.path == source.path;
    if let Some(why) = not_listed(candidate).filter(|_| !named) {
        entry.trouble = Some(Trouble::NoLog(why.into()));
        return entry;
    }
    match ingest::logs_at(&candidate.path) {
        Ok((logs, _)) => {
            let in_archive = logs.len() > 1 || logs.iter().any(|log| log.path != candidate.path);
            let path: Arc<Path> = candidate.path.as_path().into();
            for log in &logs {
                add(&mut entry, log, source, &path, in_archive);
            }
            if entry.attempts.is_empty() && entry.trouble.is_none() {
                entry.trouble = Some(Trouble::NoLog("no application start in it".into()));
            }
        }
        Err(error) => entry.trouble = Some(trouble(&error)),
    }
    entry
}

/// Reads on until it is known whether the attempts of an entry have ended.
pub(crate) fn look_for_end(entry: &Entry) -> Entry {
    let mut entry = Entry { end_is_open: false, ..entry.clone() };
    for attempt in &mut entry.attempts {
        let mut glance = Glance::default();
        let done = attempt.log().and_then(|log| ingest::glance_at_whole_end(&log, &mut glance));
        if done.is_ok()
            && let Ended::At(at_ms) = glance.ended
        {
            let attempt = Arc::make_mut(attempt);
            (attempt.ended_at_ms, attempt.exit_code) = (Some(at_ms), glance.exit_code);
        }
    }
    entry
}

/// Why Spark does not list a candidate, by what can be seen from outside.
fn not_listed(candidate: &Candidate) -> Option<&'static str> {
    if candidate.size_bytes == 0 {
        return Some("empty");
    }
    match candidate.form {
        Form::File => {
            let name = candidate.path.file_name().unwrap_or_default().to_string_lossy();
            let name = name.strip_suffix(".inprogress").unwrap_or(&name);
            let ending = name.rsplit_once('.').map(|(_, ending)| ending)?;
            let is_known = CODEC_ENDINGS.contains(&ending) || OWN_ENDINGS.contains(&ending);
            (!is_known).then_some("an ending that is no codec of Spark's")
        }
        Form::Rolling { has_status } => (!has_status).then_some("no appstatus file"),
        Form::Databricks => None,
    }
}

fn trouble(error: &Error) -> Trouble {
    match error {
        Error::Nothing { .. } | Error::NotAFile { .. } => {
            Trouble::NoLog("no event log in it".into())
        }
        error => Trouble::Unreadable(error.to_string()),
    }
}

fn add(entry: &mut Entry, log: &Log, source: &Arc<Source>, path: &Arc<Path>, in_archive: bool) {
    // Spark takes an application for running while its log's name says so, whatever is in it
    let glance = if log.in_progress { ingest::glance_at_start(log) } else { ingest::glance(log) };
    let glance = match glance {
        Ok(glance) => glance,
        Err(error) => {
            entry.trouble = Some(trouble(&error));
            return;
        }
    };
    let (Some(app_id), Some(started_at_ms)) = (glance.id, glance.started_at_ms) else { return };
    let ended_at_ms = match glance.ended {
        Ended::At(at_ms) if !log.in_progress => Some(at_ms),
        Ended::Unknown if !log.in_progress => {
            entry.end_is_open = true;
            None
        }
        _ => None,
    };
    entry.attempts.push(Arc::new(Attempt {
        app_id,
        attempt_id: glance.attempt_id,
        name: glance.name.unwrap_or_default(),
        user: glance.user.unwrap_or_default(),
        spark_version: glance.spark_version.unwrap_or_default(),
        started_at_ms,
        ended_at_ms,
        exit_code: glance.exit_code.filter(|_| ended_at_ms.is_some()),
        updated_at_ms: log.modified_at_ms(),
        size_bytes: log.size_bytes(),
        source: source.clone(),
        path: path.clone(),
        inside: in_archive.then(|| log.path.clone()),
    }));
}
