//! The `:id` of a channel's paths.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use uuid::Uuid;

use crate::surface::paths::Argument;

/// The id in the path; `None` when it is not a UUID. Each kind of channel has its own refusal for that.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChannelId(pub(super) Option<Uuid>);

impl Argument for ChannelId {}

impl FromRequest for ChannelId {
    type Error = std::convert::Infallible;
    type Future = Ready<Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let id = request.match_info().get("id").and_then(|id| Uuid::try_parse(id).ok());
        ready(Ok(Self(id)))
    }
}
