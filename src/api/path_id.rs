//! The `{id}` of a path.

use std::convert::Infallible;
use std::sync::Arc;

use actix_web::HttpRequest;
use uuid::Uuid;

use super::State;
use super::error::Error;
use crate::domain::channel::Channel;
use crate::surface::paths::argument;

/// The id in the path; `None` when it is not a UUID. Each kind of record has its own refusal for that.
#[derive(Debug, Clone, Copy)]
pub(super) struct Id(pub(super) Option<Uuid>);

impl Id {
    /// The channel with the id, of any company.
    pub(super) async fn channel(self, state: &State) -> Result<Option<Arc<Channel>>, Error> {
        match self.0 {
            Some(id) => Ok(state.engine.channel(id).await?),
            None => Ok(None),
        }
    }

    /// The id, or the nil id, which no record has.
    pub(super) fn or_nil(self) -> Uuid {
        self.0.unwrap_or_default()
    }
}

argument!(Id, Infallible, |request: &HttpRequest| {
    Ok(Self(request.match_info().get("id").and_then(|id| Uuid::try_parse(id).ok())))
});
