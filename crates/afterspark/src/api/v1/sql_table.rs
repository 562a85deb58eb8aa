//! `sql/sqlTable`: executions as the SQL page of Spark's own interface asks for them, with the parameters of
//! `DataTables`.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use views::{Scope, SqlLine, SqlStatus};

use super::{Call, SparkApi};
use crate::api::{Answer, Date, Handled, json::Double};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Table<'s> {
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<Summary>,
    records_filtered: usize,
    aa_data: Vec<Row<'s>>,
    draw: i32,
    records_total: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    total_queries: usize,
    average_duration: i64,
    running_queries: usize,
    failed_queries: usize,
    failure_rate: Double,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'s> {
    id: i64,
    status: &'static str,
    description: &'s str,
    submission_time: Date,
    duration: i64,
    job_ids: Vec<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    query_id: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_message: Option<&'s str>,
    root_execution_id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    sub_executions: Option<Vec<Row<'s>>>,
}

/// Rows on a page when nothing is asked.
const N_ROWS: i32 = 20;

pub(super) fn table(call: &Call<'_>) -> Handled {
    let query = call.query();
    let number = |name, default: i32| match query.first(name) {
        None => Ok(default),
        Some(value) => value.parse().map_err(|_| Answer::page(500)),
    };
    let given = |name| query.first(name).filter(|value| !value.is_empty());
    let draw = number("draw", 0)?;
    let in_groups = match query.first("groupSubExecution") {
        Some(value) if value.eq_ignore_ascii_case("false") => false,
        // `spark.ui.groupSQLSubExecutionEnabled`
        _ => true,
    };
    let (search, status) = (given("search[value]"), given("status"));
    let all = views::sql_executions(call.store, Scope::default());
    let n_all = all.len();
    let search = search.map(str::to_lowercase);
    let is_found = |line: &SqlLine<'_>| {
        let text = call.store.text(line.row.description).to_lowercase();
        search.as_ref().is_none_or(|search| {
            text.contains(search)
                || line.status.name().to_lowercase().contains(search)
                || line.row.id.to_string().contains(search)
        }) && status.is_none_or(|status| line.status.name().eq_ignore_ascii_case(status))
    };
    let is_filtered = search.is_some() || status.is_some();
    let n_all_roots = if in_groups && is_filtered { n_roots(&all) } else { 0 };
    let found: Vec<SqlLine<'_>> = all.into_iter().filter(is_found).collect();
    let n_found = found.len();
    let (mut rows, mut below) = if in_groups { partition(found) } else { (found, HashMap::new()) };
    let n_rows = rows.len();
    let summary = (call.settings().api >= SparkApi::V4_3).then(|| summary(&rows));
    let column = query.first("order[0][column]");
    let column = column.and_then(|at| query.first(&format!("columns[{at}][name]")));
    sort(call, &mut rows, column.unwrap_or("id"));
    if query.first("order[0][dir]").unwrap_or("desc") != "asc" {
        rows.reverse();
    }
    let start = number("start", 0)?;
    let length = number("length", N_ROWS)?;
    if length > 0 {
        let at = |n: i32| usize::try_from(n).unwrap_or(0);
        rows.truncate(at(start.wrapping_add(length)));
        rows.drain(..at(start).min(rows.len()));
    }
    let rows = rows.iter().map(|line| {
        let of = below.remove(&line.row.id).unwrap_or_default();
        let sub_executions = in_groups.then(|| of.iter().map(|sub| row(call, sub)).collect());
        Row { sub_executions, ..row(call, line) }
    });
    Ok(Answer::json(&Table {
        summary,
        aa_data: rows.collect(),
        draw,
        records_total: match (in_groups, is_filtered) {
            (true, true) => n_all_roots,
            (true, false) => n_rows,
            (false, _) => n_all,
        },
        records_filtered: if in_groups { n_rows } else { n_found },
    }))
}

/// Whether an execution stands on its own, as one whose root is not there does.
fn is_root(line: &SqlLine<'_>, ids: &HashSet<i64>) -> bool {
    line.root_id == line.row.id || !ids.contains(&line.root_id)
}

fn ids_of(lines: &[SqlLine<'_>]) -> HashSet<i64> {
    lines.iter().map(|line| line.row.id).collect()
}

fn n_roots(lines: &[SqlLine<'_>]) -> usize {
    let ids = ids_of(lines);
    lines.iter().filter(|line| is_root(line, &ids)).count()
}

/// Roots, and by root the executions below it.
fn partition(lines: Vec<SqlLine<'_>>) -> (Vec<SqlLine<'_>>, HashMap<i64, Vec<SqlLine<'_>>>) {
    let ids = ids_of(&lines);
    let mut roots = Vec::new();
    let mut below: HashMap<i64, Vec<SqlLine<'_>>> = HashMap::new();
    for line in lines {
        if is_root(&line, &ids) {
            roots.push(line);
        } else {
            below.entry(line.root_id).or_default().push(line);
        }
    }
    (roots, below)
}

fn sort(call: &Call<'_>, rows: &mut [SqlLine<'_>], column: &str) {
    match column {
        "status" => rows.sort_by_key(|line| line.status.name()),
        "description" => rows.sort_by(|a, b| {
            let text = |line: &SqlLine<'_>| call.store.text(line.row.description);
            store::java_order(text(a), text(b))
        }),
        "submissionTime" => rows.sort_by_key(|line| line.row.started_at_ms),
        "duration" => rows.sort_by_key(|line| line.duration_ms),
        _ => rows.sort_by_key(|line| line.row.id),
    }
}

fn summary(rows: &[SqlLine<'_>]) -> Summary {
    let n_with = |status| rows.iter().filter(|line| line.status == status).count();
    let total = rows.iter().fold(0_i64, |sum, line| sum.saturating_add(line.duration_ms));
    let n_failed = n_with(SqlStatus::Failed);
    Summary {
        total_queries: rows.len(),
        average_duration: total.checked_div(rows.len() as i64).unwrap_or(0),
        running_queries: n_with(SqlStatus::Running),
        failed_queries: n_failed,
        failure_rate: Double(if rows.is_empty() {
            0.0
        } else {
            n_failed as f64 / rows.len() as f64
        }),
    }
}

fn row<'s>(call: &Call<'s>, line: &SqlLine<'s>) -> Row<'s> {
    let text = |text| call.store.text(text);
    let succeeded = line.row.jobs.iter().filter(|(_, succeeded)| *succeeded == Some(true));
    let mut job_ids: Vec<i32> = succeeded.map(|(id, _)| *id).collect();
    job_ids.sort_unstable();
    Row {
        id: line.row.id,
        status: line.status.name(),
        description: text(line.row.description),
        submission_time: Date(line.row.started_at_ms),
        duration: line.duration_ms,
        job_ids,
        query_id: line.row.query_id.map(text),
        error_message: line.row.error.map(text),
        root_execution_id: line.root_id,
        sub_executions: None,
    }
}
