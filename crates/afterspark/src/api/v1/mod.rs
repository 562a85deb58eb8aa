//! Spark's own REST API, below `/api/v1`, answer for answer. Each family of endpoints is a file with its `ROUTES`;
//! `FAMILIES` lists them.
#![expect(clippy::unnecessary_wraps, reason = "handlers share one type")]

mod applications;
mod connect;
mod distributions;
mod environment;
mod executors;
mod jobs;
mod logs;
mod params;
mod route;
mod sql;
mod sql_table;
mod stages;
mod storage;
mod task_shape;
mod task_table;
mod tasks;
mod unavailable;
mod version;
mod wadl;

use store::Store;

use super::{Answer, AnswerSettings, Handled, Query, Request};
use crate::serve::{Attempt, Library};
pub(crate) use route::{Below, Plan, plan};

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
    pub(crate) library: &'c Library,
    pub(crate) attempt: &'c Attempt,
    pub(crate) store: &'c Store,
    /// What stands for the `*`, `#` and `##` of the route, in order.
    pub(crate) ids: Vec<&'c str>,
    pub(crate) request: &'c Request,
}

impl Call<'_> {
    pub(crate) fn query(&self) -> &Query {
        &self.request.query
    }

    /// A number of the path, which the route has seen to fit.
    pub(crate) fn int_id(&self, at: usize) -> Result<i32, Answer> {
        let id = self.ids.get(at).and_then(|id| id.parse().ok());
        id.ok_or_else(|| Answer::page(404))
    }

    pub(crate) fn settings(&self) -> &AnswerSettings {
        self.library.answer_settings()
    }
}

pub(crate) type Handler = fn(&Call<'_>) -> Handled;

/// A path below an application attempt and what answers it. In the path, `*` stands for any one segment, `#` for digits
/// that fit an `int` and `##` for digits that fit a `long`.
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

/// What needs the list of applications but no store.
pub(crate) enum Listed {
    Applications,
    Application { app: String },
    Attempt { app: String, attempt: String },
    Logs { app: String, attempt: Option<String> },
}

impl Listed {
    /// The application that is asked about.
    pub(crate) fn app(&self) -> Option<&str> {
        match self {
            Listed::Applications => None,
            Listed::Application { app }
            | Listed::Attempt { app, .. }
            | Listed::Logs { app, .. } => Some(app),
        }
    }
}

/// Answers from the list of applications.
pub(crate) fn listed(
    library: &Library,
    api: SparkApi,
    request: &Request,
    what: &Listed,
    now_ms: i64,
) -> Answer {
    let done = match what {
        Listed::Applications => applications::list(library, api, &request.query, now_ms),
        Listed::Application { app } => applications::one(library, api, app),
        Listed::Attempt { app, attempt } => applications::attempt(library, api, app, attempt),
        Listed::Logs { app, attempt } => logs::answer(library, app, attempt.as_deref()),
    };
    done.unwrap_or_else(|no| no)
}

/// The answer about an application that is not there, or not without the id of one of its attempts.
pub(crate) fn no_such_app(app: &str, attempt: Option<&str>) -> Answer {
    Answer::text(404, format!("no such app: {}", name_of(app, attempt)))
}

/// As Spark names an attempt in messages.
pub(crate) fn name_of(app: &str, attempt: Option<&str>) -> String {
    attempt.map_or_else(|| app.to_owned(), |attempt| format!("{app}/{attempt}"))
}

/// The answer about an attempt whose log cannot be read.
pub(crate) fn unreadable(attempt: &Attempt, what: &str) -> Answer {
    let name = name_of(&attempt.app_id, attempt.attempt_id.as_deref());
    Answer::text(500, format!("cannot read the log of {name}: {what}"))
}
