//! Counting what could not be used: one entry for each kind, file and detail, with the place of the first.

use std::collections::BTreeMap;

use store::{Gap, GapKind, Reader, Text, Wire};

/// Different details of one kind in one file that are told apart; the rest share one entry.
const DETAILS_MAX: usize = 64;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gaps {
    by_what: BTreeMap<(GapKind, Text, Text), Gap>,
}

impl Gaps {
    /// `bytes` were passed over at `offset` of `file`.
    pub(crate) fn add(&mut self, gap: Gap) {
        let mut key = (gap.kind, gap.file, gap.detail);
        let known = self.by_what.contains_key(&key);
        if !known && self.by_what.range((gap.kind, gap.file, Text(0))..).take_while(|(k, _)| k.0 == gap.kind && k.1 == gap.file).count() >= DETAILS_MAX {
            key.2 = Text::EMPTY;
        }
        let entry = self.by_what.entry(key).or_insert_with(|| Gap { n: 0, bytes: 0, detail: key.2, ..gap.clone() });
        entry.n += gap.n;
        entry.bytes += gap.bytes;
    }

    pub(crate) fn list(&self) -> Vec<Gap> {
        self.by_what.values().cloned().collect()
    }
}

impl Wire for Gaps {
    fn put(&self, out: &mut Vec<u8>) {
        self.list().put(out);
    }
    fn get(from: &mut Reader<'_>) -> Option<Self> {
        let list = Vec::<Gap>::get(from)?;
        Some(Gaps { by_what: list.into_iter().map(|g| ((g.kind, g.file, g.detail), g)).collect() })
    }
}
