//! Which files make up a log, by the names that Spark and Databricks give them. Content decides about codecs; names
//! decide only about order and about what belongs together.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use scan::{FilePart, Part};
use store::{GapKind, record};

use crate::Error;

/// Entries of a folder that are looked at.
pub const FOLDER_ENTRIES_MAX: usize = 5_000_000;

record! {
    /// A file as it was when it was listed.
    pub struct FileIdentity {
        /// Without `.inprogress`, which goes when an application ends.
        pub name: String,
        pub size_bytes: u64,
        pub modified_ns: i64,
    }
}

/// An event log: one application attempt.
#[derive(Clone)]
pub struct Log {
    /// The file or folder; for a log in a zip, the archive and the entry's folder or name.
    pub path: PathBuf,
    /// Last component of the path.
    pub name: String,
    /// Its files in the order they were written.
    pub parts: Vec<Arc<dyn Part>>,
    pub files: Vec<FileIdentity>,
    /// By its name, the application still runs.
    pub in_progress: bool,
    /// What the list of files alone tells: kind, file, number.
    pub gaps: Vec<(GapKind, String, u64)>,
}

impl Log {
    /// Bytes as stored.
    pub fn size_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.size_bytes).sum()
    }

    /// The latest change of any of its files, in milliseconds since the epoch.
    pub fn modified_at_ms(&self) -> i64 {
        self.files.iter().map(|file| file.modified_ns).max().unwrap_or(0) / 1_000_000
    }
}

/// A file that may be part of a log.
struct File {
    name: String,
    part: Arc<dyn Part>,
    modified_ns: i64,
}

/// The logs at a path: of a file, an archive, a rolling folder, a Databricks folder, or of a folder of logs (newest first;
/// what cannot be read in it is returned beside them).
pub fn logs_at(path: &Path) -> Result<(Vec<Log>, Vec<Error>), Error> {
    let meta =
        fs::metadata(path).map_err(|source| scan::Error::Open { path: path.to_owned(), source })?;
    if meta.is_file() {
        return Ok((file_logs(path)?, Vec::new()));
    }
    if !meta.is_dir() {
        return Err(Error::NotAFile { path: path.to_owned() });
    }
    let entries = list(path)?;
    if is_rolling_name(&name_of(path))
        || entries.iter().any(|e| rolling_index(&name_of(e)).is_some())
    {
        let log = rolling(path, files_of(&entries)?);
        let log = log.ok_or_else(|| Error::Nothing { path: path.to_owned() })?;
        return Ok((vec![log], Vec::new()));
    }
    if entries.iter().any(|e| is_databricks_name(&name_of(e))) {
        return Ok((vec![databricks(path, files_of(&entries)?)], Vec::new()));
    }
    let (mut logs, mut errors) = (Vec::new(), Vec::new());
    for entry in entries {
        let found = match fs::metadata(&entry) {
            Ok(meta) if meta.is_dir() => folder_log(&entry),
            Ok(meta) if meta.is_file() => file_logs(&entry),
            // pipes, sockets and devices hold no logs, and reading one may never end
            Ok(_) => continue,
            Err(source) => Err(scan::Error::Open { path: entry.clone(), source }.into()),
        };
        match found {
            Ok(found) => logs.extend(found),
            Err(error) => errors.push(error),
        }
    }
    logs.sort_by(|a, b| {
        b.modified_at_ms().cmp(&a.modified_at_ms()).then_with(|| a.name.cmp(&b.name))
    });
    Ok((logs, errors))
}

/// A file as the history server's download holds it.
pub struct LogFile {
    /// Of a rolling log with the name of its folder, which is an entry of its own.
    pub name: String,
    /// `None` for a folder.
    pub part: Option<Arc<dyn Part>>,
    pub modified_at_ms: i64,
}

