//! Every codec gives back what was put in, whole, cut anywhere, concatenated and damaged.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod support;

use std::io::{Read, Write};
use std::sync::Arc;

use scan::{Blocks, Codec, DamageKind, Limits, Part, Start, zip_entries};
use support::{CODECS, Dice, Encode, InMemory, limits, part, read, sample, zstd_frames};

const BLOCK_BYTES: [usize; 4] = [1, 7, 1000, 4 << 20];

fn log() -> Vec<u8> {
    let mut text = sample(3000, 1);
    text.extend(vec![b'x'; 300_000]);
    text.push(b'\n');
    text.extend(sample(1000, 2));
    text.extend(b"torn");
    text
}

#[test]
fn gives_back_the_text() {
    let text = log();
    for (name, encode) in CODECS {
        let encoded = encode(&text, 32 << 10);
        for block_bytes in BLOCK_BYTES {
            let got = read(vec![part(&*encoded.bytes)], Start::default(), limits(block_bytes));
            assert!(got.text == text, "{name}, {block_bytes}");
            assert_eq!(got.damage, [], "{name}");
        }
    }
}

#[test]
fn block_of_one_byte_is_a_line() {
    let text = b"one\n\ntwo\nthree";
    let blocks = Blocks::new(vec![part(*text)], Start::default(), limits(1));
    let mut lines = Vec::new();
    while let Some(block) = blocks.next().unwrap() {
        lines.push((
            block.offset,
            String::from_utf8(block.text().to_vec()).unwrap(),
            block.ends_part,
        ));
    }
    let expected = [(0, "one\n", false), (4, "\n", false), (5, "two\n", false), (9, "three", true)];
    assert!(lines.iter().map(|(at, line, end)| (*at, &**line, *end)).eq(expected), "{lines:?}");
}

#[test]
fn reads_streams_that_were_appended() {
    let text = log();
    let twice = [&*text, &text].concat();
    for (name, encode) in CODECS {
        let encoded = encode(&text, 9000).bytes;
        let got = read(vec![part([&*encoded, &encoded].concat())], Start::default(), limits(5000));
        assert!(got.text == twice, "{name}");
        assert_eq!(got.damage, [], "{name}");
    }
}

#[test]
fn parts_stay_apart() {
    let text = sample(100, 3);
    let parts = || {
        let encoded = CODECS.map(|(_, encode)| part(encode(&text, 700).bytes));
        encoded.into_iter().chain([part([])]).collect::<Vec<_>>()
    };
    let got = read(parts(), Start::default(), limits(3000));
    assert_eq!(got.text, text.repeat(7));
    let blocks = Blocks::new(parts(), Start::default(), limits(3000));
    while blocks.next().unwrap().is_some() {}
    let stored: u64 = parts().iter().map(|part| part.size_bytes()).sum();
    assert_eq!(blocks.stored_bytes_read(), stored);
}

#[test]
fn cut_anywhere_gives_a_prefix() {
    let text = sample(40, 4);
    for (name, encode) in CODECS {
        let encoded = encode(&text, 600);
        let border = |cut: usize| encoded.pieces.iter().rfind(|piece| piece.0 <= cut).unwrap();
        for cut in 16..=encoded.bytes.len() {
            let bytes = &encoded.bytes[..cut];
            let got = read(vec![part(bytes)], Start::default(), limits(1000));
            assert!(text.starts_with(&got.text), "{name} cut at {cut}");
            assert!(got.text.len() >= border(cut).1, "{name} cut at {cut}: {}", got.text.len());
            let whole = got.damage.is_empty();
            let kinds = got.damage.iter().map(|damage| damage.kind);
            assert!(kinds.eq((!whole).then_some(DamageKind::CutShort)), "{name} cut at {cut}");
            if whole && name != "plain" {
                let ends = border(cut).0 == cut || cut == encoded.bytes.len();
                assert!(ends, "{name} cut at {cut}");
            }
        }
    }
}

