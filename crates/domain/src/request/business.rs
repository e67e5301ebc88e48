//! A send through a business-account channel.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::audience::{self, Audience};
use super::body::Split;
use super::enclosed::{Enclosed, EnclosedFields, Through};
use super::field::Raw;
use super::instead::or_template;
use super::kind::{self, BusinessKind};
use super::plain::PlainFields;
use super::recipients::{GivenRecipient, GivenValue, PersonalFields};
use super::shape::{MessageType, Numbers, SegmentIds, Tags, TemplateId, TemplateInstead};
use super::skipped::Skipped;
use super::split_send::weight_of_recipients;
use super::unused::ignored;
use super::{Limits, label, structured, template};
use crate::bodies;
use crate::contact_card::ContactCard;
use crate::content::Content;
use crate::error::{Code, Refusal};
use crate::interactive::Interactive;
use crate::link::Link;
use crate::location::Location;
use crate::reaction::Reaction;
use crate::send::{Label, Schedule};
use crate::template::{Component, TemplateRequest, contact_field};
use crate::values::Rows;
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
    /// The provider's id of the message that it answers, which is shown above it.
    pub quotes: Option<String>,
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
    /// Complete; the template goes in its place to a person whose window is closed.
    OrTemplate(Content, TemplateRequest),
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
        /// Recipients with values of their own: at most 100,000. A number counts once: an entry here comes before
        /// `phone_number`, tags and segments, and a second entry with other values is skipped (`duplicate_recipient`). With
        /// `recipients` or `values`, `{{value.NAME}}` and `{{value.NAME|TEXT}}` stand for a value, and `{{contact.NAME}}` for a
        /// field of the contact: in the texts and the links of files of `components`, in `message`, `caption` and `link`. TEXT
        /// is for recipients without the value; without it they are skipped (`value_missing`).
        recipients: Option<Vec<GivenRecipient>>,
        /// The values of all recipients, behind their own.
        #[schema(example = json!({"shop": "Acme"}))]
        values: Option<BTreeMap<String, GivenValue>>,
        /// Instead of `components`, for a template in a request with values: the names of values in the order of the
        /// template's variables (header, text, buttons). Without both, variables have the values of their names: `1`, `2` for
        /// numbered ones of the text, `header` for the header, `button.0` for the end of the first button's address.
        #[schema(example = json!(["name", "order"]))]
        parameters: Option<Vec<String>>,
        /// Whether white space in values is folded, so that values of several lines can stand in a template.
        clean: Option<bool>,
        /// What a recipient who is skipped means for the others: `send`, they get the message, or `refuse`, nobody does
        /// (`recipients_skipped`). `send` when absent.
        #[schema(example = "refuse")]
        on_skipped: Option<String>,
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
        pub(super) template_id: Option<TemplateId>,
        /// The language, to send the same template in another language.
        #[schema(example = "pt_BR")]
        pub(super) language: Option<String>,
        /// The values of the template's variables; an empty list when the template has none.
        #[schema(max_items = 32)]
        pub(super) components: Option<Vec<Component>>,
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
        #[schema(max_items = 257)]
        contacts: Option<Vec<ContactCard>>,
        /// The message and the emoji, for `reaction`. A reaction goes to one number, without `contact_tag_id`
        /// (`too_many_recipients`).
        reaction: Option<Reaction>,
        /// The template that goes in place of the message to people whose window is closed, for all types but `template`. They
        /// get it by a send of its own, which the answer's `template_instead` names, under the limits and at the price of
        /// templates. When the window of every recipient is closed, that send is the only one.
        pub(super) template_instead: Option<TemplateInstead>,
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
        Split::send(body).map_or(0, |split| split.body::<BusinessSend<'_>>().weight())
    }

    /// Reads a request's body.
    ///
    /// # Errors
    ///
    /// In this order: `invalid_body`; `unknown_field`; `missing_type`, `invalid_type`; `missing_recipient`; what the type needs;
    /// what `template_instead` needs; then `text_too_long`, `link_too_long`, `caption_too_long`, `too_many_recipients`,
    /// `too_many_tags`. `invalid_field` comes at the step of its field; `send_at`, `expires_at`, `name`, `reference` and
    /// `metadata` are the last ones.
    pub fn parse(body: &[u8], limits: &Limits) -> Result<Self, Refusal> {
        Self::read(&Split::send(body)?, limits, None)
    }

    /// Checks a body whose recipients follow in a file, before the file is read. Returns whether white space in values is
    /// folded.
    ///
    /// # Errors
    ///
    /// Those of [`BusinessRequest::parse`], and `invalid_field` for `recipients`.
    pub fn check_upload(body: &[u8], limits: &Limits) -> Result<bool, Refusal> {
        let split = Split::upload(body)?;
        Self::read(&split, limits, Some((Rows::default(), Skipped::default())))?;
        split.body::<BusinessSend<'_>>().clean.flag()
    }

    /// Reads a body with the recipients of a file, who are [finished](Rows::finish), and those of the file that were skipped.
    ///
    /// # Errors
    ///
    /// Those of [`BusinessRequest::check_upload`].
    pub fn parse_upload(body: &[u8], limits: &Limits, rows: Rows, skipped: Skipped) -> Result<Self, Refusal> {
        Self::read(&Split::upload(body)?, limits, Some((rows, skipped)))
    }

    pub(super) fn read(
        split: &Split<'_>,
        limits: &Limits,
        file: Option<(Rows, Skipped)>,
    ) -> Result<Self, Refusal> {
        let body: BusinessSend<'_> = split.body();
        let kind = kind::read(body.r#type, kind::BUSINESS)?;
        let mut skipped = Skipped::default();
        let mut personal = body.personal().read(limits, &mut skipped)?;
        let is_upload = file.is_some();
        if let (Some(personal), Some((rows, of_file))) = (&mut personal, file) {
            personal.rows = Arc::new(rows);
            skipped.extend(of_file);
        }
        let given = personal.as_ref().map_or(0, |personal| personal.rows.given());
        let audience::Parsed { mut audience, oversize } = audience::parse(
            body.phone_number,
            body.contact_tag_id,
            body.without_contact_tag_id,
            body.segment_id,
            given + u64::from(is_upload),
            limits,
        )?;
        skipped.extend(std::mem::take(&mut audience.skipped));
        (audience.skipped, audience.personal) = (skipped, personal);
        let content = content(kind, &body, Through::Business, limits)?;
        let (content, unread) = match content {
            RequestedContent::Ready(content) => or_template(content, body.template_instead, body.personal())?,
            content => (content, Vec::new()),
        };
        if let Some(refusal) = oversize.or_else(|| crowd(kind, &audience)) {
            return Err(refusal);
        }
        let schedule = Schedule { send_at: moment(body.send_at)?, expires_at: moment(body.expires_at)? };
        let label = label::read(body.name, body.reference, body.metadata)?;
        let mut ignored = ignored(split, &body, kind);
        ignored.extend(unread);
        if let RequestedContent::Ready(content) | RequestedContent::OrTemplate(content, _) = &content
            && audience.personal.is_none()
        {
            ignored.extend(content.literal_placeholders());
        }
        Ok(Self { content, audience, schedule, label, quotes: None, ignored })
    }
}

