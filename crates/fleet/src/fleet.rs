//! The list of applications over all sources, and the scans that keep it up to date.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, mpsc};

use ingest::{Candidate, Error};

use crate::attempt::{Application, Attempt, Source};
use crate::entry::{Entry, Fingerprint, Trouble};
use crate::index::{Index, Located};
use crate::listing::Listing;
use crate::look::{look, look_for_end};
use crate::progress::{PROBLEMS_MAX, Problem, Progress};
use crate::queue::Queue;

/// Stack of a thread that looks at logs: their documents nest as deeply as those of a reading.
const STACK_BYTES: usize = 32 << 20;
/// Applications that can be wanted at a time.
const WANTED_MAX: usize = 256;
/// Entries that are written to the index at a time.
const UNSAVED_MAX: usize = 2_048;
/// Entries that are put into the list at a time.
const BATCH: usize = 256;

/// See the module.
pub struct Fleet {
    sources: Vec<Arc<Source>>,
    n_threads: usize,
    listing: RwLock<Listing>,
    /// Held while a scan goes on, so that there is one at a time.
    entries: Mutex<Entries>,
    /// Applications that are asked for and not yet known: their logs are looked at first.
    wanted: Mutex<HashSet<String>>,
    scanning: AtomicBool,
    stopped: AtomicBool,
    n_pending: AtomicUsize,
    n_scans: AtomicU64,
    told: Mutex<Progress>,
}

#[derive(Default)]
struct Entries {
    known: HashMap<PathBuf, (usize, Entry)>,
    /// What could not be listed.
    failed: Vec<Problem>,
    index: Option<Index>,
    /// Why the index was given up.
    index_error: Option<String>,
    /// What the index does not have yet.
    unsaved: Vec<Located>,
}

/// What a scan came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// Files and folders that were looked into.
    pub n_looked_at: usize,
    pub n_gone: usize,
}

impl Fleet {
    /// What was known of the sources when the index in `index_dir` was last written. Without a folder, or when the index
    /// cannot be used, nothing is known; the text says why.
    pub fn open(
        sources: Vec<Source>,
        n_threads: usize,
        index_dir: Option<&Path>,
        now_ms: i64,
    ) -> (Fleet, Option<String>) {
        let sources: Vec<Arc<Source>> = sources.into_iter().map(Arc::new).collect();
        let (mut entries, mut listing) = (Entries::default(), Listing::default());
        let opened = index_dir.map(|dir| Index::open(dir, &sources, now_ms)).transpose();
        let warning = match opened {
            Ok(Some((index, known))) => {
                let attempts: Vec<Arc<Attempt>> =
                    known.iter().flat_map(|(_, _, entry)| &entry.attempts).cloned().collect();
                listing.replace(&[], &attempts);
                entries.index = Some(index);
                entries.known =
                    known.into_iter().map(|(path, at, entry)| (path, (at, entry))).collect();
                None
            }
            Ok(None) => None,
            Err(why) => Some(why),
        };
        let told = Progress { scanned_at_ms: None, ..entries.progress(now_ms) };
        let fleet = Fleet {
            sources,
            n_threads: n_threads.max(1),
            listing: RwLock::new(listing),
            entries: Mutex::new(entries),
            told: Mutex::new(told),
            wanted: Mutex::default(),
            scanning: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            n_pending: AtomicUsize::new(0),
            n_scans: AtomicU64::new(0),
        };
        (fleet, warning)
    }

    pub fn sources(&self) -> &[Arc<Source>] {
        &self.sources
    }

    /// The first applications in Spark's order that are wanted.
    pub fn applications(
        &self,
        n_max: usize,
        wanted: impl Fn(&Application) -> bool,
    ) -> Vec<Arc<Application>> {
        self.read_listing(|listing| listing.first(n_max, wanted))
    }

    pub fn application(&self, id: &str) -> Option<Arc<Application>> {
        self.read_listing(|listing| listing.get(id))
    }

