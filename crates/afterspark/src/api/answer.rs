//! What a handler sends back.

use std::io;

use serde::Serialize;

use super::{Request, json};

/// Writes a body.
pub(crate) type WriteBody = Box<dyn FnOnce(&mut dyn io::Write) -> io::Result<()> + Send>;

/// A body: in memory, or written as it is sent.
pub(crate) enum Body {
    Bytes(Vec<u8>),
    /// The page that Spark's web server (Jetty) sends by itself; it names what was asked, so it is written when that
    /// is known.
    Page,
    /// Called once, on a thread of its own, with where to write to. An error ends the connection, so that the client
    /// sees that something is missing.
    Stream(WriteBody),
}

/// See the module.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: Option<&'static str>,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Body,
}

/// What handlers return: the answer, or the answer that says why not.
pub(crate) type Handled = Result<Answer, Answer>;

impl Answer {
    pub(crate) fn of(status: u16, content_type: &'static str, body: Vec<u8>) -> Answer {
        let content_type = Some(content_type);
        Answer { status, content_type, headers: Vec::new(), body: Body::Bytes(body) }
    }

    /// JSON in the form that Spark's server gives it.
    pub(crate) fn json(value: &(impl Serialize + ?Sized)) -> Answer {
        Answer::of(200, "application/json", json::pretty(value))
    }

    /// A message of Spark's own, as it words them.
    pub(crate) fn text(status: u16, message: impl Into<String>) -> Answer {
        Answer::of(status, "text/plain", message.into().into_bytes())
    }

    /// The page that Spark's web server (Jetty) sends by itself.
    pub(crate) fn page(status: u16) -> Answer {
        Answer {
            status,
            content_type: Some("text/html;charset=iso-8859-1"),
            headers: vec![("cache-control", "must-revalidate,no-cache,no-store".to_owned())],
            body: Body::Page,
        }
    }

    /// What Jetty says when it cannot even read what is asked.
    pub(crate) fn bad_message() -> Answer {
        let body = Body::Bytes(page(400, "/badMessage"));
        Answer { body, ..Answer::page(400) }
    }

    /// A status and nothing else.
    pub(crate) fn empty(status: u16) -> Answer {
        Answer { status, content_type: None, headers: Vec::new(), body: Body::Bytes(Vec::new()) }
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Answer {
        self.headers.push((name, value.into()));
        self
    }

    /// With a page in place of [`Body::Page`].
    pub(crate) fn named_for(mut self, request: &Request) -> Answer {
        if let Body::Page = self.body {
            let place = format!("{}{}", request.base_url, request.uri);
            self.body = Body::Bytes(page(self.status, &place));
        }
        self
    }
}

fn page(status: u16, place: &str) -> Vec<u8> {
    let what = match status {
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        500 => "Request failed.",
        503 => "Service Unavailable",
        _ => "Error",
    };
    let mut escaped = String::with_capacity(place.len());
    for c in place.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            c if c.is_control() => escaped.push('?'),
            c => escaped.push(c),
        }
    }
    format!(
        "<html>\n<head>\n<meta http-equiv=\"Content-Type\" content=\"text/html;charset=ISO-8859-1\"/>\n\
         <title>Error {status} {what}</title>\n</head>\n<body>\n<h2>HTTP ERROR {status} {what}</h2>\n<table>\n\
         <tr><th>URI:</th><td>{escaped}</td></tr>\n<tr><th>STATUS:</th><td>{status}</td></tr>\n\
         <tr><th>MESSAGE:</th><td>{what}</td></tr>\n</table>\n\n</body>\n</html>\n"
    )
    .into_bytes()
}
