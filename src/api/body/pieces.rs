//! A body that is read piece by piece, because it is too large for memory.

use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpMessage as _;
use actix_web::HttpRequest;
use actix_web::dev::Payload;
use actix_web::http::header::CONTENT_LENGTH;
use actix_web::web::Bytes;
use futures_util::StreamExt as _;
use tokio::time::{Instant, timeout_at};

use super::budget::Room;
use super::{Body, GRACE, Sender, no_room, too_large, too_slow};
use crate::api::Options;
use crate::api::error::Error;
use crate::api::server::Client;
use crate::error::Code;

/// The memory for the pieces of one body: one piece that arrives, and one that is being stored.
const MEMORY: usize = 512 * 1024;

/// How long the rest of a refused body is read and discarded.
const PASSED_OVER: Duration = Duration::from_secs(2);

pub(in crate::api) struct Pieces {
    request: HttpRequest,
    payload: Payload,
    started: Instant,
    /// How long the service worked without waiting for the client.
    busy: Duration,
    received: usize,
    most: usize,
    rate: usize,
    _room: Room,
}

impl Body {
    /// Reads a body of at most `most` bytes piece by piece. It may take as long as `client_rate` allows.
    ///
    /// # Errors
    ///
    /// As [`Body::read`].
    pub(in crate::api) fn pieces(self, most: usize, options: &Options) -> Result<Pieces, Error> {
        let sender = self.request.extensions().get::<Sender>().copied().ok_or(Error::Internal)?;
        let Self { request, payload } = self;
        let length =
            request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        if length.is_some_and(|length: usize| length > most) {
            return Err(too_large(most));
        }
        let memory = length.unwrap_or(MEMORY).min(MEMORY);
        let room = options.bodies.take(sender, memory).ok_or_else(no_room)?;
        Ok(Pieces {
            request,
            payload,
            started: Instant::now(),
            busy: Duration::ZERO,
            received: 0,
            most,
            rate: options.client_rate.max(1),
            _room: room,
        })
    }
}

impl Pieces {
    /// The next piece; `None` at the end.
    ///
    /// # Errors
    ///
    /// As [`Body::read`].
    pub(in crate::api) async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        let _awaiting = self.request.conn_data::<Arc<Client>>().map(Client::await_body);
        let at_least = GRACE + Duration::from_secs((self.received / self.rate) as u64);
        let due = self.started + self.busy + at_least;
        let next = timeout_at(due, self.payload.next()).await.map_err(|_| too_slow())?;
        let Some(piece) = next else { return Ok(None) };
        let piece = piece.map_err(|_| Error::refused(Code::InvalidBody, "the body did not arrive whole"))?;
        self.received = self.received.saturating_add(piece.len());
        if self.received > self.most {
            return Err(too_large(self.most));
        }
        Ok(Some(piece))
    }

    /// Reads and discards the rest of the body for a moment, so that the client gets the refusal and not only
    /// the end of its connection.
    pub(in crate::api) async fn pass_over(&mut self) {
        let passing = async { while matches!(self.payload.next().await, Some(Ok(_))) {} };
        let _ = timeout_at(Instant::now() + PASSED_OVER, passing).await;
    }

    /// Must be called with the time that storing a piece took, so that this time does not count against the
    /// client.
    pub(in crate::api) fn stored(&mut self, took: Duration) {
        self.busy += took;
    }
}
