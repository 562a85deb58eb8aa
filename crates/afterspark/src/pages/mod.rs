//! Pages: HTML that is complete without a script, at the addresses of Spark's own interface. A page is a file that asks
//! `views` and fills blocks; [`PAGES`] lists those below an application.

mod chart;
mod connect;
mod dag;
mod environment;
mod execution;
mod executor_times;
mod executors;
mod files;
mod frame;
mod graph;
mod job;
mod jobs;
mod lanes;
mod list;
mod live;
mod look;
mod operators;
mod plan;
mod pools;
mod rdd;
mod setting;
mod sql;
mod stage;
mod stage_charts;
mod stage_executors;
mod stage_numbers;
mod stages;
mod storage;
mod streaming;
mod streaming_charts;
mod table;
mod tasks;
mod thrift;
mod timeline;
mod view;
mod visit;
mod zone;

use askama::Template;

use crate::api::{Answer, Handled, Request, v1::Call};
use view::{Block, View};
use visit::Visit;

pub(crate) use list::answer as list;

/// What browsers may load: nothing but what comes from here, and no script or style within a page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'self'";

/// A page below an application attempt.
pub(crate) struct Page {
    /// Its segments in the address.
    path: &'static [&'static str],
    tab: Tab,
    view: fn(&Visit<'_>) -> Result<View, Answer>,
}

/// Whether a page stands in the bar at the top.
#[derive(Clone, Copy)]
enum Tab {
    Always(&'static str),
    /// When the application did such a thing.
    Used(&'static str, fn(&store::Tables) -> bool),
    /// It is below the page at the first segment.
    Below,
}

/// In the order of their tabs, which is Spark's.
const PAGES: &[&[Page]] = &[
    jobs::PAGES,
    stages::PAGES,
    storage::PAGES,
    environment::PAGES,
    executors::PAGES,
    sql::PAGES,
    streaming::PAGES,
    thrift::PAGES,
    connect::PAGES,
    timeline::PAGES,
    live::PAGES,
];

fn pages() -> impl Iterator<Item = &'static Page> {
    PAGES.iter().copied().flatten()
}

/// How a request for a page is answered.
pub(crate) enum Plan {
    Now(Answer),
    List,
    Below { app: String, attempt: Option<String>, page: &'static Page },
}

/// Plans the answer to a request for a page; `None` when no page has the address.
pub(crate) fn plan(request: &Request, path: &[&str]) -> Option<(&'static str, Plan)> {
    let owned = |text: &str| text.to_owned();
    Some(match path {
        [] | ["history"] => ("/", Plan::List),
        ["static", name] => ("/static", Plan::Now(files::answer(name)?)),
        ["look"] => ("/look", Plan::Now(look::answer(request))),
        ["history", app] => ("/history", Plan::Now(to_first(request, app, None))),
        ["history", app, below @ ..] => {
            let below_attempt = || {
                let (attempt, below) = below.split_first()?;
                page_at(below).map(|page| (Some(owned(attempt)), page))
            };
            match page_at(below).map(|page| (None, page)).or_else(below_attempt) {
                Some((attempt, page)) => {
                    (page.path[0], Plan::Below { app: owned(app), attempt, page })
                }
                None => match below {
                    // what is no page is the id of an attempt
                    [attempt] => ("/history", Plan::Now(to_first(request, app, Some(attempt)))),
                    _ => return None,
                },
            }
        }
        _ => return None,
    })
}

fn page_at(path: &[&str]) -> Option<&'static Page> {
    pages().find(|page| page.path == path)
}

/// An application's first page.
fn to_first(request: &Request, app: &str, attempt: Option<&str>) -> Answer {
    let base = visit::base(request, app, attempt);
    Answer::empty(302).with_header("location", format!("{base}/jobs/"))
}

/// A page about an application.
#[derive(Template)]
#[template(path = "app.html")]
struct App<'a> {
    root: &'a str,
    theme: &'static str,
    frame: &'a frame::Frame,
    view: &'a View,
}

/// Answers with a page about an application attempt.
pub(crate) fn answer(page: &'static Page, call: &Call<'_>) -> Handled {
    let visit = Visit::of(call);
    let view = (page.view)(&visit)?;
    let frame = frame::Frame::of(&visit, page);
    let root = call.request.base_path();
    let theme = look::theme(call.request);
    let answer = html(view.status, &App { root, theme, frame: &frame, view: &view });
    Ok(look::kept(call.request, answer))
}

/// A page that says why there is none.
pub(crate) fn refusal(request: &Request, status: u16, why: &str) -> Answer {
    let theme = look::theme(request);
    html(status, &frame::Refusal { root: request.base_path(), theme, status, why })
}

fn html(status: u16, page: &impl Template) -> Answer {
    match page.render() {
        Ok(text) => Answer::of(status, "text/html; charset=utf-8", text.into_bytes())
            .with_header("content-security-policy", POLICY)
            .with_header("referrer-policy", "same-origin")
            .with_header("x-content-type-options", "nosniff")
            .with_header("cache-control", "no-cache"),
        // a template fails when what it is written to does, and memory does not
        Err(error) => Answer::text(500, error.to_string()),
    }
}
