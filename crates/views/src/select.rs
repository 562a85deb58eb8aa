//! Values at some ranks of many, without sorting them all.

/// Buckets that values are counted into: their counts fit a core's first-level cache.
const BUCKET_BITS: u32 = 12;
const N_BUCKETS: usize = 1 << BUCKET_BITS;

/// The values that would stand at `ranks` (each below `values.len()`) if the values were sorted. Goes through them three
/// times, and again through those near a rank where many are.
pub(crate) fn at_ranks(values: &[i64], ranks: &[usize]) -> Vec<i64> {
    let Some((low, high)) = extremes(values) else { return Vec::new() };
    let span = high.wrapping_sub(low) as u64;
    if span == 0 {
        return vec![low; ranks.len()];
    }
    if values.len() < N_BUCKETS {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        return ranks.iter().map(|rank| sorted[*rank]).collect();
    }
    let shift = (u64::BITS - span.leading_zeros()).saturating_sub(BUCKET_BITS);
    let bucket_of = |value: i64| (value.wrapping_sub(low) as u64 >> shift) as usize % N_BUCKETS;
    let mut n_before = vec![0_usize; N_BUCKETS + 1];
    for value in values {
        n_before[bucket_of(*value) + 1] += 1;
    }
    for at in 0..N_BUCKETS {
        n_before[at + 1] += n_before[at];
    }
    // buckets that hold a rank
    let bucket_at = |rank: usize| n_before.partition_point(|n| *n <= rank) - 1;
    let mut opened: Vec<usize> = ranks.iter().map(|rank| bucket_at(*rank)).collect();
    opened.sort_unstable();
    opened.dedup();
    let mut slots = vec![usize::MAX; N_BUCKETS];
    let mut within: Vec<Vec<i64>> = Vec::with_capacity(opened.len());
    for (slot, bucket) in opened.iter().enumerate() {
        slots[*bucket] = slot;
        within.push(Vec::with_capacity(n_before[bucket + 1] - n_before[*bucket]));
    }
    for value in values {
        if let Some(within) = within.get_mut(slots[bucket_of(*value)]) {
            within.push(*value);
        }
    }
    let mut found = vec![low; ranks.len()];
    for (bucket, within) in opened.iter().zip(&within) {
        let of = |rank: usize| rank.checked_sub(n_before[*bucket]).filter(|r| *r < within.len());
        let (places, inner): (Vec<usize>, Vec<usize>) =
            ranks.iter().enumerate().filter_map(|(at, rank)| Some((at, of(*rank)?))).unzip();
        for (at, value) in places.into_iter().zip(at_ranks(within, &inner)) {
            found[at] = value;
        }
    }
    found
}

fn extremes(values: &[i64]) -> Option<(i64, i64)> {
    let first = *values.first()?;
    Some(
        values
            .iter()
            .fold((first, first), |(low, high), value| (low.min(*value), high.max(*value))),
    )
}

#[cfg(test)]
mod tests {
    use super::at_ranks;

    #[test]
    fn ranks_are_those_of_a_sorted_list() {
        for (n, spread) in [(1, 1), (10, 5), (50_000, 3), (50_000, 1 << 40), (50_000, u64::MAX)] {
            let mut state = 88_172_645_463_325_252_u64;
            let mut values: Vec<i64> = Vec::new();
            for _ in 0..n {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                values.push((state % spread) as i64);
            }
            let ranks = [0, n / 20, n / 4, n / 2, n / 4 * 3, n - 1];
            let picked = at_ranks(&values, &ranks);
            values.sort_unstable();
            assert_eq!(picked, ranks.map(|rank| values[rank]));
        }
    }
}
