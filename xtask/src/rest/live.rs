//! `xtask rest live`: Spark's history server and ours on one folder in one run, asked the same side by side.

use std::path::PathBuf;
use std::time::Duration;

use super::Outcome;
use super::capture::{ask, parts};
use super::difference::How;
use super::exceptions::Exceptions;
use super::recording::is_completed;
use super::replay::side_by_side;
use super::tally::Tally;
use super::{API, EXCEPTIONS};
use crate::json::Json;
use crate::servers::{self, Spark};

#[derive(clap::Args)]
pub struct Options {
    /// Folder of event logs
    logs: PathBuf,
    /// Where Spark is, 4.2 or 4.3; by default what `lab/setup.sh` installed below lab-work
    #[arg(long)]
    spark_home: Option<PathBuf>,
    /// Heap of Spark's server
    #[arg(long, default_value = "2g")]
    heap: String,
    #[arg(long, default_value = "target/release/afterspark")]
    afterspark: PathBuf,
    /// Folder for the servers' files
    #[arg(long, default_value = "lab-work/live")]
    work: PathBuf,
    /// Seconds that a server has to list the logs
    #[arg(long, default_value_t = 600)]
    timeout_s: u64,
    /// Only attempts whose name, `APP` or `APP_ATTEMPT`, contains this; `_server` is what is asked of the server itself
    #[arg(long, default_value = "")]
    only: String,
    /// Differing answers shown of each class
    #[arg(long, default_value_t = 3)]
    show: usize,
    /// Attempts that are walked at a time
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Table of the differences that are meant
    #[arg(long, default_value = EXCEPTIONS, hide_default_value = true)]
    exceptions: PathBuf,
    #[command(flatten)]
    how: How,
}

/// Whether all answers are the same, but for named exceptions.
pub(super) fn run(options: &Options, print: &mut dyn FnMut(String)) -> Outcome<bool> {
    let exceptions = Exceptions::load(&options.exceptions)?;
    let home = options.spark_home.clone().or_else(servers::installed);
    let home = home.ok_or("no Spark: run lab/setup.sh or give --spark-home")?;
    let limit = Duration::from_secs(options.timeout_s);
    let spark = Spark { home: &home, heap: &options.heap, work: &options.work, settings: &[] };
    let mut spark = spark.start(&options.logs)?;
    spark.wait(None, limit)?;
    let answer = spark.client()?.get(&format!("{API}/version"))?;
    let version: Json = serde_json::from_slice(&answer.body)?;
    let version = version.get("spark").map(Json::text).unwrap_or_default();
    let api = version.rsplit_once('.').map_or(version, |(api, _)| api);
    let cache = options.work.join("cache").display().to_string();
    let more = ["--spark-api", api, "--cache-dir", &cache];
    let mut ours = servers::afterspark(&options.afterspark, &options.logs, &more)?;
    ours.wait(None, limit)?;

    let (applications, mut parts) = parts(&mut spark.client()?)?;
    print(format!("Spark {version}: {} attempts listed", parts.len() - 1));
    parts.retain(|part| part.name().contains(&options.only));
    let tally = side_by_side(&parts, options.threads, Tally::new(options.show), |part| {
        let (mut spark, mut ours) = (spark.client()?, ours.client()?);
        let mut tally = Tally::new(options.show);
        let mut is_ended = true;
        part.walk(&applications, &mut |class, path| {
            let golden = ask(&mut spark, class, path)?;
            if class == "application" {
                is_ended = golden.json().and_then(is_completed).unwrap_or(is_ended);
            }
            match ask(&mut ours, class, path) {
                Ok(ours) => tally.compare(&golden, &ours, is_ended, options.how, &exceptions),
                Err(error) => tally.missing(&golden, &error.to_string()),
            }
            Ok(golden.json().cloned())
        })?;
        Ok(tally)
    })?;
    tally.print(&exceptions, print);
    Ok(tally.n_wrong() == 0)
}
