//! Who wrote a log, when, and whether it ended, without replaying it: the first lines tell who, the last ones the end.
//!
//! Bound: of plain text, 64 KiB at each end where that suffices, searched for the names of the events; only lines that hold
//! one are parsed. Of compressed text, one block at the beginning and the last frames, or all of a file that is one frame.

use std::io::Read;
use std::sync::Arc;

use scan::{Blocks, Codec, Limits, Part, Start};

use crate::{
    Error, Log,
    batch::{Document, Item},
    json,
    lines::{self, Place},
};

/// Bytes at each end of plain text that are looked at first.
const END_BYTES: u64 = 64 << 10;
/// Decoded bytes of a log's beginning that are searched for the application's start.
const HEAD_SEARCHED_BYTES: u64 = 32 << 20;
/// Stored bytes of a log's end that are searched for the application's end.
const TAIL_BYTES: u64 = 1 << 20;
/// Stored bytes of the end of compressed text in which a frame's beginning is looked for.
const FRAMES_BYTES: u64 = 256 << 10;
/// Frames that are tried, from the last one back.
const FRAMES_TRIED: usize = 16;
/// A compressed file that is no longer is read once, and not once for each end.
const ONCE_BYTES_MAX: u64 = 256 << 10;
/// A file that can only be read from its beginning is read whole when it is stored in no more than this.
const WHOLE_BYTES_MAX: u64 = 16 << 20;

const LOG_START: &[u8] = b"SparkListenerLogStart";
const START: &[u8] = b"SparkListenerApplicationStart";
const END: &[u8] = b"SparkListenerApplicationEnd";

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
    /// Told by Spark 4 when the application ends.
    pub exit_code: Option<i32>,
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
    if let [only] = &log.parts[..]
        && only.size_bytes() <= ONCE_BYTES_MAX
        && codec_of(only)? != Codec::Plain
    {
        return glance_at_all(only);
    }
    let mut glance = glance_at_start(log)?;
    if let Some(last) = log.parts.last() {
        glance_at_end(last, &mut glance, WHOLE_BYTES_MAX)?;
    }
    Ok(glance)
}

/// Looks at all of a short file, once.
fn glance_at_all(part: &Arc<dyn Part>) -> Result<Glance, Error> {
    let mut glance = Glance { ended: Ended::No, ..Glance::default() };
    let mut searching = true;
    let blocks = Blocks::new(vec![part.clone()], Start::default(), limits());
    while let Some(block) = blocks.next()? {
        searching = searching
            && !at_start(block.text(), true, &mut glance)
            && block.offset <= HEAD_SEARCHED_BYTES;
        look_for_end(block.text(), &mut glance);
        blocks.recycle(block);
    }
    Ok(glance)
}

fn look_for_end(text: &[u8], glance: &mut Glance) {
    // searching forward is much the faster where there is nothing to find
    if memchr::memmem::find(text, END).is_some()
        && let Some((end, _)) = event(text, END, true, Direction::Backward)
    {
        note_end(&end, glance);
    }
}

/// Looks at a log's beginning only: whether it ended is unknown.
pub fn glance_at_start(log: &Log) -> Result<Glance, Error> {
    let mut glance = Glance::default();
    let Some(first) = log.parts.first() else { return Ok(glance) };
    let mut bytes = Vec::new();
    let n_bytes = first.readable_bytes();
    if first.open(0)?.take(END_BYTES).read_to_end(&mut bytes).is_ok()
        && matches!(Codec::detect(&bytes), Codec::Plain)
        && at_start(&bytes, bytes.len() as u64 >= n_bytes, &mut glance)
    {
        return Ok(glance);
    }
    let blocks = Blocks::new(vec![first.clone()], Start::default(), limits());
    while let Some(block) = blocks.next()? {
        if at_start(block.text(), true, &mut glance) || block.offset > HEAD_SEARCHED_BYTES {
            break;
        }
        blocks.recycle(block);
    }
    Ok(glance)
}

/// Looks for the end of the application that is known to have ended, however much must be read for it.
pub fn glance_at_whole_end(log: &Log, glance: &mut Glance) -> Result<(), Error> {
    log.parts.last().map_or(Ok(()), |last| glance_at_end(last, glance, u64::MAX))
}

fn limits() -> Limits {
    Limits { block_bytes: 256 << 10, ..Limits::default() }
}

/// `true` when the start of the application was found.
fn at_start(bytes: &[u8], ends_whole: bool, glance: &mut Glance) -> bool {
    let Some((start, at)) = event(bytes, START, ends_whole, Direction::Forward) else {
        note_version(bytes, glance);
        return false;
    };
    note_version(&bytes[..at], glance);
    let text = |key| json::text(&start.value, key).map(str::to_owned);
    glance.id = text("App ID");
    glance.attempt_id = text("App Attempt ID");
    glance.name = text("App Name");
    glance.user = text("User");
    glance.started_at_ms = json::int(&start.value, "Timestamp");
    true
}

