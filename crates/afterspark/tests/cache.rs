//! The second opening: the same bytes from the cache, a growing log continued, and nothing believed that is not so.
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

#[expect(dead_code, reason = "every test uses some of it")]
mod support;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use support::logs::encoders::{Dice, Encode, lz4, plain, zstd_blocks, zstd_frames};
use support::logs::{bundled_at, lines, text_of};
use support::{afterspark, answer, as_text, folder, talk};

const LOG: &str = "local-1796083723476.zstd";

/// A folder with a log and a cache in it.
struct Place {
    log: PathBuf,
    cache: PathBuf,
}

impl Place {
    fn new(test: &str) -> Place {
        let root = folder(&format!("cache-{test}"));
        Place { log: root.join("app-1"), cache: root.join("cache") }
    }

    fn options(log: &Path) -> [&str; 6] {
        ["report", "--format", "json", "--stage", "all", as_text(log)]
    }

    fn cached(&self) -> String {
        let options =
            [&Place::options(&self.log)[..], &["--cache-dir", as_text(&self.cache)]].concat();
        String::from_utf8(answer(&options)).unwrap()
    }

    fn fresh(&self) -> String {
        let options = [&Place::options(&self.log)[..], &["--no-cache"]].concat();
        String::from_utf8(answer(&options)).unwrap()
    }

    /// The one file of the cache.
    fn store(&self) -> PathBuf {
        let files: Vec<PathBuf> =
            fs::read_dir(&self.cache).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        files[0].clone()
    }
}

/// Writes as if it had been written at that second.
fn write_at(path: &Path, bytes: &[u8], second: u64) {
    fs::write(path, bytes).unwrap();
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
    File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
}

fn assert_same(got: &str, expected: &str, what: &str) {
    let differs = got.lines().zip(expected.lines()).find(|(got, expected)| got != expected);
    assert!(got == expected, "{what}: {differs:?}");
}

/// Shown by a log whose content is not what it was, though nothing of it says so.
#[test]
fn the_log_is_not_read_again() {
    let place = Place::new("second");
    let text = text_of(&bundled_at(LOG));
    write_at(&place.log, &text, 1_700_000_000);
    let first = place.cached();
    assert_same(&first, &place.fresh(), "with and without a cache");
    // lines that would leave gaps, where no sample is taken
    let mut unread = text.clone();
    unread[10_000..20_000].fill(b'x');
    write_at(&place.log, &unread, 1_700_000_000);
    assert_same(&place.cached(), &first, "second time");
    write_at(&place.log, &text, 1_700_000_001);
    assert_same(&place.cached(), &first, "touched");
}

#[test]
fn another_log_of_the_same_size_is_read() {
    let place = Place::new("same-size");
    let text = text_of(&bundled_at(LOG));
    write_at(&place.log, &text, 1_700_000_000);
    place.cached();
    // same size, other time
    let mut other = text.clone();
    other[10_000..20_000].fill(b'x');
    write_at(&place.log, &other, 1_700_000_001);
    assert_same(&place.cached(), &place.fresh(), "changed in between, later");
    // same size, same time, another end
    write_at(&place.log, &text, 1_700_000_001);
    place.cached();
    let n = text.len();
    let mut other = text;
    other[n - 2_000..n - 1_000].fill(b'x');
    write_at(&place.log, &other, 1_700_000_001);
    assert_same(&place.cached(), &place.fresh(), "changed at the end, at the same time");
}

#[test]
fn every_form_of_a_damaged_cache_is_rebuilt() {
    let place = Place::new("damaged");
    write_at(&place.log, &text_of(&bundled_at(LOG)), 1_700_000_000);
    let expected = place.cached();
    let path = place.store();
    let whole = fs::read(&path).unwrap();
    let rebuilt = |bytes: &[u8], what: &str| {
        fs::write(&path, bytes).unwrap();
        assert_same(&place.cached(), &expected, what);
        assert!(fs::read(&path).unwrap() == whole, "{what}: not rebuilt");
    };
    let mut dice = Dice(1);
    for _ in 0..200 {
        let mut bytes = whole.clone();
        let at = dice.roll(bytes.len());
        bytes[at] ^= 1 + dice.roll(255) as u8;
        rebuilt(&bytes, &format!("byte {at} changed"));
    }
    for at in (0..16).chain(whole.len() - 24..whole.len()) {
        let mut bytes = whole.clone();
        bytes[at] = bytes[at].wrapping_add(1);
        rebuilt(&bytes, &format!("byte {at} changed, the format's number among them"));
    }
    for _ in 0..30 {
        let len = dice.roll(whole.len());
        rebuilt(&whole[..len], &format!("cut at {len}"));
    }
    rebuilt(b"", "empty");
    rebuilt(&[&whole[..], b"\0"].concat(), "a byte more");
    rebuilt(&[&whole[..], &whole].concat(), "twice");
    rebuilt(&vec![0; whole.len()], "zeros");
}

