//! What must not be shown: values of properties whose name or value fits a pattern.

use regex::Regex;

use super::v1::SparkApi;

/// What stands in place of a value.
const REDACTED: &str = "*********(redacted)";

/// See the module.
pub(crate) struct Redaction {
    pattern: Regex,
}

impl Redaction {
    /// A pattern as `spark.redaction.regex` has it, to be found anywhere in a name or a value; Spark's default when there
    /// is none.
    pub(crate) fn new(pattern: Option<&str>, api: SparkApi) -> Result<Redaction, regex::Error> {
        let of_spark = match api {
            SparkApi::V4_2 => "(?i)secret|password|token|access[.]?key",
            SparkApi::V4_3 => "(?i)secret|password|token|access[.]?key|credential",
        };
        Regex::new(pattern.unwrap_or(of_spark)).map(|pattern| Redaction { pattern })
    }

    /// The value, unless it or its name fits the pattern.
    pub(crate) fn redact<'v>(&self, name: &str, value: &'v str) -> &'v str {
        let fits = |text| self.pattern.is_match(text);
        if fits(name) || fits(value) { REDACTED } else { value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_of_secrets() {
        let redact = |pattern, api, name, value| {
            Redaction::new(pattern, api).map(|r| r.redact(name, value) == REDACTED).ok()
        };
        let (old, new) = (SparkApi::V4_2, SparkApi::V4_3);
        assert_eq!(redact(None, old, "fs.s3a.ACCESS.KEY", "x"), Some(true));
        assert_eq!(redact(None, old, "sun.java.command", "--conf a.password=b"), Some(true));
        assert_eq!(redact(None, old, "a.credential", "x"), Some(false));
        assert_eq!(redact(None, new, "a.credential", "x"), Some(true));
        assert_eq!(redact(Some("^a"), new, "a.b", "x"), Some(true));
        assert_eq!(redact(Some("^a"), new, "password", "x"), Some(false));
        assert_eq!(redact(Some("(?!a)"), new, "a", "x"), None);
    }
}
