//! Request bodies: the one way in which API and console read them.
//!
//! A body is read after its sender is known, and in the sender's part of the memory for bodies, which is taken before
//! the bytes arrive and held for as long as what was made of them lives. Meanwhile the connection counts as waiting for
//! its client, and the client has to keep a rate. Whatever is made of a body is charged before it is made.

mod budget;
pub(crate) mod json;
mod pieces;
mod sender;

use std::future::{Ready, ready};
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::header::CONTENT_LENGTH;
use actix_web::web::{self, Bytes, BytesMut, Data};
use actix_web::{FromRequest, HttpMessage as _, HttpRequest};

pub use self::budget::Budget;
pub(crate) use self::budget::Room;
pub(crate) use self::pieces::{Pieces, Rest};
pub(crate) use self::sender::{Peer, Sender};
use super::clients::Client;
use super::paths::Argument;

/// A body up to this size is read on the thread that received it; a larger one on a thread where it delays no other
/// request.
const READ_IN_PLACE: usize = 128 * 1024;

/// The rules for all bodies of a listener.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    /// The memory for all bodies and what is made of them.
    pub(crate) memory: Budget,
    /// How long a whole body may take to arrive.
    pub(crate) timeout: Duration,
    /// The lowest rate at which a client has to send a body, in bytes per second, after its first moments.
    pub(crate) rate: usize,
}

/// Why a body is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is larger than this many bytes.
    TooLarge(usize),
    /// What would be made of it takes more memory than one body may ever take.
    TooMuch,
    /// It took too long to arrive.
    TooSlow,
    /// It did not arrive whole.
    Broken,
    /// It is not a form of parts, or not a whole one.
    NoForm,
    /// The form has more parts than are read.
    TooManyParts,
    /// The sender's part of the memory for bodies is used up.
    NoRoom,
    /// A defect of ours, which is logged.
    Defect,
}

/// A body that is not read yet.
pub(crate) struct Incoming {
    request: HttpRequest,
    payload: Payload,
}

impl FromRequest for Incoming {
    type Error = std::convert::Infallible;
    type Future = Ready<Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        ready(Ok(Self { request: request.clone(), payload: payload.take() }))
    }
}

impl Argument for Incoming {}

impl Incoming {
    /// The request of the body.
    pub(crate) const fn request(&self) -> &HttpRequest {
        &self.request
    }

    /// The length that the client declared.
    pub(crate) fn declared(&self) -> Option<usize> {
        let length = self.request.headers().get(CONTENT_LENGTH)?;
        length.to_str().ok()?.parse().ok()
    }

    /// Reads the whole body, of at most `most` bytes.
    ///
    /// # Errors
    ///
    /// Any fault: before reading when the client declared the length.
    pub(crate) async fn whole(self, most: usize) -> Result<Whole, Fault> {
        let mut declared = self.declared().unwrap_or_default();
        let connection = self.request.conn_data::<Arc<Client>>().cloned();
        let mut pieces = self.open(most, declared, true)?;
        let _awaiting = connection.as_ref().map(Client::await_body);
        let (mut first, mut rest) = (Bytes::new(), BytesMut::new());
        // A body that arrives in one piece, as most do, is not copied.
        while let Some(piece) = pieces.receive().await? {
            let received = pieces.received();
            if received > declared {
                pieces.room().charge(received - declared)?;
                declared = received;
            }
            if received == piece.len() {
                first = piece;
            } else {
                if rest.is_empty() {
                    rest.reserve(declared);
                    rest.extend_from_slice(&std::mem::take(&mut first));
                }
                rest.extend_from_slice(&piece);
            }
        }
        let mut room = pieces.into_room();
        room.settle()?;
        Ok(Whole { bytes: if rest.is_empty() { first } else { rest.freeze() }, room })
    }

    /// The body piece by piece, because it is too large for memory: at most `most` bytes of it. It may take as long as
    /// the required rate allows.
    pub(crate) fn pieces(self, most: usize) -> Result<Pieces, Fault> {
        let memory = self.declared().unwrap_or(pieces::MEMORY).min(pieces::MEMORY);
        self.open(most, memory, false)
    }

    fn open(self, most: usize, memory: usize, is_whole: bool) -> Result<Pieces, Fault> {
        if self.declared().is_some_and(|length| length > most) {
            return Err(Fault::TooLarge(most));
        }
        let Self { request, payload } = self;
        let sender = request.extensions().get::<Sender>().copied();
        let rules = request.app_data::<Data<Rules>>();
        let (Some(sender), Some(rules)) = (sender, rules) else {
            // Whatever authenticates a request puts its sender there.
            tracing::error!("a handler reads a body whose sender is not known");
            return Err(Fault::Defect);
        };
        let room = rules.memory.take(sender, memory)?;
        let timeout = is_whole.then_some(rules.timeout);
        let rate = rules.rate.max(1);
        Ok(Pieces::new(request, payload, room, pieces::Bounds { most, rate, timeout }))
    }
}

/// A body that has arrived, with its room.
#[derive(Debug)]
pub(crate) struct Whole {
    bytes: Bytes,
    room: Room,
}

impl Whole {
    /// The bytes.
    pub(crate) const fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Makes something of the body, and returns it with the room that it holds. `read` charges the room for what it
    /// makes. A large body is read on a thread that serves nobody else.
    pub(crate) async fn read<T, E>(
        self,
        read: impl FnOnce(&[u8], &mut Room) -> Result<T, E> + Send + 'static,
    ) -> Result<(T, Room), E>
    where
        T: Send + 'static,
        E: From<Fault> + Send + 'static,
    {
        let Self { bytes, mut room } = self;
        let is_large = bytes.len() > READ_IN_PLACE;
        let read = move || read(&bytes, &mut room).map(|read| (read, room));
        if !is_large {
            return read();
        }
        web::block(read).await.map_err(|error| {
            tracing::error!(%error, "reading a body was cut short");
            E::from(Fault::Defect)
        })?
    }
}
