//! Lines that are JSON to Spark's reader and not to ours: text that is not UTF-8, half a surrogate pair, numbers that no
//! float holds. Each is replaced by what stands for "unreadable", so that the rest of the event counts.

use std::borrow::Cow;

/// The line with its oddities replaced, and how many texts were odd; `None` when nothing was. A number that becomes
/// `null` is counted by whoever needs it.
pub(crate) fn repair(line: &[u8]) -> Option<(Vec<u8>, u64)> {
    let (mut n, mut changed) = (0, false);
    let text = String::from_utf8_lossy(line);
    if let Cow::Owned(text) = &text {
        n += text.matches('\u{fffd}').count() as u64;
        changed = true;
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let (mut at, mut in_string) = (0, false);
    while at < bytes.len() {
        let taken = match bytes[at] {
            b'"' => {
                in_string = !in_string;
                1
            }
            b'\\' if in_string => match escape(&bytes[at..]) {
                (len, true) => len,
                (len, false) => {
                    (n, changed) = (n + 1, true);
                    out.extend_from_slice(b"\\ufffd");
                    at += len;
                    continue;
                }
            },
            b'-' | b'0'..=b'9' if !in_string => {
                let is_number =
                    |b: &&u8| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                let len = bytes[at..].iter().take_while(is_number).count();
                let number = std::str::from_utf8(&bytes[at..at + len]).unwrap_or_default();
                if number.parse::<f64>().is_ok_and(f64::is_infinite) {
                    changed = true;
                    out.extend_from_slice(b"null");
                    at += len;
                    continue;
                }
                len
            }
            _ => 1,
        };
        out.extend_from_slice(&bytes[at..(at + taken).min(bytes.len())]);
        at += taken;
    }
    changed.then_some((out, n))
}

/// Length of the escape, and whether it stands for a character.
fn escape(bytes: &[u8]) -> (usize, bool) {
    let unit = |at: usize| {
        let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    match unit(0) {
        Some(0xD800..0xDC00) => match unit(6) {
            Some(0xDC00..0xE000) => (12, true),
            _ => (6, false),
        },
        Some(0xDC00..0xE000) => (6, false),
        Some(_) => (6, true),
        None => (2, true),
    }
}

#[cfg(test)]
mod tests {
    use super::repair;

    #[test]
    fn only_what_is_odd_changes() {
        let fixed = |line: &[u8]| repair(line).map(|(out, n)| (String::from_utf8(out).unwrap(), n));
        assert_eq!(fixed(br#"{"a":"\ud83d\ude00\n","b":-1.5e3}"#), None);
        let odd = br#"{"a":"x\ud800y\\","b":1e400,"c":"1e400"}"#;
        assert_eq!(fixed(odd), Some((r#"{"a":"x\ufffdy\\","b":null,"c":"1e400"}"#.into(), 1)));
        assert_eq!(fixed(b"{\"a\":\"\xff\"}"), Some(("{\"a\":\"\u{fffd}\"}".into(), 1)));
    }
}
