//! Spark's event logs into stores: which files make a log, what their lines say, and how Spark would account for it.
//! A log's content never yields an error; what cannot be used is a gap.
#![forbid(unsafe_code)]

mod batch;
mod dispatch;
mod error;
mod gaps;
mod glance;
mod index_set;
mod json;
mod lines;
mod log;
mod read;
mod replay;
mod task_document;
mod task_line;
mod trackers;

pub use error::Error;
pub use glance::{Ended, Glance, glance};
pub use lines::JSON_DEPTH_MAX;
pub use log::{FOLDER_ENTRIES_MAX, FileIdentity, Log, logs_at};
pub use read::{Freshness, Options, freshness, read, scanned_bytes};
pub use scan::Limits;
