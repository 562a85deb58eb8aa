//! HTTP: connections to requests, answers to bytes.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request as HttpRequest, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;

use super::answers::{Answers, Sockets};
use super::body::Outgoing;
use super::requests::{self, Line, Log};
use super::{Library, Options, clock};
use crate::api::{Answer, Body, Date, Request};

/// Connections at a time; others wait to be accepted.
const CONNECTIONS_MAX: usize = 4_096;
/// Bodies that are written at a time while they are sent; each has a thread.
const STREAMS_MAX: usize = 128;
/// Threads that answer requests. They wait for nothing but the disk.
const ANSWERING_MAX: usize = 64;
/// A client has so long to send the head of a request, and a connection may be idle for so long.
const HEAD_MAX: Duration = Duration::from_mins(1);
/// Longest head of a request.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// Requests that have begun may take so long when the server is told to stop.
const STOP_MAX: Duration = Duration::from_secs(20);
/// The first scan of a small folder is waited for, so that the first question finds all.
const FIRST_SCAN_MAX: Duration = Duration::from_secs(2);
/// After an error in accepting, as when there are too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

struct Server {
    answers: Answers,
    proxy_base: String,
    log: Option<Arc<Log>>,
    streams: Arc<Semaphore>,
    connections: Arc<Semaphore>,
}

