//! Measuring: a process with its time, processor seconds and memory, and the speed of light.
//!
//! Numbers of a process come from `/proc`: memory is polled every few milliseconds (`VmHWM` is a high-water mark, so
//! only growth in the last moment is missed), and processor time is read when the process has ended and before it is
//! reaped, so it is exact to a clock tick.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::Outcome;

/// How often a process is looked at: closely while a short run would be measured wrongly, then seldom.
const POLL_FIRST: Duration = Duration::from_millis(1);
const POLL_LATER: Duration = Duration::from_millis(5);
const LATER_S: f64 = 0.5;
/// Clock ticks of `/proc/PID/stat` in a second: 100 on every Linux that has run in the last decades.
const TICKS_PER_S: f64 = 100.0;
const BLOCK_BYTES: usize = 1 << 20;

#[derive(Clone, Copy, Default)]
pub(super) struct Usage {
    pub(super) cpu_s: f64,
    pub(super) peak_bytes: u64,
    /// What it holds now.
    pub(super) held_bytes: u64,
    pub(super) ended: bool,
}

/// What a process has used so far. A process that is gone has ended and used nothing.
pub(super) fn usage(pid: u32) -> Usage {
    let read = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let stat = read("stat");
    let fields: Vec<&str> =
        stat.rsplit(')').next().map_or(Vec::new(), |s| s.split_whitespace().collect());
    let ticks = |i: usize| fields.get(i).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0);
    let status = read("status");
    let bytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
        kib.unwrap_or(0) * 1_024
    };
    Usage {
        cpu_s: (ticks(11) + ticks(12)) / TICKS_PER_S,
        peak_bytes: bytes("VmHWM:"),
        held_bytes: bytes("VmRSS:"),
        ended: matches!(fields.first(), None | Some(&"Z" | &"X")),
    }
}

#[derive(Clone, Copy)]
pub(super) struct Ran {
    pub(super) wall_s: f64,
    pub(super) cpu_s: f64,
    pub(super) peak_bytes: u64,
    pub(super) success: bool,
}

/// Runs a command to its end.
pub(super) fn run(command: &mut Command) -> Outcome<Ran> {
    let started = Instant::now();
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command.spawn().map_err(|e| format!("{program}: {e}"))?;
    let mut peak_bytes = 0;
    loop {
        let now = usage(child.id());
        peak_bytes = peak_bytes.max(now.peak_bytes);
        let wall_s = started.elapsed().as_secs_f64();
        if now.ended {
            let success = child.wait()?.success();
            return Ok(Ran { wall_s, cpu_s: now.cpu_s, peak_bytes, success });
        }
        sleep(if wall_s < LATER_S { POLL_FIRST } else { POLL_LATER });
    }
}

/// How a file can be gone through at best.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Light {
    Read,
    Newlines,
    Decode,
    DecodeNewlines,
}

/// Seconds to go through a file on one thread, and the bytes that came out.
pub(super) fn light(path: &Path, how: Light) -> Outcome<(f64, u64)> {
    let started = Instant::now();
    let file = File::open(path)?;
    let mut input: Box<dyn Read> = match how {
        Light::Read | Light::Newlines => Box::new(file),
        Light::Decode | Light::DecodeNewlines => Box::new(zstd::Decoder::new(file)?),
    };
    let mut block = vec![0; BLOCK_BYTES];
    let (mut bytes, mut lines) = (0, 0);
    loop {
        let n = input.read(&mut block)?;
        if n == 0 {
            break;
        }
        bytes += n as u64;
        if matches!(how, Light::Newlines | Light::DecodeNewlines) {
            lines += memchr::memchr_iter(b'\n', &block[..n]).count();
        }
    }
    std::hint::black_box(lines);
    Ok((started.elapsed().as_secs_f64(), bytes))
}
