//! Applications and their attempts, as the first and last lines of their logs tell.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ingest::Log;

/// A folder of logs, or a single log, that is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// As the user named it; the place when it has no name.
    pub name: String,
    /// `file:///…`
    pub place: String,
    pub path: PathBuf,
}

/// An application attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub app_id: String,
    pub attempt_id: Option<String>,
    pub name: String,
    pub user: String,
    /// Empty when the log does not say.
    pub spark_version: String,
    pub started_at_ms: i64,
    /// `None` when the log has no end event, or is by its name still being written.
    pub ended_at_ms: Option<i64>,
    pub exit_code: Option<i32>,
    /// The log's modification time.
    pub updated_at_ms: i64,
    /// As stored.
    pub size_bytes: u64,
    pub source: Arc<Source>,
    /// The file or folder in the source.
    pub path: Arc<Path>,
    /// The log's own path, where the file is an archive of logs.
    pub inside: Option<PathBuf>,
}

impl Attempt {
    /// The log as it is now.
    pub fn log(&self) -> Result<Log, ingest::Error> {
        let (logs, _errors) = ingest::logs_at(&self.path)?;
        let inside = self.inside.as_deref();
        let found = logs.into_iter().find(|log| inside.is_none_or(|inside| log.path == inside));
        found.ok_or_else(|| ingest::Error::Nothing { path: self.path.to_path_buf() })
    }
}

/// An application with its attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Application {
    pub id: String,
    /// Of the attempt whose log changed last.
    pub name: String,
    /// Latest start first; there is at least one.
    pub attempts: Vec<Arc<Attempt>>,
}

impl Application {
    pub fn attempt(&self, id: Option<&str>) -> Option<&Arc<Attempt>> {
        self.attempts.iter().find(|attempt| attempt.attempt_id.as_deref() == id)
    }
}
