//! Pulling named fields out of one JSON line without building a document.
//!
//! Bound: bytes in = bytes touched once, no allocation. The caller lists the members of an object in the order the
//! writer is known to use ([`crate::object!`]); each predicted key costs one constant-length compare, and
//! whatever is not as predicted (other order, unknown keys, white space) falls to a general loop over the same
//! bodies, so a wrong prediction costs time and never correctness. Everything returns `None` on malformed input.
//!
//! What limits the speed is how soon it is known where the next token begins. So the usual ways are inlined and keep
//! the position in registers (a `Cursor` in a local variable: the unusual ways take and return one by value), and what
//! branch prediction can tell, such as that a number has one digit, is a branch and not computed.

mod escape;

/// How deeply [`Cursor::skip_value`] follows nested values before it gives up.
pub const DEPTH_MAX: u32 = 1_000;

/// A comparison with so many bytes becomes a few loads, with more a call.
const INLINED_BYTES: usize = 32;

/// A position in one line.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    rest: &'a [u8],
}

/// The contents of a JSON string as they stand in the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawStr<'a> {
    /// Between the quotes, escapes not resolved.
    pub bytes: &'a [u8],
    /// Whether a backslash occurs in `bytes`.
    pub escaped: bool,
}

impl<'a> Cursor<'a> {
    pub fn new(line: &'a [u8]) -> Self {
        Cursor { rest: line }
    }

    /// What has not been consumed.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Consumes `literal`, a constant of at most 64 bytes, if it comes next.
    #[inline(always)]
    pub fn eat(&mut self, literal: &[u8]) -> bool {
        debug_assert!(literal.len() <= 2 * INLINED_BYTES);
        let Some((next, rest)) = self.rest.split_at_checked(literal.len()) else { return false };
        let (first, second) = literal.split_at(literal.len().min(INLINED_BYTES));
        let equal = next[..first.len()] == *first && next[first.len()..] == *second;
        if equal {
            self.rest = rest;
        }
        equal
    }

    /// Consumes `text` of any length if it comes next.
    #[inline(always)]
    pub fn eat_text(&mut self, text: &[u8]) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Consumes the first `n` bytes; `None` when there are fewer.
    #[inline(always)]
    pub fn advance(&mut self, n: usize) -> Option<()> {
        self.rest = self.rest.get(n..)?;
        Some(())
    }

    #[inline(always)]
    pub fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    #[inline(always)]
    pub fn skip_space(&mut self) {
        if let [b' ' | b'\t' | b'\r' | b'\n', ..] = self.rest {
            *self = after_space(*self);
        }
    }

    /// Consumes one byte that must be `byte`, white space before it allowed.
    #[inline(always)]
    pub fn expect(&mut self, byte: u8) -> Option<()> {
        self.skip_space();
        if self.peek()? != byte {
            return None;
        }
        self.advance(1)
    }

    /// After `{` or `[`: `true` when members follow, `false` when the closing byte came (and was consumed).
    #[inline(always)]
    pub fn open(&mut self, open: u8, close: u8) -> Option<bool> {
        self.expect(open)?;
        self.skip_space();
        if self.peek()? == close {
            self.advance(1)?;
            return Some(false);
        }
        Some(true)
    }

    /// After a member: consumes `,` (`true`) or the closing byte (`false`).
    #[inline(always)]
    pub fn more(&mut self, close: u8) -> Option<bool> {
        let byte = self.peek()?;
        if byte == b',' {
            self.advance(1)?;
            return Some(true);
        }
        if byte == close {
            self.advance(1)?;
            return Some(false);
        }
        let (more, after) = more_spaced(*self, close)?;
        *self = after;
        Some(more)
    }

