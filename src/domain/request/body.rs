//! A request's body, split into its known fields.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::field::Field;
use crate::error::{Code, Refusal};

/// The fields of both kinds of sends, each as raw text; `null` is `None`, unknown fields are gone.
#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow)]
    r#type: Option<&'a RawValue>,
    #[serde(borrow)]
    phone_number: Option<&'a RawValue>,
    #[serde(borrow)]
    contact_tag_id: Option<&'a RawValue>,
    #[serde(borrow)]
    recipient_type: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    link: Option<&'a RawValue>,
    #[serde(borrow)]
    caption: Option<&'a RawValue>,
    #[serde(borrow)]
    template_id: Option<&'a RawValue>,
    #[serde(borrow)]
    language: Option<&'a RawValue>,
    #[serde(borrow)]
    components: Option<&'a RawValue>,
    #[serde(borrow)]
    contact_fields: Option<&'a RawValue>,
    #[serde(borrow)]
    interactive: Option<&'a RawValue>,
    #[serde(borrow)]
    send_at: Option<&'a RawValue>,
    #[serde(borrow)]
    expires_at: Option<&'a RawValue>,
}

/// The fields, each with its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Body<'a> {
    pub(super) kind: Field<'a>,
    pub(super) phone_number: Field<'a>,
    pub(super) contact_tag_id: Field<'a>,
    pub(super) recipient_type: Field<'a>,
    pub(super) message: Field<'a>,
    pub(super) link: Field<'a>,
    pub(super) caption: Field<'a>,
    pub(super) template_id: Field<'a>,
    pub(super) language: Field<'a>,
    pub(super) components: Field<'a>,
    pub(super) contact_fields: Field<'a>,
    pub(super) interactive: Field<'a>,
    pub(super) send_at: Field<'a>,
    pub(super) expires_at: Field<'a>,
}

impl<'a> Body<'a> {
    /// Splits a body that is a JSON object; anything else is `invalid_body`.
    pub(super) fn split(bytes: &'a [u8]) -> Result<Self, Refusal> {
        let fields: Fields<'a> = object(bytes)?;
        Ok(Self {
            kind: Field::new("type", fields.r#type),
            phone_number: Field::new("phone_number", fields.phone_number),
            contact_tag_id: Field::new("contact_tag_id", fields.contact_tag_id),
            recipient_type: Field::new("recipient_type", fields.recipient_type),
            message: Field::new("message", fields.message),
            link: Field::new("link", fields.link),
            caption: Field::new("caption", fields.caption),
            template_id: Field::new("template_id", fields.template_id),
            language: Field::new("language", fields.language),
            components: Field::new("components", fields.components),
            contact_fields: Field::new("contact_fields", fields.contact_fields),
            interactive: Field::new("interactive", fields.interactive),
            send_at: Field::new("send_at", fields.send_at),
            expires_at: Field::new("expires_at", fields.expires_at),
        })
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
