//! The figures of a send: why messages did not arrive, and how fast messages went out.

use std::sync::Arc;
use std::time::Duration;

use actix_web::web::{Data, Json};
use serde::Serialize;
use utoipa::ToSchema;

use super::send_id;
use crate::api::State;
use crate::api::auth::Company;
use crate::api::envelope::Answer;
use crate::api::error::{Error, ErrorBody, RETRY_SOON};
use crate::api::path_id::Id;
use crate::api::schema::MessageState;
use crate::clock::Timestamp;
use crate::domain::send::{Cause, Pace};
use crate::engine::{Counted, no_such_send};

/// How long a request waits for the first figures of a large send.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why messages of a send did not arrive.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SendFailures {
    /// Each reason, the most frequent first.
    data: Vec<SendFailure>,
    /// When this was counted. Figures of a large send may be some seconds old.
    #[schema(value_type = String, format = DateTime)]
    as_of: Timestamp,
}

/// Messages that did not arrive for the same reason.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SendFailure {
    /// The state in which they ended.
    #[schema(value_type = MessageState, example = "failed")]
    state: &'static str,
    /// The provider's code, if it gave one.
    #[schema(example = 131_026)]
    error_code: Option<i64>,
    /// The provider's words for one of the messages; null for messages that were never attempted.
    #[schema(example = "the recipient is not on WhatsApp")]
    error: Option<String>,
    /// The number of messages.
    messages: u64,
}

/// How fast the messages of a send went out.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SendPace {
    /// How long each step is, in seconds.
    step_seconds: u64,
    /// The steps, up to the last one with messages.
    data: Vec<SendPaceStep>,
    /// When this was counted. Figures of a large send may be some seconds old.
    #[schema(value_type = String, format = DateTime)]
    as_of: Timestamp,
}

/// The messages of one step.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SendPaceStep {
    /// When the step begins.
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// How many messages the provider accepted.
    messages: u64,
}

impl From<&Cause> for SendFailure {
    fn from(Cause { state, code, sentence, messages }: &Cause) -> Self {
        let (error_code, error) = (*code, sentence.clone());
        Self { state: state.as_str(), error_code, error, messages: *messages }
    }
}

/// List why messages did not arrive
///
/// How many messages of a send failed, expired, were canceled or suppressed, or have an unknown outcome, by the
/// provider's code.
#[utoipa::path(
    get,
    path = "/api/v1/sends/{id}/failures",
    operation_id = "listSendFailures",
    params(("id" = Uuid, Path, description = "The send")),
    responses(
        (status = 200, description = "Each reason", body = SendFailures),
        (status = 404, description = "`send_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn failures(company: Company, state: Data<State>, id: Id) -> Answer<SendFailures> {
    let counted = counted(&state, company, id).await?;
    let data = counted.tally.causes.iter().map(SendFailure::from).collect();
    Ok(Json(SendFailures { data, as_of: counted.at }))
}

/// Show how fast a send went
///
/// Messages that the provider accepted, in at most 120 steps of equal length from the start of the send.
#[utoipa::path(
    get,
    path = "/api/v1/sends/{id}/pace",
    operation_id = "showSendPace",
    params(("id" = Uuid, Path, description = "The send")),
    responses(
        (status = 200, description = "Messages over time", body = SendPace),
        (status = 404, description = "`send_not_found`", body = ErrorBody),
    ),
)]
pub(crate) async fn pace(company: Company, state: Data<State>, id: Id) -> Answer<SendPace> {
    let counted = counted(&state, company, id).await?;
    let Pace { from, step, messages } = &counted.tally.pace;
    let steps = (0_u32..).zip(messages);
    let data =
        steps.map(|(number, messages)| SendPaceStep { at: from.plus(*step * number), messages: *messages });
    Ok(Json(SendPace { step_seconds: step.as_secs(), data: data.collect(), as_of: counted.at }))
}

async fn counted(state: &State, company: Company, id: Id) -> Result<Arc<Counted>, Error> {
    let id = send_id(id)?;
    let records = state.engine.company(company.id).await?;
    let send = records.sends().head(id, Timestamp::now()).await?.ok_or_else(no_such_send)?;
    drop(records);
    let counted = state.engine.sends().tally(company.id, &send, PATIENCE).await?;
    counted.ok_or(Error::Unavailable(RETRY_SOON))
}
