//! The page for readers: what was measured, on what, how to repeat it, and what it does not say.

use std::path::Path;

use super::machine::Machine;
use super::{Options, Results, Sample, What};

/// The middle, lowest and highest of several runs.
struct Spread {
    wall_s: f64,
    wall_s_min: f64,
    wall_s_max: f64,
    cpu_s: f64,
    peak_bytes: u64,
    success: bool,
}

fn spread(results: &Results, form: &str, what: &What) -> Option<Spread> {
    let runs: Vec<&Sample> =
        results.samples.iter().filter(|s| s.form == form && s.what == *what).collect();
    let sorted = |value: fn(&Sample) -> f64| {
        let mut all: Vec<f64> = runs.iter().map(|s| value(s)).collect();
        all.sort_by(f64::total_cmp);
        all
    };
    let walls = sorted(|s| s.ran.wall_s);
    let middle = walls.len() / 2;
    Some(Spread {
        wall_s: *walls.get(middle)?,
        wall_s_min: *walls.first()?,
        wall_s_max: *walls.last()?,
        cpu_s: sorted(|s| s.ran.cpu_s)[middle],
        peak_bytes: runs.iter().map(|s| s.ran.peak_bytes).max()?,
        success: runs.iter().all(|s| s.ran.success),
    })
}

pub(super) fn page(
    options: &Options,
    machine: &Machine,
    results: &Results,
    folder: &Path,
) -> String {
    let parts = [
        introduction(options, machine, results, folder),
        answers(options, results),
        server(results),
        light(results),
        conditions(options, machine, results),
        repeat(options),
        limits(options),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

fn introduction(options: &Options, machine: &Machine, results: &Results, folder: &Path) -> String {
    format!(
        "# Performance\n\n\
         Afterspark and Spark's own history server on the same log, measured in one run on one \
         machine on {date}.\n\
         `cargo run --release -p xtask -- bench` made the log, measured both and wrote this page;\n\
         the raw numbers of every run are in `{folder}/bench.jsonl`.\n\n\
         The log holds {stages} stages of {tasks} tasks, {all} tasks in all, {sql} SQL executions \
         and {executors} executors:\n{events} of events, as one plain file and as one zstd file \
         of {packed}.\n",
        date = machine.date,
        folder = folder.display(),
        stages = grouped(options.stages),
        tasks = grouped(options.tasks),
        all = grouped(options.stages * options.tasks),
        sql = grouped(options.sql),
        executors = options.executors,
        events = bytes(results.events_bytes),
        packed = bytes(results.forms[1].file_bytes),
    )
}

/// The table of answers, ours and the server's.
fn answers(options: &Options, results: &Results) -> String {
    let mut text = format!(
        "## Time to an answer\n\n\
         For Afterspark, from the start of the process to its end, with the whole report written as JSON.\n\
         For the history server, from the request of the stages of a log that it has already listed to the end of \
         the answer:\nits start and its listing are not in the time, and neither is its answer to a second request.\n\n\
         | what | log | seconds (lowest to highest) | processor seconds | peak memory | times as fast as the server{best} \
         | times less processor time |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
        best = if options.heap.len() > 1 { " with its best heap" } else { "" }
    );
    let servers: Vec<What> =
        options.heap.iter().map(|heap| What::Server { heap: heap.clone() }).collect();
    let ours =
        [What::Cold { threads: 1 }, What::Cold { threads: 2 }, What::LittleMemory, What::Cached];
    for form in &results.forms {
        let of_servers = servers.iter().filter_map(|what| spread(results, form.name, what));
        let best = of_servers.filter(|s| s.success).min_by(|a, b| a.wall_s.total_cmp(&b.wall_s));
        for what in ours.iter().chain(&servers) {
            let Some(of_what) = spread(results, form.name, what) else { continue };
            let is_server = matches!(what, What::Server { .. });
            let comparable = best.as_ref().filter(|_| !is_server && of_what.success);
            let times = |value: fn(&Spread) -> f64| {
                let times = comparable.map(|best| value(best) / value(&of_what));
                times.filter(|times| times.is_finite()).map_or(String::new(), ratio)
            };
            let failed = if of_what.success { "" } else { " (did not give the whole answer)" };
            push_row(
                &mut text,
                &[
                    format!("{}{failed}", label(options, what)),
                    form.name.to_owned(),
                    range(&of_what),
                    seconds(of_what.cpu_s),
                    bytes(of_what.peak_bytes),
                    times(|s| s.wall_s),
                    times(|s| s.cpu_s),
                ],
            );
        }
    }
    text.push('\n');
    let of_ours = |s: &Sample| ours.contains(&s.what);
    let all_answered = results.samples.iter().filter(|s| of_ours(s)).all(|s| s.ran.success);
    text.push_str(if all_answered && results.answers_equal {
        "All of Afterspark's answers about a file were the same, byte for byte: with one thread and two, with little \
         memory, and from the cache.\n"
    } else {
        "Afterspark's answers about a file were not all whole and the same, byte for byte: see the record.\n"
    });
    text
}

/// What a table's line is called.
fn label(options: &Options, what: &What) -> String {
    match what {
        What::Cold { threads: 1 } => "Afterspark, first opening, 1 thread".to_owned(),
        What::Cold { threads } => format!("Afterspark, first opening, {threads} threads"),
        What::LittleMemory => {
            format!("Afterspark, first opening, `--memory {}`", options.memory)
        }
        What::Cached => "Afterspark, second opening, from its cache".to_owned(),
        What::Server { heap } => format!("history server, heap {heap}"),
        What::Light(name) => (*name).to_owned(),
    }
}

/// What the first table leaves out of the server: its start, and a second request.
fn server(results: &Results) -> String {
    let of_server = |s: &&Sample| matches!(s.what, What::Server { .. });
    if !results.samples.iter().any(|s| of_server(&s)) {
        return String::new();
    }
    let mut text = "## The history server from its start\n\n\
         | heap | log | seconds until the log is listed | request (as above) | from start to answer | processor seconds in all \
         | the same request again |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for sample in results.samples.iter().filter(of_server) {
        let What::Server { heap } = &sample.what else { continue };
        let more = |key: &str| sample.more[key].as_f64().map_or("none".to_owned(), seconds);
        push_row(
            &mut text,
            &[
                heap.clone(),
                sample.form.to_owned(),
                more("listed_s"),
                seconds(sample.ran.wall_s),
                more("total_s"),
                more("total_cpu_s"),
                more("repeat_s"),
            ],
        );
    }
    text
}

fn light(results: &Results) -> String {
    let mut text = "## The speed of light\n\n\
         What the same machine needs on one thread to go through the same files without understanding them, and how far \
         from it\nthe first opening with one thread is.\n\n\
         | what | log | seconds (lowest to highest) | GB of events a second | first opening takes |\n\
         | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for form in &results.forms {
        let ours = spread(results, form.name, &What::Cold { threads: 1 });
        let mut ways: Vec<&What> = Vec::new();
        let of_form = results.samples.iter().filter(|s| s.form == form.name);
        for what in of_form.map(|s| &s.what).filter(|what| matches!(what, What::Light(_))) {
            if !ways.contains(&what) {
                ways.push(what);
            }
        }
        for what in ways {
            let Some(of_what) = spread(results, form.name, what) else { continue };
            let What::Light(name) = what else { continue };
            let rate = results.events_bytes as f64 / 1e9 / of_what.wall_s;
            let times = ours.as_ref().map(|ours| ours.wall_s / of_what.wall_s);
            push_row(
                &mut text,
                &[
                    (*name).to_owned(),
                    form.name.to_owned(),
                    range(&of_what),
                    format!("{rate:.1}"),
                    times.map_or(String::new(), |t| format!("{} times as long", ratio(t))),
                ],
            );
        }
    }
    text
}

