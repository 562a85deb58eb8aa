//! `xtask compare CORPUS GOLDEN`: the numbers of `afterspark report --format json` against the answers of Spark's own
//! history server about the same logs, log by log.

mod answers;
mod fields;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

pub use answers::Golden;
pub use fields::{Comparison, compare};

use crate::Outcome;

#[derive(clap::Args)]
pub struct Options {
    /// Folder of event logs
    corpus: PathBuf,
    /// Folder of recorded answers: APP[_ATTEMPT].jsonl.zst or .gz
    golden: PathBuf,
    /// The program to compare
    #[arg(long, default_value = "target/release/afterspark")]
    afterspark: PathBuf,
    /// Only logs whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Differences shown of each log
    #[arg(long, default_value_t = 10)]
    show: usize,
    /// A table of the corpus with columns `path` and `events`: compare the number of events too
    #[arg(long)]
    index: Option<PathBuf>,
}

/// One log's result.
struct Line {
    log: String,
    /// Application id and attempt.
    app: String,
    comparison: Comparison,
}

/// Runs the comparison and prints a table; the error says how much differs.
///
/// # Errors
/// When a log cannot be reported or a number differs that no named exception covers.
pub fn run(options: &Options, print: &mut dyn FnMut(String)) -> Outcome<()> {
    let events = options.index.as_deref().map(expected_events).transpose()?.unwrap_or_default();
    let folder =
        options.corpus.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let mut lines = Vec::new();
    let mut not_read = Vec::new();
    for log in logs(&options.corpus, &options.only)? {
        let name = log.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        match report(&options.afterspark, &log) {
            Ok(report) => {
                for app in report["applications"].as_array().into_iter().flatten() {
                    let mut comparison = compare_app(app, &name, &options.golden)?;
                    let n_events = n_event_lines(app);
                    if let Some(expected) = events.get(&format!("{folder}/{name}")) {
                        comparison.equal(*expected == n_events, || {
                            format!("events: {expected} expected, {n_events} read")
                        });
                    }
                    let app = format!(
                        "{} {}",
                        app["application"]["id"], app["application"]["attempt_id"]
                    );
                    lines.push(Line { log: name.clone(), app, comparison });
                }
            }
            Err(error) => not_read.push(format!("{name}: {error}")),
        }
    }
    except_doubles(&mut lines);
    print_table(&lines, &not_read, options.show, print);
    let n_different: usize = lines.iter().map(|line| line.comparison.differences.len()).sum();
    if n_different > 0 { Err(format!("{n_different} numbers differ").into()) } else { Ok(()) }
}

/// Lines that hold an event, whole or cut: the table counts them so.
fn n_event_lines(app: &Value) -> u64 {
    let torn =
        app["gaps"].as_array().into_iter().flatten().filter(|gap| gap["kind"] == "torn-line");
    app["application"]["n_events"].as_u64().unwrap_or(0)
        + torn.filter_map(|gap| gap["n"].as_u64()).sum::<u64>()
}

/// Of several logs of one attempt (a left-over `.inprogress` file) the server shows one; the others are not held against it.
fn except_doubles(lines: &mut [Line]) {
    for at in 0..lines.len() {
        let fewest = lines
            .iter()
            .filter(|line| line.app == lines[at].app)
            .map(|line| line.comparison.differences.len())
            .min();
        let comparison = &mut lines[at].comparison;
        if fewest.is_some_and(|fewest| fewest < comparison.differences.len()) {
            comparison.except_all("the server shows another log of the same attempt");
        }
    }
}

fn print_table(lines: &[Line], not_read: &[String], show: usize, print: &mut dyn FnMut(String)) {
    print(format!("{:>9} {:>9} {:>9}  log", "equal", "different", "excepted"));
    let (mut equal, mut different) = (0, 0);
    let mut excepted: BTreeMap<&str, usize> = BTreeMap::new();
    for Line { log, comparison, .. } in lines {
        let n_excepted: usize = comparison.excepted.values().sum();
        let found = if comparison.has_golden { "" } else { "   (the server does not list it)" };
        print(format!(
            "{:>9} {:>9} {n_excepted:>9}  {log}{found}",
            comparison.n_equal,
            comparison.differences.len()
        ));
        for difference in comparison.differences.iter().take(show) {
            print(format!("{:>31}{difference}", ""));
        }
        equal += comparison.n_equal;
        different += comparison.differences.len();
        for (why, n) in &comparison.excepted {
            *excepted.entry(why).or_default() += n;
        }
    }
    let n_excepted: usize = excepted.values().sum();
    print(format!("{equal:>9} {different:>9} {n_excepted:>9}  all {} logs", lines.len()));
    for (why, n) in excepted {
        print(format!("{n:>29}  excepted: {why}"));
    }
    for line in not_read {
        print(format!("not read: {line}"));
    }
}

/// The comparison of one application of a report with what the server said of it.
///
/// # Errors
/// When the answers are there and cannot be read.
pub fn compare_app(app: &Value, log: &str, golden: &Path) -> Outcome<Comparison> {
    let frame = &app["application"];
    let id = frame["id"].as_str().unwrap_or(log);
    let attempt = frame["attempt_id"].as_str().map(|a| format!("_{a}")).unwrap_or_default();
    let golden = crate::rest::find(golden, &format!("{id}{attempt}"));
    let golden = golden.map(|path| Golden::load(&path)).transpose()?;
    Ok(golden.map_or_else(Comparison::without_golden, |golden| compare(app, &golden)))
}

fn logs(corpus: &Path, only: &str) -> Outcome<Vec<PathBuf>> {
    let mut out = Vec::new();
    for entry in
        std::fs::read_dir(corpus).map_err(|e| format!("cannot list {}: {e}", corpus.display()))?
    {
        let path = entry?.path();
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let is_log = !path.is_dir() || name.starts_with("eventlog_v2_");
        if is_log && !name.starts_with('.') && name.contains(only) {
            out.push(path);
        }
    }
    out.sort();
    Ok(out)
}

/// The report of one log with all stage summaries.
///
/// # Errors
/// What the program said when it could not.
pub fn report(afterspark: &Path, log: &Path) -> Outcome<Value> {
    let output = Command::new(afterspark)
        .args(["report", "--no-cache", "--format", "json", "--stage", "all"])
        .arg(log)
        .output()
        .map_err(|e| format!("cannot run {}: {e}", afterspark.display()))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr)
            .lines()
            .collect::<Vec<_>>()
            .join(" ")
            .into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Number of events by the last two components of the path, from a table with a heading line.
fn expected_events(path: &Path) -> Outcome<BTreeMap<String, u64>> {
    let text = std::fs::read_to_string(path)?;
    let mut lines = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let heading = lines.next().unwrap_or_default();
    let column = |name| {
        heading
            .iter()
            .position(|h| *h == name)
            .ok_or(format!("no column {name} in {}", path.display()))
    };
    let (at, n) = (column("path")?, column("events")?);
    let row = |cells: Vec<&str>| Some(((*cells.get(at)?).to_owned(), cells.get(n)?.parse().ok()?));
    Ok(lines.filter_map(row).collect())
}
