//! Codecs that are a row of self-contained pieces, each behind a short header that tells its
//! length: `LZ4Block`, snappy-java, LZF.

use crate::Error;
use crate::damage::DamageKind;
use crate::input::Input;
use crate::layer::{Border, Got, Hole, Layer};
use crate::limits::{PIECE_BYTES_MAX, WASTED_BYTES_MAX};

pub(crate) trait Framing: Send {
    /// What [`Framing::header`] wants to see.
    const HEADER_BYTES: usize;
    /// How a place to go on after damage begins …
    const MAGIC: &[u8];
    /// … and how much is looked at there to believe it.
    const LOOK_BYTES: usize;

    /// `head` is shorter than `HEADER_BYTES` only at the end of the input.
    fn header(head: &[u8]) -> Header;
    /// `to` is as long as the piece says; false when the piece is damaged.
    fn unpack(&mut self, piece: &Piece, packed: &[u8], to: &mut [u8]) -> bool;
}

pub(crate) enum Header {
    Piece(Piece),
    /// So many bytes that hold no text: a stream's header or end mark.
    Nothing(usize),
    Short,
    Bad,
}

#[derive(Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) header_bytes: usize,
    pub(crate) packed_bytes: usize,
    pub(crate) plain_bytes: usize,
    pub(crate) packing: Packing,
    pub(crate) checksum: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Raw,
    Packed,
}

impl Piece {
    /// Checks the lengths before anybody allocates by them. `ratio` is the codec's own limit.
    pub(crate) fn checked(self, ratio: usize) -> Header {
        let Piece { packed_bytes, plain_bytes, .. } = self;
        let fits = match self.packing {
            Packing::Raw => packed_bytes == plain_bytes,
            Packing::Packed => plain_bytes / ratio <= packed_bytes,
        };
        if fits && packed_bytes <= PIECE_BYTES_MAX && plain_bytes <= PIECE_BYTES_MAX {
            Header::Piece(self)
        } else {
            Header::Bad
        }
    }
}

pub(crate) struct Pieces<F> {
    input: Input,
    framing: F,
    /// A piece that did not fit into the caller's buffer; `given` of it was passed on.
    held: Vec<u8>,
    given: usize,
    decoded: u64,
    border: Border,
    hole: Option<Hole>,
    wasted_bytes: u64,
}

impl<F: Framing> Pieces<F> {
    pub(crate) fn new(input: Input, framing: F) -> Pieces<F> {
        Pieces {
            input,
            framing,
            held: Vec::new(),
            given: 0,
            decoded: 0,
            border: Border { input: 0, decoded: 0 },
            hole: None,
            wasted_bytes: 0,
        }
    }

    fn give(&mut self, to: &mut [u8]) -> Got {
        let bytes = to.len().min(self.held.len() - self.given);
        to[..bytes].copy_from_slice(&self.held[self.given..self.given + bytes]);
        self.given += bytes;
        Got::Bytes(bytes)
    }

    /// `None` when there is nothing to give yet.
    fn piece(&mut self, piece: Piece, to: &mut [u8]) -> Result<Option<Got>, Error> {
        let Piece { header_bytes, packed_bytes, plain_bytes, .. } = piece;
        let whole = header_bytes + packed_bytes;
        if self.input.need(whole)?.len() < whole {
            self.damaged(DamageKind::CutShort, 1)?;
            return Ok(None);
        }
        let packed = &self.input.ahead()[header_bytes..whole];
        let at_once = plain_bytes <= to.len();
        let unpacked = if at_once {
            self.framing.unpack(&piece, packed, &mut to[..plain_bytes])
        } else {
            self.held.resize(plain_bytes, 0);
            self.given = 0;
            self.framing.unpack(&piece, packed, &mut self.held)
        };
        if !unpacked {
            self.held.clear();
            self.given = 0;
            self.wasted_bytes += (packed_bytes + plain_bytes) as u64;
            let skip = if self.continues_after(whole)? { whole } else { 1 };
            self.damaged(DamageKind::Corrupt, skip)?;
            return Ok(None);
        }
        self.border = Border { input: self.input.offset(), decoded: self.decoded };
        self.input.consume(whole);
        self.decoded += plain_bytes as u64;
        if plain_bytes == 0 {
            return Ok(None);
        }
        Ok(Some(if at_once { Got::Bytes(plain_bytes) } else { self.give(to) }))
    }

    fn continues_after(&mut self, bytes: usize) -> Result<bool, Error> {
        let next = &self.input.need(bytes + F::HEADER_BYTES)?[bytes..];
        Ok(next.is_empty() || !matches!(F::header(next), Header::Bad))
    }

    /// Reports what is damaged here and goes to the next place to read on: after `skip` bytes
    /// if that is a whole piece, or else where the magic comes again.
    fn damaged(&mut self, kind: DamageKind, skip: usize) -> Result<(), Error> {
        let at = self.input.offset();
        let stored_offset = self.input.stored_offset();
        let below = if kind == DamageKind::CutShort { self.input.take_hole() } else { None };
        self.input.consume(skip.min(self.input.ahead().len()));
        let found = skip > 1 || self.input.seek(F::MAGIC, F::LOOK_BYTES, believable::<F>)?;
        let bytes = Some(self.input.offset() - at);
        let kind = match kind {
            DamageKind::CutShort if found => DamageKind::Corrupt,
            kind => kind,
        };
        self.hole = Some(below.unwrap_or(Hole { kind, stored_offset, bytes }));
        Ok(())
    }
}

/// A header, with another or nothing behind its piece as far as that is in sight.
fn believable<F: Framing>(head: &[u8]) -> bool {
    let bytes = match F::header(head) {
        Header::Piece(piece) => piece.header_bytes + piece.packed_bytes,
        Header::Nothing(bytes) => bytes,
        Header::Short | Header::Bad => return false,
    };
    let next = head.get(bytes..).unwrap_or_default();
    next.is_empty() || !matches!(F::header(next), Header::Bad)
}

impl<F: Framing> Layer for Pieces<F> {
    fn read(&mut self, to: &mut [u8]) -> Result<Got, Error> {
        loop {
            if self.given < self.held.len() {
                return Ok(self.give(to));
            }
            if let Some(hole) = self.hole.take() {
                return Ok(Got::Hole(hole));
            }
            if self.wasted_bytes > WASTED_BYTES_MAX {
                return Ok(Got::End);
            }
            let head = self.input.need(F::HEADER_BYTES)?;
            if head.is_empty() {
                return Ok(self.input.take_hole().map_or(Got::End, Got::Hole));
            }
            match F::header(head) {
                Header::Nothing(bytes) => self.input.consume(bytes),
                Header::Short => self.damaged(DamageKind::CutShort, 1)?,
                Header::Bad => self.damaged(DamageKind::Corrupt, 1)?,
                Header::Piece(piece) => {
                    if let Some(got) = self.piece(piece, to)? {
                        return Ok(got);
                    }
                }
            }
        }
    }

    fn stored_offset(&self) -> u64 {
        self.input.stored_offset()
    }

    fn border(&self) -> Border {
        self.border
    }
}
