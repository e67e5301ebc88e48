//! One message of a send, with its journey.

use actix_web::HttpRequest;
use actix_web::web::{Data, Json};
use serde::Serialize;
use utoipa::ToSchema;

use super::{MessageError, MessageRecord};
use crate::api::State;
use crate::api::auth::Company;
use crate::api::envelope::Answer;
use crate::api::error::ErrorBody;
use crate::api::path_id::Id;
use crate::api::schema::MessageMilestone;
use crate::api::sends::send_id;
use crate::api::waiting::WaitingRecord;
use crate::clock::Timestamp;
use crate::domain::message::{Failure, Step};
use crate::engine::Traced;

/// A message and its journey.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MessageJourney {
    /// The message, as in the list.
    message: MessageRecord,
    /// The steps that are kept, in order.
    steps: Vec<MessageStep>,
}

/// One step of a message's journey.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MessageStep {
    /// The kind of the step.
    #[schema(value_type = MessageMilestone, example = "accepted")]
    step: &'static str,
    /// When it happened; null when the time is not kept, and for a wait that lasts now.
    #[schema(value_type = Option<String>, format = DateTime)]
    at: Option<Timestamp>,
    /// Until when a step lasts; null when this is unknown.
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
    /// What went wrong.
    error: Option<MessageError>,
    /// Why the message waits.
    waiting: Option<WaitingRecord>,
}

impl From<Traced> for MessageJourney {
    fn from(Traced { snapshot, message, reference, steps }: Traced) -> Self {
        Self {
            message: MessageRecord::new(message, &snapshot).named(reference),
            steps: steps.into_iter().map(MessageStep::from).collect(),
        }
    }
}

impl From<Step> for MessageStep {
    fn from(Step { milestone, at, until, failure, waiting }: Step) -> Self {
        Self {
            step: milestone.as_str(),
            at,
            until,
            error: failure.map(|Failure { code, sentence }| MessageError { code, message: sentence }),
            waiting: waiting.map(WaitingRecord::from),
        }
    }
}

/// Show a message's journey
///
/// What happened to one message of a send: when it was accepted, why it waits, its last attempt, the provider's
/// answer and the receipts since.
#[utoipa::path(
    get,
    path = "/api/v1/sends/{id}/messages/{ordinal}",
    operation_id = "showSendMessage",
    params(
        ("id" = Uuid, Path, description = "The send"),
        ("ordinal" = u64, Path, description = "The message's position in the send, from 0"),
    ),
    responses(
        (status = 200, description = "The message and its journey", body = MessageJourney),
        (status = 404, description = "`send_not_found`, `message_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn show(
    company: Company,
    state: Data<State>,
    id: Id,
    request: HttpRequest,
) -> Answer<MessageJourney> {
    let id = send_id(id)?;
    // A value that is not an ordinal matches no message. Other companies are told that there is no such send.
    let ordinal = request.match_info().get("ordinal").and_then(|ordinal| ordinal.parse().ok());
    let traced = state.engine.sends().trace(company.id, id, ordinal.unwrap_or(u64::MAX)).await?;
    Ok(Json(MessageJourney::from(traced)))
}
