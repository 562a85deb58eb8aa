//! Parameters as Java reads them.

use crate::api::{Answer, Query};

/// An `int`; empty or not given is `default`, anything else the 404 page.
pub(crate) fn int(query: &Query, name: &str, default: i32) -> Result<i32, Answer> {
    match query.first(name) {
        None | Some("") => Ok(default),
        Some(value) => value.parse().map_err(|_| Answer::page(404)),
    }
}
