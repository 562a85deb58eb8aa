//! Requests to answers: what is at hand is answered at once, what needs a store waits for it without keeping a thread, and
//! what takes work is done on a thread that may be busy.

use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::{Compression, write::GzEncoder};
use hyper::StatusCode;
use store::Store;

use super::metrics::{Metrics, Now};
use super::shelf::NoStore;
use super::{Attempt, Library, clock};
use crate::api::{Answer, BadPath, Body, Handled, Request, own, v1};
use crate::pages;

/// Shorter answers are sent as they are.
const PACKED_BYTES_MIN: usize = 2 << 10;

/// Counts that the connections know.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sockets {
    pub(super) n_connections: u64,
    pub(super) n_streams: u64,
    pub(super) n_lines_dropped: u64,
}

/// See the module.
pub(super) struct Answers {
    library: Arc<Library>,
    api: v1::SparkApi,
    metrics: Metrics,
    stopping: AtomicBool,
}

impl Answers {
    pub(super) fn new(library: Arc<Library>, api: v1::SparkApi) -> Answers {
        Answers { library, api, metrics: Metrics::default(), stopping: AtomicBool::new(false) }
    }

    pub(super) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// From now on the server says that it is not to be asked any more.
    pub(super) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// The answer, and the endpoint that it is counted under.
    pub(super) async fn answer(
        &self,
        request: &Arc<Request>,
        sockets: Sockets,
    ) -> (Cow<'static, str>, Answer) {
        match request.bad_path() {
            Some(BadPath::Malformed) => return ("bad".into(), Answer::bad_message()),
            Some(BadPath::Ambiguous) => return ("bad".into(), Answer::page(400)),
            None => {}
        }
        let segments: Vec<&str> = request.segments.iter().map(String::as_str).collect();
        let reads = matches!(request.method.as_str(), "GET" | "HEAD");
        match segments.as_slice() {
            ["api", "v1", path @ ..] => self.spark(request, path).await,
            ["api", "afterspark", "v1", path @ ..] => self.own(request, path).await,
            ["api"] if !request.path.ends_with('/') => {
                ("other".into(), Answer::empty(301).with_header("location", "/api/"))
            }
            ["healthz"] if reads => ("/healthz".into(), self.health()),
            ["metrics"] if reads => ("/metrics".into(), self.numbers(sockets)),
            path if reads => match pages::plan(request, path) {
                Some((endpoint, plan)) => (endpoint.into(), self.page(request, plan).await),
                None => (
                    "other".into(),
                    pages::refusal(request, 404, "There is no page at this address."),
                ),
            },
            _ => ("other".into(), Answer::page(404)),
        }
    }

    async fn page(&self, request: &Arc<Request>, plan: pages::Plan) -> Answer {
        let library = self.library.clone();
        let (app, attempt_id, page) = match plan {
            pages::Plan::Now(answer) => return answer,
            pages::Plan::List => {
                let asked = request.clone();
                return self.working(request, move || pages::list(&library, &asked)).await;
            }
            pages::Plan::Below { app, attempt, page } => (app, attempt, page),
        };
        match self.open_latest(&app, attempt_id.as_deref()).await {
            Ok((attempt, store)) => {
                let handler = move |call: &v1::Call<'_>| pages::answer(page, call);
                self.handled(request, attempt, store, Vec::new(), handler).await
            }
            Err((status, why)) => pages::refusal(request, status, &why),
        }
    }

    fn health(&self) -> Answer {
        if self.stopping.load(Ordering::Relaxed) {
            return Answer::text(503, "stopping\n");
        }
        Answer::text(200, "ok\n")
    }

    fn numbers(&self, sockets: Sockets) -> Answer {
        let progress = self.library.progress();
        let now = Now {
            progress: &progress,
            shelved: self.library.shelved(),
            now_ms: clock::now_ms(),
            sockets,
        };
        Answer::of(200, "text/plain; version=0.0.4", self.metrics.text(&now).into_bytes())
    }

    async fn spark(&self, request: &Arc<Request>, path: &[&str]) -> (Cow<'static, str>, Answer) {
        let (library, api) = (self.library.clone(), self.api);
        let plan = v1::plan(api, request, path);
        let endpoint = plan.endpoint().into();
        let answer = match plan {
            v1::Plan::Now(answer) => answer,
            v1::Plan::Listed(what) => {
                if let Some(app) = what.app() {
                    library.look_for(app).await;
                }
                let asked = request.clone();
                let now_ms = clock::now_ms();
                let answer = move || v1::listed(&library, api, &asked, &what, now_ms);
                self.working(request, answer).await
            }
            v1::Plan::Below(below) => self.below(request, below).await,
        };
        (endpoint, answer)
    }

