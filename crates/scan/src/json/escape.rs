//! Escapes of JSON text.

use super::RawStr;

impl<'a> RawStr<'a> {
    /// The text with escapes resolved; what is not UTF-8 or no valid escape becomes U+FFFD.
    pub fn decode(&self) -> std::borrow::Cow<'a, str> {
        if !self.escaped {
            return String::from_utf8_lossy(self.bytes);
        }
        let mut out = Vec::with_capacity(self.bytes.len());
        let mut rest = self.bytes;
        while let Some(at) = memchr::memchr(b'\\', rest) {
            out.extend_from_slice(&rest[..at]);
            let (text, n) = unescape(&rest[at..]);
            let mut buffer = [0; 4];
            out.extend_from_slice(text.encode_utf8(&mut buffer).as_bytes());
            rest = &rest[at + n..];
        }
        out.extend_from_slice(rest);
        match String::from_utf8(out) {
            Ok(text) => text.into(),
            Err(e) => String::from_utf8_lossy(e.as_bytes()).into_owned().into(),
        }
    }
}

/// One escape at the beginning of `at`, and how many bytes it takes.
fn unescape(at: &[u8]) -> (char, usize) {
    let simple = match at.get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(c @ (b'"' | b'\\' | b'/')) => char::from(*c),
        Some(b'u') => return unescape_unicode(at),
        Some(_) => return (char::REPLACEMENT_CHARACTER, 2),
        None => return (char::REPLACEMENT_CHARACTER, 1),
    };
    (simple, 2)
}

fn unescape_unicode(at: &[u8]) -> (char, usize) {
    let unit = |from: usize| {
        let digits = at.get(from..from + 4)?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let Some(high) = unit(2) else { return (char::REPLACEMENT_CHARACTER, 2) };
    if (0xD800..0xDC00).contains(&high)
        && at.get(6..8) == Some(b"\\u")
        && let Some(low) = unit(8).filter(|low| (0xDC00..0xE000).contains(low))
    {
        let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
        return (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12);
    }
    (char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER), 6)
}
