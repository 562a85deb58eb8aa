//! Spark's own REST API, below `/api/v1`, answer for answer. Each family of endpoints is a file with its `ROUTES`;
//! `FAMILIES` lists them.

mod connect;
mod environment;
mod executors;
mod jobs;
mod params;
mod sql;
mod stages;
mod storage;
mod tasks;
mod unavailable;
mod version;

use store::Store;

use super::{Answer, Handled, Query, Request};
use crate::serve::{Attempt, Library};

/// Whose answers are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum SparkApi {
    #[value(name = "4.2")]
    V4_2,
    #[value(name = "4.3")]
    V4_3,
}

/// What a handler below an application attempt is given.
pub(crate) struct Call<'c> {
    pub(crate) api: SparkApi,
    pub(crate) library: &'c Library,
    pub(crate) attempt: &'c Attempt,
    pub(crate) store: &'c Store,
    /// What stands for the `*` of the route, in order.
    pub(crate) ids: Vec<&'c str>,
    pub(crate) request: &'c Request,
}

impl Call<'_> {
    pub(crate) fn query(&self) -> &Query {
        &self.request.query
    }
}

type Handler = fn(&Call<'_>) -> Handled;

/// A path below an application attempt, where `*` stands for any one segment, and what answers it.
type Route = (&'static [&'static str], Handler);

/// Everything that can be asked below an application attempt.
const FAMILIES: &[&[Route]] = &[
    jobs::ROUTES,
    stages::ROUTES,
    tasks::ROUTES,
    executors::ROUTES,
    storage::ROUTES,
    environment::ROUTES,
    sql::ROUTES,
    connect::ROUTES,
    unavailable::ROUTES,
];

fn routes() -> impl Iterator<Item = &'static Route> {
    FAMILIES.iter().copied().flatten()
}

/// Answers a request; `path` are the segments below `/api/v1`.
pub(crate) fn answer(library: &Library, api: SparkApi, request: &Request, path: &[&str]) -> Answer {
    let done = match path {
        ["version"] => Ok(version::answer(api)),
        ["applications", app, below @ ..] if !below.is_empty() => {
            below_application(library, api, request, app, below)
        }
        _ => Err(Answer::page(404)),
    };
    done.unwrap_or_else(|no| no)
}

fn below_application(
    library: &Library,
    api: SparkApi,
    request: &Request,
    app: &str,
    below: &[&str],
) -> Handled {
    let known = |first: &str| routes().any(|(route, _)| route.first() == Some(&first));
    let (attempt, below) = match below {
        [first, ..] if known(first) => (None, below),
        [attempt, below @ ..] => (Some(*attempt), below),
        [] => (None, below),
    };
    let handler = routes().find_map(|(route, handler)| {
        let fits = route.len() == below.len()
            && route.iter().zip(below).all(|(want, have)| *want == "*" || want == have);
        let ids = route.iter().zip(below).filter(|(want, _)| **want == "*").map(|(_, have)| *have);
        fits.then(|| (*handler, ids.collect::<Vec<_>>()))
    });
    let Some((handler, ids)) = handler else { return Err(Answer::page(404)) };
    let name = attempt.map_or_else(|| app.to_owned(), |attempt| format!("{app}/{attempt}"));
    let found = library.find(app, attempt);
    let Some(found) = found else { return Err(Answer::text(404, format!("no such app: {name}"))) };
    let store = library
        .open(&found)
        .map_err(|error| Answer::text(500, format!("cannot read the log of {name}: {error}")))?;
    handler(&Call { api, library, attempt: &found, store: &store, ids, request })
}
