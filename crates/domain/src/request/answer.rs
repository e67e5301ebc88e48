//! A message to the person or group of a conversation, through either kind of channel.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::body::Split;
use super::business::{BusinessSend, RequestedContent, content};
use super::enclosed::Through;
use super::field::Raw;
use super::instead::{INSTEAD, or_template};
use super::kind::{self, BusinessKind};
use super::shape::{MessageType, TemplateId, TemplateInstead};
use super::unused::without_effect;
use super::{Limits, label};
use crate::bodies;
use crate::channel::Kind;
use crate::contact_card::ContactCard;
use crate::content::Content;
use crate::error::{Code, Refusal};
use crate::inbound::ID_BYTES;
use crate::interactive::Interactive;
use crate::location::Location;
use crate::reaction::Reaction;
use crate::send::Label;
use crate::template::Component;
use crate::web_session::MessageId;

/// A client's request to a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationRequest {
    /// The content.
    pub content: RequestedContent,
    /// The provider's id of the message that it answers.
    pub quotes: Option<String>,
    /// What is noted on the send.
    pub label: Label,
    /// The names of fields that were given and have no effect, the first ones of many.
    pub ignored: Vec<String>,
}

bodies! {
    /// A message to the person or group of a conversation. Which fields are required depends on `type`; other fields have no
    /// effect, and are named in the answer's `ignored`. A field that is another spelling of one of these is refused.
    #[expect(dead_code, reason = "most are read as the fields of `BusinessSend`, and are named here for the reference")]
    pub struct ConversationSend<'a> of &'a RawValue {
        /// What is sent. A conversation of a web session takes all types but `template` and `interactive`.
        #[schema(example = "text")]
        r#type: MessageType,
        /// The text, for `text`.
        #[schema(example = "Your order is on its way.")]
        message: Option<String>,
        /// Whether the first link of the text is shown with a preview, for `text` through a business account.
        preview_url: Option<bool>,
        /// Public address of the file, or the `link` of a file of the library (`POST /api/v1/media`), for `image`, `video`,
        /// `audio`, `document` and `sticker`.
        link: Option<String>,
        /// For `image`, `video` and `document`.
        caption: Option<String>,
        /// The name that the recipient sees, for `document`.
        #[schema(max_length = 240, example = "invoice.pdf")]
        filename: Option<String>,
        /// Whether the sound is a voice message, for `audio`.
        voice: Option<bool>,
        /// An approved template, for `template`. It is the only type that a business account takes while the window is closed.
        #[schema(example = 7)]
        template_id: Option<TemplateId>,
        /// The language, to send the same template in another language.
        #[schema(example = "pt_BR")]
        language: Option<String>,
        /// The values of the template's variables; an empty list when the template has none.
        #[schema(max_items = 32)]
        components: Option<Vec<Component>>,
        /// Whether the texts of `components` have contact fields, such as `{{contact.first_name|friend}}`.
        contact_fields: Option<bool>,
        /// Buttons, a list or products, for `interactive`.
        interactive: Option<Interactive>,
        /// The place, for `location`.
        location: Option<Location>,
        /// The cards of one or more people, for `contacts`.
        #[schema(max_items = 257)]
        contacts: Option<Vec<ContactCard>>,
        /// The message and the emoji, for `reaction`. In a conversation of a web session, `from_me` and `participant` may be
        /// left out for a message that the conversation has.
        reaction: Option<Reaction>,
        /// The `provider_id` of the message that this one answers, which is shown above it. Without effect for `reaction`.
        #[schema(max_length = 256, example = "wamid.HBgNNTUxMTk4ODg4Nzc3NxUCABIYEjVGNDI1QTc0RjEzMDMzNDkyQQA=")]
        reply_to: Option<String>,
        /// The template that goes in place of the message while the window of a business account is closed, for all types but
        /// `template`. The record of the send shows which of the two went.
        template_instead: Option<TemplateInstead>,
        /// The name under which people find the send in the console, returned in its records. Nobody receives it.
        #[schema(max_length = 100, example = "Order 4711")]
        name: Option<String>,
        /// Your own name for the send, such as an order's number: returned in its records, and `GET /api/v1/sends` finds
        /// the send by it. Nobody receives it.
        #[schema(max_length = 128, example = "order-4711")]
        reference: Option<String>,
        /// Your own notes on the send, returned in its records: at most 16 texts of at most 256 characters, each under a
        /// key of at most 40. Nobody receives them.
        #[schema(example = json!({"ticket": "4711"}))]
        metadata: Option<BTreeMap<String, String>>,
    }
}

/// The fields that every request may have.
const OF_ALL: &[&str] = &["type", "reply_to"];

