//! The only place of the program that reads the clock: a server is asked at some time, and logs change meanwhile.
#![expect(clippy::disallowed_methods, reason = "this is the one place")]

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Milliseconds since the epoch.
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// For measuring how long something takes.
pub(crate) fn tick() -> Instant {
    Instant::now()
}
