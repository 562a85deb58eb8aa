//! Logs as stores: from the cache where it is of the log as it is now, read otherwise, and kept for the next time.
//! A cache file can be deleted at any time; one that is torn, altered, of another format or of another log is rebuilt.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ingest::{Freshness, Log, Options};
use store::{Sink, Store};

/// How a store came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Cache,
    /// The log had grown; only what was new was read.
    Continued,
    Read,
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    dir: Option<PathBuf>,
}

/// Writes through a buffer to a file of the cache.
struct FileSink(io::BufWriter<File>);

impl Sink for FileSink {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }
}

impl Cache {
    /// `dir` is made when it is first needed; without one nothing is kept.
    pub(crate) fn new(dir: Option<PathBuf>) -> Cache {
        Cache { dir }
    }

    /// The store of a log. `warn` is told when the cache cannot be used, which is not fatal.
    pub(crate) fn open(
        &self,
        log: &Log,
        options: Options,
        progress: &(dyn Fn(u64) + Sync),
        warn: &mut dyn FnMut(String),
    ) -> Result<(Store, Origin), ingest::Error> {
        let Some(path) = self.dir.as_deref().map(|dir| dir.join(file_name(log))) else {
            return read_to_memory(log, options, progress);
        };
        let known = map(&path);
        match known.as_ref().map(|store| ingest::freshness(store, log)) {
            Some(Freshness::Current) => {
                if let Some(store) = known {
                    return Ok((store, Origin::Cache));
                }
            }
            Some(Freshness::Behind) => {}
            Some(Freshness::Foreign) | None => {
                return write(&path, log, None, options, progress, warn).map(|s| (s, Origin::Read));
            }
        }
        let store = write(&path, log, known.as_ref(), options, progress, warn)?;
        Ok((store, Origin::Continued))
    }
}

fn read_to_memory(
    log: &Log,
    options: Options,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<(Store, Origin), ingest::Error> {
    let bytes = ingest::read(log, None, Vec::new(), options, progress)?;
    let store = Store::open(Box::new(bytes));
    store.map(|store| (store, Origin::Read)).ok_or_else(|| unreadable("the store in memory"))
}

/// What was just written does not read back: the disk failed, or it is a bug.
fn unreadable(what: &str) -> ingest::Error {
    ingest::Error::Write { source: io::Error::other(format!("{what} does not read back")) }
}

fn map(path: &Path) -> Option<Store> {
    Store::open(Box::new(scan::map_file(path).ok()?))
}

fn write(
    path: &Path,
    log: &Log,
    before: Option<&Store>,
    options: Options,
    progress: &(dyn Fn(u64) + Sync),
    warn: &mut dyn FnMut(String),
) -> Result<Store, ingest::Error> {
    let temporary = path.with_extension(format!("tmp-{}", std::process::id()));
    let created =
        path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| File::create(&temporary));
    let file = match created {
        Ok(file) => file,
        Err(error) => {
            warn(format!("nothing is cached: cannot write {}: {error}", temporary.display()));
            return read_to_memory(log, options, progress).map(|(store, _)| store);
        }
    };
    let sink = FileSink(io::BufWriter::with_capacity(1 << 20, file));
    let written = ingest::read(log, before, sink, options, progress)
        .and_then(|sink| {
            sink.0.into_inner().map_err(|e| ingest::Error::Write { source: e.into_error() })
        })
        .and_then(|_file| {
            fs::rename(&temporary, path).map_err(|source| ingest::Error::Write { source })
        });
    if let Err(error) = written {
        // a leftover does no harm, so failing to remove it may pass
        fs::remove_file(&temporary).ok();
        if let ingest::Error::Write { source } = &error {
            warn(format!("nothing is cached: cannot write {}: {source}", path.display()));
            return read_to_memory(log, options, progress).map(|(store, _)| store);
        }
        return Err(error);
    }
    map(path).ok_or_else(|| unreadable("the cache file"))
}

/// A name for the log's place: readable, and unique by a hash of the whole path.
fn file_name(log: &Log) -> String {
    let place = fs::canonicalize(&log.path).unwrap_or_else(|_| log.path.clone());
    let place = place.to_string_lossy();
    let place = place.trim_end_matches(".inprogress");
    let hash = place
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    let name = log.name.trim_end_matches(".inprogress");
    let readable: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' })
        .take(80)
        .collect();
    format!("{readable}-{hash:016x}.store")
}
