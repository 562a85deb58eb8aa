//! What differs between the answers of two servers to the same question.
//!
//! Not compared, for it depends on where and when a server is asked and not on the log:
//!
//! - `lastUpdated` and `lastUpdatedEpoch` of an attempt: when its log was last written on this server's disk;
//! - `logSourceName` and `logSourceFullPath` of an attempt: where this server keeps its logs;
//! - of what still runs when the log ends, the time until the server's clock: `duration` of a task or SQL execution with
//!   status RUNNING, `averageDuration` over SQL executions of which one is, and `totalDuration` of the driver in an attempt
//!   that is not completed;
//! - the server's own host and port in the description of the API that OPTIONS asks for;
//! - the text of HTML error pages, unless asked for;
//! - the order of an archive's entries, and of keys that are data: those of `MAPS`.

use crate::json::Json;

use super::record::{Content, Record};

const CLOCK_AND_PLACE: [&str; 4] =
    ["lastUpdated", "lastUpdatedEpoch", "logSourceName", "logSourceFullPath"];

/// Objects whose keys are data. The real server sends them in the order of a hash table.
const MAPS: [&str; 11] = [
    "tasks",
    "executorSummary",
    "killedTasksSummary",
    "killTasksSummary",
    "executorLogs",
    "processLogs",
    "attributes",
    "resources",
    "executorResources",
    "taskResources",
    "modifiedConfigs",
];

const SHOWN_CHARS: usize = 90;

/// What is compared beyond status, type and values.
#[derive(Clone, Copy, Default, clap::Args)]
pub struct How {
    /// Also the order of keys
    #[arg(long)]
    pub order: bool,
    /// Also the exact bytes, where nothing in the answer depends on clock and place
    #[arg(long)]
    pub bytes: bool,
    /// Also the headers that browsers and caches heed
    #[arg(long)]
    pub headers: bool,
    /// Also the text of HTML error pages
    #[arg(long)]
    pub pages: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// `status`, `type`, the name of a header, `text`, `zip`, `bytes`, or the path of a value, `$[0].duration`; a path
    /// ends in `(order)` or `(length)` where keys stand in another order or a list has another length.
    pub place: String,
    pub golden: String,
    pub ours: String,
}

/// The differences; of an answer with another status nothing else is compared. `is_ended` tells whether the attempt that
/// the answers are about is completed.
pub fn compare(golden: &Record, ours: &Record, is_ended: bool, how: How) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut differ = |place: &str, golden: String, ours: String| {
        if golden != ours {
            found.push(Difference { place: place.to_owned(), golden, ours });
        }
    };
    if golden.status != ours.status {
        differ("status", golden.status.to_string(), ours.status.to_string());
        return found;
    }
    differ("type", golden.kind.clone(), ours.kind.clone());
    for (name, _) in golden.headers.iter().chain(&ours.headers) {
        if how.headers || name == "Content-Disposition" {
            let value = |record: &Record| record.header(name).unwrap_or("none").to_owned();
            differ(name, value(golden), value(ours));
        }
    }
    found.dedup();
    if golden.sha1 == ours.sha1 || golden.is_error_page() && !how.pages {
        return found;
    }
    let mut is_touched = matches!(golden.content, Content::Zip(_));
    match (&golden.content, &ours.content) {
        (Content::Json(golden), Content::Json(ours)) => {
            let mut walk = Walk { is_ended, how, found, at: Vec::new(), is_touched };
            walk.compare(golden, ours);
            (found, is_touched) = (walk.found, walk.is_touched);
        }
        (Content::Text(of_golden), Content::Text(of_ours)) => {
            let (of_golden, of_ours) = (without_host(of_golden), without_host(of_ours));
            is_touched = of_golden.contains(NO_HOST);
            found.extend(text_difference(&of_golden, &of_ours));
        }
        (Content::Unknown, _) => found.push(bytes_difference(golden, ours)),
        (of_golden, of_ours) if of_golden == of_ours => {}
        (of_golden, of_ours) => found.push(Difference {
            place: if is_touched { "zip" } else { "text" }.to_owned(),
            golden: shown(of_golden),
            ours: shown(of_ours),
        }),
    }
    if how.bytes && found.is_empty() && !is_touched {
        found.push(bytes_difference(golden, ours));
    }
    found
}

