//! What people write, as the provider's webhooks have it. Field names and types are the provider's.

use serde_json::{Value, json};

use super::{PersonMessage, StoredFile, WrittenCard, WrittenContent, WrittenFile, WrittenItem};
use crate::error::title;
use crate::notice::{about, digits, errors};
use crate::person::{contact, user_id};
use crate::phone::PhoneNumber;

/// The code of a type that the provider does not pass on.
const UNKNOWN_TYPE: u32 = 131_051;

/// The field of the webhook of a message, and its value. `file` has the id of the message's file, if there is one.
pub(crate) fn webhook(
    number: &PhoneNumber,
    message: &PersonMessage,
    id: &str,
    seconds: i64,
    file: Option<&(String, StoredFile)>,
) -> (&'static str, Value) {
    let person = message.person();
    let mut contact = contact(&person);
    if let Some(name) = &message.name {
        contact["profile"]["name"] = name.as_str().into();
    }
    let mut object = json!({ "id": id, "timestamp": seconds.to_string() });
    if message.echo {
        object["from"] = digits(number).into();
        object["to"] = person.as_str().into();
    } else {
        object["from"] = person.as_str().into();
        object["from_user_id"] = user_id(&person).into();
    }
    if let WrittenContent::Call {} = message.content {
        object["to"] = digits(number).into();
        object["event"] = "connect".into();
        object["direction"] = "USER_INITIATED".into();
        return ("calls", about(number, json!({ "contacts": [contact], "calls": [object] })));
    }
    let (kind, content) = content(message, file);
    object["type"] = kind.into();
    if let (Value::Object(fields), Some(object)) = (content, object.as_object_mut()) {
        object.extend(fields);
    }
    if message.quoted().is_some() || message.forwarded {
        object["context"] = json!({});
        if let Some(quoted) = message.quoted() {
            object["context"] = json!({ "from": digits(number), "id": quoted });
        }
        if message.forwarded {
            object["context"]["forwarded"] = true.into();
        }
    }
    if let Some(referral) = &message.referral {
        object["referral"] = Value::Object(referral.clone());
    }
    if let Some(group) = &message.group {
        object["group_id"] = group.as_str().into();
    }
    if message.echo {
        return ("smb_message_echoes", about(number, json!({ "message_echoes": [object] })));
    }
    ("messages", about(number, json!({ "contacts": [contact], "messages": [object] })))
}

/// The provider's word for the type, and the fields of this type.
fn content(message: &PersonMessage, file: Option<&(String, StoredFile)>) -> (String, Value) {
    use WrittenContent as Of;
    let target = message.target().unwrap_or_default();
    let (kind, value) = match &message.content {
        Of::Text(body) => ("text", json!({ "text": { "body": body } })),
        Of::Image(of) => ("image", json!({ "image": media(of, file) })),
        Of::Video(of) => ("video", json!({ "video": media(of, file) })),
        Of::Audio(of) | Of::Voice(of) => {
            let mut media = media(of, file);
            media["voice"] = matches!(message.content, Of::Voice(_)).into();
            ("audio", json!({ "audio": media }))
        }
        Of::Document(of) => ("document", json!({ "document": media(of, file) })),
        Of::Sticker(of) => {
            let mut media = media(of, file);
            media["animated"] = false.into();
            ("sticker", json!({ "sticker": media }))
        }
        Of::Location { latitude, longitude, name, address } => {
            let mut place = json!({ "latitude": latitude, "longitude": longitude });
            add(&mut place, "name", name.as_deref());
            add(&mut place, "address", address.as_deref());
            ("location", json!({ "location": place }))
        }
        Of::Contacts(cards) => {
            ("contacts", json!({ "contacts": cards.iter().map(card).collect::<Vec<_>>() }))
        }
        Of::Reaction { emoji, .. } => {
            let mut reaction = json!({ "message_id": target });
            add(&mut reaction, "emoji", Some(emoji.as_str()).filter(|emoji| !emoji.is_empty()));
            ("reaction", json!({ "reaction": reaction }))
        }
        Of::Edit { text, .. } => {
            let now = json!({ "type": "text", "text": { "body": text } });
            ("edit", json!({ "edit": { "original_message_id": target, "message": now } }))
        }
        Of::Deletion { .. } => ("revoke", json!({ "revoke": { "original_message_id": target } })),
        Of::Button { text, payload } => {
            let payload = payload.as_ref().unwrap_or(text);
            ("button", json!({ "button": { "payload": payload, "text": text } }))
        }
        Of::Choice { id, title } => {
            let reply = json!({ "id": id, "title": title });
            ("interactive", json!({ "interactive": { "type": "button_reply", "button_reply": reply } }))
        }
        Of::Row { id, title, description } => {
            let mut reply = json!({ "id": id, "title": title });
            add(&mut reply, "description", description.as_deref());
            ("interactive", json!({ "interactive": { "type": "list_reply", "list_reply": reply } }))
        }
        Of::Flow { response } => {
            let response = Value::Object(response.clone()).to_string();
            let reply = json!({ "name": "flow", "body": "Sent", "response_json": response });
            ("interactive", json!({ "interactive": { "type": "nfm_reply", "nfm_reply": reply } }))
        }
        Of::Order { catalog_id, text, items } => {
            let items: Vec<_> = items.iter().map(item).collect();
            let mut order = json!({ "catalog_id": catalog_id, "product_items": items });
            add(&mut order, "text", text.as_deref());
            ("order", json!({ "order": order }))
        }
        Of::Moved { number } => {
            let body = format!("The person changed the number to {number}");
            let system = json!({ "type": "user_changed_number", "body": body, "wa_id": number });
            ("system", json!({ "system": system }))
        }
        Of::Unknown { kind } => {
            let faults = errors(UNKNOWN_TYPE, title(UNKNOWN_TYPE));
            return (kind.clone(), json!({ "errors": faults }));
        }
        // Calls are webhooks of their own.
        Of::Call {} => ("call", json!({})),
    };
    (kind.to_owned(), value)
}

fn media(of: &WrittenFile, file: Option<&(String, StoredFile)>) -> Value {
    let mut media = json!({});
    if let Some((id, file)) = file {
        media["id"] = id.as_str().into();
        media["mime_type"] = file.mime_type.as_str().into();
        media["sha256"] = file.sha256().into();
    }
    add(&mut media, "caption", of.caption.as_deref());
    add(&mut media, "filename", of.file_name.as_deref());
    media
}

fn card(card: &WrittenCard) -> Value {
    let WrittenCard { name, phones, emails, organization } = card;
    let phones: Vec<_> = phones.iter().map(|phone| json!({ "phone": phone, "type": "CELL" })).collect();
    let emails: Vec<_> = emails.iter().map(|email| json!({ "email": email, "type": "WORK" })).collect();
    let mut card = json!({
        "name": { "formatted_name": name, "first_name": name }, "phones": phones, "emails": emails,
    });
    if let Some(organization) = organization {
        card["org"] = json!({ "company": organization });
    }
    card
}

fn item(item: &WrittenItem) -> Value {
    let WrittenItem { product, quantity, price, currency } = item;
    json!({
        "product_retailer_id": product, "quantity": quantity, "item_price": price, "currency": currency,
    })
}

fn add(object: &mut Value, name: &str, text: Option<&str>) {
    if let Some(text) = text {
        object[name] = text.into();
    }
}
