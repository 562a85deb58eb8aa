//! The only place that reads the clock.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the epoch.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as i64)
}
