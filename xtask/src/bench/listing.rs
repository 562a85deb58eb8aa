//! `xtask bench listing`: folders of many logs, from the start of a server until it lists them all.
//!
//! A server is asked for the newest hundred until they are right, then for the whole list until it is complete. The list
//! is asked for seldom, for writing it takes time from the server that is measured.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use xtask::servers::{self, Server, Spark};

use super::machine::Machine;
use super::measure::usage;
use super::page::{bytes, grouped, push_row, seconds};
use super::section;
use crate::{Outcome, manylogs};

const FIRST: usize = 100;
/// Times the first page is asked for when all are listed.
const N_PAGES: usize = 20;
const POLL: Duration = Duration::from_millis(50);
/// After an answer of some length, a server is left alone so many times as long.
const REST: u32 = 4;

#[derive(clap::Args)]
pub(super) struct Options {
    /// Folder for logs and caches; logs found there are used again.
    #[arg(long, default_value = "lab-work/bench")]
    work: PathBuf,
    #[arg(long, default_value = "target/release/afterspark")]
    afterspark: PathBuf,
    /// Log of the application that all are copies of
    #[arg(long, default_value = "examples/logs/local-1796084909005.zstd")]
    log: PathBuf,
    #[arg(long, default_value_t = 10_000)]
    logs: usize,
    /// Logs of the folder that only ours lists
    #[arg(long, default_value_t = 100_000)]
    many_logs: usize,
    /// Let the history server list that folder too.
    #[arg(long)]
    all: bool,
    /// Heap of the history server
    #[arg(long, default_value = "4g")]
    heap: String,
    /// Where Spark is; by default what `lab/setup.sh` installed below lab-work.
    #[arg(long)]
    spark_home: Option<PathBuf>,
    /// Seconds until a server is given up
    #[arg(long, default_value_t = 3_600)]
    timeout_s: u64,
    #[arg(long, default_value = "docs/performance.md")]
    page: PathBuf,
    /// Folder of the raw numbers; by default benches/runs/DATE.
    #[arg(long)]
    record: Option<PathBuf>,
}

/// One start of a server.
struct Run {
    n_logs: usize,
    who: &'static str,
    /// Until the newest hundred are answered, and until all are.
    first_s: f64,
    all_s: f64,
    /// What the newest hundred take when all are listed: the slowest of some answers.
    page_s: f64,
    cpu_s: f64,
    peak_bytes: u64,
    held_bytes: u64,
}

pub(super) fn run(options: &Options) -> Outcome<()> {
    let home = options.spark_home.clone().or_else(servers::installed);
    let home = home.ok_or("no Spark: run lab/setup.sh, or give --spark-home")?;
    let machine = Machine::here(&options.afterspark, Some(&home));
    let mut runs = Vec::new();
    for n_logs in [options.logs, options.many_logs] {
        let logs = options.work.join(format!("many-{n_logs}"));
        eprintln!("{} logs", grouped(n_logs as u64));
        manylogs::write(&options.log, &logs, n_logs)?;
        if n_logs == options.logs || options.all {
            spark(options, &home, &logs, n_logs, &mut runs)?;
        }
        ours(options, &logs, n_logs, &mut runs)?;
    }
    let folder = options
        .record
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("benches/runs/{}", machine.date)));
    record(&folder, options, &machine, &runs)?;
    section::write(&options.page, section::LISTING, &page(options, &machine, &runs, &folder))?;
    println!("{} and {}", options.page.display(), folder.display());
    Ok(())
}

fn spark(
    options: &Options,
    home: &Path,
    logs: &Path,
    n_logs: usize,
    runs: &mut Vec<Run>,
) -> Outcome<()> {
    let work = options.work.join("listing-server");
    drop(fs::remove_dir_all(&work));
    let store = work.join("store");
    fs::create_dir_all(&store)?;
    let store = fs::canonicalize(store)?.display().to_string();
    let on_disk = [("spark.history.store.path", store.as_str())];
    for (who, settings) in [
        ("history server, store in memory", &[][..]),
        ("history server, store on disk, first start", &on_disk[..]),
        ("history server, store on disk, restart", &on_disk[..]),
    ] {
        let spark = Spark { home, heap: &options.heap, work: &work, settings };
        runs.push(measure(options, who, n_logs, || spark.start(logs))?);
    }
    Ok(())
}

fn ours(options: &Options, logs: &Path, n_logs: usize, runs: &mut Vec<Run>) -> Outcome<()> {
    let cache = options.work.join("listing-cache");
    drop(fs::remove_dir_all(&cache));
    let cache = cache.display().to_string();
    for who in ["Afterspark, first start", "Afterspark, restart"] {
        let start = || servers::afterspark(&options.afterspark, logs, &["--cache-dir", &cache]);
        runs.push(measure(options, who, n_logs, start)?);
    }
    Ok(())
}

