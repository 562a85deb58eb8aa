//! The byte form of the small tables: little-endian, lengths first, no padding, nothing optional but `Option`.
//!
//! Reading treats the bytes as hostile: every length is checked against what is left before anything is allocated,
//! and any doubt is `None`, upon which the whole cache file is rebuilt.

use std::collections::{BTreeMap, BTreeSet};

/// The unread rest of a section.
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    pub fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(n)?;
        self.rest = rest;
        Some(head)
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    fn count(&mut self) -> Option<usize> {
        let n = usize::try_from(u32::get(self)?).ok()?;
        // every element takes at least a byte
        (n <= self.rest.len()).then_some(n)
    }
}

/// A value that can be written to and read from bytes.
pub trait Wire: Sized {
    fn put(&self, out: &mut Vec<u8>);
    fn get(from: &mut Reader<'_>) -> Option<Self>;
}

macro_rules! wire_numbers {
    ($($t:ty),*) => { $(
        impl Wire for $t {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn get(from: &mut Reader<'_>) -> Option<Self> {
                Some(<$t>::from_le_bytes(from.take(size_of::<$t>())?.try_into().ok()?))
            }
        }
    )* };
}
wire_numbers!(u8, u16, u32, u64, i32, i64, f64);

impl Wire for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
    fn get(from: &mut Reader<'_>) -> Option<Self> {
        match from.take(1)?[0] {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Wire for String {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        out.extend_from_slice(self.as_bytes());
    }
    fn get(from: &mut Reader<'_>) -> Option<Self> {
        let n = from.count()?;
        String::from_utf8(from.take(n)?.to_vec()).ok()
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }
    fn get(from: &mut Reader<'_>) -> Option<Self> {
        Some(if bool::get(from)? { Some(T::get(from)?) } else { None })
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        for value in self {
            value.put(out);
        }
    }
    fn get(from: &mut Reader<'_>) -> Option<Self> {
        let n = from.count()?;
        let mut out = Vec::new();
        for _ in 0..n {
            out.push(T::get(from)?);
        }
        Some(out)
    }
}

impl<K: Wire + Ord, V: Wire> Wire for BTreeMap<K, V> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        for (key, value) in self {
            key.put(out);
            value.put(out);
        }
    }
    fn get(from: &mut Reader<'_>) -> Option<Self> {
        let n = from.count()?;
        let mut out = BTreeMap::new();
        for _ in 0..n {
            out.insert(K::get(from)?, V::get(from)?);
        }
        Some(out)
    }
}

impl<T: Wire + Ord> Wire for BTreeSet<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        for value in self {
            value.put(out);
        }
    }
    fn get(from: &mut Reader<'_>) -> Option<Self> {
        let n = from.count()?;
        let mut out = BTreeSet::new();
        for _ in 0..n {
            out.insert(T::get(from)?);
        }
        Some(out)
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }
    fn get(from: &mut Reader<'_>) -> Option<Self> {
        Some((A::get(from)?, B::get(from)?))
    }
}

impl<T: Wire + Copy + Default, const N: usize> Wire for [T; N] {
    fn put(&self, out: &mut Vec<u8>) {
        for value in self {
            value.put(out);
        }
    }
    fn get(from: &mut Reader<'_>) -> Option<Self> {
        let mut out = [T::default(); N];
        for value in &mut out {
            *value = T::get(from)?;
        }
        Some(out)
    }
}

impl<T: Wire> Wire for Box<T> {
    fn put(&self, out: &mut Vec<u8>) {
        T::put(self, out);
    }
    fn get(from: &mut Reader<'_>) -> Option<Self> {
        Some(Box::new(T::get(from)?))
    }
}

/// Declares plain structs that are [`Wire`], field after field.
#[macro_export]
macro_rules! record {
    ($( $(#[$meta:meta])* $vis:vis struct $name:ident { $( $(#[$fmeta:meta])* $fvis:vis $field:ident : $type:ty ),* $(,)? } )*) => { $(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        $vis struct $name { $( $(#[$fmeta])* $fvis $field: $type ),* }

        impl $crate::Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                $( self.$field.put(out); )*
            }
            fn get(from: &mut $crate::Reader<'_>) -> Option<Self> {
                Some($name { $( $field: <$type as $crate::Wire>::get(from)? ),* })
            }
        }
    )* };
}

/// Declares enums without fields that are [`Wire`] (one byte); the first variant is the default.
#[macro_export]
macro_rules! choices {
    ($( $(#[$meta:meta])* $vis:vis enum $name:ident { $(#[$dmeta:meta])* $default:ident $(, $(#[$vmeta:meta])* $variant:ident )* $(,)? } )*) => { $(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $name { #[default] $(#[$dmeta])* $default $(, $(#[$vmeta])* $variant )* }

        impl $name {
            pub const ALL: &'static [$name] = &[$name::$default $(, $name::$variant )*];
        }

        impl $crate::Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                out.push(*self as u8);
            }
            fn get(from: &mut $crate::Reader<'_>) -> Option<Self> {
                Self::ALL.get(usize::from(from.take(1)?[0])).copied()
            }
        }
    )* };
}

impl<K: Wire + Ord + std::hash::Hash, V: Wire> Wire for hashbrown::HashMap<K, V> {
    /// In key order, so that the same map gives the same bytes.
    fn put(&self, out: &mut Vec<u8>) {
        let mut entries: Vec<(&K, &V)> = self.iter().collect();
        entries.sort_by(|a, b| a.0.cmp(b.0));
        (entries.len() as u32).put(out);
        for (key, value) in entries {
            key.put(out);
            value.put(out);
        }
    }
    fn get(from: &mut Reader<'_>) -> Option<Self> {
        let n = from.count()?;
        let mut out = hashbrown::HashMap::new();
        for _ in 0..n {
            out.insert(K::get(from)?, V::get(from)?);
        }
        Some(out)
    }
}
