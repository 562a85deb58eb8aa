//! Pages over the bundled logs and one whose every text is hostile: all of them open, their links lead somewhere, tables
//! sort, filter, page and export, and nothing that a log says becomes markup.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use xtask::servers::{self, Server};

const LOGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/logs");
/// The first scan is asked for so often, with a pause between.
const TRIES: usize = 1_200;
const PAUSE: Duration = Duration::from_millis(50);

const EVIL: &str = r#"<img src=x onerror=alert(1)>\"'><script>alert(2)</script>"#;

/// A log in which every text is an attack.
fn hostile() -> String {
    [
        r#"{"Event":"SparkListenerLogStart","Spark Version":"EVIL"}"#,
        r#"{"Event":"SparkListenerApplicationStart","App Name":"EVIL","App ID":"hostile","Timestamp":1796000001000,"User":"EVIL"}"#,
        r#"{"Event":"SparkListenerExecutorAdded","Timestamp":1796000001500,"Executor ID":"EVIL","Executor Info":{"Host":"EVIL","Total Cores":1,"Log Urls":{}}}"#,
        r#"{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart","executionId":0,"description":"EVIL","details":"EVIL","physicalPlanDescription":"EVIL","sparkPlanInfo":{"nodeName":"EVIL","simpleString":"EVIL","children":[],"metadata":{},"metrics":[]},"time":1796000001800}"#,
        r#"{"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":1796000002000,"Stage Infos":[{"Stage ID":0,"Stage Attempt ID":0,"Stage Name":"EVIL","Number of Tasks":1,"RDD Info":[],"Parent IDs":[],"Details":"EVIL"}],"Stage IDs":[0],"Properties":{"spark.job.description":"EVIL","spark.jobGroup.id":"EVIL","spark.sql.execution.id":"0"}}"#,
        r#"{"Event":"SparkListenerStageSubmitted","Stage Info":{"Stage ID":0,"Stage Attempt ID":0,"Stage Name":"EVIL","Number of Tasks":1,"RDD Info":[],"Parent IDs":[],"Details":"EVIL","Submission Time":1796000002100},"Properties":{"spark.job.description":"EVIL"}}"#,
        r#"{"Event":"SparkListenerStageCompleted","Stage Info":{"Stage ID":0,"Stage Attempt ID":0,"Stage Name":"EVIL","Number of Tasks":1,"RDD Info":[],"Parent IDs":[],"Details":"EVIL","Submission Time":1796000002100,"Completion Time":1796000003000,"Failure Reason":"EVIL"}}"#,
        r#"{"Event":"SparkListenerJobEnd","Job ID":0,"Completion Time":1796000003100,"Job Result":{"Result":"JobFailed","Exception":{"Message":"EVIL","Stack Trace":[]}}}"#,
        r#"{"Event":"SparkListenerExecutorRemoved","Timestamp":1796000003200,"Executor ID":"EVIL","Removed Reason":"EVIL"}"#,
        r#"{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd","executionId":0,"time":1796000003300,"errorMessage":"EVIL"}"#,
        r#"{"Event":"EVIL","x":1}"#,
        "EVIL is no JSON",
        r#"{"Event":"SparkListenerApplicationEnd","Timestamp":1796000009000}"#,
        "",
    ]
    .join("\n")
    .replace("EVIL", EVIL)
}

fn serve(name: &str) -> Server {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let [cache, logs] = ["cache", "logs"].map(|name| folder.join(name));
    fs::create_dir_all(&logs).unwrap();
    fs::write(logs.join("hostile"), hostile()).unwrap();
    let more = [logs.to_str().unwrap(), "--cache-dir", cache.to_str().unwrap()];
    let program = Path::new(env!("CARGO_BIN_EXE_afterspark"));
    let server = servers::afterspark(program, Path::new(LOGS), &more).unwrap();
    for _ in 0..TRIES {
        if !get(&server, "/api/afterspark/v1/status").1.contains("\"n_scans\":0,") {
            return server;
        }
        std::thread::sleep(PAUSE);
    }
    panic!("the first scan does not end");
}

fn get(server: &Server, path: &str) -> (u16, String) {
    let answer = server.client().unwrap().get(path).unwrap();
    (answer.status, String::from_utf8(answer.body).unwrap())
}

/// A page that must be there.
fn page(server: &Server, path: &str) -> String {
    let (status, text) = get(server, path);
    assert_eq!(status, 200, "{path}: {text}");
    text
}

/// What links on a page lead to, as a browser would ask for it.
fn links(at: &str, text: &str) -> BTreeSet<String> {
    let found = text.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    let whole = |link: &str| {
        let link = link.replace("&#38;", "&").replace("&amp;", "&");
        let link = link.split('#').next().unwrap().to_owned();
        let here = at.split('?').next().unwrap();
        if link.is_empty() || link.starts_with('?') { format!("{here}{link}") } else { link }
    };
    found.map(whole).collect()
}

