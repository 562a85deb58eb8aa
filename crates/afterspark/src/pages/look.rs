//! `/look`: how a visitor wants pages to look: in which zone times are, light or dark. Browsers keep the choice.

use askama::Template;

use super::html;
use super::zone::{self, ZONE, Zone};
use crate::api::{Answer, Request};

/// The parameter, and the name under which browsers keep it.
const THEME: &str = "theme";
/// What follows the operating system, and what does not.
const THEMES: [&str; 3] = ["system", "light", "dark"];
/// For how long browsers keep a choice: a year, in seconds.
const KEPT_S: u32 = 365 * 86_400;

#[derive(Template)]
#[template(path = "look.html")]
struct Look<'l> {
    root: &'l str,
    theme: &'static str,
    zone: &'l str,
    zones: Vec<String>,
    /// Where the visitor came from.
    back: &'l str,
}

/// What of the themes is wanted.
pub(super) fn theme(request: &Request) -> &'static str {
    let asked = request.query.first(THEME).or_else(|| request.cookie(THEME));
    let known = |asked: &str| THEMES.into_iter().find(|theme| *theme == asked);
    asked.and_then(known).unwrap_or(THEMES[0])
}

/// Asks browsers to keep what the address says.
pub(super) fn kept(request: &Request, mut answer: Answer) -> Answer {
    let mut keep = |name: &str, value: &str| {
        let path = request.base_path();
        let cookie = format!("{name}={value}; Path={path}/; Max-Age={KEPT_S}; SameSite=Lax");
        answer.headers.push(("set-cookie", cookie));
    };
    if let Some(zone) = request.query.first(ZONE).and_then(Zone::named) {
        keep(ZONE, &zone.name);
    }
    if request.query.first(THEME).is_some() {
        keep(THEME, theme(request));
    }
    answer
}

/// Shows the choices; with a choice, keeps it and leads back.
pub(super) fn answer(request: &Request) -> Answer {
    let root = request.base_path();
    let asked = request.query.first("back").unwrap_or_default();
    // only to a page of this server
    let is_own =
        asked.starts_with('/') && !asked.starts_with("//") && !asked.contains(['\\', '\n', '\r']);
    let home = format!("{root}/");
    let back = if is_own { asked } else { &home };
    if request.query.first(ZONE).is_some() || request.query.first(THEME).is_some() {
        return kept(request, Answer::empty(303).with_header("location", back));
    }
    let (theme, zone) = (theme(request), Zone::of(request).name);
    html(200, &Look { root, theme, zone: &zone, zones: zone::names(), back })
}
