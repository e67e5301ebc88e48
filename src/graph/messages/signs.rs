//! What people see besides messages: that theirs were read, and that somebody types an answer.

use actix_web::HttpResponse;
use serde_json::{Map, Value, json};

use crate::domain::channel::Channel;
use crate::graph::call::Call;
use crate::graph::refusal::DoorRefusal;

/// Marks a message as read, and perhaps shows that somebody types.
pub(super) async fn read(
    call: &Call,
    channel: &Channel,
    body: &Map<String, Value>,
) -> Result<HttpResponse, DoorRefusal> {
    let id = body.get("message_id").and_then(Value::as_str).filter(|id| !id.contains('\0'));
    let id = id.ok_or_else(|| {
        DoorRefusal::because(131_008, "`message_id` is missing: give the id of a message of the person")
    })?;
    let is_typing = body.get("typing_indicator").is_some_and(|sign| !sign.is_null());
    if !call.door().mark_read(channel, id, is_typing).await? {
        let details = "this channel heard no message with this id from a person";
        return Err(DoorRefusal::because(131_009, details));
    }
    Ok(HttpResponse::Ok().json(json!({ "success": true })))
}
