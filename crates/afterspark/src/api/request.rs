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

    /// Names and values.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// All but those with a name.
    pub(crate) fn without(&self, name: &str) -> Query {
        Query(self.0.iter().filter(|(key, _)| key != name).cloned().collect())
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
    /// Path and query as sent.
    pub(crate) uri: String,
    /// Decoded; without empty ones, so that a trailing slash makes no difference, and without `;parameters`.
    pub(crate) segments: Vec<String>,
    pub(crate) query: Query,
    /// Scheme and authority as the client sees them, for links.
    pub(crate) base_url: String,
    /// What the client accepts; `*/*` when it does not say.
    pub(crate) accept: String,
    pub(crate) takes_gzip: bool,
    /// As sent: what this server asked the browser to keep, and others' too.
    pub(crate) cookies: String,
}

/// Why a path is not even looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadPath {
    /// A `%` that encodes nothing, or a NUL.
    Malformed,
    /// It could be read in two ways: `//`, an encoded `/`, bytes that are no UTF-8.
    Ambiguous,
}

impl Request {
    pub(crate) fn new(method: &str, uri: &str, base_url: &str) -> Request {
        let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
        let segments = path.split('/').filter(|s| !s.is_empty());
        let decoded = |segment: &str| {
            let segment = segment.split(';').next().unwrap_or_default();
            percent_decode_str(segment).decode_utf8_lossy().into_owned()
        };
        Request {
            method: method.to_owned(),
            path: path.to_owned(),
            uri: uri.to_owned(),
            segments: segments.map(decoded).collect(),
            query: Query::parse(query),
            base_url: base_url.to_owned(),
            accept: "*/*".to_owned(),
            takes_gzip: false,
            cookies: String::new(),
        }
    }

    /// What a browser keeps for this server under a name.
    pub(crate) fn cookie(&self, name: &str) -> Option<&str> {
        let pairs = self.cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// What stands before every path of this server as the client sees it: empty, or that of a proxy. A header tells it,
    /// so what is no plain path is left out.
    pub(crate) fn base_path(&self) -> &str {
        let authority = self.base_url.split_once("://").map_or("", |(_, rest)| rest);
        let path = authority.find('/').map_or("", |at| &authority[at..]);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/-._~".contains(c);
        if path.chars().all(is_plain) && !path.contains("//") { path } else { "" }
    }

    /// What Jetty refuses before anything looks at it.
    pub(crate) fn bad_path(&self) -> Option<BadPath> {
        let bytes = self.path.as_bytes();
        for (at, _) in self.path.match_indices('%') {
            let hex = bytes.get(at + 1..at + 3).filter(|hex| hex.iter().all(u8::is_ascii_hexdigit));
            if hex.is_none_or(|hex| hex == b"00") {
                return Some(BadPath::Malformed);
            }
        }
        let decoded = percent_decode_str(&self.path);
        let has_slash = self.path.contains("//") || self.path.to_ascii_lowercase().contains("%2f");
        let is_dots = |segment: &str| {
            segment.contains('%')
                && matches!(&*percent_decode_str(segment).decode_utf8_lossy(), "." | "..")
        };
        let has_dots = self.path.split('/').any(is_dots);
        (has_slash || has_dots || decoded.decode_utf8().is_err()).then_some(BadPath::Ambiguous)
    }

    /// Whether the client takes answers of a type, as `application/json`.
    pub(crate) fn accepts(&self, content_type: &str) -> bool {
        let family = content_type.split('/').next().unwrap_or_default();
        self.accept.split(',').any(|range| {
            let mut pieces = range.split(';').map(str::trim);
            let kind = pieces.next().unwrap_or_default();
            let refused = pieces.any(|p| p.strip_prefix("q=").is_some_and(is_zero));
            let fits = kind == "*/*"
                || kind.eq_ignore_ascii_case(content_type)
                || kind.strip_suffix("/*").is_some_and(|f| f.eq_ignore_ascii_case(family));
            fits && !refused
        })
    }
}

fn is_zero(quality: &str) -> bool {
    quality.starts_with('0') && quality.trim_matches(['0', '.']).is_empty()
}