/// All files of a log: of a folder also those that hold no events. What a link leads to outside of the folder is none.
pub fn files_of_log(log: &Log) -> Result<Vec<LogFile>, Error> {
    let modified_at_ms = log.modified_at_ms();
    if !log.path.is_dir() {
        let named = |part: &Arc<dyn Part>| {
            let name = part.name().rsplit('/').next().unwrap_or_default().to_owned();
            LogFile { name, part: Some(part.clone()), modified_at_ms }
        };
        return Ok(log.parts.iter().map(named).collect());
    }
    let folder = format!("{}/", log.name);
    let mut files = vec![LogFile { name: folder.clone(), part: None, modified_at_ms }];
    for path in list(&log.path)? {
        if fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file()) {
            let File { name, part, modified_ns } = file(&path)?;
            let modified_at_ms = modified_ns / 1_000_000;
            files.push(LogFile {
                name: format!("{folder}{name}"),
                part: Some(part),
                modified_at_ms,
            });
        }
    }
    Ok(files)
}

/// The log that a folder among logs is, if it is one.
fn folder_log(path: &Path) -> Result<Vec<Log>, Error> {
    if !is_rolling_name(&name_of(path)) {
        return Ok(Vec::new());
    }
    Ok(rolling(path, files_of(&list(path)?)?).into_iter().collect())
}

/// Entries of a folder but for hidden ones, by name.
fn list(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let refused = |source| Error::List { path: path.to_owned(), source };
    let mut out = Vec::new();
    for entry in fs::read_dir(path).map_err(refused)?.take(FOLDER_ENTRIES_MAX) {
        let entry = entry.map_err(refused)?.path();
        if !name_of(&entry).starts_with('.') {
            out.push(entry);
        }
    }
    out.sort();
    Ok(out)
}

pub(crate) fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn file(path: &Path) -> Result<File, Error> {
    let part = FilePart::open(path)?;
    let modified = fs::metadata(path).and_then(|meta| meta.modified()).ok();
    let modified = modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let modified_ns = modified.map_or(0, |d| d.as_nanos() as i64);
    Ok(File { name: name_of(path), part: Arc::new(part), modified_ns })
}

fn files_of(paths: &[PathBuf]) -> Result<Vec<File>, Error> {
    paths.iter().filter(|path| path.is_file()).map(|path| file(path)).collect()
}

fn log(path: &Path, files: Vec<File>, gaps: Vec<(GapKind, String, u64)>, in_progress: bool) -> Log {
    let identity = |f: &File| FileIdentity {
        name: f.name.trim_end_matches(".inprogress").to_owned(),
        size_bytes: f.part.size_bytes(),
        modified_ns: f.modified_ns,
    };
    Log {
        path: path.to_owned(),
        name: name_of(path),
        files: files.iter().map(identity).collect(),
        parts: files.into_iter().map(|f| f.part).collect(),
        in_progress,
        gaps,
    }
}

/// The log of one file, or the logs in it when it is an archive.
fn file_logs(path: &Path) -> Result<Vec<Log>, Error> {
    let one = file(path)?;
    let mut head = [0; 4];
    let n = one.part.open(0)?.read(&mut head).unwrap_or(0);
    if scan::is_zip(&head[..n]) {
        return archive_logs(path, one.modified_ns);
    }
    let in_progress = one.name.ends_with(".inprogress");
    Ok(vec![log(path, vec![one], Vec::new(), in_progress)])
}

/// The history server's download is a zip of one log, or of those of all attempts.
fn archive_logs(path: &Path, modified_ns: i64) -> Result<Vec<Log>, Error> {
    let mut logs = Vec::new();
    let mut folders: BTreeMap<String, Vec<File>> = BTreeMap::new();
    for entry in scan::zip_entries(path)? {
        let full_name = entry.name().to_owned();
        let (folder, name) = full_name.rsplit_once('/').unwrap_or(("", &full_name));
        if name.is_empty() {
            continue;
        }
        let file = File { name: name.to_owned(), part: Arc::new(entry), modified_ns };
        if rolling_index(name).is_some() || is_status_name(name) || is_databricks_name(name) {
            folders.entry(folder.to_owned()).or_default().push(file);
        } else if !name.starts_with('.') && !full_name.starts_with("__MACOSX/") {
            let in_progress = name.ends_with(".inprogress");
            logs.push(log(&path.join(&full_name), vec![file], Vec::new(), in_progress));
        }
    }
    for (folder, files) in folders {
        let inside = if folder.is_empty() { path.to_owned() } else { path.join(&folder) };
        if files.iter().any(|f| is_databricks_name(&f.name)) {
            logs.push(databricks(&inside, files));
        } else {
            logs.extend(rolling(&inside, files));
        }
    }
    if logs.is_empty() {
        return Err(Error::Nothing { path: path.to_owned() });
    }
    Ok(logs)
}

