//! Messages from people, and echoes of what the company wrote elsewhere.

use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::super::context::DeliveryContext;
use super::names::NamedChannel;
use super::{contact, entry, of_number};
use clock::Timestamp;
use domain::event::{Event, InboundData, Type};
use domain::graph::hook::{FILE_TYPES, HookMessage, MESSAGE_IDS, make_text_of_reaction, make_unsupported};
use domain::graph::{media_id, message_id};
use domain::inbound::{InboundBody, InboundContent};
use domain::message::Key;
use domain::phone::PhoneNumber;
use domain::webhook::WebhookProfile;
use driver::MessageId;
use vault::context;

/// The type of a file whose type nobody told.
const ANY_FILE: &str = "application/octet-stream";

/// The entry with a message; `None` for one that such a receiver is not told of.
pub(super) async fn entry_of(
    deliveries: &DeliveryContext,
    profile: WebhookProfile,
    event: &Event,
    data: &InboundData,
    channel: &NamedChannel,
) -> store::Result<Option<Value>> {
    let body = body(deliveries, data).await?;
    let is_echo = event.r#type == Type::MessageEcho;
    let is_change = matches!(body.content, InboundContent::Edit { .. } | InboundContent::Deletion { .. });
    if is_change && profile != WebhookProfile::Meta {
        return Ok(None);
    }
    let author = body.author.as_ref();
    let number = data.from.as_deref().or_else(|| author.and_then(|author| author.number.as_deref()));
    let number = number.map(|number| number.trim_start_matches('+'));
    let user_id = data.user_id.as_deref().or_else(|| author.and_then(|author| author.user_id.as_deref()));
    let name = data.name.as_deref().or_else(|| author.and_then(|author| author.name.as_deref()));
    // The names of people are told as they come: an id where there is no number.
    let person = (number, user_id.filter(|_| number.is_none()));
    let own = (Some(channel.digits.as_str()).filter(|digits| !digits.is_empty()), None);
    let ((from, from_user_id), (to, to_user_id)) =
        if is_echo { (own, person) } else { (person, (None, None)) };
    let mut message = HookMessage {
        id: &data.provider_message_id,
        from,
        from_user_id,
        to,
        to_user_id,
        group: data.group.as_deref(),
        at: event.at,
        body: &body,
    }
    .object();
    translate(deliveries, event, number, channel, &mut message).await?;
    if let Value::Object(message) = &mut message {
        name_file(event, data, message);
        fit(profile, message);
    }
    let mut value = of_number(channel);
    value["contacts"] = json!([contact(name, number, user_id)]);
    let (field, list) =
        if is_echo { ("smb_message_echoes", "message_echoes") } else { ("messages", "messages") };
    value[list] = json!([message]);
    Ok(Some(entry(&channel.account, event, field, &value)))
}

/// What was written, with what was kept of Meta's own object. One that cannot be opened is unsupported.
async fn body(deliveries: &DeliveryContext, data: &InboundData) -> store::Result<InboundBody> {
    let opened = match (&data.sealed, &data.message) {
        (Some(body), _) => {
            let opened = deliveries.contents.open(&body.sealed, &context::inbound_body(body.id)).await?;
            opened.and_then(|json| InboundBody::from_json(&json))
        }
        (None, Some(message)) => Some((**message).clone()),
        (None, None) => None,
    };
    Ok(opened.unwrap_or_else(|| {
        let reason = Some("The service cannot open it.".to_owned());
        InboundBody::of(InboundContent::Unsupported { kind: None, reason, raw: Value::Null })
    }))
}

/// Names messages that the company sent by the ids that its programs have for them.
async fn translate(
    deliveries: &DeliveryContext,
    event: &Event,
    person: Option<&str>,
    channel: &NamedChannel,
    message: &mut Value,
) -> store::Result<()> {
    let known = person.and_then(|digits| PhoneNumber::parse(digits).ok());
    let is_in_group = message.get("group_id").is_some();
    for place in MESSAGE_IDS {
        let Some(id) = message.pointer(place).and_then(Value::as_str).map(str::to_owned) else { continue };
        let sent = match event.channel_id {
            Some(channel) => sent(deliveries, (event.company_id, channel), known, &id).await?,
            None => None,
        };
        if let Some(key) = sent
            && let Some(named) = message.pointer_mut(place)
        {
            *named = json!(message_id(key));
        }
        // Some programs need to know whose message is answered.
        if *place == "/context/id" {
            let writer = match sent {
                Some(_) => Some(channel.digits.as_str()),
                // In a group, it may be anybody's.
                None => person.filter(|_| !is_in_group),
            };
            let context = message.get_mut("context").and_then(Value::as_object_mut);
            if let (Some(context), Some(writer)) = (context, writer) {
                context.entry("from").or_insert_with(|| json!(writer));
            }
        }
    }
    Ok(())
}

