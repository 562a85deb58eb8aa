//! How far scans have come, and what they could not read.

/// A file or folder that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub path: String,
    pub what: String,
}

/// The state of the list; plain numbers for metrics and for the API.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub n_applications: usize,
    /// Files and folders that hold logs.
    pub n_logs: usize,
    /// That were seen and not yet looked into.
    pub n_pending: usize,
    /// That hold no application's log.
    pub n_others: usize,
    pub n_unreadable: usize,
    pub n_scans: u64,
    /// Whether a scan is going on.
    pub scanning: bool,
    /// The last scan that was finished.
    pub scanned_at_ms: Option<i64>,
    /// Files and folders that cannot be read; the first hundred.
    pub problems: Vec<Problem>,
}

/// Problems that are told one by one.
pub(crate) const PROBLEMS_MAX: usize = 100;
