//! Sample logs: each has a row in `examples/README.md`, and the answers of each version of the history server.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{Tree, file_name, parent};
use super::{Excuses, Faults, excused};

const LOGS: &str = "examples/logs";
/// A folder for each version of Spark.
const GOLDEN: &str = "examples/golden/rest";
/// What was asked of the server itself.
const SERVER: &str = "_server";
const PAGE: &str = "examples/README.md";

/// Logs that the history server cannot answer for.
const WITHOUT_GOLDEN: &Excuses = &[];

pub(super) fn check(tree: &Tree, faults: &mut Faults) {
    let logs: BTreeSet<&str> =
        tree.under(LOGS).filter_map(|path| path[LOGS.len() + 1..].split('/').next()).collect();
    let mut golden: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for path in tree.under(GOLDEN) {
        if let Some(name) = file_name(path).strip_suffix(".jsonl.zst") {
            golden.entry(parent(path)).or_default().insert(name);
        }
    }
    let rows: BTreeSet<&str> =
        tree.text(PAGE).unwrap_or_default().lines().filter_map(row).collect();
    for log in &logs {
        let without = golden.iter().filter(|(_, names)| !names.contains(attempt(log)));
        for (folder, _) in without.filter(|_| !excused(WITHOUT_GOLDEN, log)) {
            faults.push(format!(
                "{LOGS}/{log}: not in {folder}, nor in WITHOUT_GOLDEN of xtask/src/tidy/samples.rs"
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
    for (folder, names) in golden {
        for name in names.difference(&attempts).filter(|name| **name != SERVER) {
            faults.push(format!("{folder}: answers about {name}, which is not in {LOGS}"));
        }
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
