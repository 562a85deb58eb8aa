//! `xtask bench load`: many clients at once, each on a connection of its own, asking everything about some applications.
//!
//! The questions and the status of their answers are those of a recording, some of each class of endpoints for each
//! attempt. Only servers that this command started are asked, on this machine, for a limited time.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use serde_json::json;
use xtask::rest::{self, Recording, method_and_path};
use xtask::servers::{self, Server, Spark};

use super::machine::Machine;
use super::measure::usage;
use super::page::{bytes, grouped, push_row, seconds};
use super::section;
use crate::Outcome;

/// Questions of a class about an attempt: the first, the middle and the last of a recording.
const PER_CLASS: usize = 3;
const BETWEEN_CLIENTS: Duration = Duration::from_millis(20);
const SERVER: &str = "_server";

#[derive(clap::Args)]
pub(super) struct Options {
    /// Folder for caches and the server's settings
    #[arg(long, default_value = "lab-work/bench")]
    work: PathBuf,
    #[arg(long, default_value = "target/release/afterspark")]
    afterspark: PathBuf,
    /// Folder of logs, and the recorded answers about it
    #[arg(long, default_value = "examples/logs")]
    logs: PathBuf,
    #[arg(long, default_value = "examples/golden/rest/4.3")]
    recorded: PathBuf,
    /// Attempts that are asked about
    #[arg(long, default_value_t = 20)]
    attempts: usize,
    #[arg(long, default_value_t = 64)]
    clients: usize,
    /// Seconds that each server is asked
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Heap of the history server
    #[arg(long, default_value = "4g")]
    heap: String,
    /// Where Spark is; by default what `lab/setup.sh` installed below lab-work.
    #[arg(long)]
    spark_home: Option<PathBuf>,
    #[arg(long)]
    no_server: bool,
    #[arg(long, default_value = "docs/performance.md")]
    page: PathBuf,
    /// Folder of the raw numbers; by default benches/runs/DATE.
    #[arg(long)]
    record: Option<PathBuf>,
}

struct Question {
    /// Class of endpoints, without what is said of its parameters.
    class: String,
    recorded: String,
    status: u16,
}

/// What one server did.
struct Run {
    who: &'static str,
    /// Seconds of each answer by class, lowest first.
    by_class: BTreeMap<String, Vec<f64>>,
    all: Vec<f64>,
    n_errors: usize,
    first_error: Option<String>,
    wall_s: f64,
    cpu_s: f64,
    peak_bytes: u64,
}

pub(super) fn run(options: &Options) -> Outcome<()> {
    let home = options.spark_home.clone().or_else(servers::installed);
    let machine = Machine::here(&options.afterspark, home.as_deref());
    let questions = questions(options)?;
    let limit = Duration::from_mins(10);
    let mut runs = Vec::new();
    if !options.no_server {
        let home = home.ok_or("no Spark: run lab/setup.sh, or give --spark-home or --no-server")?;
        let work = options.work.join("load-server");
        let spark = Spark { home: &home, heap: &options.heap, work: &work, settings: &[] };
        let mut server = spark.start(&options.logs)?;
        server.wait(None, limit)?;
        runs.push(load(options, "history server", &server, &questions)?);
    }
    let cache = options.work.join("load-cache");
    drop(fs::remove_dir_all(&cache));
    let cache = cache.display().to_string();
    let mut server =
        servers::afterspark(&options.afterspark, &options.logs, &["--cache-dir", &cache])?;
    server.wait(None, limit)?;
    runs.push(load(options, "Afterspark", &server, &questions)?);
    drop(server);

    let folder = options
        .record
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("benches/runs/{}", machine.date)));
    record(&folder, options, &machine, &runs)?;
    let text = page(options, &machine, &runs, &folder, questions.len());
    section::write(&options.page, section::LOAD, &text)?;
    println!("{} and {}", options.page.display(), folder.display());
    Ok(())
}

