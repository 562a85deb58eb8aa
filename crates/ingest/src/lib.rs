//! Spark's event logs into stores: which files make a log, what their lines say, and how Spark would account for it.
//! A log's content never yields an error; what cannot be used is a gap.
#![forbid(unsafe_code)]

mod batch;
mod candidates;
mod dispatch;
mod error;
mod freshness;
mod gaps;
mod glance;
mod index_set;
mod instant;
mod json;
mod lines;
mod log;
mod read;
mod repair;
mod replay;
mod task_document;
mod task_line;
mod trackers;

pub use candidates::{Candidate, Form, candidate, candidates};
pub use error::Error;
pub use freshness::{Freshness, freshness};
pub use glance::{Ended, Glance, glance, glance_at_start, glance_at_whole_end};
pub use lines::JSON_DEPTH_MAX;
pub use log::{FOLDER_ENTRIES_MAX, FileIdentity, Log, LogFile, files_of_log, logs_at};
pub use read::{Options, read, scanned_bytes};
pub use scan::Limits;
