//! `afterspark serve`: Spark's REST API over folders of event logs.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use clap::Args;
use fleet::{Fleet, Source};
use ingest::Options;

use super::{Failure, Outcome, complain, size};
use crate::{
    api::{AnswerOptions, AnswerSettings, v1::SparkApi},
    cache::Cache,
    serve::{self, Library},
    settings,
};

/// Serve Spark's REST API over folders of event logs
#[derive(Args)]
pub(super) struct Serve {
    /// Folders of event logs, or single logs
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// Port to listen on; 0 takes any that is free
    #[arg(long, value_name = "N", default_value_t = 18080)]
    port: u16,
    /// Address to listen on
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1")]
    bind: IpAddr,
    /// Memory to stay within, for example 1g [default: a quarter of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    memory: Option<u64>,
    /// Where logs that were read are kept in compact form
    #[arg(long, value_name = "DIR")]
    cache_dir: Option<PathBuf>,
    /// The Spark whose answers `/api/v1` gives
    #[arg(long, value_enum, value_name = "VERSION", default_value = "4.3")]
    spark_api: SparkApi,
    /// Properties whose name or value this is found in are not shown [default: Spark's]
    #[arg(long, value_name = "REGEX")]
    redaction_regex: Option<String>,
    /// Where executors' logs are; `{{NAME}}` stands for an attribute of the executor, `{{FILE_NAME}}` for a log
    #[arg(long, value_name = "PATTERN")]
    executor_log_url: Option<String>,
    /// Apply the pattern to completed applications only
    #[arg(long, requires = "executor_log_url")]
    executor_log_url_of_completed_only: bool,
}

impl Serve {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        let memory_bytes = self.memory.unwrap_or_else(settings::memory_bytes);
        let options = Options::within(settings::n_threads(), memory_bytes);
        let cache = Cache::new(self.cache_dir.or_else(settings::cache_dir));
        let sources = self.sources.iter().map(|path| source(path)).collect::<Result<_, _>>()?;
        let fleet = Fleet::new(sources, settings::n_threads());
        let answers = AnswerOptions {
            redaction_regex: self.redaction_regex,
            executor_log_url: self.executor_log_url,
            executor_log_url_of_completed_only: self.executor_log_url_of_completed_only,
        };
        let answers = AnswerSettings::new(&answers, self.spark_api).map_err(|error| Failure {
            what: format!("cannot read the redaction pattern: {error}"),
            hint: Some("write it without look-around and back references".to_owned()),
        })?;
        let library = Library::new(fleet, cache, options, answers);
        let address = SocketAddr::new(self.bind, self.port);
        let ready = |at: SocketAddr| complain(&format!("listening on http://{at}"), None);
        serve::run(library, self.spark_api, address, ready).map_err(|error| Failure {
            what: format!("cannot serve on {address}: {error}"),
            hint: Some("another --port may be free".to_owned()),
        })?;
        Ok(Outcome::Done)
    }
}

fn source(path: &Path) -> Result<Source, Failure> {
    let path = path.canonicalize().map_err(|error| Failure {
        what: format!("cannot read {}: {error}", path.display()),
        hint: Some("give a folder of event logs that exists and may be read".to_owned()),
    })?;
    let place = format!("file://{}", path.display());
    Ok(Source { name: place.clone(), place, path })
}
