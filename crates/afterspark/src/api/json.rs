//! JSON as Jackson writes it for Spark: two spaces of indent inside objects, `"key" : value`, lists on one line, and
//! numbers as Java prints them.

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::ser::{CharEscape, Formatter};

/// A double. Jackson writes what is not a number as a string.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Double(pub(crate) f64);

impl Serialize for Double {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            x if x.is_nan() => serializer.serialize_str("NaN"),
            x if x.is_infinite() => {
                serializer.serialize_str(if x > 0.0 { "Infinity" } else { "-Infinity" })
            }
            x => serializer.serialize_f64(x),
        }
    }
}

/// An object whose keys are data.
pub(crate) struct Members<K, V>(pub(crate) Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for Members<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// The bytes of a value.
pub(crate) fn pretty(value: &(impl Serialize + ?Sized)) -> Vec<u8> {
    let mut out = Vec::with_capacity(1 << 12);
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, Jackson::default());
    // the values are plain numbers, strings, lists and maps with string keys: writing them to memory cannot fail
    value.serialize(&mut serializer).ok();
    out
}

#[derive(Default)]
struct Jackson {
    depth: usize,
    /// Whether anything was written in each open object or list.
    has_value: bool,
}

impl Jackson {
    fn new_line<W: ?Sized + Write>(&self, out: &mut W) -> io::Result<()> {
        out.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| out.write_all(b"  "))
    }
}

impl Formatter for Jackson {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.has_value = false;
        out.write_all(b"[ ")
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        let close: &[u8] = if self.has_value { b" ]" } else { b"]" };
        self.has_value = true;
        out.write_all(close)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { out.write_all(b", ") }
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _out: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        self.has_value = false;
        out.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth -= 1;
        if self.has_value {
            self.new_line(out)?;
        } else {
            out.write_all(b" ")?;
        }
        self.has_value = true;
        out.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if !first {
            out.write_all(b",")?;
        }
        self.new_line(out)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b" : ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _out: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }

    /// Characters beyond the first 65,536 as the two halves of UTF-16, and those that must be escaped with capitals.
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        // such characters take four bytes, and no others begin so
        while let Some(at) = rest.bytes().position(|b| b >= 0xf0) {
            let mut after = rest[at..].chars();
            out.write_all(&rest.as_bytes()[..at])?;
            for half in after.next().unwrap_or_default().encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{half:04X}")?;
            }
            rest = after.as_str();
        }
        out.write_all(rest.as_bytes())
    }

    fn write_char_escape<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        match escape {
            CharEscape::AsciiControl(byte) => write!(out, "\\u{byte:04X}"),
            CharEscape::Quote => out.write_all(b"\\\""),
            CharEscape::ReverseSolidus => out.write_all(b"\\\\"),
            CharEscape::Solidus => out.write_all(b"/"),
            CharEscape::Backspace => out.write_all(b"\\b"),
            CharEscape::FormFeed => out.write_all(b"\\f"),
            CharEscape::LineFeed => out.write_all(b"\\n"),
            CharEscape::CarriageReturn => out.write_all(b"\\r"),
            CharEscape::Tab => out.write_all(b"\\t"),
        }
    }

    fn write_f64<W: ?Sized + Write>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        out.write_all(java_double(value).as_bytes())
    }
}

/// As `Double.toString` of Java 19 and later: shortest digits, scientific below 0.001 and from ten million on.
pub(crate) fn java_double(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-3..1e7).contains(&size) {
        return format!("{value:?}");
    }
    let text = format!("{value:E}");
    match text.split_once('E') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0E{exponent}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::pretty;

    #[test]
    fn text_as_jackson_writes_it() {
        let text = "é漢😀x\u{1f}\u{7f}\n\t\"\\/\u{8}";
        let written = String::from_utf8(pretty(text));
        let expected = "\"é漢\\uD83D\\uDE00x\\u001F\u{7f}\\n\\t\\\"\\\\/\\b\"";
        assert_eq!(written.as_deref(), Ok(expected));
    }
}
