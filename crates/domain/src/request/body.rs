//! A request's body, split into the raw text of its known fields.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::field::{Json, Text};
use crate::body::{Body, MOST_COMPARED, refuse_misspelled};
use crate::error::{Code, Refusal};

/// How many ignored fields an answer names.
pub(super) const MOST_IGNORED: usize = 20;
/// How much of the name of an ignored field an answer shows, in characters.
const NAME_CHARS: usize = 64;
/// The fields of both kinds of sends, in the order in which an answer names those that it ignores.
const OF_SENDS: &[&str] = &[
    "type",
    "phone_number",
    "contact_tag_id",
    "without_contact_tag_id",
    "segment_id",
    "recipients",
    "values",
    "parameters",
    "clean",
    "on_skipped",
    "recipient_type",
    "message",
    "preview_url",
    "link",
    "caption",
    "filename",
    "voice",
    "template_id",
    "language",
    "components",
    "contact_fields",
    "interactive",
    "location",
    "contacts",
    "reaction",
    "template_instead",
    "send_at",
    "expires_at",
    "name",
    "reference",
    "metadata",
];

/// The fields of a template that goes in place of another message.
const OF_TEMPLATES: &[&str] = &["template_id", "language", "components", "parameters", "contact_fields"];

/// The known fields of a body, each as raw text, and the names of unknown fields.
#[derive(Debug)]
pub(super) struct Split<'a> {
    /// The fields that a body of this kind may have.
    names: &'static [&'static str],
    known: Vec<(&'static str, &'a RawValue)>,
    /// The first ones of many, without those that are `null`.
    unknown: Vec<Cow<'a, str>>,
}

impl<'a> Split<'a> {
    /// Splits the body of a send, which must be a JSON object: anything else is `invalid_body`. Then an unknown field that
    /// is another spelling of a known one is `unknown_field`.
    pub(super) fn send(bytes: &'a [u8]) -> Result<Self, Refusal> {
        split(bytes, Known(OF_SENDS))
    }

    /// Splits the body of a send whose recipients come in a file: it gives values, at least those.
    pub(super) fn upload(bytes: &'a [u8]) -> Result<Self, Refusal> {
        let mut split = Self::send(bytes)?;
        let gives = |name| split.known.iter().any(|(known, raw)| *known == name && raw.get() != "null");
        if gives("recipients") {
            return Err(Refusal::of(
                "recipients",
                Code::InvalidField,
                "is given in the file, and cannot be here too",
            ));
        }
        if !gives("values") {
            split.known.retain(|(known, _)| *known != "values");
            // No values of all recipients.
            split
                .known
                .extend(serde_json::from_str::<&'static RawValue>("{}").ok().map(|none| ("values", none)));
        }
        Ok(split)
    }

    /// Splits the part of a body that names a template, with the same refusals.
    pub(super) fn template(json: &'a str) -> Result<Self, Refusal> {
        split(json.as_bytes(), Known(OF_TEMPLATES))
    }

    /// Splits another body, with the same refusals.
    pub(super) fn other<T: Body<&'a RawValue>>(bytes: &'a [u8]) -> Result<Self, Refusal> {
        split(bytes, Known(T::NAMES))
    }

    /// The body of this type. Fields of other types are skipped.
    pub(super) fn body<T: Body<&'a RawValue>>(&self) -> T {
        let given = |name| self.known.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        T::take(given)
    }

    /// The names of the given fields that have no effect beside those that are `used`, the first ones of many. A field
    /// that is absent or `false` asks for nothing.
    pub(super) fn ignored(&self, used: &[&str]) -> Vec<String> {
        let asks = |name: &str| {
            self.known.iter().any(|(known, value)| {
                *known == name
                    && match Json::look(value) {
                        Json::Absent => false,
                        Json::Bool => value.get() == "true",
                        _ => true,
                    }
            })
        };
        let unused = self.names.iter().filter(|name| !used.contains(name) && asks(name));
        let unused = unused.map(|name| (*name).to_owned());
        unused.chain(self.unknown.iter().map(|name| shown(name))).take(MOST_IGNORED).collect()
    }
}

/// The names of the known fields. One that is given twice makes the body invalid.
struct Known(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for Known {
    type Value = Split<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Split<'de>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Known {
    type Value = Split<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Split<'de>, A::Error> {
        let mut split = Split { names: self.0, known: Vec::new(), unknown: Vec::new() };
        while let Some(Text(name)) = map.next_key::<Text<'de>>()? {
            let Some(known) = self.0.iter().find(|known| **known == name) else {
                let value: &RawValue = map.next_value()?;
                if split.unknown.len() < MOST_COMPARED && value.get() != "null" {
                    split.unknown.push(name);
                }
                continue;
            };
            if split.known.iter().any(|(given, _)| given == known) {
                return Err(A::Error::duplicate_field(known));
            }
            split.known.push((known, map.next_value()?));
        }
        Ok(split)
    }
}

fn shown(name: &str) -> String {
    match name.char_indices().nth(NAME_CHARS) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

fn split(bytes: &[u8], known: Known) -> Result<Split<'_>, Refusal> {
    let invalid = |what: String| Refusal::new(Code::InvalidBody, what);
    let text = std::str::from_utf8(bytes)
        .map_err(|_| invalid("the body is not UTF-8: send a JSON object".to_owned()))?;
    if text.trim_ascii().is_empty() {
        return Err(invalid("the body is empty: send a JSON object".to_owned()));
    }
    if !text.trim_ascii_start().starts_with('{') {
        return Err(invalid(
            "the body is not a JSON object: send one, such as {\"type\": \"text\", …}".to_owned(),
        ));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let split = known.deserialize(&mut reader).and_then(|split| reader.end().map(|()| split));
    let split = split.map_err(|wrong| invalid(format!("the body is not a readable JSON object: {wrong}")))?;
    refuse_misspelled(split.unknown.iter().map(|name| &**name), split.names)?;
    Ok(split)
}
