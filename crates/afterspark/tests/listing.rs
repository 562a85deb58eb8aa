//! `serve` and the list of applications it keeps on disk: what a restart knows, and what it reads again.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

#[expect(dead_code, reason = "shared by several tests")]
mod support;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use xtask::json::Json;
use xtask::servers::{self, Server};

/// A list is asked for so often, with a pause between, until it is as expected.
const TRIES: usize = 1_200;
const PAUSE: Duration = Duration::from_millis(50);
const LOGS: [&str; 3] = ["local-1796082902288", "local-1796083766634", "local-1796083018658"];

struct Place {
    logs: PathBuf,
    cache: PathBuf,
}

impl Place {
    /// Three bundled logs, and room for the list.
    fn new(name: &str) -> Place {
        let place = support::folder(name);
        let [logs, cache] = ["logs", "cache"].map(|name| place.join(name));
        fs::create_dir_all(&logs).unwrap();
        for app in LOGS {
            let from = bundled(app);
            fs::copy(&from, logs.join(from.file_name().unwrap())).unwrap();
        }
        Place { logs, cache }
    }

    fn serve(&self) -> Server {
        let (cache, settings) = (&self.cache, self.settings());
        let [cache, settings] = [cache, &settings].map(|path| support::as_text(path));
        let more = ["--cache-dir", cache, "--properties-file", settings];
        servers::afterspark(Path::new(env!("CARGO_BIN_EXE_afterspark")), &self.logs, &more).unwrap()
    }

    /// Looks for changes every second.
    fn settings(&self) -> PathBuf {
        let path = self.logs.with_file_name("settings.conf");
        fs::write(&path, "spark.history.fs.update.interval 1s\n").unwrap();
        path
    }

    fn log(&self, app: &str) -> PathBuf {
        self.logs.join(bundled(app).file_name().unwrap())
    }
}

fn bundled(app: &str) -> PathBuf {
    let plain = support::logs::bundled_at(app);
    if plain.exists() { plain } else { support::logs::bundled_at(&format!("{app}.zstd")) }
}

fn listed(server: &Server) -> Vec<String> {
    let answer = server.client().unwrap().get("/api/v1/applications").unwrap();
    let list: Json = serde_json::from_slice(&answer.body).unwrap();
    let id = |app: &Json| app.get("id").unwrap().text().to_owned();
    let mut ids: Vec<String> = list.list().iter().map(id).collect();
    ids.sort();
    ids
}

/// Asks until the list is as expected.
fn wait_for(server: &Server, expected: &[&str]) {
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    for _ in 0..TRIES {
        if listed(server) == expected {
            return;
        }
        std::thread::sleep(PAUSE);
    }
    assert_eq!(listed(server), expected);
}

/// Other bytes of the same length, as if nobody had touched the file.
fn overwrite_unnoticed(path: &Path) -> SystemTime {
    let about = fs::metadata(path).unwrap();
    let modified = about.modified().unwrap();
    fs::write(path, vec![b'x'; about.len() as usize]).unwrap();
    File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
    modified
}

#[test]
fn a_restart_reads_only_what_changed() {
    let place = Place::new("listing-restart");
    let server = place.serve();
    wait_for(&server, &LOGS);
    server.stop().unwrap();
    // whoever read it again would find no log
    let path = place.log(LOGS[0]);
    let modified = overwrite_unnoticed(&path);
    let server = place.serve();
    assert_eq!(listed(&server).len(), 3, "the list is there with the first answer");
    std::thread::sleep(Duration::from_millis(2500));
    wait_for(&server, &LOGS);
    // a change that can be seen is seen, now and at the next start
    let file = File::options().write(true).open(&path).unwrap();
    file.set_modified(modified + Duration::from_secs(1)).unwrap();
    wait_for(&server, &LOGS[1..]);
    server.stop().unwrap();
    let server = place.serve();
    wait_for(&server, &LOGS[1..]);
    server.stop().unwrap();
}

#[test]
fn what_is_gone_is_forgotten() {
    let place = Place::new("listing-gone");
    let server = place.serve();
    wait_for(&server, &LOGS);
    fs::remove_file(place.log(LOGS[1])).unwrap();
    wait_for(&server, &[LOGS[0], LOGS[2]]);
    server.stop().unwrap();
    fs::remove_file(place.log(LOGS[0])).unwrap();
    let server = place.serve();
    wait_for(&server, &LOGS[2..]);
    server.stop().unwrap();
}

#[test]
fn a_spoilt_list_is_made_anew() {
    let place = Place::new("listing-spoilt");
    let server = place.serve();
    wait_for(&server, &LOGS);
    server.stop().unwrap();
    let lists = || {
        let files = fs::read_dir(&place.cache).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.to_string_lossy().contains(".sqlite")).collect::<Vec<_>>()
    };
    assert!(!lists().is_empty());
    for content in [&b""[..], b"no database", &vec![0; 100_000]] {
        for path in lists() {
            fs::write(path, content).unwrap();
        }
        let server = place.serve();
        wait_for(&server, &LOGS);
        server.stop().unwrap();
    }
    // half of it is lost
    for path in lists() {
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    }
    let server = place.serve();
    wait_for(&server, &LOGS);
    server.stop().unwrap();
}

#[test]
fn without_a_place_for_the_list_all_else_works() {
    let place = Place::new("listing-nowhere");
    // a file where the folder should be
    fs::write(&place.cache, "").unwrap();
    let server = place.serve();
    wait_for(&server, &LOGS);
    let jobs = format!("/api/v1/applications/{}/jobs", LOGS[1]);
    assert_eq!(server.client().unwrap().get(&jobs).unwrap().status, 200);
    server.stop().unwrap();
}

#[test]
fn two_servers_share_one_list() {
    let place = Place::new("listing-shared");
    let (first, second) = (place.serve(), place.serve());
    for server in [&first, &second] {
        wait_for(server, &LOGS);
    }
    fs::remove_file(place.log(LOGS[2])).unwrap();
    for server in [&first, &second] {
        wait_for(server, &LOGS[..2]);
    }
    first.stop().unwrap();
    second.stop().unwrap();
    let server = place.serve();
    wait_for(&server, &LOGS[..2]);
    server.stop().unwrap();
}
