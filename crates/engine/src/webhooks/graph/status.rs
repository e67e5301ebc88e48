//! The statuses of messages that the company sent.

use std::time::Duration;

use serde_json::{Value, json};
use uuid::Uuid;

use super::super::context::DeliveryContext;
use super::super::example::NUMBER;
use super::names::NamedChannel;
use super::{contact, entry, of_number, timestamp};
use clock::Timestamp;
use domain::event::{Data, ErrorData, Event, MessageData, SendData, Type};
use domain::graph::{known_error, message_id};
use domain::message::{Key, State};
use domain::webhook::is_example;

/// How long a program has, from the answer to its request, to write down the id of its message.
pub(in crate::webhooks) const TO_WRITE_DOWN: Duration = Duration::from_secs(2);
/// The provider's number for an error that has none, and for a person who opted out.
const SOMETHING: i64 = 131_000;
const OPTED_OUT: i64 = 131_050;

/// The entry with the status of a message.
pub(super) async fn entry_of(
    context: &DeliveryContext,
    event: &Event,
    data: &MessageData,
    channel: &NamedChannel,
) -> store::Result<Value> {
    let MessageData { send_id, ordinal, recipient, error, .. } = data;
    let key = Key { send_id: *send_id, ordinal: *ordinal };
    entry_with(context, event, (key, recipient.as_str(), error.as_ref()), channel).await
}

/// The entry with the status of the only message of a send that ended before it began: no other event tells of it. `None` for
/// any other send.
pub(super) async fn entry_of_send(
    context: &DeliveryContext,
    event: &Event,
    data: &SendData,
    channel: &NamedChannel,
) -> store::Result<Option<Value>> {
    let send_id = data.send_id;
    let recipient = if is_example(&event.id) {
        Some(NUMBER.to_owned())
    } else {
        let ids = context.store.of(event.company_id).graph_ids();
        ids.recipient_of_unbegun(send_id).await?.map(|number| number.to_string())
    };
    let Some(recipient) = recipient else { return Ok(None) };
    let key = Key { send_id, ordinal: 0 };
    entry_with(context, event, (key, recipient.as_str(), None), channel).await.map(Some)
}

