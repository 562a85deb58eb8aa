//! Gzip, of one member or of many.

use flate2::{Crc, Decompress, FlushDecompress, Status};

use crate::Error;
use crate::damage::DamageKind;
use crate::input::Input;
use crate::layer::{Border, Got, Hole, Layer};

const MAGIC: &[u8] = b"\x1f\x8b\x08";
const HEADER_BYTES: usize = 10;
/// With the name, the comment and the extra field of a member.
const HEADER_BYTES_MAX: usize = 256 << 10;

pub(crate) struct Gzip {
    input: Input,
    inflate: Decompress,
    crc: Crc,
    state: State,
    decoded: u64,
    border: Border,
    hole: Option<Hole>,
}

#[derive(Clone, Copy)]
enum State {
    BetweenMembers,
    Text,
    Trailer,
}

impl Gzip {
    pub(crate) fn new(input: Input) -> Gzip {
        Gzip {
            input,
            inflate: Decompress::new(false),
            crc: Crc::new(),
            state: State::BetweenMembers,
            decoded: 0,
            border: Border { input: 0, decoded: 0 },
            hole: None,
        }
    }

    fn member(&mut self) -> Result<Option<Got>, Error> {
        let offset = self.input.offset();
        let mut want = HEADER_BYTES;
        loop {
            let head = self.input.need(want)?;
            if head.is_empty() {
                return Ok(Some(self.input.take_hole().map_or(Got::End, Got::Hole)));
            }
            if head[0] == 0 {
                // Tapes and block devices pad with zeros.
                self.input.consume(1);
                return Ok(None);
            }
            let have = head.len();
            match header_bytes(head) {
                Some(bytes) => {
                    self.input.consume(bytes);
                    break;
                }
                None if !head.starts_with(&MAGIC[..have.min(3)]) || have > HEADER_BYTES_MAX => {
                    self.damaged(DamageKind::Corrupt)?;
                    return Ok(None);
                }
                None if have < want => {
                    self.damaged(DamageKind::CutShort)?;
                    return Ok(None);
                }
                None => want = have + 1,
            }
        }
        self.border = Border { input: offset, decoded: self.decoded };
        self.inflate.reset(false);
        self.crc.reset();
        self.state = State::Text;
        Ok(None)
    }

    fn text(&mut self, to: &mut [u8]) -> Result<Option<Got>, Error> {
        let (before_in, before_out) = (self.inflate.total_in(), self.inflate.total_out());
        let ahead = self.input.need(1)?;
        let at_end = ahead.is_empty();
        let status = self.inflate.decompress(ahead, to, FlushDecompress::None);
        // Counted whether or not the call failed: what came out before the damage is good.
        let bytes_in = (self.inflate.total_in() - before_in) as usize;
        let bytes_out = (self.inflate.total_out() - before_out) as usize;
        self.input.consume(bytes_in);
        self.crc.update(&to[..bytes_out]);
        self.decoded += bytes_out as u64;
        match status {
            Ok(Status::StreamEnd) => self.state = State::Trailer,
            Ok(_) if bytes_in > 0 || bytes_out > 0 => {}
            Ok(_) if at_end => self.damaged(DamageKind::CutShort)?,
            Ok(_) | Err(_) => self.damaged(DamageKind::Corrupt)?,
        }
        Ok((bytes_out > 0).then_some(Got::Bytes(bytes_out)))
    }

    fn trailer(&mut self) -> Result<(), Error> {
        let Some((crc, rest)) = self.input.need(8)?.split_first_chunk() else {
            return self.damaged(DamageKind::CutShort);
        };
        let Some((length, _)) = rest.split_first_chunk() else {
            return self.damaged(DamageKind::CutShort);
        };
        let good = u32::from_le_bytes(*crc) == self.crc.sum()
            && u32::from_le_bytes(*length) == self.crc.amount();
        if !good {
            return self.damaged(DamageKind::Corrupt);
        }
        self.input.consume(8);
        self.state = State::BetweenMembers;
        Ok(())
    }

    /// Reports what is damaged here and goes to the next member, if there is one.
    fn damaged(&mut self, kind: DamageKind) -> Result<(), Error> {
        let at = self.input.offset();
        let stored_offset = self.input.stored_offset();
        let below = if kind == DamageKind::CutShort { self.input.take_hole() } else { None };
        self.input.consume(self.input.ahead().len().min(1));
        self.input.seek(MAGIC, HEADER_BYTES, is_member)?;
        let lost = self.input.offset() - at;
        let bytes = (kind != DamageKind::CutShort).then_some(lost);
        self.hole = Some(below.unwrap_or(Hole { kind, stored_offset, bytes }));
        self.state = State::BetweenMembers;
        Ok(())
    }
}

impl Layer for Gzip {
    fn read(&mut self, to: &mut [u8]) -> Result<Got, Error> {
        loop {
            if let Some(hole) = self.hole.take() {
                return Ok(Got::Hole(hole));
            }
            let got = match self.state {
                State::BetweenMembers => self.member()?,
                State::Text => self.text(to)?,
                State::Trailer => {
                    self.trailer()?;
                    None
                }
            };
            if let Some(got) = got {
                return Ok(got);
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

/// Three bytes are weak evidence in compressed data: no reserved flag, a level and a system
/// that programs write.
fn is_member(head: &[u8]) -> bool {
    matches!(*head, [_, _, _, flags, _, _, _, _, 0 | 2 | 4, 0..=13 | 255, ..] if flags & 0xe0 == 0)
}

/// Length of the member header that is whole within `head` (RFC 1952).
fn header_bytes(head: &[u8]) -> Option<usize> {
    let &[0x1f, 0x8b, 8, flags, ..] = head else {
        return None;
    };
    let mut at = HEADER_BYTES;
    if flags & 4 != 0 {
        let length = head.get(at..at + 2)?;
        at += 2 + (usize::from(length[0]) | usize::from(length[1]) << 8);
    }
    for flag in [8, 16] {
        if flags & flag != 0 {
            at += memchr::memchr(0, head.get(at..)?)? + 1;
        }
    }
    if flags & 2 != 0 {
        at += 2;
    }
    (at <= head.len()).then_some(at)
}
