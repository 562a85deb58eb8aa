//! A visit of a page about an application attempt: what the page is made of, and how its links and times are written.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use store::{StageAttemptId, Store, Text};

use super::table::{Cell, Column, Link, sorted};
use super::zone::Zone;
use crate::api::{Query, Request, v1::Call};
use crate::text;

/// See the module.
pub(super) struct Visit<'c> {
    pub(super) call: &'c Call<'c>,
    pub(super) store: &'c Store,
    /// The address of the attempt, without a slash at its end.
    pub(super) base: String,
    pub(super) zone: Zone,
    pub(super) started_at_ms: Option<i64>,
}

/// The address of an application attempt.
pub(super) fn base(request: &Request, app: &str, attempt: Option<&str>) -> String {
    let mut base = format!("{}/history/{}", request.base_path(), encoded(app));
    if let Some(attempt) = attempt {
        base.extend(["/", &encoded(attempt)]);
    }
    base
}

/// Text as a segment or a value of an address.
pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, &UNSAFE).to_string()
}

/// All but what RFC 3986 leaves as it is.
const UNSAFE: percent_encoding::AsciiSet =
    NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

impl<'c> Visit<'c> {
    pub(super) fn of(call: &'c Call<'c>) -> Visit<'c> {
        let attempt = call.attempt;
        Visit {
            call,
            store: call.store,
            base: base(call.request, &attempt.app_id, attempt.attempt_id.as_deref()),
            zone: Zone::of(call.request),
            started_at_ms: call.store.tables().app.started_at_ms,
        }
    }

    pub(super) fn query(&self) -> &'c Query {
        self.call.query()
    }

    pub(super) fn text(&self, text: Text) -> &'c str {
        self.store.text(text)
    }

    /// A number of the query.
    pub(super) fn asked<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.query().first(name)?.trim().parse().ok()
    }

    pub(super) fn job_link(&self, id: i32) -> String {
        format!("{}/jobs/job/?id={id}", self.base)
    }

    pub(super) fn stage_link(&self, id: StageAttemptId) -> String {
        format!("{}/stages/stage/?id={}&attempt={}", self.base, id.stage, id.attempt)
    }

    pub(super) fn sql_link(&self, id: i64) -> String {
        format!("{}/SQL/execution/?id={id}", self.base)
    }

    /// The tasks table of a stage attempt, with only one task index in it.
    pub(super) fn task_link(&self, id: StageAttemptId, index: i64) -> String {
        format!("{}&task.index={index}#task", self.stage_link(id))
    }

    pub(super) fn jobs(&self, ids: impl IntoIterator<Item = i32>) -> Vec<Link> {
        let link = |id| Link { text: format!("{id}"), to: self.job_link(id) };
        ids.into_iter().map(link).collect()
    }

    pub(super) fn stages(&self, ids: impl IntoIterator<Item = StageAttemptId>) -> Vec<Link> {
        let text = |id: StageAttemptId| match id.attempt {
            0 => id.stage.to_string(),
            _ => id.to_string(),
        };
        let link = |id| Link { text: text(id), to: self.stage_link(id) };
        ids.into_iter().map(link).collect()
    }

    /// An instant in the visitor's zone; the offset from the application's start is told when asked.
    pub(super) fn instant(&self, at_ms: Option<i64>) -> Cell {
        let Some(at_ms) = at_ms else { return Cell::text(text::MISSING) };
        let mut exact = self.zone.exact(at_ms);
        if let Some(started_at_ms) = self.started_at_ms {
            exact.extend([" (", &since_start(at_ms, started_at_ms), ")"]);
        }
        Cell::text(self.zone.write(at_ms)).exact(exact)
    }

    /// A column of instants.
    pub(super) fn instants<'v, R>(
        &'v self,
        title: &'static str,
        hint: &'static str,
        of: impl Fn(&R) -> Option<i64> + Copy + 'v,
    ) -> Column<'v, R> {
        sorted(title, hint, of, move |row| self.instant(of(row)))
    }
}

/// `+02:31`, `+1:02:03`: time since the application started.
pub(super) fn since_start(at_ms: i64, started_at_ms: i64) -> String {
    let ms = at_ms.saturating_sub(started_at_ms);
    let (sign, s) = (if ms < 0 { '−' } else { '+' }, ms.unsigned_abs() / 1_000);
    match s / 3_600 {
        0 => format!("{sign}{:02}:{:02}", s / 60, s % 60),
        hours => format!("{sign}{hours}:{:02}:{:02}", s / 60 % 60, s % 60),
    }
}
