//! Entries of a zip as parts of a log: Spark's history server hands logs out as zips.
//!
//! The crate `zip` would bring a dozen others for writing, encryption and dates; listing
//! entries and reading one over `flate2` is all that is needed. Everything is taken from the
//! central directory, so entries written as a stream (with a data descriptor) are the same.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::{Crc, Decompress, FlushDecompress, Status};

use crate::{Error, Part};

/// A list of entries longer than this is not read.
const DIRECTORY_BYTES_MAX: u64 = 256 << 20;
const ENTRIES_MAX: usize = 1_000_000;
const END_BYTES: usize = 22;
const COMMENT_BYTES_MAX: usize = 0xffff;
const LOCAL_HEADER_BYTES: u64 = 30;
const BUFFER_BYTES: usize = 64 << 10;

pub fn is_zip(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

/// One entry of a zip; reading it yields its unpacked bytes.
#[derive(Debug, Clone)]
pub struct ZipPart {
    path: Arc<Path>,
    /// The whole path within the zip.
    name: String,
    method: Method,
    crc: u32,
    packed_bytes: u64,
    plain_bytes: u64,
    header_offset: u64,
    /// What an entry can have at most, whatever the list says.
    archive_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Stored,
    Deflated,
    /// Encrypted, or of a rare method.
    Unknown,
}

/// The entries that are files, in the order of the zip's own list.
pub fn zip_entries(path: impl AsRef<Path>) -> Result<Vec<ZipPart>, Error> {
    let path = path.as_ref();
    let mut file =
        File::open(path).map_err(|source| Error::Open { path: path.to_owned(), source })?;
    let broken = |what| Error::Zip { path: path.to_owned(), what };
    let failed = |source: io::Error| Error::Read { path: path.to_owned(), source };
    let size = file.metadata().map_err(failed)?.len();
    let end = find_end(&mut file, size).map_err(failed)?;
    let directory = end.ok_or_else(|| broken("the list at the end of the zip is missing"))?;
    if directory.bytes > DIRECTORY_BYTES_MAX {
        return Err(broken("the zip's list of entries is too long"));
    }
    let begin = directory
        .end_offset
        .checked_sub(directory.bytes)
        .ok_or_else(|| broken("the zip's list of entries is damaged"))?;
    // Where something stands before the zip proper, all offsets in it are too small.
    let shift = begin.saturating_sub(directory.offset);
    let bytes = read_at(&mut file, begin, directory.bytes).map_err(failed)?;
    let path = Arc::from(path);
    let mut parts = Vec::new();
    let mut rest = &bytes[..];
    while rest.starts_with(b"PK\x01\x02") {
        let Some((mut part, entry_bytes)) = entry(rest, &path) else {
            return Err(broken("the zip's list of entries is damaged"));
        };
        part.header_offset = part.header_offset.saturating_add(shift);
        part.archive_bytes = size;
        rest = &rest[entry_bytes..];
        if parts.len() == ENTRIES_MAX {
            return Err(broken("the zip's list of entries is too long"));
        }
        if !part.name.ends_with('/') {
            parts.push(part);
        }
    }
    Ok(parts)
}

struct Directory {
    offset: u64,
    bytes: u64,
    /// Where the list must end, whatever `offset` says.
    end_offset: u64,
}

fn find_end(file: &mut File, size: u64) -> io::Result<Option<Directory>> {
    let tail_bytes = size.min((END_BYTES + COMMENT_BYTES_MAX) as u64);
    let tail_offset = size - tail_bytes;
    let tail = read_at(file, tail_offset, tail_bytes)?;
    let Some(at) = memchr::memmem::rfind(&tail, b"PK\x05\x06") else {
        return Ok(None);
    };
    let Some(end) = tail.get(at..at + END_BYTES) else {
        return Ok(None);
    };
    let end_offset = tail_offset + at as u64;
    let short = Directory {
        bytes: u64::from(u32_at(end, 12)),
        offset: u64::from(u32_at(end, 16)),
        end_offset,
    };
    // Zip64 puts a locator of 20 bytes before the end record.
    let Some(locator_offset) = end_offset.checked_sub(20) else {
        return Ok(Some(short));
    };
    let locator = read_at(file, locator_offset, 20)?;
    if !locator.starts_with(b"PK\x06\x07") {
        return Ok(Some(short));
    }
    // The record it points at has 56 bytes and stands before it; its offset may be shifted.
    let said = u64_at(&locator, 8);
    for offset in [said, locator_offset.saturating_sub(56)] {
        if offset.checked_add(56).is_none_or(|end| end > size) {
            continue;
        }
        let record = read_at(file, offset, 56)?;
        if record.starts_with(b"PK\x06\x06") {
            let (bytes, directory_offset) = (u64_at(&record, 40), u64_at(&record, 48));
            return Ok(Some(Directory { offset: directory_offset, bytes, end_offset: offset }));
        }
    }
    Ok(None)
}

/// The entry that the list begins with, and the length of its record.
fn entry(list: &[u8], path: &Arc<Path>) -> Option<(ZipPart, usize)> {
    let fixed = list.get(..46)?;
    let (name_bytes, extra_bytes) = (u16_at(fixed, 28), u16_at(fixed, 30));
    let comment_bytes = u16_at(fixed, 32);
    let name = list.get(46..46 + name_bytes)?;
    let extra = list.get(46 + name_bytes..46 + name_bytes + extra_bytes)?;
    let whole = 46 + name_bytes + extra_bytes + comment_bytes;
    list.get(..whole)?;
    let encrypted = fixed[8] & 1 != 0;
    let method = match u16_at(fixed, 10) {
        _ if encrypted => Method::Unknown,
        0 => Method::Stored,
        8 => Method::Deflated,
        _ => Method::Unknown,
    };
    // Zip64 has those numbers that do not fit, in this order.
    let mut long = zip64_field(extra).chunks_exact(8);
    let mut number = |at: usize| match u32_at(fixed, at) {
        u32::MAX => long.next().map_or(u64::from(u32::MAX), |bytes| u64_at(bytes, 0)),
        short => u64::from(short),
    };
    let (plain_bytes, packed_bytes, header_offset) = (number(24), number(20), number(42));
    let part = ZipPart {
        path: Arc::clone(path),
        name: String::from_utf8_lossy(name).into_owned(),
        method,
        crc: u32_at(fixed, 16),
        packed_bytes,
        plain_bytes,
        header_offset,
        archive_bytes: 0,
    };
    Some((part, whole))
}

fn zip64_field(mut extra: &[u8]) -> &[u8] {
    while extra.len() >= 4 {
        let (id, bytes) = (u16_at(extra, 0), u16_at(extra, 2));
        let Some(field) = extra.get(4..4 + bytes) else {
            break;
        };
        if id == 1 {
            return field;
        }
        extra = &extra[4 + bytes..];
    }
    &[]
}

impl Part for ZipPart {
    fn name(&self) -> &str {
        &self.name
    }

    fn location(&self) -> PathBuf {
        self.path.join(&self.name)
    }

    fn size_bytes(&self) -> u64 {
        self.packed_bytes.min(self.archive_bytes)
    }

    fn readable_bytes(&self) -> u64 {
        self.plain_bytes
    }

    fn open(&self, from_byte: u64) -> Result<Box<dyn Read + Send>, Error> {
        let failed = |source| Error::Open { path: self.path.to_path_buf(), source };
        if self.method == Method::Unknown {
            return Ok(Box::new(Broken(io::ErrorKind::Unsupported)));
        }
        let mut file = File::open(&*self.path).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        if self.header_offset.checked_add(LOCAL_HEADER_BYTES).is_none_or(|end| end > size) {
            return Ok(Box::new(Broken(io::ErrorKind::UnexpectedEof)));
        }
        let header = read_at(&mut file, self.header_offset, LOCAL_HEADER_BYTES).map_err(failed)?;
        if !header.starts_with(b"PK\x03\x04") {
            return Ok(Box::new(Broken(io::ErrorKind::InvalidData)));
        }
        let skip = LOCAL_HEADER_BYTES + (u16_at(&header, 26) + u16_at(&header, 28)) as u64;
        file.seek(SeekFrom::Start(self.header_offset + skip)).map_err(failed)?;
        let inflate = (self.method == Method::Deflated).then(|| Decompress::new(false));
        Ok(Box::new(Entry {
            packed: file.take(self.packed_bytes),
            inflate,
            buf: vec![0; BUFFER_BYTES],
            pos: 0,
            end: 0,
            crc: Crc::new(),
            crc_expected: self.crc,
            skip: from_byte,
            stop: None,
        }))
    }
}

/// An entry none of whose bytes can be had.
struct Broken(io::ErrorKind);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(self.0.into())
    }
}

