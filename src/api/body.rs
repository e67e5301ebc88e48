//! Request bodies of the API. A handler reads the body only after it has checked the caller and the channel.

use actix_web::HttpMessage as _;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::Options;
use super::error::Error;
use crate::domain::body;
use crate::domain::json::Measure;
use crate::error::{Code, Refusal};
pub(super) use crate::surface::body::Incoming as Body;
use crate::surface::body::{Fault, Peer, Room, Rules, Sender, Whole, json};

impl Options {
    /// The rules for all bodies.
    pub(super) fn rules(&self) -> Rules {
        Rules { memory: self.bodies.clone(), timeout: self.body_timeout, rate: self.client_rate }
    }
}

impl Body {
    /// Reads the whole body of a caller with a key: at most `body_bytes` of it, within `body_timeout`.
    ///
    /// # Errors
    ///
    /// `body_too_large` and `service_unavailable`, before reading when the client declared its length;
    /// `body_too_slow` and `invalid_body` when it does not arrive in time or whole.
    pub(in crate::api) async fn read(self, options: &Options) -> Result<Whole, Error> {
        Ok(self.whole(options.body_bytes).await?)
    }

    /// Reads a webhook for this company: at most `hook_body_bytes`. Only the body authenticates its sender.
    pub(in crate::api) async fn read_hook(self, company_id: Uuid, options: &Options) -> Result<Whole, Error> {
        let request = self.request();
        let connected = request.peer_addr().map(|address| address.ip());
        let peer = Peer::new(Some(options.proxies.client(connected, request.headers()).address));
        request.extensions_mut().insert(Sender::Hook(company_id, peer));
        Ok(self.whole(options.hook_body_bytes).await?)
    }

    /// A small body that is a JSON object, with the room that it takes.
    ///
    /// # Errors
    ///
    /// As [`Body::read`]; `invalid_body` for anything else, `body_too_large` when its tree takes too much memory,
    /// `unknown_field` for another spelling of a known field.
    pub(in crate::api) async fn fields<T: Fields>(self, options: &Options) -> Result<(T, Room), Error> {
        let (fields, room) = self.tree(options).await?;
        Ok((taken(fields)?, room))
    }

    /// As [`Body::fields`]; an empty body has no fields.
    pub(in crate::api) async fn optional_fields<T: Fields>(
        self,
        options: &Options,
    ) -> Result<(T, Option<Room>), Error> {
        let whole = self.read(options).await?;
        if whole.bytes().trim_ascii().is_empty() {
            return Ok((taken(Map::new())?, None));
        }
        let (fields, room) = whole.read(tree).await?;
        Ok((taken(fields)?, Some(room)))
    }

    /// All fields of a small body that is a JSON object, as [`Body::fields`].
    pub(in crate::api) async fn tree(self, options: &Options) -> Result<(Map<String, Value>, Room), Error> {
        self.read(options).await?.read(tree).await
    }
}

/// The known fields. The others have no effect, unless one is another spelling of a known one.
fn taken<T: Fields>(mut fields: Map<String, Value>) -> Result<T, Refusal> {
    let taken = T::take(|name| fields.remove(name));
    let unknown = fields.iter().filter(|(_, value)| !value.is_null());
    body::refuse_misspelled(unknown.map(|(name, _)| name.as_str()), T::NAMES)?;
    Ok(taken)
}

/// A body whose fields are values.
pub(crate) trait Fields: body::Body<Value> {}

impl<T: body::Body<Value>> Fields for T {}

/// The tree of a body, which is charged before it is made.
fn tree(bytes: &[u8], room: &mut Room) -> Result<Map<String, Value>, Error> {
    let text = object(bytes)?;
    room.charge(Measure::of(text).bytes)?;
    serde_json::from_str(text).map_err(|wrong| {
        Error::refused(Code::InvalidBody, format!("the body is not a readable JSON object: {wrong}"))
    })
}

/// The text of a body that is a JSON object.
///
/// # Errors
///
/// `invalid_body` for anything else.
pub(super) fn object(bytes: &[u8]) -> Result<&str, Error> {
    json::object(bytes).map_err(|sentence| Error::refused(Code::InvalidBody, sentence))
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        let (code, sentence) = match fault {
            Fault::TooLarge(most) => {
                (Code::BodyTooLarge, format!("the body is larger than {most} bytes: split it"))
            }
            Fault::TooMuch => {
                (Code::BodyTooLarge, "reading the body would take too much memory: split it".to_owned())
            }
            Fault::TooSlow => (
                Code::BodyTooSlow,
                "the body took too long to arrive: send it faster, or split it".to_owned(),
            ),
            Fault::Broken => (Code::InvalidBody, "the body did not arrive whole".to_owned()),
            Fault::NoForm => {
                (Code::InvalidBody, "the body is not a whole form (multipart/form-data)".to_owned())
            }
            Fault::TooManyParts => (Code::BodyTooLarge, "the form has too many parts".to_owned()),
            Fault::NoRoom => (
                Code::ServiceUnavailable,
                "too many request bodies are being read, of this sender or of all: try again after the seconds of \
                 Retry-After"
                    .to_owned(),
            ),
            Fault::Defect => return Self::Internal,
        };
        Self::refused(code, sentence)
    }
}
