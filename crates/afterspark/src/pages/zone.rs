//! The zone that a visitor wants times in: the address says it (`zone=Europe/Berlin`), or what the visitor chose before.

use jiff::{Timestamp, tz::TimeZone};

use crate::api::Request;
use crate::text;

/// The parameter, and the name under which browsers keep it.
pub(super) const ZONE: &str = "zone";

/// See the module.
pub(super) struct Zone {
    /// Of the IANA list.
    pub(super) name: String,
    zone: TimeZone,
}

impl Zone {
    pub(super) fn of(request: &Request) -> Zone {
        let asked = request.query.first(ZONE).and_then(Zone::named);
        let kept = || request.cookie(ZONE).and_then(Zone::named);
        asked.or_else(kept).unwrap_or(Zone { name: "UTC".to_owned(), zone: TimeZone::UTC })
    }

    /// A zone of the IANA list; names are few and short, so that what a browser sends is kept only when it is one.
    pub(super) fn named(name: &str) -> Option<Zone> {
        let zone = jiff::tz::db().get(name).ok()?;
        let name = zone.iana_name()?.to_owned();
        Some(Zone { name, zone })
    }

    /// `2026-12-01 00:01:42` in the zone.
    pub(super) fn write(&self, at_ms: i64) -> String {
        self.form("%Y-%m-%d %H:%M:%S", at_ms).unwrap_or_else(|| text::instant(at_ms))
    }

    /// `2026-12-01T00:01:42.123+01:00`.
    pub(super) fn exact(&self, at_ms: i64) -> String {
        self.form("%Y-%m-%dT%H:%M:%S.%3f%:z", at_ms).unwrap_or_else(|| at_ms.to_string())
    }

    fn form(&self, form: &str, at_ms: i64) -> Option<String> {
        let at = Timestamp::from_millisecond(at_ms).ok()?;
        Some(at.to_zoned_datetime(self.zone.clone()).strftime(form).to_string())
    }
}

/// All names of the IANA list.
pub(super) fn names() -> Vec<String> {
    jiff::tz::db().available().map(|name| name.to_string()).collect()
}