fn conditions(options: &Options, machine: &Machine, results: &Results) -> String {
    let failures = results.samples.iter().filter(|s| !s.ran.success).count();
    let mut text = "## Conditions\n\n".to_owned();
    let rows = [
        ("processor", format!("{}, {} cores for this system", machine.cpu, machine.cores)),
        ("memory", bytes(machine.memory_bytes)),
        ("kernel", format!("Linux {}", machine.kernel)),
        (
            "load",
            format!("{} before the run (processes running, in the minute before)", machine.load),
        ),
        ("files", "in the page cache: read once before anything was measured".to_owned()),
        ("Afterspark", format!("{}, commit {}", machine.afterspark, machine.commit)),
        ("compiler", machine.compiler.clone()),
        ("Spark", format!("{}, {}", machine.spark, machine.java)),
        (
            "server's settings",
            "store in memory (the default); retention of jobs, stages, tasks and executions raised so that it keeps all \
             of the log, as `lab/shs.sh` does"
                .to_owned(),
        ),
        (
            "runs",
            format!("{} of ours for each line, the median is shown; 1 of the server", options.runs),
        ),
        ("runs that did not give the whole answer", failures.to_string()),
    ];
    for (name, value) in rows {
        if !value.is_empty() {
            text.extend(["- ", name, ": ", &value, "\n"]);
        }
    }
    text
}

