//! What is asked about one application attempt.

use std::collections::BTreeSet;

use super::{Ask, Attempt, Query, TASK_STATUS, Walk, number, quoted};
use crate::json::Json;
use crate::rest::Outcome;

const STAGE_STATUS: [&str; 5] = ["active", "complete", "failed", "pending", "skipped"];
/// Of an attempt, this many stages are asked with all parameters, and as many that failed or were retried.
const STAGES_IN_FULL: usize = 4;
/// Attempts with more tasks are not asked for the tasks of all stages at once.
const TASKS_AT_ONCE_MAX: u64 = 4_000;

/// All questions about an attempt.
pub(in crate::rest) fn attempt<'a>(of: &Attempt, ask: &'a mut Ask<'a>) -> Outcome<()> {
    let mut walk = Walk::new(ask, String::new());
    walk.ask("application", &format!("/applications/{}", quoted(&of.app)))?;
    walk.ask("application", &of.path())?;
    walk.below = of.path();
    let w = &mut walk;
    jobs(w)?;
    stages(w)?;
    executors(w)?;
    storage(w)?;
    w.ask("environment", "/environment")?;
    sql(w)?;
    let paths = ["statistics", "receivers", "receivers/0", "batches", "batches?status=completed"];
    w.each("streaming", "/streaming/", &paths)?;
    let paths = ["batches/0", "batches/0/operations", "batches/0/operations/0"];
    w.each("streaming", "/streaming/", &paths)?;
    connect(w)?;
    let paths = ["nosuch", "jobs/", "stages/", "environment/x", "storage", "sql/"];
    w.each("unknown path", "/", &paths)?;
    w.each("unknown path", "/", &["diagnostics", "executorSummary", "resourceProfiles"])?;
    w.ask("logs", "/logs")?;
    Ok(())
}

fn jobs(w: &mut Walk<'_>) -> Outcome<()> {
    let jobs = w.list("jobs", "/jobs")?;
    let status = ["running", "succeeded", "failed", "unknown", "failed&status=RUNNING"];
    w.each("jobs ?status", "/jobs?status=", &status)?;
    w.each("jobs errors", "/jobs?status=", &["nosuch", ""])?;
    for job in &jobs {
        w.ask("job", &format!("/jobs/{}", number(job, "jobId")))?;
    }
    w.each("job errors", "/jobs/", &["999999", "abc", "-1", "99999999999"])
}

fn stages(w: &mut Walk<'_>) -> Outcome<()> {
    let stages = w.list("stages", "/stages")?;
    let n_tasks: u64 = stages.iter().map(|stage| number(stage, "numTasks")).sum();
    w.each("stages ?status", "/stages?status=", &STAGE_STATUS)?;
    w.ask("stages ?status", "/stages?status=FAILED&status=skipped")?;
    let odd = ["status=nosuch", "quantiles=abc&withSummaries=true", "quantiles=abc"];
    w.each("stages errors", "/stages?", &odd)?;
    let odd = ["details=maybe", "taskStatus=nosuch", "withSummaries=1"];
    w.each("stages errors", "/stages?", &odd)?;
    w.ask("stages errors", "/stages?withSummaries=true&quantiles=1.99")?;
    let summaries = ["details=false&withSummaries=true", "withSummaries=true&quantiles=0.1,0.9"];
    w.each("stages ?withSummaries", "/stages?", &summaries)?;
    if n_tasks <= TASKS_AT_ONCE_MAX {
        let endings = ["", "&withSummaries=true&status=complete"];
        w.each("stages ?details", "/stages?details=true", &endings)?;
        w.each("stages ?taskStatus", "/stages?details=true&taskStatus=", &TASK_STATUS)?;
        let path = "/stages?details=true&taskStatus=failed&taskStatus=killed&status=failed";
        w.ask("stages ?taskStatus", path)?;
        w.ask("stages ?taskStatus", "/stages?details=false&taskStatus=failed")?;
    }
    let id = |stage: &Json| number(stage, "stageId");
    let ids: BTreeSet<u64> = stages.iter().map(id).collect();
    let odd: BTreeSet<u64> = stages.iter().filter(|stage| is_odd(stage)).map(id).collect();
    let first = |ids: &BTreeSet<u64>| ids.iter().take(STAGES_IN_FULL).copied().collect::<Vec<_>>();
    let full = [first(&ids), first(&odd)].concat();
    for id in &ids {
        w.ask("stage", &format!("/stages/{id}"))?;
        if full.contains(id) {
            let endings =
                ["details=false", "withSummaries=true", "details=true&taskStatus=success"];
            w.each("stage", &format!("/stages/{id}?"), &endings)?;
            let ending = "details=false&withSummaries=true&quantiles=0.3";
            w.ask("stage", &format!("/stages/{id}?{ending}"))?;
        }
    }
    for stage in &stages {
        super::stage::attempt(w, stage, full.contains(&id(stage)))?;
    }
    let last = ids.last().copied().unwrap_or(0);
    w.each("stage errors", "/stages/", &["999999", "abc", "-1"])?;
    for path in [
        format!("{last}/77"),
        "999999/0".to_owned(),
        format!("{last}/x"),
        "999999/0/taskSummary".to_owned(),
        format!("{last}/77/taskList"),
        format!("{last}/77/taskTable"),
        format!("{last}/0/nosuch"),
        "99999999999".to_owned(),
    ] {
        w.ask("stage errors", &format!("/stages/{path}"))?;
    }
    Ok(())
}