#[test]
fn flipped_bytes_spare_what_precedes_them() {
    let text = sample(60, 5);
    let mut dice = Dice(6);
    for (name, encode) in CODECS {
        let encoded = encode(&text, 500);
        for _ in 0..1000 {
            let mut bytes = encoded.bytes.clone();
            let at = 16 + dice.roll(bytes.len() - 16);
            bytes[at] ^= 1 + dice.roll(255) as u8;
            let got = read(vec![part(bytes)], Start::default(), limits(1 + dice.roll(2000)));
            let before = encoded.pieces.iter().rfind(|piece| piece.0 <= at).unwrap().1;
            assert!(got.text.starts_with(&text[..before]), "{name} at {at}");
            let after = encoded.pieces.iter().find(|piece| piece.0 > at).map(|piece| piece.1);
            if matches!(name, "zstd frames" | "lz4") {
                let rest = &text[after.unwrap_or(text.len())..];
                assert!(got.text.ends_with(rest), "{name} at {at} does not go on");
            }
        }
    }
}

#[test]
fn a_damaged_piece_costs_itself_and_is_told() {
    let text = sample(60, 7);
    let cases: [(&str, Encode, usize); 3] =
        [("lz4", support::lz4, 17), ("snappy", support::snappy, 6), ("lzf", support::lzf, 7)];
    for (name, encode, damaged_byte) in cases {
        let encoded = encode(&text, 500);
        let [(begin, from), (_, to)] = encoded.pieces[3..5] else { unreachable!() };
        let mut bytes = encoded.bytes.clone();
        // A wrong checksum, and to the others a copy from before the beginning.
        bytes[begin + damaged_byte] = 0xff;
        let got = read(vec![part(bytes)], Start::default(), limits(4 << 20));
        assert!(got.text == [&text[..from], &text[to..]].concat(), "{name}");
        assert_eq!(got.damage.len(), 1, "{name}");
        assert_eq!(got.damage[0].kind, DamageKind::Corrupt);
        assert_eq!(got.damage[0].offset, from as u64);
        assert_eq!(got.blocks, 2, "{name}");
    }
}

#[test]
fn restarts_where_it_is_told() {
    let text = log();
    let mut dice = Dice(8);
    for (name, encode) in CODECS {
        let parts = vec![part(*b"other\n"), part(encode(&text, 7000).bytes)];
        let blocks = Blocks::new(parts.clone(), Start::default(), limits(20_000));
        while let Some(block) = blocks.next().unwrap() {
            blocks.recycle(block);
        }
        let last_line_end = text.len() - "torn".len();
        let starts = (0..10).map(|_| dice.roll(last_line_end)).chain([last_line_end]);
        for offset in starts {
            let end = memchr::memchr(b'\n', &text[offset..]).map_or(offset, |at| offset + at + 1);
            let start = blocks.restart_for(1, end as u64);
            let got = read(parts.clone(), start, limits(3000));
            assert!(got.text == text[end..], "{name} from {end}: {start:?}");
            assert_eq!(got.damage, []);
            if matches!(name, "zstd frames" | "lz4" | "snappy" | "lzf") {
                assert!(end as u64 - start.offset <= 7000, "{name} goes back too far: {start:?}");
            }
        }
    }
}

#[test]
fn a_growing_log_is_read_on() {
    let text = log();
    for (name, encode) in CODECS {
        let encoded = encode(&text, 7000);
        let so_far = encoded.pieces[encoded.pieces.len() / 2];
        let open = vec![part(&encoded.bytes[..so_far.0 + 5])];
        let blocks = Blocks::new(open, Start::default(), limits(20_000));
        let mut before = Vec::new();
        while let Some(block) = blocks.next().unwrap() {
            before.extend(block.text());
        }
        let line_end = memchr::memrchr(b'\n', &before).unwrap() + 1;
        let start = blocks.restart_for(0, line_end as u64);
        let got = read(vec![part(encoded.bytes)], start, limits(20_000));
        assert!([&before[..line_end], &got.text].concat() == text, "{name}");
    }
}

