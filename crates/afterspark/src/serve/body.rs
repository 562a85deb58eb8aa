//! Bodies of answers: in memory, or written while they are sent, by a thread of their own that waits when the client is
//! slow.

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use crate::api::WriteBody;

/// Bytes that are sent at a time.
const CHUNK_BYTES: usize = 64 << 10;
/// Chunks that wait for the client.
const CHUNKS_MAX: usize = 4;

type Chunk = io::Result<Bytes>;

/// See the module.
pub(super) enum Outgoing {
    Whole(Bytes),
    Streamed(mpsc::Receiver<Chunk>),
}

impl Outgoing {
    /// A body that `write` writes; `permit` is given back when that is done, and `done` is told how many bytes it came to.
    pub(super) fn streamed(
        write: WriteBody,
        permit: OwnedSemaphorePermit,
        done: impl FnOnce(u64, &io::Result<()>) + Send + 'static,
    ) -> io::Result<Outgoing> {
        let (chunks, received) = mpsc::channel(CHUNKS_MAX);
        let run = move || {
            let buffer = Vec::with_capacity(CHUNK_BYTES);
            let mut out = Chunks { chunks, buffer, n_bytes: 0 };
            let written = catch_unwind(AssertUnwindSafe(|| write(&mut out)));
            let written = written.unwrap_or_else(|_| Err(io::Error::other("stopped by a bug")));
            let written = written.and_then(|()| out.send());
            done(out.n_bytes, &written);
            if let Err(error) = written {
                // the connection is broken off, so that the client sees that something is missing
                out.chunks.blocking_send(Err(error)).ok();
            }
            drop(permit);
        };
        std::thread::Builder::new().name("stream".to_owned()).spawn(run)?;
        Ok(Outgoing::Streamed(received))
    }
}

struct Chunks {
    chunks: mpsc::Sender<Chunk>,
    buffer: Vec<u8>,
    n_bytes: u64,
}

impl Chunks {
    fn send(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let chunk = std::mem::replace(&mut self.buffer, Vec::with_capacity(CHUNK_BYTES));
        let n_bytes = chunk.len() as u64;
        // waits while the client has more than it can take
        self.chunks
            .blocking_send(Ok(chunk.into()))
            .map_err(|_| io::Error::new(io::ErrorKind::BrokenPipe, "the client went away"))?;
        self.n_bytes += n_bytes;
        Ok(())
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

impl Body for Outgoing {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match &mut *self {
            Outgoing::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Outgoing::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Outgoing::Streamed(chunks) => {
                chunks.poll_recv(context).map(|chunk| chunk.map(|chunk| chunk.map(Frame::data)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Outgoing::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Outgoing::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Outgoing::Streamed(_) => SizeHint::default(),
        }
    }
}
