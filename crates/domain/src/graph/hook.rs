//! What people write, in the form of Meta's webhooks.
//!
//! A message that came from Meta is kept in our form alone. What Meta's object says beyond it is kept as a change (RFC 7386)
//! of the object that is made of our form: usually nothing, or a field that this version does not know. So programs get the
//! object as it came, and nothing is kept twice.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::inbound::{
    AnswerSource, InboundBody, InboundContent, InboundMedia, MessageContext, OrderItem, Referral,
    SharedContact,
};
use clock::Timestamp;

/// The most bytes of an object of Meta that is compared, and of a change that is kept.
const MOST_BYTES: usize = 16 * 1024;
/// Meta's number for a message of a type that it does not pass on.
const UNKNOWN_TYPE: i64 = 131_051;
/// The places of ids of other messages in a message.
pub const MESSAGE_IDS: &[&str] = &[
    "/context/id",
    "/reaction/message_id",
    "/edit/original_message_id",
    "/edit/message_id",
    "/revoke/original_message_id",
    "/revoke/message_id",
];
/// The types of messages that are files.
pub const FILE_TYPES: &[&str] = &["image", "video", "audio", "document", "sticker"];

/// JSON with every character outside ASCII as `\uXXXX`, as Meta writes and signs the bodies of webhooks: some programs compute
/// the signature of this form, whatever came.
pub fn in_ascii(json: String) -> String {
    if json.is_ascii() {
        return json;
    }
    let mut ascii = String::with_capacity(json.len() * 2);
    for letter in json.chars() {
        if letter.is_ascii() {
            ascii.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(ascii, "\\u{unit:04x}");
        }
    }
    ascii
}

/// A message, with those who wrote it and got it as far as they are known.
#[derive(Debug, Clone, Copy)]
pub struct HookMessage<'a> {
    /// The provider's id.
    pub id: &'a str,
    /// The digits of the number that wrote it.
    pub from: Option<&'a str>,
    /// The writer's id within the business.
    pub from_user_id: Option<&'a str>,
    /// The digits of the number that got it: for an echo.
    pub to: Option<&'a str>,
    /// The id within the business of the person who got it.
    pub to_user_id: Option<&'a str>,
    /// The group that it is in.
    pub group: Option<&'a str>,
    /// When it was written.
    pub at: Timestamp,
    /// What it says.
    pub body: &'a InboundBody,
}

impl HookMessage<'_> {
    /// The object, with everything that was kept of Meta's own.
    pub fn object(&self) -> Value {
        let mut object = self.made();
        if let Some(beyond) = &self.body.beyond {
            apply(&mut object, beyond);
        }
        object
    }

    /// What Meta's object says beyond ours; `None` when it says nothing more, or much more than anything of Meta does.
    pub fn beyond(&self, raw: &str) -> Option<Value> {
        let is_kept_whole = matches!(self.body.content, InboundContent::Unsupported { .. });
        if is_kept_whole || raw.len() > MOST_BYTES {
            return None;
        }
        let mut whole: Value = serde_json::from_str(raw).ok()?;
        for kind in FILE_TYPES {
            // Only Meta's own key opens the address, and only for some minutes.
            if let Some(file) = whole.get_mut(kind).and_then(Value::as_object_mut) {
                file.remove("url");
            }
        }
        let change = change(&self.made(), &whole)?;
        serde_json::to_vec(&change).is_ok_and(|json| json.len() <= MOST_BYTES).then_some(change)
    }

    /// The object that is made of our form alone.
    fn made(&self) -> Value {
        if let InboundContent::Unsupported { raw: Value::Object(raw), .. } = &self.body.content {
            return Value::Object(raw.clone());
        }
        let mut object = Map::new();
        for (name, text) in [
            ("from", self.from),
            ("from_user_id", self.from_user_id),
            ("to", self.to),
            ("to_user_id", self.to_user_id),
            ("group_id", self.group),
            ("id", Some(self.id)),
        ] {
            add(&mut object, name, text);
        }
        object.insert("timestamp".to_owned(), json!(seconds(self.at)));
        if let Some(context) = &self.body.context {
            object.insert("context".to_owned(), self::context(context));
        }
        if let Some(referral) = &self.body.referral {
            object.insert("referral".to_owned(), self::referral(referral));
        }
        let (kind, content) = content(&self.body.content);
        object.insert("type".to_owned(), json!(kind));
        object.insert(if kind == "unsupported" { "errors" } else { kind }.to_owned(), content);
        Value::Object(object)
    }
}

/// A time as Meta writes it: a text with the seconds since 1970.
pub fn seconds(at: Timestamp) -> String {
    at.millis().div_euclid(1_000).to_string()
}

