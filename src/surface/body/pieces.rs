//! A body that arrives piece by piece.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use actix_web::web::Bytes;
use futures_util::{Stream, StreamExt as _};
use tokio::time::{Instant, timeout_at};

use super::{Fault, Room};
use crate::surface::clients::Client;

/// How long a client may send nothing, or send more slowly than required.
const GRACE: Duration = Duration::from_secs(5);

/// The memory for the pieces of one body that is never whole: one piece that arrives, and one that is being stored.
pub(super) const MEMORY: usize = 512 * 1024;

/// How long the rest of a refused body is read and discarded.
const PASSED_OVER: Duration = Duration::from_secs(2);

/// The bounds of one body.
pub(super) struct Bounds {
    /// Bytes.
    pub(super) most: usize,
    /// Bytes per second.
    pub(super) rate: usize,
    /// How long the whole body may take, however large it is.
    pub(super) timeout: Option<Duration>,
}

/// A body of which a part has arrived.
pub(crate) struct Pieces {
    request: HttpRequest,
    payload: Payload,
    started: Instant,
    /// How long the service worked without waiting for the client.
    busy: Duration,
    received: usize,
    bounds: Bounds,
    room: Room,
}

impl Pieces {
    pub(super) fn new(request: HttpRequest, payload: Payload, room: Room, bounds: Bounds) -> Self {
        let started = Instant::now();
        Self { request, payload, started, busy: Duration::ZERO, received: 0, bounds, room }
    }

    /// The bytes that have arrived.
    pub(super) const fn received(&self) -> usize {
        self.received
    }

    pub(crate) const fn room(&mut self) -> &mut Room {
        &mut self.room
    }

    pub(crate) fn into_room(self) -> Room {
        self.room
    }

    /// The next piece; `None` at the end. The connection waits for its client meanwhile.
    ///
    /// # Errors
    ///
    /// [`Fault::TooLarge`], [`Fault::TooSlow`] and [`Fault::Broken`] when it does not arrive whole and in time,
    /// [`Fault::NoRoom`] when another body took its room.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Fault> {
        let connection = self.request.conn_data::<Arc<Client>>().cloned();
        let _awaiting = connection.as_ref().map(Client::await_body);
        self.receive().await
    }

    /// As [`Pieces::next`], for a caller that marks the connection as waiting.
    pub(super) async fn receive(&mut self) -> Result<Option<Bytes>, Fault> {
        let Bounds { most, rate, timeout } = self.bounds;
        let at_least = GRACE + Duration::from_secs((self.received / rate) as u64);
        let at_least = timeout.map_or(at_least, |timeout| at_least.min(timeout));
        let due = self.started + self.busy + at_least;
        let next = tokio::select! {
            biased;
            next = timeout_at(due, self.payload.next()) => next.map_err(|_| Fault::TooSlow)?,
            () = self.room.made_room() => return Err(Fault::NoRoom),
        };
        let Some(piece) = next else { return Ok(None) };
        let piece = piece.map_err(|_| Fault::Broken)?;
        self.received = self.received.saturating_add(piece.len());
        if self.received > most {
            return Err(Fault::TooLarge(most));
        }
        Ok(Some(piece))
    }

    /// Reads and discards the rest of the body for a moment, so that the client gets the refusal and not only
    /// the end of its connection.
    pub(crate) async fn pass_over(&mut self) {
        let connection = self.request.conn_data::<Arc<Client>>().cloned();
        let _awaiting = connection.as_ref().map(Client::await_body);
        let passing = async { while matches!(self.payload.next().await, Some(Ok(_))) {} };
        let _ = timeout_at(Instant::now() + PASSED_OVER, passing).await;
    }

    /// Must be called with the time that storing a piece took, so that this time does not count against the
    /// client.
    pub(crate) fn stored(&mut self, took: Duration) {
        self.busy += took;
    }

    /// The part of the body that has not arrived yet. It is discarded, and takes no room.
    pub(crate) fn into_rest(self) -> Rest {
        Rest(self.payload)
    }
}

/// The rest of a body, which is discarded when it arrives.
pub(crate) struct Rest(Payload);

impl Rest {
    /// Ready when the body has arrived or breaks off.
    pub(crate) fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            match Pin::new(&mut self.0).poll_next(context) {
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(_)) | None) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl<S> From<S> for Rest
where
    S: Stream<Item = Result<Bytes, PayloadError>> + 'static,
{
    fn from(pieces: S) -> Self {
        Self(Payload::Stream { payload: Box::pin(pieces) })
    }
}