#[test]
fn a_cache_of_another_log_is_rebuilt() {
    let place = Place::new("foreign");
    write_at(&place.log, &text_of(&bundled_at(LOG)), 1_700_000_000);
    let expected = place.cached();
    let path = place.store();
    let other = Place::new("foreign-other");
    write_at(&other.log, &text_of(&bundled_at("local-1796084909005.zstd")), 1_700_000_000);
    other.cached();
    fs::copy(other.store(), &path).unwrap();
    assert_same(&place.cached(), &expected, "the cache of another log");
}

#[test]
fn a_log_of_the_same_name_is_another() {
    let place = Place::new("replaced");
    let [small, large] = ["local-1796084909005.zstd", LOG].map(|name| text_of(&bundled_at(name)));
    assert!(small.len() < large.len());
    // and an application that had not ended
    let running = lines(&small).split_last().unwrap().1.concat();
    for before in [&small, &running, &large] {
        for after in [&small, &running, &large] {
            write_at(&place.log, before, 1_700_000_000);
            place.cached();
            write_at(&place.log, after, 1_700_000_001);
            let what = format!("{} bytes for {}", after.len(), before.len());
            assert_same(&place.cached(), &place.fresh(), &what);
        }
    }
}

#[test]
fn a_cache_that_cannot_be_written() {
    let place = Place::new("refused");
    write_at(&place.log, &text_of(&bundled_at(LOG)), 1_700_000_000);
    let expected = place.fresh();
    // a file where the folder should be: no user may write into it
    fs::write(&place.cache, b"").unwrap();
    let inside = place.cache.join("cache");
    let second = bundled_at("local-1796084909005.zstd");
    let options = [&Place::options(&place.log)[..], &["--cache-dir", as_text(&inside)]].concat();
    let output = afterspark(&options).output().unwrap();
    assert!(output.status.success(), "{}", talk(&output));
    assert_same(&String::from_utf8(output.stdout.clone()).unwrap(), &expected, "not cached");
    assert_eq!(talk(&output).lines().count(), 1, "{}", talk(&output));
    let output = afterspark(&[&options[..], &[as_text(&second)]].concat()).output().unwrap();
    assert!(output.status.success());
    assert_eq!(talk(&output).lines().count(), 1, "one warning for two logs: {}", talk(&output));
}

/// What was written so far, reported, then more and more of it: always as if read at once.
fn grows(place: &Place, states: impl IntoIterator<Item = Vec<u8>>, what: &str) {
    for (n, state) in states.into_iter().enumerate() {
        write_at(&place.log, &state, 1_700_000_000 + n as u64);
        assert_same(&place.cached(), &place.fresh(), &format!("{what}, {} bytes", state.len()));
    }
}

/// From `k` lines to all of them, and line by line.
fn grows_in(test: &str, log: &str, encode: Encode) {
    let text = text_of(&bundled_at(log));
    let lines = lines(&text);
    let state = |n: usize| encode(&lines[..n].concat(), 10_000).bytes;
    for n in (1..lines.len()).step_by(lines.len().div_ceil(12)) {
        let place = Place::new(test);
        grows(&place, [state(n), state(lines.len())], test);
    }
    let place = Place::new(test);
    grows(&place, (1..=lines.len()).step_by(3).map(state).chain([state(lines.len())]), test);
}

#[test]
fn a_plain_log_grows() {
    grows_in("plain", LOG, plain);
}

#[test]
fn a_log_of_zstd_frames_grows() {
    grows_in("zstd-frames", "local-1796084658197.zstd", zstd_frames);
}

#[test]
fn a_log_of_one_zstd_frame_grows() {
    grows_in("zstd-blocks", "local-1796085020098.zstd.inprogress", zstd_blocks);
}

