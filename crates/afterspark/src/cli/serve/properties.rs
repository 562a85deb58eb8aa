//! Spark's settings as its history server is given them: a properties file, and options of the Java machine.

use std::collections::BTreeMap;

/// Settings by key.
pub(super) type Properties = BTreeMap<String, String>;

/// Reads a file such as `spark-defaults.conf`, in the form of Java's properties: `key value`, `key=value` or `key: value`,
/// `#` and `!` begin comments, a backslash at the end of a line continues it.
pub(super) fn read_file(text: &str) -> Properties {
    let mut properties = Properties::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut line = line.trim_start().to_owned();
        if line.is_empty() || line.starts_with(['#', '!']) {
            continue;
        }
        while continues(&line) {
            line.pop();
            let Some(next) = lines.next() else { break };
            line.push_str(next.trim_start());
        }
        let (key, value) = split(&line);
        properties.insert(unescaped(key), unescaped(value).trim().to_owned());
    }
    properties
}

/// An odd number of backslashes at the end.
fn continues(line: &str) -> bool {
    line.bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 1
}

/// The key ends at the first `=`, `:` or blank that no backslash precedes.
fn split(line: &str) -> (&str, &str) {
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        if !escaped && (matches!(c, '=' | ':') || c.is_ascii_whitespace()) {
            let rest = line[at..].trim_start();
            let rest = rest.strip_prefix(['=', ':']).unwrap_or(rest);
            return (&line[..at], rest.trim_start());
        }
        escaped = c == '\\' && !escaped;
    }
    (line, "")
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('t') => out.push('\t'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('f') => out.push('\x0c'),
            Some('u') => {
                let digits: String = chars.by_ref().take(4).collect();
                let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                out.push(code.unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            Some(c) => out.push(c),
            None => {}
        }
    }
    out
}

/// The `-Dkey=value` among the options of a Java machine; quotes hold words together, as in a shell.
pub(super) fn read_java_options(options: &str) -> Properties {
    let mut properties = Properties::new();
    for word in words(options) {
        if let Some(definition) = word.strip_prefix("-D") {
            let (key, value) = definition.split_once('=').unwrap_or((definition, ""));
            properties.insert(key.to_owned(), value.to_owned());
        }
    }
    properties
}

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(chars.next()),
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// A duration as Spark reads it, `10s` or `5min`, in milliseconds; a number alone is in seconds.
pub(super) fn duration_ms(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.parse().ok()?;
    let (times, per) = match &text[digits.len()..] {
        "us" => (1, 1_000),
        "ms" => (1, 1),
        "" | "s" => (1_000, 1),
        "m" | "min" => (60_000, 1),
        "h" => (3_600_000, 1),
        "d" => (86_400_000, 1),
        _ => return None,
    };
    Some(number.checked_mul(times)? / per)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files() {
        let text = "# comment\n! another\nspark.a  b c \nspark.b=c=d\n spark.c : e\\\n   f\nspark\\ d x\nspark.e\nspark.f \\u0041\\t\\\\\n";
        let read = read_file(text);
        let read: Vec<(&str, &str)> = read.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let expected = [
            ("spark d", "x"),
            ("spark.a", "b c"),
            ("spark.b", "c=d"),
            ("spark.c", "ef"),
            ("spark.e", ""),
            ("spark.f", "A\t\\"),
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn java_options() {
        let read = read_java_options(
            "-Xmx1g -Dspark.history.ui.port=1 -Dspark.x='a b' \"-Dspark.y=c \\\"d\" -Dspark.z",
        );
        let read: Vec<(&str, &str)> = read.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let expected = [
            ("spark.history.ui.port", "1"),
            ("spark.x", "a b"),
            ("spark.y", "c \"d"),
            ("spark.z", ""),
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn durations() {
        for (text, ms) in [
            ("10s", Some(10_000)),
            ("10", Some(10_000)),
            ("1min", Some(60_000)),
            ("1M", Some(60_000)),
            ("250ms", Some(250)),
            ("1500us", Some(1)),
            ("7d", Some(604_800_000)),
            ("x", None),
            ("", None),
            ("1 s", None),
            ("99999999999999999d", None),
        ] {
            assert_eq!(duration_ms(text), ms, "{text}");
        }
    }
}
