//! Lenient looks into a JSON document: an absent or misfit member is `None`.

use serde_json::Value;

pub(crate) fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str()
}

/// A whole number; text that holds one counts, as it does for Spark's reader.
pub(crate) fn int(value: &Value, key: &str) -> Option<i64> {
    whole(value.get(key)?)
}

pub(crate) fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Number(n) => n.as_i64().or_else(|| n.as_f64().map(|f| f as i64)),
        Value::String(s) => s.parse().ok(),
        _ => None,
    }
}

pub(crate) fn int32(value: &Value, key: &str) -> Option<i32> {
    i32::try_from(int(value, key)?).ok()
}

pub(crate) fn boolean(value: &Value, key: &str) -> Option<bool> {
    value.get(key)?.as_bool()
}

pub(crate) fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The members of an object as text pairs; values that are not text are written as JSON.
pub(crate) fn pairs<'v>(value: &'v Value, key: &str) -> Vec<(&'v str, std::borrow::Cow<'v, str>)> {
    let members = value.get(key).and_then(Value::as_object);
    members.into_iter().flatten().map(|(k, v)| (k.as_str(), as_text(v))).collect()
}

pub(crate) fn as_text(value: &Value) -> std::borrow::Cow<'_, str> {
    match value {
        Value::String(s) => s.as_str().into(),
        other => other.to_string().into(),
    }
}

/// The numbers of a list of whole numbers.
pub(crate) fn int_list(value: &Value, key: &str) -> Vec<i32> {
    list(value, key).iter().filter_map(|v| i32::try_from(v.as_i64()?).ok()).collect()
}
