//! The stores that are open. A store that is open is handed out at once; the first to ask for another starts its opening
//! and all who ask meanwhile wait for the same. Readings are few at a time and have threads of their own, so that requests
//! about other applications do not wait for them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fleet::Attempt;
use ingest::{Candidate, Options};
use store::{Severity, Store};
use tokio::sync::{Semaphore, watch};

use super::clock;
use crate::cache::{Cache, Origin};

/// A log is looked at again when its store was found to be up to date so long ago.
const CHECK_AFTER: Duration = Duration::from_secs(1);
/// So many logs are read at a time, where the memory suffices.
const READINGS_MAX: usize = 2;
/// With less memory, one log at a time.
const TWO_READINGS_BYTES: u64 = 512 << 20;
/// Logs that were asked for and could not be opened are remembered; others are forgotten when there are more.
const SLOTS_MAX: usize = 10_000;

/// What may be held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    readings: usize,
    options: Options,
    /// Stores that are kept open come to no more than this, but for the last one.
    stores_bytes_max: u64,
}

impl Memory {
    pub(crate) fn of(memory_bytes: u64, n_threads: usize) -> Memory {
        let readings = if memory_bytes < TWO_READINGS_BYTES { 1 } else { READINGS_MAX };
        let for_each = memory_bytes / 2 / readings as u64;
        let options = Options::within(n_threads, for_each);
        Memory { readings, options, stores_bytes_max: memory_bytes / 2 }
    }
}

/// Why there is no store.
#[derive(Clone)]
pub(crate) enum NoStore {
    /// The log is not there any more.
    Gone,
    Failed(Arc<ingest::Error>),
    /// A bug that this log brings out.
    Bug,
}

type Outcome = Result<Arc<Store>, NoStore>;
type Key = (Arc<Path>, Option<PathBuf>);

/// See the module.
pub(crate) struct Shelf {
    cache: Cache,
    memory: Memory,
    slots: Mutex<Slots>,
    readings: Arc<Semaphore>,
    counts: Counts,
}

#[derive(Default)]
struct Slots {
    by_log: HashMap<Key, Slot>,
    /// Counts uses, to tell which was last.
    n_uses: u64,
}

#[derive(Default)]
struct Slot {
    /// The last outcome, and when it was found to be up to date.
    last: Option<(Outcome, Instant)>,
    /// Of the log when the store was made.
    made_of: Option<Candidate>,
    opening: Option<watch::Receiver<Option<Outcome>>>,
    bytes: u64,
    gaps: Gaps,
    used: u64,
}

/// Numbers for the metrics.
#[derive(Default)]
struct Counts {
    n_opened: [AtomicU64; 3],
    n_failed: AtomicU64,
    read_bytes: AtomicU64,
    n_waiting: AtomicU64,
}

/// Gaps by severity: notes, losses, errors.
pub(crate) type Gaps = [u64; 3];

/// What is open; plain numbers for metrics and for the API.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shelved {
    pub(crate) n_stores: u64,
    pub(crate) stores_bytes: u64,
    /// Stores opened from the cache, continued, and read.
    pub(crate) n_opened: [u64; 3],
    pub(crate) n_failed: u64,
    /// Bytes of logs as stored.
    pub(crate) read_bytes: u64,
    pub(crate) n_reading: u64,
    pub(crate) n_waiting: u64,
    /// In the stores that are open.
    pub(crate) gaps: Gaps,
}

impl Shelf {
    pub(crate) fn new(cache: Cache, memory: Memory) -> Shelf {
        Shelf {
            cache,
            memory,
            slots: Mutex::default(),
            readings: Arc::new(Semaphore::new(memory.readings)),
            counts: Counts::default(),
        }
    }