fn measure(
    options: &Options,
    who: &'static str,
    n_logs: usize,
    start: impl FnOnce() -> Outcome<Server>,
) -> Outcome<Run> {
    eprintln!("  {who}");
    let limit = Duration::from_secs(options.timeout_s);
    let started = Instant::now();
    let server = start()?;
    let ids = |n: usize| (n_logs - n..n_logs).rev().map(manylogs::id).collect::<Vec<_>>();
    let first = ids(FIRST.min(n_logs));
    let is_first = |listed: &[String]| listed == first;
    let first_s = wait(&server, &format!("?limit={FIRST}"), started, limit, is_first)?;
    let all: BTreeSet<String> = ids(n_logs).into_iter().collect();
    let is_all = |listed: &[String]| {
        listed.len() == n_logs
            && listed.starts_with(&first)
            && listed.iter().all(|id| all.contains(id))
    };
    let all_s = wait(&server, "", started, limit, is_all)?;
    let page_s = page_seconds(&server)?;
    let used = usage(server.pid());
    server.stop()?;
    let (cpu_s, peak_bytes, held_bytes) = (used.cpu_s, used.peak_bytes, used.held_bytes);
    Ok(Run { n_logs, who, first_s, all_s, page_s, cpu_s, peak_bytes, held_bytes })
}

/// Asks for applications until the answer is right; the seconds since the start.
fn wait(
    server: &Server,
    query: &str,
    started: Instant,
    limit: Duration,
    is_right: impl Fn(&[String]) -> bool,
) -> Outcome<f64> {
    let mut client = server.client()?;
    let mut n_listed = 0;
    while started.elapsed() < limit {
        let asked = Instant::now();
        // Until it listens, there is no answer.
        if let Ok(answer) = client.get(&format!("/api/v1/applications{query}")) {
            let answered_s = started.elapsed().as_secs_f64();
            let list: Vec<Value> = serde_json::from_slice(&answer.body).unwrap_or_default();
            let ids: Vec<String> =
                list.iter().filter_map(|app| Some(app["id"].as_str()?.to_owned())).collect();
            if is_right(&ids) {
                return Ok(answered_s);
            }
            n_listed = ids.len();
        }
        sleep(POLL.max(asked.elapsed() * REST));
    }
    Err(format!("{} lists only {n_listed} applications", server.base_url).into())
}

fn page_seconds(server: &Server) -> Outcome<f64> {
    let mut client = server.client()?;
    let mut slowest_s = 0.0_f64;
    for _ in 0..N_PAGES {
        let asked = Instant::now();
        client.get(&format!("/api/v1/applications?limit={FIRST}"))?;
        slowest_s = slowest_s.max(asked.elapsed().as_secs_f64());
    }
    Ok(slowest_s)
}

fn record(folder: &Path, options: &Options, machine: &Machine, runs: &[Run]) -> Outcome<()> {
    let mut lines = vec![json!({
        "machine": machine.as_json(), "log": options.log.display().to_string(), "heap": options.heap,
    })];
    lines.extend(runs.iter().map(|run| {
        json!({
            "who": run.who, "logs": run.n_logs, "first_s": run.first_s, "all_s": run.all_s, "page_s": run.page_s,
            "cpu_s": run.cpu_s, "peak_bytes": run.peak_bytes, "held_bytes": run.held_bytes,
        })
    }));
    section::record(folder, "listing.jsonl", &lines)
}

fn page(options: &Options, machine: &Machine, runs: &[Run], folder: &Path) -> String {
    let mut text = format!(
        "{heading}\n\n\
         A folder of small applications, copies of `{log}` under their own ids and times, each a zstd file.\n\
         From the start of the process until `/api/v1/applications?limit={FIRST}` answers with the newest, and until \
         `/api/v1/applications` lists them all. Then the newest {FIRST} are asked for again: the slowest of {N_PAGES} answers.\n\
         Measured on {date} on the machine above, {afterspark} (commit {commit}) and Spark {spark} with heap {heap}, one run \
         each; raw numbers in `{folder}/listing.jsonl`.\n\n\
         | logs | what | seconds to the newest {FIRST} | seconds to all | newest {FIRST} then | processor seconds | peak memory | memory held then |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        heading = section::LISTING,
        log = options.log.display(),
        date = machine.date,
        afterspark = machine.afterspark,
        commit = machine.commit,
        spark = machine.spark,
        heap = options.heap,
        folder = folder.display(),
    );
    for run in runs {
        push_row(
            &mut text,
            &[
                grouped(run.n_logs as u64),
                run.who.to_owned(),
                seconds(run.first_s),
                seconds(run.all_s),
                seconds(run.page_s),
                seconds(run.cpu_s),
                bytes(run.peak_bytes),
                bytes(run.held_bytes),
            ],
        );
    }
    let all = if options.all { " --all" } else { "" };
    let repeat = format!(
        "\nThe peak counts what the asking itself costs, for the whole list is written each time. To repeat it:\n\n\
         ```sh\n\
         cargo run --release -p xtask -- bench listing --logs {} --many-logs {} --heap {}{all}\n\
         ```\n",
        options.logs, options.many_logs, options.heap
    );
    text + &repeat
}
