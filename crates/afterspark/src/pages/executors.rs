//! `executors/`: the driver and all executors of an application, those that are gone too, and why they are.

use views::ExecutorLine;

use super::jobs::{INPUT, SHUFFLE_READ, SHUFFLE_WRITE};
use super::table::{Cell, Column, Link, Shown, number, sorted, table, words};
use super::view::{Block, View};
use super::visit::Visit;
use super::{Page, Tab, executor_times, live};
use crate::api::Answer;
use crate::text;

pub(super) const PAGES: &[Page] = &[
    Page { path: &["executors"], tab: Tab::Always("Executors"), view },
    live::THREAD_DUMP,
    live::HEAP_HISTOGRAM,
];

const SHOWN: Shown = Shown {
    tag: "executors",
    title: "Driver and executors",
    sort: "Task time",
    descending: true,
    empty: "None: the log tells of no executor.",
};

type Row<'c> = ExecutorLine<'c>;

fn view(visit: &Visit<'_>) -> Result<View, Answer> {
    let executors = views::executors(visit.store);
    let mut view = View::new("Executors");
    if executors.iter().any(|e| !e.row.active) {
        let gone: Vec<&Row<'_>> = executors.iter().filter(|e| !e.row.active).collect();
        view.push(losses(visit, &gone)?);
    }
    view.push(summary(visit, &executors)?);
    view.push(Block::table(table(visit.query(), &SHOWN, &columns(visit), &executors)?));
    let processes = views::misc_processes(visit.store);
    if !processes.is_empty() {
        view.push(misc(visit, &processes)?);
    }
    executor_times::show(visit, &mut view);
    Ok(view)
}

/// Why executors are gone, worst first.
fn losses(visit: &Visit<'_>, gone: &[&Row<'_>]) -> Result<Block, Answer> {
    let shown = Shown {
        tag: "lost",
        title: "Executors that are gone, and why",
        sort: "Removed",
        descending: false,
        empty: "",
    };
    let columns = vec![
        words("Executor", "Id", |e: &&Row<'_>| Cell::text(e.id)),
        visit.instants("Removed", "When the driver was told", |e: &&Row<'_>| e.row.removed_at_ms),
        words("Why", "As the cluster manager said", move |e: &&Row<'_>| {
            Cell::folded(e.row.remove_reason.map_or(text::MISSING, |why| visit.text(why)), 160)
        }),
        words("Meaning", "Of the exit code or the reason", move |e: &&Row<'_>| {
            let why = e.row.remove_reason.map(|why| visit.text(why)).unwrap_or_default();
            Cell::text(meaning(why))
        }),
        sorted(
            "Failed tasks",
            "Attempts that failed on it",
            |e: &&Row<'_>| Some(e.row.n_failed_tasks),
            |e: &&Row<'_>| {
                let n = e.row.n_failed_tasks;
                Cell::text(text::count(n)).bad_if(n > 0)
            },
        ),
        number("Task time", "That it had worked", text::duration, |e: &&Row<'_>| {
            Some(e.duration_ms)
        }),
    ];
    Ok(Block::table(table(visit.query(), &shown, &columns, gone)?))
}

