//! A message to the other side of a conversation.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use uuid::Uuid;

use crate::api::State;
use crate::api::auth::Author;
use crate::api::body::Body;
use crate::api::chat::answer::Queued;
use crate::api::error::{Error, ErrorBody};
use crate::api::idempotency::{self, IdempotencyKey, Turn};
use crate::api::path_id::Id;
use crate::domain::request::{ConversationRequest, ConversationSend};
use crate::domain::send::Schedule;
use crate::engine::{Accepted, Form, Skipped};
use crate::surface::body::Room;

/// The form of the answer that is stored for a message through a web session: the id of its send, from which the answer is
/// made again.
pub const ANSWERED: Form = Form { name: "conversation", render: |sent| sent.send_id.to_string() };

/// Send a message in a conversation
///
/// Sends one message to the person or group of a conversation, through its channel: a direct send like every other, under the
/// same limits and with a record of its own. An accepted message is durable when it is answered; the send's record, the
/// conversation and events show its outcome.
///
/// A business account takes other types than `template` only while the conversation's window is open (`window_closed`); while it
/// is closed, `template_instead` goes if there is one. A web
/// session checks its pace, the file and the number before it accepts the message, as for `POST
/// /api/v1/web-chat/{id}/messages`, and the message expires if it cannot be handed over soon.
///
/// With an `Idempotency-Key` an accepted request is carried out once: a request that is repeated under its key within 24 hours
/// gets the first answer again, with `Idempotency-Replayed: true`. The key is checked after the conversation and before the
/// body is parsed.
#[utoipa::path(
    post,
    path = "/api/v1/conversations/{id}/messages",
    operation_id = "sendInConversation",
    params(("id" = Uuid, Path, description = "The conversation"), IdempotencyKey),
    request_body = ConversationSend,
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
        (status = 404, description = "`conversation_not_found`, `channel_not_found`, `template_not_found`", body = ErrorBody),
        (status = 409, description = "`window_closed`: send a template; `session_disconnected`, `send_is_over`; \
                                      `idempotency_in_progress`: repeat it after `Retry-After` seconds; `no_public_address`", body = ErrorBody),
        (status = 422, description = "`not_on_whatsapp`, `idempotency_key_reused`", body = ErrorBody),
    ),
)]
pub(crate) async fn send(
    Author { company, who }: Author,
    id: Id,
    body: Body,
    state: Data<State>,
    request: HttpRequest,
) -> Result<HttpResponse, Error> {
    let conversations = state.engine.conversations(company.id);
    let (channel, conversation) = conversations.place(id.or_nil()).await?;
    let (kind, is_group) = (channel.kind, conversation.peer.group().is_some());
    let body = body.read(&state.options).await?;
    let turn = idempotency::turn(&state, company, &request, body.bytes()).await?;
    let own = state.clone();
    let parse = move |bytes: &[u8], room: &mut Room| -> Result<_, Error> {
        room.charge(ConversationRequest::weight(bytes))?;
        Ok(ConversationRequest::parse(bytes, kind, is_group, &own.options.send)?)
    };
    let (asked, _room) = body.read(parse).await?;
    let held = match turn {
        Turn::First(held) => held,
        // Fields that an answer names are not stored: the repeated request has the same.
        Turn::Repeated(accepted) => {
            return Ok(Queued::from(Accepted { ignored: asked.ignored, ..accepted }).replayed());
        }
        Turn::Told(text) => {
            let send_id = Uuid::try_parse(&text).map_err(|_| Error::Internal)?;
            return Ok(Queued::from(accepted(send_id, asked.ignored)).replayed());
        }
    };
    let accepted = conversations.answer(&who, conversation.id, asked, held, ANSWERED).await?;
    Ok(Queued::from(accepted).answer())
}

/// A message to one person or group that was accepted.
fn accepted(send_id: Uuid, ignored: Vec<String>) -> Accepted {
    let schedule = Schedule { send_at: None, expires_at: None };
    Accepted { send_id, recipients: 1, instead: None, skipped: Skipped::default(), schedule, ignored }
}