/// Makes a message of a type that its reader does not know into one that says so.
pub fn make_unsupported(object: &mut Map<String, Value>) {
    let kept = ["from", "from_user_id", "to", "to_user_id", "group_id", "id", "timestamp", "context"];
    object.retain(|name, _| kept.contains(&name.as_str()));
    object.insert("type".to_owned(), json!("unsupported"));
    object.insert("errors".to_owned(), unsupported(None));
}

/// Makes a reaction into a text that answers the message. Its removal has no text, and becomes unsupported.
pub fn make_text_of_reaction(object: &mut Map<String, Value>) {
    let Some(reaction) = object.remove("reaction") else { return };
    let emoji = reaction.get("emoji").and_then(Value::as_str).filter(|emoji| !emoji.is_empty());
    let Some(emoji) = emoji else {
        make_unsupported(object);
        return;
    };
    object.insert("type".to_owned(), json!("text"));
    object.insert("text".to_owned(), json!({ "body": emoji }));
    object.insert("context".to_owned(), json!({ "id": reaction.get("message_id") }));
}

fn add(object: &mut Map<String, Value>, name: &str, text: Option<&str>) {
    if let Some(text) = text {
        object.insert(name.to_owned(), json!(text));
    }
}

/// An object of those texts that are there.
fn texts<const N: usize>(fields: [(&str, Option<&str>); N]) -> Map<String, Value> {
    let mut object = Map::new();
    fields.into_iter().for_each(|(name, text)| add(&mut object, name, text));
    object
}

fn context(context: &MessageContext) -> Value {
    let mut object = texts([("id", context.message_id.as_deref())]);
    if context.frequently_forwarded {
        object.insert("frequently_forwarded".to_owned(), json!(true));
    } else if context.forwarded {
        object.insert("forwarded".to_owned(), json!(true));
    }
    if let Some(product) = &context.product {
        let fields = [
            ("catalog_id", product.catalog_id.as_deref()),
            ("product_retailer_id", product.product_retailer_id.as_deref()),
        ];
        object.insert("referred_product".to_owned(), Value::Object(texts(fields)));
    }
    Value::Object(object)
}

fn referral(referral: &Referral) -> Value {
    Value::Object(texts([
        ("source_url", referral.source_url.as_deref()),
        ("source_id", referral.source_id.as_deref()),
        ("source_type", referral.source_type.as_deref()),
        ("headline", referral.headline.as_deref()),
        ("body", referral.body.as_deref()),
        ("ctwa_clid", referral.click_id.as_deref()),
    ]))
}

/// Meta's word for the type of a message, and what is under that word.
fn content(content: &InboundContent) -> (&'static str, Value) {
    match content {
        InboundContent::Text { body } => ("text", json!({ "body": body })),
        InboundContent::Image { media } => ("image", file(media, None)),
        InboundContent::Video { media } => ("video", file(media, None)),
        InboundContent::Audio { media } => ("audio", file(media, Some(("voice", media.voice)))),
        InboundContent::Document { media } => ("document", file(media, None)),
        InboundContent::Sticker { media } => ("sticker", file(media, Some(("animated", media.animated)))),
        InboundContent::Location { location } => {
            let mut place =
                texts([("name", location.name.as_deref()), ("address", location.address.as_deref())]);
            place.insert("latitude".to_owned(), json!(location.latitude.degrees()));
            place.insert("longitude".to_owned(), json!(location.longitude.degrees()));
            ("location", Value::Object(place))
        }
        InboundContent::Contacts { contacts } => ("contacts", contacts.iter().map(card).collect()),
        InboundContent::Reaction { message_id, emoji } => {
            let fields = [("message_id", Some(message_id.as_str())), ("emoji", emoji.as_deref())];
            ("reaction", Value::Object(texts(fields)))
        }
        InboundContent::Edit { message_id, text } => {
            let now = json!({ "type": "text", "text": { "body": text.as_deref().unwrap_or_default() } });
            ("edit", json!({ "original_message_id": message_id, "message": now }))
        }
        InboundContent::Deletion { message_id } => ("revoke", json!({ "original_message_id": message_id })),
        InboundContent::Answer { source: AnswerSource::Template, id, title, .. } => {
            ("button", json!({ "payload": id.as_deref().unwrap_or(title), "text": title }))
        }
        InboundContent::Answer { source, id, title, description } => {
            let mut reply = texts([
                ("id", Some(id.as_deref().unwrap_or(title))),
                ("title", Some(title.as_str())),
                ("description", description.as_deref()),
            ]);
            let kind = if *source == AnswerSource::List { "list_reply" } else { "button_reply" };
            if kind == "button_reply" {
                reply.remove("description");
            }
            ("interactive", json!({ "type": kind, kind: reply }))
        }
        InboundContent::Flow { name, body, response } => {
            let mut reply = texts([("name", name.as_deref()), ("body", body.as_deref())]);
            // A text that is no JSON is kept as one.
            let response = response.as_str().map_or_else(|| response.to_string(), str::to_owned);
            reply.insert("response_json".to_owned(), json!(response));
            ("interactive", json!({ "type": "nfm_reply", "nfm_reply": reply }))
        }
        InboundContent::Order { catalog_id, text, items } => {
            let mut order = texts([("catalog_id", catalog_id.as_deref()), ("text", text.as_deref())]);
            order.insert("product_items".to_owned(), items.iter().map(item).collect());
            ("order", Value::Object(order))
        }
        InboundContent::System { event, body, new_number, new_user_id } => {
            let number = new_number.as_deref().map(|number| number.trim_start_matches('+'));
            let fields = [
                ("type", Some(event.as_str())),
                ("body", body.as_deref()),
                ("wa_id", number),
                ("user_id", new_user_id.as_deref()),
            ];
            ("system", Value::Object(texts(fields)))
        }
        InboundContent::Call { .. } => ("unsupported", unsupported(Some("A call"))),
        InboundContent::Unsupported { reason, .. } => ("unsupported", unsupported(reason.as_deref())),
    }
}

