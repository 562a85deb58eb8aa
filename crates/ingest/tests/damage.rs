//! Whatever a log's bytes are: no crash, what precedes the damage is complete, and the gap is reported.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

#[expect(dead_code, reason = "every test uses some of it")]
mod support;

use std::collections::BTreeMap;

use scan::Limits;
use store::{GapKind, Store, TaskColumn};
use support::encoders::{CODECS, Dice, Encode};
use support::json_text::{Gaps, Json};
use support::{
    HOSTILE_VALUES, Said, bundled, lines, n_gaps, name_of, open, options, text_of, try_read,
};

/// What the store of the first lines says, for each number of them.
fn prefixes(text: &[u8]) -> Vec<Said> {
    let lines = lines(text);
    (0..=lines.len()).map(|n| Said::by(&read(&lines[..n].concat()))).collect()
}

fn read(bytes: &[u8]) -> Store {
    try_read(bytes).unwrap_or_else(|panic| panic!("{panic}"))
}

/// Lines of JSON that the first bytes hold, and whether they end within one.
fn whole_lines(text: &[u8], bytes: usize) -> (usize, bool) {
    let n = lines(&text[..bytes]).iter().filter(|line| line.ends_with(b"\n")).count();
    let begun = text[..bytes].iter().rev().take_while(|byte| **byte != b'\n').count();
    let lacks_newline_only = begun > 0 && text[bytes] == b'\n';
    (n + usize::from(lacks_newline_only), begun > 0 && !lacks_newline_only)
}

#[test]
fn truncated_at_every_byte() {
    let text = support::small_log();
    let prefixes = prefixes(text);
    for cut in 0..text.len() {
        let store = read(&text[..cut]);
        let (n, torn) = whole_lines(text, cut);
        assert_eq!(Said::by(&store).difference(&prefixes[n]), None, "cut at {cut}");
        assert_eq!(n_gaps(&store, GapKind::TornLine), u64::from(torn), "cut at {cut}");
        assert_eq!(n_gaps(&store, GapKind::NoApplicationEnd), u64::from(n + 1 < prefixes.len()));
    }
}

fn truncated(encode: Encode) {
    let text = support::small_log();
    let prefixes = prefixes(text);
    let encoded = encode(text, 2000);
    for cut in 0..encoded.bytes.len() {
        let store = read(&encoded.bytes[..cut]);
        let n = store.tables().app.n_events as usize;
        let sure = encoded.pieces.iter().rfind(|piece| piece.0 <= cut).map_or(0, |piece| piece.1);
        assert!(n >= whole_lines(text, sure.min(text.len() - 1)).0, "cut at {cut}: {n} events");
        assert_eq!(Said::by(&store).difference(&prefixes[n]), None, "cut at {cut}");
        let is_told = n_gaps(&store, GapKind::NoApplicationEnd)
            + n_gaps(&store, GapKind::CutShort)
            + n_gaps(&store, GapKind::Corrupt);
        assert!(is_told > 0 || n + 1 == prefixes.len(), "cut at {cut} is not told");
    }
}

#[test]
fn truncated_zstd() {
    truncated(support::encoders::zstd_frames);
    truncated(support::encoders::zstd_blocks);
}

#[test]
fn truncated_lz4() {
    truncated(support::encoders::lz4);
}

#[test]
fn truncated_snappy() {
    truncated(support::encoders::snappy);
}

#[test]
fn truncated_lzf() {
    truncated(support::encoders::lzf);
}

#[test]
fn truncated_gzip() {
    truncated(support::encoders::gzip);
}

