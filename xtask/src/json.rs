//! JSON that keeps the order of an object's keys and may have holes.
//!
//! Spark writes the keys of an event in a fixed order, and a fast reader relies on it, so a generated log must keep it
//! (`serde_json::Value` sorts). A hole is a number that is filled in each time the text is written.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
    /// Text before, the number of the hole, text after.
    Hole(&'static str, u16, &'static str),
}

impl Json {
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(fields) => fields.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Json> {
        match self {
            Json::Object(fields) => fields.iter_mut().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// Sets a field where it stands, or appends it. Does nothing to what is not an object.
    pub fn set(&mut self, key: &str, value: impl Into<Json>) {
        if let Some(old) = self.get_mut(key) {
            *old = value.into();
        } else if let Json::Object(fields) = self {
            fields.push((key.to_owned(), value.into()));
        }
    }

    /// Sets the field at the end of a path, if it is there.
    pub fn replace(&mut self, path: &[&str], value: Json) {
        if let Some(old) = path.iter().try_fold(self, |at, key| at.get_mut(key)) {
            *old = value;
        }
    }

    pub fn at(&self, path: &[&str]) -> Option<&Json> {
        path.iter().try_fold(self, |at, key| at.get(key))
    }

    /// A whole number, also one written as text (as the updates of SQL metrics are).
    pub fn number(&self) -> Option<u64> {
        match self {
            Json::Number(n) => n.as_u64(),
            Json::Text(t) => t.parse().ok(),
            _ => None,
        }
    }

    pub fn text(&self) -> &str {
        if let Json::Text(t) = self { t } else { "" }
    }

    pub fn list(&self) -> &[Json] {
        if let Json::List(items) = self { items } else { &[] }
    }

    pub fn list_mut(&mut self) -> Option<&mut Vec<Json>> {
        if let Json::List(items) = self { Some(items) } else { None }
    }
}

impl From<u64> for Json {
    fn from(n: u64) -> Json {
        Json::Number(n.into())
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::Text(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::Text(text)
    }
}

/// Keys lose their order, and a hole is nothing.
impl From<Json> for Value {
    fn from(json: Json) -> Value {
        match json {
            Json::Null | Json::Hole(..) => Value::Null,
            Json::Bool(b) => b.into(),
            Json::Number(n) => n.into(),
            Json::Text(text) => text.into(),
            Json::List(items) => items.into_iter().map(Value::from).collect(),
            Json::Object(fields) => {
                fields.into_iter().map(|(key, value)| (key, Value::from(value))).collect()
            }
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut form = Form { text: Vec::new(), holes: Vec::new() };
        form.push(self);
        f.write_str(&String::from_utf8_lossy(&form.text))
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, b: bool) -> Result<Json, E> {
        Ok(Json::Bool(b))
    }

    fn visit_u64<E>(self, n: u64) -> Result<Json, E> {
        Ok(n.into())
    }

    fn visit_i64<E>(self, n: i64) -> Result<Json, E> {
        Ok(Json::Number(n.into()))
    }

    fn visit_f64<E>(self, n: f64) -> Result<Json, E> {
        Ok(Number::from_f64(n).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Json::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Json::Object(fields))
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Json, D::Error> {
        from.deserialize_any(Reader)
    }
}

/// The text of a line with its holes: literal bytes up to an offset, then the number of a hole, and so on.
pub struct Form {
    text: Vec<u8>,
    holes: Vec<(usize, u16)>,
}

impl Form {
    /// The form of an event as a line of a log.
    pub fn line(event: &Json) -> Form {
        let mut form = Form { text: Vec::new(), holes: Vec::new() };
        form.push(event);
        form.text.push(b'\n');
        form
    }

    fn push(&mut self, json: &Json) {
        match json {
            Json::Null => self.text.extend(b"null"),
            Json::Bool(b) => self.text.extend(b.to_string().bytes()),
            Json::Number(n) => self.text.extend(n.to_string().bytes()),
            Json::Text(t) => self.push_text(t),
            Json::List(items) => self.push_all(*b"[]", items, Form::push),
            Json::Object(fields) => self.push_all(*b"{}", fields, |form, (key, value)| {
                form.push_text(key);
                form.text.push(b':');
                form.push(value);
            }),
            Json::Hole(before, hole, after) => {
                self.text.extend(before.bytes());
                self.holes.push((self.text.len(), *hole));
                self.text.extend(after.bytes());
            }
        }
    }

    fn push_all<T>(&mut self, ends: [u8; 2], items: &[T], mut push: impl FnMut(&mut Form, &T)) {
        self.text.push(ends[0]);
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.text.push(b',');
            }
            push(self, item);
        }
        self.text.push(ends[1]);
    }

    /// A string as Jackson writes it: only quotes, backslashes and control characters are escaped.
    fn push_text(&mut self, text: &str) {
        self.text.push(b'"');
        for c in text.bytes() {
            match c {
                b'"' | b'\\' => self.text.extend([b'\\', c]),
                b'\n' => self.text.extend(b"\\n"),
                b'\r' => self.text.extend(b"\\r"),
                b'\t' => self.text.extend(b"\\t"),
                0..0x20 => self.text.extend(format!("\\u{c:04X}").bytes()),
                _ => self.text.push(c),
            }
        }
        self.text.push(b'"');
    }

    /// Appends the line with the holes filled from `values`.
    pub fn write(&self, values: &[u64], out: &mut Vec<u8>) {
        let mut from = 0;
        for &(to, hole) in &self.holes {
            out.extend_from_slice(&self.text[from..to]);
            push_number(values[usize::from(hole)], out);
            from = to;
        }
        out.extend_from_slice(&self.text[from..]);
    }
}

fn push_number(mut n: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_order_and_text() {
        let line =
            "{\"z\":1,\"a\":[true,null,\"\\\"\\\\\\n\\u0001é\"],\"m\":{\"b\":-2,\"a\":0.5}}\n";
        let mut out = Vec::new();
        Form::line(&serde_json::from_str(line).unwrap()).write(&[], &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), line);
    }

    #[test]
    fn fills_holes() {
        let mut json: Json = serde_json::from_str(r#"{"a":1,"b":{"c":2},"d":3}"#).unwrap();
        json.replace(&["a"], Json::Hole("", 1, ""));
        json.replace(&["b", "c"], Json::Hole("\"host-", 0, "\""));
        json.replace(&["b", "absent"], Json::Null);
        let mut out = Vec::new();
        Form::line(&json).write(&[0, 18_446_744_073_709_551_615], &mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"a\":18446744073709551615,\"b\":{\"c\":\"host-0\"},\"d\":3}\n"
        );
    }
}
