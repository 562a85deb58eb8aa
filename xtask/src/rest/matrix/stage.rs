//! What is asked about one stage attempt: its tasks in every order, and summaries of them.

use super::{Query, TASK_STATUS, Walk, number, quoted};
use crate::json::Json;
use crate::rest::Outcome;

const SORTS: [&str; 7] =
    ["ID", "INCREASING_RUNTIME", "DECREASING_RUNTIME", "runtime", "+runtime", "-runtime", "id"];
const TABLE_COLUMNS: [&str; 27] = [
    "Index",
    "ID",
    "Attempt",
    "Status",
    "Locality Level",
    "Executor ID",
    "Host",
    "Logs",
    "Launch Time",
    "Duration",
    "GC Time",
    "Scheduler Delay",
    "Task Deserialization Time",
    "Result Serialization Time",
    "Getting Result Time",
    "Peak Execution Memory",
    "Shuffle Write Time",
    "Shuffle Read Fetch Wait Time",
    "Shuffle Remote Reads",
    "Input Size / Records",
    "Output Size / Records",
    "Shuffle Write Size / Records",
    "Shuffle Read Size / Records",
    "Spill (Memory)",
    "Spill (Disk)",
    "Accumulators",
    "Errors",
];
/// The server keeps the answer for each quantile that is a multiple of 0.05, and a list with one below 0 or above 1 leaves
/// wrong values there; so odd lists use only quantiles that are not kept, or answers would depend on the order asked.
const QUANTILES: [&str; 10] = [
    "0,0.5,1",
    "0.0,0.25,0.5,0.75,1.0",
    "0.95",
    "0.11,0.93,0.22",
    "0.001,0.999",
    " 0.5 , 0.6",
    "-0.01,0.52",
    "0.52,1.99",
    "0.5,abc",
    "",
];
/// In a large stage the server takes long to sort by logs, and they say nothing.
const SORT_BY_LOGS_MAX: u64 = 50;

/// `in_full` asks for more than the plain answers.
pub(super) fn attempt(w: &mut Walk<'_>, stage: &Json, in_full: bool) -> Outcome<()> {
    let below = format!("/stages/{}/{}", number(stage, "stageId"), number(stage, "attemptId"));
    w.ask("stage attempt", &below)?;
    w.ask("taskSummary", &format!("{below}/taskSummary"))?;
    w.ask("taskList", &format!("{below}/taskList"))?;
    if !in_full {
        return Ok(());
    }
    let n_tasks = number(stage, "numTasks");
    let ways = [
        "details=false",
        "details=true&withSummaries=true",
        "details=false&withSummaries=true&quantiles=0.01,0.5,0.99",
        "withSummaries=true&details=false&quantiles=0.5",
    ];
    w.each("stage attempt", &format!("{below}?"), &ways)?;
    let task_list = format!("{below}/taskList?");
    for status in TASK_STATUS {
        let query = format!("{below}?details=true&taskStatus={status}");
        w.ask("stage attempt ?taskStatus", &query)?;
        w.ask("taskList ?status", &format!("{task_list}status={status}&length=1000"))?;
    }
    let query = format!("{below}?taskStatus=failed&taskStatus=killed&withSummaries=true");
    w.ask("stage attempt ?taskStatus", &query)?;
    let two = ["status=success&status=failed&offset=1&length=3"];
    w.each("taskList ?status", &task_list, &two)?;
    for list in QUANTILES {
        let query = format!("{below}/taskSummary?quantiles={}", quoted(list));
        w.ask("taskSummary ?quantiles", &query)?;
    }
    for sort in SORTS {
        let query = format!("{task_list}length=50&sortBy={}", quoted(sort));
        w.ask("taskList ?sortBy", &query)?;
    }
    let n = n_tasks.cast_signed();
    let ends =
        [((n - 2).max(0), 10), (n + 10, 5), (0, 0), (0, 100_000), (0, -1), (-5, 3), (-1, -1)];
    for (offset, length) in [(0, 5), (3, 4)].into_iter().chain(ends) {
        let query = format!("{task_list}offset={offset}&length={length}");
        w.ask("taskList ?offset&length", &query)?;
    }
    let odd = ["offset=x", "length=1.5", "sortBy=nosuch", "status=nosuch"];
    w.each("taskList errors", &task_list, &odd)?;
    table(w, &format!("{below}/taskTable"), n_tasks)
}

/// The table of tasks as the pages ask for it.
fn table(w: &mut Walk<'_>, path: &str, n_tasks: u64) -> Outcome<()> {
    let by = |column: &str, direction: &str| {
        let at = TABLE_COLUMNS.iter().position(|name| *name == column).unwrap_or(0);
        Query::of(&[
            ("draw", "1"),
            ("start", "0"),
            ("length", "20"),
            ("search[value]", ""),
            ("search[regex]", "false"),
            ("numTasks", &n_tasks.to_string()),
            ("order[0][column]", &at.to_string()),
            ("order[0][dir]", direction),
            ("columnNameToSort", column),
        ])
    };
    for column in TABLE_COLUMNS {
        if column != "Logs" || n_tasks < SORT_BY_LOGS_MAX {
            w.ask("taskTable", &format!("{path}?{}", by(column, "asc")))?;
        }
    }
    w.ask("taskTable", &format!("{path}?{}", by("Duration", "desc")))?;
    let mut query = by("Index", "asc");
    query.set("start", "2");
    query.set("length", "3");
    w.ask("taskTable", &format!("{path}?{query}"))?;
    for word in ["success", "driver", "1", "NODE_LOCAL", "nothing matches"] {
        let mut query = by("Index", "asc");
        query.set("search[value]", word);
        w.ask("taskTable ?search", &format!("{path}?{query}"))?;
    }
    w.ask("taskTable", path)?;
    let mut query = by("Index", "asc");
    query.set("numTasks", "10");
    query.set("columnNameToSort", "nosuch");
    w.ask("taskTable", &format!("{path}?{query}")).map(drop)
}