    /// The store of an attempt, as its log is now or was a moment ago.
    pub(crate) async fn open(self: &Arc<Shelf>, attempt: &Arc<Attempt>) -> Outcome {
        let mut opening = {
            let mut slots = locked(&self.slots);
            let slot = slots.used((attempt.path.clone(), attempt.inside.clone()));
            if let Some((outcome, at)) = &slot.last
                && clock::tick().duration_since(*at) < CHECK_AFTER
            {
                return outcome.clone();
            }
            if let Some(opening) = &slot.opening
                && opening.has_changed().is_ok()
            {
                opening.clone()
            } else {
                let (done, opening) = watch::channel(None);
                slot.opening = Some(opening.clone());
                // goes on when the request is given up, as others may wait for it
                tokio::spawn(self.clone().bring_up_to_date(attempt.clone(), done));
                opening
            }
        };
        match opening.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(outcome)) => outcome.clone(),
            _ => Err(NoStore::Bug),
        }
    }

    async fn bring_up_to_date(
        self: Arc<Shelf>,
        attempt: Arc<Attempt>,
        done: watch::Sender<Option<Outcome>>,
    ) {
        let key = (attempt.path.clone(), attempt.inside.clone());
        let (outcome, made_of) = self.now(&attempt, &key).await;
        let (bytes, gaps) = outcome
            .as_ref()
            .map_or_else(|_| Default::default(), |s| (s.size_bytes() as u64, gaps(s)));
        let mut slots = locked(&self.slots);
        let slot = slots.by_log.entry(key).or_default();
        (slot.bytes, slot.gaps) = (bytes, gaps);
        slot.made_of = made_of.filter(|_| outcome.is_ok());
        let before = slot.last.replace((outcome.clone(), clock::tick()));
        slot.opening = None;
        let forgotten = slots.make_room(self.memory.stores_bytes_max);
        drop(slots);
        done.send_replace(Some(outcome));
        // giving memory back takes time, in which nobody should wait
        drop((before, forgotten));
    }

    /// The outcome for the log as it is now, and what the log was then.
    async fn now(&self, attempt: &Arc<Attempt>, key: &Key) -> (Outcome, Option<Candidate>) {
        let path = key.0.clone();
        let looked_at = tokio::task::spawn_blocking(move || ingest::candidate(&path)).await;
        let now = match looked_at {
            Ok(Ok(Some(now))) => now,
            Ok(Ok(None)) => return (Err(NoStore::Gone), None),
            Ok(Err(error)) => return (Err(NoStore::Failed(Arc::new(error))), None),
            Err(_) => return (Err(NoStore::Bug), None),
        };
        let known = locked(&self.slots).by_log.get(key).and_then(|slot| {
            let (outcome, _) = slot.last.as_ref()?;
            (slot.made_of.as_ref() == Some(&now) && outcome.is_ok()).then(|| outcome.clone())
        });
        if let Some(outcome) = known {
            return (outcome, Some(now));
        }
        (self.read(attempt).await, Some(now))
    }

    /// Opens the log's store from the cache, or reads the log, on a thread of its own.
    async fn read(&self, attempt: &Arc<Attempt>) -> Outcome {
        self.counts.n_waiting.fetch_add(1, Ordering::Relaxed);
        let permit = self.readings.clone().acquire_owned().await;
        self.counts.n_waiting.fetch_sub(1, Ordering::Relaxed);
        let (attempt, cache, options) = (attempt.clone(), self.cache.clone(), self.memory.options);
        let (done, opened) = tokio::sync::oneshot::channel();
        let work = move || {
            let n_bytes = AtomicU64::new(0);
            let progress = |bytes| {
                n_bytes.fetch_max(bytes, Ordering::Relaxed);
            };
            let store = attempt.log().and_then(|log| {
                let mut warn = |what: String| super::requests::warn(&what);
                cache.open(&log, options, &progress, &mut warn)
            });
            drop(permit);
            // nobody waits any more when the server stops
            done.send((store, n_bytes.into_inner())).ok();
        };
        let thread = std::thread::Builder::new().name("open".to_owned()).spawn(work);
        if let Err(source) = thread {
            return Err(NoStore::Failed(Arc::new(ingest::Error::Thread { source })));
        }
        match opened.await {
            Ok((Ok((store, origin)), n_bytes)) => {
                let at = match origin {
                    Origin::Cache => 0,
                    Origin::Continued => 1,
                    Origin::Read => 2,
                };
                self.counts.n_opened[at].fetch_add(1, Ordering::Relaxed);
                self.counts.read_bytes.fetch_add(n_bytes, Ordering::Relaxed);
                Ok(Arc::new(store))
            }
            Ok((Err(error), _)) => {
                self.counts.n_failed.fetch_add(1, Ordering::Relaxed);
                Err(NoStore::Failed(Arc::new(error)))
            }
            // the thread panicked
            Err(_) => {
                self.counts.n_failed.fetch_add(1, Ordering::Relaxed);
                Err(NoStore::Bug)
            }
        }
    }

    pub(crate) fn shelved(&self) -> Shelved {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut shelved = Shelved {
            n_opened: [0, 1, 2].map(|at: usize| count(&self.counts.n_opened[at])),
            n_failed: count(&self.counts.n_failed),
            read_bytes: count(&self.counts.read_bytes),
            n_reading: self.memory.readings.saturating_sub(self.readings.available_permits())
                as u64,
            n_waiting: count(&self.counts.n_waiting),
            ..Shelved::default()
        };
        let slots = locked(&self.slots);
        for slot in slots.by_log.values().filter(|slot| slot.made_of.is_some()) {
            shelved.n_stores += 1;
            shelved.stores_bytes += slot.bytes;
            for (sum, n) in shelved.gaps.iter_mut().zip(slot.gaps) {
                *sum = sum.saturating_add(n);
            }
        }
        shelved
    }
}

impl Slots {
    fn used(&mut self, key: Key) -> &mut Slot {
        self.n_uses += 1;
        let slot = self.by_log.entry(key).or_default();
        slot.used = self.n_uses;
        slot
    }

    /// Forgets stores, those first whose use was longest ago. Requests that have one keep it until they are done.
    fn make_room(&mut self, bytes_max: u64) -> Vec<Slot> {
        let mut forgotten = Vec::new();
        let sum: u64 = self.by_log.values().map(|slot| slot.bytes).sum();
        if sum <= bytes_max && self.by_log.len() <= SLOTS_MAX {
            return forgotten;
        }
        let mut by_use: Vec<(u64, Key)> = self
            .by_log
            .iter()
            .filter(|(_, slot)| slot.opening.is_none())
            .map(|(key, slot)| (slot.used, key.clone()))
            .collect();
        by_use.sort_unstable_by_key(|(used, _)| *used);
        by_use.pop();
        let mut left = sum;
        for (_, key) in by_use {
            if left <= bytes_max && self.by_log.len() <= SLOTS_MAX {
                break;
            }
            if let Some(slot) = self.by_log.remove(&key) {
                left -= slot.bytes;
                forgotten.push(slot);
            }
        }
        forgotten
    }
}

fn gaps(store: &Store) -> Gaps {
    let mut sums = Gaps::default();
    for gap in views::gaps(store) {
        let at = match gap.severity {
            Severity::Note => 0,
            Severity::Loss => 1,
            Severity::Error => 2,
        };
        sums[at] = u64::saturating_add(sums[at], gap.n);
    }
    sums
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
