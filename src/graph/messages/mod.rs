//! `POST /{number}/messages`: a message to one person, or the sign that messages were read.

mod content;
mod files;
mod recipient;
mod rendering;
mod signs;
mod template;

use std::sync::Arc;

use actix_web::HttpResponse;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use self::recipient::Recipient;
use super::call::Call;
use super::refusal::{DoorRefusal, meaning};
use crate::domain::channel::{Channel, Kind};
use crate::domain::graph::message_id;
use crate::domain::message::Key;
use crate::domain::request::{BusinessRequest, WebRequest};
use crate::domain::send::Label;
use crate::engine::graph::EarlyOutcome;
use crate::engine::{KeyGuard, Turn};
use crate::surface::idempotency::claim;

/// The field that comes back with the statuses of a message, and the most characters of it.
const OPAQUE: &str = "biz_opaque_callback_data";
const OPAQUE_CHARS: usize = 512;

/// Takes a message, or the sign that one was read.
pub(super) async fn take(mut call: Call) -> Result<HttpResponse, DoorRefusal> {
    let channel = call.number(call.path.at(0)).await?;
    let (mut fields, bytes) = call.fields().await?;
    let body = &fields.map;
    if body.get("status").and_then(Value::as_str) == Some("read") {
        return signs::read(&call, &channel, body).await;
    }
    let kind = content::kind_of(body)?;
    let recipient = Recipient::read(&call, body, &channel).await?;
    let guard = match claim(&call.request, &bytes).await? {
        None => None,
        Some(claim) => match call.state.engine.claim(call.caller.company_id, claim).await? {
            Turn::First(guard) => Some(guard),
            Turn::Repeated(accepted) => {
                return answer(&call, &channel, &recipient, kind, accepted.send_id).await;
            }
            // Only requests to other paths have such answers.
            Turn::Told(_) => return Err(DoorRefusal::internal()),
        },
    };
    let asked = content::of(&call, &channel, (kind, body), &recipient).await?;
    let quotes = content::quotes(&call, &channel, body).await?;
    let label = label(&call, body)?;
    let asked = asked.to_string();
    let weight = match channel.kind {
        Kind::BusinessAccount => BusinessRequest::weight(asked.as_bytes()),
        Kind::WebSession => WebRequest::weight(asked.as_bytes()),
    };
    fields.charge(asked.len().saturating_add(weight))?;
    let send_id = match channel.kind {
        Kind::BusinessAccount => send(&call, &channel, &asked, (quotes, label), guard).await?,
        Kind::WebSession => queue(&call, &channel, &asked, (quotes, label), guard).await?,
    };
    answer(&call, &channel, &recipient, kind, send_id).await
}

/// Sends through a business account: a direct send, which goes before bulk sends.
async fn send(
    call: &Call,
    channel: &Arc<Channel>,
    asked: &str,
    (quotes, label): (Option<String>, Label),
    guard: Option<KeyGuard>,
) -> Result<Uuid, DoorRefusal> {
    let request = BusinessRequest::parse(asked.as_bytes(), &call.state.options.send)?;
    let request = BusinessRequest { quotes, label, ..request };
    Ok(call.state.engine.send(channel, request, guard).await?.send_id)
}

/// Sends through a web session, in its turn: programs do not repeat what comes too soon.
async fn queue(
    call: &Call,
    channel: &Arc<Channel>,
    asked: &str,
    (quotes, label): (Option<String>, Label),
    guard: Option<KeyGuard>,
) -> Result<Uuid, DoorRefusal> {
    let request = WebRequest::parse(asked.as_bytes(), &call.state.options.send)?;
    let request = WebRequest { quotes, label, ..request };
    Ok(call.state.engine.web_sends().queue(channel, request, guard).await?)
}

/// What is noted on the send.
fn label(call: &Call, body: &Map<String, Value>) -> Result<Label, DoorRefusal> {
    let mut label = Label { made_by: Some(call.who().to_string()), ..Label::default() };
    match body.get(OPAQUE) {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) if text.chars().count() <= OPAQUE_CHARS && !text.contains('\0') => {
            label.metadata.insert(OPAQUE.to_owned(), text.clone());
        }
        Some(_) => {
            let details = format!("`{OPAQUE}` must be a text of at most {OPAQUE_CHARS} characters");
            return Err(DoorRefusal::because(100, details));
        }
    }
    Ok(label)
}

/// The answer to a message that is durable, once the provider answered or the time for that is over.
async fn answer(
    call: &Call,
    channel: &Channel,
    recipient: &Recipient,
    kind: &str,
    send_id: Uuid,
) -> Result<HttpResponse, DoorRefusal> {
    match call.door().outcome(channel, send_id, call.state.options.wait).await {
        Ok(EarlyOutcome::Accepted) => {}
        Ok(EarlyOutcome::Failed(failure)) => return Err(meaning::of_failure(failure)),
        // The message is accepted, whatever can be read of it now: a program that reads a refusal would send another one.
        Err(error) => {
            tracing::debug!(%error, send.id = %send_id, "the outcome of a message cannot be read yet");
        }
    }
    let mut message = json!({ "id": message_id(Key { send_id, ordinal: 0 }) });
    if kind == "template" {
        message["message_status"] = "accepted".into();
    }
    Ok(HttpResponse::Ok().json(json!({
        "messaging_product": "whatsapp",
        "contacts": [{ "input": recipient.input, "wa_id": recipient.wa_id() }],
        "messages": [message],
    })))
}
