//! What a message from a person says, by its type.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::lenient::{Text, fields, phone_number, without_nul};
use super::inbound::text;
use domain::inbound::{
    AnswerSource, ID_BYTES, InboundContent, InboundMedia, OrderItem, SharedContact, bounded, bounded_raw,
};
use domain::location::{Latitude, Location, Longitude};

/// The most cards of a message, and the most items of an order, that are read.
const MOST_ITEMS: usize = 100;

fields! {
    /// The fields of a message that depend on its type, of which one is there.
    pub(super) TypedBody {
        texts
            #[serde(rename = "type")]
            kind;
        raw text, image, video, audio, document, sticker, location, contacts, reaction, edit, revoke,
            button, interactive, order, system, errors;
    }
    TextBody { texts body; }
    MediaFields { texts id, mime_type, sha256, file_size, caption, filename, voice, animated; }
    PlaceFields { texts latitude, longitude, name, address; }
    ReactionTo { texts message_id, emoji; }
    Revoked { texts original_message_id, message_id; }
    ButtonFields { texts payload, text; }
    ReplyFields { texts id, title, description; }
    FlowReply { texts name, body, response_json; }
    SystemFields { texts body, r#type, wa_id, new_wa_id, user_id; }
    ItemFields { texts product_retailer_id, quantity, item_price, currency; }
    FaultFields { texts title, message; }
    CardName { texts formatted_name; }
    CardPhone { texts phone; }
    CardEmail { texts email; }
    CardOrganization { texts company; }
    Edited {
        texts original_message_id, message_id;
        raw message;
    }
    InteractiveFields { objects button_reply: ReplyFields, list_reply: ReplyFields, nfm_reply: FlowReply; }
    OrderFields {
        texts catalog_id, text;
        raw product_items;
    }
    CardFields {
        objects name: CardName, org: CardOrganization;
        raw phones, emails;
    }
}

/// The content of a message; `raw` is the whole message, which is kept if its type is unknown or its object unreadable.
pub(super) fn content(body: &TypedBody<'_>, raw: &str) -> InboundContent {
    known(body).unwrap_or_else(|| {
        let reason = items::<FaultFields<'_>>(body.errors).into_iter().next();
        InboundContent::Unsupported {
            kind: text(&body.kind),
            reason: reason.and_then(|fault| text(&fault.title).or_else(|| text(&fault.message))),
            raw: bounded_raw(raw),
        }
    })
}

fn known(body: &TypedBody<'_>) -> Option<InboundContent> {
    Some(match body.kind.get().unwrap_or("text") {
        "text" => {
            InboundContent::Text { body: text(&read::<TextBody<'_>>(body.text)?.body).unwrap_or_default() }
        }
        "image" => InboundContent::Image { media: media(body.image)? },
        "video" => InboundContent::Video { media: media(body.video)? },
        "audio" | "voice" => InboundContent::Audio { media: media(body.audio)? },
        "document" => InboundContent::Document { media: media(body.document)? },
        "sticker" => InboundContent::Sticker { media: media(body.sticker)? },
        "location" => InboundContent::Location { location: location(body.location)? },
        "contacts" => InboundContent::Contacts { contacts: items(body.contacts).iter().map(card).collect() },
        "reaction" => {
            let reaction: ReactionTo<'_> = read(body.reaction)?;
            InboundContent::Reaction { message_id: id(&reaction.message_id)?, emoji: text(&reaction.emoji) }
        }
        "edit" => edit(body.edit)?,
        "revoke" => {
            let revoked: Revoked<'_> = read(body.revoke)?;
            let of = id(&revoked.original_message_id).or_else(|| id(&revoked.message_id));
            InboundContent::Deletion { message_id: of? }
        }
        "button" => {
            let button: ButtonFields<'_> = read(body.button)?;
            InboundContent::Answer {
                source: AnswerSource::Template,
                id: text(&button.payload),
                title: text(&button.text).unwrap_or_default(),
                description: None,
            }
        }
        "interactive" => interactive(&read(body.interactive)?)?,
        "order" => {
            let order: OrderFields<'_> = read(body.order)?;
            InboundContent::Order {
                catalog_id: text(&order.catalog_id),
                text: text(&order.text),
                items: items(order.product_items).iter().map(item).collect(),
            }
        }
        "system" => {
            let system: SystemFields<'_> = read(body.system)?;
            let number = phone_number(&system.new_wa_id).or_else(|| phone_number(&system.wa_id));
            InboundContent::System {
                event: text(&system.r#type).unwrap_or_default(),
                body: text(&system.body),
                new_number: number.map(|number| format!("+{number}")),
                new_user_id: text(&system.user_id),
            }
        }
        _ => return None,
    })
}

fn read<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

/// The readable ones of the first items of a list.
fn items<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Vec<T> {
    let all: Vec<&'a RawValue> = read(raw).unwrap_or_default();
    all.into_iter().take(MOST_ITEMS).filter_map(|item| read(Some(item))).collect()
}

fn id(field: &Text<'_>) -> Option<String> {
    field.get().filter(|id| id.len() <= ID_BYTES).map(without_nul)
}

fn media(raw: Option<&RawValue>) -> Option<InboundMedia> {
    let media: MediaFields<'_> = read(raw)?;
    Some(InboundMedia {
        id: id(&media.id),
        mime_type: text(&media.mime_type),
        sha256: text(&media.sha256),
        size: media.file_size.whole().and_then(|size| u64::try_from(size).ok()),
        caption: text(&media.caption),
        file_name: text(&media.filename),
        voice: media.voice.is_true(),
        animated: media.animated.is_true(),
        keys: None,
        file: None,
    })
}

fn location(raw: Option<&RawValue>) -> Option<Location> {
    let place: PlaceFields<'_> = read(raw)?;
    let degrees = |field: &Text<'_>| field.get()?.trim().parse::<f64>().ok();
    Some(Location {
        latitude: Latitude::new(degrees(&place.latitude)?)?,
        longitude: Longitude::new(degrees(&place.longitude)?)?,
        name: text(&place.name),
        address: text(&place.address),
    })
}

fn card(card: &CardFields<'_>) -> SharedContact {
    let phones = items::<CardPhone<'_>>(card.phones);
    let emails = items::<CardEmail<'_>>(card.emails);
    SharedContact {
        name: card.name.as_ref().and_then(|name| text(&name.formatted_name)),
        phones: phones.iter().filter_map(|phone| text(&phone.phone)).collect(),
        emails: emails.iter().filter_map(|email| text(&email.email)).collect(),
        organization: card.org.as_ref().and_then(|org| text(&org.company)),
    }
}

fn item(item: &ItemFields<'_>) -> OrderItem {
    OrderItem {
        product_retailer_id: text(&item.product_retailer_id),
        quantity: item.quantity.whole(),
        price: text(&item.item_price),
        currency: text(&item.currency),
    }
}

fn edit(raw: Option<&RawValue>) -> Option<InboundContent> {
    let edited: Edited<'_> = read(raw)?;
    let message_id = id(&edited.original_message_id).or_else(|| id(&edited.message_id))?;
    let now: Option<TypedBody<'_>> = read(edited.message);
    let text = now.as_ref().and_then(known).and_then(|content| match content {
        InboundContent::Text { body } => Some(body),
        other => other.media().and_then(|media| media.caption.clone()),
    });
    Some(InboundContent::Edit { message_id, text })
}

fn interactive(interactive: &InteractiveFields<'_>) -> Option<InboundContent> {
    let answer = |source, reply: &ReplyFields<'_>| InboundContent::Answer {
        source,
        id: text(&reply.id),
        title: text(&reply.title).unwrap_or_default(),
        description: text(&reply.description),
    };
    let flow = |reply: &FlowReply<'_>| InboundContent::Flow {
        name: text(&reply.name),
        body: text(&reply.body),
        response: reply
            .response_json
            .get()
            .map_or(serde_json::Value::Null, |json| bounded_raw(&bounded(json))),
    };
    let of = (&interactive.button_reply, &interactive.list_reply, &interactive.nfm_reply);
    match of {
        (Some(reply), _, _) => Some(answer(AnswerSource::Button, reply)),
        (None, Some(reply), _) => Some(answer(AnswerSource::List, reply)),
        (None, None, Some(reply)) => Some(flow(reply)),
        (None, None, None) => None,
    }
}
