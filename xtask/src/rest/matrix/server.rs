//! What is asked of the server itself: the list of applications, and things that are not there.

use super::{Ask, Walk, quoted};
use crate::json::Json;
use crate::rest::Outcome;

const LISTS: [&str; 36] = [
    "status=completed",
    "status=running",
    "status=COMPLETED&status=RUNNING",
    "status=Running",
    "limit=0",
    "limit=1",
    "limit=3",
    "limit=100000",
    "limit=-1",
    "minDate=2010-01-01",
    "minDate=2021-05-25",
    "maxDate=2021-05-25",
    "minDate=2021-05-25T15:00:00.000GMT",
    "maxDate=2021-06-30T00:00:00.000GMT",
    "minDate=2021-05-25T15:00:00.000UTC",
    "minDate=2021-05-25T15:00:00.000EST",
    "minDate=2021-05-25T15:00:00.000%2B0200",
    "minDate=2021-05-25T15:00:00.000Z",
    "minDate=2021-5-2",
    "minDate=2021-05-25T15:00",
    "minEndDate=2021-05-25",
    "maxEndDate=2021-05-25",
    "minEndDate=2021-05-25T15:00:00.000GMT",
    "maxEndDate=2021-06-30T00:00:00.000GMT",
    "minDate=2021-01-01&maxDate=2021-12-31&limit=2",
    "minEndDate=2021-01-01&maxEndDate=2021-12-31&status=completed",
    "minDate=2999-01-01",
    "maxDate=1990-01-01",
    "maxEndDate=1969-12-31",
    "status=completed&limit=2&minDate=2020-01-01",
    "nosuch=1",
    "minDate=2021-13-45",
    "minDate=2026-12-01&maxDate=2026-12-01T01:00:00.000GMT",
    "minEndDate=2026-12-01T00:30:00.000GMT&maxEndDate=2026-12-01T01:00:00.000GMT",
    "minDate=2026-12-01T03:37:53.324GMT",
    "maxDate=2026-12-01T03:37:53.324GMT&limit=1",
];
const ERRORS: [&str; 10] = [
    "status=nosuch",
    "status=",
    "minDate=yesterday",
    "minDate=",
    "maxDate=x",
    "minEndDate=x",
    "maxEndDate=x",
    "limit=x",
    "limit=",
    "limit=1.5",
];
const UNKNOWN: [&str; 20] = [
    "nosuch",
    "nosuch/1",
    "nosuch/jobs",
    "nosuch/stages",
    "nosuch/1/jobs",
    "nosuch/executors",
    "nosuch/allexecutors",
    "nosuch/environment",
    "nosuch/storage/rdd",
    "nosuch/sql",
    "nosuch/sql/1",
    "nosuch/logs",
    "nosuch/1/logs",
    "nosuch/streaming/statistics",
    "nosuch/sql/sqlTable",
    "nosuch/stages/0/0/taskList",
    "nosuch/executors/driver/threads",
    "..",
    "%2e%2e",
    "a%20b%3Cc%3E",
];

/// All questions about the server and its list of applications.
pub(in crate::rest) fn server<'a>(applications: &Json, ask: &'a mut Ask<'a>) -> Outcome<()> {
    let mut walk = Walk::new(ask, String::new());
    let w = &mut walk;
    w.ask("version", "/version")?;
    w.ask("applications", "/applications")?;
    w.each("applications ?params", "/applications?", &LISTS)?;
    w.each("applications errors", "/applications?", &ERRORS)?;
    w.each("unknown application", "/applications/", &UNKNOWN)?;
    for app in applications.list() {
        let id = quoted(app.get("id").map(Json::text).unwrap_or_default());
        let attempts = app.get("attempts").map(Json::list).unwrap_or_default();
        if attempts.len() > 1 || attempts.iter().any(|a| a.get("attemptId").is_some()) {
            let below =
                ["jobs", "stages", "environment", "executors", "sql", "logs", "storage/rdd"];
            w.each("attempt omitted", &format!("/applications/{id}/"), &below)?;
        }
        w.each("unknown attempt", &format!("/applications/{id}/77"), &["", "/jobs"])?;
    }
    let paths = ["", "/", "/nosuch", "/applications/", "/version/", "/versions"];
    w.each("unknown path", "", &paths)?;
    w.ask("unknown path", "/metrics/executors/prometheus")?;
    for method in ["POST", "PUT", "DELETE", "HEAD", "OPTIONS"] {
        w.ask("other method", &format!("({method}) /applications"))?;
    }
    Ok(())
}
