//! One connection: the parser's refusals become refusals like all others, and a client that does not do its part is not
//! waited for without end.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use actix_web::rt::net::TcpStream;
use actix_web::web::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep_until};

use super::clients::{self, Client, Ending, Opened};
use super::refusal::refusal;

/// How much later than the library an idle connection is ended: it does so itself, unless the client fooled it.
const SLACK: Duration = Duration::from_secs(1);

/// How long a client is waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// For the rest of a request's head; `None` without a limit.
    pub(super) head: Option<Duration>,
    /// For the next request.
    pub(super) keep_alive: Duration,
    /// Until it begins to read an answer.
    pub(super) write: Duration,
    /// Bytes in a second that it has to take of an answer then.
    pub(super) rate: usize,
}

/// A connection of a client.
pub(super) struct Connection {
    stream: TcpStream,
    opened: Opened,
    patience: Patience,
    /// What is written in a refusal's place, and how much of it was.
    refusal: Option<(Bytes, usize)>,
    /// The service ended it.
    is_ended: bool,
    /// Requests that it had when a head was looked for last.
    requests: u64,
    /// When the head began that has not arrived whole.
    head_since: Option<Instant>,
    /// Since when the client does not take all that there is for it, and what it took since.
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

    /// For its requests.
    pub(super) const fn client(&self) -> &Arc<Client> {
        self.opened.client()
    }

    fn end(&mut self, ending: Ending) {
        if !self.is_ended {
            self.is_ended = true;
            clients::count(ending);
        }
    }

    /// Ends a connection whose place is needed.
    fn is_over(&mut self) -> bool {
        if self.client().makes_room() {
            self.end(Ending::Room);
        }
        self.is_ended
    }

    /// A request came since this was asked last: what came before was its head.
    fn forget_old_head(&mut self) {
        let requests = self.client().requests();
        if requests != self.requests {
            self.requests = requests;
            self.head_since = None;
        }
    }

    /// Something came.
    fn hear(&mut self) {
        self.forget_old_head();
        if self.head_since.is_none() && self.client().idle_since().is_some() {
            self.head_since = Some(Instant::now());
        }
    }

    /// Ready when the client had its time for the head of the next request. For the first one the library waits, and
    /// answers.
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

    /// Ready when the client had its time to read an answer.
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
    /// A connection that the service ends looks as if its client had closed it.
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
                // Answers to requests before it.
                Some((0, refusal)) => this.refusal = Some((refusal, 0)),
                Some((before, _)) => {
                    let before = bytes.get(..before).unwrap_or_default();
                    return this.poll_stream(cx, before);
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

/// A timer that there is only once it is needed.
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
