//! The `{id}` of a path.

use std::convert::Infallible;

use actix_web::HttpRequest;
use uuid::Uuid;

use crate::surface::paths::argument;

/// The id in the path; `None` when it is not a UUID. Each kind of record has its own refusal for that.
#[derive(Debug, Clone, Copy)]
pub(super) struct Id(pub(super) Option<Uuid>);

impl Id {
    /// The id, or the nil id, which no record has.
    pub(super) fn or_nil(self) -> Uuid {
        self.0.unwrap_or_default()
    }
}

argument!(Id, Infallible, |request: &HttpRequest| {
    Ok(Self(request.match_info().get("id").and_then(|id| Uuid::try_parse(id).ok())))
});
