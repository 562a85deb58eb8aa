//! The list on disk, so that it is there at once after a restart: an `SQLite` file with a row for each file or folder of a
//! source, and one for each attempt in it. It can be deleted at any time; one that is damaged or of another format is
//! made anew. It is never needed: whatever it refuses is left out of it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ingest::Form;
use rusqlite::{Connection, Row, params};

use crate::attempt::{Attempt, Source};
use crate::entry::{Entry, Fingerprint, Trouble};

/// Raised with every change of a table, or of what is looked at for a row.
const FORMAT: i32 = 1;
/// `AFSP`: tells the file from those of other programs.
const APPLICATION: i32 = 0x4146_5350;
const FILE_NAME: &str = "applications.sqlite";
/// Another server may be writing.
const BUSY: Duration = Duration::from_secs(2);
/// Rows of a source that no server was started with for so long are dropped.
const UNUSED_MS: i64 = 30 * 86_400_000;

const TABLES: &str = "
CREATE TABLE source (id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, used_at_ms INTEGER NOT NULL);
CREATE TABLE entry (
    source INTEGER NOT NULL, name BLOB NOT NULL, form INTEGER NOT NULL, size_bytes INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL, n_files INTEGER NOT NULL, trouble INTEGER NOT NULL, why TEXT NOT NULL,
    end_is_open INTEGER NOT NULL, PRIMARY KEY (source, name)) WITHOUT ROWID;
CREATE TABLE attempt (
    source INTEGER NOT NULL, name BLOB NOT NULL, at INTEGER NOT NULL, inside BLOB, app_id TEXT NOT NULL,
    attempt_id TEXT, app_name TEXT NOT NULL, user TEXT NOT NULL, spark_version TEXT NOT NULL,
    started_at_ms INTEGER NOT NULL, ended_at_ms INTEGER, exit_code INTEGER, updated_at_ms INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL, PRIMARY KEY (source, name, at)) WITHOUT ROWID;
";

const ROWS: &str = "
SELECT e.name, e.form, e.size_bytes, e.modified_ns, e.n_files, e.trouble, e.why, e.end_is_open,
       a.inside, a.app_id, a.attempt_id, a.app_name, a.user, a.spark_version, a.started_at_ms, a.ended_at_ms,
       a.exit_code, a.updated_at_ms, a.size_bytes
FROM entry e LEFT JOIN attempt a ON a.source = e.source AND a.name = e.name
WHERE e.source = ? ORDER BY e.name, a.at";

/// See the module.
pub(crate) struct Index {
    file: Connection,
    /// Row of each source.
    ids: Vec<i64>,
}

/// An entry with the number of its source.
pub(crate) type Located = (PathBuf, usize, Entry);

impl Index {
    /// Opens the index in a folder, and what it knows of the sources. The text says why there is none.
    pub(crate) fn open(
        dir: &Path,
        sources: &[Arc<Source>],
        now_ms: i64,
    ) -> Result<(Index, Vec<Located>), String> {
        let path = dir.join(FILE_NAME);
        let refused = |what: String| format!("the list is not kept: {}: {what}", path.display());
        fs::create_dir_all(dir).map_err(|error| refused(error.to_string().to_lowercase()))?;
        match Index::load(&path, sources, now_ms) {
            Ok(loaded) => Ok(loaded),
            Err(error) if is_busy(&error) => Err(refused("another program holds it".to_owned())),
            Err(_) => {
                for ending in ["", "-wal", "-shm"] {
                    let mut file = path.clone().into_os_string();
                    file.push(ending);
                    // what cannot be removed is found again when the file is made
                    fs::remove_file(file).ok();
                }
                Index::load(&path, sources, now_ms).map_err(|error| refused(error.to_string()))
            }
        }
    }

    fn load(
        path: &Path,
        sources: &[Arc<Source>],
        now_ms: i64,
    ) -> rusqlite::Result<(Index, Vec<Located>)> {
        let mut file = Connection::open(path)?;
        file.busy_timeout(BUSY)?;
        let number = |name| file.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
        let (application, format) = (number("application_id")?, number("user_version")?);
        let n_tables: i64 =
            file.query_row("SELECT count(*) FROM sqlite_master", [], |r| r.get(0))?;
        if n_tables > 0 && (application, format) != (APPLICATION, FORMAT) {
            return Err(rusqlite::Error::InvalidQuery);
        }
        file.pragma_update(None, "journal_mode", "wal")?;
        file.pragma_update(None, "synchronous", "normal")?;
        if n_tables == 0 {
            file.execute_batch(TABLES)?;
            file.pragma_update(None, "application_id", APPLICATION)?;
            file.pragma_update(None, "user_version", FORMAT)?;
        }
        let ids = use_sources(&mut file, sources, now_ms)?;
        let mut entries = Vec::new();
        for (at, (source, id)) in sources.iter().zip(&ids).enumerate() {
            read_source(&file, source, *id, at, &mut entries)?;
        }
        Ok((Index { file, ids }, entries))
    }

