//! Small encoders, and a part in memory.

use std::io::{self, Read, Write};
use std::sync::Arc;

use scan::{Block, Blocks, Damage, Error, Limits, Part, Start};

/// Bytes as stored, and which of them hold what.
pub(crate) struct Encoded {
    pub(crate) bytes: Vec<u8>,
    /// Ends of self-contained pieces: (stored, decoded), first (0 or the header's end, 0).
    pub(crate) pieces: Vec<(usize, usize)>,
}

pub(crate) type Encode = fn(&[u8], usize) -> Encoded;

pub(crate) const CODECS: [(&str, Encode); 7] = [
    ("plain", plain),
    ("zstd frames", zstd_frames),
    ("zstd blocks", zstd_blocks),
    ("lz4", lz4),
    ("snappy", snappy),
    ("lzf", lzf),
    ("gzip", gzip),
];

fn pieces(
    text: &[u8],
    piece_bytes: usize,
    header: &[u8],
    mut add: impl FnMut(&mut Vec<u8>, &[u8]),
) -> Encoded {
    let mut bytes = header.to_vec();
    let mut pieces = vec![(bytes.len(), 0)];
    let mut decoded = 0;
    for piece in text.chunks(piece_bytes) {
        add(&mut bytes, piece);
        decoded += piece.len();
        pieces.push((bytes.len(), decoded));
    }
    Encoded { bytes, pieces }
}

pub(crate) fn plain(text: &[u8], piece_bytes: usize) -> Encoded {
    pieces(text, piece_bytes, b"", Vec::extend_from_slice)
}

/// As Spark 4.2 flushes: a frame ends with each flush.
pub(crate) fn zstd_frames(text: &[u8], piece_bytes: usize) -> Encoded {
    pieces(text, piece_bytes, b"", |to, piece| {
        to.extend(zstd::encode_all(piece, 3).unwrap());
    })
}

/// As older ones do: one frame with a checksum, and many blocks.
pub(crate) fn zstd_blocks(text: &[u8], piece_bytes: usize) -> Encoded {
    let mut to = zstd::Encoder::new(Vec::new(), 3).unwrap();
    to.include_checksum(true).unwrap();
    let mut pieces = vec![(0, 0)];
    let mut decoded = 0;
    for piece in text.chunks(piece_bytes) {
        to.write_all(piece).unwrap();
        to.flush().unwrap();
        decoded += piece.len();
        pieces.push((to.get_ref().len(), decoded));
    }
    Encoded { bytes: to.finish().unwrap(), pieces }
}

pub(crate) fn lz4(text: &[u8], piece_bytes: usize) -> Encoded {
    let mut encoded = pieces(text, piece_bytes, b"", |to, piece| {
        let packed = lz4_flex::block::compress(piece);
        let (token, packed) =
            if packed.len() < piece.len() { (0x25, &packed[..]) } else { (0x15, piece) };
        let sum = twox_hash::XxHash32::oneshot(0x9747_b28c, piece) & 0x0fff_ffff;
        to.extend(b"LZ4Block");
        to.push(token);
        to.extend((packed.len() as u32).to_le_bytes());
        to.extend((piece.len() as u32).to_le_bytes());
        to.extend(sum.to_le_bytes());
        to.extend(packed);
    });
    encoded.bytes.extend(b"LZ4Block\x15");
    encoded.bytes.extend([0; 12]);
    encoded
}

pub(crate) fn snappy(text: &[u8], piece_bytes: usize) -> Encoded {
    pieces(text, piece_bytes, b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01", |to, piece| {
        let packed = snap::raw::Encoder::new().compress_vec(piece).unwrap();
        to.extend((packed.len() as u32).to_be_bytes());
        to.extend(packed);
    })
}

/// Every third chunk is stored as it is.
pub(crate) fn lzf(text: &[u8], piece_bytes: usize) -> Encoded {
    let mut at = 0;
    pieces(text, piece_bytes.min(0xffff), b"", |to, piece| {
        at += 1;
        let packed = lzf_packed(piece);
        if at % 3 == 0 || packed.len() >= piece.len() {
            to.extend(b"ZV\0");
            to.extend((piece.len() as u16).to_be_bytes());
            to.extend(piece);
        } else {
            to.extend(b"ZV\x01");
            to.extend((packed.len() as u16).to_be_bytes());
            to.extend((piece.len() as u16).to_be_bytes());
            to.extend(packed);
        }
    })
}

