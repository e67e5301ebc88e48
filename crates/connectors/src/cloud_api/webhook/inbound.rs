//! Messages from people, echoes of what the company wrote in its own app, and the history of a number that was connected.
//!
//! A message that is of a known type and cannot be read as such is kept whole, like one of an unknown type.

use std::collections::HashMap;

use serde_json::value::RawValue;

use super::super::lenient::{Text, fields, phone_number, without_nul};
use super::content::{TypedBody, content};
use super::messages::{Contact, described, user_id};
use super::{Batch, seconds};
use crate::update::Update;
use domain::graph::hook::HookMessage;
use domain::inbound::{
    Direction, ID_BYTES, InboundBody, InboundContent, InboundMessage, MessageAuthor, MessageContext, Peer,
    Referral, ReferredProduct, bounded, bounded_raw,
};

/// The most bytes of a group's id.
const GROUP_BYTES: usize = 128;

fields! {
    Message {
        needs id;
        texts from, from_user_id, to, to_user_id, group_id, timestamp;
        objects context: ContextFields, referral: ReferralFields;
    }
    ContextFields {
        texts id, forwarded, frequently_forwarded;
        objects referred_product: ProductFields;
    }
    ProductFields { texts catalog_id, product_retailer_id; }
    ReferralFields { texts source_type, source_id, source_url, headline, body, ctwa_clid; }
    CallFields {
        needs id;
        texts from, from_user_id, event, direction, timestamp;
    }
    HistoryPart { raw threads; }
    ThreadFields {
        texts
            /// The person.
            id;
        raw messages;
    }
}

/// The text of a field, bounded.
pub(super) fn text(field: &Text<'_>) -> Option<String> {
    field.get().map(bounded)
}

/// A message from a person; `None` if it has no id or names nobody.
pub(super) fn message(raw: &RawValue, contacts: &HashMap<String, &str>, batch: &Batch) -> Option<Update> {
    let message: Message<'_> = serde_json::from_str(raw.get()).ok()?;
    let person = (&message.from, &message.from_user_id);
    inbound(&message, Direction::In, person, raw, contacts, batch, false)
}

/// What the company wrote in its own app, or with another program.
pub(super) fn echo(raw: &RawValue, contacts: &HashMap<String, &str>, batch: &Batch) -> Option<Update> {
    let message: Message<'_> = serde_json::from_str(raw.get()).ok()?;
    let person = (&message.to, &message.to_user_id);
    inbound(&message, Direction::Echo, person, raw, contacts, batch, false)
}

/// A call of a person, which opens the window like a message.
pub(super) fn call(raw: &RawValue, contacts: &HashMap<String, &str>, batch: &Batch) -> Option<Update> {
    let call: CallFields<'_> = serde_json::from_str(raw.get()).ok()?;
    let event = call.event.get().unwrap_or("connect");
    if event != "connect" || call.direction.get() == Some("BUSINESS_INITIATED") {
        return Some(Update::Other { field: "calls".to_owned() });
    }
    Some(Update::Inbound(Box::new(InboundMessage {
        id: id(&call.id)?,
        direction: Direction::In,
        peer: peer((&call.from, &call.from_user_id), contacts)?,
        at: seconds(&call.timestamp).unwrap_or(batch.at),
        is_past: false,
        by_admin: false,
        body: InboundBody::of(InboundContent::Call { event: bounded(event) }),
    })))
}

/// The messages of a part of a history.
pub(super) fn history(raw: &RawValue, batch: &mut Batch) -> Option<()> {
    let history: HistoryPart<'_> = serde_json::from_str(raw.get()).ok()?;
    for thread in batch.items(history.threads, "history.threads") {
        let Ok(thread) = serde_json::from_str::<ThreadFields<'_>>(thread.get()) else {
            batch.note_unreadable("history.threads");
            continue;
        };
        let person = thread.id.get().map(without_nul);
        for raw in batch.items(thread.messages, "history.messages") {
            match past(raw, person.as_deref(), batch) {
                Some(update) => batch.note(update)?,
                None => batch.note_unreadable("history.messages"),
            }
        }
    }
    Some(())
}

