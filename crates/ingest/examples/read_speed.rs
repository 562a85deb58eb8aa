//! How fast a log is read, stage by stage, each on its own: `blocks` (unpacking), `lines` (scanning, nothing kept) or
//! `store` (everything), whose line ends with the store's checksum: a change that is only about speed keeps it.
//!
//! `cargo run --release -p ingest --example read_speed -- store LOG [THREADS [BLOCK_BYTES]]`
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "it measures and says so")]

use std::{io::Error, path::Path, time::Instant};

use ingest::{Log, Options};

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// As the program sets it for a machine with plenty.
const MEMORY_BYTES: u64 = 1 << 30;

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [stage, path, numbers @ ..] = &arguments[..] else {
        return Err(Error::other("blocks|lines|store LOG [THREADS [BLOCK_BYTES]]"));
    };
    let mut numbers = numbers.iter().map(|n| n.parse::<usize>().map_err(Error::other));
    let mut options = Options::within(numbers.next().unwrap_or(Ok(1))?, MEMORY_BYTES);
    if let Some(block_bytes) = numbers.next() {
        options.limits.block_bytes = block_bytes?;
    }
    let (mut logs, _) = ingest::logs_at(Path::new(path)).map_err(Error::other)?;
    logs.sort_by(|a, b| a.name.cmp(&b.name));
    for log in logs {
        let begun = Instant::now();
        let done = match stage.as_str() {
            "blocks" => speed(unpacked_bytes(&log, options)?, begun),
            "lines" => {
                speed(ingest::scanned_bytes(&log, options.limits).map_err(Error::other)?, begun)
            }
            _ => stored(&log, options)?,
        };
        println!("{}: {:.3} s, {done}", log.name, begun.elapsed().as_secs_f64());
    }
    Ok(())
}

fn speed(bytes: u64, begun: Instant) -> String {
    format!("{:.2} GB/s", bytes as f64 / 1e9 / begun.elapsed().as_secs_f64())
}

fn unpacked_bytes(log: &Log, options: Options) -> Result<u64, Error> {
    let blocks = scan::Blocks::new(log.parts.clone(), scan::Start::default(), options.limits);
    let mut bytes = 0;
    while let Some(block) = blocks.next().map_err(Error::other)? {
        bytes += block.text().len() as u64;
        blocks.recycle(block);
    }
    Ok(bytes)
}

fn stored(log: &Log, options: Options) -> Result<String, Error> {
    let bytes = ingest::read(log, None, Vec::new(), options, &|_| {}).map_err(Error::other)?;
    let n_bytes = bytes.len();
    // before the magic at the end
    let checksum = bytes.get(n_bytes - 16..n_bytes - 8).map(<[u8]>::to_vec).unwrap_or_default();
    let store = store::Store::open(Box::new(bytes)).ok_or(Error::other("not a whole store"))?;
    Ok(format!("{n_bytes} bytes, {} tasks, checksum {checksum:02x?}", store.n_tasks()))
}