fn lzf_packed(text: &[u8]) -> Vec<u8> {
    fn literals(to: &mut Vec<u8>, from: &[u8]) {
        for run in from.chunks(32) {
            to.push(run.len() as u8 - 1);
            to.extend(run);
        }
    }
    let mut to = Vec::new();
    let mut last_at = std::collections::BTreeMap::new();
    let (mut at, mut literal) = (0, 0);
    while at + 3 <= text.len() {
        let earlier = last_at.insert(&text[at..at + 3], at);
        let Some(earlier) = earlier.filter(|earlier| at - earlier <= 8192) else {
            at += 1;
            continue;
        };
        let same = text[at..].iter().zip(&text[earlier..]).take(264).take_while(|(a, b)| a == b);
        let bytes = same.count();
        literals(&mut to, &text[literal..at]);
        let distance = at - earlier - 1;
        let length = bytes - 2;
        to.push(((length.min(7) << 5) | (distance >> 8)) as u8);
        if length >= 7 {
            to.push((length - 7) as u8);
        }
        to.push((distance & 0xff) as u8);
        at += bytes;
        literal = at;
    }
    literals(&mut to, &text[literal..]);
    to
}

pub(crate) fn gzip(text: &[u8], piece_bytes: usize) -> Encoded {
    let mut to = flate2::GzBuilder::new()
        .filename("app-1")
        .comment("a log")
        .write(Vec::new(), flate2::Compression::default());
    let mut pieces = vec![(0, 0)];
    let mut decoded = 0;
    for piece in text.chunks(piece_bytes) {
        to.write_all(piece).unwrap();
        to.flush().unwrap();
        decoded += piece.len();
        pieces.push((to.get_ref().len(), decoded));
    }
    Encoded { bytes: to.finish().unwrap(), pieces }
}

/// Entries are (name, content, deflated); sizes stand behind the content where `streamed`.
pub(crate) fn zip(entries: &[(&str, &[u8], bool)], streamed: bool) -> Vec<u8> {
    let (mut to, mut list) = (Vec::new(), Vec::new());
    for (name, content, deflated) in entries {
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let packed = if *deflated { deflate(*content) } else { content.to_vec() };
        let numbers = [crc.sum(), packed.len() as u32, content.len() as u32];
        let offset = to.len() as u32;
        let flags = if streamed { 8_u16 } else { 0 };
        let mut common = Vec::new();
        common.extend(20_u16.to_le_bytes());
        common.extend(flags.to_le_bytes());
        common.extend((if *deflated { 8_u16 } else { 0 }).to_le_bytes());
        common.extend([0; 4]);
        let known = if streamed { [0; 3] } else { numbers };
        to.extend(b"PK\x03\x04");
        to.extend(&common);
        to.extend(known.iter().flat_map(|number| number.to_le_bytes()));
        to.extend((name.len() as u16).to_le_bytes());
        to.extend(4_u16.to_le_bytes());
        to.extend(name.as_bytes());
        to.extend([0xca, 0xfe, 0, 0]);
        to.extend(&packed);
        if streamed {
            to.extend(b"PK\x07\x08");
            to.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        }
        list.extend(b"PK\x01\x02\x14\0");
        list.extend(&common);
        list.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        list.extend((name.len() as u16).to_le_bytes());
        list.extend([0; 12]);
        list.extend(offset.to_le_bytes());
        list.extend(name.as_bytes());
    }
    let (offset, bytes, n) = (to.len() as u32, list.len() as u32, entries.len() as u16);
    to.extend(list);
    to.extend(b"PK\x05\x06\0\0\0\0");
    to.extend(n.to_le_bytes());
    to.extend(n.to_le_bytes());
    to.extend(bytes.to_le_bytes());
    to.extend(offset.to_le_bytes());
    to.extend([0; 2]);
    to
}

