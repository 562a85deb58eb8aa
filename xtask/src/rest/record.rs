//! One answer of a server, as it is compared and as a line of a recording keeps it.
//!
//! A line is JSON: path (below /api/v1; `(POST) /…` for another method than GET), class of endpoint, status, content type,
//! the headers that matter, bytes and SHA-1 of the body as sent, and the body: `body` for JSON with its keys in order,
//! `zip` for an archive, else `text`.

use serde::Deserialize;

use super::sha1::sha1;
use super::zip::{self, Entry};
use crate::Outcome;
use crate::http::Answer;
use crate::json::{Form, Json};

/// Of the rest, some say the same always and others change with each answer.
const HEADERS: [&str; 5] = [
    "Content-Disposition",
    "Location",
    "Cache-Control",
    "X-Frame-Options",
    "X-Content-Type-Options",
];

pub struct Record {
    pub path: String,
    pub class: String,
    pub status: u16,
    /// The content type; empty without one.
    pub kind: String,
    pub headers: Vec<(String, String)>,
    pub n_bytes: u64,
    pub sha1: String,
    pub content: Content,
}

#[derive(PartialEq)]
pub enum Content {
    Json(Json),
    Text(String),
    Zip(Vec<Entry>),
    /// The recording kept the digest only.
    Unknown,
}

/// A record's line as other programs write it too.
#[derive(Deserialize)]
struct Line {
    path: String,
    class: String,
    status: u16,
    #[serde(rename = "type")]
    kind: String,
    headers: Json,
    #[serde(rename = "bytes")]
    n_bytes: u64,
    sha1: String,
    body: Option<Json>,
    text: Option<String>,
    zip: Option<Vec<Entry>>,
}

impl Record {
    pub fn of(path: &str, class: &str, answer: &Answer) -> Record {
        let body = &answer.body;
        let content = if let Some(entries) = zip::entries(body) {
            Content::Zip(entries)
        } else if let Ok(json) = serde_json::from_slice(body) {
            Content::Json(json)
        } else {
            Content::Text(String::from_utf8_lossy(body).into_owned())
        };
        let header = |name: &str| Some((name.to_owned(), answer.header(name)?.to_owned()));
        Record {
            path: path.to_owned(),
            class: class.to_owned(),
            status: answer.status,
            kind: answer.header("Content-Type").unwrap_or_default().to_owned(),
            headers: HEADERS.iter().filter_map(|name| header(name)).collect(),
            n_bytes: body.len() as u64,
            sha1: sha1(body),
            content,
        }
    }

    /// # Errors
    /// When the line is not a record.
    pub fn from_line(line: &str) -> Outcome<Record> {
        let line: Line = serde_json::from_str(line)?;
        let mut headers = Vec::new();
        if let Json::Object(fields) = line.headers {
            headers.extend(fields.into_iter().map(|(name, value)| (name, value.text().to_owned())));
        }
        let mut entries = line.zip;
        if let Some(entries) = &mut entries {
            entries.sort();
        }
        let json = line.body.map(Content::Json);
        let content = json.or(entries.map(Content::Zip)).or(line.text.map(Content::Text));
        Ok(Record {
            path: line.path,
            class: line.class,
            status: line.status,
            kind: line.kind,
            headers,
            n_bytes: line.n_bytes,
            sha1: line.sha1,
            content: content.unwrap_or(Content::Unknown),
        })
    }

    /// Ends with a newline.
    pub fn to_line(&self) -> Vec<u8> {
        let text = |text: &str| Json::Text(text.to_owned());
        let headers = self.headers.iter().map(|(name, value)| (name.clone(), text(value)));
        let mut fields = vec![
            ("path", text(&self.path)),
            ("class", text(&self.class)),
            ("status", u64::from(self.status).into()),
            ("type", text(&self.kind)),
            ("headers", Json::Object(headers.collect())),
            ("bytes", self.n_bytes.into()),
            ("sha1", text(&self.sha1)),
        ];
        fields.extend(match &self.content {
            Content::Json(json) => Some(("body", json.clone())),
            Content::Text(content) => Some(("text", text(content))),
            Content::Zip(entries) => {
                Some(("zip", Json::List(entries.iter().map(as_json).collect())))
            }
            Content::Unknown => None,
        });
        let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
        let mut line = Vec::new();
        Form::line(&Json::Object(fields.collect())).write(&[], &mut line);
        line
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The body of a good answer that is JSON.
    pub fn json(&self) -> Option<&Json> {
        match &self.content {
            Content::Json(json) if self.status == 200 => Some(json),
            _ => None,
        }
    }

    /// An error page of the server beneath the API, which programs do not read.
    pub fn is_error_page(&self) -> bool {
        self.status >= 400 && self.kind.starts_with("text/html")
    }
}

fn as_json(Entry(name, bytes, digest): &Entry) -> Json {
    Json::List(vec![name.as_str().into(), (*bytes).into(), digest.as_str().into()])
}

/// Method and path of what a record names: `(POST) /applications` is asked otherwise than with GET.
pub fn method_and_path(recorded: &str) -> (&str, &str) {
    let other = recorded.strip_prefix('(').and_then(|rest| rest.split_once(") "));
    other.unwrap_or(("GET", recorded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let body = b"{\n  \"z\" : 1,\n  \"a\" : [ 0.5, \"\\u00e9\" ]\n}".to_vec();
        let headers = vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("date".to_owned(), "now".to_owned()),
            ("cache-control".to_owned(), "no-cache".to_owned()),
        ];
        let record = Record::of("/x?y=1", "x", &Answer { status: 200, headers, body });
        let line = String::from_utf8(record.to_line()).unwrap();
        let expected = "{\"path\":\"/x?y=1\",\"class\":\"x\",\"status\":200,\
                        \"type\":\"application/json\",\"headers\":{\"Cache-Control\":\"no-cache\"},\
                        \"bytes\":40,\"sha1\":\"5ea6314523a309592644f5a8cd83e000a7477e99\",\
                        \"body\":{\"z\":1,\"a\":[0.5,\"é\"]}}\n";
        assert_eq!(line, expected);
        let again = Record::from_line(&line).unwrap();
        assert_eq!(again.to_line(), line.as_bytes());
        assert_eq!(method_and_path("(PUT) /x"), ("PUT", "/x"));
        assert_eq!(method_and_path("/x?(y) z"), ("GET", "/x?(y) z"));
    }
}
