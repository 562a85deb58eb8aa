//! `executors/`: the driver and all executors of an application, those that are gone too.

use views::ExecutorLine;

use super::frame::Frame;
use super::table::{Cell, Column, Shown, number, table, words};
use super::{App, Page, html};
use crate::api::{Handled, v1::Call};
use crate::text;

pub(super) const PAGE: Page = Page { path: "executors", title: "Executors", handler };

const SHOWN: Shown =
    Shown { tag: "executors", title: "Driver and executors", sort: "Task time", descending: true };

fn handler(call: &Call<'_>) -> Handled {
    let executors = views::executors(call.store);
    let table = table(call.query(), &SHOWN, &columns(call), &executors)?;
    let frame = Frame::of(call, PAGE.title);
    Ok(html(200, &App { root: &frame.root, frame: &frame, tables: vec![table] }))
}

type Row<'c> = ExecutorLine<'c>;

fn columns<'c>(call: &'c Call<'_>) -> Vec<Column<'c, Row<'c>>> {
    let text_of = |text| call.store.text(text);
    vec![
        words("Executor", "Id; the driver has none", |e: &Row<'_>| Cell::text(e.id)),
        words("Address", "Host and port", move |e: &Row<'_>| {
            Cell::text(e.row.host_port.map(text_of).unwrap_or_default())
        }),
        words("State", "Whether it was there when the log ended", |e: &Row<'_>| {
            Cell::text(if e.row.active { "active" } else { "gone" })
        }),
        number("Added", "In UTC", text::instant, |e: &Row<'_>| Some(e.row.added_at_ms)),
        number("Removed", "In UTC", text::instant, |e: &Row<'_>| e.row.removed_at_ms),
        number("Cores", "That it offered", text::count, |e: &Row<'_>| Some(e.row.total_cores)),
        number("Tasks done", "Tasks that succeeded", text::count, |e: &Row<'_>| {
            Some(e.row.n_completed_tasks)
        }),
        number("Tasks failed", "Failed attempts of tasks", text::count, |e: &Row<'_>| {
            Some(e.row.n_failed_tasks)
        }),
        number(
            "Task time",
            "Over all tasks; of the driver, how long it ran",
            text::duration,
            |e: &Row<'_>| Some(e.duration_ms),
        ),
        number(
            "GC",
            "Time the JVM collected garbage while tasks ran",
            text::duration,
            |e: &Row<'_>| Some(e.gc_ms),
        ),
        number("Storage used", "Memory that cached blocks took", text::bytes, |e: &Row<'_>| {
            Some(e.row.memory_used_bytes)
        }),
        number("Storage memory", "Memory for cached blocks", text::bytes, |e: &Row<'_>| {
            Some(e.row.max_memory_bytes)
        }),
        number("Input", "Bytes read from storage", text::bytes, |e: &Row<'_>| {
            Some(e.row.input_bytes)
        }),
        number("Shuffle read", "Bytes", text::bytes, |e: &Row<'_>| Some(e.row.shuffle_read_bytes)),
        number("Shuffle write", "Bytes", text::bytes, |e: &Row<'_>| {
            Some(e.row.shuffle_write_bytes)
        }),
        words("Why removed", "As the cluster manager said", move |e: &Row<'_>| {
            let why = e.row.remove_reason.map(text_of).unwrap_or_default();
            Cell::text(text::one_line(why, 120)).exact(why)
        }),
    ]
}