#[test]
fn too_long_a_line_is_dropped_wherever_blocks_end() {
    let long = "y".repeat(50_000);
    let exact = "z".repeat(1000);
    let over = "w".repeat(1001);
    let text = format!("a\n{long}\nb\n{exact}\n{over}\nc\n{long}\n{over}");
    let kept = format!("a\nb\n{exact}\nc\n");
    for (name, encode) in CODECS {
        for block_bytes in [1, 7, 1000, 4096, 4 << 20] {
            let limits = Limits { line_bytes_max: 1000, ..limits(block_bytes) };
            let bytes = encode(text.as_bytes(), 700).bytes;
            let got = read(vec![part(bytes)], Start::default(), limits);
            assert_eq!(got.text, kept.as_bytes(), "{name}, {block_bytes}");
            let dropped = got.damage.iter().map(|d| (d.kind, d.offset, d.bytes.unwrap()));
            let expected = [(2, 50_001), (51_006, 1002), (52_010, 50_001), (102_011, 1001)];
            let expected = expected.map(|(at, bytes)| (DamageKind::LineTooLong, at, bytes));
            assert!(dropped.eq(expected), "{name}, {block_bytes}: {:?}", got.damage);
            assert!(got.bytes_longest < 20_000);
        }
    }
}

#[test]
fn codecs_within_codecs() {
    let text = log();
    let inner = zstd_frames(&text, 50_000).bytes;
    let two = support::gzip(&inner, 10_000).bytes;
    let three = support::lz4(&two, 10_000).bytes;
    for bytes in [&two, &three] {
        let parts = vec![part(&**bytes)];
        let blocks = Blocks::new(parts.clone(), Start::default(), limits(70_000));
        let got = support::read_blocks(&blocks, Start::default(), limits(70_000)).read;
        assert!(got.text == text);
        assert_eq!(got.damage, []);
        let end = memchr::memrchr(b'\n', &text).unwrap() + 1;
        let got = read(parts, blocks.restart_for(0, end as u64), limits(70_000));
        assert_eq!(got.text, b"torn");
    }
    // A copy of the outer file that stopped: what the inner frames hold comes out.
    let got = read(vec![part(&two[..two.len() / 2])], Start::default(), limits(70_000));
    assert!(text.starts_with(&got.text) && got.text.len() > text.len() / 4);
    assert!(got.damage.iter().all(|damage| damage.kind == DamageKind::CutShort));
    assert!(!got.damage.is_empty());
}

