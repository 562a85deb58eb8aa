//! The tasks of a stage attempt as a table. There can be a million, so sorting, filtering and paging are those of the
//! store, and only the rows of the page are read. Parameters are those of all tables (`task.sort`, …), and `task.status`,
//! `task.index`, `task.id`, `task.executor`, `task.host` for only such tasks.

use store::{TaskColumn as C, TaskFlags};
use views::{Measure, StageLine, TaskKey, TaskLine, TaskQuery, TaskStatus, TasksOnly};

use super::table::{Cell, Choice, Head, Link, PAGE_SIZE_MAX, Table, address, kept, seal};
use super::view::{Block, View};
use super::visit::Visit;
use crate::api::Answer;
use crate::text;

const TAG: &str = "task";
const PAGE_SIZE: usize = 50;
/// From so many times the median on, the slowest task comes first.
const SKEWED: f64 = 3.0;
/// Chains of attempts that are told.
const CHAINS_MAX: usize = 50;

/// A column of tasks.
#[derive(Clone, Copy)]
struct Column {
    title: &'static str,
    hint: &'static str,
    key: TaskKey,
    is_number: bool,
    is_optional: bool,
    cell: fn(&Visit<'_>, &TaskLine<'_>) -> Cell,
}

const fn column(
    title: &'static str,
    hint: &'static str,
    key: TaskKey,
    cell: fn(&Visit<'_>, &TaskLine<'_>) -> Cell,
) -> Column {
    Column { title, hint, key, is_number: true, is_optional: false, cell }
}

const fn words(column: Column) -> Column {
    Column { is_number: false, ..column }
}

const fn optional(column: Column) -> Column {
    Column { is_optional: true, ..column }
}

/// A metric, or a dash for a task that reported none.
fn metric(task: &TaskLine<'_>, value: i64, write: fn(i64) -> String) -> Cell {
    if task.has_metrics {
        Cell::text(write(value)).exact(value.to_string())
    } else {
        Cell::text(text::MISSING)
    }
}

fn ns(value: i64) -> String {
    text::quantity(value, views::Unit::Ns)
}

/// Size and records.
fn pair(task: &TaskLine<'_>, bytes: i64, rows: i64) -> Cell {
    if !task.has_metrics {
        return Cell::text(text::MISSING);
    }
    Cell::text(format!("{} / {}", text::bytes(bytes), text::count(rows)))
        .exact(format!("{bytes} bytes"))
}

fn attempt(task: &TaskLine<'_>) -> Cell {
    let is_copy = task.row[C::flags] & TaskFlags::SPECULATIVE != 0;
    let outcome = match (is_copy, task.status) {
        (false, _) => "",
        (true, TaskStatus::Success) => " (speculative, won)",
        (true, TaskStatus::Killed) => " (speculative, for nothing)",
        (true, _) => " (speculative)",
    };
    Cell::text(format!("{}{outcome}", task.row[C::attempt]))
}

