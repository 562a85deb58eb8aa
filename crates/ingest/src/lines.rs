//! The lines of one block into a [`Batch`]. Runs on any thread; knows nothing of other blocks.

use serde::de::Deserialize;
use serde_json::Value;
use store::GapKind;

use crate::{
    batch::{Batch, Document, Item},
    json, repair, task_document, task_line,
};

/// How deeply a JSON document may nest. A plan node takes two levels; Spark's own reader stops at 1,000.
pub const JSON_DEPTH_MAX: usize = 2_000;

/// Some editors and copies put it before a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What is known about a block beside its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Decoded offset in the part of the first byte.
    pub(crate) offset: u64,
    /// The first bytes may be the end of a line whose beginning was lost.
    pub(crate) after_damage: bool,
}

/// Reads all lines of a block.
pub(crate) fn read(bytes: &[u8], place: Place) -> Batch {
    let mut batch = Batch::default();
    read_into(bytes, place, &mut batch);
    batch
}

/// Reads all lines of a block into `batch`, in place of what was in there.
pub(crate) fn read_into(bytes: &[u8], place: Place, batch: &mut Batch) {
    batch.clear();
    let mut at = 0;
    batch.end_offset = place.offset;
    while at < bytes.len() {
        let newline = memchr::memchr(b'\n', &bytes[at..]);
        let end = newline.map_or(bytes.len(), |n| at + n);
        let line = bytes[at..end].trim_ascii();
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        let offset = place.offset + at as u64;
        let whole = line.is_empty() || read_line(line, offset, batch);
        if !whole {
            let first_after_damage = at == 0 && place.after_damage;
            batch.items.push((offset, refused(line, newline.is_none() || first_after_damage)));
        }
        at = end + usize::from(newline.is_some());
        if newline.is_some() || whole {
            batch.end_offset = place.offset + at as u64;
        }
    }
}

/// The gap that a line leaves that is not an event.
fn refused(line: &[u8], at_edge: bool) -> Item {
    let torn =
        at_edge || serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err_and(|e| e.is_eof());
    let kind = if torn { GapKind::TornLine } else { GapKind::BadLine };
    Item::Gap { kind, detail: String::new(), n: 1, bytes: line.len() as u64 }
}

/// `false` when the line is not a JSON object with an event in it.
fn read_line(line: &[u8], offset: u64, batch: &mut Batch) -> bool {
    let mut cursor = scan::Cursor::new(line);
    let item = match event_name(&mut cursor).unwrap_or_default() {
        b"SparkListenerTaskEnd" => {
            let before = (batch.side.accumulables.len(), batch.side.user.len());
            let read = task_line::task_end(&mut cursor, batch);
            if read.is_none() {
                batch.side.accumulables.truncate(before.0);
                batch.side.user.truncate(before.1);
                // sets stay: the memo may point to one
            }
            read.map(|()| Item::TaskEnd((batch.ends.len() - 1) as u32))
        }
        b"SparkListenerTaskStart" => task_line::task_start(&mut cursor, batch)
            .map(|()| Item::TaskStart((batch.starts.len() - 1) as u32)),
        _ => None,
    };
    if let Some(item) = item {
        batch.items.push((offset, item));
        return true;
    }
    read_document(line, offset, batch)
}

/// The name, if it is the line's first member, as it is in all that Spark writes.
#[inline(always)]
fn event_name<'b>(c: &mut scan::Cursor<'b>) -> Option<&'b [u8]> {
    if !c.eat(b"{\"Event\":") {
        let first = c.open(b'{', b'}')? && c.any_key()?.bytes == b"Event";
        first.then_some(())?;
    }
    Some(c.string()?.bytes)
}

/// A line as a document, however deep within [`JSON_DEPTH_MAX`].
fn parse(line: &[u8]) -> Option<Value> {
    let mut reader = serde_json::Deserializer::from_slice(line);
    reader.disable_recursion_limit();
    let value = Value::deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    Some(value)
}

fn read_document(line: &[u8], offset: u64, batch: &mut Batch) -> bool {
    if !depth_fits(line) {
        let detail = format!("nested more than {JSON_DEPTH_MAX} deep");
        let gap = Item::Gap { kind: GapKind::BadEvent, detail, n: 1, bytes: line.len() as u64 };
        batch.items.push((offset, gap));
        return true;
    }
    let mut misfits = 0;
    let mut value = parse(line);
    if value.is_none()
        && let Some((repaired, n)) = repair::repair(line)
    {
        (value, misfits) = (parse(&repaired), n);
    }
    let Some(value) = value else { return false };
    let Some(full_kind) = json::text(&value, "Event") else { return false };
    let full_name = full_kind.to_owned();
    let kind = full_kind.rsplit(['.', '$']).next().unwrap_or(full_kind).to_owned();
    let item = match kind.as_str() {
        "SparkListenerTaskStart" => task_document::task_start(&value, batch, &mut misfits)
            .map(|()| Item::TaskStart((batch.starts.len() - 1) as u32)),
        "SparkListenerTaskEnd" => task_document::task_end(&value, batch, &mut misfits)
            .map(|()| Item::TaskEnd((batch.ends.len() - 1) as u32)),
        _ => {
            let full_kind = full_name.clone();
            Some(Item::Event(Box::new(Document { kind, full_kind, value })))
        }
    };
    let item = item.unwrap_or_else(|| Item::Gap {
        kind: GapKind::BadEvent,
        detail: "task event without task or stage".to_owned(),
        n: 1,
        bytes: line.len() as u64,
    });
    batch.items.push((offset, item));
    if misfits > 0 {
        let detail = full_name;
        let gap = Item::Gap { kind: GapKind::BadValue, detail, n: misfits, bytes: 0 };
        batch.items.push((offset, gap));
    }
    true
}

/// Whether a document may be parsed by a recursive reader.
fn depth_fits(line: &[u8]) -> bool {
    let (mut depth, mut in_string, mut at) = (0usize, false, 0);
    while at < line.len() {
        match line[at] {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                if depth > JSON_DEPTH_MAX {
                    return false;
                }
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    true
}
