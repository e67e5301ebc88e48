//! A send through a business-account channel.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::audience::{self, Audience};
use super::body::Split;
use super::enclosed::{Enclosed, EnclosedFields, Through};
use super::field::{Json, Raw};
use super::kind::{self, BusinessKind};
use super::plain::PlainFields;
use super::shape::{MessageType, Numbers, SegmentIds, Tags, TemplateId};
use super::{Limits, label, structured};
use crate::bodies;
use crate::contact_card::ContactCard;
use crate::content::Content;
use crate::error::{Code, Refusal};
use crate::interactive::{self, Interactive};
use crate::link::Link;
use crate::location::Location;
use crate::reaction::Reaction;
use crate::send::{Label, Schedule};
use crate::template::{Component, TemplateRequest, contact_field, parse_components, unread_fields};
use clock::Timestamp;

/// A client's request to a business-account channel.
#[derive(Debug, Clone, PartialEq)]
pub struct BusinessRequest {
    /// The content.
    pub content: RequestedContent,
    /// The recipients.
    pub audience: Audience,
    /// The schedule; not compared with the present time yet, see [`Schedule::check`].
    pub schedule: Schedule,
    /// What is noted on the send.
    pub label: Label,
    /// The names of fields that were given and have no effect, the first ones of many.
    pub ignored: Vec<String>,
}

/// Content that is complete, or that still needs its template.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestedContent {
    /// Complete.
    Ready(Content),
    /// To be joined with the template that it names.
    Template(TemplateRequest),
}