    fn read_listing<T>(&self, read: impl FnOnce(&Listing) -> T) -> T {
        read(&self.listing.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks at the logs that are named after an application before all others, until it is found or the scan ends.
    pub fn want(&self, app: &str) {
        if self.scanning.load(Ordering::Relaxed) {
            let mut wanted = locked(&self.wanted);
            if wanted.len() < WANTED_MAX {
                wanted.insert(app.to_owned());
            }
        }
    }

    /// Lets a scan that goes on end soon, with what it has.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub fn progress(&self) -> Progress {
        let told = locked(&self.told).clone();
        Progress {
            n_applications: self.read_listing(Listing::n_applications),
            n_pending: self.n_pending.load(Ordering::Relaxed),
            n_scans: self.n_scans.load(Ordering::Relaxed),
            scanning: self.scanning.load(Ordering::Relaxed),
            ..told
        }
    }

    /// Looks at all sources, and into what has changed, the newest first. `changed` is called whenever the list has.
    pub fn scan(&self, now_ms: i64, changed: &(dyn Fn() + Sync)) -> Scanned {
        let mut all = locked(&self.entries);
        let entries = &mut *all;
        self.scanning.store(true, Ordering::Relaxed);
        let (todo, gone) = self.differences(entries);
        self.apply(entries, &gone, Vec::new());
        if !gone.is_empty() {
            changed();
        }
        let n_looked_at = todo.len();
        self.work(entries, todo, changed, look);
        let open = entries.open_ends();
        let before: HashMap<&Path, &Entry> =
            open.iter().map(|(_, candidate, entry)| (&*candidate.path, entry)).collect();
        let todo = open.iter().map(|(at, candidate, _)| (*at, candidate.clone())).collect();
        self.work(entries, todo, changed, |candidate, source| {
            let known = before.get(&*candidate.path);
            known.map_or_else(|| look(candidate, source), |known| look_for_end(known))
        });
        entries.save(&self.sources, &[]);
        self.n_scans.fetch_add(1, Ordering::Relaxed);
        *locked(&self.told) = entries.progress(now_ms);
        self.scanning.store(false, Ordering::Relaxed);
        locked(&self.wanted).clear();
        Scanned { n_looked_at, n_gone: gone.len() }
    }

    /// What has changed, the newest first, and what is gone.
    fn differences(&self, entries: &mut Entries) -> (Vec<(usize, Candidate)>, Vec<PathBuf>) {
        let mut todo = Vec::new();
        let mut seen = HashSet::new();
        let mut listed = vec![false; self.sources.len()];
        entries.failed.clear();
        for (at, source) in self.sources.iter().enumerate() {
            match ingest::candidates(&source.path) {
                Ok((found, errors)) => {
                    listed[at] = true;
                    // a log that two sources lead to is of the first
                    let found = found.into_iter().filter(|c| seen.insert(c.path.clone()));
                    todo.extend(found.filter(|c| entries.differs(at, c)).map(|c| (at, c)));
                    entries.failed.extend(errors.iter().map(|e| problem(&source.path, e)));
                    // a folder that cannot be looked into now may still be a log
                    seen.extend(errors.iter().filter_map(Error::path).map(Path::to_owned));
                }
                Err(error) => entries.failed.push(problem(&source.path, &error)),
            }
        }
        todo.sort_by(|(_, a), (_, b)| (b.modified_ns, &a.path).cmp(&(a.modified_ns, &b.path)));
        // what was in a folder that cannot be listed now may still be there
        let is_gone = |path: &PathBuf, at: usize| listed[at] && !seen.contains(path);
        let known = entries.known.iter();
        let gone = known.filter(|(path, (at, _))| is_gone(path, *at)).map(|(path, _)| path.clone());
        (todo, gone.collect())
    }

    /// Looks at candidates side by side and puts what comes out into the list.
    fn work(
        &self,
        entries: &mut Entries,
        todo: Vec<(usize, Candidate)>,
        changed: &(dyn Fn() + Sync),
        look: impl Fn(&Candidate, &Arc<Source>) -> Entry + Sync,
    ) {
        self.n_pending.store(todo.len(), Ordering::Relaxed);
        let n_threads = self.n_threads.min(todo.len());
        let queue = Queue::new(todo);
        let (done, found) = mpsc::channel();
        std::thread::scope(|scope| {
            for n in 0..n_threads {
                let (queue, done, look) = (&queue, done.clone(), &look);
                let next = move || {
                    let stopped = self.stopped.load(Ordering::Relaxed);
                    let (at, candidate) = queue.next(&self.wanted).filter(|_| !stopped)?;
                    let entry = look(&candidate, &self.sources[at]);
                    done.send((candidate.path, at, entry)).ok()
                };
                let worker = move || while next().is_some() {};
                let thread = std::thread::Builder::new().name(format!("look-{n}"));
                // without a thread the rest waits for the next scan
                thread.stack_size(STACK_BYTES).spawn_scoped(scope, worker).ok();
            }
            drop(done);
            while let Ok(first) = found.recv() {
                let mut batch = vec![first];
                batch.extend(found.try_iter().take(BATCH - 1));
                self.n_pending.fetch_sub(batch.len(), Ordering::Relaxed);
                self.apply(entries, &[], batch);
                changed();
            }
        });
        self.n_pending.store(0, Ordering::Relaxed);
    }

    fn apply(&self, entries: &mut Entries, gone: &[PathBuf], come: Vec<(PathBuf, usize, Entry)>) {
        let mut before: Vec<Arc<Attempt>> = Vec::new();
        let mut after: Vec<Arc<Attempt>> = Vec::new();
        let mut lost = Vec::new();
        for path in gone {
            if let Some((at, entry)) = entries.known.remove(path) {
                before.extend(entry.attempts);
                lost.push((path.clone(), at));
            }
        }
        if entries.index.is_some() {
            entries.unsaved.extend_from_slice(&come);
        }
        if !lost.is_empty() || entries.unsaved.len() >= UNSAVED_MAX {
            entries.save(&self.sources, &lost);
        }
        for (path, at, entry) in come {
            after.extend(entry.attempts.iter().cloned());
            if let Some((_, entry)) = entries.known.insert(path, (at, entry)) {
                before.extend(entry.attempts);
            }
        }
        if !before.is_empty() || !after.is_empty() {
            let mut listing = self.listing.write().unwrap_or_else(PoisonError::into_inner);
            listing.replace(&before, &after);
        }
    }
}

impl Entries {
    /// Brings the index up to date. When it cannot be written, it is given up: the list is then made anew after a restart.
    fn save(&mut self, sources: &[Arc<Source>], gone: &[(PathBuf, usize)]) {
        let unsaved = std::mem::take(&mut self.unsaved);
        if let Some(index) = &mut self.index
            && !(gone.is_empty() && unsaved.is_empty())
            && let Err(error) = index.write(sources, gone, &unsaved)
        {
            self.index = None;
            self.index_error = Some(error.to_string());
        }
    }

