//! `storage/rdd/?id=`: where the partitions of a cached RDD lie, and which are missing.

use std::collections::BTreeSet;

use store::{PersistedRdd, RddPartition, RddShare};

use super::storage::{readers, told};
use super::table::{Cell, Column, Link, Shown, number, sorted, table, words};
use super::view::{Block, View, fact};
use super::visit::Visit;
use super::{Page, Tab};
use crate::api::Answer;
use crate::text;

pub(super) const PAGE: Page = Page { path: &["storage", "rdd"], tab: Tab::Below, view };

/// Partitions that are named as missing.
const MISSING_MAX: usize = 200;

fn view(visit: &Visit<'_>) -> Result<View, Answer> {
    let Some(id) = visit.asked::<i32>("id") else {
        return Ok(View::nothing(400, "The address lacks the id of an RDD: storage/rdd/?id=4."));
    };
    let Some(rdd) = views::persisted_rdd(visit.store, id) else {
        let why = format!(
            "No RDD {id} was cached when the log ended: it was taken back before (unpersist), or there is no such RDD."
        );
        return Ok(View::nothing(404, why));
    };
    let mut view = View::new(format!("RDD {id}: {}", text::one_line(visit.text(rdd.name), 120)));
    view.trail.push(Link { text: "Storage".to_owned(), to: format!("{}/storage/", visit.base) });
    let number = |value: i64, write: fn(i64) -> String| {
        Cell::text(text::or_missing(told(rdd, value), write)).exact(value.to_string())
    };
    let n_cached = i64::try_from(rdd.partitions.len()).unwrap_or(i64::MAX);
    view.push(Block::Facts(vec![
        fact("Storage level", "As it was asked for", Cell::text(views::level_text(&rdd.level))),
        fact("Cached partitions", "When the log ended", number(n_cached, text::count)),
        fact("Total partitions", "", Cell::text(text::count(rdd.n_partitions))),
        fact("Memory size", "", number(rdd.memory_bytes, text::bytes)),
        fact("Disk size", "", number(rdd.disk_bytes, text::bytes)),
    ]));
    view.push(Block::Links { title: "Read by stages", links: visit.stages(readers(visit, id)) });
    if rdd.partitions.is_empty() {
        view.note(
            "Block events were not logged, so it is not known where its partitions lie: set \
             spark.eventLog.logBlockUpdates.enabled=true to see it next time.",
        );
        return Ok(view);
    }
    view.push(distribution(visit, rdd)?);
    missing(visit, rdd, &mut view);
    view.push(partitions(visit, rdd)?);
    Ok(view)
}

fn distribution(visit: &Visit<'_>, rdd: &PersistedRdd) -> Result<Block, Answer> {
    type Row<'r> = &'r RddShare;
    let shown = Shown {
        tag: "distribution",
        title: "Data distribution on executors",
        sort: "On heap",
        descending: true,
        empty: "None.",
    };
    let remaining = |used: i64, left: Option<i64>| {
        let left = left.map(|left| format!(" ({} remaining)", text::bytes(left)));
        Cell::text(format!("{}{}", text::bytes(used), left.unwrap_or_default()))
            .exact(used.to_string())
    };
    let columns: Vec<Column<'_, Row<'_>>> = vec![
        words("Executor", "Id", move |share: &Row<'_>| Cell::text(visit.text(share.executor))),
        words("Host", "And port", move |share: &Row<'_>| {
            Cell::text(share.left.address.map(|text| visit.text(text)).unwrap_or_default())
        }),
        sorted(
            "On heap",
            "Storage memory on the heap",
            |share: &Row<'_>| Some(share.on_heap_bytes),
            move |share: &Row<'_>| {
                remaining(share.on_heap_bytes, share.left.on_and_off_heap_bytes.map(|(on, _)| on))
            },
        ),
        sorted(
            "Off heap",
            "Storage memory outside of the heap",
            |share: &Row<'_>| Some(share.off_heap_bytes),
            move |share: &Row<'_>| {
                remaining(
                    share.off_heap_bytes,
                    share.left.on_and_off_heap_bytes.map(|(_, off)| off),
                )
            },
        ),
        number("Disk", "Bytes", text::bytes, |share: &Row<'_>| Some(share.disk_bytes)),
    ];
    let shares = views::rdd_shares(visit.store, rdd);
    Ok(Block::table(table(visit.query(), &shown, &columns, &shares)?))
}

/// Those that are not cached, by their number, which ends the name of a block (`rdd_4_17`).
fn missing(visit: &Visit<'_>, rdd: &PersistedRdd, view: &mut View) {
    let number = |p: &RddPartition| visit.text(p.block).rsplit('_').next()?.parse::<i64>().ok();
    let cached: BTreeSet<i64> = rdd.partitions.iter().filter_map(number).collect();
    let all = 0..rdd.n_partitions;
    let n_missing = rdd.n_partitions.saturating_sub(cached.len() as i64);
    if n_missing <= 0 {
        return;
    }
    let some: Vec<String> =
        all.filter(|at| !cached.contains(at)).take(MISSING_MAX).map(|at| at.to_string()).collect();
    let more = if n_missing as usize > some.len() { " and more" } else { "" };
    view.note(format!(
        "{} not cached: {}{more}. Spark does not log why: it was never computed, memory did not suffice (it was not kept, or \
         evicted for another), or its executor is gone. Each is computed again whenever it is read.",
        text::counted(n_missing, "partition is", "partitions are"),
        some.join(", "),
    ));
}

fn partitions(visit: &Visit<'_>, rdd: &PersistedRdd) -> Result<Block, Answer> {
    type Row<'r> = &'r RddPartition;
    let shown = Shown {
        tag: "block",
        title: "Partitions",
        sort: "Block",
        descending: false,
        empty: "None.",
    };
    let of = |executors: &[store::Text]| {
        executors.iter().map(|text| visit.text(*text)).collect::<Vec<_>>().join(", ")
    };
    let number_of = |p: &Row<'_>| visit.text(p.block).rsplit('_').next()?.parse::<i64>().ok();
    let columns: Vec<Column<'_, Row<'_>>> = vec![
        sorted(
            "Block",
            "Its name ends in the partition's number",
            number_of,
            move |p: &Row<'_>| Cell::text(visit.text(p.block)),
        ),
        words("Storage level", "As it really lies", move |p: &Row<'_>| {
            Cell::text(views::level_text(&views::partition_level(rdd, p)))
        }),
        number("In memory", "Bytes", text::bytes, |p: &Row<'_>| Some(p.memory_bytes)),
        number("On disk", "Bytes", text::bytes, |p: &Row<'_>| Some(p.disk_bytes)),
        words("Executors", "That hold it", move |p: &Row<'_>| Cell::text(of(&p.executors))),
    ];
    let rows: Vec<Row<'_>> = rdd.partitions.iter().collect();
    Ok(Block::table(table(visit.query(), &shown, &columns, &rows)?))
}