/// Same content in other bytes, of which a recording knows no more than number and digest.
fn bytes_difference(golden: &Record, ours: &Record) -> Difference {
    let shown = |record: &Record| format!("{} bytes, {}", record.n_bytes, &record.sha1);
    Difference { place: "bytes".to_owned(), golden: shown(golden), ours: shown(ours) }
}

const NO_HOST: &str = "http://HOST/";

/// The text with addresses of servers, which are those with a port, made neutral.
pub(super) fn without_host(text: &str) -> String {
    let mut pieces = text.split("http://");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.split_once('/') {
            Some((host, rest)) if host.contains(':') => out.extend([NO_HOST, rest]),
            _ => out.extend(["http://", piece]),
        }
    }
    out
}

fn text_difference(golden: &str, ours: &str) -> Option<Difference> {
    let same = golden.chars().zip(ours.chars()).take_while(|(a, b)| a == b).count();
    let rest = |text: &str| short(&text.chars().skip(same).collect::<String>());
    (golden != ours).then(|| Difference {
        place: "text".to_owned(),
        golden: rest(golden),
        ours: rest(ours),
    })
}

fn shown(content: &Content) -> String {
    match content {
        Content::Json(json) => short(&json.to_string()),
        Content::Text(text) => short(text),
        Content::Zip(entries) => short(&format!("{entries:?}")),
        Content::Unknown => "unknown".to_owned(),
    }
}

/// The beginning of a text, on one line.
fn short(text: &str) -> String {
    let text = &text.replace('\n', "\\n");
    let cut = text.char_indices().nth(SHOWN_CHARS).map(|(at, _)| at);
    cut.map_or_else(|| text.clone(), |at| format!("{}…", &text[..at]))
}

enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// Goes through two values side by side.
struct Walk<'a> {
    is_ended: bool,
    how: How,
    found: Vec<Difference>,
    at: Vec<Step<'a>>,
    /// Whether anything was passed over.
    is_touched: bool,
}

impl<'a> Walk<'a> {
    fn compare(&mut self, golden: &'a Json, ours: &'a Json) {
        match (golden, ours) {
            (Json::Object(golden), Json::Object(ours)) => self.objects(golden, ours),
            (Json::List(golden), Json::List(ours)) => {
                if golden.len() != ours.len() {
                    self.differ("(length)", golden.len().to_string(), ours.len().to_string());
                }
                for (i, (golden, ours)) in golden.iter().zip(ours).enumerate() {
                    self.at.push(Step::Index(i));
                    self.compare(golden, ours);
                    self.at.pop();
                }
            }
            (Json::Number(a), Json::Number(b)) if a != b && a.as_f64() == b.as_f64() => {}
            (golden, ours) if golden == ours => {}
            (golden, ours) => {
                self.differ("", short(&golden.to_string()), short(&ours.to_string()));
            }
        }
    }

    fn objects(&mut self, golden: &'a [(String, Json)], ours: &'a [(String, Json)]) {
        let passed = self.passed_over(golden);
        for (i, (key, value)) in golden.iter().enumerate() {
            self.at.push(Step::Key(key));
            let same_place = ours.get(i).filter(|(name, _)| name == key);
            match same_place.or_else(|| ours.iter().find(|(name, _)| name == key)) {
                Some(_) if passed.contains(&key.as_str()) => self.is_touched = true,
                Some((_, ours)) => self.compare(value, ours),
                None => self.differ("", short(&value.to_string()), "absent".to_owned()),
            }
            self.at.pop();
        }
        let n_common = ours.iter().filter(|(key, _)| get(golden, key).is_some()).count();
        if n_common < ours.len() {
            for (key, value) in ours.iter().filter(|(key, _)| get(golden, key).is_none()) {
                self.at.push(Step::Key(key));
                self.differ("", "absent".to_owned(), short(&value.to_string()));
                self.at.pop();
            }
        }
        let is_map = matches!(self.at.last(), Some(Step::Key(key)) if MAPS.contains(key));
        let same_keys = n_common == ours.len() && ours.len() == golden.len();
        let keys = |fields: &'a [(String, Json)]| fields.iter().map(|(key, _)| key.as_str());
        if self.how.order && !is_map && same_keys && !keys(golden).eq(keys(ours)) {
            let list = |fields| short(&keys(fields).collect::<Vec<_>>().join(" "));
            self.differ("(order)", list(golden), list(ours));
        }
    }