bodies! {
    /// A send through a business account. The required fields depend on `type`; other fields have no effect, and are named
    /// in the answer's `ignored`. A field that is another spelling of one of these is refused.
    pub struct BusinessSend<'a> of &'a RawValue {
        /// What is sent.
        #[schema(example = "text")]
        r#type: MessageType,
        /// All characters but digits are ignored. Give this, `contact_tag_id`, `segment_id`, or several of them; the
        /// recipients are merged.
        #[schema(example = json!(["+55 11 98888-7777"]))]
        phone_number: Option<Numbers>,
        /// Every contact with one of these tags and a valid number gets the message.
        contact_tag_id: Option<Tags>,
        /// Nobody whose contact has one of these tags gets the message, however the request names them. The contacts are
        /// those at the moment of the request. An id that is no tag of the company is refused (`invalid_field`).
        without_contact_tag_id: Option<Tags>,
        /// Every contact whom one of these segments selects now and who has a valid number gets the message: at most 20
        /// segments. Later changes of a segment or its contacts change nothing.
        segment_id: Option<SegmentIds>,
        /// The text, for `text`.
        #[schema(example = "Your order is on its way.")]
        message: Option<String>,
        /// Whether the first link of the text is shown with a preview, for `text`. When absent, a text with a link has one.
        preview_url: Option<bool>,
        /// Public address of the file, or the `link` of a file of the library (`POST /api/v1/media`), for `image`, `video`,
        /// `audio`, `document` and `sticker`. A sticker is a WebP file of
        /// 512 by 512 pixels: at most 100 KB, or 500 KB if it moves.
        link: Option<String>,
        /// For `image`, `video` and `document`.
        caption: Option<String>,
        /// The name that the recipient sees, for `document`. When absent, the end of the link if it is a file's name.
        #[schema(max_length = 240, example = "invoice.pdf")]
        filename: Option<String>,
        /// Whether the sound is a voice message, for `audio`: the file must then be Ogg with Opus. When absent, the
        /// provider decides.
        voice: Option<bool>,
        /// An approved template, for `template`.
        #[schema(example = 7)]
        template_id: Option<TemplateId>,
        /// The language, to send the same template in another language.
        #[schema(example = "pt_BR")]
        language: Option<String>,
        /// The values of the template's variables; an empty list when the template has none.
        #[schema(max_items = 32)]
        components: Option<Vec<Component>>,
        /// Whether the texts of `components` have contact fields: `{{contact.first_name}}`,
        /// `{{contact.last_name}}`, `{{contact.name}}` (both), `{{contact.email}}`, `{{contact.phone_number}}`.
        /// Each recipient then gets the values of their contact when the message goes out. The text behind a bar
        /// is for recipients without a value: `{{contact.first_name|friend}}`. Without such a text, their message
        /// ends as `failed` with the code -1. Every `{{` must begin such a field (`invalid_components`). When
        /// absent or false, texts are sent as they are. For `template` only.
        #[schema(example = true)]
        contact_fields: Option<bool>,
        /// Buttons, a list or products, for `interactive`.
        interactive: Option<Interactive>,
        /// The place, for `location`.
        location: Option<Location>,
        /// The cards of one or more people, for `contacts`.
        #[schema(min_items = 1, max_items = 257)]
        contacts: Option<Vec<ContactCard>>,
        /// The message and the emoji, for `reaction`. A reaction goes to one number, without `contact_tag_id`
        /// (`too_many_recipients`).
        reaction: Option<Reaction>,
        /// When the send starts, in RFC 3339 with an offset, at most a year ahead. When absent or in the past, it
        /// starts at once. `send_at` and `expires_at` are checked after all other fields.
        #[schema(format = DateTime)]
        send_at: Option<String>,
        /// The time after which no message starts: messages that have not started by then end as `expired`. It
        /// must be in the future and after `send_at`.
        #[schema(format = DateTime)]
        expires_at: Option<String>,
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

impl BusinessRequest {
    /// The memory that [`BusinessRequest::parse`] may take for the structures in a body. The rest of a request takes no
    /// more than its text.
    pub fn weight(body: &[u8]) -> usize {
        Split::send(body).map_or(0, |split| {
            let body: BusinessSend<'_> = split.body();
            structured::weight(body.components)
                .saturating_add(structured::weight(body.interactive))
                .saturating_add(body.enclosed().weight())
        })
    }

    /// Reads a request's body.
    ///
    /// # Errors
    ///
    /// In this order: `invalid_body`; `unknown_field`; `missing_type`, `invalid_type`; `missing_recipient`; what the type needs; then
    /// `text_too_long`, `link_too_long`, `caption_too_long`, `too_many_recipients`, `too_many_tags`. `invalid_field`
    /// comes at the step of its field; `send_at`, `expires_at`, `name`, `reference` and `metadata` are the last ones.
    pub fn parse(body: &[u8], limits: &Limits) -> Result<Self, Refusal> {
        let split = Split::send(body)?;
        let body: BusinessSend<'_> = split.body();
        let kind = kind::read(body.r#type, kind::BUSINESS)?;
        let audience::Parsed { audience, oversize } = audience::parse(
            body.phone_number,
            body.contact_tag_id,
            body.without_contact_tag_id,
            body.segment_id,
            limits,
        )?;
        let has_contact_fields = body.contact_fields.flag()?;
        if has_contact_fields && !matches!(kind, BusinessKind::Template) {
            return Err(body.contact_fields.refuse(
                Code::InvalidField,
                "is for the type `template` alone: other texts are sent as they are",
            ));
        }
        let content = match kind {
            BusinessKind::Plain(plain) => {
                RequestedContent::Ready(named_by_link(plain.read(body.plain(), limits)?))
            }
            BusinessKind::Enclosed(enclosed) => {
                RequestedContent::Ready(enclosed.read(body.enclosed(), Through::Business)?)
            }
            BusinessKind::Template => RequestedContent::Template(template(&body, has_contact_fields)?),
            BusinessKind::Interactive => RequestedContent::Ready(interactive(body.interactive)?),
        };
        if let Some(refusal) = oversize.or_else(|| crowd(kind, &audience)) {
            return Err(refusal);
        }
        let schedule = Schedule { send_at: moment(body.send_at)?, expires_at: moment(body.expires_at)? };
        let label = label::read(body.name, body.reference, body.metadata)?;
        Ok(Self { content, audience, schedule, label, ignored: ignored(&split, &body, kind) })
    }

    /// The fields that a body gave without effect, as [`BusinessRequest::parse`] names them; none of a body that it
    /// refuses.
    pub fn ignored(body: &[u8]) -> Vec<String> {
        let read = || {
            let split = Split::send(body).ok()?;
            let body: BusinessSend<'_> = split.body();
            let kind = kind::read(body.r#type, kind::BUSINESS).ok()?;
            Some(ignored(&split, &body, kind))
        };
        read().unwrap_or_default()
    }
}

impl<'a> BusinessSend<'a> {
    const fn enclosed(&self) -> EnclosedFields<'a> {
        let Self { location, contacts, reaction, .. } = *self;
        EnclosedFields { location, contacts, reaction }
    }

    const fn plain(&self) -> PlainFields<'a> {
        let Self { message, preview_url, link, caption, filename, voice, .. } = *self;
        PlainFields { message, preview_url, link, caption, filename, voice }
    }
}

/// The fields that every request may have.
const OF_ALL: &[&str] = &[
    "type",
    "phone_number",
    "contact_tag_id",
    "without_contact_tag_id",
    "segment_id",
    "send_at",
    "expires_at",
];

fn ignored(split: &Split<'_>, body: &BusinessSend<'_>, kind: BusinessKind) -> Vec<String> {
    let own: &[&str] = match kind {
        BusinessKind::Plain(plain) => plain.fields(),
        BusinessKind::Enclosed(enclosed) => enclosed.fields(),
        BusinessKind::Template => &["template_id", "language", "components", "contact_fields"],
        BusinessKind::Interactive => &["interactive"],
    };
    let mut ignored = split.ignored(&[OF_ALL, &label::FIELDS, own].concat());
    if matches!(kind, BusinessKind::Template)
        && let Ok(components) = structured::read(body.components, Code::InvalidComponents)
    {
        ignored.extend(unread_fields(&components));
    }
    if let BusinessKind::Enclosed(enclosed) = kind
        && let Ok(content) = enclosed.read(body.enclosed(), Through::Business)
    {
        ignored.extend(enclosed.unread(body.enclosed(), &content));
    }
    ignored
}

/// The refusal of a reaction to more than one entry: it names one message, which is in one conversation.
fn crowd(kind: BusinessKind, audience: &Audience) -> Option<Refusal> {
    let Audience { numbers, tags, without: _, segments, again: _, skipped } = audience;
    let is_one = tags.is_empty() && segments.is_empty() && numbers.len() as u64 + skipped.count <= 1;
    (kind == BusinessKind::Enclosed(Enclosed::Reaction) && !is_one).then(|| {
        let sentence = "a reaction goes to the one person in whose conversation its message is: give one `phone_number` \
                        and no `contact_tag_id` or `segment_id`";
        Refusal::new(Code::TooManyRecipients, sentence)
    })
}

/// A document without a name gets the one at the end of its link: without a name, WhatsApp shows `Untitled`.
fn named_by_link(content: Content) -> Content {
    match content {
        Content::Document { link, caption, filename: None } => {
            let filename = Link::parse(&link).ok().and_then(|link| link.file_name());
            Content::Document { link, caption, filename }
        }
        content => content,
    }
}

/// A moment in RFC 3339, if one was given.
pub(super) fn moment(field: Raw<'_, Option<String>>) -> Result<Option<Timestamp>, Refusal> {
    let Some(text) = field.text()? else { return Ok(None) };
    Timestamp::parse(text.trim()).map(Some).map_err(|wrong| field.refuse(Code::InvalidField, wrong))
}

fn template(body: &BusinessSend<'_>, contact_fields: bool) -> Result<TemplateRequest, Refusal> {
    let template_id = template_id(body.template_id)?;
    // The provider writes `pt_BR`, other systems `pt-BR`.
    let language = body.language.text()?.map(|language| language.trim().replace('-', "_"));
    if language.as_ref().is_some_and(|language| language.contains(char::is_control)) {
        return Err(body.language.wrong_type("a language code, such as `pt_BR`"));
    }
    let field = body.components;
    let components: Vec<_> = match field.look() {
        Json::Array => parse_components(&structured::read(field, Code::InvalidComponents)?)?,
        Json::Absent if field.raw().starts_with('[') => Vec::new(),
        Json::Absent => {
            return Err(field.refuse(
                Code::MissingComponents,
                "is missing: give the values of the template's variables, or [] if it has none",
            ));
        }
        _ => return Err(field.wrong_type("an array")),
    };
    if contact_fields {
        contact_field::check(&components)?;
    }
    Ok(TemplateRequest { template_id, language, components, contact_fields })
}

/// The template's id, as a number or as digits. An impossible id, negative or too large, is left to the look-up of the
/// template, which finds nothing.
fn template_id(field: Raw<'_, Option<TemplateId>>) -> Result<i64, Refusal> {
    let written = match field.look() {
        Json::Absent => {
            return Err(
                field.refuse(Code::MissingTemplateId, "is missing: give the id of an approved template")
            );
        }
        Json::Number(written) => written.to_owned(),
        Json::Text(text) => text.trim().to_owned(),
        Json::BrokenText | Json::Bool | Json::Array | Json::Object => String::new(),
    };
    let (sign, magnitude) = match written.strip_prefix('-') {
        Some(magnitude) => (-1, magnitude),
        None => (1, written.as_str()),
    };
    if magnitude.is_empty() || !magnitude.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(field.refuse(
            Code::InvalidTemplateIdFormat,
            "must be a whole number: the id that the channel's list of templates gives",
        ));
    }
    Ok(sign * magnitude.parse().unwrap_or(i64::MAX))
}

fn interactive(field: Raw<'_, Option<Interactive>>) -> Result<Content, Refusal> {
    match field.look() {
        Json::Object => {
            let payload = structured::read(field, Code::InvalidInteractive)?;
            Ok(Content::Interactive { interactive: interactive::parse(payload)? })
        }
        Json::Absent => {
            Err(field.refuse(Code::MissingInteractive, "is missing: give the interactive payload"))
        }
        _ => Err(field.wrong_type("an object")),
    }
}