async fn entry_with(
    context: &DeliveryContext,
    event: &Event,
    (key, recipient, given): (Key, &str, Option<&ErrorData>),
    channel: &NamedChannel,
) -> store::Result<Value> {
    let person = recipient.trim_start_matches('+');
    let mut status = json!({
        "id": message_id(key),
        "status": word(event.r#type),
        "timestamp": timestamp(event),
        "recipient_id": person,
    });
    if status["status"] == "failed" {
        status["errors"] = json!([error(event.r#type, given)]);
    }
    if !is_example(&event.id)
        && let Some(opaque) = context.names.opaque(&context.store, event.company_id, key.send_id).await?
    {
        status["biz_opaque_callback_data"] = json!(opaque);
    }
    let mut value = of_number(channel);
    value["contacts"] = json!([contact(None, Some(person), None)]);
    value["statuses"] = json!([status]);
    Ok(entry(&channel.account, event, "messages", &value))
}

/// Meta's word for a state.
const fn word(r#type: Type) -> &'static str {
    match r#type {
        Type::MessageSent => "sent",
        Type::MessageDelivered => "delivered",
        Type::MessageRead => "read",
        _ => "failed",
    }
}

/// Why a message failed. Programs need the number, the title and the details, whatever it is.
fn error(r#type: Type, error: Option<&ErrorData>) -> Value {
    let (number, usual) = match r#type {
        Type::MessageSuppressed => (OPTED_OUT, "the recipient opted out before the message went"),
        Type::MessageExpired | Type::SendExpired => (SOMETHING, "the message did not go in time"),
        Type::MessageCanceled | Type::SendCanceled => (SOMETHING, "the message was canceled before it went"),
        _ => (SOMETHING, "the message was not sent"),
    };
    let number = known_error(error.and_then(|error| error.code)).unwrap_or(number);
    let said = error.map(|error| error.message.as_str()).filter(|said| !said.is_empty()).unwrap_or(usual);
    json!({ "code": number, "title": said, "message": said, "error_data": { "details": said } })
}

/// When a status may be told at the earliest: a program that gets it before it has written down the id of its message drops it.
/// `wait` is how long a request waits for the provider's answer. The end of a send waits as long, until its channel has written
/// that its message never began.
pub(in crate::webhooks) fn held_until(event: &Event, wait: Duration) -> Timestamp {
    let data = match &event.data {
        Data::Message(data) => data,
        Data::Send(_) => return event.at.plus(TO_WRITE_DOWN),
        _ => return event.at,
    };
    let accepted = accepted_at(data.send_id);
    let answered = event.at.min(accepted.plus(wait)).max(accepted);
    answered.plus(TO_WRITE_DOWN)
}

/// When a send was accepted, which its id says.
fn accepted_at(send: Uuid) -> Timestamp {
    Timestamp::from_millis(i64::try_from(send.as_u128() >> 80).unwrap_or_default())
}

/// Whether a status that could not be told at first is of the past: the message has a later one, which is told, too. Programs take
/// the last one that comes.
pub(in crate::webhooks) async fn is_outrun(context: &DeliveryContext, event: &Event) -> store::Result<bool> {
    let Data::Message(data) = &event.data else { return Ok(false) };
    let told = match event.r#type {
        Type::MessageSent => State::Sent,
        Type::MessageDelivered => State::Delivered,
        _ => return Ok(false),
    };
    let key = Key { send_id: data.send_id, ordinal: data.ordinal };
    let present = context.store.of(event.company_id).graph_ids().state(key).await?;
    Ok(present.is_some_and(|present| present.rank() > told.rank()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhooks::example::example;
    use clock::database::new_id;

    fn event(send_id: Uuid, after: Duration) -> Event {
        let mut event = example(Uuid::nil(), Type::MessageSent, accepted_at(send_id).plus(after));
        if let Data::Message(data) = &mut event.data {
            data.send_id = send_id;
        }
        event
    }

    #[test]
    fn a_status_waits_until_two_seconds_after_the_answer() {
        let (send, wait) = (new_id(), Duration::from_secs(2));
        let held = |after: u64| {
            let until = held_until(&event(send, Duration::from_millis(after)), wait);
            until.millis() - accepted_at(send).millis()
        };
        assert_eq!([0, 100, 2_000, 60_000].map(held), [2_000, 2_100, 4_000, 4_000]);
        let early = Event { at: accepted_at(send).minus(Duration::from_secs(1)), ..event(send, wait) };
        let until = held_until(&early, wait).millis();
        assert_eq!(until - accepted_at(send).millis(), 2_000, "the provider's clock is behind");
        let other = example(Uuid::nil(), Type::MessageReceived, Timestamp::from_millis(7));
        assert_eq!(held_until(&other, wait), Timestamp::from_millis(7), "nothing else waits");
    }

    #[test]
    fn an_error_always_has_a_number_a_title_and_details() {
        let own = ErrorData { code: Some(-3), message: String::new() };
        for (r#type, given, number) in [
            (Type::MessageFailed, None, SOMETHING),
            (Type::MessageFailed, Some(&own), SOMETHING),
            (Type::MessageFailed, Some(&ErrorData { code: Some(463), ..own.clone() }), SOMETHING),
            (Type::MessageSuppressed, Some(&own), OPTED_OUT),
            (Type::MessageExpired, None, SOMETHING),
            (Type::SendExpired, None, SOMETHING),
            (Type::MessageFailed, Some(&ErrorData { code: Some(131_026), ..own.clone() }), 131_026),
        ] {
            let error = error(r#type, given);
            assert_eq!(error["code"], number);
            for text in [&error["title"], &error["message"], &error["error_data"]["details"]] {
                assert!(text.as_str().is_some_and(|text| !text.is_empty()), "{error}");
            }
        }
    }
}
