//! A server about the bundled logs and hostile copies of some, what it answers, and a walk over its pages.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use xtask::servers::{self, Server};

use crate::hostile;

pub(crate) const LOGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/logs");
/// The first scan is asked for so often, with a pause between.
const TRIES: usize = 1_200;
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) fn serve(name: &str) -> Server {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let [cache, logs] = ["cache", "logs"].map(|name| folder.join(name));
    hostile::write(&logs);
    let more = [logs.to_str().unwrap(), "--cache-dir", cache.to_str().unwrap()];
    let program = Path::new(env!("CARGO_BIN_EXE_afterspark"));
    let server = servers::afterspark(program, Path::new(LOGS), &more).unwrap();
    for _ in 0..TRIES {
        if !get(&server, "/api/afterspark/v1/status").1.contains("\"n_scans\":0,") {
            return server;
        }
        std::thread::sleep(PAUSE);
    }
    panic!("the first scan does not end");
}

pub(crate) fn get(server: &Server, path: &str) -> (u16, String) {
    let answer = server.client().unwrap().get(path).unwrap();
    (answer.status, String::from_utf8(answer.body).unwrap())
}

/// A page that must be there.
pub(crate) fn page(server: &Server, path: &str) -> String {
    let (status, text) = get(server, path);
    assert_eq!(status, 200, "{path}: {text}");
    text
}

/// What links on a page lead to, as a browser would ask for it.
fn links(at: &str, text: &str) -> BTreeSet<String> {
    let found = text.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    let whole = |link: &str| {
        let link = link.replace("&#38;", "&").replace("&amp;", "&");
        let link = link.split('#').next().unwrap().to_owned();
        let here = at.split('?').next().unwrap();
        if link.starts_with('?') { format!("{here}{link}") } else { link }
    };
    // within the page
    let found = found.filter(|link| !link.starts_with('#'));
    found.map(whole).collect()
}

/// The first cell of each row of a page's first table.
pub(crate) fn first_cells(text: &str) -> Vec<String> {
    let body = text.split("<tbody>").nth(1).unwrap_or("").split("</tbody>").next().unwrap();
    let cell = |row: &str| {
        let cell = row.split("</td>").next().unwrap();
        let cell = cell.split("</a>").next().unwrap();
        cell.rsplit('>').next().unwrap().to_owned()
    };
    body.split("<tr>").skip(1).map(cell).collect()
}

/// A walk over pages along their links.
#[derive(Default)]
pub(crate) struct Crawl {
    pub(crate) seen: BTreeSet<String>,
}

impl Crawl {
    /// Opens `start` and all it leads to on this server; each page is shown to `look`.
    pub(crate) fn of(server: &Server, start: &str, look: impl Fn(&str, &str)) -> Self {
        let mut client = server.client().unwrap();
        let mut crawl = Self::default();
        let mut open = vec![start.to_owned()];
        while let Some(path) = open.pop() {
            let answer = client.get(&path).unwrap();
            assert!(matches!(answer.status, 200 | 302 | 303), "{path}: {}", answer.status);
            let is_html = answer
                .headers
                .iter()
                .any(|(name, value)| name == "content-type" && value.starts_with("text/html"));
            if !is_html {
                continue;
            }
            let text = String::from_utf8(answer.body).unwrap();
            assert_inert(&path, &text);
            look(&path, &text);
            for link in links(&path, &text) {
                // logs of executors are where Spark wrote them
                let is_elsewhere = link.starts_with("http://") || link.starts_with("https://");
                assert!(link.starts_with('/') || is_elsewhere, "{path} leads to {link}");
                let Some(what) = what(&link) else { continue };
                if !is_elsewhere && !link.ends_with("/logs") && crawl.seen.insert(what) {
                    open.push(link);
                }
            }
        }
        crawl
    }
}

/// What an address is about, with the name of what is chosen there; `None` with more than one choice, of which there
/// would be too many.
fn what(link: &str) -> Option<String> {
    let (path, query) = link.split_once('?').unwrap_or((link, ""));
    let mut about = path.to_owned();
    let mut choices = BTreeSet::new();
    for part in query.split('&').filter(|part| !part.is_empty()) {
        let name = part.split('=').next().unwrap();
        if ["id", "attempt", "batch"].contains(&name) {
            about.push_str(part);
        } else {
            choices.insert(name.split('.').next().unwrap());
        }
    }
    about.extend(choices.first().into_iter().copied());
    (choices.len() < 2).then_some(about)
}

/// A page loads its scripts from here, and has no markup from elsewhere.
pub(crate) fn assert_inert(path: &str, text: &str) {
    let is_ours = |rest: &str| rest.starts_with(" type=\"module\" src=\"/static/");
    assert!(text.split("<script").skip(1).all(is_ours), "{path} has a script");
    assert!(
        !text.contains("<img") && !text.contains(")>\"") && !text.contains("javascript:"),
        "{path}"
    );
}