fn unsupported(reason: Option<&str>) -> Value {
    let details = reason.unwrap_or("Message type is currently not supported.");
    json!([{
        "code": UNKNOWN_TYPE,
        "title": "Message type unknown",
        "message": "Message type unknown",
        "error_data": { "details": details },
    }])
}

fn file(media: &InboundMedia, flag: Option<(&str, bool)>) -> Value {
    let mut file = texts([
        ("caption", media.caption.as_deref()),
        ("filename", media.file_name.as_deref()),
        ("mime_type", media.mime_type.as_deref()),
        ("sha256", media.sha256.as_deref()),
        ("id", media.id.as_deref()),
    ]);
    if let Some((name, value)) = flag {
        file.insert(name.to_owned(), json!(value));
    }
    Value::Object(file)
}

fn card(card: &SharedContact) -> Value {
    let name = card.name.as_deref().unwrap_or_default();
    let mut object = Map::new();
    object.insert("name".to_owned(), json!({ "formatted_name": name, "first_name": name }));
    let phones: Vec<_> = card.phones.iter().map(|phone| json!({ "phone": phone })).collect();
    let emails: Vec<_> = card.emails.iter().map(|email| json!({ "email": email })).collect();
    for (name, list) in [("phones", phones), ("emails", emails)] {
        if !list.is_empty() {
            object.insert(name.to_owned(), Value::Array(list));
        }
    }
    if let Some(company) = &card.organization {
        object.insert("org".to_owned(), json!({ "company": company }));
    }
    Value::Object(object)
}

fn item(item: &OrderItem) -> Value {
    let mut object = texts([
        ("product_retailer_id", item.product_retailer_id.as_deref()),
        ("item_price", item.price.as_deref()),
        ("currency", item.currency.as_deref()),
    ]);
    if let Some(quantity) = item.quantity {
        object.insert("quantity".to_owned(), json!(quantity));
    }
    Value::Object(object)
}

/// The change that makes `to` of `from`; `None` when they are the same.
fn change(from: &Value, to: &Value) -> Option<Value> {
    let (Value::Object(before), Value::Object(after)) = (from, to) else {
        return (from != to).then(|| to.clone());
    };
    let mut changed = Map::new();
    for name in before.keys().filter(|name| after.get(*name).is_none_or(Value::is_null)) {
        changed.insert(name.clone(), Value::Null);
    }
    for (name, value) in after.iter().filter(|(_, value)| !value.is_null()) {
        let of = match before.get(name) {
            Some(known) => change(known, value),
            None => Some(value.clone()),
        };
        changed.extend(of.map(|of| (name.clone(), of)));
    }
    (!changed.is_empty()).then_some(Value::Object(changed))
}

/// Applies a change.
fn apply(value: &mut Value, change: &Value) {
    let Value::Object(changed) = change else {
        *value = change.clone();
        return;
    };
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    let Value::Object(object) = value else { return };
    for (name, of) in changed {
        if of.is_null() {
            object.remove(name);
        } else {
            apply(object.entry(name.clone()).or_insert(Value::Null), of);
        }
    }
}

#[cfg(test)]
mod tests;