/// What exit codes and well-known reasons stand for; empty for what explains itself. Codes over 128 are signals (128 plus
/// the signal); 50 to 56 are Spark's own (`SparkExitCode`, `ExecutorExitCode`).
pub(super) fn meaning(reason: &str) -> &'static str {
    let is_code = |code: &str| {
        [
            "exit code ",
            "exited with code ",
            "exit status ",
            "exitStatus=",
            "Exit status: ",
            "exit code: ",
        ]
        .iter()
        .any(|before| {
            let found = reason.split(before).nth(1).and_then(|rest| rest.strip_prefix(code));
            found.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
        })
    };
    let codes = [
        (
            "137",
            "Killed from outside (signal 9), most often because it used more memory than its container has: raise \
                 spark.executor.memoryOverhead, or give it fewer tasks at a time",
        ),
        ("143", "Asked to end (signal 15): preempted, scaled down, or the node was shut down"),
        (
            "134",
            "The JVM ended itself (signal 6): a crash in native code, or no memory for the JVM",
        ),
        ("139", "A fault in native code (signal 11)"),
        ("52", "Out of heap memory: raise spark.executor.memory, or give each task less to do"),
        (
            "56",
            "It could not send heartbeats to the driver: long garbage collections, or a broken network",
        ),
        ("50", "An exception that nothing caught"),
        ("51", "An exception that nothing caught, and another while it was handled"),
        ("53", "The folder for blocks on disk could not be made: is the disk full?"),
        ("54", "The external block store could not be reached"),
    ];
    if let Some((_, meaning)) = codes.iter().find(|(code, _)| is_code(code)) {
        return meaning;
    }
    let phrases = [
        (
            "heartbeat",
            "It was silent for too long: long garbage collections, an overloaded host, or it died without a word",
        ),
        (
            "exceeding memory limits",
            "It used more memory than its container has: raise spark.executor.memoryOverhead",
        ),
        (
            "OOMKilled",
            "It used more memory than its container has: raise spark.executor.memoryOverhead",
        ),
        ("decommission", "Its host was taken away as planned"),
        ("preempt", "Its place was given to somebody else"),
        ("idle", "It had nothing to do: dynamic allocation gave it back"),
        ("Worker shutting down", "Its host was shut down"),
        ("worker lost", "Its host is gone"),
    ];
    let lower = reason.to_lowercase();
    let found = phrases.iter().find(|(phrase, _)| lower.contains(&phrase.to_lowercase()));
    found.map_or("", |(_, meaning)| meaning)
}

/// Sums over those that are there, are gone, and all.
struct Sums<'e> {
    name: &'static str,
    of: Vec<&'e Row<'e>>,
}

