//! What a handler sends back.

use std::io;

use serde::Serialize;

use super::json;

/// A body: in memory, or written as it is sent.
pub(crate) enum Body {
    Bytes(Vec<u8>),
    /// Called once, on a thread of its own, with where to write to.
    Stream(Box<dyn FnOnce(&mut dyn io::Write) -> io::Result<()> + Send>),
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
    fn of(status: u16, content_type: Option<&'static str>, body: Vec<u8>) -> Answer {
        Answer { status, content_type, headers: Vec::new(), body: Body::Bytes(body) }
    }

    /// JSON in the form that Spark's server gives it.
    pub(crate) fn json(value: &(impl Serialize + ?Sized)) -> Answer {
        Answer::of(200, Some("application/json"), json::pretty(value))
    }

    /// A message of Spark's own, as it words them.
    pub(crate) fn text(status: u16, message: impl Into<String>) -> Answer {
        Answer::of(status, Some("text/plain"), message.into().into_bytes())
    }

    /// The page that Spark's web server (Jetty) sends by itself.
    pub(crate) fn page(status: u16) -> Answer {
        let what = match status {
            404 => "Not Found",
            405 => "Method Not Allowed",
            500 => "Request failed.",
            _ => "Error",
        };
        let html = format!(
            "<html>\n<head><title>Error {status} {what}</title></head>\n<body><h2>HTTP ERROR {status} {what}</h2></body>\n</html>\n"
        );
        Answer::of(status, Some("text/html;charset=iso-8859-1"), html.into_bytes())
    }
}
