//! Recordings: a folder with the answers of a server, a file for each application attempt and one, `_server`, for what is
//! asked of the server itself.
//!
//! A file is lines of JSON, gzip or zstd. Its first line may name a folder of another recording, `{"base":"../4.3"}`:
//! then the answers are those of the file of the same name there, except for the ones that follow; `without` in the first
//! line lists what was not asked.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Outcome;
use super::difference::without_host;
use super::record::{Content, Record};
use crate::json::{Form, Json};

/// In names of files with the pages of the user interface, which are no answers.
const PAGES: &str = ".pages";
const ENDINGS: [&str; 2] = [".jsonl.zst", ".jsonl.gz"];
/// Answers of an application repeat each other, far apart: a window over all of them keeps each once.
const LEVEL: i32 = 19;
const WINDOW_LOG: u32 = 27;
const NEUTRAL_PLACE: &str = "file:///logs";

/// An attempt's answers, in the order in which they were asked for.
pub struct Recording {
    pub name: String,
    pub records: Vec<Record>,
}

#[derive(Deserialize)]
struct Base {
    base: String,
    #[serde(default)]
    without: HashSet<String>,
}

impl Recording {
    /// # Errors
    /// When the file is not a recording.
    pub fn load(path: &Path) -> Outcome<Recording> {
        let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let file = File::open(path).map_err(|e| named(&e))?;
        let is_gzip = path.to_string_lossy().ends_with(".gz");
        let input: Box<dyn Read> = if is_gzip {
            Box::new(flate2::read::GzDecoder::new(file))
        } else {
            let mut decoder = zstd::Decoder::new(file)?;
            decoder.window_log_max(WINDOW_LOG)?;
            Box::new(decoder)
        };
        let mut records = read(BufReader::new(input), path).map_err(|e| named(&e))?;
        if is_gzip {
            // These were recorded by a client that sends a full stop as it is.
            for record in &mut records {
                record.path = record.path.replace("%2e", ".");
            }
        }
        let file_name = path.file_name().map(|n| n.to_string_lossy().into_owned());
        let name = file_name.as_deref().and_then(attempt_of).unwrap_or_default().to_owned();
        Ok(Recording { name, records })
    }

    /// Writes the file into a folder; with a base, only what is another answer there.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn write(&self, folder: &Path, base: Option<&str>) -> Outcome<u64> {
        let file_name = format!("{}{}", self.name, ENDINGS[0]);
        let mut lines = Vec::new();
        fs::create_dir_all(folder)?;
        if let Some(base) = base {
            let other = Recording::load(&folder.join(base).join(&file_name))?;
            let mut known: HashMap<&str, &Record> =
                other.records.iter().map(|r| (r.path.as_str(), r)).collect();
            let mut own = Vec::new();
            for record in &self.records {
                if known.remove(record.path.as_str()).is_none_or(|other| !is_same(record, other)) {
                    own.extend(record.to_line());
                }
            }
            let mut without: Vec<&str> = known.into_keys().collect();
            without.sort_unstable();
            let list = Json::List(without.into_iter().map(Json::from).collect());
            let fields = vec![("base".to_owned(), base.into()), ("without".to_owned(), list)];
            Form::line(&Json::Object(fields)).write(&[], &mut lines);
            lines.extend(own);
        } else {
            lines.extend(self.records.iter().flat_map(Record::to_line));
        }
        let mut encoder = zstd::bulk::Compressor::new(LEVEL)?;
        encoder.long_distance_matching(true)?;
        encoder.window_log(WINDOW_LOG)?;
        let packed = encoder.compress(&lines)?;
        fs::write(folder.join(file_name), &packed)?;
        Ok(packed.len() as u64)
    }

    /// Whether the attempt was completed, as its own answer says.
    pub fn is_ended(&self) -> bool {
        let answers = self.records.iter().filter(|record| record.class == "application");
        answers.filter_map(Record::json).find_map(is_completed).unwrap_or(true)
    }
}

