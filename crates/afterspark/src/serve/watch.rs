//! The thread that scans the sources: at an interval, and when an application is asked for that is not known.
//!
//! Asking can make no more than one scan at a time, and those no closer than `PAUSE_MIN`; an application that was not
//! found is not looked for again for a moment.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fleet::Fleet;
use tokio::sync::{Semaphore, watch};

use super::clock;

/// Between the ends of scans and the beginning of those that requests make.
const PAUSE_MIN: Duration = Duration::from_secs(1);
/// A scan that took long is not repeated before so many times its duration.
const PAUSE_PER_SCAN: u32 = 5;
/// A request waits no longer for an application to be found.
const LOOK_MAX: Duration = Duration::from_secs(10);
/// Requests that wait; others are told at once that there is no such application.
const WAITING_MAX: usize = 64;
/// An application that was not found is not looked for again for so long.
const FORGET_AFTER: Duration = Duration::from_secs(2);
const FAILED_MAX: usize = 1_000;
const ID_BYTES_MAX: usize = 512;

/// How many scans began and ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Scans {
    pub(super) n_begun: u64,
    pub(super) n_ended: u64,
    /// Counts changes of the list within a scan.
    n_changes: u64,
}

#[derive(Default)]
struct Wishes {
    /// A scan is wanted that begins after so many have begun.
    after: Option<u64>,
    stopped: bool,
}

/// See the module.
pub(crate) struct Watch {
    fleet: Arc<Fleet>,
    wishes: Mutex<Wishes>,
    wished: Condvar,
    scans: watch::Sender<Scans>,
    waiting: Semaphore,
    failed: Mutex<HashMap<String, Instant>>,
}

impl Watch {
    pub(crate) fn new(fleet: Arc<Fleet>) -> Watch {
        Watch {
            fleet,
            wishes: Mutex::default(),
            wished: Condvar::new(),
            scans: watch::Sender::new(Scans::default()),
            waiting: Semaphore::new(WAITING_MAX),
            failed: Mutex::default(),
        }
    }

    /// Starts scanning. `after_scan` is told how long a scan took.
    pub(crate) fn start(
        self: &Arc<Watch>,
        interval: Duration,
        after_scan: impl Fn(Duration) + Send + 'static,
    ) -> io::Result<()> {
        let watch = self.clone();
        let run = move || watch.run(interval, &after_scan);
        std::thread::Builder::new().name("scan".to_owned()).spawn(run).map(drop)
    }

    /// Ends the scanning soon.
    pub(crate) fn stop(&self) {
        locked(&self.wishes).stopped = true;
        self.fleet.stop();
        self.wished.notify_all();
    }

    fn run(&self, interval: Duration, after_scan: &dyn Fn(Duration)) {
        loop {
            let begun = clock::tick();
            self.scans.send_modify(|scans| scans.n_begun += 1);
            let changed = || self.scans.send_modify(|scans| scans.n_changes += 1);
            self.fleet.scan(clock::now_ms(), &changed);
            let took = clock::tick().duration_since(begun);
            after_scan(took);
            self.scans.send_modify(|scans| scans.n_ended += 1);
            let pause = PAUSE_MIN.max(took * PAUSE_PER_SCAN);
            if !self.wait(interval.max(pause), pause) {
                return;
            }
        }
    }

    /// Waits for the interval, or for `pause` when somebody wishes a scan; `false` when it is time to stop.
    fn wait(&self, interval: Duration, pause: Duration) -> bool {
        let from = clock::tick();
        let mut wishes = locked(&self.wishes);
        loop {
            if wishes.stopped {
                return false;
            }
            let n_begun = self.scans.borrow().n_begun;
            let is_wished = wishes.after.is_some_and(|after| n_begun <= after);
            let until = if is_wished { pause } else { interval };
            let left = until.saturating_sub(clock::tick().duration_since(from));
            if left.is_zero() {
                wishes.after = None;
                return true;
            }
            let woken = self.wished.wait_timeout(wishes, left);
            wishes = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until the list has changed or a scan has ended that began after now, but no longer than `LOOK_MAX`.
    /// `found` tells whether what is looked for is there.
    pub(crate) async fn look_for(&self, app: &str, found: impl Fn() -> bool) -> bool {
        if found() {
            return true;
        }
        if app.len() > ID_BYTES_MAX || self.failed_lately(app) {
            return false;
        }
        let Ok(_waiting) = self.waiting.try_acquire() else { return false };
        let mut scans = self.scans.subscribe();
        let n_begun = scans.borrow_and_update().n_begun;
        self.fleet.want(app);
        self.wish_after(n_begun);
        let looking = async {
            loop {
                if found() {
                    return true;
                }
                let n_ended = scans.borrow_and_update().n_ended;
                if n_ended > n_begun || scans.changed().await.is_err() {
                    return found();
                }
            }
        };
        let is_found = tokio::time::timeout(LOOK_MAX, looking).await.unwrap_or(false);
        if !is_found {
            self.note_failed(app);
        }
        is_found
    }

    fn wish_after(&self, n_begun: u64) {
        let mut wishes = locked(&self.wishes);
        wishes.after = Some(wishes.after.unwrap_or(0).max(n_begun));
        self.wished.notify_all();
    }

    /// Waits for the end of the first scan, but no longer than `at_most`.
    pub(crate) async fn first_scan(&self, at_most: Duration) {
        let mut scans = self.scans.subscribe();
        let ended = scans.wait_for(|scans| scans.n_ended > 0);
        tokio::time::timeout(at_most, ended).await.ok();
    }

    fn failed_lately(&self, app: &str) -> bool {
        let failed = locked(&self.failed);
        failed.get(app).is_some_and(|at| clock::tick().duration_since(*at) < FORGET_AFTER)
    }

    fn note_failed(&self, app: &str) {
        let now = clock::tick();
        let mut failed = locked(&self.failed);
        if failed.len() >= FAILED_MAX {
            failed.retain(|_, at| now.duration_since(*at) < FORGET_AFTER);
        }
        if failed.len() < FAILED_MAX {
            failed.insert(app.to_owned(), now);
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
