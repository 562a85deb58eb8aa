//! A set of task indexes: bits for the usual ones, a tree for what a hostile log may say.

use std::collections::BTreeSet;
use store::record;

/// Indexes below this are bits (512 KiB at most).
const BITS_MAX: i64 = 1 << 22;

record! {
    pub(crate) struct IndexSet {
        bits: Vec<u64>,
        far: Far,
        n: i64,
    }
}

/// Indexes that are negative or very large.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Far(BTreeSet<i64>);

impl store::Wire for Far {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.iter().copied().collect::<Vec<i64>>().put(out);
    }
    fn get(from: &mut store::Reader<'_>) -> Option<Self> {
        Vec::<i64>::get(from).map(|v| Far(v.into_iter().collect()))
    }
}

impl IndexSet {
    pub(crate) fn insert(&mut self, index: i64) {
        if !(0..BITS_MAX).contains(&index) {
            self.n += i64::from(self.far.0.insert(index));
            return;
        }
        let (word, bit) = ((index / 64) as usize, 1u64 << (index % 64));
        if word >= self.bits.len() {
            self.bits.resize(word + 1, 0);
        }
        if self.bits[word] & bit == 0 {
            self.bits[word] |= bit;
            self.n += 1;
        }
    }

    pub(crate) fn len(&self) -> i64 {
        self.n
    }
}
