//! What people write to a session, and what the company writes on its phone: read, and handed over before WhatsApp is told
//! that the device has it. What is not handed over comes again.

use std::sync::Arc;

use whatsapp_rust::buffa::MessageField;
use whatsapp_rust::wacore::proto_helpers::MessageExt as _;
use whatsapp_rust::wacore::types::events::InboundMessage as LibraryMessage;
use whatsapp_rust::wacore::types::message::EditAttribute;
use whatsapp_rust::waproto::whatsapp as protocol;
use whatsapp_rust::waproto::whatsapp::message::protocol_message::Type as ProtocolType;
use whatsapp_rust::{Client, InboundDurabilityHook, anyhow};

use super::backend::Numbers;
use super::events::own;
use clock::Timestamp;
use domain::inbound::{
    AnswerSource, Direction, ID_BYTES, InboundBody, InboundContent, InboundMedia, InboundMessage, MediaKeys,
    MessageAuthor, MessageContext, Peer, Referral, SharedContact, base64_of, bounded, bounded_raw,
};
use domain::location::{Latitude, Location, Longitude};
use driver::{Inbox, Jid};

/// From this many forwards on, WhatsApp shows that a message was forwarded many times.
const MANY_FORWARDS: u32 = 5;
/// The most cards of a message that are read.
const MOST_CARDS: usize = 100;

/// Hands messages over before they are acknowledged.
pub(super) struct Hook {
    pub(super) inbox: Arc<dyn Inbox>,
    pub(super) numbers: Numbers,
}

#[async_trait::async_trait]
impl InboundDurabilityHook for Hook {
    async fn on_messages(&self, _: Arc<Client>, batch: &[LibraryMessage]) -> anyhow::Result<()> {
        let mut messages = Vec::with_capacity(batch.len());
        for message in batch {
            let Some((mut read, hidden)) = message_of(message) else { continue };
            if let Some(lid) = hidden
                && let Some(number) = self.numbers.behind(&lid).await
            {
                read.peer.number = Some(number);
            }
            messages.push(read);
        }
        if messages.is_empty() {
            return Ok(());
        }
        self.inbox.take(messages).await.map_err(anyhow::Error::new)
    }
}

/// The message, and the address of its person if that hides a number which is still to be found; `None` for one that is of no
/// concern to a person: keys, changes of settings, messages to everyone.
fn message_of(message: &LibraryMessage) -> Option<(InboundMessage, Option<Jid>)> {
    let (source, info) = (&message.info.source, &message.info);
    let chat = own(&source.chat)?;
    let direction = if source.is_from_me { Direction::Echo } else { Direction::In };
    let content = content(message.message.get_base_message())?;
    let sender = own(&source.sender);
    let other = source.sender_alt.as_ref().and_then(own);
    let (mut peer, mut author, mut hidden) = (Peer::default(), None, None);
    if chat.is_group() {
        peer.group = chat.as_str().split('@').next().map(str::to_owned);
        let number = sender.iter().chain(&other).find_map(Jid::number);
        author = (direction == Direction::In).then(|| MessageAuthor {
            number: number.map(|number| format!("+{number}")),
            user_id: sender.iter().chain(&other).find(|jid| jid.number().is_none()).map(Jid::to_string),
            name: Peer::name_of(&info.push_name),
        });
    } else {
        let person = if source.is_from_me { Some(chat) } else { sender };
        let other = if source.is_from_me { source.recipient_alt.as_ref().and_then(own) } else { other };
        let both = || person.iter().chain(&other).filter(|jid| !jid.is_group());
        peer.number = both().find_map(Jid::number);
        peer.user_id = both().find(|jid| jid.number().is_none()).map(Jid::to_string);
        hidden = both().find(|jid| jid.number().is_none()).filter(|_| peer.number.is_none()).cloned();
        peer.name = Peer::name_of(&info.push_name).filter(|_| direction == Direction::In);
    }
    if peer.is_nobody() || info.id.is_empty() || info.id.len() > ID_BYTES {
        return None;
    }
    let by_admin = peer.group.is_some() && info.edit == EditAttribute::AdminRevoke;
    let context = context_info(message.message.get_base_message());
    let read = InboundMessage {
        id: info.id.replace('\0', ""),
        direction,
        peer,
        at: Timestamp::from_millis(info.timestamp.timestamp_millis()),
        is_past: false,
        by_admin,
        body: InboundBody {
            content,
            context: context.and_then(context_of),
            referral: context.and_then(referral_of),
            author,
            beyond: None,
        },
    };
    Some((read, hidden))
}

