//! Retries of a send: the messages that did not arrive are sent again, as a new send.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};

use super::send_id;
use crate::api::State;
use crate::api::auth::Author;
use crate::api::body::Body;
use crate::api::chat::answer::{Queued, Rehearsed};
use crate::api::error::{Error, ErrorBody};
use crate::api::idempotency::{self, IdempotencyKey, Turn};
use crate::api::list_query::Query;
use crate::api::path_id::Id;
use crate::domain::request::{RetryRequest, SendAgain};
use crate::engine::Accepted;
use crate::surface::body::Room;

/// Send failed messages again
///
/// Creates a new send of the same content through the same channel, to the recipients whose messages of this
/// send did not arrive: those that failed or expired, unless `state` and `error_code` say otherwise. The new
/// send names this send in `retry_of`. It is checked like any new send: recipients who have opted out meanwhile
/// are skipped, and the template must still be approved. Messages that are still pending are not sent again.
///
/// A message that was sent again before is skipped (`already_retried`) while its retry is under way and when that arrived, so
/// that the same request sends once. This counts for all retries of the send, for their retries, and for the sends of
/// which it is one. A retry whose outcome is `unknown` may have arrived: its message is skipped unless `state` has `unknown`.
/// The send names its retries in `retried_by`.
///
/// People whose window is closed now are skipped (`window_closed`), or get the template of `template_instead`, as with any send.
///
/// With `dry_run=true` all checks are made and refused in the same way, but nothing is queued. With an
/// `Idempotency-Key` an accepted request is carried out once, as when sending messages.
#[utoipa::path(
    post,
    path = "/api/v1/sends/{id}/retry",
    operation_id = "retrySend",
    params(
        ("id" = Uuid, Path, description = "The send"),
        ("dry_run" = Option<bool>, Query, description = "Whether only to check the request, and send \
             nothing"),
        IdempotencyKey,
    ),
    request_body = Option<SendAgain>,
    responses(
        (
            status = 202,
            description = "Queued for sending",
            body = Queued,
            headers(
                ("Location" = String, description = "The address of the send's record"),
                ("Idempotency-Replayed" = String, description = "`true` when this answer was given before"),
            ),
        ),
        (status = 200, description = "What a dry run would have queued", body = Rehearsed),
        (
            status = 404,
            description = "`send_not_found`, `template_not_found`; `channel_not_found`: the send went through a web session, or its channel is gone",
            body = ErrorBody,
        ),
        (status = 409, description = "`no_public_address`; `idempotency_in_progress`, `retry_in_progress`: repeat it after `Retry-After` \
             seconds", body = ErrorBody),
        (status = 410, description = "`values_gone`: the values of the recipients are no longer kept", body = ErrorBody),
        (status = 422, description = "`idempotency_key_reused`", body = ErrorBody),
    ),
)]
pub(crate) async fn retry(
    Author { company, who }: Author,
    body: Body,
    state: Data<State>,
    id: Id,
    query: Query,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let retried = state.engine.sends().retried(company.id, send_id(id)?).await?;
    let is_dry_run = query.flag("dry_run")?;
    let body = body.read(&state.options).await?;
    let held = match idempotency::turn(&state, company, &request, body.bytes()).await? {
        Turn::First(held) => held,
        Turn::Repeated(accepted) => {
            let ignored = RetryRequest::ignored(body.bytes());
            return Ok(Queued::from(Accepted { ignored, ..accepted }).replayed());
        }
        // The path is part of the fingerprint of the request. The send's channel is not a web session.
        Turn::Told(_) => return Err(Error::Internal),
    };
    let parse = |bytes: &[u8], room: &mut Room| -> Result<_, Error> {
        room.charge(RetryRequest::weight(bytes))?;
        Ok(RetryRequest::parse(bytes)?)
    };
    let (asked, _room) = body.read(parse).await?;
    if is_dry_run {
        let dry_run = state.engine.sends().dry_run_retry(retried, asked).await?;
        return Ok(HttpResponse::Ok().json(Rehearsed::from(dry_run)));
    }
    let accepted = state.engine.sends().retry(retried.made_by(&who), asked, held).await?;
    Ok(Queued::from(accepted).answer())
}
