//! `storage/`: what was cached, how much of it, and who read it.

use store::{PersistedRdd, StageStatus};

use super::rdd;
use super::table::{Cell, Column, Shown, number, sorted, table, words};
use super::view::{Block, View};
use super::visit::Visit;
use super::{Page, Tab};
use crate::api::Answer;
use crate::text;

pub(super) const PAGES: &[Page] =
    &[Page { path: &["storage"], tab: Tab::Always("Storage"), view }, rdd::PAGE];

const SHOWN: Shown = Shown {
    tag: "rdds",
    title: "Cached RDDs and tables",
    sort: "In memory",
    descending: true,
    empty: "None. Either nothing was cached when the log ended, or the log does not tell: blocks are written to it only with \
            spark.eventLog.logBlockUpdates.enabled=true.",
};

fn view(visit: &Visit<'_>) -> Result<View, Answer> {
    let mut view = View::new("Storage");
    let rdds: Vec<&PersistedRdd> = visit.store.tables().persisted_rdds.iter().collect();
    let is_told = rdds.iter().any(|rdd| !rdd.partitions.is_empty());
    if !rdds.is_empty() && !is_told {
        view.note(
            "Block events were not logged, so it is not known what of these was really cached, where, and how large it is: \
             set spark.eventLog.logBlockUpdates.enabled=true to see it next time.",
        );
    }
    view.push(Block::table(table(visit.query(), &SHOWN, &columns(visit), &rdds)?));
    view.note(
        "As it was when the log ended: what was taken back before (unpersist) is not listed. Reads count the stages whose \
         lineage has the RDD; a cache that one stage reads gains nothing.",
    );
    Ok(view)
}

/// Stage attempts that were to compute or read an RDD.
pub(super) fn readers(visit: &Visit<'_>, id: i32) -> Vec<store::StageAttemptId> {
    let stages = visit.store.tables().stages.iter();
    let reads = |stage: &&store::StageAttempt| {
        stage.status != StageStatus::Skipped && stage.rdds.iter().any(|rdd| rdd.id == id)
    };
    stages.filter(reads).map(|stage| stage.id).collect()
}

/// A value that only block events tell.
pub(super) fn told(rdd: &PersistedRdd, value: i64) -> Option<i64> {
    (!rdd.partitions.is_empty()).then_some(value)
}

fn columns<'v>(visit: &'v Visit<'v>) -> Vec<Column<'v, &'v PersistedRdd>> {
    type Row<'r> = &'r PersistedRdd;
    let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let cached = move |rdd: &Row<'_>| told(rdd, count(rdd.partitions.len()));
    vec![
        sorted("RDD", "Id; leads to its partitions", |rdd: &Row<'_>| Some(i64::from(rdd.id)), {
            move |rdd: &Row<'_>| {
                Cell::text(rdd.id.to_string())
                    .link(format!("{}/storage/rdd/?id={}", visit.base, rdd.id))
            }
        }),
        words("Name", "Of the RDD or table, or the plan it is made by", move |rdd: &Row<'_>| {
            Cell::folded(visit.text(rdd.name), 100)
        }),
        words("Storage level", "As it was asked for", |rdd: &Row<'_>| {
            Cell::text(views::level_text(&rdd.level))
        }),
        sorted(
            "Cached partitions",
            "Of all; what is missing was never computed, evicted for lack of memory, or lost with its executor",
            cached,
            move |rdd: &Row<'_>| {
                let Some(n) = cached(rdd) else { return Cell::text(text::MISSING) };
                let share = n as f64 / rdd.n_partitions.max(1) as f64;
                let written = format!("{n}/{} ({})", rdd.n_partitions, text::percent(share));
                Cell::text(written)
                    .bar([share.clamp(0.0, 1.0), 0.0, 0.0])
                    .costly_if(n < rdd.n_partitions)
            },
        ),
        number("In memory", "Bytes on all executors", text::bytes, |rdd: &Row<'_>| {
            told(rdd, rdd.memory_bytes)
        }),
        number("On disk", "Bytes on all executors", text::bytes, |rdd: &Row<'_>| {
            told(rdd, rdd.disk_bytes)
        }),
        sorted(
            "Read by stages",
            "Stages whose lineage has it, but for the first, which computes it",
            move |rdd: &Row<'_>| Some(count(readers(visit, rdd.id).len())),
            move |rdd: &Row<'_>| {
                let of = readers(visit, rdd.id);
                let n = of.len();
                let shown = of.into_iter().take(LINKS_MAX);
                let rest = n.saturating_sub(LINKS_MAX);
                let text = if rest > 0 { format!("{n}:") } else { String::new() };
                Cell::text(text).links(visit.stages(shown)).costly_if(n == 1)
            },
        ),
    ]
}

/// Links of a cell.
const LINKS_MAX: usize = 12;