/// Whether a stage attempt failed, is a retry, or has tasks that failed or were killed.
fn is_odd(stage: &Json) -> bool {
    let counts = ["attemptId", "numKilledTasks", "numFailedTasks"];
    stage.get("status").is_some_and(|status| status.text() == "FAILED")
        || counts.iter().any(|key| number(stage, key) > 0)
}

fn executors(w: &mut Walk<'_>) -> Outcome<()> {
    let executors = w.list("executors", "/executors")?;
    w.ask("allexecutors", "/allexecutors")?;
    w.ask("allmiscellaneousprocess", "/allmiscellaneousprocess")?;
    let first = executors.iter().take(2).filter_map(|executor| executor.get("id"));
    for id in first.map(Json::text).chain(["driver", "nosuch", "999"]) {
        w.ask("executor threads", &format!("/executors/{id}/threads"))?;
    }
    let endings = ["", "?taskId=0&executorId=driver", "?taskId=x&executorId=driver"];
    w.each("threads", "/threads", &endings)
}

fn storage(w: &mut Walk<'_>) -> Outcome<()> {
    for rdd in w.list("storage/rdd", "/storage/rdd")? {
        w.ask("storage/rdd id", &format!("/storage/rdd/{}", number(&rdd, "id")))?;
    }
    w.each("storage/rdd errors", "/storage/rdd/", &["999999", "abc"])
}

fn sql(w: &mut Walk<'_>) -> Outcome<()> {
    let executions = w.list("sql", "/sql")?;
    let less = ["details=false", "planDescription=false", "details=false&planDescription=false"];
    w.each("sql ?params", "/sql?", &less)?;
    w.ask("sql ?params", "/sql?details=true&planDescription=true")?;
    let pages = ["offset=1&length=2", "offset=0&length=1", "offset=100000", "length=0"];
    w.each("sql ?params", "/sql?", &pages)?;
    let pages = ["offset=2", "length=100000", "offset=-1", "length=-2", "offset=-3&length=2"];
    w.each("sql ?params", "/sql?", &pages)?;
    w.each("sql errors", "/sql?", &["offset=x", "details=x", "length="])?;
    let id = |execution: &Json| format!("/sql/{}", number(execution, "id"));
    for execution in &executions {
        w.ask("sql id", &id(execution))?;
    }
    for execution in executions.iter().take(8) {
        w.each("sql id ?params", &format!("{}?", id(execution)), &less)?;
    }
    w.each("sql errors", "/sql/", &["999999", "abc", "-1"])?;
    w.ask("sql/sqlTable", "/sql/sqlTable")?;
    for column in 0..8 {
        for direction in ["asc", "desc"] {
            let mut query = Query::of(&[("draw", "3"), ("start", "0"), ("length", "100")]);
            query.set("order[0][column]", &column.to_string());
            query.set("order[0][dir]", direction);
            w.ask("sql/sqlTable", &format!("/sql/sqlTable?{query}"))?;
        }
    }
    let more: [&[(&str, &str)]; 10] = [
        &[("groupSubExecution", "true")],
        &[("groupSubExecution", "false")],
        &[("search[value]", "collect")],
        &[("status", "FAILED")],
        &[("status", "COMPLETED")],
        &[("status", "RUNNING")],
        &[("start", "1"), ("length", "2")],
        &[("start", "100000")],
        &[("length", "-1")],
        &[("draw", "x")],
    ];
    for more in more {
        let mut query = Query::of(&[("draw", "4"), ("start", "0"), ("length", "50")]);
        for (key, value) in more {
            query.set(key, value);
        }
        w.ask("sql/sqlTable", &format!("/sql/sqlTable?{query}"))?;
    }
    Ok(())
}

fn connect(w: &mut Walk<'_>) -> Outcome<()> {
    let sessions = w.list("connect", "/connect/sessions")?;
    let operations = w.list("connect", "/connect/operations")?;
    w.each("connect", "/connect/", &["sessions/nosuch", "operations/detail?jobTag=x"])?;
    let text = |json: &Json, key| quoted(json.get(key).map(Json::text).unwrap_or_default());
    for session in sessions.iter().take(3) {
        let (id, user) = (text(session, "sessionId"), text(session, "userId"));
        let endings = [String::new(), "?userId=nosuch".to_owned(), format!("?userId={user}")];
        let path = format!("/connect/sessions/{id}");
        w.each("connect", &path, &endings.each_ref().map(String::as_str))?;
    }
    for operation in operations.iter().take(3) {
        let tag = text(operation, "jobTag");
        w.ask("connect", &format!("/connect/operations/detail?jobTag={tag}"))?;
    }
    if !sessions.is_empty() || !operations.is_empty() {
        let endings = ["offset=1", "length=1", "offset=1&length=1", "length=0", "length=-3"];
        w.each("connect", "/connect/sessions?", &endings)?;
        w.each("connect", "/connect/operations?", &endings)?;
        w.each("connect", "/connect/sessions?", &["offset=-1&length=1", "offset=99", "offset=x"])?;
        w.each("connect", "/connect/operations", &["?length=x", "/detail", "/detail?jobTag="])?;
    }
    Ok(())
}
