//! Request bodies. A handler reads the body only after it has checked the caller and the channel.

mod budget;
mod pieces;

use std::future::{Ready, ready};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::header::CONTENT_LENGTH;
use actix_web::web::{Bytes, BytesMut};
use actix_web::{FromRequest, HttpMessage as _, HttpRequest};
use futures_util::StreamExt as _;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

pub use self::budget::Budget;
pub(super) use self::budget::Sender;
use self::budget::{Peer, Room};
use super::Options;
use super::error::Error;
use super::server::Client;
use crate::error::Code;

/// How long a client may send nothing, or send more slowly than required.
const GRACE: Duration = Duration::from_secs(5);

/// A body that is not read yet.
pub(super) struct Body {
    request: HttpRequest,
    payload: Payload,
}

impl FromRequest for Body {
    type Error = std::convert::Infallible;
    type Future = Ready<Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        ready(Ok(Self { request: request.clone(), payload: payload.take() }))
    }
}

impl Body {
    /// Reads the whole body of a caller with a key: at most `body_bytes` of it, within `body_timeout`.
    ///
    /// # Errors
    ///
    /// `body_too_large` and `service_unavailable`, before reading when the client declared its length;
    /// `body_too_slow` and `invalid_body` when it does not arrive in time or whole.
    pub(super) async fn read(self, options: &Options) -> Result<Bytes, Error> {
        // Every handler that reads a body also extracts its caller; that extractor puts the sender here.
        let sender = self.request.extensions().get::<Sender>().copied().ok_or(Error::Internal)?;
        self.read_from(sender, options.body_bytes, options).await
    }

    /// Reads a webhook for this company: at most `hook_body_bytes`. Only the body authenticates its sender.
    ///
    /// # Errors
    ///
    /// As [`Body::read`].
    pub(super) async fn read_hook(self, company_id: Uuid, options: &Options) -> Result<Bytes, Error> {
        let connected = self.request.peer_addr().map(|address| address.ip());
        let peer = Peer::new(Some(options.proxies.client(connected, self.request.headers()).address));
        self.read_from(Sender::Hook(company_id, peer), options.hook_body_bytes, options).await
    }

    async fn read_from(self, sender: Sender, max: usize, options: &Options) -> Result<Bytes, Error> {
        let Self { request, payload } = self;
        let declared =
            request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        if declared.is_some_and(|length: usize| length > max) {
            return Err(too_large(max));
        }
        let room = options.bodies.take(sender, declared.unwrap_or_default()).ok_or_else(no_room)?;
        let reading = Reading { room, declared: declared.unwrap_or_default(), max };
        let _awaiting = request.conn_data::<Arc<Client>>().map(Client::await_body);
        reading.collect(payload, options).await
    }
}

/// A body of which a part has arrived.
struct Reading {
    room: Room,
    /// The bytes that the room already covers.
    declared: usize,
    max: usize,
}

impl Reading {
    /// A body that arrives in one piece, as most do, is not copied.
    async fn collect(mut self, payload: Payload, options: &Options) -> Result<Bytes, Error> {
        let started = Instant::now();
        let mut payload = pin!(payload);
        let (mut first, mut rest) = (Bytes::new(), BytesMut::new());
        loop {
            let received = first.len() + rest.len();
            let at_least = GRACE + Duration::from_secs((received / options.client_rate.max(1)) as u64);
            let due = started + at_least.min(options.body_timeout);
            let Some(piece) = timeout_at(due, payload.next()).await.map_err(|_| too_slow())? else { break };
            let piece =
                piece.map_err(|_| Error::refused(Code::InvalidBody, "the body did not arrive whole"))?;
            let received = received + piece.len();
            if received > self.max {
                return Err(too_large(self.max));
            }
            if received > self.declared {
                if !self.room.grow(received - self.declared) {
                    return Err(no_room());
                }
                self.declared = received;
            }
            if received == piece.len() {
                first = piece;
            } else {
                if rest.is_empty() {
                    rest.reserve(self.declared);
                    rest.extend_from_slice(&std::mem::take(&mut first));
                }
                rest.extend_from_slice(&piece);
            }
        }
        let bytes = if rest.is_empty() { first } else { rest.freeze() };
        Ok(Bytes::from_owner(Whole { bytes, _room: self.room }))
    }
}

/// A whole body. Its room is released with its last bytes.
struct Whole {
    bytes: Bytes,
    _room: Room,
}

impl AsRef<[u8]> for Whole {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

fn too_large(max: usize) -> Error {
    Error::refused(Code::BodyTooLarge, format!("the body is larger than {max} bytes: split it"))
}

fn too_slow() -> Error {
    Error::refused(Code::BodyTooSlow, "the body took too long to arrive: send it faster, or split it")
}

fn no_room() -> Error {
    Error::refused(
        Code::ServiceUnavailable,
        "too many request bodies are being read, of this sender or of all: try again after the seconds of Retry-After",
    )
}
