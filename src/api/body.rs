//! Request bodies, read only when a handler asks for them: who asks and for which channel is checked first.

use std::future::{Ready, ready};
use std::pin::pin;

use actix_web::dev::Payload;
use actix_web::http::header::CONTENT_LENGTH;
use actix_web::web::{Bytes, BytesMut};
use actix_web::{FromRequest, HttpRequest};
use futures_util::StreamExt as _;
use tokio::time::timeout;

use super::Options;
use super::error::Error;
use crate::error::Code;

/// A body that nobody has read yet.
pub(super) struct Body {
    declared: Option<usize>,
    payload: Payload,
}

impl FromRequest for Body {
    type Error = std::convert::Infallible;
    type Future = Ready<Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let declared =
            request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        ready(Ok(Self { declared, payload: payload.take() }))
    }
}

impl Body {
    /// Reads the whole body: at most `body_bytes` of it, within `body_timeout`.
    ///
    /// # Errors
    ///
    /// `body_too_large`, before reading when the client declared its length; `invalid_body` when it does not
    /// arrive whole or in time.
    pub(super) async fn read(self, options: &Options) -> Result<Bytes, Error> {
        self.read_at_most(options.body_bytes, options).await
    }

    /// The same, with another bound in bytes.
    ///
    /// # Errors
    ///
    /// As [`Body::read`].
    pub(super) async fn read_at_most(self, max: usize, options: &Options) -> Result<Bytes, Error> {
        if self.declared.is_some_and(|length| length > max) {
            return Err(too_large(max));
        }
        let late = |_| Error::refused(Code::InvalidBody, "the body took too long to arrive");
        timeout(options.body_timeout, collect(self.payload, max)).await.map_err(late)?
    }
}

/// A body that arrives in one piece, as most do, is not copied.
async fn collect(payload: Payload, max: usize) -> Result<Bytes, Error> {
    let mut payload = pin!(payload);
    let (mut first, mut rest) = (Bytes::new(), BytesMut::new());
    while let Some(piece) = payload.next().await {
        let piece = piece.map_err(|_| Error::refused(Code::InvalidBody, "the body did not arrive whole"))?;
        if first.len() + rest.len() + piece.len() > max {
            return Err(too_large(max));
        }
        if first.is_empty() && rest.is_empty() {
            first = piece;
        } else {
            if rest.is_empty() {
                rest.extend_from_slice(&std::mem::take(&mut first));
            }
            rest.extend_from_slice(&piece);
        }
    }
    Ok(if rest.is_empty() { first } else { rest.freeze() })
}

fn too_large(max: usize) -> Error {
    Error::refused(Code::BodyTooLarge, format!("the body is larger than {max} bytes: split the send"))
}
