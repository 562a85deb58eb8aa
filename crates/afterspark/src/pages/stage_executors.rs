//! A stage attempt by executor and by host.

use store::{StageExecutor, TaskColumn as C};
use views::{HostLine, StageLine};

use super::executors::{peak, web_links};
use super::table::{Cell, Column, Shown, number, sorted, table, words};
use super::view::{Block, View};
use super::visit::Visit;
use crate::api::Answer;
use crate::text;

struct Row<'e> {
    id: &'e str,
    of: &'e StageExecutor,
}

pub(super) fn show(visit: &Visit<'_>, line: &StageLine<'_>, view: &mut View) -> Result<(), Answer> {
    let executors = line.row.executors.unpack();
    let rows: Vec<Row<'_>> =
        executors.iter().map(|(id, of)| Row { id: visit.text(*id), of }).collect();
    let shown = Shown {
        tag: "executor",
        title: "Aggregated metrics by executor",
        sort: "Task time",
        descending: true,
        empty: "None: no executor reported anything for this stage attempt.",
    };
    view.push(Block::table(table(visit.query(), &shown, &columns(visit), &rows)?));
    let hosts = views::by_host(visit.store, line.row.id);
    if hosts.len() > 1 {
        let shown = Shown {
            tag: "host",
            title: "By host: is one slower than the others?",
            sort: "Median task",
            descending: true,
            empty: "None.",
        };
        view.push(Block::table(table(visit.query(), &shown, &host_columns(), &hosts)?));
    }
    Ok(())
}

/// From so many times the median of all hosts on, a host is slow.
const SLOW: f64 = 1.5;

fn host_columns<'h>() -> Vec<Column<'h, HostLine<'h>>> {
    vec![
        words("Host", "Name", |host: &HostLine<'_>| Cell::text(host.host)),
        number("Tasks", "That succeeded", text::count, |host: &HostLine<'_>| Some(host.n_tasks)),
        sorted(
            "Failed",
            "Attempts that failed",
            |host: &HostLine<'_>| Some(host.n_failed),
            |host: &HostLine<'_>| Cell::text(text::count(host.n_failed)).bad_if(host.n_failed > 0),
        ),
        number("Median task", "Duration", text::duration, |host: &HostLine<'_>| {
            Some(host.median_ms)
        }),
        sorted(
            "To all",
            "Its median for that of all hosts; 1.5 and more is marked",
            |host: &HostLine<'_>| host.to_median.map(|ratio| (ratio * 100.0) as i64),
            |host: &HostLine<'_>| {
                let is_slow = host.to_median.is_some_and(|ratio| ratio >= SLOW);
                Cell::text(text::or_missing(host.to_median, text::times)).costly_if(is_slow)
            },
        ),
        number("Slowest task", "Duration", text::duration, |host: &HostLine<'_>| Some(host.max_ms)),
        number(
            "Read",
            "Bytes, from storage and other stages",
            text::bytes,
            |host: &HostLine<'_>| Some(host.bytes),
        ),
    ]
}

#[expect(clippy::too_many_lines, reason = "columns, one after the other")]
fn columns<'v>(visit: &'v Visit<'v>) -> Vec<Column<'v, Row<'v>>> {
    let executors = views::executors(visit.store);
    let known = move |id: &str| executors.iter().find(|e| e.id == id).map(|e| e.row);
    let known = std::rc::Rc::new(known);
    let (of_address, of_logs) = (known.clone(), known);
    let pair = |bytes: i64, rows: i64| {
        Cell::text(format!("{} / {}", text::bytes(bytes), text::count(rows)))
            .exact(format!("{bytes} bytes"))
    };
    let read = |row: &Row<'_>| {
        row.of.sums[C::shuffle_local_bytes].wrapping_add(row.of.sums[C::shuffle_remote_bytes])
    };
    let mut columns = vec![
        words("Executor", "Id", |row: &Row<'_>| Cell::text(row.id)),
        words("Logs", "Where its host keeps them", move |row: &Row<'_>| {
            let urls = of_logs(row.id).map(|e| {
                let settings = visit.call.settings();
                settings.log_urls(visit.store, &e.logs, &e.attributes)
            });
            Cell::default().links(web_links(urls.unwrap_or_default()))
        }),
        words("Address", "Host and port", move |row: &Row<'_>| {
            let address = of_address(row.id).and_then(|e| e.host_port);
            Cell::text(address.map_or("not known", |text| visit.text(text)))
        }),
        number(
            "Task time",
            "Of all its tasks, those that failed too",
            text::duration,
            |row: &Row<'_>| Some(row.of.task_ms),
        ),
        number("Tasks", "All attempts", text::count, |row: &Row<'_>| {
            Some(row.of.n_succeeded + row.of.n_failed + row.of.n_killed)
        }),
        sorted(
            "Failed",
            "Attempts",
            |row: &Row<'_>| Some(row.of.n_failed),
            |row: &Row<'_>| Cell::text(text::count(row.of.n_failed)).bad_if(row.of.n_failed > 0),
        ),
        number("Killed", "Attempts", text::count, |row: &Row<'_>| Some(row.of.n_killed)),
        number("Succeeded", "Attempts", text::count, |row: &Row<'_>| Some(row.of.n_succeeded)),
        words("Excluded", "From this stage, for its failures", |row: &Row<'_>| {
            Cell::text(if row.of.excluded { "yes" } else { "no" }).bad_if(row.of.excluded)
        }),
        sorted(
            "Input",
            "Size / records",
            |row: &Row<'_>| Some(row.of.sums[C::input_bytes]),
            move |row: &Row<'_>| pair(row.of.sums[C::input_bytes], row.of.sums[C::input_rows]),
        ),
        sorted(
            "Output",
            "Size / records",
            |row: &Row<'_>| Some(row.of.sums[C::output_bytes]),
            move |row: &Row<'_>| pair(row.of.sums[C::output_bytes], row.of.sums[C::output_rows]),
        ),
        sorted(
            "Shuffle read",
            "Size / records",
            move |row: &Row<'_>| Some(read(row)),
            move |row: &Row<'_>| pair(read(row), row.of.sums[C::shuffle_read_rows]),
        ),
        sorted(
            "Shuffle write",
            "Size / records",
            |row: &Row<'_>| Some(row.of.sums[C::shuffle_write_bytes]),
            move |row: &Row<'_>| {
                pair(row.of.sums[C::shuffle_write_bytes], row.of.sums[C::shuffle_write_rows])
            },
        ),
        number("Spill (memory)", "Size in memory", text::bytes, |row: &Row<'_>| {
            Some(row.of.sums[C::spill_memory_bytes])
        }),
        number("Spill (disk)", "Size on disk", text::bytes, |row: &Row<'_>| {
            Some(row.of.sums[C::spill_disk_bytes])
        }),
    ];
    for (title, metric, hint) in super::executors::PEAKS {
        let of = move |row: &Row<'_>| peak(row.of.peak.as_ref(), metric);
        columns.push(number(title, hint, text::bytes, of).optional());
    }
    columns
}
