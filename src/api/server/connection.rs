//! One connection. It replaces the parser's refusals by refusals in the usual form, and has timeouts for
//! clients that do not send or read.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use actix_web::rt::net::TcpStream;
use actix_web::web::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep_until};

use super::refusal::refusal;
use crate::surface::clients::{self, Client, Ending, Opened};

/// How much later than the library this module ends an idle connection. The library ends it first, unless the
/// client deceives the library.
const SLACK: Duration = Duration::from_secs(1);

/// The timeouts of a client.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// For the rest of a request's head; `None` without a limit.
    pub(super) head: Option<Duration>,
    /// For the next request.
    pub(super) keep_alive: Duration,
    /// Until the client begins to read an answer.
    pub(super) write: Duration,
    /// The lowest rate at which the client then has to read the answer, in bytes per second.
    pub(super) rate: usize,
}

/// A connection of a client.
pub(super) struct Connection {
    stream: TcpStream,
    opened: Opened,
    patience: Patience,
    /// The bytes that replace a refusal of the parser, and how many of them are written.
    refusal: Option<(Bytes, usize)>,
    /// Whether the service has ended the connection.
    is_ended: bool,
    /// The number of requests when a head was last looked for.
    requests: u64,
    /// When the head that is still incomplete began to arrive.
    head_since: Option<Instant>,
    /// When the client stopped reading all available bytes, and how many bytes it has read since.
    unread: Option<(Instant, usize)>,
    reading: Alarm,
    writing: Alarm,
}

impl Connection {
    pub(super) const fn new(stream: TcpStream, opened: Opened, patience: Patience) -> Self {
        Self {
            stream,
            opened,
            patience,
            refusal: None,
            is_ended: false,
            requests: 0,
            head_since: None,
            unread: None,
            reading: Alarm(None),
            writing: Alarm(None),
        }
    }

    /// The client, for its requests.
    pub(super) const fn client(&self) -> &Arc<Client> {
        self.opened.client()
    }

    fn end(&mut self, ending: Ending) {
        if !self.is_ended {
            self.is_ended = true;
            clients::count(ending);
        }
    }

    /// Ends the connection if it has to make room.
    fn is_over(&mut self) -> bool {
        if self.client().makes_room() {
            self.end(Ending::Room);
        }
        self.is_ended
    }

    /// If a request came since the last call, the bytes before it were its head.
    fn forget_old_head(&mut self) {
        let requests = self.client().requests();
        if requests != self.requests {
            self.requests = requests;
            self.head_since = None;
        }
    }

    /// Notes that bytes arrived.
    fn hear(&mut self) {
        self.forget_old_head();
        if self.head_since.is_none() && self.client().idle_since().is_some() {
            self.head_since = Some(Instant::now());
        }
    }

    /// Ready when the timeout for the head of the next request is over. For the first request the library has
    /// its own timeout and answer.
    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            self.forget_old_head();
            let Some(since) = self.client().idle_since().filter(|_| self.requests > 0) else {
                return Poll::Pending;
            };
            let Patience { head, keep_alive, .. } = self.patience;
            let due = match self.head_since.zip(head) {
                Some((since, head)) => since + head,
                None => since + keep_alive + SLACK,
            };
            if due <= Instant::now() {
                return Poll::Ready(());
            }
            ready!(self.reading.poll(due, cx));
        }
    }

    /// Ready when the timeout for reading an answer is over.
    fn poll_unread(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let (since, taken) = *self.unread.get_or_insert_with(|| (Instant::now(), 0));
            let Patience { write, rate, .. } = self.patience;
            let due = since + write + Duration::from_secs((taken / rate.max(1)) as u64);
            if due <= Instant::now() {
                return Poll::Ready(());
            }
            ready!(self.writing.poll(due, cx));
        }
    }

    fn poll_stream(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write(cx, bytes) {
            Poll::Ready(Ok(taken)) => {
                if taken == bytes.len() {
                    self.unread = None;
                } else if let Some((_, all)) = &mut self.unread {
                    *all += taken;
                }
                Poll::Ready(Ok(taken))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => {
                self.client().register(cx.waker());
                if !self.is_over() {
                    ready!(self.poll_unread(cx));
                    self.end(Ending::Unread);
                }
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }

    fn poll_refusal(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some((bytes, written)) = self.refusal.clone() {
            let left = bytes.get(written..).unwrap_or_default();
            if left.is_empty() {
                self.refusal = None;
                break;
            }
            match ready!(self.poll_stream(cx, left))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                more => self.refusal = Some((bytes, written + more)),
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Connection {
    /// To the library, a connection that the service ends looks as if its client had closed it.
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.is_over() {
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(cx, buffer);
        if read.is_ready() {
            if buffer.filled().len() > before {
                this.hear();
            }
            return read;
        }
        this.client().register(cx.waker());
        if !this.is_over() {
            ready!(this.poll_head(cx));
            this.end(Ending::Head);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        if this.refusal.is_none() {
            match refusal(bytes) {
                None => return this.poll_stream(cx, bytes),
                // Answers to earlier requests come first.
                Some((0, refusal)) => this.refusal = Some((refusal, 0)),
                Some((before, _)) => {
                    let before = bytes.get(..before).unwrap_or_default();
                    return this.poll_stream(cx, before);
                }
            }
        }
        // Nothing follows the refusal, so the library offers it again until it is written.
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

/// A timer that is created only when it is needed.
struct Alarm(Option<Pin<Box<Sleep>>>);

impl Alarm {
    /// Ready at `due` or before it: the caller checks the time and polls again.
    fn poll(&mut self, due: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let timer = self.0.get_or_insert_with(|| Box::pin(sleep_until(due.into())));
        if timer.is_elapsed() || timer.deadline() > due.into() {
            timer.as_mut().reset(due.into());
        }
        timer.as_mut().poll(cx)
    }
}