/// An entry being unpacked. Damage is told after the last good byte was given.
struct Entry {
    packed: io::Take<File>,
    inflate: Option<Decompress>,
    buf: Vec<u8>,
    pos: usize,
    end: usize,
    crc: Crc,
    crc_expected: u32,
    /// So many unpacked bytes are read and thrown away first.
    skip: u64,
    stop: Option<Result<(), io::ErrorKind>>,
}

impl Read for Entry {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.skip > 0 && self.stop.is_none() && !to.is_empty() {
            let bytes = to.len().min(usize::try_from(self.skip).unwrap_or(usize::MAX));
            self.skip -= self.unpack(&mut to[..bytes])? as u64;
        }
        while self.stop.is_none() && !to.is_empty() {
            let bytes = self.unpack(to)?;
            if bytes > 0 {
                return Ok(bytes);
            }
        }
        match self.stop {
            Some(Err(kind)) => Err(kind.into()),
            _ => Ok(0),
        }
    }
}

impl Entry {
    /// A step: 0 also when nothing came out yet.
    fn unpack(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let bytes = match &mut self.inflate {
            None => {
                let bytes = self.packed.read(to)?;
                if bytes == 0 {
                    // The limit is used up, or the archive ends before it.
                    self.stop = Some(match self.packed.limit() {
                        0 => Ok(()),
                        _ => Err(io::ErrorKind::UnexpectedEof),
                    });
                }
                bytes
            }
            Some(inflate) => {
                if self.pos == self.end {
                    self.end = self.packed.read(&mut self.buf)?;
                    self.pos = 0;
                }
                let before = (inflate.total_in(), inflate.total_out());
                let ahead = &self.buf[self.pos..self.end];
                let status = inflate.decompress(ahead, to, FlushDecompress::None);
                let used = (inflate.total_in() - before.0) as usize;
                let bytes = (inflate.total_out() - before.1) as usize;
                self.stop = match status {
                    Ok(Status::StreamEnd) => Some(Ok(())),
                    Ok(_) if used > 0 || bytes > 0 => None,
                    Ok(_) if ahead.is_empty() => Some(Err(io::ErrorKind::UnexpectedEof)),
                    Ok(_) | Err(_) => Some(Err(io::ErrorKind::InvalidData)),
                };
                self.pos += used;
                bytes
            }
        };
        self.crc.update(&to[..bytes]);
        if self.stop == Some(Ok(())) && self.crc.sum() != self.crc_expected {
            self.stop = Some(Err(io::ErrorKind::InvalidData));
        }
        Ok(bytes)
    }
}

fn read_at(file: &mut File, offset: u64, bytes: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut read = vec![0; bytes as usize];
    file.read_exact(&mut read)?;
    Ok(read)
}

fn u16_at(bytes: &[u8], at: usize) -> usize {
    usize::from(bytes[at]) | usize::from(bytes[at + 1]) << 8
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
