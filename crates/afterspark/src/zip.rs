//! Zip archives, written from front to back: nothing is gone back to, and no file is held in memory.
//!
//! Sizes follow each file's content, as they are not known before. Readers that go from front to back know where content
//! ends only when it is deflated, so what is not worth compressing is deflated at level 0.

use std::io::{self, Read, Write};

use flate2::{Compression, Crc, write::DeflateEncoder};

use crate::text::date_of_day;

/// How hard to try to make a file smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// It is compressed already.
    Store,
    Deflate,
}

/// From here on sizes and offsets take eight bytes.
const LARGE: u64 = 0xffff_ffff;
/// A file of this size may come out larger than [`LARGE`], as content that does not compress grows by less than this.
const LARGE_FILE: u64 = LARGE - (64 << 20);
const COPY_BYTES: usize = 64 << 10;
const VERSION: u16 = 20;
const VERSION_LARGE: u16 = 45;
/// Sizes follow the content; names are UTF-8.
const FLAGS: u16 = 1 << 3 | 1 << 11;
const DEFLATED: u16 = 8;

struct Entry {
    name: String,
    dos_time: u32,
    flags: u16,
    method: u16,
    crc: u32,
    stored_bytes: u64,
    size_bytes: u64,
    at: u64,
}

/// See the module.
pub(crate) struct ZipWriter<'w> {
    out: Counted<'w>,
    entries: Vec<Entry>,
}

