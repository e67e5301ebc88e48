//! What a message says: Graph's fields become those of our own API, whose checks then apply.

use serde_json::{Map, Value, json};

use super::files::{self, with_links};
use super::recipient::Recipient;
use super::{rendering, template};
use crate::config::WebInteractive;
use crate::domain::channel::{Channel, Kind};
use crate::engine::graph::GraphMessage;
use crate::graph::call::Call;
use crate::graph::refusal::DoorRefusal;

/// The types that a message may have.
const KINDS: [&str; 11] = [
    "text",
    "image",
    "video",
    "audio",
    "document",
    "sticker",
    "location",
    "contacts",
    "reaction",
    "interactive",
    "template",
];

/// The fields that are true or false.
const FLAGS: [&str; 2] = ["preview_url", "voice"];

/// The type of a message, which may be absent when the message has the fields of one type.
pub(super) fn kind_of(body: &Map<String, Value>) -> Result<&'static str, DoorRefusal> {
    let known = |word: &str| KINDS.into_iter().find(|kind| *kind == word);
    match body.get("type") {
        Some(Value::String(word)) => known(word.trim()).ok_or_else(|| {
            let details = format!("`type` must be one of {}", KINDS.join(", "));
            DoorRefusal::because(100, details)
        }),
        None | Some(Value::Null) => {
            let given =
                KINDS.into_iter().find(|kind| body.get(*kind).is_some_and(|fields| !fields.is_null()));
            given.ok_or_else(|| {
                DoorRefusal::because(131_008, format!("`type` is missing: give one of {}", KINDS.join(", ")))
            })
        }
        Some(_) => Err(DoorRefusal::because(131_009, "`type` must be a text")),
    }
}

