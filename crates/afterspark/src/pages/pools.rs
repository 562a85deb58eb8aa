//! `stages/pool/?poolname=`: a pool of the fair scheduler, its stages, and how long they waited. A log names the pool of
//! each stage, so that pools outlive the driver.

use std::collections::BTreeMap;

use views::{Scope, StageLine};

use super::table::{Cell, Link, Shown, number, table, words};
use super::view::{Block, View};
use super::visit::{Visit, encoded};
use super::{Page, Tab, stages};
use crate::api::Answer;
use crate::text;

pub(super) const PAGE: Page = Page { path: &["stages", "pool"], tab: Tab::Below, view };

const SHOWN: Shown = Shown {
    tag: "pools",
    title: "Fair scheduler pools",
    sort: "Waited",
    descending: true,
    empty: "None: spark.scheduler.mode is not FAIR.",
};

/// What the stages of a pool came to.
#[derive(Default)]
struct Pool {
    name: String,
    n_stages: i64,
    n_active: i64,
    n_running_tasks: i64,
    task_ms: i64,
    waited_ms: i64,
}

fn pools(visit: &Visit<'_>) -> Vec<Pool> {
    let mut by_name: BTreeMap<&str, Pool> = BTreeMap::new();
    for stage in views::stages(visit.store, Scope::default()) {
        if stage.row.submitted_at_ms.is_none() {
            continue;
        }
        let name = visit.text(stage.row.pool);
        let pool = by_name.entry(name).or_default();
        name.clone_into(&mut pool.name);
        pool.n_stages += 1;
        pool.n_active += i64::from(stage.row.status == store::StageStatus::Active);
        pool.n_running_tasks += stage.row.counts.n_active;
        let run_ms = stage.sum(store::TaskColumn::executor_run_ms).unwrap_or(0);
        pool.task_ms = pool.task_ms.saturating_add(run_ms);
        pool.waited_ms = pool.waited_ms.saturating_add(stage.wait_ms.unwrap_or(0));
    }
    by_name.into_values().collect()
}

fn property<'v>(visit: &'v Visit<'_>, name: &str) -> Option<&'v str> {
    let environment = views::environment(visit.store)?;
    environment.spark.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
}

/// The pools of an application that has such.
pub(super) fn table_of_all(visit: &Visit<'_>) -> Result<Option<Block>, Answer> {
    let is_fair = property(visit, "spark.scheduler.mode")
        .is_some_and(|mode| mode.eq_ignore_ascii_case("FAIR"));
    let pools = pools(visit);
    if !is_fair && pools.len() <= 1 {
        return Ok(None);
    }
    let link =
        |pool: &Pool| format!("{}/stages/pool/?poolname={}", visit.base, encoded(&pool.name));
    let columns = vec![
        words("Pool", "Name; leads to its stages", move |pool: &Pool| {
            Cell::text(&pool.name).link(link(pool))
        }),
        number("Stages", "That were submitted", text::count, |pool: &Pool| Some(pool.n_stages)),
        number("Active stages", "When the log ended", text::count, |pool: &Pool| {
            Some(pool.n_active)
        }),
        number("Running tasks", "When the log ended", text::count, |pool: &Pool| {
            Some(pool.n_running_tasks)
        }),
        number(
            "Task time",
            "What the pool got: run time of its tasks",
            text::duration,
            |pool: &Pool| Some(pool.task_ms),
        ),
        number(
            "Waited",
            "From the submission of each stage to its first task, added up: what the pool did not get in time",
            text::duration,
            |pool: &Pool| Some(pool.waited_ms),
        ),
    ];
    table(visit.query(), &SHOWN, &columns, &pools).map(|table| Some(Block::table(table)))
}

fn view(visit: &Visit<'_>) -> Result<View, Answer> {
    let Some(name) = visit.query().first("poolname") else {
        return Ok(View::nothing(400, "The address lacks the name of a pool: ?poolname=default."));
    };
    let all = views::stages(visit.store, Scope::default());
    let of: Vec<&StageLine<'_>> = all
        .iter()
        .filter(|s| s.row.submitted_at_ms.is_some() && visit.text(s.row.pool) == name)
        .collect();
    if of.is_empty() {
        let why = format!("No stage ran in a pool named {}.", text::one_line(name, 120));
        return Ok(View::nothing(404, why));
    }
    let mut view = View::new(format!("Pool {}", text::one_line(name, 120)));
    view.trail.push(Link { text: "Stages".to_owned(), to: format!("{}/stages/", visit.base) });
    view.note(
        "Minimum share and weight of a pool are not written to event logs; how much it ran and how long it waited are below.",
    );
    let columns = stages::columns_of(visit, store::StageStatus::Complete);
    let shown = stages::shown("poolStage", "Stages of the pool");
    view.push(Block::table(table(visit.query(), &shown, &columns, &of)?));
    Ok(view)
}
