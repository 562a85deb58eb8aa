//! Bundled logs as text, a small log of all kinds of events, and the one place that knows how a log is read.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Once, OnceLock};
use std::thread;

use ingest::{FileIdentity, Log, Options};
use scan::{Blocks, Limits, Part, Start};
use store::{StageAttemptId, Store, Tables, TaskColumn};

#[path = "../../../scan/tests/support/mod.rs"]
pub(crate) mod encoders;
pub(crate) mod json_text;

use json_text::{Gaps, Json};

const LOGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/logs");

/// What no Spark writes into most fields.
pub(crate) const HOSTILE_VALUES: [&str; 16] = [
    "null",
    "true",
    "\"a text\"",
    "\"12\"",
    "1.5",
    "1e3",
    "1e400",
    "-1",
    "-5",
    "2147483648",
    "1099511627776",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "[]",
    "{}",
];

/// Paths of all bundled logs.
pub(crate) fn bundled() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(LOGS).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 42, "bundled logs are missing");
    paths
}

pub(crate) fn bundled_at(name: &str) -> PathBuf {
    Path::new(LOGS).join(name)
}

pub(crate) fn name_of(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

/// The decoded lines of a log.
pub(crate) fn text_of(path: &Path) -> Vec<u8> {
    let (logs, errors) = ingest::logs_at(path).unwrap();
    assert!(logs.len() == 1 && errors.is_empty(), "{}", path.display());
    let blocks = Blocks::new(logs[0].parts.clone(), Start::default(), Limits::default());
    let mut text = Vec::new();
    while let Some(block) = blocks.next().unwrap() {
        text.extend_from_slice(block.text());
    }
    text
}

/// Lines with their newline.
pub(crate) fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Every line written anew.
pub(crate) fn rewritten(text: &[u8], line: impl Fn(Json) -> String) -> Vec<u8> {
    let text = std::str::from_utf8(text).unwrap();
    text.lines()
        .flat_map(|one| [line(Json::parse(one)), "\n".to_owned()])
        .collect::<String>()
        .into()
}

/// Of a line as Spark writes it: the name of its event.
pub(crate) fn kind_of(line: &[u8]) -> &str {
    let line = std::str::from_utf8(line).unwrap();
    let rest = line.strip_prefix("{\"Event\":\"").unwrap();
    &rest[..rest.find('"').unwrap()]
}

/// A log of some 30 kB that holds the first events of every kind that the bundled logs have, in the order of a log: task
/// events as Spark wrote them, the others with their long texts and lists cut.
pub(crate) fn small_log() -> &'static [u8] {
    static TEXT: OnceLock<Vec<u8>> = OnceLock::new();
    TEXT.get_or_init(make_small_log)
}

fn make_small_log() -> Vec<u8> {
    let mut n_of_kind = BTreeMap::new();
    let (mut text, mut last) = (Vec::new(), Vec::new());
    let first = bundled_at("app-20261201003716-0000.zstd");
    let others = bundled().into_iter().filter(|path| *path != first);
    for path in [first.clone()].into_iter().chain(others) {
        for line in lines(&text_of(&path)) {
            if !line.ends_with(b"\n") {
                continue;
            }
            let kind = kind_of(line);
            let n = n_of_kind.entry(kind.to_owned()).or_insert(0);
            *n += 1;
            let n_max = match kind {
                "SparkListenerTaskStart"
                | "SparkListenerTaskEnd"
                | "SparkListenerStageSubmitted"
                | "SparkListenerStageCompleted" => 2,
                _ => 1,
            };
            if *n > n_max {
                continue;
            }
            match kind {
                "SparkListenerApplicationEnd" => last = line.to_vec(),
                kind if kind.starts_with("SparkListenerTask") => text.extend_from_slice(line),
                _ => text.extend_from_slice(&rewritten(line, shortened)),
            }
        }
    }
    text.extend(last);
    text
}

