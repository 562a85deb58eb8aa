//! What of a folder may be a log, told by names, sizes and times alone: no file is opened. One look at the folder, and
//! one at each entry; a rolling log's folder is looked into.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::Error;
use crate::log::{
    FOLDER_ENTRIES_MAX, is_databricks_name, is_rolling_name, is_status_name, name_of, rolling_index,
};

/// Files of a rolling log that are looked at.
const ROLLING_FILES_MAX: usize = 100_000;

/// A file or folder that may be a log. Its size, time and number of files change when the log does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub path: PathBuf,
    pub form: Form,
    pub size_bytes: u64,
    /// The latest change of any of its files.
    pub modified_ns: i64,
    pub n_files: u32,
}

/// What a candidate is by its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    File,
    /// `eventlog_v2_…`; `false` without the file that tells whether it is complete, which Spark insists on.
    Rolling {
        has_status: bool,
    },
    Databricks,
}

/// The candidates of a folder, in no order, and what could not be looked at in it. A path that is itself a log is one
/// candidate.
pub fn candidates(path: &Path) -> Result<(Vec<Candidate>, Vec<Error>), Error> {
    let open_error = |source| Error::from(scan::Error::Open { path: path.to_owned(), source });
    let meta = fs::metadata(path).map_err(open_error)?;
    if meta.is_file() {
        return Ok((vec![of_file(path.to_owned(), &meta)], Vec::new()));
    }
    if !meta.is_dir() {
        return Err(Error::NotAFile { path: path.to_owned() });
    }
    if is_rolling_name(&name_of(path)) {
        return Ok((folder(path.to_owned())?.into_iter().collect(), Vec::new()));
    }
    let list_error = |source| Error::List { path: path.to_owned(), source };
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(path).map_err(list_error)?.take(FOLDER_ENTRIES_MAX) {
        let entry = entry.map_err(list_error)?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') {
            continue;
        }
        if rolling_index(&name).is_some() || is_databricks_name(&name) {
            // the folder is itself a log
            return Ok((folder(path.to_owned())?.into_iter().collect(), Vec::new()));
        }
        let looked_at = match entry.file_type() {
            Ok(kind) if kind.is_symlink() => fs::metadata(entry.path()),
            _ => entry.metadata(),
        };
        match looked_at {
            Ok(meta) if meta.is_file() => found.push(of_file(entry.path(), &meta)),
            Ok(meta) if meta.is_dir() => match folder(entry.path()) {
                Ok(candidate) => found.extend(candidate),
                Err(error) => errors.push(error),
            },
            // pipes, sockets and devices hold no logs, and reading one may never end
            Ok(_) => {}
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => {
                errors.push(scan::Error::Open { path: entry.path(), source }.into());
            }
        }
    }
    Ok((found, errors))
}

/// One entry of a folder looked at again; `None` when it is not there any more, or no log by its name.
pub fn candidate(path: &Path) -> Result<Option<Candidate>, Error> {
    match fs::metadata(path) {
        Ok(meta) if meta.is_file() => Ok(Some(of_file(path.to_owned(), &meta))),
        Ok(meta) if meta.is_dir() => folder(path.to_owned()),
        Ok(_) => Ok(None),
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(scan::Error::Open { path: path.to_owned(), source }.into()),
    }
}

fn of_file(path: PathBuf, meta: &Metadata) -> Candidate {
    Candidate {
        path,
        form: Form::File,
        size_bytes: meta.len(),
        modified_ns: modified_ns(meta),
        n_files: 1,
    }
}

/// A folder that is one log, by the names in it.
fn folder(path: PathBuf) -> Result<Option<Candidate>, Error> {
    let list_error = |source| Error::List { path: path.clone(), source };
    let is_rolling = is_rolling_name(&name_of(&path));
    let mut form = is_rolling.then_some(Form::Rolling { has_status: false });
    let (mut size_bytes, mut at_ns, mut n_files) = (0_u64, 0, 0_u32);
    for entry in fs::read_dir(&path).map_err(list_error)?.take(ROLLING_FILES_MAX) {
        let entry = entry.map_err(list_error)?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_status = is_status_name(&name);
        match form {
            Some(Form::Rolling { .. }) if is_status => {
                form = Some(Form::Rolling { has_status: true });
            }
            None if is_status || rolling_index(&name).is_some() => {
                form = Some(Form::Rolling { has_status: is_status });
            }
            None if is_databricks_name(&name) => form = Some(Form::Databricks),
            _ => {}
        }
        // a file that went away meanwhile is seen to have gone at the next look
        let Ok(meta) = entry.metadata() else { continue };
        size_bytes = size_bytes.saturating_add(meta.len());
        at_ns = at_ns.max(modified_ns(&meta));
        n_files = n_files.saturating_add(1);
    }
    let candidate = |form| Candidate { path, form, size_bytes, modified_ns: at_ns, n_files };
    Ok(form.map(candidate))
}

fn modified_ns(meta: &Metadata) -> i64 {
    let at = meta.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    at.map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}