const COLUMNS: &[Column] = &[
    column("Index", "Position of the task in the stage", TaskKey::Number(C::index), |_, t| {
        Cell::text(t.row[C::index].to_string())
    }),
    column("Task ID", "Unique in the application", TaskKey::Id, |_, t| {
        Cell::text(t.row[C::task_id].to_string())
    }),
    column(
        "Attempt",
        "Which try of the index; speculative copies are marked",
        TaskKey::Number(C::attempt),
        |_, t| attempt(t),
    ),
    words(column("Status", "", TaskKey::Status, |_, t| {
        Cell::text(t.status.as_spark()).bad_if(t.status == TaskStatus::Failed)
    })),
    words(column(
        "Locality level",
        "How near to its data it ran",
        TaskKey::Text(C::locality),
        |_, t| Cell::text(t.locality),
    )),
    words(column("Executor ID", "", TaskKey::Text(C::executor), |_, t| Cell::text(t.executor))),
    words(column("Host", "", TaskKey::Text(C::host), |_, t| Cell::text(t.host))),
    words(optional(column("Logs", "Of its executor", TaskKey::Text(C::executor), |visit, t| {
        let logs = views::executor_log_pairs(visit.store, t.executor);
        let urls = logs.map(|(logs, attributes)| {
            visit.call.settings().log_urls(visit.store, logs, attributes)
        });
        Cell::default().links(super::executors::web_links(urls.unwrap_or_default()))
    }))),
    column("Launch time", "", TaskKey::Number(C::launched_at_ms), |visit, t| {
        visit.instant(Some(t.row[C::launched_at_ms]))
    }),
    column(
        "Duration",
        "Launch to finish; to the last event of the log while it runs",
        TaskKey::Derived(Measure::DurationMs),
        |_, t| Cell::text(text::duration(t.duration_ms)).exact(format!("{} ms", t.duration_ms)),
    ),
    column(
        "Run time",
        "On the executor; Spark's page calls it duration",
        TaskKey::Metric(C::executor_run_ms),
        |_, t| metric(t, t.row[C::executor_run_ms], text::duration),
    ),
    column("CPU time", "Of its thread", TaskKey::Metric(C::executor_cpu_ns), |_, t| {
        metric(t, t.row[C::executor_cpu_ns], ns)
    }),
    column("GC time", "While it ran", TaskKey::Metric(C::jvm_gc_ms), |_, t| {
        metric(t, t.row[C::jvm_gc_ms], text::duration)
    }),
    optional(column(
        "Scheduler delay",
        "To send it and its result",
        TaskKey::Derived(Measure::SchedulerDelayMs),
        |_, t| metric(t, t.scheduler_delay_ms, text::duration),
    )),
    optional(column(
        "Task deserialization time",
        "To unpack it",
        TaskKey::Metric(C::executor_deserialize_ms),
        |_, t| metric(t, t.row[C::executor_deserialize_ms], text::duration),
    )),
    optional(column(
        "Shuffle read fetch wait time",
        "Waiting for data",
        TaskKey::Metric(C::fetch_wait_ms),
        |_, t| metric(t, t.row[C::fetch_wait_ms], text::duration),
    )),
    optional(column(
        "Shuffle remote reads",
        "From other executors",
        TaskKey::Metric(C::shuffle_remote_bytes),
        |_, t| metric(t, t.row[C::shuffle_remote_bytes], text::bytes),
    )),
    optional(column(
        "Shuffle write time",
        "To local disk",
        TaskKey::Metric(C::shuffle_write_ns),
        |_, t| metric(t, t.row[C::shuffle_write_ns], ns),
    )),
    optional(column(
        "Result serialization time",
        "To pack its result",
        TaskKey::Metric(C::result_serialization_ms),
        |_, t| metric(t, t.row[C::result_serialization_ms], text::duration),
    )),
    optional(column(
        "Getting result time",
        "The driver fetches a large result",
        TaskKey::Derived(Measure::GettingResultMs),
        |_, t| metric(t, t.getting_result_ms, text::duration),
    )),
    optional(column(
        "Peak execution memory",
        "Of joins, sorts and aggregations",
        TaskKey::Metric(C::peak_execution_memory_bytes),
        |_, t| metric(t, t.row[C::peak_execution_memory_bytes], text::bytes),
    )),
    words(optional(column("Accumulators", "Name and update", TaskKey::Accumulables, |_, t| {
        let one = |a: &views::TaskAccumulable<'_>| {
            format!("{}: {}", a.name.unwrap_or_default(), a.update.unwrap_or_default())
        };
        let all = t.accumulables.iter().map(one).collect::<Vec<_>>().join("\n");
        Cell::folded(&all, 60)
    }))),
    column("Input", "Size / records", TaskKey::Metric(C::input_bytes), |_, t| {
        pair(t, t.row[C::input_bytes], t.row[C::input_rows])
    }),
    column("Output", "Size / records", TaskKey::Metric(C::output_bytes), |_, t| {
        pair(t, t.row[C::output_bytes], t.row[C::output_rows])
    }),
    column(
        "Shuffle read",
        "Size / records",
        TaskKey::Derived(Measure::ShuffleReadBytes),
        |_, t| {
            let bytes = t.row[C::shuffle_local_bytes].wrapping_add(t.row[C::shuffle_remote_bytes]);
            pair(t, bytes, t.row[C::shuffle_read_rows])
        },
    ),
    column("Shuffle write", "Size / records", TaskKey::Metric(C::shuffle_write_bytes), |_, t| {
        pair(t, t.row[C::shuffle_write_bytes], t.row[C::shuffle_write_rows])
    }),
    column("Spill (memory)", "Size in memory", TaskKey::Metric(C::spill_memory_bytes), |_, t| {
        metric(t, t.row[C::spill_memory_bytes], text::bytes)
    }),
    column("Spill (disk)", "Size on disk", TaskKey::Metric(C::spill_disk_bytes), |_, t| {
        metric(t, t.row[C::spill_disk_bytes], text::bytes)
    }),
    words(column("Errors", "Why it failed or was killed", TaskKey::Text(C::error), |_, t| {
        Cell::folded(t.error.unwrap_or_default(), 100).bad_if(t.status == TaskStatus::Failed)
    })),
];