#[test]
fn any_number_of_threads_gets_each_block_once() {
    let text = log();
    let blocks =
        Blocks::new(vec![part(zstd_frames(&text, 9000).bytes)], Start::default(), limits(2000));
    let mut all = std::thread::scope(|scope| {
        let take = || {
            let mut mine = Vec::new();
            while let Some(block) = blocks.next().unwrap() {
                mine.push((block.seq, block.text().to_vec()));
            }
            mine
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    all.sort();
    assert!(all.iter().enumerate().all(|(at, (seq, _))| at as u64 == *seq));
    assert!(all.into_iter().flat_map(|(_, bytes)| bytes).eq(text));
}

#[test]
fn bombs_end_in_damage() {
    let zeros = |bytes| Read::take(std::io::repeat(0), bytes);
    // A frame of 256 MiB, sixteen times.
    let frame = zstd::encode_all(zeros(256 << 20), 1).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::copy(&mut zeros(512 << 20), &mut gzip).unwrap();
    let gzip = gzip.finish().unwrap();
    for bomb in [frame.repeat(16), gzip] {
        let limits = Limits { line_bytes_max: 1 << 20, ..limits(4 << 20) };
        let stored = bomb.len() as u64;
        let got = read(vec![part(bomb)], Start::default(), limits);
        let kinds = got.damage.iter().map(|damage| damage.kind);
        assert!(kinds.eq([DamageKind::LineTooLong, DamageKind::Expansion]), "{:?}", got.damage);
        let came_out = got.damage[1].offset;
        assert!(came_out <= (260 << 20).max(stored * 1001), "{came_out} of {stored}");
        assert!(got.bytes_longest < 8 << 20);
    }
}

#[test]
fn a_zstd_window_over_the_limit_is_damage() {
    let mut to = zstd::Encoder::new(Vec::new(), 1).unwrap();
    to.window_log(28).unwrap();
    to.write_all(b"text\n").unwrap();
    let wide = to.finish().unwrap();
    let bytes = [zstd_frames(b"a\n", 10).bytes, wide, zstd_frames(b"b\n", 10).bytes].concat();
    let got = read(vec![part(bytes)], Start::default(), limits(100));
    assert_eq!(got.text, b"a\nb\n");
    assert_eq!(got.damage.len(), 1);
    assert_eq!(got.damage[0].kind, DamageKind::UnknownCodec);
}

#[test]
fn skippable_frames_are_skipped() {
    let skippable = [&[0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    let bytes = [&*skippable, &zstd_frames(b"a\nb\n", 2).bytes, &skippable].concat();
    let got = read(vec![part(bytes)], Start::default(), limits(100));
    assert_eq!((&*got.text, got.damage.len()), (&b"a\nb\n"[..], 0));
}

/// As from a slow network: a few bytes at a time.
struct Slow(InMemory);

impl Part for Slow {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn size_bytes(&self) -> u64 {
        self.0.size_bytes()
    }

    fn open(&self, from_byte: u64) -> Result<Box<dyn Read + Send>, scan::Error> {
        Ok(Box::new(Drip(self.0.open(from_byte)?, Dice(from_byte))))
    }
}

struct Drip(Box<dyn Read + Send>, Dice);

impl Read for Drip {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let bytes = to.len().min(1 + self.1.roll(9));
        self.0.read(&mut to[..bytes])
    }
}

#[test]
fn slow_reading_changes_nothing() {
    let text = log();
    for (name, encode) in CODECS {
        let bytes = encode(&text, 20_000).bytes;
        let slow = Slow(InMemory { name: "log".into(), bytes });
        let got = read(vec![Arc::new(slow)], Start::default(), limits(3000));
        assert!(got.text == text, "{name}");
        assert_eq!(got.damage, [], "{name}");
    }
}

#[test]
fn a_damaged_gzip_member_leaves_the_next() {
    let (first, second) = (sample(200, 11), sample(100, 12));
    let mut bytes = support::gzip(&first, 5000).bytes;
    let trailer = bytes.len() - 8;
    bytes[trailer] ^= 1;
    bytes.extend(support::gzip(&second, 5000).bytes);
    let got = read(vec![part(bytes)], Start::default(), limits(4 << 20));
    assert!(got.text == [first, second].concat());
    assert_eq!(got.damage.len(), 1);
    assert_eq!(got.damage[0].kind, DamageKind::Corrupt);
}

#[test]
fn pieces_that_unpack_in_vain_are_given_up() {
    // Each header announces the whole rest of the file and a wrong checksum.
    let mut bytes = Vec::new();
    for at in 0..400_000_u32 {
        let rest = (400_000 - at - 1) * 21;
        bytes.extend(b"LZ4Block\x15");
        bytes.extend(rest.to_le_bytes());
        bytes.extend(rest.to_le_bytes());
        bytes.extend([1; 4]);
    }
    let got = read(vec![part(bytes)], Start::default(), limits(4 << 20));
    assert_eq!(got.text, b"");
    assert!(got.damage.len() < 10_000);
}

#[test]
fn many_damaged_places_are_given_up() {
    let bytes = b"\x28\xb5\x2f\xfd\0\0\x07\0\0".repeat(1 << 20);
    let got = read(vec![part(bytes)], Start::default(), limits(4 << 20));
    assert_eq!(got.text, b"");
    assert!(got.damage.len() <= 10_000);
}

struct OnDisk(std::path::PathBuf);

impl OnDisk {
    fn new(name: &str, bytes: &[u8]) -> OnDisk {
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, bytes).unwrap();
        OnDisk(path)
    }

    fn parts(&self) -> Vec<Arc<dyn Part>> {
        let entries = zip_entries(&self.0).unwrap();
        entries.into_iter().map(|entry| Arc::new(entry) as Arc<dyn Part>).collect()
    }
}

impl Drop for OnDisk {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn zip_entries_are_parts() {
    let text = log();
    let packed = zstd_frames(&text, 20_000).bytes;
    let entries: [(&str, &[u8], bool); 5] = [
        ("eventlog_v2_app/", b"", false),
        ("eventlog_v2_app/events_1_app.zstd", &packed, false),
        ("eventlog_v2_app/events_2_app.zstd", &packed, true),
        ("eventlog_v2_app/events_3_app", &text, true),
        ("empty", b"", false),
    ];
    for streamed in [false, true] {
        let zip = support::zip(&entries, streamed);
        assert!(scan::is_zip(&zip));
        // Something may stand before the zip proper.
        for (before, name) in [(0, "entries"), (100, "entries-shifted")] {
            let bytes = [&b"#".repeat(before), &*zip].concat();
            let file = OnDisk::new(&format!("{name}-{streamed}.zip"), &bytes);
            let parts = file.parts();
            let names: Vec<_> = parts.iter().map(|part| part.name()).collect();
            assert_eq!(names[0], "eventlog_v2_app/events_1_app.zstd");
            assert_eq!(names.len(), 4);
            let got = read(parts.clone(), Start::default(), limits(10_000));
            assert!(got.text == text.repeat(3));
            assert_eq!(got.damage, []);
            let blocks = Blocks::new(parts.clone(), Start::default(), limits(10_000));
            while blocks.next().unwrap().is_some() {}
            let stored: u64 = parts.iter().map(|part| part.size_bytes()).sum();
            assert_eq!(blocks.stored_bytes_read(), stored);
            for part in 0..3 {
                let start = blocks.restart_for(part, text.len() as u64 - 4);
                let got = read(parts.clone(), start, limits(10_000));
                assert!(got.text.starts_with(b"torn"));
            }
        }
    }
}

#[test]
fn damaged_zips_are_gaps_or_errors_never_panics() {
    let text = sample(200, 9);
    let zip = support::zip(&[("a", &text, true), ("b", &text, false)], true);
    let mut dice = Dice(10);
    for round in 0..600 {
        let mut bytes = zip.clone();
        if round % 2 == 0 {
            bytes.truncate(dice.roll(zip.len()));
        } else {
            let at = dice.roll(zip.len());
            bytes[at] ^= 1 + dice.roll(255) as u8;
        }
        let file = OnDisk::new("damaged.zip", &bytes);
        match zip_entries(&file.0) {
            Ok(entries) => {
                let parts =
                    entries.into_iter().map(|entry| Arc::new(entry) as Arc<dyn Part>).collect();
                read(parts, Start::default(), limits(1000));
            }
            Err(error) => assert!(error.to_string().starts_with("cannot read")),
        }
    }
}

#[test]
fn a_zip_bomb_ends_in_damage() {
    let zeros = vec![0; 300 << 20];
    let zip = support::zip(&[("bomb", &zeros, true)], false);
    drop(zeros);
    let file = OnDisk::new("bomb.zip", &zip);
    let limits = Limits { line_bytes_max: 1 << 20, ..limits(4 << 20) };
    let got = read(file.parts(), Start::default(), limits);
    assert_eq!(got.damage.last().unwrap().kind, DamageKind::Expansion);
}

#[test]
fn codecs_are_told_by_content() {
    let heads: [(&[u8], Codec); 8] = [
        (b"", Codec::Plain),
        (b"{\"Event\":", Codec::Plain),
        (b"ZV", Codec::Plain),
        (b"ZV\x01", Codec::Lzf),
        (b"\x50\x2a\x4d\x18", Codec::Zstd),
        (b"\x28\xb5\x2f\xfd", Codec::Zstd),
        (b"LZ4Block\x25", Codec::Lz4Block),
        (b"\x1f\x8b\x08", Codec::Gzip),
    ];
    for (head, codec) in heads {
        assert_eq!(Codec::detect(head), codec, "{head:?}");
    }
}

#[test]
fn what_the_world_refuses_is_an_error() {
    let error = scan::FilePart::open("/no/such/log").unwrap_err();
    assert_eq!(error.to_string(), "cannot open /no/such/log: no such file");
    assert!(error.hint().is_some());
}

#[test]
fn a_growing_file_is_read_to_where_it_was() {
    let file = OnDisk::new("growing", b"one\ntwo\n");
    let part = scan::FilePart::open(&file.0).unwrap();
    std::fs::write(&file.0, b"one\ntwo\nthree\n").unwrap();
    let got = read(vec![Arc::new(part)], Start::default(), limits(100));
    assert_eq!(got.text, b"one\ntwo\n");
    assert_eq!(&*scan::map_file(&file.0).unwrap(), b"one\ntwo\nthree\n");
}
