//! Task lines whose keys stand in another order take the general way, and come to the same.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

#[expect(dead_code, reason = "every test uses some of it")]
mod support;

use std::collections::BTreeMap;

use store::{Gap, Store};
use support::json_text::{Gaps, Json};
use support::{
    HOSTILE_VALUES, Said, bundled, encoders, kind_of, lines, log, name_of, open, options, read,
    small_log, text_of, try_read,
};

fn reordered(line: Json, gaps: Gaps) -> String {
    let text = line.text(Gaps::Nothing);
    if !text.starts_with("{\"Event\":\"SparkListenerTask") {
        text
    } else {
        line.reversed().text(gaps)
    }
}

fn check(what: &str, text: &[u8], other: &[u8]) {
    let [expected, got] = [text, other].map(|text| {
        let mut log = log(vec![encoders::part(text)]);
        log.files.clear();
        open(read(&log, options(2, 64 << 10)))
    });
    let difference = Said::by(&got).difference(&Said::by(&expected));
    assert_eq!(difference, None, "{what}");
    assert_eq!(counted(&got), counted(&expected), "{what}");
}

/// Gaps without the places, which other lengths of lines move.
fn counted(store: &Store) -> Vec<Gap> {
    store.tables().gaps.iter().map(|gap| Gap { first_offset: 0, bytes: 0, ..gap.clone() }).collect()
}

#[test]
fn bundled_logs() {
    for path in bundled() {
        let mut text = text_of(&path);
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        text.truncate(whole);
        let other = support::rewritten(&text, |line| reordered(line, Gaps::Nothing));
        check(name_of(&path), &text, &other);
    }
}

#[test]
fn with_spaces() {
    let text = small_log();
    check("reversed", text, &support::rewritten(text, |line| reordered(line, Gaps::Spaces)));
    let spaced = |line: Json| {
        let text = line.text(Gaps::Nothing);
        if kept_as_written(&text) { text } else { line.text(Gaps::Spaces) }
    };
    check("spaced", text, &support::rewritten(text, spaced));
}

/// Lines of these kinds are in the store word for word.
fn kept_as_written(line: &str) -> bool {
    ["QueryProgressEvent", "SparkListenerConnect"].iter().any(|kind| line.contains(kind))
}

/// What no Spark writes, in every field of a task line: both ways make the same of it.
#[test]
fn values_that_do_not_fit() {
    let text = small_log();
    let lines = lines(text);
    let mut differences = BTreeMap::new();
    for (n, line) in lines.iter().enumerate() {
        if !line.starts_with(b"{\"Event\":\"SparkListenerTask") {
            continue;
        }
        let json = Json::parse(std::str::from_utf8(line).unwrap());
        let (before, behind) = (lines[..n].concat(), lines[n + 1..].concat());
        let read = |line: Json| {
            let line = line.text(Gaps::Nothing) + "\n";
            try_read(&[&before, line.as_bytes(), &behind].concat())
        };
        for value in HOSTILE_VALUES {
            for at in 1..json.n_values() {
                let hostile = json.with(at, value);
                // that nothing panics is for another test
                let Ok(expected) = read(hostile.clone()) else { continue };
                let Ok(got) = read(hostile.reversed()) else { continue };
                let mut what = Vec::new();
                if counted(&got) != counted(&expected) {
                    what.push("gaps");
                }
                if Said::by(&got) != Said::by(&expected) {
                    what.push("values");
                }
                if !what.is_empty() {
                    let which = format!("{} of {}", json.member(at), kind_of(line));
                    let values = differences.entry(which).or_insert_with(Vec::new);
                    values.push(format!("{} of {value}", what.join(" and ")));
                }
            }
        }
    }
    assert!(differences.is_empty(), "{}\n{differences:#?}", differences.len());
}
