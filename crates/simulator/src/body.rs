//! The body of a send: its JSON, its recipient, and the rules of the provider's schema.

use serde_json::{Map, Value};

use super::error::GraphError;
use super::{conversation, interactive, person};

/// The longest text message, in characters.
const LONGEST_TEXT: usize = 4_096;
const LONGEST_CAPTION: usize = 1_024;
const LONGEST_KEY: usize = 512;

/// The message types.
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
    "template",
    "interactive",
];

/// The types whose content is a file.
const MEDIA: [&str; 5] = ["image", "video", "audio", "document", "sticker"];

/// A body with a valid shape. Rules that depend on account and template are checked later.
#[derive(Debug)]
pub(super) struct Checked<'a> {
    pub(super) kind: &'static str,
    pub(super) key: &'a str,
    pub(super) content: &'a Value,
}

impl Checked<'_> {
    /// Whether the content is a file, by its address or by the id of an upload.
    pub(super) fn is_media(&self) -> bool {
        MEDIA.contains(&self.kind)
    }
}

/// The recipient: as given, and as the log and the figures know the number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Recipient {
    pub(super) input: String,
    /// Digits of a phone, or a group id or business-scoped user id as it is.
    pub(super) address: String,
    /// The same as WhatsApp knows the person: receipts and preferences name this number.
    pub(super) known_as: String,
    pub(super) kind: RecipientKind,
}

impl Recipient {
    /// A recipient whose id is the address.
    fn by_id(id: &str, kind: RecipientKind) -> Self {
        Self { input: id.to_owned(), address: id.to_owned(), known_as: id.to_owned(), kind }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecipientKind {
    Phone,
    Group,
    User,
}

/// The recipient of a send. `+`, `-`, `(`, `)`, `.` and spaces in phones do not matter. Unlike the
/// provider, a phone without `+` is taken as complete: no country code is put before it.
pub(super) fn recipient(body: &Map<String, Value>) -> Result<Recipient, GraphError> {
    let is_group = body.get("recipient_type").and_then(Value::as_str) == Some("group");
    let plain = |name: &str| body.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    match (plain("to"), plain("recipient")) {
        (Some(to), _) if is_group => Ok(Recipient::by_id(to, RecipientKind::Group)),
        (Some(to), _) => {
            let address: String = to.chars().filter(char::is_ascii_digit).collect();
            let is_phone = to.chars().all(|letter| letter.is_ascii_digit() || "+-(). ".contains(letter));
            if !is_phone || !(5..=15).contains(&address.len()) {
                return Err(GraphError::because(131_009, "to is not a phone number"));
            }
            let known_as = person::wa_id(&address);
            Ok(Recipient { input: to.to_owned(), address, known_as, kind: RecipientKind::Phone })
        }
        (None, Some(user)) => Ok(Recipient::by_id(user, RecipientKind::User)),
        (None, None) => Err(GraphError::because(131_008, "to is required")),
    }
}

/// Checks a body against the schema.
pub(super) fn check(body: &Map<String, Value>) -> Result<Checked<'_>, GraphError> {
    if body.get("messaging_product").and_then(Value::as_str) != Some("whatsapp") {
        return Err(GraphError::because(100, "messaging_product is required and must be whatsapp"));
    }
    let recipient_type = body.get("recipient_type").map_or(Some("individual"), Value::as_str);
    if !matches!(recipient_type, Some("individual" | "group")) {
        return Err(GraphError::because(100, "recipient_type must be individual or group"));
    }
    recipient(body)?;
    let key = match body.get("biz_opaque_callback_data") {
        None | Some(Value::Null) => "",
        Some(Value::String(key)) if key.chars().count() <= LONGEST_KEY => key,
        Some(_) => {
            let details =
                format!("biz_opaque_callback_data must be text of at most {LONGEST_KEY} characters");
            return Err(GraphError::because(100, details));
        }
    };
    let named = match body.get("type") {
        // Only a text message may come without its type.
        None if body.contains_key("text") => "text",
        None => return Err(GraphError::because(131_008, "type is required")),
        Some(named) => named.as_str().unwrap_or_default(),
    };
    let Some(kind) = KINDS.into_iter().find(|kind| *kind == named) else {
        return Err(GraphError::because(100, format!("type must be one of {}", KINDS.join(", "))));
    };
    let Some(content) = body.get(kind) else {
        return Err(GraphError::because(131_008, format!("{kind} is required")));
    };
    check_content(kind, content)?;
    Ok(Checked { kind, key, content })
}

fn check_content(kind: &str, content: &Value) -> Result<(), GraphError> {
    match kind {
        "text" => length("text.body", required(content, "text", "body")?, LONGEST_TEXT),
        kind if MEDIA.contains(&kind) => check_media(kind, content),
        "location" => conversation::location(content),
        "contacts" => conversation::contacts(content),
        "reaction" => conversation::reaction(content),
        "template" => {
            required(content, "template", "name")?;
            required(&content["language"], "template.language", "code")?;
            match content.get("components") {
                None | Some(Value::Array(_)) => Ok(()),
                Some(_) => Err(GraphError::because(100, "template.components must be an array")),
            }
        }
        "interactive" => interactive::check(content),
        _ => Ok(()),
    }
}

fn check_media(kind: &str, content: &Value) -> Result<(), GraphError> {
    let link = content.get("link").and_then(Value::as_str).filter(|link| !link.is_empty());
    let id = content.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
    match (link, id) {
        (None, None) => return Err(GraphError::because(131_008, format!("{kind} requires a link or an id"))),
        (Some(_), Some(_)) => {
            return Err(GraphError::because(100, format!("{kind} takes a link or an id, not both")));
        }
        (Some(link), None) if !link.starts_with("http://") && !link.starts_with("https://") => {
            return Err(GraphError::because(131_009, format!("{kind}.link is not a web address")));
        }
        _ => {}
    }
    match content.get("caption") {
        Some(_) if matches!(kind, "audio" | "sticker") => {
            Err(GraphError::because(100, format!("{kind} takes no caption")))
        }
        Some(caption) => length("caption", caption.as_str().unwrap_or_default(), LONGEST_CAPTION),
        None => Ok(()),
    }
}

/// A text that must be there and not be empty.
pub(super) fn required<'a>(object: &'a Value, path: &str, name: &str) -> Result<&'a str, GraphError> {
    let text = object.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    text.ok_or_else(|| GraphError::because(131_008, format!("{path}.{name} is required")))
}

/// A text that must not be longer than this many characters.
pub(super) fn length(path: &str, text: &str, most: usize) -> Result<(), GraphError> {
    if text.chars().count() > most {
        return Err(GraphError::because(100, format!("{path} must be at most {most} characters long")));
    }
    Ok(())
}
