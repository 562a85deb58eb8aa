//! One application's log in every codec, form and way to write JSON: the same report, byte for byte.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

#[expect(dead_code, reason = "every test uses some of it")]
mod support;

use std::fs;
use std::path::Path;

use support::logs::encoders::{CODECS, zip};
use support::logs::json_text::Gaps;
use support::logs::{bundled_at, lines, rewritten, text_of};
use support::{FORMATS, answer, as_text, folder};

/// Jobs and SQL, failures among them, and no gap.
const LOG: &str = "local-1796083766634.zstd";
/// What the written log is called.
const NAME: &str = "app-1";

/// The report in each format; the name of a rolling folder is replaced by that of a file.
fn reports(log: &Path) -> Vec<String> {
    let report = |format: &&str| {
        let options = ["report", "--no-cache", "--format", format, "--stage", "all"];
        let text = String::from_utf8(answer(&[&options[..], &[as_text(log)]].concat())).unwrap();
        text.replace(&format!("eventlog_v2_{NAME}"), NAME)
    };
    FORMATS.iter().map(report).collect()
}

/// Writes the text as a single file in each codec and as rolling folders, and compares the reports.
fn check(test: &str, text: &[u8]) {
    let root = folder(&format!("codecs-{test}"));
    let plain = root.join(NAME);
    fs::write(&plain, text_of(&bundled_at(LOG))).unwrap();
    let expected = reports(&plain);
    assert!(expected[0].len() > 3000, "{}", expected[0]);
    let same = |what: &str, log: &Path| {
        for (format, (got, expected)) in FORMATS.iter().zip(reports(log).iter().zip(&expected)) {
            let differs = got.lines().zip(expected.lines()).find(|(got, expected)| got != expected);
            assert!(got == expected, "{test}, {what}, {format}: {differs:?}");
        }
    };
    for (codec, encode) in CODECS {
        let single = root.join(codec).join(NAME);
        fs::create_dir(root.join(codec)).unwrap();
        fs::write(&single, encode(text, 20_000).bytes).unwrap();
        same(&format!("{codec}, a file"), &single);
        if codec == "zstd frames" {
            let pieces_of_a_byte_each = encode(&text[..text.len().min(3000)], 1).bytes;
            let rest = encode(&text[3000..], text.len()).bytes;
            fs::write(&single, [pieces_of_a_byte_each, rest].concat()).unwrap();
            same("zstd frames of a byte", &single);
        }
        let rolling = root.join(codec).join(format!("eventlog_v2_{NAME}"));
        fs::create_dir(&rolling).unwrap();
        fs::write(rolling.join(format!("appstatus_{NAME}")), b"").unwrap();
        let lines = lines(text);
        for (n, part) in lines.chunks(lines.len().div_ceil(3)).enumerate() {
            let ending = codec.split(' ').next().unwrap();
            let file = rolling.join(format!("events_{}_{NAME}.{ending}", n + 1));
            fs::write(file, encode(&part.concat(), 20_000).bytes).unwrap();
        }
        same(&format!("{codec}, a rolling folder"), &rolling);
    }
}

#[test]
fn as_spark_writes_it() {
    check("spark", &text_of(&bundled_at(LOG)));
}

#[test]
fn with_carriage_returns() {
    let text = String::from_utf8(text_of(&bundled_at(LOG))).unwrap();
    check("crlf", text.replace('\n', "\r\n").as_bytes());
}

#[test]
fn with_spaces() {
    check("spaces", &rewritten(&text_of(&bundled_at(LOG)), |json| json.text(Gaps::Spaces)));
}

#[test]
fn with_keys_reversed() {
    let reversed =
        rewritten(&text_of(&bundled_at(LOG)), |json| json.reversed().text(Gaps::Nothing));
    check("reversed", &reversed);
}

/// The last line lacks its newline, empty lines stand between.
#[test]
fn with_other_line_ends() {
    let text = String::from_utf8(text_of(&bundled_at(LOG))).unwrap();
    check("empty-lines", text.replace('\n', "\n\n \n").trim_end().as_bytes());
}

#[test]
fn in_a_zip() {
    let root = folder("codecs-zip");
    let text = text_of(&bundled_at(LOG));
    let plain = root.join(NAME);
    fs::write(&plain, &text).unwrap();
    let expected = reports(&plain);
    for (codec, encode) in CODECS {
        let bytes = encode(&text, 20_000).bytes;
        let lines = lines(&text);
        let parts = lines.chunks(lines.len().div_ceil(3));
        let parts: Vec<Vec<u8>> = parts.map(|part| encode(&part.concat(), 20_000).bytes).collect();
        for deflated in [false, true] {
            for streamed in [false, true] {
                let single = zip(&[(NAME, &bytes, deflated)], streamed);
                let folder = format!("eventlog_v2_{NAME}");
                let names = [1, 2, 3].map(|n| format!("{folder}/events_{n}_{NAME}"));
                let status = format!("{folder}/appstatus_{NAME}");
                let mut entries = vec![(status.as_str(), &b""[..], false)];
                entries.extend(names.iter().zip(&parts).map(|(n, part)| (&**n, &**part, deflated)));
                for (form, archive) in
                    [("a file", single), ("a rolling folder", zip(&entries, streamed))]
                {
                    let path = root.join("eventLogs-app-1.zip");
                    fs::write(&path, archive).unwrap();
                    let what =
                        format!("{form} of {codec}, deflated {deflated}, streamed {streamed}");
                    assert!(reports(&path) == expected, "{what}");
                }
            }
        }
    }
}

/// Settings of the machine change nothing.
#[test]
fn with_any_threads_and_memory() {
    let log = bundled_at("local-1796085994726.zstd");
    let options = ["report", "--no-cache", "--format", "json", "--stage", "all"];
    let expected = answer(&[&options[..], &[as_text(&log)]].concat());
    for threads in ["1", "2", "3", "4", "5", "6", "7", "8"] {
        for memory in ["64m", "1g"] {
            let more = ["--threads", threads, "--memory", memory, as_text(&log)];
            let got = answer(&[&options[..], &more].concat());
            assert!(got == expected, "{threads} threads, {memory}");
        }
    }
}
