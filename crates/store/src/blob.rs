//! Long values that are seldom looked at (plans, progress reports): written out at once and named by where they are.

use crate::record;

record! {
    /// Where a value lies in the chunk area.
    pub struct Blob {
        pub at: u64,
        pub len: u64,
    }
}

/// Blobs that were named and wait to be written.
#[derive(Default)]
pub struct Blobs {
    /// Where the first waiting byte will lie.
    from: u64,
    waiting: Vec<u8>,
}

impl Blobs {
    pub(crate) fn begin_at(&mut self, from: u64) {
        debug_assert!(self.waiting.is_empty(), "blobs are written before the area grows otherwise");
        self.from = from;
    }

    pub fn put(&mut self, bytes: &[u8]) -> Blob {
        let at = self.from + self.waiting.len() as u64;
        self.waiting.extend_from_slice(bytes);
        Blob { at, len: bytes.len() as u64 }
    }

    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.waiting)
    }
}
