//! A send through a web-session channel: one message to one number or one group.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Limits;
use super::body::Split;
use super::field::Raw;
use super::kind;
use super::plain::PlainFields;
use super::shape::{RecipientType, WebMessageType};
use crate::bodies;
use crate::content::Content;
use crate::error::{Code, Refusal};
use crate::phone::PhoneNumber;

/// The ending of a group's id in WhatsApp Web's addresses, which is not stored.
pub const GROUP_SUFFIX: &str = "@g.us";
/// Longer than any group id: creator's number, a dash and a time, or 18 digits.
const MAX_GROUP_CHARS: usize = 40;

/// A client's request to a web session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WebRequest {
    /// The recipient.
    pub recipient: WebRecipient,
    /// The content: text, image, video, audio or document.
    pub content: Content,
    /// The names of fields that were given and have no effect, the first ones of many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

bodies! {
    /// A send through a web session. Fields that the type does not use have no effect, and are named in the answer's
    /// `ignored`.
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
        /// Public address of the file, for the other types.
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
    /// Reads a request's body.
    ///
    /// # Errors
    ///
    /// In this order: `invalid_body`, `missing_type`, `invalid_type`, `missing_phone_number`, `missing_recipient_type`,
    /// `invalid_recipient_type`, `invalid_phone_number`, `missing_message`, `missing_link`, `invalid_link`, lengths.
    /// `invalid_field` comes at the step of its field.
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
        } = split.body();
        let plain = kind::read(r#type, kind::WEB)?;
        let recipient = recipient(phone_number, recipient_type)?;
        let fields = PlainFields { message, preview_url, link, caption, filename, voice };
        let content = plain.read(fields, limits)?;
        // A linked phone makes no previews of links.
        let own: Vec<&str> = plain.fields().iter().copied().filter(|field| *field != "preview_url").collect();
        let ignored = split.ignored(&[&["type", "phone_number", "recipient_type"], own.as_slice()].concat());
        Ok(Self { recipient, content, ignored })
    }
}

impl WebRequest {
    /// Checks a request that did not come in a client's body, exactly as [`WebRequest::parse`] does: it has to be one
    /// that a body can ask for.
    pub fn check(&self, limits: &Limits) -> Result<(), Refusal> {
        let Self { recipient, content, ignored: _ } =
            Self::parse(self.body().to_string().as_bytes(), limits)?;
        if (&recipient, &content) == (&self.recipient, &self.content) {
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
