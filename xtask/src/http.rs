//! A client for servers on this machine: HTTP/1.1, one request after the other over one kept connection.
//!
//! Requests are sent as they are given, without decoding or resolving anything in the path.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Longer than any answer takes; a replay of a huge log included.
const TIMEOUT: Duration = Duration::from_mins(10);
const HEAD_LINES_MAX: usize = 200;

pub struct Client {
    /// Host and port.
    address: String,
    kept: Option<BufReader<TcpStream>>,
    timeout: Duration,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    /// A header's value; names are compared without regard to case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter();
        all.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

impl Client {
    /// # Errors
    /// When the URL is not `http://HOST:PORT`.
    pub fn new(base_url: &str) -> io::Result<Client> {
        let rest = base_url.strip_prefix("http://").unwrap_or(base_url);
        let address = rest.trim_end_matches('/');
        if address.is_empty() || address.contains('/') {
            return Err(io::Error::other(format!("not http://HOST:PORT: {base_url}")));
        }
        Ok(Client { address: address.to_owned(), kept: None, timeout: TIMEOUT })
    }

    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Client {
        Client { timeout, ..self }
    }

    /// # Errors
    /// When no whole answer comes.
    pub fn get(&mut self, path: &str) -> io::Result<Answer> {
        self.ask("GET", path)
    }

    /// # Errors
    /// When no whole answer comes.
    pub fn ask(&mut self, method: &str, path: &str) -> io::Result<Answer> {
        if !path.starts_with('/') || path.contains(|c: char| c.is_ascii_control() || c == ' ') {
            return Err(io::Error::other(format!("not a path: {path:?}")));
        }
        if let Some(kept) = self.kept.take() {
            match self.exchange(kept, method, path) {
                // The server had closed the connection meanwhile.
                Err(error) if is_closed(&error) => {}
                done => return done,
            }
        }
        let stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(self.timeout))?;
        stream.set_nodelay(true)?;
        self.exchange(BufReader::new(stream), method, path)
    }

    fn exchange(
        &mut self,
        mut stream: BufReader<TcpStream>,
        method: &str,
        path: &str,
    ) -> io::Result<Answer> {
        let request =
            format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nAccept: */*\r\n\r\n", self.address);
        stream.get_mut().write_all(request.as_bytes())?;
        let mut answer = head(&mut stream)?;
        let says = |name: &str, word: &str| {
            answer.header(name).is_some_and(|value| value.eq_ignore_ascii_case(word))
        };
        let mut is_kept = !says("Connection", "close");
        let has_body = method != "HEAD" && !matches!(answer.status, 100..=199 | 204 | 304);
        let body = if !has_body {
            Vec::new()
        } else if says("Transfer-Encoding", "chunked") {
            chunks(&mut stream)?
        } else if let Some(length) = answer.header("Content-Length") {
            let length: u64 = length.parse().map_err(|_| bad("Content-Length", length))?;
            take(&mut stream, length)?
        } else {
            is_kept = false;
            let mut body = Vec::new();
            stream.read_to_end(&mut body)?;
            body
        };
        answer.body = body;
        self.kept = is_kept.then_some(stream);
        Ok(answer)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "client of {}", self.address)
    }
}

fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected};
    let kinds = [BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected];
    kinds.contains(&error.kind()) || error.kind() == io::ErrorKind::UnexpectedEof
}

fn bad(what: &str, value: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{what}: {value:?}"))
}

fn line(stream: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    line.truncate(line.trim_end_matches(['\r', '\n']).len());
    Ok(line)
}

/// Status and headers.
fn head(stream: &mut impl BufRead) -> io::Result<Answer> {
    let first = line(stream)?;
    let status = first.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)?.parse().ok());
    let status = status.ok_or_else(|| bad("status line", &first))?;
    let mut headers = Vec::new();
    for _ in 0..HEAD_LINES_MAX {
        let next = line(stream)?;
        if next.is_empty() {
            return Ok(Answer { status, headers, body: Vec::new() });
        }
        let (name, value) = next.split_once(':').ok_or_else(|| bad("header", &next))?;
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    Err(bad("headers", "no end"))
}

fn take(stream: &mut impl BufRead, length: u64) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    stream.by_ref().take(length).read_to_end(&mut body)?;
    if body.len() as u64 == length { Ok(body) } else { Err(bad("body", "cut short")) }
}

fn chunks(stream: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = line(stream)?;
        let digits = size.split(';').next().unwrap_or_default().trim();
        let length = u64::from_str_radix(digits, 16).map_err(|_| bad("chunk", &size))?;
        if length == 0 {
            while !line(stream)?.is_empty() {}
            return Ok(body);
        }
        body.extend(take(stream, length)?);
        line(stream)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn connections_are_kept_and_bodies_whole() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let answers: [&[u8]; 3] = [
            b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
            b"HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1;x\r\nd\r\n0\r\n\r\n",
            b"HTTP/1.0 500 No\r\nConnection: close\r\n\r\nto the end",
        ];
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = listener.accept().unwrap();
                for answer in answers {
                    let mut request = BufReader::new(&stream);
                    while !line(&mut request).unwrap().is_empty() {}
                    stream.write_all(answer).unwrap();
                }
            });
            let mut client = Client::new(&format!("http://{address}/")).unwrap();
            let mut ask = |path: &str| {
                let answer = client.get(path).unwrap();
                (answer.status, String::from_utf8(answer.body).unwrap())
            };
            assert_eq!(ask("/a"), (200, "ok".to_owned()));
            assert_eq!(ask("/b"), (404, "abcd".to_owned()));
            assert_eq!(ask("/c"), (500, "to the end".to_owned()));
        });
    }
}