#[test]
fn a_log_in_lz4_grows() {
    grows_in("lz4", "app-20261201001103-0000.zstd", lz4);
}

/// The bytes of the whole log, cut anywhere: in lines and in frames.
#[test]
fn a_log_grows_by_bytes() {
    let text = text_of(&bundled_at("app-20261201002751-0000.zstd"));
    let codecs: [(&str, Encode); 4] = [
        ("plain", plain),
        ("zstd frames", zstd_frames),
        ("zstd blocks", zstd_blocks),
        ("lz4", lz4),
    ];
    for (name, encode) in codecs {
        let bytes = encode(&text, 5_000).bytes;
        let place = Place::new("bytes");
        let mut dice = Dice(2);
        let mut len = 64;
        let mut states = Vec::new();
        while len < bytes.len() {
            states.push(bytes[..len].to_vec());
            len += 1 + dice.roll(bytes.len() / 15);
        }
        states.push(bytes);
        // the beginning holds no event yet
        let first = states.iter().position(|state| {
            fs::write(&place.log, state).unwrap();
            afterspark(&["report", "--no-cache", as_text(&place.log)])
                .output()
                .unwrap()
                .status
                .success()
        });
        grows(&place, states.drain(first.unwrap()..), name);
    }
}

#[test]
fn a_torn_line_is_completed() {
    let text = text_of(&bundled_at(LOG));
    let lines = lines(&text);
    for n in (1..lines.len()).step_by(5) {
        let before = lines[..n].concat();
        let torn = [&before[..], &lines[n][..lines[n].len() / 2]].concat();
        let without_newline = [&before[..], &lines[n][..lines[n].len() - 1]].concat();
        let place = Place::new("torn");
        grows(
            &place,
            [torn, without_newline, [&before[..], lines[n]].concat(), text.clone()],
            "torn",
        );
    }
}

/// What was read is not read again: a change in it is not seen.
#[test]
fn only_what_is_new_is_read() {
    let text = text_of(&bundled_at(LOG));
    let lines = lines(&text);
    let place = Place::new("continued");
    let half = lines[..lines.len() / 2].concat();
    write_at(&place.log, &half, 1_700_000_000);
    place.cached();
    let mut changed = text.clone();
    let at = memchr::memmem::find(&text, b"\"App Name\":\"").unwrap() + 12;
    changed[at..at + 3].copy_from_slice(b"???");
    write_at(&place.log, &changed, 1_700_000_001);
    let got = place.cached();
    assert!(!got.contains("???"), "the beginning was read again");
    write_at(&place.log, &text, 1_700_000_001);
    assert_same(&got, &place.fresh(), "continued");
}

#[test]
fn a_rolling_log_grows() {
    let text = text_of(&bundled_at(LOG));
    let lines = lines(&text);
    for encode in [plain, zstd_frames, zstd_blocks, lz4] {
        let mut place = Place::new("rolling");
        place.log = place.log.with_file_name("eventlog_v2_app-1");
        fs::create_dir(&place.log).unwrap();
        let running = place.log.join("appstatus_app-1.inprogress");
        write_at(&running, b"", 1_700_000_000);
        let mut second = 1_700_000_000;
        for (n, part) in lines.chunks(lines.len().div_ceil(5)).enumerate() {
            for shown in [part.len() / 3, part.len() / 2, part.len()] {
                second += 1;
                let file = place.log.join(format!("events_{}_app-1", n + 1));
                write_at(&file, &encode(&part[..shown].concat(), 10_000).bytes, second);
                assert_same(&place.cached(), &place.fresh(), &format!("{shown} lines of file {n}"));
            }
        }
        fs::rename(&running, place.log.join("appstatus_app-1")).unwrap();
        assert_same(&place.cached(), &place.fresh(), "ended");
    }
}

#[test]
fn a_log_loses_inprogress() {
    let text = text_of(&bundled_at(LOG));
    let lines = lines(&text);
    let mut place = Place::new("renamed");
    let final_name = place.log.clone();
    for n in [lines.len() / 2, lines.len()] {
        place.log = final_name.with_extension("inprogress");
        write_at(&place.log, &lines[..n].concat(), 1_700_000_000 + n as u64);
        assert_same(&place.cached(), &place.fresh(), "in progress");
    }
    fs::rename(&place.log, &final_name).unwrap();
    place.log = final_name;
    assert_same(&place.cached(), &place.fresh(), "renamed");
    place.store();
}
