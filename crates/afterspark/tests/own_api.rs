//! Our own API against its `OpenAPI` document: every path of the document is asked about every bundled application, and
//! every answer has the form that the document gives it, no field more and none less.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};
use xtask::servers::{self, Server};

const LOGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/logs");
const ROOT: &str = "/api/afterspark/v1";
/// The first scan is asked for so often, with a pause between.
const TRIES: usize = 1_200;
const PAUSE: Duration = Duration::from_millis(50);

/// What no bundled log has.
const THRIFT: &str = r#"{"Event":"SparkListenerLogStart","Spark Version":"4.2.0"}
{"Event":"SparkListenerApplicationStart","App Name":"sql","App ID":"thrift","Timestamp":1796000001000,"User":"u"}
{"Event":"org.apache.spark.sql.hive.thriftserver.ui.SparkListenerThriftServerSessionCreated","ip":"10.0.0.1","sessionId":"s","userName":"u","startTime":1796000002000}
{"Event":"org.apache.spark.sql.hive.thriftserver.ui.SparkListenerThriftServerOperationStart","id":"o","sessionId":"s","statement":"select 1","startTime":1796000003000,"groupId":"g","userName":"u"}
{"Event":"org.apache.spark.sql.hive.thriftserver.ui.SparkListenerThriftServerOperationFinish","id":"o","finishTime":1796000004500}
{"Event":"SparkListenerApplicationEnd","Timestamp":1796000009000}
"#;

fn serve(name: &str) -> Server {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let [cache, logs] = ["cache", "logs"].map(|name| folder.join(name));
    fs::create_dir_all(&logs).unwrap();
    fs::write(logs.join("thrift"), THRIFT).unwrap();
    let more = [logs.to_str().unwrap(), "--cache-dir", cache.to_str().unwrap()];
    let program = Path::new(env!("CARGO_BIN_EXE_afterspark"));
    let server = servers::afterspark(program, Path::new(LOGS), &more).unwrap();
    for _ in 0..TRIES {
        if ask(&server, &format!("{ROOT}/status")).body["scan"]["n_scans"] != 0 {
            return server;
        }
        std::thread::sleep(PAUSE);
    }
    panic!("the first scan does not end");
}

struct Asked {
    status: u16,
    body: Value,
}

fn ask(server: &Server, path: &str) -> Asked {
    let answer = server.client().unwrap().get(path).unwrap();
    let body = serde_json::from_slice(&answer.body).unwrap_or_else(|error| {
        panic!("{path}: {error}: {}", String::from_utf8_lossy(&answer.body))
    });
    Asked { status: answer.status, body }
}

/// Ids of all applications with those of their attempts.
fn attempts(server: &Server) -> Vec<(String, Option<String>)> {
    let list = ask(server, "/api/v1/applications").body;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let apps = list.as_array().unwrap().iter().flat_map(|app| {
        let id = text(&app["id"]).unwrap();
        let attempts = app["attempts"].as_array().unwrap().iter();
        attempts.map(move |attempt| (id.clone(), text(&attempt["attemptId"]))).collect::<Vec<_>>()
    });
    apps.collect()
}

/// The document's schemas, and those that some value was held against.
struct Schemas<'d> {
    document: &'d Value,
    used: BTreeSet<String>,
}

impl Schemas<'_> {
    /// What is wrong with a value.
    fn check(&mut self, schema: &Value, value: &Value, place: &str) -> Result<(), String> {
        let Some(schema) = schema.as_object() else { return Ok(()) };
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            let target = self.document.pointer(name.strip_prefix('#').unwrap()).cloned();
            self.used.insert(name.rsplit('/').next().unwrap().to_owned());
            return self.check(&target.ok_or(format!("{name} is not there"))?, value, place);
        }
        if let Some(any) = schema.get("anyOf").and_then(Value::as_array) {
            let fits = any.iter().any(|schema| self.check(schema, value, place).is_ok());
            return if fits { Ok(()) } else { Err(format!("{place}: fits none")) };
        }
        if !has_type(schema, value) {
            return Err(format!("{place}: {value} and not {}", schema["type"]));
        }
        match value {
            Value::Array(items) => {
                let of = schema.get("items").ok_or(format!("{place}: no items"))?;
                items.iter().try_for_each(|item| self.check(of, item, &format!("{place}[]")))
            }
            Value::Object(fields) => self.check_fields(schema, fields, place),
            _ => Ok(()),
        }
    }

    fn check_fields(
        &mut self,
        schema: &Map<String, Value>,
        fields: &Map<String, Value>,
        place: &str,
    ) -> Result<(), String> {
        let required = schema.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                return Err(format!("{place}.{name} is not there"));
            }
        }
        for (name, value) in fields {
            let place = format!("{place}.{name}");
            let own = schema.get("properties").and_then(|all| all.get(name));
            let of = own.or_else(|| schema.get("additionalProperties"));
            self.check(of.ok_or(format!("{place} is in no schema"))?, value, &place)?;
        }
        Ok(())
    }
}

fn has_type(schema: &Map<String, Value>, value: &Value) -> bool {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("unknown type {other}"),
    };
    match &schema["type"] {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        other => panic!("no type: {other}"),
    }
}

