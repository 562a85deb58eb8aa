//! The server: which applications there are, their stores, and HTTP.

mod body;
mod clock;
mod http;
mod library;
mod watch;

pub(crate) use http::run;
pub(crate) use library::{Application, Attempt, Library};