/// The file of a message of one of the library's types, which have the same fields.
macro_rules! media {
    ($message:expr) => {
        InboundMedia {
            mime_type: $message.mimetype.as_deref().map(bounded),
            sha256: $message.file_sha256.as_deref().map(base64_of),
            size: $message.file_length,
            keys: keys(
                $message.direct_path.as_deref(),
                $message.media_key.as_deref(),
                $message.file_enc_sha256.as_deref(),
            ),
            ..InboundMedia::default()
        }
    };
}

fn keys(path: Option<&str>, key: Option<&[u8]>, sealed: Option<&[u8]>) -> Option<MediaKeys> {
    // The sender wrote it, and the library puts it behind the name of WhatsApp's host as it is: anything but a path would lead
    // to another host, with the session's token.
    let path = path.filter(|path| path.starts_with('/'))?;
    let (direct_path, media_key) = (bounded(path), base64_of(key?));
    Some(MediaKeys { direct_path, media_key, sealed_sha256: base64_of(sealed?) })
}

fn text(text: Option<&str>) -> Option<String> {
    text.filter(|text| !text.is_empty()).map(bounded)
}

fn content(message: &protocol::Message) -> Option<InboundContent> {
    if let Some(text) = message.text_content() {
        return Some(InboundContent::Text { body: bounded(text) });
    }
    if let Some(image) = message.image_message.as_option() {
        let media = InboundMedia { caption: text(image.caption.as_deref()), ..media!(image) };
        return Some(InboundContent::Image { media });
    }
    if let Some(video) = message.video_message.as_option().or_else(|| message.ptv_message.as_option()) {
        let animated = video.gif_playback.unwrap_or_default();
        let media = InboundMedia { caption: text(video.caption.as_deref()), animated, ..media!(video) };
        return Some(InboundContent::Video { media });
    }
    if let Some(audio) = message.audio_message.as_option() {
        let media = InboundMedia { voice: audio.ptt.unwrap_or_default(), ..media!(audio) };
        return Some(InboundContent::Audio { media });
    }
    if let Some(document) = message.document_message.as_option() {
        let caption = text(document.caption.as_deref());
        let file_name = text(document.file_name.as_deref().or(document.title.as_deref()));
        return Some(InboundContent::Document {
            media: InboundMedia { caption, file_name, ..media!(document) },
        });
    }
    if let Some(sticker) = message.sticker_message.as_option() {
        let animated = sticker.is_animated.unwrap_or_default();
        return Some(InboundContent::Sticker { media: InboundMedia { animated, ..media!(sticker) } });
    }
    if let Some(reaction) = message.reaction_message.as_option() {
        let message_id = named(reaction.key.as_option())?;
        return Some(InboundContent::Reaction { message_id, emoji: text(reaction.text.as_deref()) });
    }
    if let Some(change) = message.protocol_message.as_option() {
        let message_id = named(change.key.as_option());
        return match change.r#type {
            Some(ProtocolType::REVOKE) => Some(InboundContent::Deletion { message_id: message_id? }),
            Some(ProtocolType::MESSAGE_EDIT) => {
                let now = change.edited_message.as_option()?;
                let now = now.text_content().or_else(|| now.get_caption());
                Some(InboundContent::Edit { message_id: message_id?, text: text(now) })
            }
            // Settings of the device.
            _ => None,
        };
    }
    place(message)
        .or_else(|| cards(message))
        .or_else(|| answer(message))
        .or_else(|| order(message))
        .or_else(|| unsupported(message))
}

