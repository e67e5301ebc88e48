//! Requests whose bodies do not arrive: what they hold in the memory for bodies.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use pombo::surface::body::Budget;

use super::Service;
use crate::running::until_soon;

/// A length that no other body in these tests has.
pub(crate) const LENGTH: usize = 4_099;

/// How long an answer may take that needs no body.
const PATIENCE: Duration = Duration::from_secs(30);

/// A request of which only the head and one byte of the body are sent.
pub(crate) struct Unsent {
    stream: TcpStream,
    line: String,
}

impl Unsent {
    /// The request with these header fields, each with its line end, and a body of this length.
    pub(crate) fn begin(service: &Service, method: &str, path: &str, headers: &str, length: usize) -> Self {
        let mut stream = TcpStream::connect(service.url().trim_start_matches("http://")).unwrap();
        let line = format!("{method} {path}");
        let head = format!("{line} HTTP/1.1\r\nHost: x\r\n{headers}Content-Length: {length}\r\n\r\n{{");
        stream.write_all(head.as_bytes()).unwrap();
        Self { stream, line }
    }

    /// Waits until its body is read in the one way: then it holds its declared length of the memory for bodies, and
    /// gives it back when the client is gone. Or until it is answered without its body: then returns the status.
    pub(crate) async fn settled(self, bodies: &Budget) -> Option<u16> {
        let Self { stream, line } = self;
        let answering = stream.try_clone().unwrap();
        answering.set_read_timeout(Some(PATIENCE)).unwrap();
        let read = move || {
            let mut first = String::new();
            let _ = BufReader::new(answering).read_line(&mut first);
            first.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default()
        };
        let answer = tokio::task::spawn_blocking(read);
        let seen = format!("the body of {line} in the memory for bodies, or an answer");
        until_soon(&seen, async || bodies.held() == LENGTH || answer.is_finished()).await;
        let is_read = bodies.held() == LENGTH;
        let _ = stream.shutdown(Shutdown::Both);
        let status = answer.await.unwrap();
        until_soon(&format!("the memory of {line} given back"), async || bodies.held() == 0).await;
        if is_read { None } else { Some(status) }
    }
}