    /// The keys of an object whose values say when and where a server was asked.
    fn passed_over(&self, golden: &[(String, Json)]) -> Vec<&'static str> {
        let is = |key: &str, value: &str| get(golden, key).is_some_and(|v| v.text() == value);
        let mut keys = CLOCK_AND_PLACE.to_vec();
        if is("status", "RUNNING") {
            keys.push("duration");
        }
        if get(golden, "runningQueries").is_some_and(|n| n.to_string() != "0") {
            keys.push("averageDuration");
        }
        if is("id", "driver") && !self.is_ended {
            keys.push("totalDuration");
        }
        keys
    }

    fn differ(&mut self, ending: &str, golden: String, ours: String) {
        let mut place = "$".to_owned();
        for step in &self.at {
            match step {
                Step::Key(key) => place.extend([".", key]),
                Step::Index(i) => place.extend(["[", &i.to_string(), "]"]),
            }
        }
        place.push_str(ending);
        self.found.push(Difference { place, golden, ours });
    }
}

fn get<'j>(fields: &'j [(String, Json)], key: &str) -> Option<&'j Json> {
    fields.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Answer;

    fn record(status: u16, kind: &str, body: &str) -> Record {
        let headers = vec![("Content-Type".to_owned(), kind.to_owned())];
        Record::of("/x", "x", &Answer { status, headers, body: body.into() })
    }

    fn places(golden: &str, ours: &str, how: How) -> Vec<String> {
        let (golden, ours) = (record(200, "j", golden), record(200, "j", ours));
        compare(&golden, &ours, false, how).into_iter().map(|d| d.place).collect()
    }

    #[test]
    fn values_by_their_paths() {
        let none: [&str; 0] = [];
        let values = How::default();
        let all = How { order: true, bytes: true, ..values };
        assert_eq!(places("[{\"a\":1}]", "[ {\"a\" : 1.0} ]", values), none);
        assert_eq!(places("[{\"a\":1}]", "[ {\"a\" : 1} ]", all), ["bytes"]);
        assert_eq!(
            places("[{\"a\":1,\"b\":[1]}]", "[{\"a\":2,\"b\":[],\"c\":0}]", values),
            ["$[0].a", "$[0].b(length)", "$[0].c"]
        );
        assert_eq!(places("{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", values), none);
        assert_eq!(places("{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", all), ["$(order)"]);
        let swapped = ["{\"tasks\":{\"1\":1,\"2\":2}}", "{\"tasks\":{\"2\":2,\"1\":1}}"];
        assert_eq!(places(swapped[0], swapped[1], How { order: true, ..values }), none);
    }

    #[test]
    fn clock_and_place_are_passed_over() {
        let none: [&str; 0] = [];
        let how = How { bytes: true, ..How::default() };
        let running =
            |s| format!("{{\"status\":\"RUNNING\",\"duration\":{s},\"lastUpdated\":{s}}}");
        assert_eq!(places(&running(1), &running(2), how), none);
        let ended = |s| format!("{{\"status\":\"SUCCESS\",\"duration\":{s}}}");
        assert_eq!(places(&ended(1), &ended(2), how), ["$.duration"]);
        let average = |n, s| format!("{{\"runningQueries\":{n},\"averageDuration\":{s}}}");
        assert_eq!(places(&average(1, 1), &average(1, 2), how), none);
        assert_eq!(places(&average(0, 1), &average(0, 2), how), ["$.averageDuration"]);
        let driver = |s| format!("{{\"id\":\"driver\",\"totalDuration\":{s}}}");
        assert_eq!(places(&driver(1), &driver(2), how), none);
        assert_eq!(places("{\"lastUpdated\":1}", "{}", how), ["$.lastUpdated"]);
    }

    #[test]
    fn status_hides_the_rest() {
        let (golden, ours) =
            (record(404, "text/plain", "no"), record(200, "application/json", "1"));
        let found = compare(&golden, &ours, true, How::default());
        assert_eq!(found.len(), 1);
        assert_eq!((&*found[0].golden, &*found[0].ours), ("404", "200"));
        let page = |text| record(404, "text/html", text);
        assert!(compare(&page("a"), &page("b"), true, How::default()).is_empty());
        let host = |port| record(200, "xml", &format!("<a b=\"http://127.0.0.1:{port}/api\"/>"));
        assert!(compare(&host(1), &host(22), true, How::default()).is_empty());
    }
}
