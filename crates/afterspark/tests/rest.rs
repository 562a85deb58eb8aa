//! Each recorded answer of Spark's own history server about the bundled logs, asked of `afterspark serve`: a test for each
//! attempt and version, and one for each version for what is asked of the server itself.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use libtest_mimic::{Arguments, Failed, Trial};
use xtask::rest::{self, Exceptions, How};
use xtask::servers::{self, Server};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
const VERSIONS: [&str; 2] = ["4.2", "4.3"];
/// What differs of each class of endpoints in a message.
const SHOW: usize = 2;

/// A server for a version, started for the first test that asks it.
struct Asked {
    version: &'static str,
    server: Mutex<Option<Server>>,
}

impl Asked {
    fn base_url(&self) -> Result<String, Failed> {
        let mut server = self.server.lock()?;
        if server.is_none() {
            // Tests may run in processes of their own, which share no cache.
            let process = std::process::id();
            let folder = format!("rest-{}-{process}", self.version);
            let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
            let cache = cache.to_string_lossy();
            let more = ["--spark-api", self.version, "--cache-dir", &cache];
            let program = Path::new(env!("CARGO_BIN_EXE_afterspark"));
            let logs = Path::new(EXAMPLES).join("logs");
            *server = Some(servers::afterspark(program, &logs, &more)?);
        }
        Ok(server.as_ref().map(|server| server.base_url.clone()).unwrap_or_default())
    }
}

fn check(asked: &Asked, recording: &Path) -> Result<(), Failed> {
    let exceptions = Exceptions::load(Path::new(rest::EXCEPTIONS))?;
    let how = How { order: true, ..How::default() };
    let tally = rest::replay_file(recording, &asked.base_url()?, how, &exceptions, SHOW, |_| true)?;
    if tally.n_answers() == 0 {
        return Err("nothing was asked".into());
    }
    if tally.n_wrong() == 0 {
        return Ok(());
    }
    let mut lines = vec![format!("{} of {} answers differ", tally.n_wrong(), tally.n_answers())];
    tally.print_differences(&mut |line| lines.push(line));
    Err(lines.join("\n").into())
}

fn main() {
    let servers = VERSIONS.map(|version| Arc::new(Asked { version, server: Mutex::default() }));
    let mut tests: Vec<Trial> = Vec::new();
    for asked in &servers {
        let folder = Path::new(EXAMPLES).join("golden/rest").join(asked.version);
        let recordings: Vec<PathBuf> = rest::files(&folder).unwrap();
        let n = recordings.len();
        tests.push(Trial::test(format!("{} has recordings", asked.version), move || {
            if n >= 43 { Ok(()) } else { Err(format!("{n} recordings").into()) }
        }));
        for recording in recordings {
            let file_name = recording.file_name().unwrap().to_string_lossy();
            let name = format!("{} {}", asked.version, rest::attempt_of(&file_name).unwrap());
            let asked = asked.clone();
            tests.push(Trial::test(name, move || check(&asked, &recording)));
        }
    }
    let done = libtest_mimic::run(&Arguments::from_args(), tests);
    for asked in servers {
        // Nothing is dropped at the end of the process, and a server would live on.
        drop(asked.server.lock().unwrap().take());
    }
    done.exit();
}