/// Columns that are of no use where no task reported what they show.
fn is_known(line: &StageLine<'_>, title: &str) -> bool {
    let has = |column: C| line.sum(column).is_some_and(|sum| sum != 0);
    match title {
        "Input" => has(C::input_bytes) || has(C::input_rows),
        "Output" => has(C::output_bytes) || has(C::output_rows),
        "Shuffle read" => line.shuffle_read_bytes().is_some_and(|n| n != 0),
        "Shuffle write" => has(C::shuffle_write_bytes),
        "Spill (memory)" | "Spill (disk)" => has(C::spill_memory_bytes) || has(C::spill_disk_bytes),
        "Accumulators" => line.row.accumulables.iter().any(|a| a.name.is_some() && !a.internal),
        "Errors" => line.row.counts.n_failed + line.row.counts.n_killed > 0,
        _ => true,
    }
}

pub(super) fn show(visit: &Visit<'_>, line: &StageLine<'_>, n_tasks: usize, view: &mut View) {
    chains(visit, line, view);
    match tasks(visit, line, n_tasks) {
        Ok(table) => view.push(Block::table(table)),
        Err(why) => view.note(why),
    }
}

/// What of the address concerns the tasks.
struct Asked<'q> {
    sort: Option<&'q str>,
    desc: Option<bool>,
    query: TaskQuery,
    page_size: usize,
    page: usize,
}

fn asked<'v>(visit: &Visit<'v>) -> Result<Asked<'v>, String> {
    let of = |name: &str| {
        let value = visit.query().first(&format!("{TAG}.{name}"));
        value.map(str::trim).filter(|value| !value.is_empty())
    };
    let number = |name: &str| match of(name).map(str::parse::<i64>) {
        Some(Err(_)) => Err(format!("{TAG}.{name} is no number.")),
        Some(Ok(n)) => Ok(Some(n)),
        None => Ok(None),
    };
    let status = |name: &str| match name.to_ascii_uppercase().as_str() {
        "RUNNING" => Some(vec![TaskStatus::Running, TaskStatus::GettingResult]),
        "SUCCESS" => Some(vec![TaskStatus::Success]),
        "FAILED" => Some(vec![TaskStatus::Failed]),
        "KILLED" => Some(vec![TaskStatus::Killed]),
        _ => None,
    };
    let statuses = match of("status") {
        None => None,
        Some(name) => {
            let known = status(name);
            Some(known.ok_or("task.status is running, success, failed or killed.")?)
        }
    };
    let size = |name: &str, otherwise: usize| {
        of(name).and_then(|value| value.parse::<usize>().ok()).unwrap_or(otherwise).max(1)
    };
    let page_size = size("pageSize", PAGE_SIZE).min(PAGE_SIZE_MAX);
    Ok(Asked {
        sort: of("sort"),
        desc: of("desc").map(|desc| desc.eq_ignore_ascii_case("true")),
        query: TaskQuery {
            statuses,
            only: TasksOnly {
                index: number("index")?,
                task_id: number("id")?,
                executor: of("executor").map(str::to_owned),
                host: of("host").map(str::to_owned),
                text: of("filter").unwrap_or_default().to_lowercase(),
                speculative: of("speculative").is_some(),
                within_ms: None,
            },
            ..TaskQuery::default()
        },
        page_size,
        page: size("page", 1),
    })
}

