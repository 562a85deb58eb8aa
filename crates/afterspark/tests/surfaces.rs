//! What holds for every log's report: it fits the page, moves no cursor, and one log does not stop another.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

#[expect(dead_code, reason = "every test uses some of it")]
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::process::Stdio;

use support::logs::json_text::{Gaps, Json};
use support::logs::{bundled, bundled_at, name_of, rewritten, text_of};
use support::{FORMATS, afterspark, answer, as_text, folder, talk};

const WIDTH: usize = 100;

fn text_report(log: &str) -> String {
    String::from_utf8(answer(&["report", "--no-cache", "--stage", "all", log])).unwrap()
}

/// Lines that do not fit the page or hold what a terminal obeys.
fn misfits(what: &str, report: &str) -> Vec<String> {
    let is_misfit =
        |line: &&str| line.chars().count() > WIDTH || line.chars().any(char::is_control);
    report.lines().filter(is_misfit).map(|line| format!("{what}: {line:?}")).collect()
}

#[test]
fn text_fits_a_page() {
    let mut found = Vec::new();
    for log in bundled() {
        let report = text_report(as_text(&log));
        assert!(report.lines().count() > 5, "{report}");
        found.extend(misfits(name_of(&log), &report));
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Every text of a log could be anything: long, and with signs that a terminal obeys.
#[test]
fn hostile_texts_stay_on_their_line() {
    let root = folder("surfaces-hostile");
    let mut found = Vec::new();
    for log in bundled() {
        let mut text = text_of(&log);
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        text.truncate(whole);
        let text = rewritten(&text, |mut json| {
            json.each(&mut |value| {
                if let Json::Object(members) = value {
                    for (key, value) in members {
                        hostile(key, value);
                    }
                }
            });
            json.text(Gaps::Nothing)
        });
        let path = root.join(name_of(&log));
        fs::write(&path, text).unwrap();
        found.extend(misfits(name_of(&log), &text_report(as_text(&path))));
        // CSV is the log's own text
        for format in ["json", "markdown"] {
            let report = answer(&["report", "--no-cache", "--format", format, as_text(&path)]);
            let control = report.iter().find(|byte| **byte < b' ' && **byte != b'\n');
            assert_eq!(control, None, "{format}");
        }
        fs::remove_file(path).unwrap();
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// Appends to the texts that people give.
fn hostile(key: &str, value: &mut Json) {
    const KEYS: [&str; 16] = [
        "App Name",
        "User",
        "Stage Name",
        "Failure Reason",
        "Host",
        "Details",
        "Class Name",
        "Description",
        "Message",
        "description",
        "spark.job.description",
        "spark.jobGroup.id",
        "Exception",
        "Kill Reason",
        "Spark Version",
        "Removed Reason",
    ];
    if let Json::Leaf(text) = value
        && KEYS.contains(&key)
        && text.ends_with('"')
    {
        text.pop();
        text.push_str(r#"\u001b[31m\u001b[2J\r\b\u0007\u009b1mä\u202e|`*<b>,;\"'\t\n=1+1 漢字"#);
        text.push_str(&" and so on".repeat(30));
        text.push('"');
    }
}

/// The ends of what a number holds, in each number of a small log: a report is written, whatever it says.
#[test]
fn numbers_that_do_not_fit() {
    let case = include_str!("../../ingest/cases/lines/one-job.case");
    let lines: Vec<&str> = case.split("---").next().unwrap().lines().collect();
    let log = folder("surfaces-numbers").join("app-1");
    let mut found = BTreeMap::new();
    for (n, line) in lines.iter().enumerate() {
        let json = Json::parse(line);
        for (at, value) in (1..json.n_values())
            .flat_map(|at| ["9223372036854775807", "-9223372036854775808"].map(|value| (at, value)))
        {
            let mut changed: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            changed[n] = json.with(at, value).text(Gaps::Nothing);
            fs::write(&log, changed.join("\n") + "\n").unwrap();
            for format in FORMATS {
                let options = ["report", "--no-cache", "--format", format, "--stage", "all"];
                let output = afterspark(&[&options[..], &[as_text(&log)]].concat()).output();
                note_panic(&talk(&output.unwrap()), &json.member(at), &mut found);
            }
            let output = afterspark(&["apps", as_text(&log)]).output().unwrap();
            note_panic(&talk(&output), &json.member(at), &mut found);
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// By place: one of the members that led there.
fn note_panic(talk: &str, member: &str, found: &mut BTreeMap<String, String>) {
    if let Some((_, place)) = talk.split_once("panicked at ") {
        let place = place.lines().next().unwrap_or_default();
        found.insert(place.to_owned(), member.to_owned());
    }
}

#[test]
fn a_closed_pipe_is_success() {
    for format in FORMATS {
        let log = bundled_at("local-1796096242971.zstd");
        let options = ["report", "--no-cache", "--format", format, "--stage", "all", as_text(&log)];
        let logs = [as_text(&log); 20];
        let mut command = afterspark(&[&options[..], &logs].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = [0];
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut first).unwrap();
        drop(stdout);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{}", talk(&output));
    }
}

#[test]
fn a_folder_with_a_log_that_cannot_be_read() {
    let root = folder("surfaces-folder");
    let names = ["local-1796084909005.zstd", "local-1796085595791"];
    for name in names {
        fs::copy(bundled_at(name), root.join(name)).unwrap();
    }
    for (name, content) in
        [("broken.zip", &b"PK\x03\x04 and no end"[..]), ("notes.txt", b"no events\n")]
    {
        let path = root.join(name);
        fs::write(&path, content).unwrap();
        for verb in [&["report", "--no-cache"][..], &["apps"]] {
            let output = afterspark(&[verb, &[as_text(&root)]].concat()).output().unwrap();
            let answer = String::from_utf8(output.stdout.clone()).unwrap();
            assert_eq!(output.status.code(), Some(2), "{verb:?}, {name}: {}", talk(&output));
            for shown in names {
                assert!(
                    answer.contains(shown.trim_end_matches(".zstd")),
                    "{verb:?}, {name}: {answer}"
                );
            }
            assert!(talk(&output).contains(name), "{verb:?}, {name}: {}", talk(&output));
        }
        fs::remove_file(path).unwrap();
    }
    let output = afterspark(&["report", "--no-cache", as_text(&root)]).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", talk(&output));
}

#[test]
fn a_folder_of_all_logs() {
    let logs = bundled_at("");
    let report = answer(&["report", "--no-cache", "--format", "json", as_text(&logs)]);
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(report["applications"].as_array().unwrap().len(), bundled().len());
    let apps: serde_json::Value =
        serde_json::from_slice(&answer(&["apps", "--format", "json", as_text(&logs)])).unwrap();
    for app in apps.as_array().unwrap() {
        let same = |other: &&serde_json::Value| other["log"] == app["log"];
        let reported = report["applications"].as_array().unwrap().iter().find(same).unwrap();
        for member in ["id", "attempt_id", "name", "user", "spark_version", "started_at_ms"] {
            assert_eq!(app[member], reported["application"][member], "{} {member}", app["log"]);
        }
        let ended = &reported["application"]["ended_at_ms"];
        assert_eq!(&app["ended_at_ms"], ended, "{}", app["log"]);
        assert_eq!(
            app["state"],
            if ended.is_null() { "no-end" } else { "ended" },
            "{}",
            app["log"]
        );
    }
    assert_eq!(apps.as_array().unwrap().len(), bundled().len());
}
