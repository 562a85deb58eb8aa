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
    pub(crate) fn add(&mut self, gap: &Gap) {
        let &Gap { kind, file, mut detail, n, bytes, first_offset } = gap;
        let told_apart = self.by_what.range((kind, file, Text(0))..=(kind, file, Text(u32::MAX)));
        if !self.by_what.contains_key(&(kind, file, detail)) && told_apart.count() >= DETAILS_MAX {
            detail = Text::EMPTY;
        }
        let entry = self.by_what.entry((kind, file, detail)).or_insert(Gap {
            kind,
            file,
            detail,
            n: 0,
            bytes: 0,
            first_offset,
        });
        entry.n += n;
        entry.bytes += bytes;
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
