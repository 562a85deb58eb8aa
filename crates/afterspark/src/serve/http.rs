//! HTTP: sockets to requests, answers to bytes.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body as HttpBody;
use axum::http::{HeaderValue, Request as HttpRequest, Response, StatusCode, header};
use store::Store;
use tokio::sync::Semaphore;

use super::{Attempt, Library, body, clock};
use crate::api::{Answer, BadPath, Body, Request, v1};

/// Threads that answer requests. They wait for nothing but the disk.
const ANSWERING_MAX: usize = 64;
/// Bodies that are written at a time while they are sent; each has a thread.
const STREAMING_MAX: usize = 128;
/// The first scan of a small folder is waited for, so that the first question finds all.
const FIRST_SCAN_MAX: Duration = Duration::from_secs(2);

struct Server {
    library: Arc<Library>,
    api: v1::SparkApi,
    streaming: Arc<Semaphore>,
}

/// Serves until the process is told to stop. `ready` is told the address that was bound.
pub(crate) fn run(
    library: Library,
    api: v1::SparkApi,
    address: SocketAddr,
    ready: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    let library = Arc::new(library);
    let streaming = Arc::new(Semaphore::new(STREAMING_MAX));
    let server = Arc::new(Server { library: library.clone(), api, streaming });
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.enable_all().max_blocking_threads(ANSWERING_MAX).build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(address).await?;
        library.watch().start(Duration::from_secs(10), |_| {})?;
        library.watch().first_scan(FIRST_SCAN_MAX).await;
        ready(listener.local_addr()?);
        let app = Router::new().fallback(move |request: HttpRequest<HttpBody>| {
            let server = server.clone();
            async move {
                let request = Arc::new(read(&request));
                let answer = server.answer(&request).await;
                server.respond(answer.named_for(&request), &request)
            }
        });
        let stop = async {
            tokio::signal::ctrl_c().await.ok();
        };
        let served = axum::serve(listener, app).with_graceful_shutdown(stop).await;
        library.watch().stop();
        served
    })
}

fn read(request: &HttpRequest<HttpBody>) -> Request {
    let header = |name| request.headers().get(name).and_then(|v: &HeaderValue| v.to_str().ok());
    let host = header(header::HOST).unwrap_or_default();
    let uri = request.uri();
    let uri = uri.path_and_query().map_or("/", |uri| uri.as_str());
    let accept = header(header::ACCEPT).unwrap_or("*/*");
    Request::new(request.method().as_str(), uri, &format!("http://{host}"), accept)
}

impl Server {
    async fn answer(&self, request: &Arc<Request>) -> Answer {
        match request.bad_path() {
            Some(BadPath::Malformed) => return Answer::bad_message(),
            Some(BadPath::Ambiguous) => return Answer::page(400),
            None => {}
        }
        let segments: Vec<&str> = request.segments.iter().map(String::as_str).collect();
        match segments.as_slice() {
            ["api", "v1", path @ ..] => self.spark(request, path).await,
            ["api"] if !request.path.ends_with('/') => {
                Answer::empty(301).with_header("location", "/api/")
            }
            _ => Answer::page(404),
        }
    }

    async fn spark(&self, request: &Arc<Request>, path: &[&str]) -> Answer {
        let (library, api) = (self.library.clone(), self.api);
        match v1::plan(api, request, path) {
            v1::Plan::Now(answer) => answer,
            v1::Plan::Listed(what) => {
                if let Some(app) = what.app() {
                    library.look_for(app).await;
                }
                let request = request.clone();
                let now_ms = clock::now_ms();
                blocking(move || v1::listed(&library, api, &request, &what, now_ms)).await
            }
            v1::Plan::Below { app, attempt, handler, ids } => {
                library.look_for(&app).await;
                let Some(found) = library.find(&app, attempt.as_deref()) else {
                    return v1::no_such_app(&app, attempt.as_deref());
                };
                let request = request.clone();
                blocking(move || {
                    let store = match library.open(&found) {
                        Ok(store) => store,
                        Err(error) => return v1::unreadable(&found, &error),
                    };
                    handle(&library, &request, (&found, &store), handler, &ids)
                })
                .await
            }
        }
    }

    fn respond(&self, answer: Answer, request: &Request) -> Response<HttpBody> {
        let Answer { status, content_type, headers, body } = answer;
        let body = match body {
            Body::Bytes(bytes) => HttpBody::from(bytes),
            Body::Page => HttpBody::empty(),
            Body::Stream(_) if request.method == "HEAD" => HttpBody::empty(),
            Body::Stream(write) => {
                let permit = self.streaming.clone().try_acquire_owned().ok();
                match permit.map(|permit| body::streamed(write, permit)) {
                    Some(Ok(body)) => body,
                    _ => return self.respond(Answer::text(503, "too many downloads"), request),
                }
            }
        };
        let mut response = Response::new(body);
        *response.status_mut() =
            StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let sent = response.headers_mut();
        let always = [
            (header::CACHE_CONTROL, "no-cache, no-store, must-revalidate"),
            (header::X_FRAME_OPTIONS, "SAMEORIGIN"),
            (header::X_XSS_PROTECTION, "1; mode=block"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ];
        for (name, value) in always {
            sent.insert(name, HeaderValue::from_static(value));
        }
        if let Some(kind) = content_type {
            sent.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        }
        for (name, value) in headers {
            if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
                sent.insert(name, value);
            }
        }
        response
    }
}

fn handle(
    library: &Library,
    request: &Request,
    (attempt, store): (&Attempt, &Store),
    handler: v1::Handler,
    ids: &[String],
) -> Answer {
    let ids = ids.iter().map(String::as_str).collect();
    let call = v1::Call { library, attempt, store, ids, request };
    handler(&call).unwrap_or_else(|no| no)
}

/// Answers on a thread that may be busy for a while. A panic ends this request only.
async fn blocking(answer: impl FnOnce() -> Answer + Send + 'static) -> Answer {
    tokio::task::spawn_blocking(answer).await.unwrap_or_else(|_| Answer::page(500))
}
