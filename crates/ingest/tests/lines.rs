//! Event lines and what the store says of them: each file of `cases/lines` is a test.
//! Above the line of dashes stands a log (the dashes follow at once on a last line without newline), below it the rows
//! of the tables, then the gaps. `UPDATE=1` writes what is below.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

#[expect(dead_code, reason = "every test uses some of it")]
mod support;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Failed, Trial};
use store::{Store, TaskColumn as C};

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cases/lines");

/// A row a line; what is unknown is left out.
fn rows(store: &Store) -> String {
    let mut out = String::new();
    let tables = store.tables();
    let text = |handle: store::Text| store.text(handle);
    writeln!(out, "{} events", tables.app.n_events).unwrap();
    if let Some(id) = tables.app.id {
        let (from, to) = (tables.app.started_at_ms, tables.app.ended_at_ms);
        writeln!(out, "application {} {from:?} to {to:?}", text(id)).unwrap();
    }
    for job in &tables.jobs {
        let (from, to) = (job.submitted_at_ms, job.completed_at_ms);
        let (id, status, stages) = (job.id, job.status, &job.stage_ids);
        writeln!(out, "job {id} {status:?} {from:?} to {to:?}, stages {stages:?}").unwrap();
    }
    for stage in &tables.stages {
        let (from, to) = (stage.submitted_at_ms, stage.completed_at_ms);
        let (id, status, counts) = (stage.id, stage.status, &stage.counts);
        write!(out, "stage {id} {status:?} {from:?} to {to:?}, {} tasks", stage.n_tasks).unwrap();
        let (n_done, n_failed) = (counts.n_completed, counts.n_failed);
        let (n_killed, n_active) = (counts.n_killed, counts.n_active);
        writeln!(out, ": {n_done} done, {n_failed} failed, {n_killed} killed, {n_active} active")
            .unwrap();
        let tasks = store.tasks(stage.id);
        for row in 0..tasks.n_rows() {
            let value = |column| tasks.value(column, row);
            let (id, index, attempt) = (value(C::task_id), value(C::index), value(C::attempt));
            write!(out, "  task {id} ({index}.{attempt})").unwrap();
            let (from, to) = (value(C::launched_at_ms), value(C::finished_at_ms));
            let (run, flags) = (value(C::executor_run_ms), value(C::flags));
            write!(out, " {from} to {to}, ran {run} ms, flags {flags}").unwrap();
            match store::Text::from_column(value(C::error)) {
                Some(error) => writeln!(out, ": {}", text(error)).unwrap(),
                None => out.push('\n'),
            }
        }
    }
    for executor in &tables.executors {
        writeln!(out, "executor {}", text(executor.id)).unwrap();
    }
    for sql in &tables.sql_executions {
        writeln!(out, "SQL execution {}: {}", sql.id, text(sql.description)).unwrap();
    }
    for gap in &tables.gaps {
        let (n, kind, at) = (gap.n, gap.kind.name(), gap.first_offset);
        writeln!(out, "gap {n} × {kind} at {at} {}", text(gap.detail)).unwrap();
    }
    out.lines().flat_map(|line| [line.trim_end(), "\n"]).collect()
}

fn check(path: &Path) -> Result<(), Failed> {
    let case = fs::read_to_string(path)?;
    let (log, expected) = case.split_once("---\n").ok_or("no line of three dashes")?;
    let got = rows(&support::store_of(log.as_bytes()));
    if got == expected {
        return Ok(());
    }
    if std::env::var_os("UPDATE").is_some() {
        return Ok(fs::write(path, format!("{log}---\n{got}"))?);
    }
    Err(format!("came to:\n{got}\nexpected:\n{expected}").into())
}

fn main() {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(CASES).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "case"));
    paths.sort();
    let test = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        Trial::test(name, move || check(&path))
    };
    libtest_mimic::run(&Arguments::from_args(), paths.into_iter().map(test).collect()).exit();
}
