//! A send through a web-session channel: one message to one number or one group.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::audience::unused_values;
use super::body::Split;
use super::enclosed::{EnclosedFields, Through};
use super::field::Raw;
use super::kind::{self, WebKind};
use super::plain::PlainFields;
use super::recipients::{GivenValue, PersonalFields};
use super::shape::{RecipientType, WebMessageType};
use super::{Limits, label};
use crate::bodies;
use crate::contact::Person;
use crate::contact_card::ContactCard;
use crate::content::Content;
use crate::error::{Code, Refusal};
use crate::location::Location;
use crate::phone::PhoneNumber;
use crate::reaction::Reaction;
use crate::send::Label;
use crate::template::contact_field::Addressee;
use crate::values::{Needs, Values};
use crate::web_session::MessageId;

/// The ending of a group's id in WhatsApp Web's addresses, which is not stored.
pub const GROUP_SUFFIX: &str = "@g.us";
/// Longer than any group id: creator's number, a dash and a time, or 18 digits.
const MAX_GROUP_CHARS: usize = 40;

/// A client's request to a web session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WebRequest {
    /// The recipient.
    pub recipient: WebRecipient,
    /// The content, of a type that a web session sends.
    pub content: Content,
    /// WhatsApp's id of the message that it answers, which is shown above it. Only an answer in a conversation has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quotes: Option<String>,
    /// What is noted on the send.
    #[serde(default, skip_serializing_if = "Label::is_empty")]
    pub label: Label,
    /// What stands for the placeholders of the content, which has them only then. See [`WebRequest::filled`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Values>,
    /// The names of fields that were given and have no effect, the first ones of many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

bodies! {
    /// A send through a web session. Fields that the type does not use have no effect, and are named in the answer's
    /// `ignored`. A field that is another spelling of one of these is refused.
    pub struct WebSend<'a> of &'a RawValue {
        /// What is sent.
        #[schema(example = "text")]
        r#type: WebMessageType,
        /// The kind of recipient.
        #[schema(example = "number")]
        recipient_type: RecipientType,
        /// A number in international format, or the id of a group.
        #[schema(example = "5511988887777")]
        phone_number: String,
        /// The text, for `text`.
        message: Option<String>,
        /// A linked phone sends texts without previews of links: `true` has no effect, and is named in `ignored`.
        preview_url: Option<bool>,
        /// Public address of the file, or the `link` of a file of the library (`POST /api/v1/media`), for `image`, `video`,
        /// `audio`, `document` and `sticker`. A sticker is a WebP file of
        /// 512 by 512 pixels: at most 100 KiB, or 500 KiB if it moves.
        link: Option<String>,
        /// For `image`, `video` and `document`.
        caption: Option<String>,
        /// The name that the recipient sees, for `document`. When absent, the name that the file's server gives, or the end
        /// of the link.
        #[schema(max_length = 240, example = "invoice.pdf")]
        filename: Option<String>,
        /// Whether the sound is a voice message, for `audio`. When absent or `true`, Ogg with Opus is one, and no other
        /// file: then `true` is named in `ignored`.
        voice: Option<bool>,
        /// With `values`, `{{value.NAME}}` and `{{contact.NAME}}` in `message`, `caption` and `link` stand for a value and for a
        /// field of the recipient's contact; `{{value.NAME|TEXT}}` for TEXT where there is none.
        #[schema(example = json!({"order": "A-1042"}))]
        values: Option<BTreeMap<String, GivenValue>>,
        /// Whether white space in values is folded.
        clean: Option<bool>,
        /// The place, for `location`.
        location: Option<Location>,
        /// The cards of one or more people, for `contacts`.
        #[schema(max_items = 257)]
        contacts: Option<Vec<ContactCard>>,
        /// The message and the emoji, for `reaction`.
        reaction: Option<Reaction>,
        /// The name under which people find the send in the console, returned in its records. When absent, its records have one
        /// that is made of its template or text and its recipients. Nobody receives it.
        #[schema(max_length = 100, example = "Spring offer")]
        name: Option<String>,
        /// Your own name for the send, such as an order's number: returned in its records, and `GET /api/v1/sends` finds
        /// the send by it. Nobody receives it.
        #[schema(max_length = 128, example = "order-4711")]
        reference: Option<String>,
        /// Your own notes on the send, returned in its records: at most 16 texts of at most 256 characters, each under a
        /// key of at most 40. Nobody receives them.
        #[schema(example = json!({"campaign": "spring"}))]
        metadata: Option<BTreeMap<String, String>>,
    }
}

