//! `afterspark serve`: Spark's REST API over folders of event logs.

mod properties;
mod sources;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use fleet::Fleet;

use self::properties::Properties;
use super::{Failure, Outcome, complain, size};
use crate::api::{AnswerOptions, AnswerSettings, v1::SparkApi};
use crate::cache::Cache;
use crate::serve::{self, Library, LogForm, Memory, Options};
use crate::settings;

/// Serve Spark's REST API over folders of event logs
#[derive(Args)]
#[command(after_help = "Examples:
  afterspark serve /logs
  afterspark serve prod=/logs/prod test=/logs/test --port 8080
  afterspark serve --properties-file /opt/spark/conf/spark-defaults.conf

Settings of Spark's history server are taken from --properties-file and from -Dkey=value in SPARK_HISTORY_OPTS; \
of the two, SPARK_HISTORY_OPTS wins, as it does for Spark. Options here win over both.
Logs are only read: none is ever deleted or changed.")]
pub(super) struct Serve {
    /// Folders of event logs, or single logs; each may have a name [default: spark.history.fs.logDirectory]
    #[arg(value_name = "[NAME=]SOURCE")]
    sources: Vec<String>,
    /// Port to listen on; 0 takes any that is free [default: spark.history.ui.port, else 18080]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Address to listen on
    #[arg(long, value_name = "ADDR", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// Memory to stay within, for example 1g [default: a quarter of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    memory: Option<u64>,
    /// Where the list of applications, and logs that were read, are kept in compact form
    #[arg(long, value_name = "DIR")]
    cache_dir: Option<PathBuf>,
    /// The Spark whose answers `/api/v1` gives
    #[arg(long, value_enum, value_name = "VERSION", default_value = "4.3")]
    spark_api: SparkApi,
    /// Spark's settings, as spark-defaults.conf
    #[arg(long, value_name = "FILE")]
    properties_file: Option<PathBuf>,
    /// How each request is told on stderr
    #[arg(long, value_enum, value_name = "FORM", default_value_t = LogFlag::Text)]
    log: LogFlag,
    /// Properties whose name or value this is found in are not shown [default: spark.redaction.regex, else Spark's]
    #[arg(long, value_name = "REGEX")]
    redaction_regex: Option<String>,
    /// Where executors' logs are; `{{NAME}}` stands for an attribute of the executor, `{{FILE_NAME}}` for a log
    /// [default: spark.history.custom.executor.log.url]
    #[arg(long, value_name = "PATTERN")]
    executor_log_url: Option<String>,
    /// Apply the pattern to completed applications only
    #[arg(long)]
    executor_log_url_of_completed_only: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogFlag {
    Text,
    Json,
    Off,
}

const PORT_DEFAULT: u16 = 18080;
const INTERVAL_DEFAULT_MS: u64 = 10_000;

const PORT: &str = "spark.history.ui.port";
const INTERVAL: &str = "spark.history.fs.update.interval";
const CLEANER: &str = "spark.history.fs.cleaner.";
const ACCESS: &str = "spark.history.ui.acls.enable";
const LOG_URL: &str = "spark.history.custom.executor.log.url";
const LOG_URL_INCOMPLETE: &str = "spark.history.custom.executor.log.url.applyIncompleteApplication";
/// Those of `spark.history.` that count here.
const USED: [&str; 7] = [
    "spark.history.fs.logDirectory",
    "spark.history.fs.logDirectory.names",
    PORT,
    INTERVAL,
    ACCESS,
    LOG_URL,
    LOG_URL_INCOMPLETE,
];

impl Serve {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        let properties = self.properties()?;
        let sources = sources::resolve(&self.sources, &properties)?;
        let port = match (self.port, properties.get(PORT)) {
            (Some(port), _) => port,
            (None, Some(text)) => text.parse().map_err(|_| no_form(PORT, text, "a port"))?,
            (None, None) => PORT_DEFAULT,
        };
        let interval_ms = match properties.get(INTERVAL) {
            Some(text) => properties::duration_ms(text)
                .ok_or_else(|| no_form(INTERVAL, text, "a duration, for example 10s"))?,
            None => INTERVAL_DEFAULT_MS,
        };
        tell(&properties);
        let n_threads = settings::n_threads();
        let memory = Memory::of(self.memory.unwrap_or_else(settings::memory_bytes), n_threads);
        let cache_dir = self.cache_dir.clone().or_else(settings::cache_dir);
        let now_ms = serve::now_ms();
        let (fleet, warning) = Fleet::open(sources, n_threads, cache_dir.as_deref(), now_ms);
        if let Some(warning) = warning {
            complain(&warning, Some("give another place with --cache-dir DIR"));
        }
        let cache = Cache::new(cache_dir);
        let answers = self.answer_settings(&properties)?;
        let library = Library::new(fleet, cache, memory, answers);
        let address = SocketAddr::new(self.bind, port);
        let options = Options {
            api: self.spark_api,
            address,
            interval: Duration::from_millis(interval_ms),
            log: match self.log {
                LogFlag::Text => Some(LogForm::Text),
                LogFlag::Json => Some(LogForm::Json),
                LogFlag::Off => None,
            },
            proxy_base: given(&properties, "spark.ui.proxyBase").unwrap_or_default(),
        };
        let ready = |at: SocketAddr| complain(&format!("listening on http://{at}"), None);
        serve::run(library, &options, ready).map_err(|error| refused(address, &error))?;
        Ok(Outcome::Done)
    }