pub(crate) fn deflate(content: impl Read) -> Vec<u8> {
    let mut from = flate2::read::DeflateEncoder::new(content, flate2::Compression::default());
    let mut packed = Vec::new();
    from.read_to_end(&mut packed).unwrap();
    packed
}

pub(crate) struct InMemory {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

impl Part for InMemory {
    fn name(&self) -> &str {
        &self.name
    }

    fn size_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn open(&self, from_byte: u64) -> Result<Box<dyn Read + Send>, Error> {
        let from = self.bytes.len().min(from_byte as usize);
        Ok(Box::new(io::Cursor::new(self.bytes[from..].to_vec())))
    }
}

pub(crate) fn part(bytes: impl Into<Vec<u8>>) -> Arc<dyn Part> {
    Arc::new(InMemory { name: "log".into(), bytes: bytes.into() })
}

/// What a reading came to.
#[derive(Debug, Default)]
pub(crate) struct Came {
    pub(crate) text: Vec<u8>,
    pub(crate) damage: Vec<Damage>,
    pub(crate) blocks: usize,
    pub(crate) bytes_longest: usize,
}

pub(crate) fn limits(block_bytes: usize) -> Limits {
    Limits { block_bytes, ..Limits::default() }
}

/// Reads everything and checks what is promised of every block.
pub(crate) fn read(parts: Vec<Arc<dyn Part>>, start: Start, limits: Limits) -> Came {
    let n_parts = parts.len();
    let blocks = Blocks::new(parts, start, limits);
    let read = read_blocks(&blocks, start, limits);
    assert!(read.ended.iter().skip(start.part).take(n_parts).all(|&ended| ended));
    read.read
}

pub(crate) struct Checked {
    pub(crate) read: Came,
    ended: Vec<bool>,
}

pub(crate) fn read_blocks(blocks: &Blocks, start: Start, limits: Limits) -> Checked {
    let mut read = Came::default();
    let mut ended = vec![true; start.part];
    let (mut part, mut offset) = (start.part, start.skip_to);
    let mut torn = false;
    while let Some(block) = blocks.next().unwrap().inspect(|block| {
        if block.part != part {
            (part, offset) = (block.part, 0);
            torn = false;
        }
        for damage in &block.damage {
            if damage.kind == scan::DamageKind::LineTooLong && damage.offset <= block.offset {
                offset = damage.offset + damage.bytes.unwrap();
            }
        }
        assert!(block.offset >= offset, "{} before {offset}", block.offset);
        offset = block.offset + block.text().len() as u64;
    }) {
        let Block { seq, ends_part, after_damage, .. } = block;
        let (bytes, damage) = (block.text(), &block.damage);
        assert_eq!(seq, read.blocks as u64);
        assert!(block.allocated_bytes() >= bytes.len() + scan::PADDING_BYTES);
        assert_eq!(after_damage, torn);
        torn = damage.iter().any(|damage| damage.kind != scan::DamageKind::LineTooLong);
        assert!(ends_part || torn || bytes.ends_with(b"\n"), "block {seq} ends within a line");
        let newlines = memchr::memchr_iter(b'\n', bytes).count();
        assert!(bytes.len() <= limits.block_bytes || newlines <= 1, "block {seq} is too long");
        ended.resize(part + 1, false);
        ended[part] |= ends_part;
        read.text.extend_from_slice(bytes);
        read.damage.extend(damage.iter().cloned());
        read.blocks += 1;
        read.bytes_longest = read.bytes_longest.max(block.allocated_bytes());
        blocks.recycle(block);
    }
    Checked { read, ended }
}

/// A small generator: the same numbers on every machine.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % sides
    }
}

/// Lines as in a log: alike, of all lengths, some empty.
pub(crate) fn sample(lines: usize, seed: u64) -> Vec<u8> {
    let mut dice = Dice(seed);
    let mut text = Vec::new();
    for line in 0..lines {
        if dice.roll(20) > 0 {
            write!(text, "{{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":{line},\"x\":\"")
                .unwrap();
            for _ in 0..dice.roll(30) * dice.roll(8) {
                text.push(b"abcdefgh0123,: {}"[dice.roll(17)]);
            }
            text.extend(b"\"}");
        }
        text.push(b'\n');
    }
    text
}
