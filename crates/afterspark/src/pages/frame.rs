//! What stands around every page: the application's name, tabs, and what its log lacks.

use askama::Template;

use super::table::Cell;
use super::view::{Fact, fact};
use super::visit::{Visit, encoded};
use super::{Page, Tab, pages};
use crate::text;

/// The head and foot of a page about an application.
pub(super) struct Frame {
    pub(super) name: String,
    pub(super) id: String,
    pub(super) base: String,
    pub(super) tabs: Vec<OpenTab>,
    /// What is told of the application on every page.
    pub(super) facts: Vec<Fact>,
    pub(super) zone: String,
    /// The page where the look is chosen.
    pub(super) look: String,
    pub(super) gaps: Vec<Gap>,
}

pub(super) struct OpenTab {
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
    pub(super) theme: &'static str,
    pub(super) status: u16,
    pub(super) why: &'r str,
}

impl Frame {
    pub(super) fn of(visit: &Visit<'_>, open: &Page) -> Frame {
        let attempt = visit.call.attempt;
        let gaps = views::gaps(visit.store).into_iter();
        let gaps = gaps.filter(|gap| gap.severity != store::Severity::Note);
        let back = encoded(&visit.call.request.uri);
        let tables = visit.store.tables();
        let tab = |page: &Page| {
            let title = match page.tab {
                Tab::Always(title) => title,
                Tab::Used(title, is_used) if is_used(tables) => title,
                Tab::Used(..) | Tab::Below => return None,
            };
            let link = format!("{}/{}/", visit.base, page.path.join("/"));
            Some(OpenTab { title, link, is_open: page.path[0] == open.path[0] })
        };
        Frame {
            name: attempt.name.clone(),
            id: attempt.app_id.clone(),
            base: visit.base.clone(),
            tabs: pages().filter_map(tab).collect(),
            facts: facts(visit),
            zone: visit.zone.name.clone(),
            look: format!("{}/look?back={back}", visit.call.request.base_path()),
            gaps: gaps
                .map(|gap| Gap {
                    what: format!("{} × {} {}", text::count(gap.n as i64), gap.kind, gap.detail),
                    meaning: gap.meaning,
                })
                .collect(),
        }
    }
}

fn facts(visit: &Visit<'_>) -> Vec<Fact> {
    let attempt = visit.call.attempt;
    let app = &visit.store.tables().app;
    let ended = match app.ended_at_ms {
        Some(_) => visit.instant(app.ended_at_ms),
        None => {
            Cell::text("not ended").exact("The log has no end: it runs still, or its driver died")
        }
    };
    let last_at_ms = app.ended_at_ms.or(app.last_event_at_ms);
    let duration_ms = app.started_at_ms.zip(last_at_ms).map(|(from, to)| to.saturating_sub(from));
    let version = app.spark_version.map(|version| visit.text(version));
    let mut facts = vec![
        fact("User", "Who ran it", Cell::text(visit.text(app.user))),
        fact("Spark", "Version that wrote the log", Cell::text(version.unwrap_or(text::MISSING))),
        fact("Started", "", visit.instant(app.started_at_ms)),
        fact("Ended", "", ended),
        fact(
            "Duration",
            "Start to end; to the last event of the log where it has no end",
            Cell::text(text::or_missing(duration_ms, text::duration)),
        ),
    ];
    if let Some(id) = &attempt.attempt_id {
        facts.insert(0, fact("Attempt", "Of the application", Cell::text(id)));
    }
    if let Some(code) = app.exit_code.filter(|code| *code != 0) {
        let cell = Cell::text(code.to_string()).bad_if(true);
        facts.push(fact("Exit code", "What the driver ended with", cell));
    }
    facts
}
