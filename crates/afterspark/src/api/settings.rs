//! What answers depend on beside the log.

use store::{Pairs, Store};
use views::LogUrlPattern;

use super::{Redaction, v1::SparkApi};

/// As Spark's settings name them.
#[derive(Clone, Debug, Default)]
pub(crate) struct AnswerOptions {
    /// `spark.redaction.regex`.
    pub(crate) redaction_regex: Option<String>,
    /// `spark.history.custom.executor.log.url`.
    pub(crate) executor_log_url: Option<String>,
    /// The opposite of `spark.history.custom.executor.log.url.applyIncompleteApplication`.
    pub(crate) executor_log_url_of_completed_only: bool,
}

/// See the module.
pub(crate) struct AnswerSettings {
    /// Whose answers are given.
    pub(crate) api: SparkApi,
    redaction: Redaction,
    log_url: Option<LogUrlPattern>,
    log_url_of_completed_only: bool,
}

impl AnswerSettings {
    pub(crate) fn new(
        options: &AnswerOptions,
        api: SparkApi,
    ) -> Result<AnswerSettings, regex::Error> {
        let pattern = options.executor_log_url.as_deref().map(LogUrlPattern::new);
        Ok(AnswerSettings {
            api,
            redaction: Redaction::new(options.redaction_regex.as_deref(), api)?,
            log_url: pattern,
            log_url_of_completed_only: options.executor_log_url_of_completed_only,
        })
    }

    pub(crate) fn redaction(&self) -> &Redaction {
        &self.redaction
    }

    /// Names and addresses of an executor's logs.
    pub(crate) fn log_urls(
        &self,
        store: &Store,
        logs: &Pairs,
        attributes: &Pairs,
    ) -> Vec<(String, String)> {
        let is_completed = store.tables().app.ended_at_ms.is_some();
        let applies = is_completed || !self.log_url_of_completed_only;
        let pattern = self.log_url.as_ref().filter(|_| applies);
        views::log_urls(store, logs, attributes, pattern)
    }
}
