//! What is in a zip archive: names, sizes and digests, by which archives of two servers are compared.

use std::io::Read;

use serde::{Deserialize, Serialize};

use super::sha1::sha1;

const END: &[u8; 4] = b"PK\x05\x06";
const END_BYTES: usize = 22;
const DIRECTORY_ENTRY: &[u8; 4] = b"PK\x01\x02";
const LOCAL_ENTRY: &[u8; 4] = b"PK\x03\x04";
const STORED: u64 = 0;
const DEFLATED: u64 = 8;

/// Name, size and digest of an entry's content; written as a list of the three.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Entry(pub String, pub u64, pub String);

/// The entries in the order of their names; `None` when the archive cannot be read whole.
pub(super) fn entries(archive: &[u8]) -> Option<Vec<Entry>> {
    let end = archive.windows(4).rposition(|w| w == END)?;
    if archive.len() - end < END_BYTES {
        return None;
    }
    let n_entries = number(archive, end + 10, 2)?;
    let mut at = number(archive, end + 16, 4)? as usize;
    let mut found = Vec::new();
    for _ in 0..n_entries {
        if archive.get(at..at + 4)? != DIRECTORY_ENTRY {
            return None;
        }
        let field = |offset, n| number(archive, at + offset, n);
        let (how, packed, bytes) = (field(10, 2)?, field(20, 4)? as usize, field(24, 4)?);
        let (n_name, n_extra, n_comment) = (field(28, 2)?, field(30, 2)?, field(32, 2)?);
        let local = field(42, 4)? as usize;
        let name = archive.get(at + 46..at + 46 + n_name as usize)?;
        if archive.get(local..local + 4)? != LOCAL_ENTRY {
            return None;
        }
        let skip = number(archive, local + 26, 2)? + number(archive, local + 28, 2)?;
        let from = local + 30 + skip as usize;
        let content = unpack(how, archive.get(from..from + packed)?)?;
        if content.len() as u64 != bytes {
            return None;
        }
        found.push(Entry(String::from_utf8_lossy(name).into_owned(), bytes, sha1(&content)));
        at += 46 + (n_name + n_extra + n_comment) as usize;
    }
    found.sort();
    Some(found)
}

fn unpack(how: u64, packed: &[u8]) -> Option<Vec<u8>> {
    match how {
        STORED => Some(packed.to_vec()),
        DEFLATED => {
            let mut content = Vec::new();
            flate2::read::DeflateDecoder::new(packed).read_to_end(&mut content).ok()?;
            Some(content)
        }
        _ => None,
    }
}

fn number(bytes: &[u8], at: usize, n: usize) -> Option<u64> {
    let of_number = bytes.get(at..at + n)?;
    Some(of_number.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
}