impl Sums<'_> {
    fn sum(&self, of: impl Fn(&Row<'_>) -> i64) -> i64 {
        self.of.iter().map(|e| of(e)).fold(0, i64::saturating_add)
    }

    /// The driver's time is how long it ran, which is no work.
    fn of_executors(&self, of: impl Fn(&Row<'_>) -> i64) -> i64 {
        self.of.iter().filter(|e| is_worker(e)).map(|e| of(e)).fold(0, i64::saturating_add)
    }
}

/// Executors, and in local mode the driver, which runs the tasks.
fn is_worker(e: &Row<'_>) -> bool {
    e.id != "driver"
}

fn summary(visit: &Visit<'_>, executors: &[Row<'_>]) -> Result<Block, Answer> {
    let which = |name, wanted: fn(&&Row<'_>) -> bool| Sums {
        name,
        of: executors.iter().filter(wanted).collect(),
    };
    let rows = [
        which("There at the end", |e| e.row.active),
        which("Gone", |e| !e.row.active),
        which("All", |_| true),
    ];
    let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let columns: Vec<Column<'_, Sums<'_>>> = vec![
        words("Which", "Executors and the driver", |s: &Sums<'_>| Cell::text(s.name)),
        number("Number", "How many", text::count, move |s: &Sums<'_>| Some(count(s.of.len()))),
        number("RDD blocks", "Cached", text::count, |s: &Sums<'_>| {
            Some(s.sum(|e| e.row.n_rdd_blocks))
        }),
        sorted(
            "Storage memory",
            "What cached blocks take, of what there is for them",
            |s: &Sums<'_>| Some(s.sum(|e| e.row.memory_used_bytes)),
            |s: &Sums<'_>| {
                of_all(s.sum(|e| e.row.memory_used_bytes), s.sum(|e| e.row.max_memory_bytes))
            },
        ),
        number("Disk used", "By cached blocks", text::bytes, |s: &Sums<'_>| {
            Some(s.sum(|e| e.row.disk_used_bytes))
        }),
        number("Cores", "That they offer", text::count, |s: &Sums<'_>| {
            Some(s.sum(|e| e.row.total_cores))
        }),
        number("Active", "Tasks that run", text::count, |s: &Sums<'_>| {
            Some(s.sum(|e| e.row.n_active_tasks))
        }),
        sorted(
            "Failed",
            FAILED,
            |s: &Sums<'_>| Some(s.sum(|e| e.row.n_failed_tasks)),
            |s: &Sums<'_>| failed(s.sum(|e| e.row.n_failed_tasks)),
        ),
        number("Complete", "Tasks that succeeded", text::count, |s: &Sums<'_>| {
            Some(s.sum(|e| e.row.n_completed_tasks))
        }),
        number("Tasks", "All", text::count, |s: &Sums<'_>| Some(s.sum(|e| e.row.n_total_tasks))),
        sorted(
            "Task time (GC)",
            "Over all tasks of executors; the driver's uptime is left out",
            |s: &Sums<'_>| Some(s.of_executors(|e| e.duration_ms)),
            |s: &Sums<'_>| gc(s.of_executors(|e| e.duration_ms), s.of_executors(|e| e.gc_ms)),
        ),
        number("Input", INPUT, text::bytes, |s: &Sums<'_>| Some(s.sum(|e| e.row.input_bytes))),
        number("Shuffle read", SHUFFLE_READ, text::bytes, |s: &Sums<'_>| {
            Some(s.sum(|e| e.row.shuffle_read_bytes))
        }),
        number("Shuffle write", SHUFFLE_WRITE, text::bytes, |s: &Sums<'_>| {
            Some(s.sum(|e| e.row.shuffle_write_bytes))
        }),
        number("Excluded", "From the whole application", text::count, |s: &Sums<'_>| {
            Some(s.sum(|e| i64::from(e.row.excluded)))
        }),
    ];
    let shown = Shown { tag: "summary", title: "Summary", sort: "", descending: false, empty: "" };
    let mut table = table(visit.query(), &shown, &columns, &rows)?;
    table.is_plain = true;
    Ok(Block::table(table))
}

const FAILED: &str = "Failed attempts of tasks; 0 is good. Many on one executor: a bad host";

fn failed(n: i64) -> Cell {
    Cell::text(text::count(n)).exact(n.to_string()).bad_if(n > 0)
}

/// A part of a whole: `1.0 GiB / 4.0 GiB`.
fn of_all(part: i64, all: i64) -> Cell {
    let share = if all > 0 { (part as f64 / all as f64).clamp(0.0, 1.0) } else { 0.0 };
    let cell = Cell::text(format!("{} / {}", text::bytes(part), text::bytes(all)));
    cell.exact(format!("{part} / {all} bytes")).bar([share, 0.0, 0.0])
}

/// A tenth of the time spent on garbage is too much; Spark marks it too.
const GC_SHARE: f64 = 0.1;

fn gc(task_ms: i64, gc_ms: i64) -> Cell {
    let written = format!("{} ({})", text::duration(task_ms), text::duration(gc_ms));
    let is_much = task_ms > 0 && gc_ms as f64 / task_ms as f64 > GC_SHARE;
    Cell::text(written).exact(format!("{task_ms} ms ({gc_ms} ms)")).costly_if(is_much)
}

fn status(visit: &Visit<'_>, e: &Row<'_>) -> Cell {
    let row = e.row;
    if !row.active {
        let why = row.remove_reason.map(|why| visit.text(why)).unwrap_or_default();
        return Cell::text("dead").exact(why).bad_if(true);
    }
    if row.excluded {
        return Cell::text("excluded").bad_if(true);
    }
    if !row.excluded_in_stages.is_empty() {
        let stages: Vec<String> = row.excluded_in_stages.iter().map(ToString::to_string).collect();
        return Cell::text(format!("active (excluded in stages {})", stages.join(", ")))
            .costly_if(true);
    }
    Cell::text("active")
}

