//! Places where decoding of a part can begin again, few enough to keep.

use crate::layer::Border;

const KEPT_MAX: usize = 1024;

/// All of the last borders, and ever fewer of those further back.
#[derive(Debug, Default)]
pub(crate) struct Borders(Vec<Border>);

impl Borders {
    pub(crate) fn push(&mut self, border: Border) {
        if self.0.last() == Some(&border) {
            return;
        }
        if self.0.len() == KEPT_MAX {
            let mut at = 0;
            self.0.retain(|_| {
                at += 1;
                at > KEPT_MAX / 2 || at % 2 == 1
            });
        }
        self.0.push(border);
    }

    /// The last border at or before a decoded offset.
    pub(crate) fn before(&self, decoded: u64) -> Option<Border> {
        let after = self.0.partition_point(|border| border.decoded <= decoded);
        after.checked_sub(1).map(|at| self.0[at])
    }
}
