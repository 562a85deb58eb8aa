//! What the world can refuse; a log's content never does.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub enum Error {
    /// A file of the log cannot be opened or read.
    Scan(scan::Error),
    /// A pipe, a socket or a device.
    NotAFile { path: PathBuf },
    /// A folder cannot be listed.
    List { path: PathBuf, source: io::Error },
    /// The folder or archive holds no event log.
    Nothing { path: PathBuf },
    /// The store that is being built cannot be written.
    Write { source: io::Error },
    /// No thread to read with.
    Thread { source: io::Error },
}

impl Error {
    /// The file or folder that it is about, where it is about one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Error::Scan(error) => Some(error.path()),
            Error::NotAFile { path } | Error::List { path, .. } | Error::Nothing { path } => {
                Some(path)
            }
            Error::Write { .. } | Error::Thread { .. } => None,
        }
    }

    /// What the user can do about it, when there is something.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Error::Scan(error) => error.hint(),
            Error::NotAFile { .. } => {
                Some("a log is read from several places at once; write it to a file first")
            }
            Error::List { .. } => Some("check that the folder exists and may be read"),
            Error::Nothing { .. } => Some(
                "give a log file, an eventlog_v2_… folder, or a folder that holds logs directly",
            ),
            Error::Write { .. } => Some("give another place with --cache-dir DIR"),
            Error::Thread { .. } => Some("fewer threads may be allowed: try --threads 1"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Scan(error) => error.fmt(f),
            Error::NotAFile { path } => write!(f, "cannot read {}: not a file", path.display()),
            Error::List { path, source } => {
                write!(f, "cannot list {}: {}", path.display(), source.to_string().to_lowercase())
            }
            Error::Nothing { path } => write!(f, "no event log in {}", path.display()),
            Error::Write { source } => {
                write!(f, "cannot write the cache: {}", source.to_string().to_lowercase())
            }
            Error::Thread { source } => {
                write!(f, "cannot start a thread: {}", source.to_string().to_lowercase())
            }
        }
    }
}

impl std::error::Error for Error {}

impl From<scan::Error> for Error {
    fn from(error: scan::Error) -> Self {
        Error::Scan(error)
    }
}