    fn answer_settings(&self, properties: &Properties) -> Result<AnswerSettings, Failure> {
        let of_running = given(properties, LOG_URL_INCOMPLETE).is_none_or(|text| text != "false");
        let or = |option: &Option<String>, key| option.clone().or_else(|| given(properties, key));
        let answers = AnswerOptions {
            redaction_regex: or(&self.redaction_regex, "spark.redaction.regex"),
            executor_log_url: or(&self.executor_log_url, LOG_URL),
            executor_log_url_of_completed_only: self.executor_log_url_of_completed_only
                || !of_running,
        };
        AnswerSettings::new(&answers, self.spark_api).map_err(|error| Failure {
            what: format!("cannot read the redaction pattern: {error}"),
            hint: Some("write it without look-around and back references".to_owned()),
        })
    }

    /// Of the file, then of the options of the Java machine.
    fn properties(&self) -> Result<Properties, Failure> {
        let mut all = Properties::new();
        if let Some(path) = &self.properties_file {
            let text = std::fs::read_to_string(path).map_err(|error| Failure {
                what: format!("cannot read {}: {error}", path.display()),
                hint: Some("--properties-file takes a file such as spark-defaults.conf".to_owned()),
            })?;
            all = properties::read_file(&text);
            all.retain(|key, _| key.starts_with("spark."));
        }
        for options in settings::java_options() {
            all.extend(properties::read_java_options(&options));
        }
        Ok(all)
    }
}

fn given(properties: &Properties, key: &str) -> Option<String> {
    properties.get(key).filter(|value| !value.is_empty()).cloned()
}

/// What of the settings does not do here what it does for Spark.
fn tell(properties: &Properties) {
    let is_true = |key: &str| properties.get(key).is_some_and(|value| value == "true");
    if properties.keys().any(|key| key.starts_with(CLEANER)) {
        complain(&format!("{CLEANER}* is not used: logs are only read, and none is deleted"), None);
    }
    if is_true(ACCESS) {
        let hint = "put a proxy in front that decides who may see what";
        complain(&format!("{ACCESS} is not used: everybody may see everything"), Some(hint));
    }
    let mut unknown = properties.keys().filter(|key| {
        key.starts_with("spark.history.")
            && !USED.contains(&key.as_str())
            && !key.starts_with(CLEANER)
    });
    if let Some(first) = unknown.next() {
        let all = unknown.fold(first.clone(), |all, key| format!("{all}, {key}"));
        complain(&format!("settings without effect: {all}"), None);
    }
}

fn no_form(key: &str, text: &str, what: &str) -> Failure {
    Failure { what: format!("{key} is {text}, which is not {what}"), hint: None }
}

fn refused(address: SocketAddr, error: &io::Error) -> Failure {
    let (what, hint) = match error.kind() {
        io::ErrorKind::AddrInUse => (
            "another program listens there".to_owned(),
            "choose another port with --port N, or any free one with --port 0",
        ),
        io::ErrorKind::AddrNotAvailable => (
            "this machine does not have that address".to_owned(),
            "give one of its own with --bind, or 0.0.0.0 for all of them",
        ),
        io::ErrorKind::PermissionDenied => (
            "not allowed".to_owned(),
            "ports below 1024 take privileges; choose another with --port N",
        ),
        _ => (error.to_string(), "choose another port with --port N"),
    };
    Failure { what: format!("cannot listen on {address}: {what}"), hint: Some(hint.to_owned()) }
}
