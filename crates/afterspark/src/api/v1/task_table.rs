//! `taskTable`: tasks as the stage page of Spark's own interface asks for them, with the parameters of `DataTables`.

use serde::Serialize;
use store::{TaskColumn as C, TaskFlags};
use views::{Measure, TaskKey, TaskLine, TaskQuery, spark_bytes, spark_duration};

use super::{
    Call,
    task_shape::{Shaper, Task},
    tasks,
};
use crate::api::{Answer, Handled};
use crate::text::date_of_day;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Table<'s> {
    records_filtered: String,
    aa_data: Vec<Task<'s>>,
    records_total: &'s str,
}

/// What a column is sorted by; the names are the titles of Spark's table.
fn key(column: &str) -> Option<TaskKey> {
    Some(match column {
        "ID" => TaskKey::Id,
        // logs before Spark 3.4 do not tell the partition
        "Index" => TaskKey::Number(C::partition_id),
        "Attempt" => TaskKey::Number(C::attempt),
        "Status" => TaskKey::Status,
        "Locality Level" => TaskKey::Text(C::locality),
        "Executor ID" => TaskKey::Text(C::executor),
        "Host" => TaskKey::Text(C::host),
        "Launch Time" => TaskKey::Number(C::launched_at_ms),
        // what the page shows as the duration of a task is its run time
        "Duration" => TaskKey::Metric(C::executor_run_ms),
        "Scheduler Delay" => TaskKey::Derived(Measure::SchedulerDelayMs),
        "Task Deserialization Time" => TaskKey::Metric(C::executor_deserialize_ms),
        "GC Time" => TaskKey::Metric(C::jvm_gc_ms),
        "Result Serialization Time" => TaskKey::Metric(C::result_serialization_ms),
        "Getting Result Time" => TaskKey::Derived(Measure::GettingResultMs),
        "Peak Execution Memory" => TaskKey::Metric(C::peak_execution_memory_bytes),
        "Accumulators" => TaskKey::Accumulables,
        "Input Size / Records" => TaskKey::Metric(C::input_bytes),
        "Output Size / Records" => TaskKey::Metric(C::output_bytes),
        "Shuffle Read Fetch Wait Time" => TaskKey::Metric(C::fetch_wait_ms),
        "Shuffle Read Size / Records" => TaskKey::Derived(Measure::ShuffleReadBytes),
        "Shuffle Remote Reads" => TaskKey::Metric(C::shuffle_remote_bytes),
        "Shuffle Write Time" => TaskKey::Metric(C::shuffle_write_ns),
        "Shuffle Write Size / Records" => TaskKey::Metric(C::shuffle_write_bytes),
        "Spill (Memory)" => TaskKey::Metric(C::spill_memory_bytes),
        "Spill (Disk)" => TaskKey::Metric(C::spill_disk_bytes),
        "Errors" => TaskKey::Text(C::error),
        _ => return None,
    })
}

pub(super) fn table<'s>(call: &Call<'s>) -> Handled {
    let query = call.query();
    let given = |name| query.first(name).ok_or_else(|| Answer::page(500));
    let number = |name| given(name)?.parse::<i32>().map_err(|_| Answer::page(500));
    let id = tasks::stage_attempt(call)?;
    let total = given("numTasks")?;
    let n_total = total.parse::<i32>().map_err(|_| Answer::page(500))?;
    let search = query.first("search[value]").filter(|search| !search.is_empty());
    let column = given("columnNameToSort")?;
    // there is nothing to sort the links to logs by
    let column = if column.eq_ignore_ascii_case("Logs") { "Index" } else { column };
    let key = key(column).ok_or_else(|| Answer::page(500))?;
    let descending = !given("order[0][dir]")?.eq_ignore_ascii_case("asc");
    let mut shaper = Shaper::new(call);
    let at = |n: i32| usize::try_from(n).unwrap_or(0);
    let Some(search) = search else {
        let (start, length) = (number("start")?, number("length")?);
        if length <= 0 {
            return Err(Answer::page(500));
        }
        let wanted = TaskQuery {
            key,
            descending,
            offset: at(start),
            n_max: at(length),
            ..TaskQuery::default()
        };
        let aa_data = shaper.tasks(id, &wanted);
        let records_filtered = total.to_owned();
        return Ok(Answer::json(&Table { records_filtered, aa_data, records_total: total }));
    };
    if n_total <= 0 {
        return Err(Answer::page(500));
    }
    let wanted = TaskQuery { key, descending, n_max: at(n_total), ..TaskQuery::default() };
    let search = search.to_lowercase();
    let (mut n_shown, mut n_found) = (0_usize, 0_usize);
    let mut page: Option<(usize, usize)> = None;
    let mut aa_data = Vec::new();
    let mut refused = None;
    views::visit_tasks(call.store, id, &wanted, |line: TaskLine<'s>| {
        n_shown += 1;
        if !found(&line, &search) {
            return;
        }
        let (from, to) = *page.get_or_insert_with(|| {
            let both = number("start").and_then(|start| Ok((start, number("length")?)));
            match both {
                Ok((start, length)) => (at(start), at(start.saturating_add(length))),
                Err(answer) => {
                    refused = Some(answer);
                    (0, 0)
                }
            }
        });
        if (from..to).contains(&n_found) {
            aa_data.push(shaper.task(line));
        }
        n_found += 1;
    });
    if let Some(refused) = refused {
        return Err(refused);
    }
    // of no tasks at all, none was left out
    let records_filtered = if n_shown == 0 { total.to_owned() } else { n_found.to_string() };
    Ok(Answer::json(&Table { records_filtered, aa_data, records_total: total }))
}

