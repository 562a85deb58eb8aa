//! The server: which applications there are, their stores, and HTTP.

mod http;
mod library;

pub(crate) use http::run;
pub(crate) use library::{Attempt, Library};