/// Executor metrics that Spark shows as peaks.
pub(super) const PEAKS: [(&str, &str, &str); 8] = [
    ("Peak JVM on heap", "JVMHeapMemory", "Most memory that the JVM's heap took"),
    ("Peak JVM off heap", "JVMOffHeapMemory", "Most memory that the JVM took outside of its heap"),
    (
        "Peak execution on heap",
        "OnHeapExecutionMemory",
        "Most heap memory for joins, sorts and aggregations",
    ),
    ("Peak execution off heap", "OffHeapExecutionMemory", "The same outside of the heap"),
    ("Peak storage on heap", "OnHeapStorageMemory", "Most heap memory for cached blocks"),
    ("Peak storage off heap", "OffHeapStorageMemory", "The same outside of the heap"),
    ("Peak pool direct", "DirectPoolMemory", "Most memory for direct buffers"),
    ("Peak pool mapped", "MappedPoolMemory", "Most memory for mapped buffers"),
];

/// A peak of an executor metric by its name.
pub(super) fn peak(peak: Option<&store::ExecutorMetrics>, name: &str) -> Option<i64> {
    let at = store::EXECUTOR_METRICS.iter().position(|known| *known == name)?;
    peak.map(|peak| peak[at])
}

#[expect(clippy::too_many_lines, reason = "columns, one after the other")]
fn columns<'v>(visit: &'v Visit<'v>) -> Vec<Column<'v, Row<'v>>> {
    let mut columns = vec![
        words("Executor", "Id; the driver has none", |e: &Row<'_>| Cell::text(e.id)),
        words("Address", "Host and port", move |e: &Row<'_>| {
            Cell::text(e.row.host_port.map(|text| visit.text(text)).unwrap_or_default())
        }),
        words("Status", "When the log ended", move |e: &Row<'_>| status(visit, e)),
        number("RDD blocks", "Cached", text::count, |e: &Row<'_>| Some(e.row.n_rdd_blocks))
            .optional(),
        sorted(
            "Storage memory",
            "What cached blocks take, of what there is for them",
            |e: &Row<'_>| Some(e.row.memory_used_bytes),
            |e: &Row<'_>| of_all(e.row.memory_used_bytes, e.row.max_memory_bytes),
        ),
        sorted(
            "On heap",
            "Storage memory on the heap",
            |e: &Row<'_>| Some(e.row.on_heap_used_bytes),
            |e: &Row<'_>| match e.row.on_heap_memory_bytes {
                Some(all) => of_all(e.row.on_heap_used_bytes, all),
                None => Cell::text(text::MISSING),
            },
        )
        .optional(),
        sorted(
            "Off heap",
            "Storage memory outside of the heap",
            |e: &Row<'_>| Some(e.row.off_heap_used_bytes),
            |e: &Row<'_>| match e.row.off_heap_memory_bytes {
                Some(all) => of_all(e.row.off_heap_used_bytes, all),
                None => Cell::text(text::MISSING),
            },
        )
        .optional(),
        number("Disk used", "By cached blocks", text::bytes, |e: &Row<'_>| {
            Some(e.row.disk_used_bytes)
        })
        .optional(),
        number("Cores", "That it offered", text::count, |e: &Row<'_>| Some(e.row.total_cores)),
        words("Resources", "Such as GPUs", move |e: &Row<'_>| {
            let of = |(name, addresses): &(store::Text, Vec<store::Text>)| {
                let addresses = addresses.iter().map(|text| visit.text(*text));
                format!("{}: {}", visit.text(*name), addresses.collect::<Vec<_>>().join(", "))
            };
            Cell::text(e.row.resources.iter().map(of).collect::<Vec<_>>().join("; "))
        })
        .optional(),
        number(
            "Resource profile",
            "Id",
            |id| id.to_string(),
            |e: &Row<'_>| Some(i64::from(e.row.resource_profile)),
        )
        .optional(),
        number("Active", "Tasks that run", text::count, |e: &Row<'_>| Some(e.row.n_active_tasks)),
        sorted(
            "Failed",
            FAILED,
            |e: &Row<'_>| Some(e.row.n_failed_tasks),
            |e: &Row<'_>| failed(e.row.n_failed_tasks),
        ),
        number("Complete", "Tasks that succeeded", text::count, |e: &Row<'_>| {
            Some(e.row.n_completed_tasks)
        }),
        number("Tasks", "All", text::count, |e: &Row<'_>| Some(e.row.n_total_tasks)),
        sorted(
            "Task time",
            "Over all tasks, and garbage collection; of the driver, how long it ran",
            |e: &Row<'_>| Some(e.duration_ms),
            |e: &Row<'_>| gc(e.duration_ms, e.gc_ms),
        ),
        number("Input", INPUT, text::bytes, |e: &Row<'_>| Some(e.row.input_bytes)),
        number("Shuffle read", SHUFFLE_READ, text::bytes, |e: &Row<'_>| {
            Some(e.row.shuffle_read_bytes)
        }),
        number("Shuffle write", SHUFFLE_WRITE, text::bytes, |e: &Row<'_>| {
            Some(e.row.shuffle_write_bytes)
        }),
        words("Logs", "Where its host keeps them; gone when the host is", move |e: &Row<'_>| {
            let settings = visit.call.settings();
            let urls = settings.log_urls(visit.store, &e.row.logs, &e.row.attributes);
            Cell::default().links(web_links(urls))
        }),
        visit
            .instants("Added", "When the driver knew of it", |e: &Row<'_>| Some(e.row.added_at_ms)),
        visit.instants("Removed", "When the driver was told", |e: &Row<'_>| e.row.removed_at_ms),
        words(
            "Why removed",
            "As the cluster manager said, and what that means",
            move |e: &Row<'_>| {
                let why = e.row.remove_reason.map(|why| visit.text(why)).unwrap_or_default();
                Cell::folded(why, 100).exact(meaning(why))
            },
        ),
    ];
    let peaks = PEAKS.iter().map(|(title, metric, hint)| {
        number(title, hint, text::bytes, move |e: &Row<'_>| peak(e.row.peak.as_ref(), metric))
            .optional()
    });
    columns.extend(peaks);
    columns
}