/// Serves until the process is told to stop. `ready` is told the address that was bound.
pub(crate) fn run(
    library: Library,
    options: &Options,
    ready: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    let library = Arc::new(library);
    let server = Arc::new(Server {
        proxy_base: options.proxy_base.clone(),
        answers: Answers::new(library.clone(), options.api),
        log: options.log.map(Log::start).transpose()?.map(Arc::new),
        streams: Arc::new(Semaphore::new(STREAMS_MAX)),
        connections: Arc::new(Semaphore::new(CONNECTIONS_MAX)),
    });
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.enable_all().max_blocking_threads(ANSWERING_MAX).build()?;
    let done = runtime.block_on(async {
        let listener = TcpListener::bind(options.address).await?;
        let (mut interrupt, mut terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let metrics = server.clone();
        let after_scan = move |took| metrics.answers.metrics().scan_took(took);
        library.watch().start(options.interval, after_scan)?;
        // what was known at the last time is answered at once
        if library.progress().n_logs == 0 {
            library.watch().first_scan(FIRST_SCAN_MAX).await;
        }
        ready(listener.local_addr()?);
        let graceful = GracefulShutdown::new();
        tokio::select! {
            () = accept(&listener, &server, &graceful) => {}
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        drop(listener);
        library.watch().stop();
        server.answers.stop();
        tokio::select! {
            () = graceful.shutdown() => {}
            () = tokio::time::sleep(STOP_MAX) => {
                requests::warn("stopped before all requests were answered");
            }
            // a second signal means now
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        Ok(())
    });
    // a log that is still being read is not waited for
    runtime.shutdown_background();
    done
}

async fn accept(listener: &TcpListener, server: &Arc<Server>, graceful: &GracefulShutdown) {
    loop {
        let Ok(permit) = server.connections.clone().acquire_owned().await else { return };
        let Ok((stream, client)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        // answers are written at once; without it some would wait for the client's acknowledgement
        stream.set_nodelay(true).ok();
        let server = server.clone();
        let service = service_fn(move |request: HttpRequest<Incoming>| {
            let server = server.clone();
            async move { Ok::<_, Infallible>(server.serve(request, client).await) }
        });
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEAD_MAX).max_buf_size(HEAD_BYTES_MAX);
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            // what goes wrong on a connection is the client's loss only
            connection.await.ok();
            drop(permit);
        });
    }
}

/// What is told of a request when it is answered.
struct Told {
    time: Date,
    client: SocketAddr,
    agent: String,
    request: Arc<Request>,
    status: u16,
    took: Duration,
    log: Option<Arc<Log>>,
}

impl Told {
    fn tell(&self, bytes: u64, error: &str) {
        if let Some(log) = &self.log {
            log.tell(&Line {
                time: self.time,
                client: &self.client.ip().to_string(),
                method: &self.request.method,
                uri: &self.request.uri,
                status: self.status,
                bytes,
                ms: requests::ms(self.took),
                agent: &self.agent,
                error,
            });
        }
    }
}

impl Server {
    async fn serve(
        &self,
        request: HttpRequest<Incoming>,
        client: SocketAddr,
    ) -> Response<Outgoing> {
        let began = clock::tick();
        let time = Date(clock::now_ms());
        let agent = text_of(request.headers(), header::USER_AGENT).unwrap_or_default().to_owned();
        let request = Arc::new(self.read(&request));
        let (endpoint, answer) = self.answers.answer(&request, self.sockets()).await;
        let answer = answer.named_for(&request);
        let took = clock::tick().duration_since(began);
        let (status, log) = (answer.status, self.log.clone());
        self.answers.metrics().count(&endpoint, status, took);
        self.respond(answer, Told { time, client, agent, request, status, took, log })
    }

    fn sockets(&self) -> Sockets {
        Sockets {
            n_connections: (CONNECTIONS_MAX - self.connections.available_permits()) as u64,
            n_streams: (STREAMS_MAX - self.streams.available_permits()) as u64,
            n_lines_dropped: self.log.as_ref().map_or(0, |log| log.n_dropped()),
        }
    }

    fn read(&self, request: &HttpRequest<Incoming>) -> Request {
        let headers = request.headers();
        // of a chain of proxies the first is the one that the client sees
        let forwarded = |name: &'static str| {
            let value = text_of(headers, HeaderName::from_static(name))?;
            value.split(',').next().map(str::trim).filter(|value| !value.is_empty())
        };
        let host = forwarded("x-forwarded-host").or_else(|| text_of(headers, header::HOST));
        let host = host.or(request.uri().host()).unwrap_or_default();
        let scheme = forwarded("x-forwarded-proto").unwrap_or("http");
        let prefix = forwarded("x-forwarded-prefix").or_else(|| forwarded("x-forwarded-context"));
        let prefix = prefix.unwrap_or(&self.proxy_base).trim_end_matches('/');
        let uri = request.uri().path_and_query().map_or("/", |uri| uri.as_str());
        Request {
            accept: text_of(headers, header::ACCEPT).unwrap_or("*/*").to_owned(),
            takes_gzip: text_of(headers, header::ACCEPT_ENCODING).is_some_and(takes_gzip),
            cookies: text_of(headers, header::COOKIE).unwrap_or_default().to_owned(),
            ..Request::new(request.method().as_str(), uri, &format!("{scheme}://{host}{prefix}"))
        }
    }

    fn respond(&self, answer: Answer, told: Told) -> Response<Outgoing> {
        let Answer { mut status, mut content_type, mut headers, body } = answer;
        let body = match body {
            Body::Bytes(bytes) => {
                told.tell(if told.request.method == "HEAD" { 0 } else { bytes.len() as u64 }, "");
                Outgoing::Whole(bytes.into())
            }
            Body::Stream(write) if told.request.method != "HEAD" => {
                let permit = self.streams.clone().try_acquire_owned().ok();
                let done = move |n_bytes, written: &io::Result<()>| {
                    let error = written.as_ref().err().map(ToString::to_string);
                    told.tell(n_bytes, &error.unwrap_or_default());
                };
                match permit.map(|permit| Outgoing::streamed(write, permit, done)) {
                    Some(Ok(body)) => body,
                    _ => {
                        (status, content_type) = (503, Some("text/plain"));
                        headers.clear();
                        Outgoing::Whole("too many downloads at a time".into())
                    }
                }
            }
            Body::Stream(_) | Body::Page => {
                told.tell(0, "");
                Outgoing::Whole(Vec::new().into())
            }
        };
        let mut response = Response::new(body);
        *response.status_mut() =
            StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let sent = response.headers_mut();
        for (name, value) in [
            (header::CACHE_CONTROL, "no-cache, no-store, must-revalidate"),
            (header::X_FRAME_OPTIONS, "SAMEORIGIN"),
            (header::X_XSS_PROTECTION, "1; mode=block"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ] {
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

/// Whether an `Accept-Encoding` names gzip and does not refuse it.
fn takes_gzip(accepted: &str) -> bool {
    accepted.split(',').any(|coding| {
        let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
        name.trim().eq_ignore_ascii_case("gzip") && !matches!(quality.trim(), "q=0" | "q=0.0")
    })
}

fn text_of(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