/// The first cell of each row of a page's first table.
fn first_cells(text: &str) -> Vec<String> {
    let body = text.split("<tbody>").nth(1).unwrap_or("").split("</tbody>").next().unwrap();
    let cell = |row: &str| {
        let cell = row.split("</td>").next().unwrap();
        let cell = cell.split("</a>").next().unwrap();
        cell.rsplit('>').next().unwrap().to_owned()
    };
    body.split("<tr>").skip(1).map(cell).collect()
}

#[test]
fn every_page_opens_and_every_link_leads_somewhere() {
    let server = serve("pages-links");
    let mut seen = BTreeSet::new();
    let mut open = vec!["/".to_owned()];
    while let Some(path) = open.pop() {
        let (status, text) = get(&server, &path);
        assert!(matches!(status, 200 | 302), "{path}: {status}");
        // what is sorted otherwise has the same links
        if path.contains('?') || path.contains("/api/") || path.contains("/static/") {
            continue;
        }
        assert!(text.contains("<html lang=\"en\">") && !text.contains("<script"), "{path}");
        for link in links(&path, &text) {
            assert!(link.starts_with('/'), "{path} leads to {link}");
            if !link.ends_with("/logs") && seen.insert(link.clone()) {
                open.push(link);
            }
        }
    }
    assert!(seen.iter().filter(|path| path.ends_with("/stages/")).count() > 40, "{seen:?}");
}

#[test]
fn what_a_log_says_is_no_markup() {
    let server = serve("pages-hostile");
    for path in [
        "/",
        "/history/hostile/jobs/",
        "/history/hostile/stages/",
        "/history/hostile/executors/",
        "/history/hostile/SQL/",
    ] {
        let answer = server.client().unwrap().get(path).unwrap();
        let policy = answer.headers.iter().find(|(name, _)| name == "content-security-policy");
        let policy = &policy.unwrap().1;
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        let text = String::from_utf8(answer.body).unwrap();
        assert!(text.contains("onerror=alert(1)"), "{path} does not show it");
        assert!(!text.contains("<img") && !text.contains("<script"), "{path}");
        assert!(!text.contains("\"'>") && !text.contains("'\">"), "{path}");
    }
    let filter = "/?applications.filter=%22%3E%3Cscript%3E&x=%22%3E%3Cimg%3E";
    let text = page(&server, filter);
    assert!(!text.contains("<script") && !text.contains("<img"));
}

#[test]
fn tables_sort_filter_page_and_export() {
    let server = serve("pages-tables");
    let stages = "/history/local-1796083018658/stages/";
    let ids = |query: &str| first_cells(&page(&server, &format!("{stages}?{query}")));
    let up = ids("completedStage.sort=Stage&completedStage.desc=false");
    let mut down = ids("completedStage.sort=Stage&completedStage.desc=true");
    assert!(up.len() > 3);
    let numbers: Vec<i32> = up.iter().map(|id| id.parse().unwrap()).collect();
    assert!(numbers.is_sorted(), "{up:?}");
    down.reverse();
    assert_eq!(up, down);
    // the slowest comes first when nothing is asked
    assert_eq!(ids(""), ids("completedStage.sort=Duration&completedStage.desc=true"));
    let two = "completedStage.sort=Stage&completedStage.pageSize=2&completedStage.page=2";
    assert_eq!(ids(two), up[2..4]);
    let beyond = "completedStage.sort=Stage&completedStage.pageSize=2&completedStage.page=999";
    assert!(!ids(beyond).is_empty());
    let found = ids("completedStage.sort=Stage&completedStage.filter=SAVE+at");
    assert!(!found.is_empty() && found.len() < up.len(), "{found:?}");
    let csv =
        page(&server, &format!("{stages}?completedStage.export=csv&completedStage.sort=Stage"));
    let lines: Vec<&str> = csv.trim_end().split("\r\n").collect();
    assert!(lines[0].starts_with("Stage,Attempt,Description,"));
    assert!(lines[1..].iter().zip(&up).all(|(line, id)| line.starts_with(&format!("{id},0,"))));
    let json =
        page(&server, &format!("{stages}?completedStage.export=json&completedStage.sort=Stage"));
    let rows: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
    assert!(rows.iter().zip(&up).all(|(row, id)| row["Stage"] == **id) && rows.len() == up.len());
    let list = first_cells(&page(&server, "/?showIncomplete=true"));
    assert_eq!(list, ["local-1796085020098"]);
}

#[test]
fn what_is_not_there_is_said_on_a_page() {
    let server = serve("pages-refusals");
    for path in [
        "/nosuch",
        "/history/nosuch/jobs/",
        "/history/local-1796083018658/9/jobs/",
        "/history/a/b/c/d",
    ] {
        let (status, text) = get(&server, path);
        assert_eq!(status, 404, "{path}");
        assert!(
            text.contains("<h1>Not found</h1>") && text.contains("href=\"/\""),
            "{path}: {text}"
        );
    }
}
