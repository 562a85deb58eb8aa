//! Spark's own history server, started on a folder with one log.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::measure::{Ran, Running, get, usage};
use super::{Form, Options, Sample, What};
use crate::Outcome;

const POLL: Duration = Duration::from_millis(100);
/// Long enough for anything but the replay that is measured.
const QUICK: Duration = Duration::from_mins(1);
/// Settings that keep a server from forgetting what it is asked about; `lab/shs.sh` sets the same.
const RETENTION: [(&str, u64); 8] = [
    ("spark.ui.retainedJobs", 1_000_000),
    ("spark.ui.retainedStages", 1_000_000),
    ("spark.ui.retainedTasks", 10_000_000),
    ("spark.ui.retainedDeadExecutors", 1_000_000),
    ("spark.sql.ui.retainedExecutions", 1_000_000),
    ("spark.sql.streaming.ui.retainedQueries", 1_000_000),
    ("spark.sql.streaming.ui.retainedProgressUpdates", 1_000_000),
    ("spark.history.retainedApplications", 500),
];

/// The Spark that `lab/setup.sh` installed below `lab-work`.
pub(super) fn installed() -> Option<PathBuf> {
    let versions = fs::read_dir("lab-work/venv").ok()?;
    let libraries = versions.filter_map(|v| fs::read_dir(v.ok()?.path().join("lib")).ok());
    let mut homes: Vec<PathBuf> = libraries
        .flatten()
        .filter_map(|python| Some(python.ok()?.path().join("site-packages/pyspark")))
        .filter(|home| home.join("bin/spark-class").exists())
        .collect();
    homes.sort();
    homes.pop()
}

/// Starts the server, waits until the log is listed, and measures the first request that makes it replay the log.
pub(super) fn measure(options: &Options, home: &Path, form: &Form, heap: &str) -> Outcome<Sample> {
    let folder = options.work.join("server");
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(folder.join("logs"))?;
    let log = form.path.file_name().ok_or("a log without a name")?;
    fs::hard_link(&form.path, folder.join("logs").join(log))?;
    let settings = settings(&folder, options.port)?;

    let started = Instant::now();
    let said = File::create(folder.join("server.log"))?;
    let child = Command::new(fs::canonicalize(home.join("bin/spark-class"))?)
        .args(["org.apache.spark.deploy.history.HistoryServer", "--properties-file"])
        .arg(settings)
        .env("SPARK_HOME", fs::canonicalize(home)?)
        .env("SPARK_LOCAL_IP", "127.0.0.1")
        .env("SPARK_DAEMON_MEMORY", heap)
        .env("SPARK_HISTORY_OPTS", "")
        .env("SPARK_DAEMON_JAVA_OPTS", "")
        .stdin(Stdio::null())
        .stderr(said.try_clone()?)
        .stdout(said)
        .spawn()?;
    let pid = child.id();
    let server = Running(child);
    let limit = Duration::from_secs(options.timeout_s);
    let id = loop {
        if let Some(id) = listed(options.port) {
            break id;
        }
        if usage(pid).ended || started.elapsed() > limit {
            return Err(format!("the history server did not list the log ({heap})").into());
        }
        sleep(POLL);
    };
    let listed_s = started.elapsed().as_secs_f64();
    let before = usage(pid);
    let asked = Instant::now();
    let path = format!("/api/v1/applications/{id}/stages?details=false");
    let answer = get(options.port, &path, limit);
    let wall_s = asked.elapsed().as_secs_f64();
    let after = usage(pid);
    let total_s = started.elapsed().as_secs_f64();
    let again = Instant::now();
    let repeated = answer.is_ok() && get(options.port, &path, limit).is_ok();
    let repeat_s = again.elapsed().as_secs_f64();
    drop(server);

    let (status, body) = answer.unwrap_or_default();
    let stages: Value = serde_json::from_slice(&body).unwrap_or_default();
    let stages = stages.as_array().map_or(&[][..], Vec::as_slice);
    let tasks: u64 = stages.iter().filter_map(|s| s["numCompleteTasks"].as_u64()).sum();
    let success = status == 200
        && stages.len() as u64 == options.stages
        && tasks == options.stages * options.tasks;
    if !success {
        eprintln!("  status {status}, {} stages, {tasks} tasks", stages.len());
    }
    let ran =
        Ran { wall_s, cpu_s: after.cpu_s - before.cpu_s, peak_bytes: after.peak_bytes, success };
    let more = json!({
        "status": status, "answer_bytes": body.len(), "stages": stages.len(), "tasks": tasks,
        "listed_s": listed_s, "total_s": total_s, "total_cpu_s": after.cpu_s,
        "repeat_s": repeated.then_some(repeat_s), "peak_bytes_before": before.peak_bytes,
    });
    Ok(Sample { form: form.name, what: What::Server { heap: heap.to_owned() }, ran, more })
}

/// The id of the only application, once the server lists it.
fn listed(port: u16) -> Option<String> {
    let (_, body) = get(port, "/api/v1/applications", QUICK).ok()?;
    let list: Value = serde_json::from_slice(&body).ok()?;
    Some(list.get(0)?.get("id")?.as_str()?.to_owned())
}

fn settings(folder: &Path, port: u16) -> Outcome<PathBuf> {
    let logs = fs::canonicalize(folder.join("logs"))?;
    let mut lines = vec![
        format!("spark.history.fs.logDirectory file://{}", logs.display()),
        format!("spark.history.ui.port {port}"),
    ];
    lines.extend(RETENTION.map(|(key, value)| format!("{key} {value}")));
    let path = fs::canonicalize(folder)?.join("server.conf");
    fs::write(&path, lines.join("\n"))?;
    Ok(path)
}
