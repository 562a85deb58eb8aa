//! Paths below `/api/v1` to what answers them, as Spark's JAX-RS resources route, oddities included: what is no endpoint of
//! an application is taken for the id of an attempt, and below some names nothing else is tried.

use super::{Handler, Listed, SparkApi, routes, version, wadl};
use crate::api::{Answer, Request};

/// How a request is answered.
pub(crate) enum Plan {
    /// No log is needed.
    Now(Answer),
    /// The list of applications is.
    Listed(Listed),
    /// An attempt's store is.
    Below(Below),
}

/// What is asked of an attempt.
pub(crate) struct Below {
    pub(crate) app: String,
    pub(crate) attempt: Option<String>,
    pub(crate) handler: Handler,
    pub(crate) ids: Vec<String>,
    route: &'static [&'static str],
}

impl Plan {
    /// The endpoint, whatever the ids: there are only so many of these.
    pub(crate) fn endpoint(&self) -> String {
        match self {
            Plan::Now(_) => "/api/v1".to_owned(),
            Plan::Listed(Listed::Applications) => "/api/v1/applications".to_owned(),
            Plan::Listed(Listed::Application { .. }) => "/api/v1/applications/{}".to_owned(),
            Plan::Listed(Listed::Attempt { .. }) => "/api/v1/applications/{}/{}".to_owned(),
            Plan::Listed(Listed::Logs { .. }) => "/api/v1/applications/{}/logs".to_owned(),
            Plan::Below(below) => {
                let mut endpoint = "/api/v1/applications/{}".to_owned();
                for segment in below.route {
                    let segment = match *segment {
                        "*" | "#" | "##" => "{}",
                        literal => literal,
                    };
                    endpoint.extend(["/", segment]);
                }
                endpoint
            }
        }
    }
}

/// Names below which nothing but their own endpoints is tried: what does not fit is a page and not an attempt.
const CLOSED: [&str; 3] = ["stages", "sql", "streaming"];

/// Where a path leads.
enum Found {
    Version,
    Listed(Listed),
    Below(Below),
    Nothing(Answer),
}

/// Plans the answer to a request; `path` are the segments below `/api/v1`.
pub(crate) fn plan(api: SparkApi, request: &Request, path: &[&str]) -> Plan {
    let found = match path {
        ["version"] => Found::Version,
        ["applications"] => Found::Listed(Listed::Applications),
        ["applications", app] => Found::Listed(Listed::Application { app: (*app).to_owned() }),
        ["applications", app, below @ ..] => below_application(api, request, app, below),
        _ => Found::Nothing(Answer::page(404)),
    };
    let found = match found {
        Found::Nothing(answer) => return Plan::Now(answer),
        found => found,
    };
    match request.method.as_str() {
        "GET" | "HEAD" => {}
        "OPTIONS" => return Plan::Now(wadl::answer(request, path)),
        "POST" => return Plan::Now(Answer::page(405).with_header("allow", "GET,OPTIONS")),
        _ => return Plan::Now(Answer::empty(405).with_header("allow", "GET,OPTIONS")),
    }
    let content_type = match &found {
        Found::Listed(Listed::Logs { .. }) => "application/octet-stream",
        _ => "application/json",
    };
    if !request.accepts(content_type) {
        return Plan::Now(Answer::page(406));
    }
    match found {
        Found::Version => Plan::Now(version::answer(api)),
        Found::Listed(what) => Plan::Listed(what),
        Found::Below(below) => Plan::Below(below),
        Found::Nothing(answer) => Plan::Now(answer),
    }
}

fn below_application(api: SparkApi, request: &Request, app: &str, below: &[&str]) -> Found {
    let is_closed =
        |name: &str| CLOSED.contains(&name) || name == "connect" && api >= SparkApi::V4_3;
    let at = |attempt: Option<&str>, path: &[&str]| {
        endpoint(api, app, attempt, path).unwrap_or_else(Found::Nothing)
    };
    match below {
        [first, ..] if is_closed(first) => at(None, below),
        [_, second, ..] if is_closed(second) => at(Some(below[0]), &below[1..]),
        _ => match endpoint(api, app, None, below) {
            Ok(found) => found,
            Err(_) => match below {
                [attempt] => {
                    let attempt = (*attempt).to_owned();
                    Found::Listed(Listed::Attempt { app: app.to_owned(), attempt })
                }
                // Spark reads what is left as an attempt of an attempt, and says where that would be
                [attempt, rest @ ..] => endpoint(api, app, Some(attempt), rest)
                    .unwrap_or_else(|_| Found::Nothing(Answer::text(404, &request.path))),
                [] => Found::Nothing(Answer::page(404)),
            },
        },
    }
}

/// The endpoint of an attempt that a path names. A path that fits but for a number that is too large is an endpoint, and
/// its answer a page.
fn endpoint(
    api: SparkApi,
    app: &str,
    attempt: Option<&str>,
    path: &[&str],
) -> Result<Found, Answer> {
    let attempt = attempt.map(str::to_owned);
    if path == ["logs"] {
        return Ok(Found::Listed(Listed::Logs { app: app.to_owned(), attempt }));
    }
    if path.first() == Some(&"connect") && api < SparkApi::V4_3 {
        return Err(Answer::page(404));
    }
    let fitting = routes().find(|(route, _)| {
        route.len() == path.len()
            && route.iter().zip(path).all(|(want, have)| match *want {
                "*" => true,
                "#" | "##" => !have.is_empty() && have.bytes().all(|b| b.is_ascii_digit()),
                literal => literal == *have,
            })
    });
    let (route, handler) = fitting.ok_or_else(|| Answer::page(404))?;
    let mut ids = Vec::new();
    for (want, have) in route.iter().zip(path) {
        let fits = match *want {
            "*" => true,
            "#" => have.parse::<i32>().is_ok(),
            "##" => have.parse::<i64>().is_ok(),
            _ => continue,
        };
        if !fits {
            return Ok(Found::Nothing(Answer::page(404)));
        }
        ids.push((*have).to_owned());
    }
    Ok(Found::Below(Below { app: app.to_owned(), attempt, handler: *handler, ids, route }))
}