struct Counted<'w> {
    out: &'w mut dyn Write,
    n_bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.n_bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<'w> ZipWriter<'w> {
    pub(crate) fn new(out: &'w mut dyn Write) -> ZipWriter<'w> {
        ZipWriter { out: Counted { out, n_bytes: 0 }, entries: Vec::new() }
    }

    /// A folder; the name ends with a slash.
    pub(crate) fn folder(&mut self, name: &str, modified_at_ms: i64) -> io::Result<()> {
        let mut entry = self.entry(name, modified_at_ms);
        (entry.flags, entry.method) = (FLAGS & !(1 << 3), 0);
        self.header(&entry, false)?;
        self.entries.push(entry);
        Ok(())
    }

    /// A file of at most `size_bytes_max` bytes.
    pub(crate) fn file(
        &mut self,
        name: &str,
        modified_at_ms: i64,
        size_bytes_max: u64,
        effort: Effort,
        content: &mut dyn Read,
    ) -> io::Result<()> {
        let is_large = size_bytes_max >= LARGE_FILE;
        let mut entry = self.entry(name, modified_at_ms);
        self.header(&entry, is_large)?;
        let from = self.out.n_bytes;
        let level = match effort {
            Effort::Store => Compression::none(),
            Effort::Deflate => Compression::new(3),
        };
        let mut crc = Crc::new();
        let mut deflate = DeflateEncoder::new(&mut self.out, level);
        let mut buffer = vec![0; COPY_BYTES];
        let mut content = content.take(size_bytes_max);
        loop {
            let n = match content.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            crc.update(&buffer[..n]);
            deflate.write_all(&buffer[..n])?;
            entry.size_bytes += n as u64;
        }
        deflate.finish()?;
        entry.crc = crc.sum();
        entry.stored_bytes = self.out.n_bytes - from;
        let mut sizes = Bytes::default();
        sizes.u32(0x0807_4b50).u32(entry.crc);
        if is_large {
            sizes.u64(entry.stored_bytes).u64(entry.size_bytes);
        } else {
            sizes.u32(entry.stored_bytes as u32).u32(entry.size_bytes as u32);
        }
        self.out.write_all(&sizes.0)?;
        self.entries.push(entry);
        Ok(())
    }

    fn entry(&self, name: &str, modified_at_ms: i64) -> Entry {
        Entry {
            name: name.chars().take(usize::from(u16::MAX / 4)).collect(),
            dos_time: dos_time(modified_at_ms),
            flags: FLAGS,
            method: DEFLATED,
            crc: 0,
            stored_bytes: 0,
            size_bytes: 0,
            at: self.out.n_bytes,
        }
    }

    fn header(&mut self, entry: &Entry, is_large: bool) -> io::Result<()> {
        let mut header = Bytes::default();
        let version = if is_large { VERSION_LARGE } else { VERSION };
        header.u32(0x0403_4b50).u16(version).u16(entry.flags).u16(entry.method);
        header.u32(entry.dos_time).u32(0);
        // the sizes follow the content, as wide as is said here
        let size = if is_large { LARGE as u32 } else { 0 };
        header.u32(size).u32(size);
        header.u16(entry.name.len() as u16).u16(if is_large { 20 } else { 0 });
        header.0.extend_from_slice(entry.name.as_bytes());
        if is_large {
            header.u16(1).u16(16).u64(0).u64(0);
        }
        self.out.write_all(&header.0)
    }

    /// The list of what was written, which ends the archive.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let at = self.out.n_bytes;
        for entry in &self.entries {
            let mut large = Bytes::default();
            for value in [entry.size_bytes, entry.stored_bytes, entry.at] {
                if value >= LARGE {
                    large.u64(value);
                }
            }
            let extra_bytes = if large.0.is_empty() { 0 } else { large.0.len() as u16 + 4 };
            let version = if extra_bytes > 0 { VERSION_LARGE } else { VERSION };
            let mut line = Bytes::default();
            // made by Unix, so that the mode of files counts
            line.u32(0x0201_4b50).u16(3 << 8 | version).u16(version);
            line.u16(entry.flags).u16(entry.method).u32(entry.dos_time).u32(entry.crc);
            line.u32(short(entry.stored_bytes)).u32(short(entry.size_bytes));
            line.u16(entry.name.len() as u16).u16(extra_bytes).u16(0).u16(0).u16(0);
            let mode = if entry.name.ends_with('/') { 0o040_755 } else { 0o100_644 };
            line.u32(mode << 16).u32(short(entry.at));
            line.0.extend_from_slice(entry.name.as_bytes());
            if extra_bytes > 0 {
                line.u16(1).u16(large.0.len() as u16);
                line.0.extend_from_slice(&large.0);
            }
            self.out.write_all(&line.0)?;
        }
        let (n, list_bytes) = (self.entries.len() as u64, self.out.n_bytes - at);
        let mut end = Bytes::default();
        if n >= u64::from(u16::MAX) || at >= LARGE || list_bytes >= LARGE {
            let end_at = self.out.n_bytes;
            end.u32(0x0606_4b50).u64(44).u16(3 << 8 | VERSION_LARGE).u16(VERSION_LARGE);
            end.u32(0).u32(0).u64(n).u64(n).u64(list_bytes).u64(at);
            end.u32(0x0706_4b50).u32(0).u64(end_at).u32(1);
        }
        let n = n.min(u64::from(u16::MAX)) as u16;
        end.u32(0x0605_4b50).u16(0).u16(0).u16(n).u16(n);
        end.u32(short(list_bytes)).u32(short(at)).u16(0);
        self.out.write_all(&end.0)?;
        self.out.flush()
    }
}

fn short(value: u64) -> u32 {
    value.min(LARGE) as u32
}

/// Date and time to two seconds, from 1980 to 2107.
fn dos_time(at_ms: i64) -> u32 {
    let seconds = at_ms.div_euclid(1_000);
    let (year, month, day) = date_of_day(seconds.div_euclid(86_400));
    if !(1980..=2107).contains(&year) {
        return 1 << 21 | 1 << 16;
    }
    let of_day = seconds.rem_euclid(86_400) as u32;
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    let time = (hour << 11) | (minute << 5) | (second / 2);
    ((year - 1980) as u32) << 25 | (month as u32) << 21 | (day as u32) << 16 | time
}

#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn u16(&mut self, value: u16) -> &mut Bytes {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    fn u32(&mut self, value: u32) -> &mut Bytes {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    fn u64(&mut self, value: u64) -> &mut Bytes {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }
}
