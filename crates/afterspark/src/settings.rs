//! The only place that reads the environment and asks what machine this is.

use std::path::PathBuf;

/// Memory that is assumed where the machine does not say: 4 GiB.
const MACHINE_BYTES_DEFAULT: u64 = 4 << 30;

#[expect(clippy::disallowed_methods, reason = "this is the one place")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Where caches go when nothing else is said: `AFTERSPARK_CACHE_DIR`, the user's cache folder, or none.
pub(crate) fn cache_dir() -> Option<PathBuf> {
    if let Some(dir) = variable("AFTERSPARK_CACHE_DIR") {
        return Some(dir.into());
    }
    if let Some(dir) = variable("XDG_CACHE_HOME") {
        return Some(PathBuf::from(dir).join("afterspark"));
    }
    variable("HOME").map(|home| PathBuf::from(home).join(".cache/afterspark"))
}

/// Options of the Java machine that Spark's history server would be started with, the ones that win last.
pub(crate) fn java_options() -> Vec<String> {
    ["SPARK_DAEMON_JAVA_OPTS", "SPARK_HISTORY_OPTS"].into_iter().filter_map(variable).collect()
}

/// Whether the user asked for no colours (<https://no-color.org>).
pub(crate) fn no_color() -> bool {
    variable("NO_COLOR").is_some() || variable("TERM").is_some_and(|term| term == "dumb")
}

/// Threads that can run at the same time.
pub(crate) fn n_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A quarter of the machine's memory.
pub(crate) fn memory_bytes() -> u64 {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = meminfo.lines().find_map(|line| {
        let kib = line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?.trim();
        kib.parse::<u64>().ok()
    });
    total.map_or(MACHINE_BYTES_DEFAULT, |kib| kib << 10) / 4
}
