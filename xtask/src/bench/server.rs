//! Spark's own history server, started on a folder with one log.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use xtask::servers::{Server, Spark};

use super::measure::{Ran, usage};
use super::{Form, Options, Sample, What};
use crate::Outcome;

/// Starts the server, waits until the log is listed, and measures the first request that makes it replay the log.
pub(super) fn measure(options: &Options, home: &Path, form: &Form, heap: &str) -> Outcome<Sample> {
    let folder = options.work.join("server");
    drop(fs::remove_dir_all(&folder));
    let logs = folder.join("logs");
    fs::create_dir_all(&logs)?;
    let log = form.path.file_name().ok_or("a log without a name")?;
    fs::hard_link(&form.path, logs.join(log))?;

    let limit = Duration::from_secs(options.timeout_s);
    let started = Instant::now();
    let mut server = Spark { home, heap, work: &folder, settings: &[] }.start(&logs)?;
    server.wait(Some(1), limit)?;
    let listed_s = started.elapsed().as_secs_f64();
    let id = listed(&server)?;
    let before = usage(server.pid());
    let asked = Instant::now();
    let path = format!("/api/v1/applications/{id}/stages?details=false");
    let mut client = server.client()?.with_timeout(limit);
    let answer = client.get(&path);
    let wall_s = asked.elapsed().as_secs_f64();
    let after = usage(server.pid());
    let total_s = started.elapsed().as_secs_f64();
    let again = Instant::now();
    let repeated = answer.is_ok() && client.get(&path).is_ok();
    let repeat_s = again.elapsed().as_secs_f64();
    drop(server);

    let (status, body) = answer.map(|answer| (answer.status, answer.body)).unwrap_or_default();
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

/// The id of the only application.
fn listed(server: &Server) -> Outcome<String> {
    let answer = server.client()?.get("/api/v1/applications")?;
    let list: Value = serde_json::from_slice(&answer.body)?;
    Ok(list[0]["id"].as_str().ok_or("an application without an id")?.to_owned())
}
