//! Logs that unpack to gigabytes, or are one line of a gigabyte: a gap, in bounded memory.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

#[expect(dead_code, reason = "every test uses some of it")]
mod support;

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::thread;
use std::time::Duration;

use support::logs::encoders::gzip;
use support::logs::{bundled_at, lines, text_of};
use support::{afterspark, as_text, folder, talk};

const RESIDENT_KIB_MAX: u64 = 400 << 10;
const REPEATED_BYTES: usize = 16 << 20;
/// So many of them are 4 GiB.
const N_REPEATED: usize = 256;

/// The most that the process held, as far as the system tells.
fn resident_kib(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// The report within bounds, as code, text and talk.
fn report(log: &Path) -> Output {
    let mut command = afterspark(&["report", "--no-cache", "--format", "json", as_text(log)]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let answer = thread::Builder::new().spawn(move || {
        let mut bytes = Vec::new();
        stdout.read_to_end(&mut bytes).map(|_| bytes)
    });
    let mut most_kib = 0;
    while child.try_wait().unwrap().is_none() {
        most_kib = most_kib.max(resident_kib(&child).unwrap_or(0));
        thread::sleep(Duration::from_millis(2));
    }
    let mut output = child.wait_with_output().unwrap();
    output.stdout = answer.unwrap().join().unwrap().unwrap();
    assert!(most_kib < RESIDENT_KIB_MAX, "{most_kib} KiB resident");
    assert!(most_kib > 0 || !cfg!(target_os = "linux"), "memory was not measured");
    output
}

/// What precedes the bomb is reported, and the gap.
fn check(log: &Path, n_events: usize, gap: &str) {
    let output = report(log);
    assert!(output.status.success(), "{}", talk(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let app = &report["applications"][0];
    assert_eq!(app["application"]["n_events"], n_events, "{}", app["gaps"]);
    let gaps = app["gaps"].as_array().unwrap();
    assert!(gaps.iter().any(|found| found["kind"] == gap), "no {gap}: {gaps:?}");
}

/// All but the last line of a bundled log.
fn beginning() -> (Vec<u8>, usize) {
    let text = text_of(&bundled_at("local-1796084909005.zstd"));
    let lines = lines(&text);
    (lines[..lines.len() - 1].concat(), lines.len() - 1)
}

fn place(name: &str) -> PathBuf {
    folder(&format!("bombs-{name}")).join("app-1")
}

/// Deflated, up to a border at which anything may follow.
fn deflated(content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len() + 1024);
    let mut deflate = flate2::Compress::new(flate2::Compression::best(), false);
    deflate.compress_vec(content, &mut out, flate2::FlushCompress::Full).unwrap();
    out
}

#[test]
fn gzip_bomb() {
    let (text, n) = beginning();
    let log = place("gzip");
    let mut bytes = gzip(&text, text.len()).bytes;
    bytes.extend(gzip(&vec![0; REPEATED_BYTES], REPEATED_BYTES).bytes.repeat(N_REPEATED));
    fs::write(&log, bytes).unwrap();
    check(&log, n, "expansion");
}

#[test]
fn zstd_bomb() {
    let (text, n) = beginning();
    for (name, filling) in [("zeros", &b"\0"[..]), ("newlines", b"\n")] {
        let log = place(&format!("zstd-{name}"));
        let mut bytes = zstd::encode_all(&*text, 3).unwrap();
        let frame = zstd::encode_all(&*filling.repeat(REPEATED_BYTES), 3).unwrap();
        bytes.extend(frame.repeat(N_REPEATED));
        fs::write(&log, bytes).unwrap();
        check(&log, n, "expansion");
    }
}

#[test]
fn zip_bomb() {
    let (text, n) = beginning();
    let log = place("zip").with_extension("zip");
    let mut packed = deflated(&text);
    packed.extend(deflated(&vec![0; REPEATED_BYTES]).repeat(N_REPEATED - 1));
    // an empty last block
    packed.extend([3, 0]);
    let bytes = text.len() as u64 + ((N_REPEATED - 1) * REPEATED_BYTES) as u64;
    fs::write(&log, archive(&packed, u32::try_from(bytes).unwrap())).unwrap();
    check(&log, n, "expansion");
}

/// A zip with one deflated entry, without a checksum that fits.
fn archive(packed: &[u8], bytes: u32) -> Vec<u8> {
    let mut common = vec![20, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    common.extend((packed.len() as u32).to_le_bytes());
    common.extend(bytes.to_le_bytes());
    common.extend([5, 0, 0, 0]);
    let mut to = [b"PK\x03\x04", &common[..], b"app-1", packed].concat();
    let list_at = to.len() as u32;
    to.extend(b"PK\x01\x02\x14\0");
    to.extend(&common);
    to.extend([0; 14]);
    to.extend(b"app-1");
    let list_bytes = to.len() as u32 - list_at;
    to.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    to.extend(list_bytes.to_le_bytes());
    to.extend(list_at.to_le_bytes());
    to.extend([0; 2]);
    to
}

/// A file of which the system stores no more than the ends.
fn with_a_long_line(name: &str, begin: &[u8], end: &[u8]) -> PathBuf {
    let log = place(name);
    let mut file = File::create(&log).unwrap();
    file.write_all(begin).unwrap();
    file.seek(SeekFrom::Current(1 << 30)).unwrap();
    file.write_all(end).unwrap();
    log
}

#[test]
fn line_of_a_gigabyte() {
    let (mut text, n) = beginning();
    let whole = text_of(&bundled_at("local-1796084909005.zstd"));
    let last = lines(&whole)[n];
    text.extend(b"{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":\"");
    let log = with_a_long_line("line", &text, &[b"\"}\n", last].concat());
    check(&log, n + 1, "long-line");
}

#[test]
fn last_line_of_a_gigabyte() {
    let (text, n) = beginning();
    check(&with_a_long_line("last-line", &text, b"x"), n, "long-line");
}

/// Nothing before it: no event log.
#[test]
fn only_line_of_a_gigabyte() {
    let output = report(&with_a_long_line("only-line", b"", b"x"));
    assert_eq!(output.status.code(), Some(2), "{}", talk(&output));
    assert!(talk(&output).contains("no Spark events"), "{}", talk(&output));
}