fn tasks(visit: &Visit<'_>, line: &StageLine<'_>, n_tasks: usize) -> Result<Table, String> {
    let id = line.row.id;
    let Asked { sort, desc, mut query, page_size, page } = asked(visit)?;
    let is_skewed = line
        .times
        .as_ref()
        .is_some_and(|times| times.max_to_median.is_some_and(|ratio| ratio >= SKEWED));
    let first = if is_skewed { "Duration" } else { "Index" };
    let wanted = sort.unwrap_or(first);
    let sorted = COLUMNS.iter().find(|c| c.title == wanted).unwrap_or(&COLUMNS[0]);
    let descending = match (desc, sort) {
        (Some(desc), _) => desc,
        (None, Some(_)) => false,
        (None, None) => is_skewed,
    };
    (query.key, query.descending) = (sorted.key, descending);
    let is_all = query.statuses.is_none() && is_empty(&query.only);
    let n_found = if is_all { n_tasks } else { views::n_tasks_that(visit.store, id, &query) };
    let n_pages = n_found.div_ceil(page_size).max(1);
    let page = page.min(n_pages);
    (query.offset, query.n_max) = ((page - 1) * page_size, page_size);
    let of = |name: &str| format!("{TAG}.{name}");
    let column_of = of("column");
    let chosen: Vec<&str> = visit.query().all(&column_of).collect();
    let is_shown = |column: &&Column| match chosen.as_slice() {
        [] => !column.is_optional && is_known(line, column.title),
        chosen => chosen.contains(&column.title),
    };
    let columns: Vec<&Column> = COLUMNS.iter().filter(is_shown).collect();
    let link = |changes: &[(&str, &str)]| address(visit.query(), TAG, changes);
    let heads = columns.iter().map(|column| {
        let sorted = (column.title == sorted.title).then_some(descending);
        Head::of(column.title, column.hint, column.is_number, sorted, link)
    });
    let mut rows = Vec::with_capacity(page_size);
    views::visit_tasks(visit.store, id, &query, |task| {
        rows.push(columns.iter().map(|column| (column.cell)(visit, &task)).collect());
    });
    let to = |page: usize| link(&[("page", &page.to_string())]);
    Ok(seal(
        Table {
            tag: TAG,
            title: "Tasks",
            n_all: n_tasks,
            n_found,
            filter: query.only.text,
            kept: kept(visit.query(), &[of("filter"), of("page")]),
            kept_by_columns: kept(visit.query(), std::slice::from_ref(&column_of)),
            kept_by_pages: kept(visit.query(), &[of("page"), of("pageSize")]),
            page_size,
            heads: heads.collect(),
            rows,
            page,
            n_pages,
            previous: (page > 1).then(|| to(page - 1)),
            next: (page < n_pages).then(|| to(page + 1)),
            choices: COLUMNS
                .iter()
                .map(|column| Choice { title: column.title, is_shown: is_shown(&column) })
                .collect(),
            empty: "None: no task of this attempt has started, as far as the log tells.",
            chips: chips(visit, line),
            ..Table::default()
        },
        link,
    ))
}

fn is_empty(only: &TasksOnly) -> bool {
    only.index.is_none()
        && only.task_id.is_none()
        && only.executor.is_none()
        && only.host.is_none()
        && only.text.is_empty()
        && !only.speculative
}

/// Tasks that are often looked for.
fn chips(visit: &Visit<'_>, line: &StageLine<'_>) -> Vec<Link> {
    let without = ["status", "index", "id", "executor", "host", "filter", "speculative", "page"]
        .map(|name| (name, ""));
    let chip = |text: &str, changes: &[(&str, &str)]| {
        let mut all: Vec<(&str, &str)> = without
            .iter()
            .filter(|(name, _)| changes.iter().all(|c| c.0 != *name))
            .copied()
            .collect();
        all.extend(changes);
        Link { text: text.to_owned(), to: address(visit.query(), TAG, &all) }
    };
    let counts = &line.row.counts;
    let mut chips = vec![
        chip("all", &[("sort", ""), ("desc", "")]),
        chip("slowest", &[("sort", "Duration"), ("desc", "true")]),
    ];
    if line.sum(C::spill_disk_bytes).is_some_and(|n| n > 0) {
        chips.push(chip("most spill", &[("sort", "Spill (disk)"), ("desc", "true")]));
    }
    if line.shuffle_read_bytes().is_some_and(|n| n > 0) {
        chips.push(chip("most read", &[("sort", "Shuffle read"), ("desc", "true")]));
    }
    if counts.n_failed > 0 {
        chips.push(chip("failed", &[("status", "failed")]));
    }
    if counts.n_killed > 0 {
        chips.push(chip("killed", &[("status", "killed")]));
    }
    if counts.n_active > 0 {
        let longest = [("status", "running"), ("sort", "Launch time"), ("desc", "false")];
        chips.push(chip("running longest", &longest));
    }
    if counts.speculation.n_tasks > 0 {
        chips.push(chip("speculative", &[("speculative", "true")]));
    }
    chips
}

