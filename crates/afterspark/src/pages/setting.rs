//! Settings that Spark knows, with their defaults, and whether two values mean the same.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A setting that Spark knows.
#[derive(Clone, Copy)]
pub(super) struct Setting {
    /// `boolean`, `number`, `text`, or `bytes:UNIT` and `time:UNIT` with the unit of a number that has none.
    pub(super) kind: &'static str,
    /// As Spark's environment page prints it: `<undefined>` for none, `<value of KEY>` for that of another.
    pub(super) default: &'static str,
}

/// `name TAB kind TAB default`, printed by Spark 4.3 itself: `lab/defaults.py`.
const DEFAULTS: &str = include_str!("spark_defaults.tsv");

static SETTINGS: LazyLock<HashMap<&'static str, Setting>> = LazyLock::new(|| {
    let setting = |line: &'static str| {
        let mut parts = line.splitn(3, '\t');
        let mut part = || parts.next().unwrap_or_default();
        (part(), Setting { kind: part(), default: part() })
    };
    DEFAULTS.lines().map(setting).collect()
});

/// What Spark knows of a setting.
pub(super) fn setting(name: &str) -> Option<&'static Setting> {
    SETTINGS.get(name)
}

/// Whether two values of a kind mean the same to Spark: `1024m` is `1g`, `60s` is `1min`.
pub(super) fn is_same(kind: &str, a: &str, b: &str) -> bool {
    let (a, b) = (a.trim(), b.trim());
    let (kind, unit) = kind.split_once(':').unwrap_or((kind, ""));
    let pair = |read: &dyn Fn(&str) -> Option<f64>| read(a).zip(read(b));
    let read = match kind {
        "boolean" => return a.eq_ignore_ascii_case(b),
        "number" => pair(&|value| value.parse().ok()),
        "bytes" => pair(&|value| amount(value, unit, &BYTES)),
        "time" => pair(&|value| amount(value, unit, &TIMES_US)),
        _ => None,
    };
    // what cannot be read is compared as it is written
    read.map_or(a == b, |(a, b)| a.total_cmp(&b).is_eq())
}

/// Units as Spark reads them (`JavaUtils.byteStringAs`), with their bytes.
const BYTES: [(&str, u64); 11] = [
    ("b", 1),
    ("k", 1 << 10),
    ("kb", 1 << 10),
    ("m", 1 << 20),
    ("mb", 1 << 20),
    ("g", 1 << 30),
    ("gb", 1 << 30),
    ("t", 1 << 40),
    ("tb", 1 << 40),
    ("p", 1 << 50),
    ("pb", 1 << 50),
];

/// Units as Spark reads them (`JavaUtils.timeStringAs`), with their microseconds.
const TIMES_US: [(&str, u64); 7] = [
    ("us", 1),
    ("ms", 1_000),
    ("s", 1_000_000),
    ("m", 60_000_000),
    ("min", 60_000_000),
    ("h", 3_600_000_000),
    ("d", 86_400_000_000),
];

/// A whole number with a unit, or with the unit of those that have none.
fn amount(value: &str, unit: &str, units: &[(&str, u64)]) -> Option<f64> {
    let value = value.to_ascii_lowercase();
    let at = value.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(value.len());
    let (number, own) = value.split_at(at);
    let own = if own.is_empty() { unit } else { own };
    let (_, factor) = units.iter().find(|(name, _)| *name == own)?;
    Some(number.trim().parse::<f64>().ok()? * *factor as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_by_what_they_mean() {
        for (kind, a, b, same) in [
            ("bytes:m", "1024m", "1g", true),
            ("bytes:m", "1024", "1g", true),
            ("bytes:b", "10485760", "10MB", true),
            ("bytes:b", "-1", "-1b", true),
            ("bytes:b", "1g", "1gb", true),
            ("bytes:b", "1g", "2g", false),
            ("time:s", "120", "2min", true),
            ("time:ms", "3s", "3000", true),
            ("time:ms", "3", "3s", false),
            ("number", "0.60", "0.6", true),
            ("number", "200", "2000", false),
            ("boolean", "TRUE", "true", true),
            ("boolean", "true", "false", false),
            ("text", "a", " a ", true),
            ("text", "1024m", "1g", false),
            ("bytes:b", "much", "much", true),
            ("bytes:b", "much", "1g", false),
        ] {
            assert_eq!(is_same(kind, a, b), same, "{kind}: {a} and {b}");
        }
    }

    #[test]
    fn what_spark_knows_is_read() {
        let memory = setting("spark.executor.memory").expect("in the table");
        assert_eq!((memory.kind, memory.default), ("bytes:m", "1g"));
        assert!(setting("spark.no.such.setting").is_none());
    }
}
