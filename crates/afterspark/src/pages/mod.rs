//! Pages: HTML that is complete without a script, at the addresses of Spark's own interface. A page is a file that asks
//! `views` and fills tables, beside a template of the same name; [`PAGES`] lists those below an application.

mod executors;
mod frame;
mod jobs;
mod list;
mod sql;
mod stages;
mod table;

use askama::Template;

use crate::api::{Answer, Handled, Request, v1::Call};

pub(crate) use list::answer as list;

/// What browsers may load: nothing but what comes from here, and no script or style within a page.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'self'";

/// A page below an application attempt.
struct Page {
    /// Its segment in the address.
    path: &'static str,
    title: &'static str,
    handler: fn(&Call<'_>) -> Handled,
}

/// In the order of their tabs, which is Spark's.
const PAGES: &[Page] = &[jobs::PAGE, stages::PAGE, executors::PAGE, sql::PAGE];

/// How a request for a page is answered.
pub(crate) enum Plan {
    Now(Answer),
    List,
    Below { app: String, attempt: Option<String>, handler: fn(&Call<'_>) -> Handled },
}

/// Plans the answer to a request for a page; `None` when no page has the address.
pub(crate) fn plan(request: &Request, path: &[&str]) -> Option<(&'static str, Plan)> {
    let owned = |text: &str| text.to_owned();
    Some(match path {
        [] | ["history"] => ("/", Plan::List),
        ["static", "afterspark.css"] => {
            ("/static", Plan::Now(file("text/css; charset=utf-8", STYLE)))
        }
        ["static", "icon.svg"] => ("/static", Plan::Now(file("image/svg+xml", ICON))),
        ["history", app] => ("/history", Plan::Now(to_first(request, app, None))),
        ["history", app, page] => match page_at(page) {
            Some(page) => {
                (page.path, Plan::Below { app: owned(app), attempt: None, handler: page.handler })
            }
            // what is no page is the id of an attempt
            None => ("/history", Plan::Now(to_first(request, app, Some(page)))),
        },
        ["history", app, attempt, page] => {
            let page = page_at(page)?;
            let attempt = Some(owned(attempt));
            (page.path, Plan::Below { app: owned(app), attempt, handler: page.handler })
        }
        _ => return None,
    })
}

fn page_at(path: &str) -> Option<&'static Page> {
    PAGES.iter().find(|page| page.path == path)
}

/// An application's first page.
fn to_first(request: &Request, app: &str, attempt: Option<&str>) -> Answer {
    let base = frame::base(request, app, attempt);
    Answer::empty(302).with_header("location", format!("{base}/{}/", PAGES[0].path))
}

const STYLE: &str = include_str!("../../templates/afterspark.css");
const ICON: &str = include_str!("../../templates/icon.svg");

fn file(content_type: &'static str, content: &str) -> Answer {
    Answer::of(200, content_type, content.as_bytes().to_vec())
        .with_header("cache-control", "max-age=300")
}

/// A page about an application: tables.
#[derive(Template)]
#[template(path = "app.html")]
struct App<'a> {
    root: &'a str,
    frame: &'a frame::Frame,
    tables: Vec<table::Table>,
}

/// A page that says why there is none.
pub(crate) fn refusal(request: &Request, status: u16, why: &str) -> Answer {
    html(status, &frame::Refusal { root: request.base_path(), status, why })
}

fn html(status: u16, page: &impl Template) -> Answer {
    match page.render() {
        Ok(text) => Answer::of(status, "text/html; charset=utf-8", text.into_bytes())
            .with_header("content-security-policy", POLICY)
            .with_header("cache-control", "no-cache"),
        // a template fails when what it is written to does, and memory does not
        Err(error) => Answer::text(500, error.to_string()),
    }
}