/// The recipient of a web session's message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebRecipient {
    /// A person.
    Number(PhoneNumber),
    /// A group, by its id without `@g.us`: digits, possibly with one dash between them.
    Group(String),
}

impl WebRequest {
    /// The memory that [`WebRequest::parse`] may take for the structures in a body. The rest of a request takes no more
    /// than its text.
    pub fn weight(body: &[u8]) -> usize {
        Split::send(body).map_or(0, |split| {
            let WebSend { location, contacts, reaction, .. } = split.body();
            EnclosedFields { location, contacts, reaction }.weight()
        })
    }

    /// Reads a request's body.
    ///
    /// # Errors
    ///
    /// In this order: `invalid_body`, `unknown_field`, `missing_type`, `invalid_type`, `missing_phone_number`,
    /// `missing_recipient_type`, `invalid_recipient_type`, `invalid_phone_number`, what the type needs, lengths.
    /// `invalid_field` comes at the step of its field; `name`, `reference` and `metadata` are the last ones.
    pub fn parse(body: &[u8], limits: &Limits) -> Result<Self, Refusal> {
        let split = Split::send(body)?;
        let WebSend {
            r#type,
            recipient_type,
            phone_number,
            message,
            preview_url,
            link,
            caption,
            filename,
            voice,
            values,
            clean,
            location,
            contacts,
            reaction,
            name,
            reference,
            metadata,
        } = split.body();
        let kind = kind::read(r#type, kind::WEB)?;
        let given = PersonalFields::of_one(values, clean);
        let recipient = recipient(phone_number, recipient_type)?;
        let enclosed_fields = EnclosedFields { location, contacts, reaction };
        let (content, own, unread) = match kind {
            WebKind::Plain(plain) => {
                let values = given.are_given();
                let fields = PlainFields { message, preview_url, link, caption, filename, voice, values };
                (plain.read(fields, limits)?, plain.fields(), Vec::new())
            }
            WebKind::Enclosed(enclosed) => {
                let is_group = matches!(recipient, WebRecipient::Group(_));
                let content = enclosed.read(enclosed_fields, Through::Web { is_group })?;
                let unread = enclosed.unread(enclosed_fields, &content);
                (content, enclosed.fields(), unread)
            }
        };
        given.check(&content)?;
        let values = if given.are_given() { Some(given.shared(clean.flag()?)?) } else { None };
        let label = label::read(name, reference, metadata)?;
        // A linked phone makes no previews of links.
        let own: Vec<&str> = own.iter().copied().filter(|field| *field != "preview_url").collect();
        let of_values: &[&str] = if values.is_some() { &["values", "clean"] } else { &[] };
        let of_all: &[&str] = &["type", "phone_number", "recipient_type"];
        let mut ignored = split.ignored(&[of_all, of_values, &label::FIELDS, own.as_slice()].concat());
        ignored.extend(unread);
        let names = values.iter().flat_map(Values::iter).map(|(name, _)| name);
        ignored.extend(unused_values(names, [&content]));
        if values.is_none() {
            ignored.extend(content.literal_placeholders());
        }
        Ok(Self { recipient, content, quotes: None, label, values, ignored })
    }

    /// The request with the values and the fields of the recipient's contact in their places; `None` for a recipient who is no
    /// contact. One without values stays as it is.
    ///
    /// # Errors
    ///
    /// `value_not_allowed` for a placeholder that nothing stands for, for a text that gets too long and for a link that is
    /// none.
    pub fn filled(self, person: Option<&Person>, limits: &Limits) -> Result<Self, Refusal> {
        let Some(values) = &self.values else { return Ok(self) };
        let refuse = |what: String| Refusal::new(Code::ValueNotAllowed, what);
        let needs = Needs::of(&self.content, limits);
        needs
            .check(values)
            .map_err(|lack| refuse(format!("the recipient {}", lack.reason)).about(lack.field))?;
        let to = Addressee { person, values: Some(values) };
        let content = self.content.filled(to).map_err(|lack| refuse(lack.to_string()))?;
        let (text, _) = content.texts();
        if text.is_some_and(|text| text.trim().is_empty()) {
            return Err(refuse("the text is empty once the values are filled in".to_owned()));
        }
        Ok(Self { content, values: None, ..self })
    }
}

impl WebRequest {
    /// Checks a request that did not come in a client's body, exactly as [`WebRequest::parse`] does: it has to be one
    /// that a body can ask for.
    pub fn check(&self, limits: &Limits) -> Result<(), Refusal> {
        let Self { recipient, content, quotes: _, label, values: _, ignored: _ } =
            Self::parse(self.body().to_string().as_bytes(), limits)?;
        // No body names its author.
        let label = Label { made_by: self.label.made_by.clone(), ..label };
        let is_same = (&recipient, &content, &label) == (&self.recipient, &self.content, &self.label);
        let quotes_a_message = self.quotes.as_ref().is_none_or(|id| MessageId::parse(id).is_ok());
        if is_same && quotes_a_message && label.has_fit_author() {
            return Ok(());
        }
        Err(Refusal::new(Code::InvalidBody, "no body of a request asks for this"))
    }

