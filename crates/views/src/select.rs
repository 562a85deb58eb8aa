//! Values at some ranks of many, without sorting them all.

/// Buckets that values are counted into: their counts fit a core's second-level cache.
const N_BUCKETS: usize = 1 << 16;

/// The values that would stand at `ranks` (each below `values.len()`) if the values were sorted.
pub(crate) fn at_ranks(values: &[i64], ranks: &[usize]) -> Vec<i64> {
    let (Some(low), Some(high)) = (values.iter().min(), values.iter().max()) else {
        return Vec::new();
    };
    let (low, span) = (*low, high.wrapping_sub(*low) as u64);
    if span == 0 {
        return vec![low; ranks.len()];
    }
    if values.len() < N_BUCKETS / 8 {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        return ranks.iter().map(|rank| sorted[*rank]).collect();
    }
    let shift = (u64::BITS - span.leading_zeros()).saturating_sub(N_BUCKETS.ilog2());
    let bucket_of = |value: i64| (value.wrapping_sub(low) as u64 >> shift) as usize;
    let mut n_in = vec![0_usize; N_BUCKETS];
    for value in values {
        n_in[bucket_of(*value)] += 1;
    }
    let mut opened: Option<(usize, Vec<i64>)> = None;
    let mut at = |rank: usize| {
        let (mut bucket, mut before) = (0, 0);
        while before + n_in[bucket] <= rank {
            before += n_in[bucket];
            bucket += 1;
        }
        if opened.as_ref().is_none_or(|(known, _)| *known != bucket) {
            let mut within: Vec<i64> =
                values.iter().copied().filter(|value| bucket_of(*value) == bucket).collect();
            within.sort_unstable();
            opened = Some((bucket, within));
        }
        opened.as_ref().map_or(low, |(_, within)| within[rank - before])
    };
    ranks.iter().map(|rank| at(*rank)).collect()
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