/// The events of `prefix` are all in `store`, which has more.
fn assert_begins_with(store: &Store, prefix: &Store, what: &str) {
    let counts = |store: &Store| -> BTreeMap<String, u64> {
        let kinds = &store.tables().events_by_kind;
        kinds.iter().map(|(kind, n)| (store.text(*kind).to_owned(), *n)).collect()
    };
    let got = counts(store);
    for (kind, n) in counts(prefix) {
        assert!(got.get(&kind).is_some_and(|got| *got >= n), "{what}: {n} × {kind}, {got:?}");
    }
    let stages = &store.tables().stages;
    for stage in &prefix.tables().stages {
        assert!(stages.iter().any(|s| s.id == stage.id), "{what}: no stage {}", stage.id);
        let [got, expected] = [store, prefix].map(|store| store.tasks(stage.id));
        let n_ended = expected.chunks().iter().map(store::Chunk::n_rows).sum::<usize>();
        for column in [TaskColumn::task_id, TaskColumn::index, TaskColumn::executor_run_ms] {
            let (got, expected) = (got.column(column), expected.column(column));
            assert!(got.starts_with(&expected[..n_ended]), "{what}: tasks of stage {}", stage.id);
        }
    }
    let jobs = &store.tables().jobs;
    for job in &prefix.tables().jobs {
        assert!(jobs.iter().any(|j| j.id == job.id), "{what}: no job {}", job.id);
    }
}

#[test]
fn flipped_bytes() {
    let text = support::small_log();
    let whole = lines(text);
    let prefixes: Vec<Store> = (0..=whole.len()).map(|n| read(&whole[..n].concat())).collect();
    for (name, encode) in CODECS {
        let encoded = encode(text, 2000);
        for seed in 0..1000 {
            let mut dice = Dice(seed);
            let mut bytes = encoded.bytes.clone();
            let mut first = bytes.len();
            for _ in 0..=dice.roll(8) {
                // without its first bytes a compressed log is no log
                let at = 16 + dice.roll(bytes.len() - 16);
                bytes[at] ^= 1 + dice.roll(255) as u8;
                first = first.min(at);
            }
            let piece = encoded.pieces.iter().rfind(|piece| piece.0 <= first).unwrap();
            let decoded = if name == "plain" { first } else { piece.1 };
            let n = lines(&text[..decoded]).iter().filter(|line| line.ends_with(b"\n")).count();
            let what = format!("{name}, seed {seed}");
            let store = try_read(&bytes).unwrap_or_else(|panic| panic!("{what}: {panic}"));
            assert_begins_with(&store, &prefixes[n], &what);
        }
    }
}

/// Events and gaps account for every line: neither is dropped without a word.
fn n_accounted(store: &Store) -> u64 {
    let of_lines = [GapKind::TornLine, GapKind::BadLine, GapKind::LongLine, GapKind::BadEvent];
    store.tables().app.n_events + of_lines.iter().map(|kind| n_gaps(store, *kind)).sum::<u64>()
}

/// What no Spark writes, in every field of every event.
#[test]
fn values_that_do_not_fit() {
    let text = support::small_log();
    let lines = lines(text);
    let mut panics: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut lost = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        let json = Json::parse(std::str::from_utf8(line).unwrap());
        let (before, behind) = (lines[..n].concat(), lines[n + 1..].concat());
        for value in HOSTILE_VALUES {
            for at in 0..json.n_values() {
                let hostile = json.with(at, value).text(Gaps::Nothing) + "\n";
                let which =
                    || format!("{} of {}: {value}", json.member(at), support::kind_of(line));
                match try_read(&[&before, hostile.as_bytes(), &behind].concat()) {
                    Ok(store) if n_accounted(&store) < lines.len() as u64 => lost.push(which()),
                    Ok(_) => {}
                    Err(panic) => panics.entry(panic).or_default().push(which()),
                }
            }
        }
    }
    for found in panics.values_mut() {
        let n = found.len();
        found.truncate(3);
        found.push(format!("{n} values"));
    }
    assert!(panics.is_empty() && lost.is_empty(), "{panics:#?}\nneither event nor gap: {lost:#?}");
}

/// As much as a number holds, three times: sums of it fit nowhere.
#[test]
fn sums_that_do_not_fit() {
    let text = support::small_log();
    let lines = lines(text);
    let mut panics: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (n, line) in lines.iter().enumerate() {
        let json = Json::parse(std::str::from_utf8(line).unwrap());
        let (before, behind) = (lines[..n].concat(), lines[n + 1..].concat());
        for value in ["9223372036854775807", "-9223372036854775808"] {
            for at in 1..json.n_values() {
                let hostile = (json.with(at, value).text(Gaps::Nothing) + "\n").repeat(3);
                if let Err(panic) = try_read(&[&before, hostile.as_bytes(), &behind].concat()) {
                    let which = format!("{} of {}", json.member(at), support::kind_of(line));
                    panics.entry(panic).or_default().push(which);
                }
            }
        }
    }
    assert!(panics.is_empty(), "{panics:#?}");
}

