//! An order that is an accident of the JVM and that clients see: that of a hash table.

/// `String.hashCode`.
fn hash(text: &str) -> i32 {
    text.encode_utf16().fold(0, |hash: i32, unit| hash.wrapping_mul(31).wrapping_add(unit.into()))
}

/// No table grows beyond it.
const N_SLOTS_MAX: u64 = 1 << 30;

/// Sorts keys as a Scala `mutable.HashMap` goes through them that held `n_max` of them at the same time, at most.
pub(crate) fn sort_as_hash_map<T>(entries: &mut [T], n_max: u64, key: impl Fn(&T) -> &str) {
    let mut n_slots: u64 = 16;
    // it doubles before it is three quarters full, and never shrinks
    while n_slots < N_SLOTS_MAX && n_max >= n_slots / 4 * 3 {
        n_slots *= 2;
    }
    let mask = n_slots - 1;
    entries.sort_by_cached_key(|entry| {
        let hash = hash(key(entry));
        let mixed = hash ^ (hash as u32 >> 16) as i32;
        (u64::from(mixed as u32) & mask, mixed)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_javas() {
        assert_eq!(hash(""), 0);
        assert_eq!(hash("driver"), -1_323_526_104);
    }

    #[test]
    fn small_tables_keep_digits_in_order() {
        let mut ids = ["driver", "9", "0", "10", "1"];
        sort_as_hash_map(&mut ids, 5, |id| id);
        assert_eq!(ids, ["0", "1", "driver", "9", "10"]);
    }
}
