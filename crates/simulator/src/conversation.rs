//! The provider's rules for locations, cards of people and reactions.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::body::{Recipient, required};
use super::error::GraphError;

/// The most cards in one message.
const MOST_CARDS: usize = 257;
/// The parts of a name, of which a card needs one beside the whole name.
const PARTS: [&str; 5] = ["first_name", "last_name", "middle_name", "suffix", "prefix"];
/// The beginning of a message's id.
const ID: &str = "wamid.";
/// Where an id, decoded, has the length of the other party's address, which follows.
const LENGTH_AT: usize = 2;

/// Checks the `location` of a send.
pub(super) fn location(content: &Value) -> Result<(), GraphError> {
    for (name, most) in [("latitude", 90.0), ("longitude", 180.0)] {
        let degrees: Option<f64> = match &content[name] {
            Value::Null => {
                return Err(GraphError::because(131_008, format!("location.{name} is required")));
            }
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        if !degrees.is_some_and(|degrees| degrees.abs() <= most) {
            let details = format!("location.{name} must be degrees from -{most} to {most}");
            return Err(GraphError::because(131_009, details));
        }
    }
    for name in ["name", "address"] {
        texts(content, "location", name)?;
    }
    Ok(())
}

/// Checks the `contacts` of a send: an array of cards, or one that is written as text, as some clients do.
pub(super) fn contacts(content: &Value) -> Result<(), GraphError> {
    let written = content.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let cards = written.as_ref().unwrap_or(content).as_array().map_or(&[][..], Vec::as_slice);
    if cards.is_empty() {
        return Err(GraphError::because(131_008, "contacts must have at least one entry"));
    }
    if cards.len() > MOST_CARDS {
        return Err(GraphError::because(131_009, format!("contacts must have at most {MOST_CARDS} entries")));
    }
    cards.iter().try_for_each(card)
}

fn card(card: &Value) -> Result<(), GraphError> {
    let name = &card["name"];
    required(name, "contacts.name", "formatted_name")?;
    if PARTS.iter().all(|part| name[part].as_str().is_none_or(str::is_empty)) {
        let details = "contacts.name needs at least one part beside formatted_name";
        return Err(GraphError::because(131_009, details));
    }
    for (list, needed) in [("phones", "phone"), ("emails", "email"), ("urls", "url"), ("addresses", "type")] {
        let entries = match &card[list] {
            Value::Null => continue,
            Value::Array(entries) => entries,
            _ => return Err(GraphError::because(100, format!("contacts.{list} must be an array"))),
        };
        entries.iter().try_for_each(|entry| texts(entry, list, needed))?;
    }
    texts(card, "contacts", "birthday")
}

/// A text that may be absent.
fn texts(object: &Value, path: &str, name: &str) -> Result<(), GraphError> {
    match object.get(name) {
        None | Some(Value::Null | Value::String(_)) => Ok(()),
        Some(_) => Err(GraphError::because(100, format!("{path}.{name} must be text"))),
    }
}

/// Checks the `reaction` of a send. An empty emoji removes the reaction.
pub(super) fn reaction(content: &Value) -> Result<(), GraphError> {
    if !required(content, "reaction", "message_id")?.starts_with(ID) {
        return Err(GraphError::because(131_009, "reaction.message_id must be the id of a message"));
    }
    match content["emoji"].as_str() {
        None => Err(GraphError::because(131_008, "reaction.emoji is required")),
        // Emoji have at least one character outside ASCII, and no letter of it.
        Some(emoji)
            if !emoji.is_empty()
                && (emoji.is_ascii() || emoji.contains(|c: char| c.is_ascii_alphabetic())) =>
        {
            Err(GraphError::because(131_009, "reaction.emoji must be an emoji"))
        }
        Some(_) => Ok(()),
    }
}

/// Whether the message of a reaction is in the conversation with its recipient: ids contain the other party's address. The
/// provider accepts a reaction to another one, and reports its failure later.
pub(super) fn is_of(content: &Value, recipient: &Recipient) -> bool {
    let id = content["message_id"].as_str().and_then(|id| id.strip_prefix(ID)).unwrap_or_default();
    let Ok(bytes) = STANDARD.decode(id) else { return false };
    let length = usize::from(bytes.get(LENGTH_AT).copied().unwrap_or_default());
    let address = bytes.get(LENGTH_AT + 1..LENGTH_AT + 1 + length);
    [&recipient.address, &recipient.known_as].iter().any(|known| address == Some(known.as_bytes()))
}
