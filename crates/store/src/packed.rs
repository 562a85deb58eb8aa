//! A run of numbers as a base and equally wide differences from it (frame of reference): nothing for a constant run,
//! one to eight bytes a value otherwise, any value readable on its own.

/// Where a packed run lies and how to read it.
#[derive(Clone, Copy, Debug)]
pub struct Packed<'a> {
    base: i64,
    width: u8,
    bytes: &'a [u8],
}

/// Base and byte width (0, 1, 2, 4 or 8) that fit all values.
pub(crate) fn shape(values: impl Iterator<Item = i64>) -> (i64, u8) {
    let (mut low, mut high) = (i64::MAX, i64::MIN);
    for value in values {
        low = low.min(value);
        high = high.max(value);
    }
    if low > high {
        return (0, 0);
    }
    let width = match high.wrapping_sub(low) as u64 {
        0 => 0,
        1..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    };
    (low, width)
}

/// Appends the values in the given shape.
pub(crate) fn write(values: impl Iterator<Item = i64>, base: i64, width: u8, out: &mut Vec<u8>) {
    let differences = values.map(|v| v.wrapping_sub(base) as u64);
    match width {
        0 => {}
        1 => out.extend(differences.map(|d| d as u8)),
        2 => differences.for_each(|d| out.extend_from_slice(&(d as u16).to_le_bytes())),
        4 => differences.for_each(|d| out.extend_from_slice(&(d as u32).to_le_bytes())),
        _ => differences.for_each(|d| out.extend_from_slice(&d.to_le_bytes())),
    }
}

impl<'a> Packed<'a> {
    /// `None` when the width is impossible or the bytes are too few.
    pub(crate) fn open(
        base: i64,
        width: u8,
        n: usize,
        bytes: &'a [u8],
    ) -> Option<(Self, &'a [u8])> {
        if !matches!(width, 0 | 1 | 2 | 4 | 8) {
            return None;
        }
        let (bytes, rest) = bytes.split_at_checked(n.checked_mul(usize::from(width))?)?;
        Some((Packed { base, width, bytes }, rest))
    }

    /// The value at `i`; the base when there is none.
    pub fn get(&self, i: usize) -> i64 {
        let width = usize::from(self.width);
        let mut wide = [0; 8];
        if let Some(bytes) = self.bytes.get(i * width..i * width + width) {
            wide[..width].copy_from_slice(bytes);
        }
        self.base.wrapping_add(u64::from_le_bytes(wide) as i64)
    }

    /// Appends the `n` values to `out`.
    pub fn read(&self, n: usize, out: &mut Vec<i64>) {
        let base = self.base;
        match self.width {
            0 => out.resize(out.len() + n, base),
            1 => out.extend(self.bytes.iter().map(|b| base.wrapping_add(i64::from(*b)))),
            2 => out.extend(
                self.bytes
                    .chunks_exact(2)
                    .map(|b| base.wrapping_add(i64::from(u16::from_le_bytes([b[0], b[1]])))),
            ),
            4 => out.extend(self.bytes.chunks_exact(4).map(|b| {
                base.wrapping_add(i64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]])))
            })),
            _ => out.extend((0..n).map(|i| self.get(i))),
        }
    }
}
