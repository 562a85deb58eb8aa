//! HTTP: sockets to requests, answers to bytes.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body as HttpBody;
use axum::http::{Request as HttpRequest, Response, StatusCode, header};

use super::Library;
use crate::api::{Answer, Body, Request, v1};

/// Serves until the process is told to stop. `ready` is told the address that was bound.
pub(crate) fn run(
    library: Library,
    api: v1::SparkApi,
    address: SocketAddr,
    ready: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    let library = Arc::new(library);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(address).await?;
        ready(listener.local_addr()?);
        let app = Router::new().fallback(move |request: HttpRequest<HttpBody>| {
            let library = library.clone();
            async move {
                let request = read(&request);
                let done = tokio::task::spawn_blocking(move || answer(&library, api, &request));
                respond(done.await.unwrap_or_else(|_| Answer::page(500)))
            }
        });
        let stop = async {
            tokio::signal::ctrl_c().await.ok();
        };
        axum::serve(listener, app).with_graceful_shutdown(stop).await
    })
}

fn read(request: &HttpRequest<HttpBody>) -> Request {
    let host =
        request.headers().get(header::HOST).and_then(|h| h.to_str().ok()).unwrap_or_default();
    let uri = request.uri();
    Request::new(
        request.method().as_str(),
        uri.path(),
        uri.query().unwrap_or_default(),
        &format!("http://{host}"),
    )
}

fn answer(library: &Library, api: v1::SparkApi, request: &Request) -> Answer {
    let segments: Vec<&str> = request.segments.iter().map(String::as_str).collect();
    match segments.as_slice() {
        ["api", "v1", path @ ..] => v1::answer(library, api, request, path),
        _ => Answer::page(404),
    }
}

fn respond(answer: Answer) -> Response<HttpBody> {
    let mut response = Response::builder()
        .status(StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR))
        .header(header::CACHE_CONTROL, "no-cache, no-store, must-revalidate")
        .header(header::X_FRAME_OPTIONS, "SAMEORIGIN")
        .header(header::X_XSS_PROTECTION, "1; mode=block")
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    if let Some(kind) = answer.content_type {
        response = response.header(header::CONTENT_TYPE, kind);
    }
    for (name, value) in answer.headers {
        response = response.header(name, value);
    }
    let body = match answer.body {
        Body::Bytes(bytes) => HttpBody::from(bytes),
        Body::Stream(write) => {
            let mut bytes = Vec::new();
            write(&mut bytes).ok();
            HttpBody::from(bytes)
        }
    };
    response.body(body).unwrap_or_default()
}
