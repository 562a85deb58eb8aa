//! Paths below the root of our own API to what answers them.

use super::{ENDPOINTS, Endpoint, Handler, ROOT, refusal};
use crate::api::{Answer, Handled, Request, v1::Call};
use crate::serve::Library;

/// How a request is answered.
pub(crate) enum Plan {
    Now(Answer),
    Server(fn(&Library) -> Handled),
    Below(Below),
}

/// What is asked of an application attempt.
pub(crate) struct Below {
    pub(crate) app: String,
    /// The latest when none is given.
    pub(crate) attempt: Option<String>,
    pub(crate) ids: Vec<String>,
    pub(crate) handler: fn(&Call<'_>) -> Handled,
}

/// Plans the answer to a request, and names the endpoint it is counted under; `path` are the segments below the root.
pub(crate) fn plan(request: &Request, path: &[&str]) -> (String, Plan) {
    let Some((endpoint, plan)) = find(path) else {
        let why = format!("no such endpoint; {ROOT}/openapi.json lists them");
        return (ROOT.to_owned(), Plan::Now(refusal(404, &why)));
    };
    let name = endpoint.route(false);
    if !matches!(request.method.as_str(), "GET" | "HEAD") {
        let answer = refusal(405, "only GET and HEAD").with_header("allow", "GET, HEAD");
        return (name, Plan::Now(answer));
    }
    (name, plan)
}

fn find(path: &[&str]) -> Option<(&'static Endpoint, Plan)> {
    if let ["applications", app, below @ ..] = path {
        let attempts =
            [(None, below), (below.first().copied(), below.get(1..).unwrap_or_default())];
        return attempts.into_iter().find_map(|(attempt, below)| {
            ENDPOINTS.iter().find_map(|endpoint| {
                let Handler::Attempt(handler) = endpoint.handler else { return None };
                let ids = endpoint.fits(below)?;
                let attempt = attempt.map(str::to_owned);
                let below = Below { app: (*app).to_owned(), attempt, ids, handler };
                Some((endpoint, Plan::Below(below)))
            })
        });
    }
    ENDPOINTS.iter().find_map(|endpoint| {
        let Handler::Server(handler) = endpoint.handler else { return None };
        endpoint.fits(path).map(|_| (endpoint, Plan::Server(handler)))
    })
}

impl Endpoint {
    /// What stands for the `*` of its path.
    fn fits(&self, path: &[&str]) -> Option<Vec<String>> {
        let pairs = || self.path.iter().zip(path);
        let fits = self.path.len() == path.len()
            && pairs()
                .all(|(want, have)| if *want == "*" { !have.is_empty() } else { want == have });
        fits.then(|| {
            pairs().filter(|(want, _)| **want == "*").map(|(_, have)| (*have).to_owned()).collect()
        })
    }

    /// Its path as `OpenAPI` writes it.
    pub(super) fn route(&self, with_attempt: bool) -> String {
        let mut route = ROOT.to_owned();
        if let Handler::Attempt(_) = self.handler {
            route.push_str("/applications/{app}");
            if with_attempt {
                route.push_str("/{attempt}");
            }
        }
        let mut names = self.path_parameters.iter();
        for segment in self.path {
            route.push('/');
            match names.as_slice().first().filter(|_| *segment == "*") {
                Some(parameter) => {
                    names.next();
                    route.extend(["{", parameter.name, "}"]);
                }
                None => route.push_str(segment),
            }
        }
        route
    }
}