impl ConversationRequest {
    /// The memory that [`ConversationRequest::parse`] may take for the structures in a body. The rest of a request takes no
    /// more than its text.
    pub fn weight(body: &[u8]) -> usize {
        let split = Split::other::<ConversationSend<'_>>(body);
        split.map_or(0, |split| split.body::<BusinessSend<'_>>().weight())
    }

    /// Reads a request's body, for a conversation on a channel of this kind, with a group or a person.
    ///
    /// # Errors
    ///
    /// In this order: `invalid_body`; `unknown_field`; `missing_type`, `invalid_type`; what the type needs; lengths.
    /// `invalid_field` comes at the step of its field; `template_instead`, `reply_to`, `name`, `reference` and `metadata` are the
    /// last ones.
    pub fn parse(body: &[u8], channel: Kind, is_group: bool, limits: &Limits) -> Result<Self, Refusal> {
        let split = Split::other::<ConversationSend<'_>>(body)?;
        let ConversationSend { r#type, reply_to, template_instead, name, reference, metadata, .. } =
            split.body();
        let (kind, through) = match channel {
            Kind::BusinessAccount => (kind::read(r#type, kind::BUSINESS)?, Through::Business),
            Kind::WebSession => (kind::read(r#type, kind::WEB)?.into(), Through::Web { is_group }),
        };
        // It has the same fields, and those that are not here are absent.
        let fields: BusinessSend<'_> = split.body();
        let content = content(kind, &fields, through, limits)?;
        let (content, unused) = match (content, through) {
            (RequestedContent::Ready(content), Through::Business) => {
                or_template(content, template_instead, fields.personal())?
            }
            (content, _) => (content, Vec::new()),
        };
        let quotes = message_id(reply_to, channel)?;
        let is_reaction = matches!(
            &content,
            RequestedContent::Ready(Content::Reaction { .. })
                | RequestedContent::OrTemplate(Content::Reaction { .. }, _)
        );
        let label = label::read(name, reference, metadata)?;
        let mut ignored = ignored(&split, &fields, (kind, through), is_reaction);
        ignored.extend(unused);
        Ok(Self { content, quotes: quotes.filter(|_| !is_reaction), label, ignored })
    }
}

fn ignored(
    split: &Split<'_>,
    fields: &BusinessSend<'_>,
    of: (BusinessKind, Through),
    is_reaction: bool,
) -> Vec<String> {
    let mut of_all = if is_reaction { OF_ALL[..1].to_vec() } else { OF_ALL.to_vec() };
    if of.1 == Through::Business && of.0 != BusinessKind::Template {
        of_all.push(INSTEAD);
    }
    let mut ignored = without_effect(split, fields, of, &of_all);
    // A linked phone makes no previews of links.
    if matches!(of.1, Through::Web { .. }) && fields.asks_for_preview() {
        ignored.push("preview_url".to_owned());
    }
    ignored
}

/// The provider's id of a message, if one was given.
fn message_id(field: Raw<'_, Option<String>>, channel: Kind) -> Result<Option<String>, Refusal> {
    let Some(text) = field.text()? else { return Ok(None) };
    let id = text.trim();
    let is_id = match channel {
        Kind::BusinessAccount => id.len() <= ID_BYTES && id.bytes().all(|byte| byte.is_ascii_graphic()),
        Kind::WebSession => MessageId::parse(id).is_ok(),
    };
    if is_id {
        return Ok(Some(id.to_owned()));
    }
    Err(field.refuse(Code::InvalidField, "must be the `provider_id` of a message of the conversation"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(body: &Value, channel: Kind) -> Result<ConversationRequest, Code> {
        let limits = Limits::default();
        ConversationRequest::parse(body.to_string().as_bytes(), channel, false, &limits)
            .map_err(|refusal| refusal.code)
    }

    #[test]
    fn an_answer_names_no_recipient_and_may_name_a_message() {
        let body = json!({"type": "text", "message": "hi", "reply_to": " wamid.x= ", "phone_number": "7", "reference": "r"});
        let request = read(&body, Kind::BusinessAccount).unwrap();
        assert_eq!(
            (request.quotes.as_deref(), request.ignored),
            (Some("wamid.x="), vec!["phone_number".to_owned()])
        );
        assert_eq!(request.label.reference.as_deref(), Some("r"));
        assert_eq!(read(&body, Kind::WebSession), Err(Code::InvalidField), "no id of a web session");
        let body = json!({"type": "text", "message": "hi", "reply_to": "3EB0", "preview_url": true});
        let request = read(&body, Kind::WebSession).unwrap();
        assert_eq!(
            (request.quotes.as_deref(), request.ignored),
            (Some("3EB0"), vec!["preview_url".to_owned()])
        );
    }

    #[test]
    fn each_kind_of_channel_takes_its_types_and_a_reaction_answers_nothing() {
        let template = json!({"type": "template", "template_id": 7, "components": []});
        assert!(matches!(
            read(&template, Kind::BusinessAccount).map(|request| request.content),
            Ok(RequestedContent::Template(_))
        ));
        assert_eq!(read(&template, Kind::WebSession), Err(Code::InvalidType));
        let reaction = json!({"type": "reaction", "reply_to": "wamid.y",
            "reaction": {"message_id": "wamid.x", "emoji": "👍"}});
        let request = read(&reaction, Kind::BusinessAccount).unwrap();
        assert_eq!((request.quotes, request.ignored), (None, vec!["reply_to".to_owned()]));
        assert_eq!(read(&json!({"type": "text"}), Kind::WebSession), Err(Code::MissingMessage));
        assert_eq!(read(&json!({"mesage": "hi"}), Kind::WebSession), Err(Code::UnknownField));
    }
}