pub(crate) fn is_rolling_name(name: &str) -> bool {
    name.starts_with("eventlog_v2_")
}

pub(crate) fn is_status_name(name: &str) -> bool {
    name.starts_with("appstatus_")
}

/// Of `events_12_app-1.zstd`: 12.
pub(crate) fn rolling_index(name: &str) -> Option<u64> {
    name.strip_prefix("events_")?.split('_').next()?.parse().ok()
}

pub(crate) fn is_databricks_name(name: &str) -> bool {
    name == "eventlog"
        || name
            .strip_prefix("eventlog-")
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// `events_N_…` by number, from the last compacted one on; `None` without any.
fn rolling(path: &Path, files: Vec<File>) -> Option<Log> {
    let in_progress =
        files.iter().any(|f| is_status_name(&f.name) && f.name.ends_with(".inprogress"));
    let mut gaps = Vec::new();
    let mut numbered: Vec<(u64, bool, File)> = files
        .into_iter()
        .filter_map(|f| Some((rolling_index(&f.name)?, f.name.ends_with(".compact"), f)))
        .collect();
    // a compacted file stands for itself and all before it
    numbered.sort_by(|a, b| (a.0, a.1, &a.2.name).cmp(&(b.0, b.1, &b.2.name)));
    let from = numbered.iter().rposition(|(_, compacted, _)| *compacted).unwrap_or(0);
    let mut kept: Vec<(u64, bool, File)> = Vec::new();
    for next in numbered.split_off(from) {
        match kept.last_mut() {
            // two files of one number: the one that is named like the folder is the log's
            Some(before) if before.0 == next.0 => {
                let stray = if belongs(path, &next.2.name) && !belongs(path, &before.2.name) {
                    std::mem::replace(before, next)
                } else {
                    next
                };
                gaps.push((GapKind::StrayFile, stray.2.name, 1));
            }
            _ => kept.push(next),
        }
    }
    if kept.iter().any(|(_, _, f)| belongs(path, &f.name)) {
        let strays = kept.extract_if(.., |(_, _, f)| !belongs(path, &f.name));
        gaps.extend(strays.map(|(_, _, f)| (GapKind::StrayFile, f.name, 1)));
    }
    let last = kept.len().saturating_sub(1);
    let mut expected = 1;
    for (at, (index, compacted, file)) in kept.iter().enumerate() {
        if *compacted {
            gaps.push((GapKind::Compacted, file.name.clone(), 1));
        } else if *index > expected {
            let names = match index - expected {
                1 => format!("events_{expected}_…"),
                _ => format!("events_{expected}_… to events_{}_…", index - 1),
            };
            gaps.push((GapKind::MissingFile, names, index - expected));
        }
        if file.part.size_bytes() == 0 && at < last {
            gaps.push((GapKind::MissingFile, format!("{} (empty)", file.name), 1));
        }
        expected = index.saturating_add(1);
    }
    if kept.is_empty() {
        return None;
    }
    let kept = kept.into_iter().map(|(_, _, file)| file).collect();
    Some(log(path, kept, gaps, in_progress))
}

/// Whether a file of a rolling log carries the folder's application: `eventlog_v2_X` holds `events_N_X…`.
fn belongs(folder: &Path, file: &str) -> bool {
    let folder = name_of(folder);
    let app = folder.strip_prefix("eventlog_v2_").unwrap_or(&folder);
    let rest = file.strip_prefix("events_").and_then(|rest| rest.split_once('_'));
    rest.is_some_and(|(_, rest)| rest.starts_with(app))
}

/// `eventlog-DATE…` by date, then `eventlog`, which is the one being written.
fn databricks(path: &Path, files: Vec<File>) -> Log {
    let mut files: Vec<File> = files.into_iter().filter(|f| is_databricks_name(&f.name)).collect();
    files.sort_by(|a, b| (a.name == "eventlog", &a.name).cmp(&(b.name == "eventlog", &b.name)));
    log(path, files, Vec::new(), false)
}
