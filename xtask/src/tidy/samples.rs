//! Sample logs: each has a row in `examples/README.md`, and the history server's answers beside it.

use std::collections::BTreeSet;

use super::tree::{Tree, file_name};
use super::{Excuses, Faults, excused};

const LOGS: &str = "examples/logs";
const GOLDEN: &str = "examples/golden";
const PAGE: &str = "examples/README.md";

/// Logs that the history server cannot answer for.
const WITHOUT_GOLDEN: &Excuses = &[];

pub(super) fn check(tree: &Tree, faults: &mut Faults) {
    let logs: BTreeSet<&str> =
        tree.under(LOGS).filter_map(|path| path[LOGS.len() + 1..].split('/').next()).collect();
    let golden: BTreeSet<&str> =
        tree.under(GOLDEN).filter_map(|path| file_name(path).strip_suffix(".jsonl.gz")).collect();
    let rows: BTreeSet<&str> =
        tree.text(PAGE).unwrap_or_default().lines().filter_map(row).collect();
    for log in &logs {
        if !golden.contains(attempt(log)) && !excused(WITHOUT_GOLDEN, log) {
            faults.push(format!(
                "{LOGS}/{log}: no golden, and not in WITHOUT_GOLDEN of xtask/src/tidy/samples.rs"
            ));
        }
        if !rows.contains(log) {
            faults.push(format!("{LOGS}/{log}: no row in {PAGE}"));
        }
    }
    for name in rows.difference(&logs) {
        faults.push(format!("{PAGE}: a row for {name}, which is not in {LOGS}"));
    }
    let attempts: BTreeSet<&str> = logs.iter().map(|log| attempt(log)).collect();
    for name in golden.difference(&attempts) {
        faults.push(format!("{GOLDEN}: answers about {name}, which is not in {LOGS}"));
    }
}

/// Application and attempt of a log's name: `app-1_2` of `app-1_2.zstd.inprogress` and of `eventlog_v2_app-1_2`.
fn attempt(log: &str) -> &str {
    let name = log.strip_prefix("eventlog_v2_").unwrap_or(log);
    name.split('.').next().unwrap_or(name)
}

/// The log that a table row is about: its first cell, in backticks.
fn row(line: &str) -> Option<&str> {
    let cell = line.strip_prefix("| `")?.split('`').next()?;
    Some(cell.trim_end_matches('/'))
}
