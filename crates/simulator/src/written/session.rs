//! What people write, as a web session reports it.

use serde_json::json;

use super::{PersonMessage, StoredFile, WrittenCard, WrittenContent, WrittenFile, WrittenItem};
use crate::web_session::hidden;
use clock::Timestamp;
use domain::inbound::{
    AnswerSource, Direction, InboundBody, InboundContent, InboundMedia, InboundMessage, MediaKeys,
    MessageAuthor, MessageContext, OrderItem, Peer, SharedContact, base64_of, bounded,
};
use domain::location::{Latitude, Location, Longitude};
use domain::phone::PhoneNumber;

/// The message with this id; a sentence if it cannot come from a person of WhatsApp.
pub(crate) fn message(
    message: &PersonMessage,
    id: &str,
    at: Timestamp,
    file: Option<&StoredFile>,
) -> Result<InboundMessage, String> {
    let number = PhoneNumber::parse(&message.person()).map_err(|fault| format!("from {fault}"))?;
    let hidden = hidden(number).map(|lid| lid.to_string());
    let name = message.name.as_deref().and_then(Peer::name_of);
    let (mut peer, mut author) = (Peer::default(), None);
    if let Some(group) = &message.group {
        peer.group = Some(group.clone());
        author = (!message.echo).then(|| MessageAuthor {
            number: Some(format!("+{number}")),
            user_id: hidden,
            name,
        });
    } else {
        peer = Peer { number: Some(number), user_id: hidden, name, group: None };
    }
    let context = MessageContext {
        message_id: message.quoted().map(str::to_owned),
        forwarded: message.forwarded,
        ..MessageContext::default()
    };
    Ok(InboundMessage {
        id: id.to_owned(),
        direction: if message.echo { Direction::Echo } else { Direction::In },
        peer,
        at,
        is_past: false,
        by_admin: false,
        body: InboundBody {
            content: content(message, id, file)?,
            context: (context != MessageContext::default()).then_some(context),
            referral: None,
            author,
            beyond: None,
        },
    })
}

fn content(message: &PersonMessage, id: &str, file: Option<&StoredFile>) -> Result<InboundContent, String> {
    use WrittenContent as Of;
    let message_id = message.target().unwrap_or_default().to_owned();
    let answer = |source, id: &str, title: &str, description: Option<&String>| InboundContent::Answer {
        source,
        id: Some(bounded(id)),
        title: bounded(title),
        description: description.cloned(),
    };
    let media = |of: &WrittenFile| media(of, id, file);
    Ok(match &message.content {
        Of::Text(body) => InboundContent::Text { body: bounded(body) },
        Of::Image(of) => InboundContent::Image { media: media(of) },
        Of::Video(of) => InboundContent::Video { media: media(of) },
        Of::Audio(of) => InboundContent::Audio { media: media(of) },
        Of::Voice(of) => InboundContent::Audio { media: InboundMedia { voice: true, ..media(of) } },
        Of::Document(of) => InboundContent::Document { media: media(of) },
        Of::Sticker(of) => InboundContent::Sticker { media: media(of) },
        Of::Location { latitude, longitude, name, address } => {
            let degrees = Latitude::new(*latitude).zip(Longitude::new(*longitude));
            let (latitude, longitude) = degrees.ok_or("latitude and longitude must be degrees")?;
            let (name, address) = (name.clone(), address.clone());
            InboundContent::Location { location: Location { latitude, longitude, name, address } }
        }
        Of::Contacts(cards) => InboundContent::Contacts { contacts: cards.iter().map(card).collect() },
        Of::Reaction { emoji, .. } => {
            let emoji = Some(bounded(emoji)).filter(|emoji| !emoji.is_empty());
            InboundContent::Reaction { message_id, emoji }
        }
        Of::Edit { text, .. } => InboundContent::Edit { message_id, text: Some(bounded(text)) },
        Of::Deletion { .. } => InboundContent::Deletion { message_id },
        Of::Button { text, payload } => {
            answer(AnswerSource::Template, payload.as_ref().unwrap_or(text), text, None)
        }
        Of::Choice { id, title } => answer(AnswerSource::Button, id, title, None),
        Of::Row { id, title, description } => answer(AnswerSource::List, id, title, description.as_ref()),
        Of::Flow { response } => InboundContent::Flow {
            name: Some("flow".to_owned()),
            body: Some("Sent".to_owned()),
            response: response.clone().into(),
        },
        Of::Order { catalog_id, text, items } => InboundContent::Order {
            catalog_id: Some(catalog_id.clone()),
            text: text.clone(),
            items: items.iter().map(item).collect(),
        },
        Of::Call {} => InboundContent::Call { event: "connect".to_owned() },
        Of::Moved { number } => InboundContent::System {
            event: "user_changed_number".to_owned(),
            body: None,
            new_number: PhoneNumber::parse(number).ok().map(|number| format!("+{number}")),
            new_user_id: None,
        },
        Of::Unknown { kind } => {
            InboundContent::Unsupported { kind: None, reason: None, raw: json!({ kind.as_str(): {} }) }
        }
    })
}

/// The path of the file of the message with this id.
pub(crate) fn direct_path(id: &str) -> String {
    format!("/v/{id}.enc")
}

/// A file, with the path under which the sessions have its bytes.
fn media(of: &WrittenFile, id: &str, file: Option<&StoredFile>) -> InboundMedia {
    let keys = file.map(|file| MediaKeys {
        direct_path: direct_path(id),
        media_key: base64_of(id.as_bytes()),
        sealed_sha256: file.sha256(),
    });
    InboundMedia {
        mime_type: file.map(|file| file.mime_type.clone()),
        sha256: file.map(StoredFile::sha256),
        size: file.map(|file| file.bytes.len() as u64),
        caption: of.caption.clone(),
        file_name: of.file_name.clone(),
        keys,
        ..InboundMedia::default()
    }
}

fn card(card: &WrittenCard) -> SharedContact {
    let WrittenCard { name, phones, emails, organization } = card.clone();
    SharedContact { name: Some(name), phones, emails, organization }
}

fn item(item: &WrittenItem) -> OrderItem {
    OrderItem {
        product_retailer_id: Some(item.product.clone()),
        quantity: Some(item.quantity.into()),
        price: Some(item.price.to_string()),
        currency: Some(item.currency.clone()),
    }
}