/// A message of a history. Who wrote it follows from whose thread it is.
fn past(raw: &RawValue, person: Option<&str>, batch: &Batch) -> Option<Update> {
    let message: Message<'_> = serde_json::from_str(raw.get()).ok()?;
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let is_from_person = match (message.from.get(), person) {
        (Some(from), Some(person)) => digits(from) == digits(person),
        _ => message.to.get().is_none(),
    };
    let none = HashMap::new();
    if is_from_person {
        let names = (&message.from, &message.from_user_id);
        return inbound(&message, Direction::In, names, raw, &none, batch, true);
    }
    let named = (&message.to, &message.to_user_id);
    if message.to.get().is_some() || message.to_user_id.get().is_some() {
        return inbound(&message, Direction::Echo, named, raw, &none, batch, true);
    }
    let json = serde_json::to_string(person?).ok()?;
    let to: Text<'_> = serde_json::from_str(&json).ok()?;
    inbound(&message, Direction::Echo, (&to, &message.to_user_id), raw, &none, batch, true)
}

fn inbound(
    message: &Message<'_>,
    direction: Direction,
    person: (&Text<'_>, &Text<'_>),
    raw: &RawValue,
    contacts: &HashMap<String, &str>,
    batch: &Batch,
    is_past: bool,
) -> Option<Update> {
    let (mut peer, mut author) = (peer(person, contacts), None);
    if let Some(group) = message.group_id.get().filter(|group| group.len() <= GROUP_BYTES) {
        let writer = peer.take().unwrap_or_default();
        author = Some(MessageAuthor {
            number: writer.number.map(|number| format!("+{number}")),
            user_id: writer.user_id,
            name: writer.name,
        });
        peer = Some(Peer { group: Some(without_nul(group)), ..Peer::default() });
    }
    let body = serde_json::from_str::<TypedBody<'_>>(raw.get()).ok();
    let content = body.as_ref().map_or_else(
        || InboundContent::Unsupported { kind: None, reason: None, raw: bounded_raw(raw.get()) },
        |body| content(body, raw.get()),
    );
    let mut body = InboundBody {
        content,
        context: message.context.as_ref().and_then(context),
        referral: message.referral.as_ref().map(referral),
        author,
        beyond: None,
    };
    let (id, peer) = (id(&message.id)?, peer?);
    let at = seconds(&message.timestamp).unwrap_or(batch.at);
    if !is_past {
        // The names of people are told as they come: an id where there is no number.
        let (from, to) = (message.from.get(), message.to.get());
        let made = HookMessage {
            id: &id,
            from,
            from_user_id: message.from_user_id.get().filter(|_| from.is_none()),
            to,
            to_user_id: message.to_user_id.get().filter(|_| to.is_none()),
            group: message.group_id.get(),
            at,
            body: &body,
        };
        body.beyond = made.beyond(raw.get());
    }
    let message = InboundMessage { id, direction, peer, at, is_past, by_admin: false, body };
    Some(Update::Inbound(Box::new(message)))
}

fn id(text: &Text<'_>) -> Option<String> {
    text.get().filter(|id| id.len() <= ID_BYTES).map(without_nul)
}

/// The person with this number and this id; `None` without either.
fn peer((number, user): (&Text<'_>, &Text<'_>), contacts: &HashMap<String, &str>) -> Option<Peer> {
    let names = [number.get(), user.get()];
    let contact: Option<Contact<'_>> =
        described(names.into_iter().flatten().find_map(|name| contacts.get(name)).copied());
    let contact = contact.as_ref();
    let peer = Peer {
        number: phone_number(number).or_else(|| phone_number(&contact?.wa_id)),
        user_id: user_id(user).or_else(|| user_id(&contact?.user_id)),
        name: contact.and_then(Contact::name).and_then(Peer::name_of),
        group: None,
    };
    (!peer.is_nobody()).then_some(peer)
}

fn context(context: &ContextFields<'_>) -> Option<MessageContext> {
    let product = context.referred_product.as_ref().map(|product| ReferredProduct {
        catalog_id: text(&product.catalog_id),
        product_retailer_id: text(&product.product_retailer_id),
    });
    let context = MessageContext {
        message_id: id(&context.id),
        forwarded: context.forwarded.is_true() || context.frequently_forwarded.is_true(),
        frequently_forwarded: context.frequently_forwarded.is_true(),
        product,
    };
    (context != MessageContext::default()).then_some(context)
}

fn referral(fields: &ReferralFields<'_>) -> Referral {
    Referral {
        source_type: text(&fields.source_type),
        source_id: text(&fields.source_id),
        source_url: text(&fields.source_url),
        headline: text(&fields.headline),
        body: text(&fields.body),
        click_id: text(&fields.ctwa_clid),
    }
}
