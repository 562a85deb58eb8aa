//! The history server's answers about one application attempt, as a capture keeps them.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::Outcome;
use crate::rest::{Content, Recording};

/// Bodies of the 200 answers, by their path below the attempt (`/jobs`, `/stages/3/0/taskSummary`).
pub struct Golden {
    by_path: BTreeMap<String, Value>,
}

impl Golden {
    /// # Errors
    /// When the file cannot be read.
    pub fn load(path: &Path) -> Outcome<Golden> {
        let mut by_path = BTreeMap::new();
        for record in Recording::load(path)?.records {
            match record.content {
                Content::Json(body) if record.status == 200 => {
                    by_path.insert(below_attempt(&record.path), body.into());
                }
                _ => {}
            }
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
