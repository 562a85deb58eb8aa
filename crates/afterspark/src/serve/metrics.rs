//! Numbers about the server in Prometheus' text form.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use fleet::Progress;

use super::answers::Sockets;
use super::shelf::Shelved;

/// Upper bounds of the latency histogram, in microseconds.
const BUCKETS_US: [u64; 14] = [
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    150_000,
    300_000,
    1_000_000,
    2_500_000,
    10_000_000,
    60_000_000,
    600_000_000,
];

/// Requests by endpoint and status. Endpoints are those of the routes, so that clients cannot make new ones.
#[derive(Default)]
pub(super) struct Metrics {
    by_endpoint: Mutex<BTreeMap<String, Latency>>,
    n_panics: AtomicU64,
    scan_us: AtomicU64,
}

#[derive(Default)]
struct Latency {
    by_status: BTreeMap<u16, u64>,
    buckets: [u64; BUCKETS_US.len()],
    n: u64,
    sum_us: u64,
}

/// What is told beside the requests.
pub(super) struct Now<'n> {
    pub(super) progress: &'n Progress,
    pub(super) shelved: Shelved,
    pub(super) now_ms: i64,
    pub(super) sockets: Sockets,
}

impl Metrics {
    pub(super) fn count(&self, endpoint: &str, status: u16, took: Duration) {
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let mut by_endpoint = self.by_endpoint.lock().unwrap_or_else(PoisonError::into_inner);
        if !by_endpoint.contains_key(endpoint) {
            by_endpoint.insert(endpoint.to_owned(), Latency::default());
        }
        let Some(latency) = by_endpoint.get_mut(endpoint) else { return };
        *latency.by_status.entry(status).or_default() += 1;
        latency.n += 1;
        latency.sum_us = latency.sum_us.saturating_add(us);
        if let Some(at) = BUCKETS_US.iter().position(|bound| us <= *bound) {
            latency.buckets[at] += 1;
        }
    }

    pub(super) fn count_panic(&self) {
        self.n_panics.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn scan_took(&self, took: Duration) {
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.scan_us.store(us, Ordering::Relaxed);
    }

    /// All of it.
    pub(super) fn text(&self, now: &Now<'_>) -> String {
        let mut out = Text::default();
        self.requests(&mut out);
        let shelved = &now.shelved;
        out.one("connections", "gauge", "Connections that are open", now.sockets.n_connections);
        out.one("streams", "gauge", "Downloads that are being sent", now.sockets.n_streams);
        out.one(
            "panics_total",
            "counter",
            "Requests that met a bug",
            self.n_panics.load(Ordering::Relaxed),
        );
        out.one(
            "log_lines_dropped_total",
            "counter",
            "Request log lines that nobody read in time",
            now.sockets.n_lines_dropped,
        );
        out.one("open_stores", "gauge", "Application attempts that are open", shelved.n_stores);
        out.one("open_stores_bytes", "gauge", "Size of their stores", shelved.stores_bytes);
        out.head("stores_opened_total", "counter", "Stores opened, by where they came from");
        for (origin, n) in ["cache", "continued", "read"].into_iter().zip(shelved.n_opened) {
            out.value("stores_opened_total", &[("origin", origin)], n);
        }
        out.one(
            "stores_failed_total",
            "counter",
            "Logs that could not be opened",
            shelved.n_failed,
        );
        out.one(
            "log_read_bytes_total",
            "counter",
            "Bytes of logs read, as stored",
            shelved.read_bytes,
        );
        out.one("readings", "gauge", "Logs that are being read", shelved.n_reading);
        out.one("readings_waiting", "gauge", "Logs that wait to be read", shelved.n_waiting);
        out.head("gaps", "gauge", "Gaps in the logs that are open, by severity");
        for (severity, n) in ["note", "loss", "error"].into_iter().zip(shelved.gaps) {
            out.value("gaps", &[("severity", severity)], n);
        }
        self.scans(&mut out, now);
        out.out
    }

    fn requests(&self, out: &mut Text) {
        let by_endpoint = self.by_endpoint.lock().unwrap_or_else(PoisonError::into_inner);
        out.head("requests_total", "counter", "Requests answered, by endpoint and status");
        for (endpoint, latency) in &*by_endpoint {
            for (status, n) in &latency.by_status {
                let status = status.to_string();
                out.value("requests_total", &[("endpoint", endpoint), ("status", &status)], *n);
            }
        }
        out.head("request_seconds", "histogram", "Time to answer, by endpoint");
        for (endpoint, latency) in &*by_endpoint {
            let mut sum = 0;
            for (bound, n) in BUCKETS_US.iter().zip(latency.buckets) {
                sum += n;
                let bound = seconds(*bound);
                out.value("request_seconds_bucket", &[("endpoint", endpoint), ("le", &bound)], sum);
            }
            let all = [("endpoint", endpoint.as_str()), ("le", "+Inf")];
            out.value("request_seconds_bucket", &all, latency.n);
            let total = seconds(latency.sum_us);
            out.value("request_seconds_sum", &[("endpoint", endpoint)], total);
            out.value("request_seconds_count", &[("endpoint", endpoint)], latency.n);
        }
    }

    fn scans(&self, out: &mut Text, now: &Now<'_>) {
        let progress = now.progress;
        out.one("applications", "gauge", "Applications that are listed", progress.n_applications);
        out.head("logs", "gauge", "Files and folders in the sources, by what became of them");
        for (state, n) in [
            ("listed", progress.n_logs),
            ("pending", progress.n_pending),
            ("unreadable", progress.n_unreadable),
            ("other", progress.n_others),
        ] {
            out.value("logs", &[("state", state)], n);
        }
        out.one("scans_total", "counter", "Scans of the sources", progress.n_scans);
        out.one("scanning", "gauge", "Whether a scan is going on", u8::from(progress.scanning));
        let took = seconds(self.scan_us.load(Ordering::Relaxed));
        out.one("scan_seconds", "gauge", "Time that the last scan took", took);
        if let Some(at) = progress.scanned_at_ms {
            let lag_ms = u64::try_from(now.now_ms.saturating_sub(at)).unwrap_or(0);
            out.one(
                "scan_lag_seconds",
                "gauge",
                "Time since the last scan",
                seconds(lag_ms.saturating_mul(1_000)),
            );
        }
    }
}

fn seconds(us: u64) -> String {
    let text = format!("{}.{:06}", us / 1_000_000, us % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[derive(Default)]
struct Text {
    out: String,
}

// writing to a string cannot fail
impl Text {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        write!(self.out, "# HELP afterspark_{name} {help}\n# TYPE afterspark_{name} {kind}\n").ok();
    }

    fn value(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        write!(self.out, "afterspark_{name}").ok();
        for (at, (label, text)) in labels.iter().enumerate() {
            let open = if at == 0 { '{' } else { ',' };
            write!(self.out, "{open}{label}=\"{text}\"").ok();
        }
        let close = if labels.is_empty() { "" } else { "}" };
        writeln!(self.out, "{close} {value}").ok();
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: impl std::fmt::Display) {
        self.head(name, kind, help);
        self.value(name, &[], value);
    }
}
