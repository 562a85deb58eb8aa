//! Interned text: every string of a store is kept once and named by a [`Text`].

use hashbrown::{DefaultHashBuilder, HashTable};
use std::{cmp::Ordering, hash::BuildHasher};

use crate::{Reader, Wire};

/// A handle to a string of one store. `Text::EMPTY` is the empty string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(pub u32);

impl Text {
    pub const EMPTY: Text = Text(0);

    /// As it is kept in a task column.
    pub fn to_column(self) -> i64 {
        i64::from(self.0)
    }

    /// From a task column; `None` for the −1 that stands for "none".
    pub fn from_column(value: i64) -> Option<Text> {
        u32::try_from(value).ok().map(Text)
    }
}

impl Wire for Text {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }
    fn get(from: &mut Reader<'_>) -> Option<Self> {
        u32::get(from).map(Text)
    }
}

/// `String.compareTo` of Java, in whose order Spark lists what is named by text: by UTF-16 units, so that characters
/// beyond the first 65,536 stand before some of those.
pub fn java_order(a: &str, b: &str) -> Ordering {
    if a.is_ascii() && b.is_ascii() { a.cmp(b) } else { a.encode_utf16().cmp(b.encode_utf16()) }
}

/// The growing pool of a store that is being built.
pub struct TextPool {
    bytes: Vec<u8>,
    /// End of each text in `bytes`.
    ends: Vec<u64>,
    by_content: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Default for TextPool {
    fn default() -> Self {
        // the empty text is number 0
        let mut pool = TextPool {
            bytes: Vec::new(),
            ends: Vec::new(),
            by_content: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
        };
        pool.intern("");
        pool
    }
}

impl TextPool {
    pub fn intern(&mut self, text: &str) -> Text {
        let hash = self.hasher.hash_one(text.as_bytes());
        let (bytes, ends) = (&self.bytes, &self.ends);
        let found = self.by_content.find(hash, |id| slice(bytes, ends, *id) == text.as_bytes());
        if let Some(id) = found {
            return Text(*id);
        }
        let id = self.ends.len() as u32;
        self.bytes.extend_from_slice(text.as_bytes());
        self.ends.push(self.bytes.len() as u64);
        let (bytes, ends, hasher) = (&self.bytes, &self.ends, &self.hasher);
        self.by_content.insert_unique(hash, id, |id| hasher.hash_one(slice(bytes, ends, *id)));
        Text(id)
    }

    pub fn get(&self, text: Text) -> &str {
        std::str::from_utf8(slice(&self.bytes, &self.ends, text.0)).unwrap_or_default()
    }

    pub fn size_bytes(&self) -> usize {
        self.bytes.len() + self.ends.len() * 20
    }

    /// Section form: number of texts, their ends, their bytes.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        (self.ends.len() as u64).put(out);
        for end in &self.ends {
            end.put(out);
        }
        out.extend_from_slice(&self.bytes);
    }

    /// The pool as it was when `section` was written.
    pub(crate) fn read(section: &[u8]) -> Option<TextPool> {
        let view = TextSection::open(section)?;
        let mut pool = TextPool::default();
        for id in 0..view.n {
            pool.intern(view.get(section, Text(id)));
        }
        (pool.ends.len() == view.n as usize).then_some(pool)
    }
}

fn slice<'a>(bytes: &'a [u8], ends: &[u64], id: u32) -> &'a [u8] {
    let id = id as usize;
    let from = if id == 0 { 0 } else { ends[id - 1] as usize };
    &bytes[from..ends[id] as usize]
}

/// Where the parts of a text section are; checked once at opening.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextSection {
    n: u32,
    bytes_at: usize,
}

impl TextSection {
    pub(crate) fn open(section: &[u8]) -> Option<TextSection> {
        let n = u64::get(&mut Reader::new(section))?;
        let n32 = u32::try_from(n).ok()?;
        let bytes_at = 8 + usize::try_from(n).ok()?.checked_mul(8)?;
        let bytes = section.get(bytes_at..)?;
        let mut before = 0;
        for end in section.get(8..bytes_at)?.chunks_exact(8) {
            let end = u64::from_le_bytes(end.try_into().ok()?);
            if end < before || end > bytes.len() as u64 {
                return None;
            }
            before = end;
        }
        (n32 > 0).then_some(TextSection { n: n32, bytes_at })
    }

    /// The text; empty when there is no such text or it is not UTF-8.
    pub(crate) fn get<'a>(&self, section: &'a [u8], text: Text) -> &'a str {
        if text.0 >= self.n {
            return "";
        }
        let end = |id: u32| {
            let at = 8 + id as usize * 8;
            u64::from_le_bytes(section[at..at + 8].try_into().unwrap_or_default()) as usize
        };
        let from = if text.0 == 0 { 0 } else { end(text.0 - 1) };
        let bytes = &section[self.bytes_at + from..self.bytes_at + end(text.0)];
        std::str::from_utf8(bytes).unwrap_or_default()
    }
}
