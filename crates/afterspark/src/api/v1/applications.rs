//! `applications`: the list, one application, and one attempt.

use serde::Serialize;

use super::{SparkApi, params};
use crate::api::{Answer, Date, Handled, Query};
use crate::serve::{Application, Attempt, Library};

#[derive(Serialize)]
struct ApplicationShape<'a> {
    id: &'a str,
    name: &'a str,
    attempts: Vec<AttemptShape<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AttemptShape<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt_id: Option<&'a str>,
    start_time: Date,
    end_time: Date,
    last_updated: Date,
    duration: i64,
    spark_user: &'a str,
    completed: bool,
    app_spark_version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    log_source_name: &'a str,
    log_source_full_path: &'a str,
    start_time_epoch: i64,
    end_time_epoch: i64,
    last_updated_epoch: i64,
}

/// The end of an attempt that has none.
const NO_END_MS: i64 = -1;

fn attempt_shape(api: SparkApi, attempt: &Attempt) -> AttemptShape<'_> {
    let end_ms = attempt.ended_at_ms.unwrap_or(NO_END_MS);
    let duration = attempt.ended_at_ms.map_or(0, |end| end.wrapping_sub(attempt.started_at_ms));
    AttemptShape {
        attempt_id: attempt.attempt_id.as_deref(),
        start_time: Date(attempt.started_at_ms),
        end_time: Date(end_ms),
        last_updated: Date(attempt.updated_at_ms),
        duration,
        spark_user: &attempt.user,
        completed: attempt.ended_at_ms.is_some(),
        app_spark_version: &attempt.spark_version,
        exit_code: attempt.exit_code.filter(|_| api >= SparkApi::V4_3),
        log_source_name: &attempt.source.name,
        log_source_full_path: &attempt.source.place,
        start_time_epoch: attempt.started_at_ms,
        end_time_epoch: end_ms,
        last_updated_epoch: attempt.updated_at_ms,
    }
}

fn shape(api: SparkApi, application: &Application) -> ApplicationShape<'_> {
    ApplicationShape {
        id: &application.id,
        name: &application.name,
        attempts: application.attempts.iter().map(|a| attempt_shape(api, a)).collect(),
    }
}

/// What the list is asked for.
struct Filter {
    completed: bool,
    running: bool,
    min_start_ms: i64,
    max_start_ms: i64,
    min_end_ms: i64,
    max_end_ms: i64,
    now_ms: i64,
}

impl Filter {
    fn read(query: &Query, now_ms: i64) -> Result<Filter, Answer> {
        let (mut completed, mut running, mut any) = (false, false, false);
        for status in query.all("status") {
            any = true;
            match status.to_ascii_uppercase().as_str() {
                "COMPLETED" => completed = true,
                "RUNNING" => running = true,
                "" => {}
                _ => return Err(Answer::page(404)),
            }
        }
        let date = |name: &str, default: &str| {
            let text = query.first(name).filter(|text| !text.is_empty()).unwrap_or(default);
            let wrong = || format!("Couldn't parse date: {text}").into_bytes();
            let read = Date::read(text).map(|date| date.0);
            read.ok_or_else(|| Answer::of(400, "application/json", wrong()))
        };
        Ok(Filter {
            completed: completed || !any,
            running: running || !any,
            min_start_ms: date("minDate", "2010-01-01")?,
            max_start_ms: date("maxDate", "3000-01-01")?,
            min_end_ms: date("minEndDate", "2010-01-01")?,
            max_end_ms: date("maxEndDate", "3000-01-01")?,
            now_ms,
        })
    }

    fn takes(&self, application: &Application) -> bool {
        let runs = application.attempts.first().is_none_or(|newest| newest.ended_at_ms.is_none());
        let wanted = if runs { self.running } else { self.completed };
        wanted && application.attempts.iter().any(|attempt| self.takes_attempt(attempt, runs))
    }

    fn takes_attempt(&self, attempt: &Attempt, runs: bool) -> bool {
        let started = self.min_start_ms..=self.max_start_ms;
        let ended = self.min_end_ms..=self.max_end_ms;
        let end_fits = if runs {
            self.max_end_ms > self.now_ms
        } else {
            ended.contains(&attempt.ended_at_ms.unwrap_or(NO_END_MS))
        };
        started.contains(&attempt.started_at_ms) && end_fits
    }
}

/// The list, newest end first.
pub(super) fn list(library: &Library, api: SparkApi, query: &Query, now_ms: i64) -> Handled {
    let filter = Filter::read(query, now_ms)?;
    let limit = usize::try_from(params::int(query, "limit", i32::MAX)?).unwrap_or(0);
    let found = library.applications(limit, |application| filter.takes(application));
    let shapes: Vec<ApplicationShape<'_>> = found.iter().map(|found| shape(api, found)).collect();
    Ok(Answer::json(&shapes))
}

/// One application with all its attempts.
pub(super) fn one(library: &Library, api: SparkApi, app: &str) -> Handled {
    let found = library.application(app);
    let found = found.ok_or_else(|| Answer::text(404, format!("unknown app: {app}")))?;
    Ok(Answer::json(&shape(api, &found)))
}

/// One attempt.
pub(super) fn attempt(library: &Library, api: SparkApi, app: &str, attempt: &str) -> Handled {
    let found = library.find(app, Some(attempt));
    let unknown = || Answer::text(404, format!("unknown app {app}, attempt {attempt}"));
    Ok(Answer::json(&attempt_shape(api, &*found.ok_or_else(unknown)?)))
}
