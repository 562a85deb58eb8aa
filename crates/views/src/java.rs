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

/// How `scala.collection.Hashing` mixes a hash.
fn improved(hash: u32) -> u32 {
    let mut mixed = hash.wrapping_add(!(hash << 9));
    mixed ^= mixed >> 14;
    mixed = mixed.wrapping_add(mixed << 4);
    mixed ^ (mixed >> 10)
}

/// Scala's immutable sets and maps keep the order in which so many elements came.
pub(crate) const SMALL_SET_MAX: usize = 4;

/// Sorts elements as a Scala `immutable.HashSet` or `HashMap` of ints goes through them; up to [`SMALL_SET_MAX`] stay as
/// they came.
pub(crate) fn sort_as_hash_trie<T>(elements: &mut [T], id: impl Fn(&T) -> i32) {
    if elements.len() <= SMALL_SET_MAX {
        return;
    }
    // a path of five bits a level, from the lowest; what is alone at a level comes before what has to go deeper
    let path = |id: i32| (improved(id as u32), id);
    let mut paths: Vec<u32> = elements.iter().map(|e| path(id(e)).0).collect();
    paths.sort_unstable_by_key(|path| path.reverse_bits());
    let shared_bits = |a: u32, b: u32| (a ^ b).trailing_zeros();
    let mut depths: hashbrown::HashMap<u32, u32> = hashbrown::HashMap::new();
    for (at, path) in paths.iter().enumerate() {
        let before = at.checked_sub(1).map_or(0, |b| shared_bits(paths[b], *path));
        let after = paths.get(at + 1).map_or(0, |a| shared_bits(*a, *path));
        depths.insert(*path, before.max(after).min(31) / 5);
    }
    elements.sort_by_cached_key(|element| {
        let (path, id) = path(id(element));
        let depth = depths.get(&path).copied().unwrap_or(0);
        let levels = (0..=depth).map(|level| (level < depth, path >> (5 * level) & 31));
        (levels.collect::<Vec<_>>(), id)
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
    fn tries_put_what_is_alone_first() {
        // as the server gives the jobs of an execution
        let mut ids = [18, 19, 20, 21, 22];
        sort_as_hash_trie(&mut ids, |id| *id);
        assert_eq!(ids, [20, 21, 22, 18, 19]);
        let mut few = [9, 1, 5];
        sort_as_hash_trie(&mut few, |id| *id);
        assert_eq!(few, [9, 1, 5]);
    }

    #[test]
    fn small_tables_keep_digits_in_order() {
        let mut ids = ["driver", "9", "0", "10", "1"];
        sort_as_hash_map(&mut ids, 5, |id| id);
        assert_eq!(ids, ["0", "1", "driver", "9", "10"]);
    }
}