/// The message that went through a channel of the company and has this id of the provider. An id of a web session leads to its
/// send, also in groups and for people without a number; any other one is looked for among the messages to this number.
async fn sent(
    deliveries: &DeliveryContext,
    (company, channel): (Uuid, Uuid),
    person: Option<PhoneNumber>,
    id: &str,
) -> store::Result<Option<Key>> {
    if let Some((millis, tail)) = MessageId::parse(id).ok().and_then(|id| id.stamp())
        && let Some(send_id) = deliveries.store.web_sessions().send_of_stamp(channel, millis, tail).await?
    {
        return Ok(Some(Key { send_id, ordinal: 0 }));
    }
    let Some(number) = person else { return Ok(None) };
    let ids = deliveries.store.of(company).graph_ids();
    ids.sent(channel, &[number, number.person()], id, Timestamp::now()).await
}

/// Names the file of a message by the id under which the service keeps it.
fn name_file(event: &Event, data: &InboundData, message: &mut Map<String, Value>) {
    // The id of the event is that of the message.
    let own = data.sealed.as_ref().map(|body| body.id).or_else(|| Uuid::try_parse(&event.id).ok());
    for kind in FILE_TYPES {
        if let (Some(own), Some(file)) = (own, message.get_mut(*kind).and_then(Value::as_object_mut)) {
            file.insert("id".to_owned(), json!(media_id(own)));
            file.remove("url");
        }
    }
}

/// Gives a message what strict receivers need of each one: a writer, and the type of a file. A body without them is refused as a
/// whole.
fn complete(message: &mut Map<String, Value>) {
    if let Some(id) = message.get("from_user_id").cloned() {
        message.entry("from").or_insert(id);
    }
    for kind in FILE_TYPES {
        if let Some(file) = message.get_mut(*kind).and_then(Value::as_object_mut) {
            file.entry("mime_type").or_insert_with(|| json!(ANY_FILE));
        }
    }
}

/// Makes a message into one that the receiver knows.
fn fit(profile: WebhookProfile, message: &mut Map<String, Value>) {
    let kind = message.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    if kind == "reaction" && profile.has_reactions_as_texts() {
        make_text_of_reaction(message);
        return;
    }
    let answered = message.get("interactive").and_then(|answer| answer.get("type")).and_then(Value::as_str);
    let is_other_answer = kind == "interactive" && !matches!(answered, Some("button_reply" | "list_reply"));
    if !profile.knows(&kind) || is_other_answer && profile != WebhookProfile::Meta {
        make_unsupported(message);
    }
    if profile == WebhookProfile::Strict {
        complete(message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(profile: WebhookProfile, message: &Value) -> Value {
        let mut message = message.clone();
        fit(profile, message.as_object_mut().unwrap());
        message["type"].clone()
    }

    #[test]
    fn a_strict_receiver_gets_no_type_that_it_does_not_know() {
        let flow = json!({ "type": "interactive", "interactive": { "type": "nfm_reply", "nfm_reply": {} } });
        let button = json!({ "type": "interactive", "interactive": { "type": "button_reply" } });
        let order = json!({ "type": "order", "order": {} });
        let reaction = json!({ "type": "reaction", "reaction": { "message_id": "x", "emoji": "👍" } });
        for (profile, expected) in [
            (WebhookProfile::Meta, ["interactive", "interactive", "order", "reaction"]),
            (WebhookProfile::Strict, ["unsupported", "interactive", "unsupported", "reaction"]),
            (WebhookProfile::Chatwoot, ["unsupported", "interactive", "unsupported", "text"]),
        ] {
            assert_eq!([&flow, &button, &order, &reaction].map(|one| fitted(profile, one)), expected);
        }
    }

    #[test]
    fn a_strict_receiver_gets_a_writer_and_the_type_of_a_file_with_every_message() {
        let image = json!({ "type": "image", "from_user_id": "BR.1", "image": { "id": "7" } });
        let of = |profile: WebhookProfile| {
            let mut message = image.clone();
            fit(profile, message.as_object_mut().unwrap());
            (message["from"].clone(), message["image"]["mime_type"].clone())
        };
        assert_eq!(of(WebhookProfile::Strict), (json!("BR.1"), json!(ANY_FILE)));
        assert_eq!(of(WebhookProfile::Meta), (Value::Null, Value::Null));
        let mut known = json!({ "type": "order", "from": "5511900000001", "from_user_id": "BR.1" });
        fit(WebhookProfile::Strict, known.as_object_mut().unwrap());
        assert_eq!((&known["from"], &known["type"]), (&json!("5511900000001"), &json!("unsupported")));
    }
}
