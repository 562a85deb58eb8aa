//! Decoding as a chain of layers: stored bytes below, the log's text on top.

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::damage::DamageKind;
use crate::limits::HOLES_MAX;
use crate::{Error, Limits, Part};

/// What one call of [`Layer::read`] came to.
pub(crate) enum Got {
    /// So many bytes (never 0) were written to the front of the buffer.
    Bytes(usize),
    /// Something is missing here. Reading on yields what follows it, possibly just the end.
    Hole(Hole),
    End,
}

/// [`crate::Damage`] as far as a layer knows it.
#[derive(Debug, Clone)]
pub(crate) struct Hole {
    pub(crate) kind: DamageKind,
    pub(crate) stored_offset: u64,
    pub(crate) bytes: Option<u64>,
}

/// A place where decoding can begin anew: `input` bytes in, `decoded` bytes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Border {
    pub(crate) input: u64,
    pub(crate) decoded: u64,
}

pub(crate) trait Layer: Send {
    /// `to` is never empty. Passes at most one border a call.
    fn read(&mut self, to: &mut [u8]) -> Result<Got, Error>;
    /// Position in the stored file, for messages.
    fn stored_offset(&self) -> u64;
    /// The last border passed, counted from where this layer began.
    fn border(&self) -> Border;
}

/// The lowest layer: bytes as they are stored.
pub(crate) struct Stored {
    reader: Box<dyn Read + Send>,
    location: PathBuf,
    limits: Limits,
    size_bytes: u64,
    readable_bytes: u64,
    begin: u64,
    read_bytes: u64,
    ended: bool,
    /// What this opening has taken, shared with the layers above.
    taken: Arc<AtomicU64>,
    /// Over all parts, for progress.
    progress: Arc<AtomicU64>,
}

impl Stored {
    pub(crate) fn open(
        part: &dyn Part,
        from_byte: u64,
        limits: Limits,
        progress: Arc<AtomicU64>,
    ) -> Result<Stored, Error> {
        Ok(Stored {
            reader: part.open(from_byte)?,
            location: part.location(),
            limits,
            size_bytes: part.size_bytes(),
            readable_bytes: part.readable_bytes(),
            begin: from_byte,
            read_bytes: 0,
            ended: false,
            taken: Arc::default(),
            progress,
        })
    }

    pub(crate) fn taken(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.taken)
    }

    /// What reading on is expected to yield.
    pub(crate) fn left_bytes(&self) -> u64 {
        self.readable_bytes.saturating_sub(self.begin + self.read_bytes)
    }

    fn count(&mut self, bytes: usize) {
        let before = self.as_stored(self.read_bytes);
        self.read_bytes += bytes as u64;
        let after = self.as_stored(self.read_bytes);
        self.progress.fetch_add(after - before, Ordering::Relaxed);
        // Where opening a part unpacks it, `read_bytes` is more than was stored.
        self.taken.store((self.begin + self.read_bytes).min(self.size_bytes), Ordering::Relaxed);
    }

    fn as_stored(&self, read_bytes: u64) -> u64 {
        if self.readable_bytes == self.size_bytes {
            return read_bytes;
        }
        let scaled = u128::from(read_bytes) * u128::from(self.size_bytes)
            / u128::from(self.readable_bytes.max(1));
        u64::try_from(scaled).unwrap_or(u64::MAX).min(self.size_bytes)
    }

    fn hole(&mut self, kind: DamageKind) -> Got {
        self.ended = true;
        Got::Hole(Hole { kind, stored_offset: self.stored_offset(), bytes: None })
    }
}

impl Layer for Stored {
    fn read(&mut self, to: &mut [u8]) -> Result<Got, Error> {
        if self.ended {
            return Ok(Got::End);
        }
        loop {
            return match self.reader.read(to) {
                Ok(0) => {
                    self.ended = true;
                    Ok(Got::End)
                }
                Ok(bytes) => {
                    self.count(bytes);
                    if self.limits.expands_too_much(self.size_bytes, self.read_bytes) {
                        return Ok(self.hole(DamageKind::Expansion));
                    }
                    Ok(Got::Bytes(bytes))
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => continue,
                    io::ErrorKind::InvalidData => Ok(self.hole(DamageKind::Corrupt)),
                    io::ErrorKind::UnexpectedEof => Ok(self.hole(DamageKind::CutShort)),
                    io::ErrorKind::Unsupported => Ok(self.hole(DamageKind::UnknownCodec)),
                    _ => Err(Error::Read { path: self.location.clone(), source: error }),
                },
            };
        }
    }

    fn stored_offset(&self) -> u64 {
        self.begin + self.read_bytes
    }

    fn border(&self) -> Border {
        Border { input: self.read_bytes, decoded: self.read_bytes }
    }
}

/// Ends a layer that yields too much for what was taken from the file, or too many holes.
pub(crate) struct Metered {
    layer: Box<dyn Layer>,
    taken: Arc<AtomicU64>,
    limits: Limits,
    decoded: u64,
    holes: u32,
    ended: bool,
}

impl Metered {
    /// `decoded` bytes came out of what precedes.
    pub(crate) fn new(
        layer: Box<dyn Layer>,
        taken: Arc<AtomicU64>,
        limits: Limits,
        decoded: u64,
    ) -> Metered {
        Metered { layer, taken, limits, decoded, holes: 0, ended: false }
    }
}

impl Layer for Metered {
    fn read(&mut self, to: &mut [u8]) -> Result<Got, Error> {
        if self.ended {
            return Ok(Got::End);
        }
        let got = self.layer.read(to)?;
        if let Got::Bytes(bytes) = got {
            self.decoded += bytes as u64;
            let stored = self.taken.load(Ordering::Relaxed);
            if self.limits.expands_too_much(stored, self.decoded) {
                self.ended = true;
                let stored_offset = self.layer.stored_offset();
                let hole = Hole { kind: DamageKind::Expansion, stored_offset, bytes: None };
                return Ok(Got::Hole(hole));
            }
        }
        if let Got::Hole(_) = got {
            self.holes += 1;
            self.ended = self.holes == HOLES_MAX;
        }
        Ok(got)
    }

    fn stored_offset(&self) -> u64 {
        self.layer.stored_offset()
    }

    fn border(&self) -> Border {
        self.layer.border()
    }
}