fn questions(options: &Options) -> Outcome<Vec<Question>> {
    let mut files = rest::files(&options.recorded)?;
    let is_server =
        |path: &PathBuf| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(SERVER));
    let (server, mut attempts): (Vec<_>, Vec<_>) = files.drain(..).partition(is_server);
    attempts.truncate(options.attempts);
    let mut questions = Vec::new();
    for path in server.iter().chain(&attempts) {
        let mut by_class: BTreeMap<String, Vec<Question>> = BTreeMap::new();
        for record in Recording::load(path)?.records {
            let class = record.class.clone();
            let question = Question {
                class: class.split(" ?").next().unwrap_or_default().to_owned(),
                recorded: record.path,
                status: record.status,
            };
            by_class.entry(class).or_default().push(question);
        }
        for (_, of_class) in by_class {
            let last = of_class.len() - 1;
            let chosen: Vec<usize> = (0..PER_CLASS).map(|i| i * last / (PER_CLASS - 1)).collect();
            let is_chosen = |(i, _): &(usize, Question)| chosen.contains(i);
            questions.extend(of_class.into_iter().enumerate().filter(is_chosen).map(|(_, q)| q));
        }
    }
    Ok(questions)
}

/// What one client saw: class and seconds of each answer.
#[derive(Default)]
struct Seen<'q> {
    answers: Vec<(&'q str, f64)>,
    n_errors: usize,
    first_error: Option<String>,
}

fn load(
    options: &Options,
    who: &'static str,
    server: &Server,
    questions: &[Question],
) -> Outcome<Run> {
    eprintln!("{who}: {} questions", questions.len());
    // Once before, so that every application is open and Java's code is compiled in part.
    ask(server, questions, 0, |n| n < questions.len())?;
    let before = usage(server.pid());
    let started = Instant::now();
    let time = Duration::from_secs(options.seconds);
    let seen: Vec<Outcome<Seen<'_>>> = thread::scope(|scope| {
        let client = |i: usize| {
            let from = i * questions.len() / options.clients;
            // Not all in one moment: Java's queue of connections that wait to be accepted holds 50.
            sleep(BETWEEN_CLIENTS);
            scope.spawn(move || ask(server, questions, from, |_| started.elapsed() < time))
        };
        let clients: Vec<_> = (0..options.clients).map(client).collect();
        let joined = clients.into_iter().map(|c| c.join().map_err(|_| "a client panicked".into()));
        joined.map(|seen| seen.and_then(|seen| seen)).collect()
    });
    let wall_s = started.elapsed().as_secs_f64();
    let after = usage(server.pid());
    let mut run = Run {
        who,
        by_class: BTreeMap::new(),
        all: Vec::new(),
        n_errors: 0,
        first_error: None,
        wall_s,
        cpu_s: after.cpu_s - before.cpu_s,
        peak_bytes: after.peak_bytes,
    };
    for seen in seen {
        let seen = seen?;
        run.n_errors += seen.n_errors;
        run.first_error = run.first_error.or(seen.first_error);
        for (class, s) in seen.answers {
            run.by_class.entry(class.to_owned()).or_default().push(s);
            run.all.push(s);
        }
    }
    run.all.sort_by(f64::total_cmp);
    run.by_class.values_mut().for_each(|all| all.sort_by(f64::total_cmp));
    Ok(run)
}

/// Asks one question after the other, from one of them on and round again, as long as it should.
fn ask<'q>(
    server: &Server,
    questions: &'q [Question],
    from: usize,
    goes_on: impl Fn(usize) -> bool,
) -> Outcome<Seen<'q>> {
    let mut client = server.client()?;
    let mut seen = Seen::default();
    for (n, question) in questions.iter().cycle().skip(from).enumerate() {
        if !goes_on(n) {
            break;
        }
        let (method, path) = method_and_path(&question.recorded);
        let asked = Instant::now();
        let answer = client.ask(method, &format!("/api/v1{path}"));
        let s = asked.elapsed().as_secs_f64();
        let wrong = match answer {
            Ok(answer) if answer.status == question.status => None,
            Ok(answer) => Some(format!("status {}", answer.status)),
            Err(error) => Some(error.to_string()),
        };
        if let Some(wrong) = wrong {
            seen.n_errors += 1;
            seen.first_error.get_or_insert(format!("{}: {wrong}", question.recorded));
        }
        seen.answers.push((&question.class, s));
    }
    Ok(seen)
}

