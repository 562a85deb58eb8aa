//! Logs whose every text is an attack: bundled ones with markup at the end of each string.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use serde_json::{Value, json};

use crate::site::{self, LOGS, assert_inert, page, serve};

const EVIL: &str = r#"<img src=x onerror=alert(1)>"'><script>alert(2)</script>"#;

/// What is spoilt: jobs, stages and SQL, caches, failures, lost executors, both kinds of streaming, clients.
const SOURCES: [&str; 8] = [
    "local-1796083656921",
    "local-1796083766634",
    "app-20261201001103-0000",
    "local-1796085994726",
    "local-1796086889506",
    "local-1796087415144",
    "local-1796084712220",
    "local-1796084845598",
];
/// Words of Spark's own, without which an event would say nothing.
const KEPT: [&str; 9] = [
    "Event",
    "Locality",
    "Reason",
    "Result",
    "metricType",
    "Block ID",
    "timestamp",
    "Task Type",
    "Update",
];

/// Writes the spoilt logs, and one that is little else than attack.
pub(crate) fn write(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("hostile"), bare()).unwrap();
    for source in SOURCES {
        let log = File::open(Path::new(LOGS).join(format!("{source}.zstd"))).unwrap();
        let log = BufReader::new(zstd::Decoder::new(log).unwrap());
        let mut file = File::create(folder.join(format!("hostile-{source}"))).unwrap();
        for line in log.lines() {
            let mut event: Value = serde_json::from_str(&line.unwrap()).unwrap();
            spoil("", &mut event);
            if event["Event"] == "SparkListenerApplicationStart" {
                event["App ID"] = json!(format!("hostile-{source}"));
            }
            writeln!(file, "{event}").unwrap();
        }
    }
}

fn spoil(key: &str, value: &mut Value) {
    match value {
        Value::String(text) if key == "Scope" => {
            // JSON within JSON
            let mut scope: Value = serde_json::from_str(text).unwrap();
            spoil("", &mut scope);
            *text = scope.to_string();
        }
        Value::String(text) => {
            let is_word = KEPT.contains(&key)
                || text.parse::<f64>().is_ok()
                || text.starts_with("internal.")
                || key.ends_with("Properties.spark.sql.execution.id");
            if !is_word {
                text.push_str(EVIL);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| spoil("", value)),
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut() {
                spoil(key, value);
            }
            if key.ends_with("Properties") || key == "metadata" || key == "Log Urls" {
                fields.insert(EVIL.to_owned(), json!(EVIL));
            }
            if key == "Log Urls" {
                fields.insert("stdout".to_owned(), json!("javascript:alert(1)"));
            }
        }
        _ => {}
    }
}

/// A log in which each event is a few hostile words, some are no event, and some is no JSON.
fn bare() -> String {
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
    .replace("EVIL", &EVIL.replace('"', "\\\""))
}

#[test]
fn what_a_log_says_is_no_markup() {
    let server = serve("pages-hostile");
    let mut client = server.client().unwrap();
    let answer = client.get("/history/hostile/jobs/").unwrap();
    let policy = answer.headers.iter().find(|(name, _)| name == "content-security-policy");
    let policy = &policy.unwrap().1;
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    let filter = "/?applications.filter=%22%3E%3Cscript%3E&x=%22%3E%3Cimg%3E";
    assert_inert(filter, &page(&server, filter));
    let refused = "/history/%3Cimg%20src=x%3E%22%3E/jobs/";
    assert_inert(refused, &site::get(&server, refused).1);
}
