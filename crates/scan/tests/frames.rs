//! Frames that are unpacked side by side come to what reading them in order comes to.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

#[expect(dead_code, reason = "shared by several tests")]
mod support;

use std::sync::Arc;

use scan::{Blocks, DamageKind, Limits, Part, Start};
use support::{Dice, part, sample, zstd_frames};

/// Too short for any frame to be unpacked whole: everything is read in order.
const IN_ORDER: usize = 1000;
/// Room for frames of 128 KiB, several at a time.
const SIDE_BY_SIDE: [usize; 3] = [4096, 20_000, 64 << 10];

/// Text; each damage as kind, decoded offset and bytes.
type Came = (Vec<u8>, Vec<(usize, DamageKind, u64, Option<u64>)>);

fn came(parts: &[Arc<dyn Part>], limits: Limits, n_threads: usize) -> Came {
    let blocks = Blocks::new(parts.to_vec(), Start::default(), limits);
    let mut all = std::thread::scope(|scope| {
        let take = || {
            let mut mine = Vec::new();
            while let Some(block) = blocks.next().unwrap() {
                let about = block.damage.iter().map(|d| (block.part, d.kind, d.offset, d.bytes));
                let about = about.collect::<Vec<_>>();
                mine.push((block.seq, block.part, block.offset, block.text().to_vec(), about));
                blocks.recycle(block);
            }
            mine
        };
        let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(take)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    all.sort_by_key(|(seq, ..)| *seq);
    let (mut text, mut damage) = (Vec::new(), Vec::new());
    let (mut part, mut end) = (0, 0);
    for (at, (seq, of, offset, bytes, about)) in all.into_iter().enumerate() {
        assert_eq!(at as u64, seq);
        if of != part {
            (part, end) = (of, 0);
        }
        assert!(offset >= end);
        end = offset + bytes.len() as u64;
        text.extend(bytes);
        damage.extend(about);
    }
    (text, damage)
}

fn lines(dice: &mut Dice) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..=dice.roll(6) {
        text.extend(sample(dice.roll(400), dice.roll(1000) as u64));
        if dice.roll(3) == 0 {
            text.extend(vec![b'x'; dice.roll(40_000)]);
            text.push(b'\n');
        }
    }
    text
}

/// Frames, and now and then something else between them.
fn log(dice: &mut Dice) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..=dice.roll(3) {
        bytes.extend(zstd_frames(&lines(dice), 1 + dice.roll(50_000)).bytes);
        match dice.roll(8) {
            0 => bytes.extend(b"\x53\x2a\x4d\x18\x03\0\0\0abc"),
            1 => bytes.extend(b"\x28\xb5\x2f\xfd\xff junk"),
            // No text at all.
            2 => bytes.extend(zstd::encode_all(&b""[..], 1).unwrap()),
            // A frame longer than a run may be, and one of a codec within the codec.
            3 => bytes.extend(zstd::encode_all(&*sample(40_000, 3), 1).unwrap()),
            4 => bytes.splice(..0, zstd::encode_all(&*bytes.clone(), 1).unwrap()).for_each(drop),
            _ => {}
        }
    }
    match dice.roll(4) {
        0 => bytes.truncate(dice.roll(bytes.len() + 1)),
        1 => {
            let at = dice.roll(bytes.len());
            bytes[at] ^= 1 + dice.roll(255) as u8;
        }
        _ => {}
    }
    bytes
}

#[test]
fn side_by_side_is_as_in_order() {
    let mut dice = Dice(1);
    for round in 0..400 {
        let parts: Vec<_> = (0..=dice.roll(3)).map(|_| part(log(&mut dice))).collect();
        // Long lines are dropped alike.
        let line_bytes_max = if dice.roll(2) == 0 { 30_000 } else { 1 << 20 };
        let limits = |block_bytes| Limits { block_bytes, line_bytes_max, ..Limits::default() };
        let expected = came(&parts, limits(IN_ORDER), 1);
        for block_bytes in SIDE_BY_SIDE {
            let n_threads = 1 + dice.roll(4);
            let got = came(&parts, limits(block_bytes), n_threads);
            assert!(got == expected, "round {round}, blocks of {block_bytes}: {:?}", got.1);
        }
    }
}

#[test]
fn progress_comes_to_what_is_stored() {
    let mut dice = Dice(2);
    for _ in 0..50 {
        let parts: Vec<_> = (0..3)
            .map(|_| {
                let mut bytes = zstd_frames(&lines(&mut dice), 9000).bytes;
                let at = bytes.len() / 2;
                bytes[at] ^= dice.roll(2) as u8;
                part(bytes)
            })
            .collect();
        let blocks = Blocks::new(parts.clone(), Start::default(), support::limits(20_000));
        while blocks.next().unwrap().is_some() {}
        let stored: u64 = parts.iter().map(|part| part.size_bytes()).sum();
        assert_eq!(blocks.stored_bytes_read(), stored);
    }
}

#[test]
fn many_frames_that_expand_too_much_end_in_damage() {
    // 2 MiB in 100 bytes or so, a thousand times; each fits a run.
    let line = [vec![b'x'; (2 << 20) - 1], vec![b'\n']].concat();
    let bomb = zstd::encode_all(&*line, 1).unwrap().repeat(1000);
    let limits = |block_bytes| Limits { block_bytes, line_bytes_max: 4 << 20, ..Limits::default() };
    let stored = bomb.len() as u64;
    let parts = [part(bomb)];
    let blocks = Blocks::new(parts.to_vec(), Start::default(), limits(1 << 20));
    let (mut bytes, mut damage) = (0, Vec::new());
    while let Some(block) = blocks.next().unwrap() {
        bytes += block.text().len() as u64;
        damage.extend(block.damage.iter().map(|damage| damage.kind));
        blocks.recycle(block);
    }
    assert_eq!(damage, [DamageKind::Expansion]);
    assert!(bytes <= (260 << 20).max(stored * 1001), "{bytes}");
}