/// Of an application with one attempt, or of an attempt.
pub(super) fn is_completed(application: &Json) -> Option<bool> {
    let attempt = match application.get("attempts").map(Json::list) {
        None => application,
        Some([attempt]) => attempt,
        Some(_) => return None,
    };
    Some(attempt.get("completed") != Some(&Json::Bool(false)))
}

fn read(input: impl BufRead, path: &Path) -> Outcome<Vec<Record>> {
    let mut records = Vec::new();
    let mut base = None;
    for (i, line) in input.lines().enumerate() {
        let line = line?;
        if i == 0 && line.starts_with("{\"base\"") {
            base = Some(serde_json::from_str::<Base>(&line)?);
        } else {
            records.push(Record::from_line(&line)?);
        }
    }
    let Some(base) = base else { return Ok(records) };
    let folder = path.parent().unwrap_or(Path::new("")).join(base.base);
    let other = Recording::load(&folder.join(path.file_name().unwrap_or_default()))?;
    let mut own: HashMap<String, Record> =
        records.into_iter().map(|r| (r.path.clone(), r)).collect();
    let kept = other.records.into_iter().filter(|record| !base.without.contains(&record.path));
    let mut all: Vec<Record> = kept.map(|r| own.remove(&r.path).unwrap_or(r)).collect();
    let mut rest: Vec<Record> = own.into_values().collect();
    rest.sort_by(|a, b| a.path.cmp(&b.path));
    all.extend(rest);
    Ok(all)
}

/// Whether a base already says what a record says.
fn is_same(record: &Record, other: &Record) -> bool {
    record.status == other.status
        && record.kind == other.kind
        && record.headers == other.headers
        && record.content == other.content
        && record.sha1 == other.sha1
}

/// The record without what tells where and when the server was asked; then its exact bytes say nothing either.
pub(super) fn neutral(record: Record) -> Record {
    let (content, is_exact) = match record.content {
        Content::Json(mut json) => {
            let is_exact = !make_neutral(&mut json);
            (Content::Json(json), is_exact)
        }
        Content::Text(text) => {
            let neutral = without_host(&text);
            let is_exact = neutral == text;
            (Content::Text(neutral), is_exact)
        }
        Content::Zip(entries) => (Content::Zip(entries), false),
        Content::Unknown => (Content::Unknown, true),
    };
    let (n_bytes, sha1) = if is_exact { (record.n_bytes, record.sha1) } else { (0, String::new()) };
    Record { n_bytes, sha1, content, ..record }
}

/// Whether there was anything to make neutral.
fn make_neutral(json: &mut Json) -> bool {
    let mut any = false;
    match json {
        Json::List(items) => {
            for item in items {
                any |= make_neutral(item);
            }
        }
        Json::Object(fields) => {
            for (key, value) in fields {
                let neutral: Json = match key.as_str() {
                    "logSourceName" | "logSourceFullPath" => NEUTRAL_PLACE.into(),
                    "lastUpdated" => "1970-01-01T00:00:00.000GMT".into(),
                    "lastUpdatedEpoch" => 0.into(),
                    _ => {
                        any |= make_neutral(value);
                        continue;
                    }
                };
                *value = neutral;
                any = true;
            }
        }
        _ => {}
    }
    any
}

/// The files of a recording, by name; those of pages of the user interface are no answers.
///
/// # Errors
/// When the folder cannot be listed.
pub fn files(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let list = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut found = Vec::new();
    for entry in list {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if attempt_of(&name).is_some_and(|attempt| !attempt.contains(PAGES)) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The file of an attempt.
pub fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let mut paths = ENDINGS.iter().map(|ending| folder.join(format!("{name}{ending}")));
    paths.find(|path| path.exists())
}

/// `app-1_2` of `app-1_2.jsonl.gz`; `None` for a file that is no recording.
pub fn attempt_of(file_name: &str) -> Option<&str> {
    ENDINGS.iter().find_map(|ending| file_name.strip_suffix(ending))
}