/// Tasks that were tried more than once: each try and what became of it.
fn chains(visit: &Visit<'_>, line: &StageLine<'_>, view: &mut View) {
    let chains = views::attempt_chains(visit.store, line.row.id, CHAINS_MAX);
    if chains.is_empty() {
        return;
    }
    let rows: Vec<&Vec<TaskLine<'_>>> = chains.iter().collect();
    let shown = super::table::Shown {
        tag: "retried",
        title: "Tasks that were tried more than once",
        sort: "Tries",
        descending: true,
        empty: "None.",
    };
    let id = line.row.id;
    let index = |chain: &&Vec<TaskLine<'_>>| chain.first().map(|task| task.row[C::index]);
    let columns = vec![
        super::table::sorted(
            "Index",
            "Leads to its tries",
            index,
            move |chain: &&Vec<TaskLine<'_>>| {
                let index = index(chain).unwrap_or_default();
                Cell::text(index.to_string()).link(visit.task_link(id, index))
            },
        ),
        super::table::number("Tries", "How many", text::count, |chain: &&Vec<TaskLine<'_>>| {
            Some(chain.len() as i64)
        }),
        super::table::words(
            "What became of each",
            "In order; with the reason",
            |chain: &&Vec<TaskLine<'_>>| {
                let one = |task: &TaskLine<'_>| {
                    let why = task.error.map(|e| format!(": {}", text::one_line(e, 200)));
                    let on = if task.executor.is_empty() {
                        String::new()
                    } else {
                        format!(" on {}", task.executor)
                    };
                    let name = attempt(task).text;
                    format!("{name} {}{on}{}", task.status.as_spark(), why.unwrap_or_default())
                };
                let all = chain.iter().map(one).collect::<Vec<_>>();
                let short = chain.iter().map(|task| task.status.as_spark()).collect::<Vec<_>>();
                let mut cell = Cell::text(short.join(" → "));
                cell.details = all.join("\n");
                cell
            },
        ),
    ];
    match super::table::table(visit.query(), &shown, &columns, &rows) {
        Ok(table) => view.push(Block::table(table)),
        Err(_file) => {}
    }
}

/// Rows of a file; more is what the REST API is for.
const EXPORTED_MAX: usize = 100_000;

/// The file that is asked for in place of the page.
pub(super) fn export(visit: &Visit<'_>, line: &StageLine<'_>) -> Option<Answer> {
    let form = visit.query().first("task.export")?;
    let Asked { sort, desc, mut query, .. } = match asked(visit) {
        Ok(asked) => asked,
        Err(why) => return Some(Answer::text(400, why)),
    };
    let sorted = COLUMNS.iter().find(|c| Some(c.title) == sort).unwrap_or(&COLUMNS[0]);
    (query.key, query.descending) = (sorted.key, desc.unwrap_or(false));
    query.n_max = EXPORTED_MAX;
    let columns: Vec<&Column> = COLUMNS.iter().filter(|c| is_known(line, c.title)).collect();
    let heads: Vec<(&'static str, bool)> = columns.iter().map(|c| (c.title, c.is_number)).collect();
    let mut rows: Vec<Vec<String>> = Vec::new();
    views::visit_tasks(visit.store, line.row.id, &query, |task| {
        rows.push(columns.iter().map(|column| (column.cell)(visit, &task).value()).collect());
    });
    Some(super::table::file(form, TAG, &heads, rows.into_iter()))
}
