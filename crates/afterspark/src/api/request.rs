//! A request as handlers see it.

use percent_encoding::percent_decode_str;

/// Query parameters in the order they were sent; names may repeat.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn parse(query: &str) -> Query {
        Query(form_urlencoded::parse(query.as_bytes()).into_owned().collect())
    }

    /// The first value given for a name.
    pub(crate) fn first(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// All values given for a name.
    pub(crate) fn all<'q>(&'q self, name: &'q str) -> impl Iterator<Item = &'q str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// In capitals, as sent.
    pub(crate) method: String,
    /// As sent, still encoded.
    pub(crate) path: String,
    /// Decoded; without empty ones, so that a trailing slash makes no difference.
    pub(crate) segments: Vec<String>,
    pub(crate) query: Query,
    /// Scheme and authority as the client sees them, for links.
    pub(crate) base_url: String,
}

impl Request {
    pub(crate) fn new(method: &str, path: &str, query: &str, base_url: &str) -> Request {
        let segments = path.split('/').filter(|s| !s.is_empty());
        Request {
            method: method.to_owned(),
            path: path.to_owned(),
            segments: segments
                .map(|s| percent_decode_str(s).decode_utf8_lossy().into_owned())
                .collect(),
            query: Query::parse(query),
            base_url: base_url.to_owned(),
        }
    }
}
