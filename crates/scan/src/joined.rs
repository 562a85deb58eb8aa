//! Runs of frames that were unpacked side by side become one text again.

use std::sync::Arc;

use crate::blocks::Block;
use crate::buffers::Buffers;
use crate::codec::Codec;
use crate::damage::DamageKind;
use crate::frames::{InOrder, Unpacked};
use crate::layer::Border;
use crate::limits::{FRONT_BYTES, PADDING_BYTES};
use crate::reading::Reading;
use crate::{Damage, HEAD_BYTES};

/// A half line that is longer is read on in order: else it would be moved again and again.
const HALF_LINE_BLOCKS_MAX: usize = 4;

/// A run in its place: `bytes[at..end]` is text that is in no block yet.
pub(crate) struct Joined {
    #[expect(clippy::rc_buffer, reason = "the vector comes back to be filled again")]
    bytes: Arc<Vec<u8>>,
    at: usize,
    end: usize,
    /// Decoded offset of `bytes[at]`.
    offset: u64,
    /// Behind it.
    to: InOrder,
    ends_part: bool,
    failed: bool,
}

impl Reading {
    /// Runs come in any order, each once.
    pub(crate) fn hand_in(&mut self, n: u64, unpacked: Unpacked) {
        self.n_handed_in += 1;
        if self.in_order.is_none() && !self.is_lost {
            self.unpacked.insert(n, unpacked);
        }
    }

    pub(crate) fn lose_run(&mut self) {
        self.n_handed_in += 1;
        self.is_lost = true;
        self.unpacked.clear();
    }

    /// The next block of the runs that were handed in.
    pub(crate) fn next_unpacked(&mut self, buffers: &Buffers) -> Option<Block> {
        while let Some(mut run) = self.joined.take().or_else(|| self.join(buffers)) {
            let text = &run.bytes[run.at..run.end];
            let is_all = run.ends_part && !run.failed;
            match self.limits.cut(text, 0, is_all) {
                Some(bytes) if self.limits.too_long(bytes) => {
                    self.damage.push(Damage {
                        kind: DamageKind::LineTooLong,
                        offset: run.offset,
                        stored_offset: run.to.stored_offset,
                        bytes: Some(bytes as u64),
                    });
                    run.skip(bytes);
                    self.joined = Some(run);
                }
                Some(bytes) => {
                    let mut block = self.block_of(&run, bytes);
                    run.skip(bytes);
                    if run.at < run.end {
                        self.joined = Some(run);
                    } else if is_all {
                        block.ends_part = true;
                        self.begin(0);
                    } else {
                        self.leave(&run, buffers);
                    }
                    return Some(block);
                }
                None => self.leave(&run, buffers),
            }
        }
        None
    }

    fn block_of(&mut self, run: &Joined, bytes: usize) -> Block {
        let seq = self.seq;
        self.seq += 1;
        Block {
            seq,
            part: run.to.part,
            offset: run.offset,
            bytes: Arc::clone(&run.bytes),
            range: run.at..run.at + bytes,
            of_run: true,
            damage: std::mem::take(&mut self.damage),
            ..Block::default()
        }
    }

    /// Puts what is left of the text before in front of the next run's.
    fn join(&mut self, buffers: &Buffers) -> Option<Joined> {
        let mut next = self.unpacked.remove(&self.next_run)?;
        self.next_run += 1;
        let text = &next.bytes[next.begin..next.end];
        let before = if next.from.begins_at.is_some() { 0 } else { self.buf.filled };
        let offset = next.from.begins_at.unwrap_or(self.buf.offset);
        let decoded = offset + (before + text.len()) as u64;
        // A codec within the codec, or what could be one.
        let head = &text[..text.len().min(HEAD_BYTES)];
        let nested = next.from.begins_at.is_some()
            && next.from.stored_offset == 0
            && (Codec::detect(head) != Codec::Plain || head.len() < HEAD_BYTES && !next.ends_part);
        if nested || self.limits.expands_too_much(next.to.stored_offset, decoded) {
            self.go_on_in_order(next.from);
            return None;
        }
        if before > next.begin {
            next.move_back(before - next.begin);
        }
        if let Some(offset) = next.from.begins_at {
            self.begin(offset);
        }
        next.begin -= before;
        next.bytes[next.begin..next.begin + before].copy_from_slice(&self.buf.bytes[..before]);
        let text_begin = next.begin + before;
        let borders = &mut self.see(next.from.part).borders;
        for (input, at) in next.borders {
            let decoded = offset + (before + at - text_begin) as u64;
            borders.push(Border { input, decoded });
        }
        self.buf.filled = 0;
        self.buf.scanned = 0;
        buffers.give_back_block(std::mem::take(&mut self.buf.bytes));
        Some(Joined {
            bytes: Arc::new(next.bytes),
            at: next.begin,
            end: next.end,
            offset,
            to: next.to,
            ends_part: next.ends_part,
            failed: next.failed,
        })
    }

    /// Keeps the half line at the end of a run.
    fn leave(&mut self, run: &Joined, buffers: &Buffers) {
        let rest = &run.bytes[run.at..run.end];
        self.buf.offset = run.offset;
        self.buf.filled = rest.len();
        self.buf.scanned = rest.len();
        if !rest.is_empty() {
            self.buf.bytes = buffers.for_block(rest.len().max(self.buffer_bytes()));
            self.buf.bytes[..rest.len()].copy_from_slice(rest);
        }
        let rest_max = self.limits.block_bytes.saturating_mul(HALF_LINE_BLOCKS_MAX);
        if run.failed || rest.len() > rest_max {
            self.go_on_in_order(run.to);
        }
    }

    fn go_on_in_order(&mut self, from: InOrder) {
        self.unpacked.clear();
        self.in_order = Some(from);
    }
}

impl Joined {
    fn skip(&mut self, bytes: usize) {
        self.at += bytes;
        self.offset += bytes as u64;
    }
}

impl Unpacked {
    /// Makes more room in front.
    fn move_back(&mut self, bytes: usize) {
        let behind = self.end + bytes + FRONT_BYTES + PADDING_BYTES;
        self.bytes.resize(self.bytes.len().max(behind), 0);
        self.bytes.copy_within(self.begin..self.end, self.begin + bytes);
        self.begin += bytes;
        self.end += bytes;
        for border in &mut self.borders {
            border.1 += bytes;
        }
    }
}
