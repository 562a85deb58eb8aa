//! Whether a store is of a log as it is now.
//!
//! Sizes and times of change decide, and samples of the bytes: a log may be replaced by another of the same name, and
//! all logs of one Spark version begin alike. In doubt the log is read anew, which is never wrong.

use std::io::Read;
use std::sync::Arc;

use scan::Part;
use store::{Reader, Store, Wire, record};

use crate::{
    log::{FileIdentity, Log},
    replay::State,
};

/// Bytes of a sample; three are taken of a file: its beginning, middle and end.
const SAMPLE_BYTES: u64 = 4_096;
/// Files of a rolling log that are sampled, from either end.
const FILES_SAMPLED: usize = 16;

record! {
    /// What a store knows of the log it was read from.
    pub(crate) struct Origin {
        pub(crate) files: Vec<FileIdentity>,
        pub(crate) samples: u64,
        pub(crate) part: u64,
        pub(crate) stored_offset: u64,
        pub(crate) offset: u64,
        pub(crate) skip_to: u64,
        /// None when the application had ended.
        pub(crate) state: Option<State>,
    }
}

/// How a store relates to a log as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// It is of exactly these files.
    Current,
    /// The log has grown since; reading can go on from there.
    Behind,
    /// Another log, or one that was rewritten.
    Foreign,
}

/// Compares a store with the log.
pub fn freshness(store: &Store, log: &Log) -> Freshness {
    origin(store).map_or(Freshness::Foreign, |origin| compare(&origin, log))
}

pub(crate) fn origin(store: &Store) -> Option<Origin> {
    Origin::get(&mut Reader::new(store.resume()))
}

pub(crate) fn compare(origin: &Origin, log: &Log) -> Freshness {
    let (then, now) = (&origin.files, &log.files);
    let Some((last, earlier)) = then.split_last() else { return Freshness::Foreign };
    if then.len() > now.len() || earlier != &now[..earlier.len()] {
        return Freshness::Foreign;
    }
    // only the file that was the last may have grown
    let last_now = &now[earlier.len()];
    let same = then == now;
    let grown = last.name == last_now.name && last.size_bytes <= last_now.size_bytes;
    let touched = last.size_bytes == last_now.size_bytes && last != last_now;
    if touched || !(same || grown) || samples(&log.parts, then) != Some(origin.samples) {
        return Freshness::Foreign;
    }
    match (&origin.state, same) {
        (_, true) => Freshness::Current,
        (Some(_), false) => Freshness::Behind,
        (None, false) => Freshness::Foreign,
    }
}

/// A hash over samples of the files as far as they went then; `None` when one cannot be read.
pub(crate) fn samples(parts: &[Arc<dyn Part>], files: &[FileIdentity]) -> Option<u64> {
    let mut bytes = Vec::new();
    let n = files.len();
    for (at, (part, file)) in parts.iter().zip(files).enumerate() {
        if at >= FILES_SAMPLED && at + FILES_SAMPLED < n {
            continue;
        }
        let end = file.size_bytes.saturating_sub(SAMPLE_BYTES);
        // an entry of an archive is unpacked from its beginning each time
        let packed = part.readable_bytes() != part.size_bytes();
        let places = if packed { vec![0] } else { vec![0, end / 2, end] };
        for place in places {
            let sample = SAMPLE_BYTES.min(file.size_bytes);
            part.open(place).ok()?.take(sample).read_to_end(&mut bytes).ok()?;
        }
    }
    Some(fnv(&bytes))
}

/// A fixed hash: the value is kept on disk.
fn fnv(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
}
