//! Who wrote a log, when, and whether it ended, without replaying it: the first lines tell who, the last ones the end.

use std::io::Read;
use std::sync::Arc;

use scan::{Blocks, Codec, HEAD_BYTES, Limits, Part, Start};

use crate::{
    Error, Log,
    batch::{Batch, Document, Item},
    json,
    lines::{self, Place},
};

/// Decoded bytes of a log's beginning that are searched for the application's start.
const HEAD_SEARCHED_BYTES: u64 = 32 << 20;
/// Stored bytes of a log's end that are searched for the application's end.
const TAIL_BYTES: u64 = 256 << 10;
/// Frames that are tried, from the last one back.
const FRAMES_TRIED: usize = 16;
/// A file that can only be read from its beginning is read whole when it is stored in no more than this.
const WHOLE_BYTES_MAX: u64 = 16 << 20;

/// What a glance at a log tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Glance {
    pub id: Option<String>,
    pub attempt_id: Option<String>,
    pub name: Option<String>,
    pub user: Option<String>,
    pub spark_version: Option<String>,
    pub started_at_ms: Option<i64>,
    pub ended: Ended,
}

/// Whether the application has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ended {
    /// By the end event.
    At(i64),
    /// The log's last lines have no end event: it runs still, or its driver died.
    No,
    /// Its last lines cannot be read without reading all of it.
    #[default]
    Unknown,
}

/// Looks at a log's beginning and end.
pub fn glance(log: &Log) -> Result<Glance, Error> {
    let mut glance = Glance::default();
    head(log, &mut glance)?;
    if let Some(last) = log.parts.last() {
        glance.ended = tail(last)?;
    }
    Ok(glance)
}

fn limits() -> Limits {
    Limits { block_bytes: 256 << 10, ..Limits::default() }
}

fn documents(batch: &Batch) -> impl DoubleEndedIterator<Item = &Document> {
    batch.items.iter().filter_map(|(_, item)| match item {
        Item::Event(document) => Some(&**document),
        _ => None,
    })
}

fn head(log: &Log, glance: &mut Glance) -> Result<(), Error> {
    let blocks =
        Blocks::new(log.parts.iter().take(1).cloned().collect(), Start::default(), limits());
    while let Some(block) = blocks.next()? {
        let batch = lines::read(
            &block.bytes,
            Place { offset: block.offset, after_damage: block.after_damage },
        );
        for document in documents(&batch) {
            let event = &document.value;
            let text = |key| json::text(event, key).map(str::to_owned);
            match document.kind.as_str() {
                "SparkListenerLogStart" => glance.spark_version = text("Spark Version"),
                "SparkListenerApplicationStart" => {
                    glance.id = text("App ID");
                    glance.attempt_id = text("App Attempt ID");
                    glance.name = text("App Name");
                    glance.user = text("User");
                    glance.started_at_ms = json::int(event, "Timestamp");
                    return Ok(());
                }
                _ => {}
            }
        }
        if block.offset > HEAD_SEARCHED_BYTES {
            break;
        }
        blocks.recycle(block.bytes);
    }
    Ok(())
}

fn tail(part: &Arc<dyn Part>) -> Result<Ended, Error> {
    let mut first = [0; HEAD_BYTES];
    let n = part.open(0)?.read(&mut first).unwrap_or(0);
    let magic: &[u8] = match Codec::detect(&first[..n]) {
        Codec::Plain => {
            let from = part.readable_bytes().saturating_sub(TAIL_BYTES);
            return end_after(part, from);
        }
        Codec::Zstd => b"\x28\xb5\x2f\xfd",
        Codec::Lz4Block => b"LZ4Block",
        Codec::SnappyJava | Codec::Lzf | Codec::Gzip => b"",
    };
    if !magic.is_empty() {
        let from = part.readable_bytes().saturating_sub(TAIL_BYTES);
        let mut stored = Vec::new();
        if part.open(from)?.take(TAIL_BYTES).read_to_end(&mut stored).is_ok() {
            let frames = memchr::memmem::rfind_iter(&stored, magic).take(FRAMES_TRIED);
            for frame in frames.collect::<Vec<_>>() {
                if let Ended::At(at) = end_after(part, from + frame as u64)? {
                    return Ok(Ended::At(at));
                }
            }
        }
    }
    if part.size_bytes() <= WHOLE_BYTES_MAX { end_after(part, 0) } else { Ok(Ended::Unknown) }
}

/// Reads on from a place where decoding can begin and looks for the end event.
fn end_after(part: &Arc<dyn Part>, stored_offset: u64) -> Result<Ended, Error> {
    let start = Start { stored_offset, ..Start::default() };
    let blocks = Blocks::new(vec![part.clone()], start, limits());
    let mut ended = Ended::No;
    while let Some(block) = blocks.next()? {
        // the end event is among the last lines: only a block that mentions it is worth parsing
        if memchr::memmem::rfind(&block.bytes, b"SparkListenerApplicationEnd").is_some() {
            let batch =
                lines::read(&block.bytes, Place { offset: block.offset, after_damage: true });
            let end = documents(&batch).rev().find(|d| d.kind == "SparkListenerApplicationEnd");
            if let Some(at) = end.and_then(|d| json::int(&d.value, "Timestamp")) {
                ended = Ended::At(at);
            }
        }
        blocks.recycle(block.bytes);
    }
    Ok(ended)
}
