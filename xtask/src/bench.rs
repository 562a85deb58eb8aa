//! `xtask bench`: the whole program and Spark's own history server on the same log, in one run on one machine.
//!
//! Writes a page for readers (`docs/performance.md`) and the raw numbers as JSON lines (`benches/runs/DATE`). `bench listing`
//! and `bench load` measure the two as servers and write a section of the page each.

mod listing;
mod load;
mod machine;
mod measure;
mod page;
mod section;
mod server;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};

use clap::Args;
use serde_json::{Value, json};

use self::machine::Machine;
use self::measure::{Light, Ran};
use crate::Outcome;
use crate::biglog::{self, Codec};

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Command {
    #[command(subcommand)]
    part: Option<Part>,
    #[command(flatten)]
    options: Options,
}

#[derive(clap::Subcommand)]
enum Part {
    /// Folders of many logs: until all are listed, after a restart, and the memory
    Listing(listing::Options),
    /// Many clients at once that ask everything
    Load(load::Options),
}

pub(crate) fn run(command: &Command) -> Outcome<()> {
    match &command.part {
        None => report(&command.options),
        Some(Part::Listing(options)) => listing::run(options),
        Some(Part::Load(options)) => load::run(options),
    }
}

#[derive(Args)]
struct Options {
    /// Folder for logs, caches and the server's settings; logs found there are used again.
    #[arg(long, default_value = "lab-work/bench")]
    work: PathBuf,
    #[arg(long, default_value = "target/release/afterspark")]
    afterspark: PathBuf,
    #[arg(long, default_value_t = 200)]
    stages: u64,
    #[arg(long, default_value_t = 5_000)]
    tasks: u64,
    #[arg(long, default_value_t = 50)]
    executors: u64,
    #[arg(long, default_value_t = 100)]
    sql: u64,
    /// Runs of ours for each line; the page shows the median.
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Limit of the run with little memory.
    #[arg(long, default_value = "1GB")]
    memory: String,
    /// Heap of the history server; may be given several times.
    #[arg(long, default_value = "8g")]
    heap: Vec<String>,
    /// Where Spark is; by default what `lab/setup.sh` installed below lab-work.
    #[arg(long)]
    spark_home: Option<PathBuf>,
    #[arg(long)]
    no_server: bool,
    /// Seconds to wait for the server before it is given up.
    #[arg(long, default_value_t = 1_800)]
    timeout_s: u64,
    #[arg(long, default_value = "docs/performance.md")]
    page: PathBuf,
    /// Folder of the raw numbers; by default benches/runs/DATE.
    #[arg(long)]
    record: Option<PathBuf>,
}

/// A log as it is measured: the same events in two codings.
struct Form {
    name: &'static str,
    path: PathBuf,
    file_bytes: u64,
}

/// One measured run of anything.
#[derive(Clone)]
struct Sample {
    form: &'static str,
    what: What,
    ran: Ran,
    /// Other facts of the run, for the record only.
    more: Value,
}

#[derive(Clone, PartialEq)]
enum What {
    /// Nothing cached.
    Cold {
        threads: usize,
    },
    Cached,
    LittleMemory,
    /// The answer to the request, after the server had listed the log.
    Server {
        heap: String,
    },
    Light(&'static str),
}

impl What {
    fn name(&self) -> String {
        match self {
            What::Cold { threads } => format!("afterspark, first opening, {threads} thread(s)"),
            What::Cached => "afterspark, second opening".to_owned(),
            What::LittleMemory => "afterspark, first opening, little memory".to_owned(),
            What::Server { heap } => format!("history server, heap {heap}"),
            What::Light(name) => format!("speed of light: {name}"),
        }
    }
}

struct Results {
    forms: Vec<Form>,
    events_bytes: u64,
    samples: Vec<Sample>,
    /// Whether all answers of ours about the same file were equal, byte for byte.
    answers_equal: bool,
}

fn report(options: &Options) -> Outcome<()> {
    if !options.afterspark.exists() {
        return Err(format!(
            "{} is not there: build it with cargo build --release",
            options.afterspark.display()
        )
        .into());
    }
    let spark_home = options.spark_home.clone().or_else(xtask::servers::installed);
    if spark_home.is_none() && !options.no_server {
        return Err("no Spark: run lab/setup.sh, or give --spark-home or --no-server".into());
    }
    let machine = Machine::here(&options.afterspark, spark_home.as_deref());
    let (forms, events_bytes) = logs(options)?;
    let mut results = Results { forms, events_bytes, samples: Vec::new(), answers_equal: true };
    for index in 0..results.forms.len() {
        speed_of_light(options, &mut results, index)?;
        ours(options, &mut results, index)?;
    }
    if let Some(home) = spark_home.filter(|_| !options.no_server) {
        for form in &results.forms {
            for heap in &options.heap {
                eprintln!("history server on {}, heap {heap}", form.name);
                let sample = server::measure(options, &home, form, heap)?;
                results.samples.push(sample);
            }
        }
    }
    let folder = options
        .record
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("benches/runs/{}", machine.date)));
    record(&folder, options, &machine, &results)?;
    section::write_page(&options.page, &page::page(options, &machine, &results, &folder))?;
    println!("{} and {}", options.page.display(), folder.display());
    Ok(())
}