fn note_version(bytes: &[u8], glance: &mut Glance) {
    if let Some((event, _)) = event(bytes, LOG_START, false, Direction::Forward) {
        glance.spark_version = json::text(&event.value, "Spark Version").map(str::to_owned);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

/// The first or last event of a kind in some lines, and the place of its line. A line without a newline behind it counts
/// when `ends_whole`.
fn event(
    bytes: &[u8],
    kind: &[u8],
    ends_whole: bool,
    direction: Direction,
) -> Option<(Box<Document>, usize)> {
    let (mut from, mut to) = (0, bytes.len());
    loop {
        let within = bytes.get(from..to)?;
        let hit = match direction {
            Direction::Forward => memchr::memmem::find(within, kind),
            Direction::Backward => memchr::memmem::rfind(within, kind),
        };
        let hit = from + hit?;
        let begin = memchr::memrchr(b'\n', &bytes[..hit]).map_or(0, |at| at + 1);
        let newline = memchr::memchr(b'\n', &bytes[hit..]).map(|n| hit + n);
        let end = newline.unwrap_or(bytes.len());
        if newline.is_some() || ends_whole {
            let batch = lines::read(&bytes[begin..end], Place { offset: 0, after_damage: true });
            for (_, item) in batch.items {
                if let Item::Event(document) = item
                    && document.kind.as_bytes() == kind
                {
                    return Some((document, begin));
                }
            }
        }
        // the name may stand in some text: the line is done with, however often it is there
        match direction {
            Direction::Forward => from = end,
            Direction::Backward => to = begin,
        }
    }
}

fn note_end(document: &Document, glance: &mut Glance) {
    if let Some(at) = json::int(&document.value, "Timestamp") {
        glance.ended = Ended::At(at);
        glance.exit_code = json::int32(&document.value, "ExitCode");
    }
}

fn glance_at_end(
    part: &Arc<dyn Part>,
    glance: &mut Glance,
    whole_bytes_max: u64,
) -> Result<(), Error> {
    let n_bytes = part.readable_bytes();
    let packed = n_bytes != part.size_bytes();
    let mut bytes = Vec::new();
    for look_bytes in [END_BYTES, TAIL_BYTES] {
        let from = n_bytes.saturating_sub(look_bytes);
        bytes.clear();
        if packed || part.open(from)?.take(look_bytes).read_to_end(&mut bytes).is_err() {
            break;
        }
        let codec = if from == 0 { Codec::detect(&bytes) } else { codec_of(part)? };
        if codec != Codec::Plain {
            return in_compressed(part, codec, glance, whole_bytes_max);
        }
        if let Some((end, _)) = event(&bytes, END, true, Direction::Backward) {
            note_end(&end, glance);
            return Ok(());
        }
        if from == 0 || look_bytes == TAIL_BYTES {
            glance.ended = Ended::No;
            return Ok(());
        }
    }
    in_compressed(part, codec_of(part)?, glance, whole_bytes_max)
}

fn codec_of(part: &Arc<dyn Part>) -> Result<Codec, Error> {
    let mut first = Vec::new();
    part.open(0)?.take(scan::HEAD_BYTES as u64).read_to_end(&mut first).ok();
    Ok(Codec::detect(&first))
}

fn in_compressed(
    part: &Arc<dyn Part>,
    codec: Codec,
    glance: &mut Glance,
    whole_bytes_max: u64,
) -> Result<(), Error> {
    let magic: &[u8] = match codec {
        Codec::Zstd => b"\x28\xb5\x2f\xfd",
        Codec::Lz4Block => b"LZ4Block",
        Codec::Plain | Codec::SnappyJava | Codec::Lzf | Codec::Gzip => b"",
    };
    let from = part.readable_bytes().saturating_sub(FRAMES_BYTES);
    if !magic.is_empty() && from > 0 {
        let mut stored = Vec::new();
        if part.open(from)?.take(FRAMES_BYTES).read_to_end(&mut stored).is_ok() {
            let frames = memchr::memmem::rfind_iter(&stored, magic).take(FRAMES_TRIED);
            for frame in frames.collect::<Vec<_>>() {
                end_after(part, from + frame as u64, glance)?;
                if matches!(glance.ended, Ended::At(_)) {
                    return Ok(());
                }
            }
        }
    }
    if part.size_bytes() <= whole_bytes_max {
        end_after(part, 0, glance)
    } else {
        glance.ended = Ended::Unknown;
        Ok(())
    }
}

/// Reads on from a place where decoding can begin and looks for the end event.
fn end_after(part: &Arc<dyn Part>, stored_offset: u64, glance: &mut Glance) -> Result<(), Error> {
    let start = Start { stored_offset, ..Start::default() };
    let blocks = Blocks::new(vec![part.clone()], start, limits());
    glance.ended = Ended::No;
    while let Some(block) = blocks.next()? {
        look_for_end(block.text(), glance);
        blocks.recycle(block);
    }
    Ok(())
}
