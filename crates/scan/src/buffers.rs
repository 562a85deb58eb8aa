//! Buffers that are filled again and again.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::limits::PADDING_BYTES;

/// For text read in order.
const BLOCK_BUFFERS_MAX: usize = 32;
/// For runs of frames; these are large.
const RUN_BUFFERS_MAX: usize = 4;
/// A run of less comes from a short log, or is its first.
const RUN_BYTES_MIN: usize = 2 << 20;

/// Used buffers. What they hold is of no meaning.
#[derive(Default)]
pub(crate) struct Buffers {
    blocks: Mutex<Vec<Vec<u8>>>,
    runs: Mutex<Vec<Vec<u8>>>,
    /// How long a block's buffer is, padding included.
    block_bytes: usize,
}

/// A panic in here is a bug that ends one request; the other threads read on.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Buffers {
    pub(crate) fn new(block_bytes: usize) -> Buffers {
        Buffers { block_bytes: block_bytes + PADDING_BYTES, ..Buffers::default() }
    }

    /// `len` bytes, with padding behind. A buffer that comes back is as long as its content was,
    /// so only its last few bytes need filling.
    pub(crate) fn for_block(&self, len: usize) -> Vec<u8> {
        let mut bytes = locked(&self.blocks).pop().unwrap_or_default();
        if bytes.capacity() < len + PADDING_BYTES {
            bytes = vec![0; len + PADDING_BYTES];
        }
        bytes.resize(len, 0);
        bytes
    }

    /// `len` bytes or more. What is not touched of them costs no memory.
    pub(crate) fn for_run(&self, len: usize) -> Vec<u8> {
        let spare = locked(&self.runs).pop().unwrap_or_default();
        if spare.len() >= len {
            return spare;
        }
        // in large steps, so that the next one fits too
        vec![0; if len < RUN_BYTES_MIN { len } else { len.next_power_of_two() }]
    }

    pub(crate) fn give_back_block(&self, bytes: Vec<u8>) {
        // One that grew for a long line is not kept, nor one that could not be used.
        if (self.block_bytes..=2 * self.block_bytes).contains(&bytes.capacity()) {
            let mut spare = locked(&self.blocks);
            if spare.len() < BLOCK_BUFFERS_MAX {
                spare.push(bytes);
            }
        }
    }

    pub(crate) fn give_back_run(&self, bytes: Vec<u8>) {
        let mut spare = locked(&self.runs);
        if spare.len() < RUN_BUFFERS_MAX {
            spare.push(bytes);
        }
    }
}