impl<'a> BusinessSend<'a> {
    /// The memory that reading its structures may take.
    pub(super) fn weight(&self) -> usize {
        let recipients = weight_of_recipients(self.recipients.raw().len());
        structured::weight(self.components)
            .saturating_add(structured::weight(self.interactive))
            .saturating_add(structured::weight(self.template_instead))
            .saturating_add(self.enclosed().weight())
            .saturating_add(recipients)
    }

    /// Whether it asks for the preview of a link.
    pub(super) fn asks_for_preview(&self) -> bool {
        self.preview_url.flag().unwrap_or_default()
    }

    /// Whether its template has contact fields.
    pub(super) fn asks_for_contact_fields(&self) -> Result<bool, Refusal> {
        self.contact_fields.flag()
    }

    pub(super) const fn enclosed(&self) -> EnclosedFields<'a> {
        let Self { location, contacts, reaction, .. } = *self;
        EnclosedFields { location, contacts, reaction }
    }

    fn plain(&self) -> PlainFields<'a> {
        let Self { message, preview_url, link, caption, filename, voice, .. } = *self;
        let values = self.personal().are_given();
        PlainFields { message, preview_url, link, caption, filename, voice, values }
    }

    pub(super) const fn personal(&self) -> PersonalFields<'a> {
        let Self { recipients, values, parameters, clean, on_skipped, .. } = *self;
        PersonalFields { recipients, values, parameters, clean, on_skipped }
    }
}

/// The content that a body asks for, through either kind of channel.
pub(super) fn content(
    kind: BusinessKind,
    body: &BusinessSend<'_>,
    through: Through,
    limits: &Limits,
) -> Result<RequestedContent, Refusal> {
    let has_contact_fields = body.contact_fields.flag()?;
    if has_contact_fields && !matches!(kind, BusinessKind::Template) {
        return Err(body.contact_fields.refuse(
            Code::InvalidField,
            "is for the type `template` alone: other texts are sent as they are",
        ));
    }
    let content = match kind {
        BusinessKind::Plain(plain) => {
            let content = plain.read(body.plain(), limits)?;
            // The file of a web session gets the name that its server gives.
            let is_named = through == Through::Business;
            RequestedContent::Ready(if is_named { named_by_link(content) } else { content })
        }
        BusinessKind::Enclosed(enclosed) => RequestedContent::Ready(enclosed.read(body.enclosed(), through)?),
        BusinessKind::Template => {
            RequestedContent::Template(template::read(body, body.personal(), has_contact_fields)?)
        }
        BusinessKind::Interactive => RequestedContent::Ready(structured::interactive(body.interactive)?),
    };
    if let RequestedContent::Ready(content) = &content {
        body.personal().check(content)?;
    }
    Ok(content)
}

/// The refusal of a reaction to more than one entry: it names one message, which is in one conversation.
fn crowd(kind: BusinessKind, audience: &Audience) -> Option<Refusal> {
    let Audience { numbers, tags, without: _, segments, again: _, personal, skipped } = audience;
    let rows = personal.as_ref().map_or(0, |personal| personal.rows.len());
    let given = (numbers.len() + rows) as u64 + skipped.count;
    let is_one = tags.is_empty() && segments.is_empty() && given <= 1;
    (kind == BusinessKind::Enclosed(Enclosed::Reaction) && !is_one).then(|| {
        let sentence = "a reaction goes to the one person in whose conversation its message is: give one `phone_number` \
                        and no `contact_tag_id` or `segment_id`";
        Refusal::new(Code::TooManyRecipients, sentence)
    })
}

/// A document without a name gets the one at the end of its link: without a name, WhatsApp shows `Untitled`.
fn named_by_link(content: Content) -> Content {
    match content {
        // One with placeholders has another name for each recipient.
        Content::Document { link, caption, filename: None } if !contact_field::is_in(&link) => {
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
