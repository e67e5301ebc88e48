//! A request's body, split into its known fields.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::field::{Field, Json, Text};
use crate::error::{Code, Refusal};

/// How many ignored fields an answer names.
const MOST_IGNORED: usize = 20;
/// How much of the name of an ignored field an answer shows, in characters.
const NAME_CHARS: usize = 64;

macro_rules! fields {
    ($($field:ident = $name:literal,)*) => {
        /// The fields of both kinds of sends, each as raw text with its name, and the names of unknown fields.
        #[derive(Debug, Clone)]
        pub(super) struct Body<'a> {
            $(pub(super) $field: Field<'a>,)*
            unknown: Vec<String>,
        }

        impl<'a> Body<'a> {
            fn known(&self) -> impl Iterator<Item = (&'static str, Field<'a>)> {
                [$(($name, self.$field),)*].into_iter()
            }
        }

        impl<'de> Visitor<'de> for Fields {
            type Value = Body<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Body<'de>, A::Error> {
                $(let mut $field: Option<Option<&'de RawValue>> = None;)*
                let mut unknown = Vec::new();
                while let Some(Text(name)) = map.next_key::<Text<'de>>()? {
                    match &*name {
                        $($name if $field.is_some() => return Err(de::Error::duplicate_field($name)),
                        $name => $field = Some(map.next_value()?),)*
                        _ => {
                            let value: &RawValue = map.next_value()?;
                            if unknown.len() < MOST_IGNORED && value.get() != "null" {
                                unknown.push(shown(name));
                            }
                        }
                    }
                }
                Ok(Body { $($field: Field::new($name, $field.flatten()),)* unknown })
            }
        }
    };
}

fields! {
    kind = "type",
    phone_number = "phone_number",
    contact_tag_id = "contact_tag_id",
    recipient_type = "recipient_type",
    message = "message",
    preview_url = "preview_url",
    link = "link",
    caption = "caption",
    filename = "filename",
    voice = "voice",
    template_id = "template_id",
    language = "language",
    components = "components",
    contact_fields = "contact_fields",
    interactive = "interactive",
    send_at = "send_at",
    expires_at = "expires_at",
}

struct Fields;

fn shown(name: Cow<'_, str>) -> String {
    match name.char_indices().nth(NAME_CHARS) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.into_owned(),
    }
}

impl<'de> Deserialize<'de> for Body<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

impl<'a> Body<'a> {
    /// Splits a body that is a JSON object; anything else is `invalid_body`.
    pub(super) fn split(bytes: &'a [u8]) -> Result<Self, Refusal> {
        object(bytes)
    }

    /// The names of the given fields that have no effect beside those that are `used`, the first ones of many. A field
    /// that is absent or `false` asks for nothing.
    pub(super) fn ignored(&self, used: &[&str]) -> Vec<String> {
        let asks = |field: Field<'_>| match field.look() {
            Json::Absent => false,
            Json::Bool => field.raw() == "true",
            _ => true,
        };
        let unused = self.known().filter(|(name, field)| !used.contains(name) && asks(*field));
        let unused = unused.map(|(name, _)| name.to_owned());
        unused.chain(self.unknown.iter().cloned()).take(MOST_IGNORED).collect()
    }
}

/// The known fields of a body that is a JSON object; anything else is `invalid_body`.
pub(super) fn object<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Refusal> {
    let invalid = |what: String| Refusal::new(Code::InvalidBody, what);
    let text = std::str::from_utf8(bytes)
        .map_err(|_| invalid("the body is not UTF-8: send a JSON object".to_owned()))?;
    if text.trim_ascii().is_empty() {
        return Err(invalid("the body is empty: send a JSON object".to_owned()));
    }
    // A derived struct would read its fields from an array as well.
    if !text.trim_ascii_start().starts_with('{') {
        return Err(invalid(
            "the body is not a JSON object: send one, such as {\"type\": \"text\", …}".to_owned(),
        ));
    }
    serde_json::from_str(text)
        .map_err(|wrong| invalid(format!("the body is not a readable JSON object: {wrong}")))
}