#[test]
fn answers_are_as_the_document_says() {
    let server = serve("own-api");
    let document = ask(&server, &format!("{ROOT}/openapi.json")).body;
    assert_eq!(document["openapi"], "3.1.0");
    let mut schemas = Schemas { document: &document, used: BTreeSet::new() };
    let mut n_asked = 0;
    for (path, about) in document["paths"].as_object().unwrap() {
        let form = |status: &str| {
            about["get"]["responses"][status]["content"]["application/json"]["schema"].clone()
        };
        if !path.contains("{app}") {
            let answer = ask(&server, path);
            assert_eq!(answer.status, 200, "{path}");
            if !path.ends_with("openapi.json") {
                schemas.check(&form("200"), &answer.body, path).unwrap();
            }
            n_asked += 1;
            continue;
        }
        let with_attempt = path.contains("{attempt}");
        for (app, attempt) in attempts(&server) {
            let Some(attempt) =
                attempt.or(Some(String::new())).filter(|id| with_attempt != id.is_empty())
            else {
                continue;
            };
            let path = path.replace("{app}", &app).replace("{attempt}", &attempt);
            let mut paths = vec![path.clone()];
            if let Some((list, _)) = path.split_once("/{run}") {
                let queries = ask(&server, list).body;
                let runs = queries["queries"].as_array().unwrap().iter();
                paths = runs
                    .map(|run| path.replace("{run}", run["run_id"].as_str().unwrap()))
                    .collect();
            }
            for path in paths {
                let answer = ask(&server, &path);
                assert_eq!(answer.status, 200, "{path}: {}", answer.body);
                schemas.check(&form("200"), &answer.body, &path).unwrap();
                n_asked += 1;
            }
        }
    }
    assert!(n_asked > 200, "{n_asked}");
    let refused = ask(&server, &format!("{ROOT}/applications/nosuch/gaps"));
    assert_eq!(refused.status, 404);
    let problem = serde_json::json!({ "$ref": "#/components/schemas/Problem" });
    schemas.check(&problem, &refused.body, "refusal").unwrap();
    // some bundled log has one of each, but for what a server with healthy logs has not
    let declared = document["components"]["schemas"].as_object().unwrap().keys().cloned();
    let unused: Vec<String> = declared.filter(|name| !schemas.used.contains(name)).collect();
    assert_eq!(unused, ["Unreadable"]);
}

#[test]
fn thrift_statements_are_told() {
    let server = serve("own-api-thrift");
    let thrift = ask(&server, &format!("{ROOT}/applications/thrift/thrift")).body;
    let session = &thrift["sessions"][0];
    // open to the end of the log, 7 s later
    assert_eq!((&session["address"], &session["duration_ms"]), (&"10.0.0.1".into(), &7000.into()));
    let statement = &thrift["statements"][0];
    assert_eq!(statement["statement"], "select 1");
    assert_eq!(
        (&statement["state"], &statement["execution_ms"]),
        (&"finished".into(), &1500.into())
    );
    assert_eq!(statement["closed_at_ms"], Value::Null);
}

#[test]
fn what_cannot_be_answered_is_said_in_json() {
    let server = serve("own-api-refusals");
    let app = attempts(&server).into_iter().find(|(_, attempt)| attempt.is_none()).unwrap().0;
    for (path, status, says) in [
        ("/nosuch".to_owned(), 404, "no such endpoint"),
        ("/applications".to_owned(), 404, "no such endpoint"),
        (format!("/applications/{app}/nosuch"), 404, "no such endpoint"),
        ("/applications/nosuch/gaps".to_owned(), 404, "no such application: nosuch"),
        (format!("/applications/{app}/7/gaps"), 404, "no such application"),
        (format!("/applications/{app}/gaps?offset=x"), 400, "offset is not a whole number"),
        (format!("/applications/{app}/gaps?length=-1"), 400, "length is not a whole number"),
        (format!("/applications/{app}/streaming/nosuch"), 404, "no run of a streaming query"),
    ] {
        let answer = ask(&server, &format!("{ROOT}{path}"));
        assert_eq!(answer.status, status, "{path}: {}", answer.body);
        let why = answer.body["error"].as_str().unwrap();
        assert!(why.contains(says), "{path}: {why}");
    }
}

#[test]
fn lists_come_in_pages() {
    let server = serve("own-api-pages");
    let list = |app: &str, page: &str| {
        ask(&server, &format!("{ROOT}/applications/{app}/connect{page}")).body["operations"].clone()
    };
    let n_of = |app: &str| {
        ask(&server, &format!("{ROOT}/applications/{app}/connect")).body["n_operations"]
            .as_u64()
            .unwrap()
    };
    let app = attempts(&server).into_iter().map(|(app, _)| app).find(|app| n_of(app) > 2).unwrap();
    let all = list(&app, "");
    assert_eq!(all.as_array().unwrap().len() as u64, n_of(&app));
    assert_eq!(list(&app, "?offset=1&length=1"), Value::Array(vec![all[1].clone()]));
    assert_eq!(list(&app, "?offset=1000000"), Value::Array(Vec::new()));
    assert_eq!(list(&app, "?length=0"), Value::Array(Vec::new()));
}

#[test]
fn without_an_attempt_the_latest_is_meant() {
    let server = serve("own-api-attempts");
    let list = ask(&server, "/api/v1/applications").body;
    let several = |app: &&Value| app["attempts"].as_array().unwrap().len() > 1;
    let app = list.as_array().unwrap().iter().find(several).unwrap();
    let (id, latest) =
        (app["id"].as_str().unwrap(), app["attempts"][0]["attemptId"].as_str().unwrap());
    let of = |below: &str| ask(&server, &format!("{ROOT}/applications/{id}{below}/gaps")).body;
    assert_eq!(of(""), of(&format!("/{latest}")));
}