    /// A body that asks for this; without its content when that is not one of a web session.
    fn body(&self) -> Value {
        let (to, kind) = match &self.recipient {
            WebRecipient::Number(number) => (number.to_string(), "number"),
            WebRecipient::Group(id) => (id.clone(), "group"),
        };
        let mut body = json!({
            "type": self.content.kind().as_str(),
            "phone_number": to,
            "recipient_type": kind,
            "name": self.label.name,
            "reference": self.label.reference,
            "metadata": self.label.metadata,
        });
        match &self.content {
            Content::Text { body: text, preview_url } => {
                body["message"] = text.as_str().into();
                body["preview_url"] = (*preview_url).into();
            }
            Content::Image { link, caption } | Content::Video { link, caption } => {
                body["link"] = link.as_str().into();
                body["caption"] = caption.as_deref().into();
            }
            Content::Audio { link, voice } => {
                body["link"] = link.as_str().into();
                body["voice"] = (*voice).into();
            }
            Content::Document { link, caption, filename } => {
                body["link"] = link.as_str().into();
                body["caption"] = caption.as_deref().into();
                body["filename"] = filename.as_deref().into();
            }
            Content::Sticker { link } => body["link"] = link.as_str().into(),
            Content::Location { location } => body["location"] = json!(location),
            Content::Contacts { contacts } => body["contacts"] = json!(contacts),
            Content::Reaction { reaction } => body["reaction"] = json!(reaction),
            Content::Template { .. } | Content::Interactive { .. } => {}
        }
        body
    }
}

fn recipient(
    phone_number: Raw<'_, String>,
    recipient_type: Raw<'_, RecipientType>,
) -> Result<WebRecipient, Refusal> {
    let address = phone_number.text()?.ok_or_else(|| {
        phone_number.refuse(Code::MissingPhoneNumber, "is missing: give a number or a group's id")
    })?;
    let kind = recipient_type.text()?.ok_or_else(|| {
        recipient_type.refuse(Code::MissingRecipientType, "is missing: give number or group")
    })?;
    match kind.as_ref() {
        "number" => PhoneNumber::parse(&address).map(WebRecipient::Number).map_err(|invalid| {
            let what = format!("{invalid}: give it in international format, such as 5511988887777");
            phone_number.refuse(Code::InvalidPhoneNumber, what)
        }),
        "group" => group_id(&address).map(WebRecipient::Group).ok_or_else(|| {
            phone_number
                .refuse(Code::InvalidPhoneNumber, "is not a group's id, such as 120363025246125016@g.us")
        }),
        _ => Err(recipient_type.refuse(Code::InvalidRecipientType, "must be number or group")),
    }
}

fn group_id(address: &str) -> Option<String> {
    let address = address.trim();
    let id = address.strip_suffix(GROUP_SUFFIX).unwrap_or(address);
    let (first, second) = id.split_once('-').unwrap_or((id, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (id.len() <= MAX_GROUP_CHARS && digits(first) && digits(second)).then(|| id.to_owned())
}
