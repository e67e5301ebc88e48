//! The `{id}` of a path.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use uuid::Uuid;

use crate::surface::paths::Argument;

/// The id in the path; `None` when it is not a UUID. Each kind of record has its own refusal for that.
#[derive(Debug, Clone, Copy)]
pub(super) struct Id(pub(super) Option<Uuid>);

impl Id {
    /// The id, or the nil id, which no record has.
    pub(super) fn or_nil(self) -> Uuid {
        self.0.unwrap_or_default()
    }
}

impl Argument for Id {}

impl FromRequest for Id {
    type Error = std::convert::Infallible;
    type Future = Ready<Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let id = request.match_info().get("id").and_then(|id| Uuid::try_parse(id).ok());
        ready(Ok(Self(id)))
    }
}
