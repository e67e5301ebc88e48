//! Moving the start of a scheduled send.

use actix_web::web::Data;
use serde_json::Value;

use super::record::SendRecord;
use super::{send_id, show};
use crate::api::State;
use crate::api::auth::Author;
use crate::api::body::Body;
use crate::api::envelope::Answer;
use crate::api::error::ErrorBody;
use crate::api::path_id::Id;
use crate::clock::Timestamp;
use crate::domain::bodies;
use crate::engine::no_such_send;
use crate::error::Code;

bodies! {
    /// A change of a scheduled send.
    pub(crate) struct SendPatch of Value {
        /// When the send starts, in RFC 3339 with an offset: in the future, at most a year ahead, and before its
        /// `expires_at`.
        #[schema(format = DateTime)]
        send_at: String,
    }
}

/// Move a scheduled send
///
/// Changes when a send starts, while it is scheduled and has not begun. Its content and its recipients stay as they are:
/// to change those, cancel it and make another send. After the answer, no message of it starts before the new time. Moving
/// a send to the time that it has changes nothing. A repeated answer to the request that made the send shows the new time.
#[utoipa::path(
    patch,
    path = "/api/v1/sends/{id}",
    operation_id = "moveSend",
    params(("id" = Uuid, Path, description = "The send")),
    request_body = SendPatch,
    responses(
        (status = 200, description = "The send, with its new start", body = SendRecord),
        (status = 404, description = "`send_not_found`", body = ErrorBody),
        (status = 409, description = "`send_has_begun`, `send_is_over`", body = ErrorBody),
    ),
)]
pub(crate) async fn change(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
    id: Id,
) -> Answer<SendRecord> {
    let id = send_id(id)?;
    let found = state.engine.company(company.id).await?.sends().head(id, Timestamp::now()).await?;
    found.ok_or_else(no_such_send)?;
    let (SendPatch { send_at }, _room) = body.fields(&state.options).await?;
    let start = Timestamp::parse(send_at.required()?);
    let start = start.map_err(|wrong| send_at.refuse(Code::InvalidField, wrong))?;
    state.engine.sends().reschedule(&who, company.id, id, start).await?;
    show(&state, company, id).await
}
