//! What is known of one file or folder of a source.

use std::borrow::Cow;
use std::sync::Arc;

use ingest::{Candidate, Form};

use crate::attempt::Attempt;

/// What tells that a file or folder has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    pub(crate) form: Form,
    pub(crate) size_bytes: u64,
    pub(crate) modified_ns: i64,
    pub(crate) n_files: u32,
}

impl Fingerprint {
    pub(crate) fn of(candidate: &Candidate) -> Fingerprint {
        let Candidate { form, size_bytes, modified_ns, n_files, .. } = *candidate;
        Fingerprint { form, size_bytes, modified_ns, n_files }
    }
}

/// Why a file or folder is not listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The world refused; it may not do so the next time.
    Unreadable(String),
    /// It holds no application's log.
    NoLog(Cow<'static, str>),
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) fingerprint: Fingerprint,
    pub(crate) attempts: Vec<Arc<Attempt>>,
    pub(crate) trouble: Option<Trouble>,
    /// The end of an attempt is not known until all of its log is read.
    pub(crate) end_is_open: bool,
}
