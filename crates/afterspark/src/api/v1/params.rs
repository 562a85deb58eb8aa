//! Parameters as Java reads them.

use crate::api::{Answer, Query};

/// `Boolean.valueOf`: anything but `true` is false; `default` when the parameter is not given.
pub(crate) fn boolean(query: &Query, name: &str, default: bool) -> bool {
    query.first(name).map_or(default, |value| value.eq_ignore_ascii_case("true"))
}

/// An `int`; empty or not given is `default`, anything else the 404 page.
pub(crate) fn int(query: &Query, name: &str, default: i32) -> Result<i32, Answer> {
    match query.first(name) {
        None | Some("") => Ok(default),
        Some(value) => value.parse().map_err(|_| Answer::page(404)),
    }
}

/// A path segment that must be digits.
pub(crate) fn digits(segment: &str) -> bool {
    !segment.is_empty() && segment.bytes().all(|b| b.is_ascii_digit())
}