    /// Any member name and its colon.
    #[inline(always)]
    pub fn any_key(&mut self) -> Option<RawStr<'a>> {
        let (key, after) = any_key(*self)?;
        *self = after;
        Some(key)
    }

    /// A whole number; `None` when it is beyond 64 bits. A fraction or an exponent is left standing, where neither
    /// [`Cursor::more`] nor [`Cursor::at_end`] takes it.
    #[inline(always)]
    pub fn int(&mut self) -> Option<i64> {
        if let [digit @ b'0'..=b'9', next, ..] = self.rest {
            if !next.is_ascii_digit() {
                self.advance(1)?;
                return Some(i64::from(digit - b'0'));
            }
            if let Some(value) = self.digits_up_to_15() {
                return Some(value);
            }
        }
        let (value, after) = int_of_any_form(*self)?;
        *self = after;
        Some(value)
    }

    /// Two looks at eight bytes and no branch for each digit.
    #[inline(always)]
    fn digits_up_to_15(&mut self) -> Option<i64> {
        let first = eight(self.rest)?;
        let n = n_digits(first);
        if n < 8 {
            self.advance(n)?;
            return Some(value_of_digits(first, n));
        }
        let second = eight(&self.rest[8..])?;
        let n = n_digits(second);
        if n == 8 {
            return None;
        }
        self.advance(8 + n)?;
        let low = if n == 0 { 0 } else { value_of_digits(second, n) };
        Some(value_of_digits(first, 8).wrapping_mul(POWERS_OF_10[n]).wrapping_add(low))
    }

    /// Passes over the digits that come next, if any.
    #[inline(always)]
    pub fn skip_digits(&mut self) {
        while let Some(bytes) = eight(self.rest) {
            let n = n_digits(bytes);
            self.rest = &self.rest[n..];
            if n < 8 {
                return;
            }
        }
        while let [b'0'..=b'9', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    /// `true` or `false`.
    #[inline(always)]
    pub fn boolean(&mut self) -> Option<bool> {
        if self.eat(b"false") {
            return Some(false);
        }
        if self.eat(b"true") {
            return Some(true);
        }
        let (value, after) = boolean_spaced(*self)?;
        *self = after;
        Some(value)
    }

    /// A string, as it stands.
    #[inline(always)]
    pub fn string(&mut self) -> Option<RawStr<'a>> {
        let (text, after) = match short_string(*self) {
            Some(found) => found,
            None => string_of_any_form(*self)?,
        };
        *self = after;
        Some(text)
    }

    /// Passes over everything up to the first `byte`, and over that.
    #[inline(always)]
    pub fn skip_past(&mut self, byte: u8) -> Option<()> {
        let n = find_near(self.rest, byte)?;
        self.advance(n + 1)
    }

    /// Passes over any value, nested at most [`DEPTH_MAX`] deep.
    #[inline(always)]
    pub fn skip_value(&mut self) -> Option<()> {
        *self = after_value(*self)?;
        Some(())
    }

    /// The text of any value, and the cursor behind it.
    pub fn raw_value(&mut self) -> Option<&'a [u8]> {
        self.skip_space();
        let before = self.rest;
        self.skip_value()?;
        Some(&before[..before.len() - self.rest.len()])
    }

    /// Whether only white space is left.
    pub fn at_end(&mut self) -> bool {
        self.skip_space();
        self.rest.is_empty()
    }
}

