//! Sending events to a webhook endpoint once more, many of them.

use actix_web::HttpResponse;
use actix_web::web::{Data, Json};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::Webhook;
use crate::api::State;
use crate::api::auth::Author;
use crate::api::body::Body;
use crate::api::envelope::Answer;
use crate::api::error::{Error, ErrorBody};
use crate::api::path_id::Id;
use crate::api::schema::{EventType, WebhookReplayState};
use crate::clock::Timestamp;
use crate::domain::bodies;
use crate::domain::event::Type;
use crate::domain::webhook::{self, ReplayOf, ReplayRequest};

bodies! {
    /// Which events to send once more, of those that the endpoint gets.
    pub(super) struct NewReplay of Value {
        /// Which of them; `all` when left out.
        state: Option<WebhookReplayState>,
        /// Only these types; `send.*` is all of a kind. All types that the endpoint gets when left out.
        #[schema(example = json!(["message.failed", "send.*"]))]
        types: Option<Vec<String>>,
        /// Not those that Pombo wrote to the log before this time; from the beginning of the log when left out.
        #[schema(format = DateTime)]
        since: Option<String>,
        /// Not those that Pombo wrote to the log after this time; up to now when left out.
        #[schema(format = DateTime)]
        until: Option<String>,
    }
}

impl NewReplay {
    fn read(&self) -> Result<ReplayRequest, Error> {
        let Self { state, types, since, until } = self;
        let of = match super::actions::word(state)? {
            None => ReplayOf::All,
            Some(word) => word.parse().map_err(|_| state.wrong_type("all or failed"))?,
        };
        let types = super::settings::read_types(types)?.unwrap_or_default();
        Ok(ReplayRequest { of, types, since: since.moment()?, until: until.moment()? })
    }
}

/// Events that a webhook endpoint gets once more.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WebhookReplay {
    /// Which of them.
    #[schema(value_type = WebhookReplayState)]
    state: &'static str,
    /// Only these types; empty for all that the endpoint gets.
    #[schema(value_type = Vec<EventType>)]
    types: Vec<&'static str>,
    /// Not those that Pombo wrote to the log before; null from the beginning of the log.
    #[schema(value_type = Option<String>, format = DateTime)]
    since: Option<Timestamp>,
    /// Not those that Pombo wrote to the log after; null up to `started_at`.
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
    /// When it was asked for.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) started_at: Timestamp,
    /// When the last of its events was on its way; null before.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub(crate) finished_at: Option<Timestamp>,
}

impl From<webhook::Replay> for WebhookReplay {
    fn from(replay: webhook::Replay) -> Self {
        let webhook::Replay { id: _, request, started_at, finished_at } = replay;
        let ReplayRequest { of, types, since, until } = request;
        let types = types.into_iter().map(Type::as_str).collect();
        Self { state: of.as_str(), types, since, until, started_at, finished_at }
    }
}

/// Send events once more
///
/// Sends events of the log to the endpoint once more: all that it gets, some types, those of some time, or those that failed. They
/// go beside new events, and have the `id` that they had before: a receiver that skips ids that it knows skips them. Events that
/// the endpoint has not got yet are not part of it, because they come anyway. The record of the endpoint shows in `replay` when
/// the last one was on its way.
#[utoipa::path(
    post,
    path = "/api/v1/webhooks/{id}/replay",
    operation_id = "replayWebhook",
    params(("id" = Uuid, Path, description = "The endpoint")),
    request_body(content = Option<NewReplay>, description = "May be left out"),
    responses(
        (status = 202, description = "The endpoint", body = Webhook),
        (status = 404, description = "`webhook_not_found`", body = ErrorBody),
        (status = 409, description = "`replay_running`", body = ErrorBody),
    ),
)]
pub(in crate::api) async fn begin(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
    id: Id,
) -> Result<HttpResponse, Error> {
    let (new, _room): (NewReplay, _) = body.optional_fields(&state.options).await?;
    let endpoints = state.engine.webhook_endpoints();
    let shown = endpoints.replay(&who, company.id, id.or_nil(), new.read()?).await?;
    Ok(HttpResponse::Accepted().json(Webhook::from(shown)))
}

/// End a replay
///
/// Events that are not on their way yet are not sent once more; at most 500 still follow. Without a replay, nothing changes.
#[utoipa::path(
    delete,
    path = "/api/v1/webhooks/{id}/replay",
    operation_id = "endWebhookReplay",
    params(("id" = Uuid, Path, description = "The endpoint")),
    responses(
        (status = 200, description = "The endpoint", body = Webhook),
        (status = 404, description = "`webhook_not_found`", body = ErrorBody),
    ),
)]
pub(in crate::api) async fn end(
    Author { company, who }: Author,
    state: Data<State>,
    id: Id,
) -> Answer<Webhook> {
    let shown = state.engine.webhook_endpoints().end_replay(&who, company.id, id.or_nil()).await?;
    Ok(Json(shown.into()))
}