    /// Forgets and keeps entries, all or none of them.
    pub(crate) fn write(
        &mut self,
        sources: &[Arc<Source>],
        gone: &[(PathBuf, usize)],
        come: &[Located],
    ) -> rusqlite::Result<()> {
        let all = self.file.transaction()?;
        {
            let mut forget =
                all.prepare_cached("DELETE FROM attempt WHERE source = ? AND name = ?")?;
            let mut drop = all.prepare_cached("DELETE FROM entry WHERE source = ? AND name = ?")?;
            let mut keep = all.prepare_cached(
                "INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            )?;
            let mut add = all.prepare_cached(
                "INSERT OR REPLACE INTO attempt VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            )?;
            for (path, at) in gone {
                let (source, name) = (self.ids[*at], name_in(&sources[*at], path));
                forget.execute(params![source, name])?;
                drop.execute(params![source, name])?;
            }
            for (path, at, entry) in come {
                let (source, name) = (self.ids[*at], name_in(&sources[*at], path));
                forget.execute(params![source, name])?;
                let Fingerprint { form, size_bytes, modified_ns, n_files } = entry.fingerprint;
                let (trouble, why) = match &entry.trouble {
                    None => (0, ""),
                    Some(Trouble::NoLog(why)) => (1, &**why),
                    Some(Trouble::Unreadable(why)) => (2, why.as_str()),
                };
                let size = size_bytes.cast_signed();
                keep.execute(params![
                    source,
                    name,
                    number_of(form),
                    size,
                    modified_ns,
                    n_files,
                    trouble,
                    why,
                    entry.end_is_open
                ])?;
                for (nth, a) in (0_i64..).zip(&entry.attempts) {
                    let inside = a.inside.as_ref().map(|path| path.as_os_str().as_bytes());
                    add.execute(params![
                        source,
                        name,
                        nth,
                        inside,
                        a.app_id,
                        a.attempt_id,
                        a.name,
                        a.user,
                        a.spark_version,
                        a.started_at_ms,
                        a.ended_at_ms,
                        a.exit_code,
                        a.updated_at_ms,
                        a.size_bytes.cast_signed()
                    ])?;
                }
            }
        }
        all.commit()
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked))
}

/// Notes that the sources are used; drops those that were not for long.
fn use_sources(
    file: &mut Connection,
    sources: &[Arc<Source>],
    now_ms: i64,
) -> rusqlite::Result<Vec<i64>> {
    let all = file.transaction()?;
    let mut ids = Vec::with_capacity(sources.len());
    for source in sources {
        let path = source.path.as_os_str().as_bytes();
        ids.push(all.query_row(
            "INSERT INTO source (path, used_at_ms) VALUES (?1, ?2)
             ON CONFLICT (path) DO UPDATE SET used_at_ms = ?2 RETURNING id",
            params![path, now_ms],
            |row| row.get(0),
        )?);
    }
    let before = now_ms.saturating_sub(UNUSED_MS);
    if all.execute("DELETE FROM source WHERE used_at_ms < ?", [before])? > 0 {
        all.execute_batch(
            "DELETE FROM entry WHERE source NOT IN (SELECT id FROM source);
             DELETE FROM attempt WHERE source NOT IN (SELECT id FROM source);",
        )?;
    }
    all.commit()?;
    Ok(ids)
}

fn read_source(
    file: &Connection,
    source: &Arc<Source>,
    id: i64,
    at: usize,
    entries: &mut Vec<Located>,
) -> rusqlite::Result<()> {
    let mut statement = file.prepare(ROWS)?;
    let mut rows = statement.query([id])?;
    let first = entries.len();
    let mut last_name: Vec<u8> = Vec::new();
    while let Some(row) = rows.next()? {
        let name = row.get_ref(0)?.as_blob()?;
        let is_next = entries.len() == first || name != last_name;
        if is_next {
            name.clone_into(&mut last_name);
            let path = match name {
                [] => source.path.clone(),
                name => source.path.join(OsStr::from_bytes(name)),
            };
            entries.push((path, at, entry_of(row)?));
        }
        if row.get_ref(9)? != rusqlite::types::ValueRef::Null
            && let Some((path, _, entry)) = entries.last_mut()
        {
            let path = match entry.attempts.first() {
                Some(attempt) => attempt.path.clone(),
                None => path.as_path().into(),
            };
            entry.attempts.push(Arc::new(attempt_of(row, source, path)?));
        }
    }
    Ok(())
}

fn entry_of(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let why: String = row.get(6)?;
    let trouble = match row.get::<_, i64>(5)? {
        0 => None,
        1 => Some(Trouble::NoLog(why.into())),
        _ => Some(Trouble::Unreadable(why)),
    };
    let fingerprint = Fingerprint {
        form: form_of(row.get(1)?),
        size_bytes: row.get::<_, i64>(2)?.cast_unsigned(),
        modified_ns: row.get(3)?,
        n_files: row.get(4)?,
    };
    Ok(Entry { fingerprint, attempts: Vec::new(), trouble, end_is_open: row.get(7)? })
}

fn attempt_of(row: &Row<'_>, source: &Arc<Source>, path: Arc<Path>) -> rusqlite::Result<Attempt> {
    let inside: Option<Vec<u8>> = row.get(8)?;
    Ok(Attempt {
        app_id: row.get(9)?,
        attempt_id: row.get(10)?,
        name: row.get(11)?,
        user: row.get(12)?,
        spark_version: row.get(13)?,
        started_at_ms: row.get(14)?,
        ended_at_ms: row.get(15)?,
        exit_code: row.get(16)?,
        updated_at_ms: row.get(17)?,
        size_bytes: row.get::<_, i64>(18)?.cast_unsigned(),
        source: source.clone(),
        path,
        inside: inside.map(|path| OsStr::from_bytes(&path).into()),
    })
}

/// Of a file or folder in a source; empty for the source itself.
fn name_in<'p>(source: &Source, path: &'p Path) -> &'p [u8] {
    path.strip_prefix(&source.path).unwrap_or(path).as_os_str().as_bytes()
}

fn number_of(form: Form) -> i64 {
    match form {
        Form::File => 0,
        Form::Rolling { has_status: false } => 1,
        Form::Rolling { has_status: true } => 2,
        Form::Databricks => 3,
    }
}

fn form_of(number: i64) -> Form {
    match number {
        1 => Form::Rolling { has_status: false },
        2 => Form::Rolling { has_status: true },
        3 => Form::Databricks,
        _ => Form::File,
    }
}
