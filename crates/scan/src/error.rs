//! What the world can refuse. A log's content never becomes an error: see [`crate::Damage`].

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub enum Error {
    /// A file cannot be opened, or its length cannot be asked.
    Open { path: PathBuf, source: io::Error },
    /// Reading stopped in the middle.
    Read { path: PathBuf, source: io::Error },
    /// The file calls itself a zip, and its list of entries cannot be read.
    Zip { path: PathBuf, what: &'static str },
}

impl Error {
    /// The file that it is about.
    pub fn path(&self) -> &Path {
        match self {
            Error::Open { path, .. } | Error::Read { path, .. } | Error::Zip { path, .. } => path,
        }
    }

    /// What the user can do about it, when there is something.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Error::Zip { .. } => Some("the archive may not have been copied to its end"),
            Error::Open { source, .. } | Error::Read { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => {
                    Some("check the path; the log of a running application is renamed when it ends")
                }
                io::ErrorKind::PermissionDenied => {
                    Some("logs belong to the user who ran the application; ask for read access")
                }
                _ => None,
            },
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Open { path, source } => {
                write!(to, "cannot open {}: {}", path.display(), reason(source))
            }
            Error::Read { path, source } => {
                write!(to, "cannot read {}: {}", path.display(), reason(source))
            }
            Error::Zip { path, what } => write!(to, "cannot read {}: {what}", path.display()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Open { source, .. } | Error::Read { source, .. } => Some(source),
            Error::Zip { .. } => None,
        }
    }
}

/// In words: the system's own texts carry a number and an upper case letter.
fn reason(source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::NotFound => "no such file".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::IsADirectory => "it is a folder".into(),
        _ => source.to_string().to_lowercase(),
    }
}