fn place(message: &protocol::Message) -> Option<InboundContent> {
    let place = |latitude: Option<f64>, longitude: Option<f64>, name, address| {
        let (latitude, longitude) = (Latitude::new(latitude?)?, Longitude::new(longitude?)?);
        Some(InboundContent::Location { location: Location { latitude, longitude, name, address } })
    };
    if let Some(of) = message.location_message.as_option() {
        let (name, address) = (text(of.name.as_deref()), text(of.address.as_deref()));
        return place(of.degrees_latitude, of.degrees_longitude, name, address);
    }
    let live = message.live_location_message.as_option()?;
    place(live.degrees_latitude, live.degrees_longitude, text(live.caption.as_deref()), None)
}

fn cards(message: &protocol::Message) -> Option<InboundContent> {
    let one = message.contact_message.as_option().map(card);
    let all = || {
        let all = message.contacts_array_message.as_option()?;
        Some(all.contacts.iter().take(MOST_CARDS).map(card).collect::<Vec<_>>())
    };
    let contacts = one.map(|one| vec![one]).or_else(all)?;
    Some(InboundContent::Contacts { contacts })
}

/// The card: of the vCard, the lines with numbers and addresses.
fn card(of: &protocol::message::ContactMessage) -> SharedContact {
    let mut card = SharedContact { name: text(of.display_name.as_deref()), ..SharedContact::default() };
    for line in of.vcard.as_deref().unwrap_or_default().lines().take(MOST_CARDS) {
        let Some((name, value)) = line.trim().split_once(':') else { continue };
        // Properties may have a group before their name, and parameters after it.
        let property = name.split(';').next().unwrap_or_default();
        match property.rsplit('.').next().unwrap_or_default().to_ascii_uppercase().as_str() {
            "TEL" => card.phones.extend(text(Some(value))),
            "EMAIL" => card.emails.extend(text(Some(value))),
            "ORG" => card.organization = text(Some(value.trim_end_matches(';'))),
            _ => {}
        }
    }
    card
}

fn answer(message: &protocol::Message) -> Option<InboundContent> {
    let answer = |source, id: Option<&str>, title: Option<String>, description: Option<&str>| {
        let (id, description) = (text(id), text(description));
        Some(InboundContent::Answer { source, id, title: title.unwrap_or_default(), description })
    };
    if let Some(of) = message.template_button_reply_message.as_option() {
        let title = text(of.selected_display_text.as_deref());
        return answer(AnswerSource::Template, of.selected_id.as_deref(), title, None);
    }
    if let Some(of) = message.buttons_response_message.as_option() {
        let title = found(of, &["selecteddisplaytext"]);
        return answer(AnswerSource::Button, of.selected_button_id.as_deref(), title, None);
    }
    if let Some(of) = message.list_response_message.as_option() {
        let row = of.single_select_reply.as_option().and_then(|row| row.selected_row_id.as_deref());
        let title = text(of.title.as_deref());
        return answer(AnswerSource::List, row, title, of.description.as_deref());
    }
    let of = message.interactive_response_message.as_option()?;
    let body = of.body.as_option().and_then(|body| text(body.text.as_deref()));
    let (name, response) = (found(of, &["name"]), found(of, &["paramsjson"]).unwrap_or_default());
    Some(InboundContent::Flow { name, body, response: bounded_raw(&response) })
}