/// Makes the logs that are not there yet; their name says what is in them.
fn logs(options: &Options) -> Outcome<(Vec<Form>, u64)> {
    let name =
        format!("app-{}x{}x{}x{}", options.stages, options.tasks, options.executors, options.sql);
    let mut forms = Vec::new();
    for (form, codec, ending) in [("plain", Codec::None, ""), ("zstd", Codec::ZstdFrames, ".zstd")]
    {
        let folder = options.work.join(form);
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{name}{ending}"));
        if !path.exists() {
            eprintln!("writing the {form} log");
            let unfinished = folder.join(".unfinished");
            biglog::run(&biglog::Options {
                stages: options.stages,
                tasks: options.tasks,
                executors: options.executors,
                sql: options.sql,
                codec,
                app_id: name.clone(),
                ..biglog::Options::defaults(&unfinished)
            })?;
            fs::rename(&unfinished, &path)?;
        }
        let file_bytes = path.metadata()?.len();
        forms.push(Form { name: form, path, file_bytes });
    }
    let events_bytes = forms[0].file_bytes;
    Ok((forms, events_bytes))
}

fn speed_of_light(options: &Options, results: &mut Results, index: usize) -> Outcome<()> {
    let form = &results.forms[index];
    let ways: &[(&str, Light)] = if form.name == "plain" {
        &[("read", Light::Read), ("read and count newlines", Light::Newlines)]
    } else {
        &[
            ("read", Light::Read),
            ("decode", Light::Decode),
            ("decode and count newlines", Light::DecodeNewlines),
        ]
    };
    eprintln!("speed of light on {}", form.name);
    // Once before anything is measured, so that the file is in the page cache.
    measure::light(&form.path, Light::Read)?;
    for (name, how) in ways {
        for _ in 0..options.runs {
            let (wall_s, bytes) = measure::light(&form.path, *how)?;
            if *how != Light::Read && bytes != results.events_bytes {
                return Err(format!("{} holds other events", form.path.display()).into());
            }
            // One thread that never waits: processor time is the wall time.
            let ran = Ran { wall_s, cpu_s: wall_s, peak_bytes: 0, success: true };
            results.samples.push(Sample {
                form: form.name,
                what: What::Light(name),
                ran,
                more: json!({}),
            });
        }
    }
    Ok(())
}

/// All runs of our program on one form of the log.
fn ours(options: &Options, results: &mut Results, index: usize) -> Outcome<()> {
    let form = &results.forms[index];
    let cache = options.work.join("cache");
    let answer = options.work.join("answer.json");
    let mut first_answer: Option<Vec<u8>> = None;
    let mut samples = Vec::new();
    for what in
        [What::Cold { threads: 1 }, What::Cold { threads: 2 }, What::Cached, What::LittleMemory]
    {
        eprintln!("{} on {}", what.name(), form.name);
        for _ in 0..options.runs {
            if what != What::Cached && cache.exists() {
                fs::remove_dir_all(&cache)?;
            }
            let mut command = process::Command::new(&options.afterspark);
            command.args(arguments(options, &what, &form.path, &cache)).stdin(Stdio::null());
            let ran = measure::run(command.stdout(File::create(&answer)?))?;
            let bytes = fs::read(&answer)?;
            let valid = ran.success && serde_json::from_slice::<Value>(&bytes).is_ok();
            if !valid {
                eprintln!("  did not answer with JSON and status 0");
            }
            let more = json!({ "answer_bytes": bytes.len(), "valid": valid });
            if *first_answer.get_or_insert_with(|| bytes.clone()) != bytes {
                results.answers_equal = false;
            }
            let ran = Ran { success: valid, ..ran };
            samples.push(Sample { form: form.name, what: what.clone(), ran, more });
        }
    }
    results.samples.extend(samples);
    Ok(())
}

fn arguments(options: &Options, what: &What, log: &Path, cache: &Path) -> Vec<String> {
    let mut list = vec!["report".to_owned(), log.display().to_string()];
    list.extend(["--format", "json", "--cache-dir"].map(str::to_owned));
    list.push(cache.display().to_string());
    match what {
        What::Cold { threads } => list.extend(["--threads".to_owned(), threads.to_string()]),
        What::LittleMemory => list.extend(["--memory".to_owned(), options.memory.clone()]),
        _ => {}
    }
    list
}

/// Writes the raw numbers: the conditions first, then a line for each run.
fn record(folder: &Path, options: &Options, machine: &Machine, results: &Results) -> Outcome<()> {
    fs::create_dir_all(folder)?;
    let mut file = File::create(folder.join("bench.jsonl"))?;
    let files: Vec<Value> = results
        .forms
        .iter()
        .map(|form| json!({ "form": form.name, "bytes": form.file_bytes }))
        .collect();
    let conditions = json!({
        "machine": machine.as_json(),
        "log": {
            "stages": options.stages, "tasks": options.tasks, "executors": options.executors,
            "sql": options.sql, "events_bytes": results.events_bytes, "files": files,
        },
        "answers_equal": results.answers_equal,
    });
    writeln!(file, "{conditions}")?;
    for sample in &results.samples {
        let mut line = json!({
            "what": sample.what.name(), "form": sample.form,
            "wall_s": sample.ran.wall_s, "cpu_s": sample.ran.cpu_s,
            "peak_bytes": sample.ran.peak_bytes, "success": sample.ran.success,
        });
        if let (Some(line), Some(more)) = (line.as_object_mut(), sample.more.as_object()) {
            line.extend(more.clone());
        }
        writeln!(file, "{line}")?;
    }
    Ok(())
}
