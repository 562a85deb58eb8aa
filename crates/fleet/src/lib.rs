//! Which applications have logs in some folders: found by scans that open only what has changed, and kept in order, so
//! that a page of the list costs a page.
#![forbid(unsafe_code)]

mod attempt;
mod entry;
mod fleet;
mod index;
mod listing;
mod look;
mod progress;
mod queue;

pub use attempt::{Application, Attempt, Source};
pub use fleet::{Fleet, Scanned};
pub use progress::{Problem, Progress};
