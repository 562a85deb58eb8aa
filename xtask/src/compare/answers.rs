//! The history server's answers about one application attempt, as a capture keeps them.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde_json::Value;

use super::Outcome;

/// Bodies of the 200 answers, by their path below the attempt (`/jobs`, `/stages/3/0/taskSummary`).
pub struct Golden {
    by_path: BTreeMap<String, Value>,
}

impl Golden {
    /// # Errors
    /// When the file cannot be read.
    pub fn load(path: &Path) -> Outcome<Golden> {
        let file = std::fs::File::open(path)?;
        let mut by_path = BTreeMap::new();
        for line in BufReader::new(flate2::read::GzDecoder::new(file)).lines() {
            let mut record: Value = serde_json::from_str(&line?)?;
            let body = record["body"].take();
            if record["status"] != 200 || body.is_null() {
                continue;
            }
            let full = record["path"].as_str().unwrap_or_default();
            by_path.insert(below_attempt(full), body);
        }
        Ok(Golden { by_path })
    }

    pub(super) fn get(&self, path: &str) -> Option<&Value> {
        self.by_path.get(path)
    }

    /// The elements of a list answer; none when it was not captured.
    pub(super) fn list(&self, path: &str) -> &[Value] {
        self.get(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}

/// Of `/applications/ID/2/jobs` and `/applications/ID/jobs`: `/jobs`.
fn below_attempt(path: &str) -> String {
    let rest = path.strip_prefix("/applications/").unwrap_or(path);
    let rest = rest.find('/').map_or("", |at| &rest[at..]);
    let first = rest.trim_start_matches('/').split(['/', '?']).next().unwrap_or_default();
    let is_attempt = !first.is_empty() && first.bytes().all(|b| b.is_ascii_digit());
    if is_attempt { rest[1 + first.len()..].to_owned() } else { rest.to_owned() }
}
