//! The same log gives the same store, byte for byte, for any number of threads and any cut into blocks.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

#[expect(dead_code, reason = "every test uses some of it")]
mod support;

use std::io::{self, Read};
use std::sync::Arc;

use ingest::{Log, Options};
use scan::Part;
use support::{bundled_at, encoders, lines, log, options, read, small_log};

/// The same bytes for all of these settings.
fn check(what: &str, log: &Log, settings: impl Iterator<Item = (usize, usize)>) {
    let expected = read(log, options(1, 4 << 20));
    for (n_threads, block_bytes) in settings {
        let got = read(log, options(n_threads, block_bytes));
        assert!(got == expected, "{what}: {n_threads} threads, blocks of {block_bytes} bytes");
    }
}

fn some_settings() -> impl Iterator<Item = (usize, usize)> {
    (1..=8).flat_map(|n| [1, 100, 4 << 10, 4 << 20].map(|block_bytes| (n, block_bytes)))
}

#[test]
fn any_threads_and_blocks() {
    let names = [
        "app-20261201001103-0000.zstd",
        "app-20261201003716-0000.zstd",
        "eventlog_v2_local-1796085068010",
        "local-1796083656921.zstd",
        "local-1796085020098.zstd.inprogress",
        "local-1796085202972.lz4",
        "local-1796085260242.lzf",
        "local-1796085309022.snappy",
        "local-1796085624314",
        "local-1796087415144.zstd",
    ];
    for name in names {
        let logs = ingest::logs_at(&bundled_at(name)).unwrap().0;
        check(name, &logs[0], some_settings());
    }
}

/// Without its last lines a log also leaves what is needed to go on.
#[test]
fn any_threads_and_blocks_without_an_end() {
    let text = small_log();
    let whole = lines(text);
    let torn = [whole[..whole.len() - 2].concat(), whole[whole.len() - 2][..20].to_vec()].concat();
    for (name, encode) in encoders::CODECS {
        let bytes = encode(&torn, 3000).bytes;
        check(name, &log(vec![encoders::part(bytes)]), some_settings());
    }
}

#[test]
fn any_threads_and_blocks_with_damage() {
    let text = small_log();
    for (name, encode) in encoders::CODECS {
        let mut bytes = encode(text, 3000).bytes;
        for at in (700..bytes.len()).step_by(5000) {
            bytes[at] ^= 0x55;
        }
        check(name, &log(vec![encoders::part(bytes)]), some_settings());
    }
}

#[test]
fn blocks_of_every_length() {
    let text = small_log();
    let log = log(vec![encoders::part(text)]);
    check("small log", &log, (1..=text.len()).map(|block_bytes| (1, block_bytes)));
}

/// Reading may come to any byte before the rest is there.
#[test]
fn reads_that_stop_at_every_byte() {
    let text: Arc<[u8]> = small_log().into();
    let part = |first_bytes| -> Arc<dyn Part> {
        Arc::new(Halting { name: "log".to_owned(), text: Arc::clone(&text), first_bytes })
    };
    let settings = options(1, 4 << 10);
    let expected = read(&log(vec![part(text.len())]), settings);
    for first_bytes in 1..text.len() {
        let got = read(&log(vec![part(first_bytes)]), settings);
        assert!(got == expected, "first read of {first_bytes} bytes");
    }
}

/// Files of a rolling log may end at any line.
#[test]
fn parts_that_end_at_every_line() {
    let text = small_log();
    let whole = lines(text);
    let said = |parts: Vec<Arc<dyn Part>>, settings: Options| {
        support::Said::by(&support::open(read(&log(parts), settings)))
    };
    let settings = options(2, 1000);
    let expected = said(vec![encoders::part(text)], settings);
    for n in 0..=whole.len() {
        let parts = [&whole[..n], &whole[n..]].map(|lines| encoders::part(lines.concat()));
        let got = said(parts.into(), settings);
        assert_eq!(got.difference(&expected), None, "{n} lines in the first file");
    }
}

/// Yields its first bytes in one read, the rest in others.
struct Halting {
    name: String,
    text: Arc<[u8]>,
    first_bytes: usize,
}

impl Part for Halting {
    fn name(&self) -> &str {
        &self.name
    }

    fn size_bytes(&self) -> u64 {
        self.text.len() as u64
    }

    fn open(&self, from_byte: u64) -> Result<Box<dyn Read + Send>, scan::Error> {
        Ok(Box::new(Halts {
            text: Arc::clone(&self.text),
            at: self.text.len().min(from_byte as usize),
            stop_at: self.first_bytes,
        }))
    }
}

struct Halts {
    text: Arc<[u8]>,
    at: usize,
    stop_at: usize,
}

impl Read for Halts {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let end = if self.at < self.stop_at { self.stop_at } else { self.text.len() };
        let bytes = to.len().min(end - self.at);
        to[..bytes].copy_from_slice(&self.text[self.at..self.at + bytes]);
        self.at += bytes;
        Ok(bytes)
    }
}
