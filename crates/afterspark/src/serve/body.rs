//! Bodies that are written while they are sent: by a thread of their own, which waits when the client is slow.

use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body as HttpBody, Bytes, HttpBody as Frames};
use http_body::Frame;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

/// Bytes that are sent at a time.
const CHUNK_BYTES: usize = 64 << 10;
/// Chunks that wait for the client.
const CHUNKS_MAX: usize = 4;

type Chunk = io::Result<Bytes>;

/// A body that `write` writes; `permit` is given back when it is done.
pub(super) fn streamed(
    write: crate::api::WriteBody,
    permit: OwnedSemaphorePermit,
) -> io::Result<HttpBody> {
    let (chunks, received) = mpsc::channel(CHUNKS_MAX);
    let run = move || {
        let mut out = Chunks { chunks, buffer: Vec::with_capacity(CHUNK_BYTES) };
        let done = write(&mut out).and_then(|()| out.send());
        if let Err(error) = done {
            // the connection is broken off, so that the client sees that something is missing
            out.chunks.blocking_send(Err(error)).ok();
        }
        drop(permit);
    };
    std::thread::Builder::new().name("stream".to_owned()).spawn(run)?;
    Ok(HttpBody::new(Received(received)))
}

struct Chunks {
    chunks: mpsc::Sender<Chunk>,
    buffer: Vec<u8>,
}

impl Chunks {
    fn send(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let chunk = std::mem::replace(&mut self.buffer, Vec::with_capacity(CHUNK_BYTES));
        let sent = self.chunks.blocking_send(Ok(chunk.into()));
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl Write for Chunks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = bytes.len().min(CHUNK_BYTES - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..n]);
        if self.buffer.len() == CHUNK_BYTES {
            self.send()?;
        }
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send()
    }
}

struct Received(mpsc::Receiver<Chunk>);

impl Frames for Received {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        self.0.poll_recv(context).map(|chunk| chunk.map(|chunk| chunk.map(Frame::data)))
    }
}
