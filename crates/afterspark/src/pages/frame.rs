//! What stands around every page: the application's name, tabs, and what its log lacks.

use askama::Template;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::PAGES;
use crate::api::{Request, v1::Call};
use crate::text;

/// The head of a page about an application.
pub(super) struct Frame {
    /// What stands before every address of this server.
    pub(super) root: String,
    pub(super) title: &'static str,
    pub(super) name: String,
    pub(super) id: String,
    pub(super) tabs: Vec<Tab>,
    /// Name and value of what is told of the application on every page.
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) gaps: Vec<Gap>,
}

pub(super) struct Tab {
    pub(super) title: &'static str,
    pub(super) link: String,
    pub(super) is_open: bool,
}

/// A kind of gap that makes numbers wrong, or lower bounds.
pub(super) struct Gap {
    pub(super) what: String,
    pub(super) meaning: &'static str,
}

/// A page that says why there is none.
#[derive(Template)]
#[template(path = "refusal.html")]
pub(super) struct Refusal<'r> {
    pub(super) root: &'r str,
    pub(super) status: u16,
    pub(super) why: &'r str,
}

/// The address of an application attempt.
pub(super) fn base(request: &Request, app: &str, attempt: Option<&str>) -> String {
    let encoded = |text: &str| utf8_percent_encode(text, &UNSAFE).to_string();
    let mut base = format!("{}/history/{}", request.base_path(), encoded(app));
    if let Some(attempt) = attempt {
        base.extend(["/", &encoded(attempt)]);
    }
    base
}

/// All but what RFC 3986 leaves as it is.
const UNSAFE: percent_encoding::AsciiSet =
    NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

impl Frame {
    pub(super) fn of(call: &Call<'_>, title: &'static str) -> Frame {
        let attempt = call.attempt;
        let base = base(call.request, &attempt.app_id, attempt.attempt_id.as_deref());
        let app = views::app_summary(call.store, views::Scope::default());
        let missing = || text::MISSING.to_owned();
        let ended = match app.ended_at_ms {
            Some(at_ms) => text::instant(at_ms),
            None => "not ended".to_owned(),
        };
        let facts = vec![
            ("Attempt", attempt.attempt_id.clone().unwrap_or_else(missing)),
            ("User", app.user),
            ("Spark", app.spark_version.unwrap_or_else(missing)),
            ("Started", text::or_missing(app.started_at_ms, text::instant)),
            ("Ended", ended),
            ("Duration", text::or_missing(app.duration_ms, text::duration)),
        ];
        let gaps = views::gaps(call.store).into_iter();
        let gaps = gaps.filter(|gap| gap.severity != store::Severity::Note);
        Frame {
            root: call.request.base_path().to_owned(),
            title,
            name: attempt.name.clone(),
            id: attempt.app_id.clone(),
            tabs: PAGES
                .iter()
                .map(|page| Tab {
                    title: page.title,
                    link: format!("{base}/{}/", page.path),
                    is_open: page.title == title,
                })
                .collect(),
            facts,
            gaps: gaps
                .map(|gap| Gap {
                    what: format!("{} × {} {}", text::count(gap.n as i64), gap.kind, gap.detail),
                    meaning: gap.meaning,
                })
                .collect(),
        }
    }
}