    /// Whether a candidate must be looked into.
    fn differs(&self, at: usize, candidate: &Candidate) -> bool {
        match self.known.get(&candidate.path) {
            Some((_, Entry { trouble: Some(Trouble::Unreadable(_)), .. })) | None => true,
            Some((before, entry)) => {
                *before != at || entry.fingerprint != Fingerprint::of(candidate)
            }
        }
    }

    /// Logs of which only the whole tells whether the application has ended.
    fn open_ends(&self) -> Vec<(usize, Candidate, Entry)> {
        let open = self.known.iter().filter(|(_, (_, entry))| entry.end_is_open);
        open.map(|(path, (at, entry))| {
            let Fingerprint { form, size_bytes, modified_ns, n_files } = entry.fingerprint;
            let path = path.clone();
            (*at, Candidate { path, form, size_bytes, modified_ns, n_files }, entry.clone())
        })
        .collect()
    }

    fn progress(&self, now_ms: i64) -> Progress {
        let mut progress = Progress { scanned_at_ms: Some(now_ms), ..Progress::default() };
        progress.n_unreadable = self.failed.len();
        if let Some(error) = &self.index_error {
            let what = format!("cannot be kept: {error}");
            progress.problems.push(Problem { path: "the list of applications".to_owned(), what });
        }
        progress.problems.extend(self.failed.iter().take(PROBLEMS_MAX).cloned());
        let mut refused: Vec<(&Path, &str)> = Vec::new();
        self.known.iter().for_each(|(path, (_, entry))| match &entry.trouble {
            Some(Trouble::Unreadable(what)) => refused.push((path, what)),
            Some(Trouble::NoLog(_)) => progress.n_others += 1,
            None => progress.n_logs += 1,
        });
        refused.sort_unstable();
        progress.n_unreadable += refused.len();
        let told = refused.iter().take(PROBLEMS_MAX).map(|(path, what)| Problem {
            path: path.display().to_string(),
            what: (*what).to_owned(),
        });
        progress.problems.extend(told);
        progress
    }
}

fn problem(path: &Path, error: &Error) -> Problem {
    Problem { path: path.display().to_string(), what: error.to_string() }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
