//! The server: which applications there are, their stores, and HTTP.

mod answers;
mod body;
mod clock;
mod http;
mod library;
mod metrics;
mod requests;
mod shelf;
mod watch;

use std::net::SocketAddr;
use std::time::Duration;

use crate::api::v1::SparkApi;

pub(crate) use clock::now_ms;
pub(crate) use http::run;
pub(crate) use library::{Application, Attempt, Library};
pub(crate) use requests::LogForm;
pub(crate) use shelf::Memory;

/// How to serve.
pub(crate) struct Options {
    pub(crate) api: SparkApi,
    pub(crate) address: SocketAddr,
    /// Between two scans.
    pub(crate) interval: Duration,
    pub(crate) log: Option<LogForm>,
    /// What paths begin with where a proxy serves them, without a slash at the end.
    pub(crate) proxy_base: String,
}