    async fn own(&self, request: &Arc<Request>, path: &[&str]) -> (Cow<'static, str>, Answer) {
        let (endpoint, plan) = own::plan(request, path);
        let library = self.library.clone();
        let answer = match plan {
            own::Plan::Now(answer) => answer,
            own::Plan::Server(handler) => {
                let answer = move || handler(&library).unwrap_or_else(|no| no);
                self.working(request, answer).await
            }
            own::Plan::Below(below) => self.own_below(request, below).await,
        };
        (endpoint.into(), answer)
    }

    async fn own_below(&self, request: &Arc<Request>, below: own::Below) -> Answer {
        let own::Below { app, attempt, handler, ids } = below;
        match self.open_latest(&app, attempt.as_deref()).await {
            Ok((attempt, store)) => self.handled(request, attempt, store, ids, handler).await,
            Err((status, why)) => own::refusal(status, &why),
        }
    }

    /// An attempt with its store; without the attempt's id, the latest. Or the status and the reason why not.
    async fn open_latest(
        &self,
        app: &str,
        attempt: Option<&str>,
    ) -> Result<(Arc<Attempt>, Arc<Store>), (u16, String)> {
        self.library.look_for(app).await;
        let name = v1::name_of(app, attempt);
        let Some(attempt) = self.library.find_or_latest(app, attempt) else {
            return Err((404, format!("no such application: {name}")));
        };
        let unreadable = |what: &str| (500, format!("cannot read the log of {name}: {what}"));
        match self.library.open(&attempt).await {
            Ok(store) => Ok((attempt, store)),
            Err(NoStore::Gone) => Err((404, format!("the log of {name} is gone"))),
            Err(NoStore::Failed(error)) => Err(unreadable(&error.to_string())),
            Err(NoStore::Bug) => Err(unreadable("stopped by a bug")),
        }
    }

    /// What a handler answers about an attempt.
    async fn handled(
        &self,
        request: &Arc<Request>,
        attempt: Arc<Attempt>,
        store: Arc<Store>,
        ids: Vec<String>,
        handler: impl FnOnce(&v1::Call<'_>) -> Handled + Send + 'static,
    ) -> Answer {
        let (library, asked) = (self.library.clone(), request.clone());
        let answer = move || {
            let ids = ids.iter().map(String::as_str).collect();
            let (library, attempt, store) = (&*library, &*attempt, &*store);
            let call = v1::Call { library, attempt, store, ids, request: &asked };
            handler(&call).unwrap_or_else(|no| no)
        };
        self.working(request, answer).await
    }

    async fn below(&self, request: &Arc<Request>, below: v1::Below) -> Answer {
        let library = self.library.clone();
        let v1::Below { app, attempt: attempt_id, handler, ids, .. } = below;
        library.look_for(&app).await;
        let Some(attempt) = library.find(&app, attempt_id.as_deref()) else {
            return v1::no_such_app(&app, attempt_id.as_deref());
        };
        let store = match library.open(&attempt).await {
            Ok(store) => store,
            Err(NoStore::Gone) => return v1::no_such_app(&app, attempt_id.as_deref()),
            Err(NoStore::Failed(error)) => return v1::unreadable(&attempt, &error.to_string()),
            Err(NoStore::Bug) => return v1::unreadable(&attempt, "stopped by a bug"),
        };
        self.handled(request, attempt, store, ids, handler).await
    }

    /// Answers on a thread that may be busy for a while. A panic ends this request only.
    async fn working(
        &self,
        request: &Arc<Request>,
        answer: impl FnOnce() -> Answer + Send + 'static,
    ) -> Answer {
        let gzip = request.takes_gzip && request.method != "HEAD";
        let done = tokio::task::spawn_blocking(move || {
            let answer = answer();
            if gzip { packed(answer) } else { answer }
        });
        done.await.unwrap_or_else(|_| {
            self.metrics.count_panic();
            Answer::page(StatusCode::INTERNAL_SERVER_ERROR.as_u16())
        })
    }
}

/// Compressed, where that pays.
fn packed(answer: Answer) -> Answer {
    let Answer { status, content_type, headers, body } = answer;
    let (body, is_packed) = match body {
        Body::Bytes(bytes) if bytes.len() >= PACKED_BYTES_MIN => {
            let room = Vec::with_capacity(bytes.len() / 4);
            let mut gzip = GzEncoder::new(room, Compression::fast());
            match gzip.write_all(&bytes).and_then(|()| gzip.finish()) {
                Ok(packed) => (Body::Bytes(packed), true),
                Err(_) => (Body::Bytes(bytes), false),
            }
        }
        body => (body, false),
    };
    let answer = Answer { status, content_type, headers, body };
    if is_packed {
        answer.with_header("content-encoding", "gzip").with_header("vary", "accept-encoding")
    } else {
        answer
    }
}
