//! The bodies of requests to endpoints, and the ids of requests.

use std::collections::BTreeMap;

use serde_json::json;
use sha2::{Digest as _, Sha256};

use domain::event::{Data, Event};
use domain::inbound::{InboundBody, InboundContent};

/// The digits at the end of a masked number that stay.
const SHOWN_DIGITS: usize = 4;
/// The bytes of a digest in an id.
const DIGEST: usize = 8;

/// The body of a request with these events. The request of an endpoint with batches always has a list, so that its receiver
/// reads one form.
pub(super) fn body(events: &[Event], is_batched: bool) -> Vec<u8> {
    let body = match events {
        [event] if !is_batched => serde_json::to_vec(event),
        events => serde_json::to_vec(&BTreeMap::from([("events", events)])),
    };
    // An event can always be written as JSON.
    body.unwrap_or_default()
}

/// The id of a request with these events: the event's own, or one that depends on all of them. Another selection from the
/// same part of the log has another id: a receiver that drops repetitions misses nothing.
pub(super) fn id(events: &[Event]) -> String {
    match events {
        [event] => event.id.clone(),
        events => {
            let mut digest = Sha256::new();
            events.iter().for_each(|event| digest.update(event.sequence.as_i64().to_be_bytes()));
            let digest = hex::encode(&digest.finalize()[..DIGEST]);
            let place = |event: Option<&Event>| event.map_or(0, |event| event.sequence.as_i64());
            format!("batch.{}.{}.{digest}", place(events.first()), place(events.last()))
        }
    }
}

/// The event without the number of a person. The provider's id of a message contains the number, too: a name takes its
/// place, which is the same whenever the id is.
pub(super) fn masked(mut event: Event) -> Event {
    match &mut event.data {
        Data::Message(message) => {
            message.recipient = mask(&message.recipient);
            message.provider_message_id = message.provider_message_id.as_deref().map(renamed);
        }
        Data::Inbound(inbound) => {
            inbound.from = inbound.from.as_deref().map(mask);
            inbound.user_id = inbound.user_id.as_deref().map(renamed);
            inbound.provider_message_id = renamed(&inbound.provider_message_id);
            if let Some(message) = &mut inbound.message {
                mask_body(message);
            }
        }
        Data::Conversation(conversation) => {
            conversation.number = conversation.number.as_deref().map(mask);
            conversation.user_id = conversation.user_id.as_deref().map(renamed);
        }
        Data::Contact(contact) => contact.number = mask(&contact.number),
        // The provider's own words have numbers anywhere.
        Data::Notice(notice) => notice.value = json!({}),
        Data::Send(_)
        | Data::Channel(_)
        | Data::Template(_)
        | Data::Quota(_)
        | Data::Key(_)
        | Data::WebhookDisabled(_)
        | Data::WebhookRecovered(_)
        | Data::Lost(_) => {}
    }
    event
}

/// Masks the numbers that the provider names in a message, and the ids of messages, which contain numbers too. What a person
/// writes in words stays.
fn mask_body(body: &mut InboundBody) {
    if let Some(id) = body.context.as_mut().and_then(|context| context.message_id.as_mut()) {
        *id = renamed(id);
    }
    if let Some(author) = &mut body.author {
        author.number = author.number.as_deref().map(mask);
        author.user_id = author.user_id.as_deref().map(renamed);
    }
    match &mut body.content {
        InboundContent::Reaction { message_id, .. }
        | InboundContent::Edit { message_id, .. }
        | InboundContent::Deletion { message_id } => *message_id = renamed(message_id),
        InboundContent::Contacts { contacts } => {
            let phones = contacts.iter_mut().flat_map(|contact| &mut contact.phones);
            phones.for_each(|phone| *phone = mask(phone));
        }
        InboundContent::System { new_number, new_user_id, body, .. } => {
            *new_number = new_number.as_deref().map(mask);
            *new_user_id = new_user_id.as_deref().map(renamed);
            *body = body.as_deref().map(mask);
        }
        InboundContent::Unsupported { raw, .. } => *raw = serde_json::Value::Null,
        _ => {}
    }
}