fn shortened(mut json: Json) -> String {
    json.each(&mut |value| match value {
        Json::Leaf(text) if text.len() > 60 => {
            let mut end = text.find('\\').unwrap_or(40).min(40);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            *text = format!("{}\"", &text[..end]);
        }
        Json::List(values) => values.truncate(2),
        Json::Object(members) if members.len() > 24 => members.truncate(4),
        _ => {}
    });
    json.text(Gaps::Nothing)
}

pub(crate) fn options(n_threads: usize, block_bytes: usize) -> Options {
    let limits = Limits { block_bytes, ..Limits::default() };
    Options { limits, ..Options::within(n_threads, 1 << 30) }
}

/// A log of these parts that was changed at a time that is always the same.
pub(crate) fn log(parts: Vec<Arc<dyn Part>>) -> Log {
    let identity = |part: &Arc<dyn Part>| FileIdentity {
        name: part.name().to_owned(),
        size_bytes: part.size_bytes(),
        modified_ns: 0,
    };
    Log {
        path: "log".into(),
        name: "log".to_owned(),
        files: parts.iter().map(identity).collect(),
        parts,
        in_progress: false,
        gaps: Vec::new(),
    }
}

/// The bytes of the store.
pub(crate) fn read(log: &Log, options: Options) -> Vec<u8> {
    ingest::read(log, None, Vec::new(), options, &|_| ()).unwrap()
}

/// Where reading panicked.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Reads one part in memory, or says where that panicked.
pub(crate) fn try_read(bytes: &[u8]) -> Result<Store, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let shown = panic::take_hook();
        panic::set_hook(Box::new(move |what| {
            if thread::current().name().is_some_and(|name| name.starts_with("read-")) {
                PANICS.lock().unwrap().push(what.to_string().replace('\n', " "));
            } else {
                shown(what);
            }
        }));
    });
    let read = panic::catch_unwind(AssertUnwindSafe(|| store_of(bytes)));
    read.map_err(|_| PANICS.lock().unwrap().pop().unwrap_or_default())
}

pub(crate) fn open(bytes: Vec<u8>) -> Store {
    Store::open(Box::new(bytes)).unwrap()
}

/// The store of one part in memory.
pub(crate) fn store_of(bytes: &[u8]) -> Store {
    open(read(&log(vec![encoders::part(bytes)]), options(1, 64 << 10)))
}

/// Number of gaps of a kind.
pub(crate) fn n_gaps(store: &Store, kind: store::GapKind) -> u64 {
    store.tables().gaps.iter().filter(|gap| gap.kind == kind).map(|gap| gap.n).sum()
}

/// Everything that a store says but for gaps, the resume section and how its texts are numbered.
#[derive(PartialEq)]
pub(crate) struct Said {
    tables: Tables,
    tasks: Vec<(StageAttemptId, u64, Vec<Vec<i64>>)>,
}

impl Said {
    pub(crate) fn by(store: &Store) -> Said {
        let tables = Tables { gaps: Vec::new(), ..store.tables().clone() };
        let columns = |id| {
            let tasks = store.tasks(id);
            let columns = TaskColumn::ALL.iter().map(|column| tasks.column(*column)).collect();
            (id, tasks.metrics_seen(), columns)
        };
        let tasks = tables.stages.iter().map(|stage| columns(stage.id)).collect();
        Said { tables, tasks }
    }

    /// Where it differs, in few words; `None` when it does not.
    pub(crate) fn difference(&self, other: &Said) -> Option<String> {
        if self == other {
            return None;
        }
        let (a, b) = (format!("{:#?}", self.tables), format!("{:#?}", other.tables));
        let at = a.lines().zip(b.lines()).find(|(a, b)| a != b);
        let tasks = self.tasks.iter().zip(&other.tasks).find(|(a, b)| a != b);
        Some(format!("tables: {at:?}, tasks: {tasks:?}"))
    }
}