fn repeat(options: &Options) -> String {
    let heaps = format!(" --heap {}", options.heap.join(" --heap "));
    let ending = if options.no_server { " --no-server" } else { "" };
    format!(
        "## To repeat it\n\n\
         ```sh\n\
         bash lab/setup.sh                # Spark in lab-work/venv; needs Java 17 and Python\n\
         cargo build --release\n\
         cargo run --release -p xtask -- bench --stages {stages} --tasks {tasks} --executors {executors} --sql {sql} \
         --runs {runs} --memory {memory}{heaps}{ending}\n\
         ```\n\n\
         It runs these, with `LOG` one of the two files and an empty `CACHE` for each first opening:\n\n\
         ```sh\n\
         xtask biglog --out LOG --stages {stages} --tasks {tasks} --executors {executors} --sql {sql} --codec none\n\
         xtask biglog --out LOG --stages {stages} --tasks {tasks} --executors {executors} --sql {sql} --codec zstd-frames\n\
         afterspark report LOG --format json --cache-dir CACHE --threads 1\n\
         afterspark report LOG --format json --cache-dir CACHE --threads 2\n\
         afterspark report LOG --format json --cache-dir CACHE\n\
         afterspark report LOG --format json --cache-dir CACHE --memory {memory}\n\
         spark-class org.apache.spark.deploy.history.HistoryServer --properties-file server.conf\n\
         GET /api/v1/applications/ID/stages?details=false\n\
         ```\n",
        stages = options.stages,
        tasks = options.tasks,
        executors = options.executors,
        sql = options.sql,
        runs = options.runs,
        memory = options.memory,
    )
}

fn limits(options: &Options) -> String {
    let slow_part = if options.no_server {
        ""
    } else {
        "- A server that was just started. Java compiles the code while it replays this log; one that has replayed others \
         before is\n  faster. With `spark.history.store.path` it keeps what it has read on disk; that was not measured.\n\
         - The two do not do the same work. The server answers one question and then keeps the application for more; its \
         first\n  answer includes building a store of objects that the next questions use. Afterspark's first opening \
         includes reading all of\n  the log, the whole report and writing its cache.\n\
         - The server was measured once for each line; a Java process differs from run to run by several per cent.\n"
    };
    format!(
        "## What this does not say\n\n\
         - One shape of log. Its events are those of a real application, repeated with other numbers: two kinds of stage, \
         about 4 kB\n  for each task. Logs with wider tasks (more SQL metrics) have more bytes for each task and others \
         fewer;\n  `xtask biglog --template` and `--accumulators` make them.\n\
         - Files in the page cache. From a slow disk or object store, both wait for the bytes first; the zstd file needs \
         the fewest.\n\
         {slow_part}\
         - Small logs. For a log of a few MB both answer within moments, and the start of a Java process is most of the \
         difference.\n"
    )
}

pub(super) fn push_row(text: &mut String, cells: &[String]) {
    text.push('|');
    for cell in cells {
        text.push(' ');
        text.push_str(cell);
        text.push_str(if cell.is_empty() { "|" } else { " |" });
    }
    text.push('\n');
}

fn range(of_what: &Spread) -> String {
    let middle = seconds(of_what.wall_s);
    let (low, high) = (seconds(of_what.wall_s_min), seconds(of_what.wall_s_max));
    if low == high { middle } else { format!("{middle} ({low} to {high})") }
}

pub(super) fn seconds(s: f64) -> String {
    match s {
        s if s < 1.0 => format!("{s:.3}"),
        s if s < 100.0 => format!("{s:.2}"),
        _ => format!("{s:.0}"),
    }
}

fn ratio(times: f64) -> String {
    if times < 10.0 { format!("{times:.1}") } else { format!("{times:.0}") }
}

pub(super) fn bytes(n: u64) -> String {
    match n {
        1_000_000_000.. => format!("{:.2} GB", n as f64 / 1e9),
        _ => format!("{:.0} MB", n as f64 / 1e6),
    }
}

/// Thousands apart: 1000000 as 1,000,000.
pub(super) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(1_000_000), "1,000,000");
        assert_eq!(grouped(500), "500");
        assert_eq!((bytes(4_355_528_761), bytes(61_000_000)), ("4.36 GB".into(), "61 MB".into()));
        assert_eq!(
            (seconds(0.0123), seconds(7.5), seconds(140.2)),
            ("0.012".into(), "7.50".into(), "140".into())
        );
        assert_eq!((ratio(3.13), ratio(47.6)), ("3.1".into(), "48".into()));
    }
}