/// Only addresses of the web are links: others could be scripts.
pub(super) fn web_links(urls: Vec<(String, String)>) -> Vec<Link> {
    let is_web = |to: &str| {
        let lower = to.to_ascii_lowercase();
        lower.starts_with("http://") || lower.starts_with("https://")
    };
    urls.into_iter().filter(|(_, to)| is_web(to)).map(|(text, to)| Link { text, to }).collect()
}

fn misc(visit: &Visit<'_>, processes: &[&store::MiscProcess]) -> Result<Block, Answer> {
    let shown = Shown {
        tag: "misc",
        title: "Miscellaneous processes",
        sort: "Process",
        descending: false,
        empty: "",
    };
    let columns: Vec<Column<'_, &store::MiscProcess>> = vec![
        words("Process", "Id", move |p: &&store::MiscProcess| Cell::text(visit.text(p.id))),
        words("Address", "Host and port", move |p: &&store::MiscProcess| {
            Cell::text(visit.text(p.host_port))
        }),
        visit.instants("Added", "When the driver knew of it", |p: &&store::MiscProcess| {
            Some(p.at_ms)
        }),
        number("Cores", "That it has", text::count, |p: &&store::MiscProcess| Some(p.n_cores)),
        words("Logs", "Where its host keeps them", move |p: &&store::MiscProcess| {
            let text = |text| visit.text(text).to_owned();
            let urls = p.logs.iter().map(|(name, url)| (text(*name), text(*url)));
            Cell::default().links(web_links(urls.collect()))
        }),
    ];
    Ok(Block::table(table(visit.query(), &shown, &columns, processes)?))
}