/// The request to our own API for this message.
pub(super) async fn of(
    call: &Call,
    channel: &Channel,
    (kind, body): (&'static str, &Map<String, Value>),
    recipient: &Recipient,
) -> Result<Value, DoorRefusal> {
    let is_web = channel.kind == Kind::WebSession;
    let given = body.get(kind).filter(|given| !given.is_null());
    let missing =
        || DoorRefusal::because(131_008, format!("`{kind}` is missing, which a message of this type needs"));
    // Some programs write lists and objects as JSON in a text.
    let written = given.and_then(Value::as_str).and_then(|text| serde_json::from_str::<Value>(text).ok());
    let given = written.as_ref().or(given).ok_or_else(missing)?;
    let object = || {
        given.as_object().ok_or_else(|| DoorRefusal::because(131_009, format!("`{kind}` must be an object")))
    };
    let mut kind = kind;
    let mut fields = match kind {
        "text" => text(object()?),
        "location" | "contacts" => single(kind, given.clone()),
        "reaction" => single(kind, reaction(call, channel, object()?).await?),
        "template" if is_web => {
            kind = "text";
            template::as_text(call, channel, object()?).await?
        }
        "template" => template::of(call, channel, object()?).await?,
        "interactive" => {
            let payload = with_links(payload(object()?)?)?;
            match (channel.kind, call.state.options.web_interactive) {
                (Kind::BusinessAccount, _) => single(kind, payload),
                (Kind::WebSession, WebInteractive::Text) => {
                    let rendered = rendering::of(&payload)?;
                    kind = rendered.kind;
                    rendered.fields
                }
                (Kind::WebSession, WebInteractive::Refuse) => {
                    let details = "a web session sends no buttons and lists (option graph.web_interactive)";
                    return Err(DoorRefusal::because(131_051, details));
                }
            }
        }
        _ => file(object()?, kind)?,
    };
    fields.insert("type".to_owned(), kind.into());
    if is_web {
        let whom = if recipient.is_group { "group" } else { "number" };
        fields.insert("recipient_type".to_owned(), whom.into());
        fields.insert("phone_number".to_owned(), recipient.address.clone().into());
    } else {
        fields.insert("phone_number".to_owned(), json!([recipient.address]));
    }
    Ok(Value::Object(fields))
}

fn single(name: &str, value: Value) -> Map<String, Value> {
    Map::from_iter([(name.to_owned(), value)])
}

fn text(given: &Map<String, Value>) -> Map<String, Value> {
    let pairs = [("body", "message"), ("preview_url", "preview_url")];
    renamed(given, &pairs)
}

/// The fields that are given, under our names.
fn renamed(given: &Map<String, Value>, names: &[(&str, &str)]) -> Map<String, Value> {
    let found = names.iter().filter_map(|(theirs, ours)| {
        let value = given.get(*theirs).filter(|value| !value.is_null())?;
        let value = if FLAGS.contains(theirs) { flag(value) } else { value.clone() };
        Some(((*ours).to_owned(), value))
    });
    found.collect()
}

/// A value, which forms give as a text when it is true or false.
fn flag(value: &Value) -> Value {
    match value.as_str() {
        Some("true") => Value::Bool(true),
        Some("false") => Value::Bool(false),
        _ => value.clone(),
    }
}

fn file(given: &Map<String, Value>, kind: &str) -> Result<Map<String, Value>, DoorRefusal> {
    let own: &[&str] = match kind {
        "image" | "video" => &["caption"],
        "document" => &["caption", "filename"],
        "audio" => &["voice"],
        _ => &[],
    };
    let own: Vec<_> = own.iter().map(|name| (*name, *name)).collect();
    let mut fields = renamed(given, &own);
    if let Some(link) = files::link(given)? {
        fields.insert("link".to_owned(), link.into());
    }
    Ok(fields)
}

/// A reaction, with the provider's id of its message.
async fn reaction(call: &Call, channel: &Channel, given: &Map<String, Value>) -> Result<Value, DoorRefusal> {
    let named = given.get("message_id").and_then(Value::as_str).filter(|id| !id.contains('\0'));
    let named = named.ok_or_else(|| DoorRefusal::because(131_008, "`reaction.message_id` is missing"))?;
    let GraphMessage::Known(message_id) = call.door().message(channel.id, named).await? else {
        let details = "no message with this id can be reacted to: it is unknown, or did not go out yet";
        return Err(DoorRefusal::because(131_009, details));
    };
    let emoji = given.get("emoji").cloned().unwrap_or_else(|| Value::String(String::new()));
    let mut reaction = json!({ "message_id": message_id, "emoji": emoji });
    if channel.kind == Kind::WebSession {
        reaction["from_me"] = call.door().is_own(channel.id, named).await?.into();
    }
    Ok(reaction)
}

/// The payload of buttons and lists, whose action some programs give as a text.
fn payload(given: &Map<String, Value>) -> Result<Value, DoorRefusal> {
    let mut payload = given.clone();
    if let Some(Value::String(text)) = payload.get("action") {
        let action: Value = serde_json::from_str(text).map_err(|wrong| {
            DoorRefusal::because(131_009, format!("`interactive.action` is no JSON: {wrong}"))
        })?;
        payload.insert("action".to_owned(), action);
    }
    Ok(Value::Object(payload))
}

/// The provider's id of the message that this one answers. One that the provider does not have yet is not shown above it.
pub(super) async fn quotes(
    call: &Call,
    channel: &Channel,
    body: &Map<String, Value>,
) -> Result<Option<String>, DoorRefusal> {
    let named = body.get("context").and_then(|context| context.get("message_id")).and_then(Value::as_str);
    let Some(named) = named.map(str::trim).filter(|id| !id.is_empty()) else { return Ok(None) };
    let is_sound = named.len() <= 256 && named.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_sound {
        return Err(DoorRefusal::because(131_009, "`context.message_id` must be the id of a message"));
    }
    match call.door().message(channel.id, named).await? {
        GraphMessage::Known(id) => Ok(Some(id)),
        GraphMessage::NotYet => Ok(None),
        GraphMessage::Unknown => {
            Err(DoorRefusal::because(131_009, "`context.message_id` is the id of no message of this number"))
        }
    }
}