#[inline(never)]
fn after_space(mut c: Cursor<'_>) -> Cursor<'_> {
    while let [b' ' | b'\t' | b'\r' | b'\n', rest @ ..] = c.rest {
        c.rest = rest;
    }
    c
}

#[inline(never)]
fn more_spaced(mut c: Cursor<'_>, close: u8) -> Option<(bool, Cursor<'_>)> {
    c.skip_space();
    let byte = c.peek()?;
    c.advance(1)?;
    if byte == b',' {
        c.skip_space();
    } else if byte != close {
        return None;
    }
    Some((byte == b',', c))
}

#[inline(never)]
fn any_key(mut c: Cursor<'_>) -> Option<(RawStr<'_>, Cursor<'_>)> {
    c.skip_space();
    let key = c.string()?;
    c.expect(b':')?;
    Some((key, c))
}

#[inline(never)]
fn int_of_any_form(mut c: Cursor<'_>) -> Option<(i64, Cursor<'_>)> {
    c.skip_space();
    let n = c.rest.iter().skip(1).take_while(|b| b.is_ascii_digit()).count() + 1;
    let (digits, rest) = c.rest.split_at_checked(n)?;
    if digits[0] == b'+' {
        return None;
    }
    let value = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some((value, Cursor { rest }))
}

#[inline(never)]
fn boolean_spaced(mut c: Cursor<'_>) -> Option<(bool, Cursor<'_>)> {
    c.skip_space();
    let value = c.eat(b"true");
    (value || c.eat(b"false")).then_some((value, c))
}

/// A string without escapes of up to 32 bytes, which eight at a time are found sooner than by the call of a faster search.
#[inline(always)]
fn short_string(c: Cursor<'_>) -> Option<(RawStr<'_>, Cursor<'_>)> {
    let [b'"', text @ ..] = c.rest else { return None };
    for at in [0, 8, 16, 24] {
        let bytes = eight(text.get(at..)?)?;
        let quotes = zero_bytes(bytes ^ QUOTES);
        let found = quotes | zero_bytes(bytes ^ BACKSLASHES);
        if found != 0 {
            let n = at + first_byte(found);
            let after = Cursor { rest: text.get(n + 1..)? };
            return (text[n] == b'"')
                .then_some((RawStr { bytes: &text[..n], escaped: false }, after));
        }
    }
    None
}

#[inline(never)]
fn string_of_any_form(mut c: Cursor<'_>) -> Option<(RawStr<'_>, Cursor<'_>)> {
    c.expect(b'"')?;
    let text = c.rest;
    let mut from = 0;
    let mut escaped = false;
    loop {
        let at = from + memchr::memchr2(b'"', b'\\', text.get(from..)?)?;
        if text[at] == b'"' {
            let after = Cursor { rest: &text[at + 1..] };
            return Some((RawStr { bytes: &text[..at], escaped }, after));
        }
        escaped = true;
        from = at + 2;
    }
}

#[inline(never)]
fn after_value(mut c: Cursor<'_>) -> Option<Cursor<'_>> {
    let mut depth = 0u32;
    loop {
        c.skip_space();
        match c.peek()? {
            b'"' => {
                c.string()?;
            }
            b'{' | b'[' => {
                c.advance(1)?;
                depth += 1;
                if depth > DEPTH_MAX {
                    return None;
                }
                continue;
            }
            b'}' | b']' if depth > 0 => {
                c.advance(1)?;
                depth -= 1;
            }
            b',' | b':' if depth > 0 => {
                c.advance(1)?;
                continue;
            }
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                let n = c.rest.iter().take_while(|b| is_scalar_byte(**b)).count();
                c.advance(n)?;
            }
            _ => return None,
        }
        if depth == 0 {
            return Some(c);
        }
    }
}

/// Where the first `byte` is, most likely in the next hundred or two.
#[inline(always)]
fn find_near(text: &[u8], byte: u8) -> Option<usize> {
    let mut at = 0;
    while at < 192 {
        let Some(both) = text.get(at..at + 16) else { break };
        let wanted = EACH_BYTE * u64::from(byte);
        let low = zero_bytes(eight(both)? ^ wanted);
        let high = zero_bytes(eight(&both[8..])? ^ wanted);
        if low | high != 0 {
            return Some(at + if low != 0 { first_byte(low) } else { 8 + first_byte(high) });
        }
        at += 16;
    }
    Some(at + memchr::memchr(byte, text.get(at..)?)?)
}

/// The next eight bytes, the first of them lowest.
#[inline(always)]
fn eight(bytes: &[u8]) -> Option<u64> {
    bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

const EACH_BYTE: u64 = 0x0101_0101_0101_0101;
const QUOTES: u64 = EACH_BYTE * 0x22;
const BACKSLASHES: u64 = EACH_BYTE * 0x5c;
const ZEROS: u64 = EACH_BYTE * 0x30;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
const POWERS_OF_10: [i64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// The high bit of each byte that is 0. Bytes above the lowest such byte may be marked wrongly.
#[inline(always)]
fn zero_bytes(bytes: u64) -> u64 {
    bytes.wrapping_sub(EACH_BYTE) & !bytes & HIGH_BITS
}

/// Which byte the lowest mark is in; 8 when there is none.
#[inline(always)]
fn first_byte(marks: u64) -> usize {
    (marks.trailing_zeros() / 8) as usize
}

/// How many of the eight bytes are digits, up to the first that is none.
#[inline(always)]
fn n_digits(bytes: u64) -> usize {
    let values = bytes ^ ZEROS;
    // a carry reaches only bytes above one that is marked
    first_byte((values.wrapping_add(EACH_BYTE * 0x76) | values) & HIGH_BITS)
}

/// The number that the first `n` bytes, all of them digits, stand for; `n` from 1 to 8.
#[inline(always)]
fn value_of_digits(bytes: u64, n: usize) -> i64 {
    // leading zeros in front: then neighbours are joined to pairs, fours, eight
    let digits = (bytes & (EACH_BYTE * 0x0f)) << (64 - 8 * n);
    let pairs = digits.wrapping_mul(10 << 8 | 1) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100 << 16 | 1) >> 16 & 0x0000_ffff_0000_ffff;
    (fours.wrapping_mul(10_000 << 32 | 1) >> 32) as i64
}

fn is_scalar_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.')
}

/// Reads one object: `object!(cursor, { "Key" => body, … })`. A body reads the value that the cursor stands before;
/// it may use `?` (the enclosing function returns `Option`). Members not listed are passed over. The list should be
/// in the order the writer uses.
#[macro_export]
macro_rules! object {
    ($c:expr, { $( $key:literal => $body:expr ),* $(,)? }) => {{
        let mut more = $c.open(b'{', b'}')?;
        $(
            if more && $c.eat(concat!("\"", $key, "\":").as_bytes()) {
                $body;
                more = $c.more(b'}')?;
            }
        )*
        while more {
            let key = $c.any_key()?;
            $(
                if key.bytes == $key.as_bytes() {
                    $body;
                } else
            )*
            {
                $c.skip_value()?;
            }
            more = $c.more(b'}')?;
        }
    }};
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(i64, String, bool)> {
        let mut c = Cursor::new(text.as_bytes());
        let (mut a, mut b, mut d) = (0, String::new(), false);
        object!(c, {
            "a" => a = c.int()?,
            "b" => b = c.string()?.decode().into_owned(),
            "d" => d = c.boolean()?,
        });
        c.at_end().then_some((a, b, d))
    }

    #[test]
    fn any_order_any_space_unknown_keys() {
        let want = Some((-7, "x\"é😀".to_owned(), true));
        assert_eq!(read(r#"{"a":-7,"b":"x\"é\uD83D\uDE00","d":true}"#), want);
        assert_eq!(
            read(
                r#"{ "d" : true , "z":[{"a":1},null,1.5e3,"}"], "b" : "x\"\u00e9😀", "a" : -7 } "#
            ),
            want
        );
        assert_eq!(read("{}"), Some((0, String::new(), false)));
    }

    #[test]
    fn malformed_is_none() {
        for bad in [
            "",
            "{",
            r#"{"a":"#,
            r#"{"a":1"#,
            r#"{"a":1.5}"#,
            r#"{"a":1e3}"#,
            r#"{"a":1 2}"#,
            r#"{"b":"x}"#,
            r#"{"z":[}"#,
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn whole_numbers_up_to_64_bits() {
        for (text, want) in [
            ("9223372036854775807", Some(i64::MAX)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("123456789012345678", Some(123_456_789_012_345_678)),
            ("12345678", Some(12_345_678)),
            ("1234567890123456", Some(1_234_567_890_123_456)),
            ("-", None),
            ("", None),
        ] {
            for behind in ["", ",", "}  ", ",\"x\":12345678901234567"] {
                let line = format!("{text}{behind}");
                let mut c = Cursor::new(line.as_bytes());
                assert_eq!(c.int(), want, "{line}");
                assert!(want.is_none() || c.rest() == behind.as_bytes(), "{line}");
                if text.bytes().all(|b| b.is_ascii_digit()) {
                    let mut c = Cursor::new(line.as_bytes());
                    c.skip_digits();
                    assert_eq!(c.rest(), behind.as_bytes(), "{line}");
                }
            }
        }
    }

    #[test]
    fn every_byte_ends_digits_but_digits() {
        for byte in 0..=255u8 {
            for n in 0..24 {
                let mut line = b"123456789012345678901234"[..n].to_vec();
                line.push(byte);
                line.extend_from_slice(b"0123456789abcdef");
                let digits = line.iter().take_while(|b| b.is_ascii_digit()).count();
                let want = std::str::from_utf8(&line[..digits]).unwrap().parse::<i64>().ok();
                if digits > 0 {
                    assert_eq!(Cursor::new(&line).int(), want, "{line:?}");
                }
                let mut c = Cursor::new(&line);
                c.skip_digits();
                assert_eq!(c.rest(), &line[digits..], "{line:?}");
            }
        }
    }

    #[test]
    fn strings_end_at_their_quote() {
        for n in 0..100 {
            for filler in ["x", "!", "#", "\u{1}", "[", "]"] {
                let text = filler.repeat(n);
                let line = format!("\"{text}\",\"more\"");
                let mut c = Cursor::new(line.as_bytes());
                assert_eq!(c.string(), Some(RawStr { bytes: text.as_bytes(), escaped: false }));
                assert_eq!(c.rest(), b",\"more\"");
                let line = format!("\"{text}\\\"{text}\"");
                let raw = Cursor::new(line.as_bytes()).string().unwrap();
                assert_eq!((raw.bytes, raw.escaped), (&line.as_bytes()[1..line.len() - 1], true));
            }
        }
    }
}