/// The text with its last digits alone.
fn mask(text: &str) -> String {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let shown = if digits > SHOWN_DIGITS { SHOWN_DIGITS } else { 0 };
    let (mut masked, mut place) = (String::with_capacity(text.len()), 0);
    for character in text.chars() {
        if !character.is_ascii_digit() {
            masked.push(character);
            continue;
        }
        place += 1;
        masked.push(if place > digits - shown { character } else { '*' });
    }
    masked
}

fn renamed(id: &str) -> String {
    let digest = Sha256::digest(id.as_bytes());
    format!("masked.{}", hex::encode(&digest[..2 * DIGEST]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhooks::example::example;
    use clock::Timestamp;
    use domain::event::Type;
    use domain::event::log::Sequence;
    use serde_json::{Value, json};
    use uuid::Uuid;

    fn event(r#type: Type, sequence: i64) -> Event {
        let event = example(Uuid::from_u128(1), r#type, Timestamp::from_millis(0));
        Event { id: format!("event.{sequence}"), sequence: Sequence::from_i64(sequence), ..event }
    }

    fn events(sequences: &[i64]) -> Vec<Event> {
        sequences.iter().map(|sequence| event(Type::MessageSent, *sequence)).collect()
    }

    fn read(body: &[u8]) -> Value {
        serde_json::from_slice(body).unwrap()
    }

    #[test]
    fn an_event_goes_as_it_is_and_those_of_an_endpoint_with_batches_in_a_list() {
        let one = events(&[7]);
        assert_eq!(read(&body(&one, false)), json!(one[0]));
        assert_eq!(read(&body(&one, true)), json!({ "events": one }));
        let two = events(&[7, 9]);
        assert_eq!(read(&body(&two, true)), json!({ "events": two }));
        assert_eq!(read(&body(&two, false)), json!({ "events": two }));
    }

    #[test]
    fn a_request_has_the_id_of_its_event_or_one_of_all_its_events() {
        assert_eq!(id(&events(&[7])), "event.7");
        let all = id(&events(&[7, 8, 9]));
        assert!(all.starts_with("batch.7.9."), "{all}");
        assert_eq!(id(&events(&[7, 8, 9])), all, "a repetition has the same");
        assert_ne!(id(&events(&[7, 9])), all, "without event 8 it is another request");
    }

    #[test]
    fn a_masked_number_shows_its_last_digits() {
        assert_eq!(mask("+5511988887777"), "+*********7777");
        assert_eq!(mask("5511988887777-1591234567@g.us"), "*************-******4567@g.us");
        assert_eq!((mask("+1234"), mask("")), ("+****".to_owned(), String::new()));
    }

    #[test]
    fn a_masked_event_has_no_number_of_a_person_and_tells_messages_apart() {
        for r#type in [Type::MessageSent, Type::MessageReceived] {
            let event = event(r#type, 7);
            let (plain, hidden) = (json!(event), json!(masked(event.clone())));
            let field = if r#type == Type::MessageReceived { "from" } else { "recipient" };
            assert!(hidden["data"][field].as_str().unwrap().starts_with("+*"), "{hidden}");
            let id = hidden["data"]["provider_message_id"].as_str().unwrap();
            assert!(id.starts_with("masked.") && plain["data"]["provider_message_id"] != id, "{hidden}");
            assert_eq!(json!(masked(event)), hidden, "the same message has the same name");
            assert_eq!((&hidden["id"], &hidden["at"]), (&plain["id"], &plain["at"]));
        }
        let opted_out = event(Type::ContactOptedOut, 8);
        let hidden = json!(masked(opted_out.clone()));
        assert_eq!(hidden["data"]["number"], "+*******0123", "{hidden}");
        assert_eq!(hidden["id"], opted_out.id);
        let send = event(Type::SendFinished, 8);
        assert_eq!(masked(send.clone()), send);
    }
}