/// Every event of these logs comes twice, in the wrong order.
#[test]
fn events_out_of_order() {
    let mut panics = BTreeMap::new();
    for path in bundled() {
        let text = text_of(&path);
        let mut lines: Vec<&[u8]> =
            lines(&text).into_iter().filter(|l| l.ends_with(b"\n")).collect();
        let forwards = lines.clone();
        lines.reverse();
        let backwards = lines.clone();
        let mut dice = Dice(1);
        for at in (1..lines.len()).rev() {
            lines.swap(at, dice.roll(at + 1));
        }
        let twice: Vec<&[u8]> = forwards.iter().flat_map(|line| [*line, *line]).collect();
        let orders = [
            ("backwards", backwards.concat()),
            ("shuffled", lines.concat()),
            ("each line twice", twice.concat()),
            ("twice", [forwards.concat(), forwards.concat()].concat()),
        ];
        for (order, text) in orders {
            let what = format!("{} {order}", name_of(&path));
            match try_read(&text) {
                Err(panic) => drop(panics.insert(what, panic)),
                Ok(store) => {
                    let n = support::lines(&text).len() as u64;
                    assert_eq!(store.tables().app.n_events, n, "{what}");
                }
            }
        }
    }
    assert!(panics.is_empty(), "{panics:#?}");
}

/// Lines are dropped, some anywhere: what is missing must not be taken for what is there.
#[test]
fn events_missing() {
    let mut panics = BTreeMap::new();
    for path in bundled() {
        let text = text_of(&path);
        let lines = lines(&text);
        for seed in 0..20 {
            let mut dice = Dice(seed);
            let kept: Vec<&[u8]> = lines.iter().copied().filter(|_| dice.roll(10) > 2).collect();
            if let Err(panic) = try_read(&kept.concat()) {
                panics.insert(format!("{} seed {seed}", name_of(&path)), panic);
            }
        }
    }
    assert!(panics.is_empty(), "{panics:#?}");
}

/// A line that costs itself at most: the events around it are there.
fn check_line(what: &str, line: &[u8], expected: &[(GapKind, u64)]) {
    let text = support::small_log();
    let lines = lines(text);
    let middle = lines.len() / 2;
    let whole = [&lines[..middle].concat()[..], line, b"\n", &lines[middle..].concat()].concat();
    let mut log = support::log(vec![support::encoders::part(whole)]);
    log.files.clear();
    let mut settings = options(2, 64 << 10);
    settings.limits = Limits { line_bytes_max: 1 << 20, ..settings.limits };
    let store = open(support::read(&log, settings));
    assert!(n_accounted(&store) > lines.len() as u64, "{what}: neither event nor gap");
    assert!(store.tables().app.n_events >= lines.len() as u64, "{what}: events around it are lost");
    for (kind, n) in expected {
        assert_eq!(n_gaps(&store, *kind), *n, "{what}: {kind:?}");
    }
}

#[test]
fn nested_deeply() {
    for (depth, n) in [(10, 0), (1_998, 0), (1_999, 0), (2_000, 1), (2_001, 1), (400_000, 1)] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let inner = if open == "[" { String::new() } else { "1".to_owned() };
            let nested = open.repeat(depth) + &inner + &close.repeat(depth);
            for kind in ["SparkListenerNested", "SparkListenerTaskEnd", "SparkListenerTaskStart"] {
                let line = format!("{{\"Event\":\"{kind}\",\"a\":{nested},\"Stage ID\":0}}");
                let expected = [(GapKind::BadEvent, n)];
                let expected = if kind == "SparkListenerNested" && line.len() < 1 << 20 {
                    &expected[..]
                } else {
                    &[]
                };
                check_line(&format!("{depth} × {open} in {kind}"), line.as_bytes(), expected);
            }
        }
    }
    // unclosed
    check_line("brackets", &b"[".repeat(1_000_000), &[]);
    check_line("brackets", &b"{\"a\":[".repeat(150_000), &[]);
}

