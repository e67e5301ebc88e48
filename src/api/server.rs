//! The server below the surface. It is actix-web's own, except that a request which never became one, because its
//! bytes are not HTTP, its head is too large or came too slowly, is answered in the form of every refusal.

use std::future::ready;
use std::io;
use std::net::TcpListener;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use actix_http::error::DispatchError;
use actix_http::{HttpService, Protocol};
use actix_service::{IntoServiceFactory as _, ServiceFactoryExt as _, fn_service, map_config};
use actix_web::App;
use actix_web::dev::{AppConfig, Server};
use actix_web::rt::net::TcpStream;
use actix_web::web::{Bytes, Data};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::State;
use super::error::ErrorBody;
use super::request_id;
use crate::error::Code;

/// How long a client that is told that its connection closes may take to close it.
const DISCONNECT: Duration = Duration::from_secs(1);

/// How connections are served.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Threads that answer.
    pub workers: usize,
    /// How long an idle connection stays open.
    pub keep_alive: Duration,
    /// How long the head of a connection's first request may take to arrive.
    pub client_timeout: Duration,
    /// How long a graceful stop waits for answers under way.
    pub shutdown_grace: Duration,
}

/// Serves the surface to whoever connects. Signals are left to the caller.
///
/// # Errors
///
/// When the listener is not usable.
pub fn listen(listener: TcpListener, state: Data<State>, settings: Settings) -> io::Result<Server> {
    let Settings { workers, keep_alive, client_timeout, shutdown_grace } = settings;
    let grace = shutdown_grace.as_secs().max(1);
    let builder = Server::build().workers(workers).shutdown_timeout(grace).disable_signals();
    let stopping = builder.graceful_shutdown_signal();
    let address = listener.local_addr()?;
    let builder = builder.listen("http", listener, move || {
        let stopping = stopping.clone();
        let application = App::new().service(super::service(state.clone()));
        let application = application.into_factory().map_err(|error| error.error_response());
        let http = HttpService::build()
            .graceful_shutdown_signal(move || {
                let stopping = stopping.clone();
                async move { stopping.notified().await }
            })
            .keep_alive(keep_alive)
            .client_request_timeout(client_timeout)
            .client_disconnect_timeout(DISCONNECT)
            .local_addr(address)
            .finish(map_config(application, |()| AppConfig::default()));
        let connected = |stream: TcpStream| {
            let peer = stream.peer_addr().ok();
            ready(Ok::<_, DispatchError>((Connection::new(stream), Protocol::Http1, peer)))
        };
        fn_service(connected).and_then(http)
    })?;
    Ok(builder.run())
}

/// A connection on which the parser's refusals, which have no body, become refusals like all others.
struct Connection {
    stream: TcpStream,
    /// What is written in a refusal's place, and how much of it was.
    refusal: Option<(Bytes, usize)>,
}

impl Connection {
    const fn new(stream: TcpStream) -> Self {
        Self { stream, refusal: None }
    }

    fn poll_refusal(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some((bytes, written)) = &mut self.refusal {
            let left = bytes.get(*written..).unwrap_or_default();
            if left.is_empty() {
                self.refusal = None;
                break;
            }
            match ready!(Pin::new(&mut self.stream).poll_write(cx, left))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                more => *written += more,
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        if this.refusal.is_none() {
            match refusal(bytes) {
                None => return Pin::new(&mut this.stream).poll_write(cx, bytes),
                // Answers to requests before it.
                Some((0, refusal)) => this.refusal = Some((refusal, 0)),
                Some((before, _)) => {
                    let before = bytes.get(..before).unwrap_or_default();
                    return Pin::new(&mut this.stream).poll_write(cx, before);
                }
            }
        }
        // Nothing follows it, and it is offered until it is taken.
        ready!(this.poll_refusal(cx))?;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_refusal(cx))?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_refusal(cx))?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// Where in what is written a refusal of the parser begins, and what is written instead. It is the last thing that a
/// connection writes, and the only one of its statuses that has no body.
fn refusal(bytes: &[u8]) -> Option<(usize, Bytes)> {
    const BEGIN: &[u8] = b"HTTP/1.1 4";
    if !bytes.ends_with(b"\r\n\r\n") {
        return None;
    }
    let start = bytes.windows(BEGIN.len()).rposition(|window| window == BEGIN)?;
    let head = str::from_utf8(bytes.get(start..)?).ok()?;
    let (status, fields) = head.split_once("\r\n")?;
    let sentence = match status.get(9..12)? {
        "400" => "the request is not HTTP/1.1: its head or the framing of its body cannot be read",
        "408" => "the request's head took too long to arrive",
        "431" => "the request's head is too large",
        _ => return None,
    };
    let is = |field: &str, name: &str| {
        field.split_once(':').is_some_and(|(given, _)| given.eq_ignore_ascii_case(name))
    };
    let mut fields = fields.split("\r\n").filter(|field| !field.is_empty());
    let is_empty = fields.clone().any(|field| is(field, "content-length") && field.ends_with(" 0"));
    if !is_empty {
        return None;
    }
    let date = fields.find(|field| is(field, "date")).map(|date| format!("{date}\r\n")).unwrap_or_default();
    let body = ErrorBody { error: sentence, code: Code::MalformedRequest.as_str() };
    let body = serde_json::to_string(&body).ok()?;
    let id = request_id::fresh();
    let refusal = format!(
        "{status}\r\ncontent-length: {}\r\nconnection: close\r\ncontent-type: application/json\r\n{}: {}\r\n\
         {date}\r\n{body}",
        body.len(),
        request_id::NAME,
        id.to_str().unwrap_or_default(),
    );
    tracing::debug!(request.id = ?id, status, "a request could not be read");
    Some((start, refusal.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str =
        "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\ndate: now\r\n\r\n";

    #[test]
    fn only_a_refusal_without_a_body_is_replaced() {
        let (start, written) = refusal(EMPTY.as_bytes()).unwrap();
        let written = String::from_utf8(written.to_vec()).unwrap();
        assert_eq!(start, 0);
        let (head, body) = written.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 400 Bad Request\r\n") && head.ends_with("date: now"), "{head}");
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{written}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(body).unwrap()["code"], "malformed_request");
        for status in ["408 Request Timeout", "431 Request Header Fields Too Large"] {
            let (_, written) = refusal(EMPTY.replace("400 Bad Request", status).as_bytes()).unwrap();
            let written = String::from_utf8(written.to_vec()).unwrap();
            assert!(written.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{written}");
            assert!(written.contains("\"malformed_request\""), "{written}");
        }
        for other in [
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 10\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n",
        ] {
            assert_eq!(refusal(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn answers_before_it_are_written_as_they_are() {
        let before = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\n{}";
        let (start, _) = refusal(format!("{before}{EMPTY}").as_bytes()).unwrap();
        assert_eq!(start, before.len());
    }
}
