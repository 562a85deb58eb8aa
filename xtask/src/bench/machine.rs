//! Where and with what a run was made.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

pub(super) struct Machine {
    pub(super) date: String,
    pub(super) cpu: String,
    pub(super) cores: usize,
    pub(super) memory_bytes: u64,
    pub(super) kernel: String,
    /// Processes that were running or waiting in the minute before.
    pub(super) load: String,
    pub(super) afterspark: String,
    pub(super) commit: String,
    pub(super) compiler: String,
    pub(super) java: String,
    pub(super) spark: String,
}

impl Machine {
    pub(super) fn here(afterspark: &Path, spark_home: Option<&Path>) -> Machine {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let field = |text: &str, name: &str| {
            let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
            line.split_once(':').map_or(String::new(), |(_, value)| value.trim().to_owned())
        };
        let memory = field(&read("/proc/meminfo"), "MemTotal");
        let kib = memory.split(' ').next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
        let load = read("/proc/loadavg");
        Machine {
            date: today(),
            cpu: field(&read("/proc/cpuinfo"), "model name"),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            memory_bytes: kib * 1_024,
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            load: load.split(' ').next().unwrap_or_default().to_owned(),
            afterspark: said(Command::new(afterspark).arg("--version")),
            commit: said(Command::new("git").args(["rev-parse", "--short=12", "HEAD"])),
            compiler: said(Command::new("rustc").arg("--version")),
            java: said(Command::new("java").arg("-version")),
            spark: spark_home.and_then(spark_version).unwrap_or_default(),
        }
    }

    pub(super) fn as_json(&self) -> Value {
        json!({
            "date": self.date, "cpu": self.cpu, "cores": self.cores,
            "memory_bytes": self.memory_bytes, "kernel": self.kernel, "load": self.load,
            "afterspark": self.afterspark, "commit": self.commit, "compiler": self.compiler,
            "java": self.java, "spark": self.spark,
        })
    }
}

/// The first line a program says, on either stream.
fn said(command: &mut Command) -> String {
    let Ok(output) = command.output() else { return String::new() };
    let all = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&all).lines().next().unwrap_or_default().to_owned()
}

/// The version in the name of Spark's core library.
fn spark_version(home: &Path) -> Option<String> {
    let jars = fs::read_dir(home.join("jars")).ok()?;
    let names = jars.filter_map(|jar| jar.ok()?.file_name().into_string().ok());
    let core = names.filter(|name| name.starts_with("spark-core_")).min()?;
    Some(core.trim_end_matches(".jar").rsplit('-').next()?.to_owned())
}

/// The date in UTC. Days become a date by counting in eras of 400 years that begin in March.
fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    date(since.as_secs() / 86_400)
}

fn date(days_since_1970: u64) -> String {
    let days = days_since_1970 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn days_become_dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(20_788), "2026-12-01");
    }
}