#[test]
fn line_over_the_limit() {
    let mut line = b"{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":\"".to_vec();
    line.resize(100 << 20, b'x');
    line.extend(b"\"}");
    check_line("100 MiB", &line, &[(GapKind::LongLine, 1), (GapKind::TornLine, 0)]);
    line.truncate(1 << 20);
    check_line("as long as may be", &line, &[(GapKind::LongLine, 0)]);
    line.push(b'x');
    check_line("one longer", &line, &[(GapKind::LongLine, 1)]);
}

#[test]
fn text_that_is_none() {
    let text = support::small_log();
    for line in lines(text) {
        let line = line.trim_ascii_end();
        for bytes in [&b"\xff"[..], b"\0", b"\x1b", b"\xed\xa0\x80", b"\xc3", b"\t", b"\"", b"\\"] {
            for at in (1..line.len()).step_by(line.len().div_ceil(5)) {
                let changed = [&line[..at], bytes, &line[at..]].concat();
                check_line(
                    &format!("{bytes:?} at {at} of {}", support::kind_of(line)),
                    &changed,
                    &[],
                );
            }
        }
    }
}

/// As many accumulables as a wide plan never has.
#[test]
fn ten_thousand_accumulables() {
    let text = support::small_log();
    let end = lines(text).into_iter().find(|line| support::kind_of(line) == "SparkListenerTaskEnd");
    let mut json = Json::parse(std::str::from_utf8(end.unwrap()).unwrap());
    json.each(&mut |value| {
        if let Json::Object(members) = value
            && let Some((_, Json::List(list))) = members.iter_mut().find(|(key, _)| key == "Accumulables")
        {
            let one = |id: u64| {
                let text = format!("{{\"ID\":{id},\"Name\":\"n{id}\",\"Update\":\"{id}\",\"Value\":\"1\",\"Internal\":true,\"Count Failed Values\":true,\"Metadata\":\"sql\"}}");
                Json::parse(&text)
            };
            list.extend((0..10_000).map(|n| one(n * 429_496_729_600)));
        }
    });
    check_line(
        "10,000 accumulables",
        json.text(Gaps::Nothing).as_bytes(),
        &[(GapKind::BadEvent, 0)],
    );
    check_line(
        "reversed",
        json.reversed().text(Gaps::Spaces).as_bytes(),
        &[(GapKind::BadEvent, 0)],
    );
}

/// Every kind of event with nothing in it.
#[test]
fn empty_events() {
    let text = support::small_log();
    for line in lines(text) {
        let kind = support::kind_of(line);
        check_line(kind, format!("{{\"Event\":\"{kind}\"}}").as_bytes(), &[]);
        let json = Json::parse(std::str::from_utf8(line).unwrap());
        let Json::Object(mut members) = json else { continue };
        while members.len() > 1 {
            let dropped = members.remove(1).0;
            let line = Json::Object(members.clone()).text(Gaps::Nothing);
            check_line(&format!("{kind} without {dropped} and before"), line.as_bytes(), &[]);
        }
    }
    for line in [
        "{}",
        "[]",
        "null",
        "1",
        "\"Event\"",
        "{\"Event\":1}",
        "{\"Event\":null}",
        "{\"Event\":{}}",
    ] {
        check_line(line, line.as_bytes(), &[(GapKind::BadLine, 1)]);
    }
}

/// Of each member twice, whichever is taken.
#[test]
fn members_twice() {
    let text = support::small_log();
    for line in lines(text) {
        let mut json = Json::parse(std::str::from_utf8(line).unwrap());
        json.each(&mut |value| {
            if let Json::Object(members) = value {
                *members =
                    members.iter().flat_map(|member| [member.clone(), member.clone()]).collect();
            }
        });
        // twice as many at each level: too many for a line of many levels
        let line = json.text(Gaps::Nothing);
        if line.len() < 1 << 20 {
            check_line(&line[..60], line.as_bytes(), &[(GapKind::BadLine, 0)]);
        }
    }
}