/// The value that a share of all stays below.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = (sorted.len() as f64 * share) as usize;
    sorted.get(at.min(sorted.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

fn record(folder: &Path, options: &Options, machine: &Machine, runs: &[Run]) -> Outcome<()> {
    let mut lines = vec![json!({
        "machine": machine.as_json(), "clients": options.clients, "seconds": options.seconds,
        "attempts": options.attempts, "heap": options.heap,
    })];
    for run in runs {
        let spread = |all: &[f64]| {
            json!({
                "answers": all.len(), "median_s": quantile(all, 0.5), "p99_s": quantile(all, 0.99),
                "slowest_s": quantile(all, 1.0),
            })
        };
        let classes: BTreeMap<_, _> =
            run.by_class.iter().map(|(class, all)| (class, spread(all))).collect();
        lines.push(json!({
            "who": run.who, "wall_s": run.wall_s, "cpu_s": run.cpu_s, "peak_bytes": run.peak_bytes,
            "errors": run.n_errors, "first_error": run.first_error, "all": spread(&run.all),
            "classes": classes,
        }));
    }
    section::record(folder, "load.jsonl", &lines)
}

fn page(
    options: &Options,
    machine: &Machine,
    runs: &[Run],
    folder: &Path,
    n_questions: usize,
) -> String {
    let mut text = format!(
        "{heading}\n\n\
         {clients} clients at once, each on a kept connection of this machine, asked {n_questions} questions about \
         {attempts} attempts of `{logs}` for {seconds} s, one after the other and round again:\nsome of every class of \
         endpoints, errors too. An answer with another status than the recorded one is an error.\n\
         All applications were asked about once before. Clients and server share the machine's cores.\n\
         Measured on {date} on the machine above, {afterspark} (commit {commit}) and Spark {spark} with heap {heap}; raw \
         numbers in `{folder}/load.jsonl`.\n\n\
         | server | answers | answers a second | median | 99 % within | slowest | errors | processor seconds | peak memory |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        heading = section::LOAD,
        clients = options.clients,
        attempts = options.attempts,
        logs = options.logs.display(),
        seconds = options.seconds,
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
                run.who.to_owned(),
                grouped(run.all.len() as u64),
                grouped((run.all.len() as f64 / run.wall_s) as u64),
                ms(quantile(&run.all, 0.5)),
                ms(quantile(&run.all, 0.99)),
                ms(quantile(&run.all, 1.0)),
                grouped(run.n_errors as u64),
                seconds(run.cpu_s),
                bytes(run.peak_bytes),
            ],
        );
    }
    text.push_str("\n| endpoint |");
    text.extend(runs.iter().map(|run| format!(" {}: median | 99 % within |", run.who)));
    text.push_str("\n| --- |");
    text.extend(runs.iter().map(|_| " --- | --- |"));
    text.push('\n');
    for class in
        runs.iter().flat_map(|run| run.by_class.keys()).collect::<std::collections::BTreeSet<_>>()
    {
        let mut cells = vec![class.clone()];
        for run in runs {
            let all = run.by_class.get(class).map(Vec::as_slice).unwrap_or_default();
            cells.extend([ms(quantile(all, 0.5)), ms(quantile(all, 0.99))]);
        }
        push_row(&mut text, &cells);
    }
    let repeat = format!(
        "\nTo repeat it:\n\n\
         ```sh\n\
         cargo run --release -p xtask -- bench load --attempts {} --clients {} --seconds {} --heap {}\n\
         ```\n",
        options.attempts, options.clients, options.seconds, options.heap
    );
    text + &repeat
}

fn ms(s: f64) -> String {
    let ms = s * 1e3;
    if ms < 10.0 { format!("{ms:.2} ms") } else { format!("{ms:.0} ms") }
}