/// The first text under one of these keys in a value of the library, however deep; keys are compared without case and
/// underscores.
fn found(value: &impl serde::Serialize, keys: &[&str]) -> Option<String> {
    fn look(value: &serde_json::Value, keys: &[&str]) -> Option<String> {
        match value {
            serde_json::Value::Object(fields) => {
                let is_asked = |key: &str| keys.contains(&key.replace('_', "").to_ascii_lowercase().as_str());
                let own =
                    fields.iter().filter(|(key, _)| is_asked(key)).find_map(|(_, value)| value.as_str());
                own.map(bounded).or_else(|| fields.values().find_map(|value| look(value, keys)))
            }
            serde_json::Value::Array(values) => values.iter().find_map(|value| look(value, keys)),
            _ => None,
        }
    }
    look(&serde_json::to_value(value).ok()?, keys)
}

fn order(message: &protocol::Message) -> Option<InboundContent> {
    let order = message.order_message.as_option()?;
    // A session learns how many items there are, and the catalogue has which.
    Some(InboundContent::Order { catalog_id: None, text: text(order.message.as_deref()), items: Vec::new() })
}

/// Something that this version does not know; `None` when nothing but keys is left.
fn unsupported(message: &protocol::Message) -> Option<InboundContent> {
    let rest = protocol::Message {
        sender_key_distribution_message: MessageField::default(),
        fast_ratchet_key_sender_key_distribution_message: MessageField::default(),
        message_context_info: MessageField::default(),
        ..message.clone()
    };
    if rest == protocol::Message::default() {
        return None;
    }
    let raw = serde_json::to_string(&rest).unwrap_or_default();
    Some(InboundContent::Unsupported { kind: None, reason: None, raw: bounded_raw(&raw) })
}

fn named(key: Option<&protocol::MessageKey>) -> Option<String> {
    key?.id.as_deref().filter(|id| id.len() <= ID_BYTES).and_then(|id| text(Some(id)))
}

fn context_info(message: &protocol::Message) -> Option<&protocol::ContextInfo> {
    let of_text = message.extended_text_message.as_option().and_then(|of| of.context_info.as_option());
    let of_image = || message.image_message.as_option().and_then(|of| of.context_info.as_option());
    let of_video = || message.video_message.as_option().and_then(|of| of.context_info.as_option());
    let of_audio = || message.audio_message.as_option().and_then(|of| of.context_info.as_option());
    let of_file = || message.document_message.as_option().and_then(|of| of.context_info.as_option());
    let of_sticker = || message.sticker_message.as_option().and_then(|of| of.context_info.as_option());
    let of_place = || message.location_message.as_option().and_then(|of| of.context_info.as_option());
    let of_card = || message.contact_message.as_option().and_then(|of| of.context_info.as_option());
    let of_list = || message.list_response_message.as_option().and_then(|of| of.context_info.as_option());
    let of_button =
        || message.buttons_response_message.as_option().and_then(|of| of.context_info.as_option());
    let of_file = of_text.or_else(of_image).or_else(of_video).or_else(of_audio).or_else(of_file);
    of_file.or_else(of_sticker).or_else(of_place).or_else(of_card).or_else(of_list).or_else(of_button)
}

fn context_of(info: &protocol::ContextInfo) -> Option<MessageContext> {
    let score = info.forwarding_score.unwrap_or_default();
    let context = MessageContext {
        message_id: info.stanza_id.as_deref().filter(|id| id.len() <= ID_BYTES).and_then(|id| text(Some(id))),
        forwarded: info.is_forwarded.unwrap_or_default() || score > 0,
        frequently_forwarded: score >= MANY_FORWARDS,
        product: None,
    };
    (context != MessageContext::default()).then_some(context)
}

fn referral_of(info: &protocol::ContextInfo) -> Option<Referral> {
    let ad = info.external_ad_reply.as_option().filter(|ad| ad.source_id.is_some())?;
    Some(Referral {
        source_type: text(ad.source_type.as_deref()),
        source_id: text(ad.source_id.as_deref()),
        source_url: text(ad.source_url.as_deref()),
        headline: text(ad.title.as_deref()),
        body: text(ad.body.as_deref()),
        click_id: text(ad.ctwa_clid.as_deref()),
    })
}

#[cfg(test)]
mod tests;
