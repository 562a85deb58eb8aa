//! The byte form of a store, the same in memory, on disk and mapped: header, chunk area, small tables, text pool,
//! resume section, directory, footer. Everything little-endian. One checksum covers all of it but itself.

use std::hash::Hasher;
use twox_hash::XxHash3_64;

use crate::{
    Reader, StageAttemptId, TaskRow, TextPool, Wire, builder::StageTasks, record, tables::Tables,
};

const MAGIC: &[u8; 8] = b"AFTSPARK";
/// Raised whenever any form below or any table changes.
pub const FORMAT: u32 = 7;
const HEADER: u64 = 16;
/// Length of the directory (u64), checksum (u64), magic.
const FOOTER: usize = 24;

/// Where a store's bytes go while it is built.
pub trait Sink {
    fn append(&mut self, bytes: &[u8]) -> std::io::Result<()>;
}

impl Sink for Vec<u8> {
    fn append(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}

record! {
    pub(crate) struct StageDirectory {
        pub(crate) id: StageAttemptId,
        pub(crate) metrics_seen: u64,
        pub(crate) n_rows: u64,
        pub(crate) chunks: Vec<(u64, u64)>,
    }

    /// Where the sections are: (offset, length) in the file.
    pub(crate) struct Directory {
        pub(crate) chunks: (u64, u64),
        pub(crate) tables: (u64, u64),
        pub(crate) texts: (u64, u64),
        pub(crate) running: (u64, u64),
        pub(crate) resume: (u64, u64),
        pub(crate) stages: Vec<StageDirectory>,
    }
}

pub(crate) struct FileWriter<S> {
    sink: S,
    hasher: XxHash3_64,
    len: u64,
}

impl<S: Sink> FileWriter<S> {
    pub(crate) fn new(sink: S) -> std::io::Result<Self> {
        let mut writer = FileWriter { sink, hasher: XxHash3_64::with_seed(0), len: 0 };
        let mut header = MAGIC.to_vec();
        FORMAT.put(&mut header);
        header.resize(HEADER as usize, 0);
        writer.append(&header)?;
        Ok(writer)
    }

    fn append(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.hasher.write(bytes);
        self.len += bytes.len() as u64;
        self.sink.append(bytes)
    }

    pub(crate) fn append_chunks(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.append(bytes)
    }

    /// Length of the chunk area so far.
    pub(crate) fn chunks_len(&self) -> u64 {
        self.len - HEADER
    }

    fn section(&mut self, bytes: &[u8]) -> std::io::Result<(u64, u64)> {
        let at = self.len;
        self.append(bytes)?;
        Ok((at, bytes.len() as u64))
    }

    pub(crate) fn finish(
        mut self,
        texts: &TextPool,
        tables: &Tables,
        stages: &[StageTasks],
        running: &[(StageAttemptId, TaskRow)],
        resume: &[u8],
    ) -> std::io::Result<S> {
        let mut directory =
            Directory { chunks: (HEADER, self.chunks_len()), ..Directory::default() };
        let mut bytes = Vec::new();
        tables.put(&mut bytes);
        directory.tables = self.section(&bytes)?;
        bytes.clear();
        texts.write(&mut bytes);
        directory.texts = self.section(&bytes)?;
        bytes.clear();
        (running.len() as u32).put(&mut bytes);
        for (id, row) in running {
            id.put(&mut bytes);
            row.put(&mut bytes);
        }
        directory.running = self.section(&bytes)?;
        directory.resume = self.section(resume)?;
        directory.stages = stages
            .iter()
            .map(|stage| StageDirectory {
                id: stage.id,
                metrics_seen: stage.metrics_seen,
                n_rows: stage.n_rows,
                chunks: stage.chunks.clone(),
            })
            .collect();
        bytes.clear();
        directory.put(&mut bytes);
        let (_, len) = self.section(&bytes)?;
        let mut footer = Vec::new();
        len.put(&mut footer);
        self.append(&footer)?;
        let sum = self.hasher.finish();
        sum.put(&mut footer);
        footer.extend_from_slice(MAGIC);
        self.sink.append(&footer[8..])?;
        Ok(self.sink)
    }
}

/// The directory of a whole and intact file; `None` for anything else: another format, a torn or altered file.
pub(crate) fn open(bytes: &[u8]) -> Option<Directory> {
    let header = bytes.get(..HEADER as usize)?;
    if &header[..8] != MAGIC || header[8..12] != FORMAT.to_le_bytes() {
        return None;
    }
    let footer_at = bytes.len().checked_sub(FOOTER)?;
    let mut footer = Reader::new(&bytes[footer_at..]);
    let (len, sum) = (u64::get(&mut footer)?, u64::get(&mut footer)?);
    if footer.take(8)? != MAGIC || XxHash3_64::oneshot(&bytes[..footer_at + 8]) != sum {
        return None;
    }
    let at = footer_at.checked_sub(usize::try_from(len).ok()?)?;
    let mut reader = Reader::new(&bytes[at..footer_at]);
    let directory = Directory::get(&mut reader)?;
    reader.is_empty().then_some(directory)
}

/// The bytes of a section, if they are there.
pub(crate) fn part(bytes: &[u8], (at, len): (u64, u64)) -> Option<&[u8]> {
    bytes.get(usize::try_from(at).ok()?..usize::try_from(at.checked_add(len)?).ok()?)
}