/// Whether what Spark's page would show of a task holds the text, which is in small letters.
fn found(line: &TaskLine<'_>, search: &str) -> bool {
    let row = &line.row;
    let has = |shown: &str| shown.to_lowercase().contains(search);
    let number = |n: i64| has(&n.to_string());
    let duration = |ms: i64| has(&spark_duration(ms));
    let bytes = |bytes: i64| has(&spark_bytes(bytes));
    // in place of what is missing, Spark looks into the text "d"
    let missing = || has("d");
    let fetching = row[C::getting_result_at_ms];
    number(row[C::task_id])
        || number(row[C::index])
        || number(row[C::attempt])
        || has(&page_date(row[C::launched_at_ms]))
        || (if fetching > 0 { has(&java_date(fetching)) } else { missing() })
        || has(line.executor)
        || has(line.host)
        || has(line.status.as_spark())
        || has(line.locality)
        || has(if row[C::flags] & TaskFlags::SPECULATIVE != 0 { "true" } else { "false" })
        || line.error.map_or_else(missing, has)
        || duration(line.scheduler_delay_ms)
        || duration(line.getting_result_ms)
        || (line.has_metrics
            && ([
                C::executor_deserialize_ms,
                C::executor_run_ms,
                C::jvm_gc_ms,
                C::result_serialization_ms,
                C::fetch_wait_ms,
            ]
            .iter()
            .any(|column| duration(row[*column]))
                || [
                    C::spill_memory_bytes,
                    C::spill_disk_bytes,
                    C::peak_execution_memory_bytes,
                    C::input_bytes,
                    C::output_bytes,
                    C::shuffle_remote_bytes,
                    C::shuffle_write_bytes,
                ]
                .iter()
                .any(|column| bytes(row[*column]))
                || bytes(row[C::shuffle_local_bytes].wrapping_add(row[C::shuffle_remote_bytes]))
                || [C::input_rows, C::output_rows, C::shuffle_read_rows, C::shuffle_write_rows]
                    .iter()
                    .any(|column| number(row[*column]))
                || duration(row[C::shuffle_write_ns] / 1_000_000)))
}

/// Year, month, day, hour, minute and second in UTC.
fn fields(at_ms: i64) -> (i64, [i64; 5]) {
    let seconds = at_ms.div_euclid(1_000);
    let (year, month, day) = date_of_day(seconds.div_euclid(86_400));
    let of_day = seconds.rem_euclid(86_400);
    (year, [month, day, of_day / 3_600, of_day / 60 % 60, of_day % 60])
}

/// `2026/12/01 00:01:42`, as on Spark's pages.
fn page_date(at_ms: i64) -> String {
    let (year, [month, day, hour, minute, second]) = fields(at_ms);
    format!("{year:04}/{month:02}/{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// `Tue Dec 01 00:01:42 UTC 2026`, as `Date.toString` has it.
fn java_date(at_ms: i64) -> String {
    let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    let months =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (year, [month, day, hour, minute, second]) = fields(at_ms);
    let weekday = days[at_ms.div_euclid(86_400_000).rem_euclid(7) as usize];
    let month = months[(month - 1).clamp(0, 11) as usize];
    format!("{weekday} {month} {day:02} {hour:02}:{minute:02}:{second:02} UTC {year}")
}
