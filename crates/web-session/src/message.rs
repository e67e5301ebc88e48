//! Converts contents to the library's messages.

use whatsapp_rust::buffa::MessageField;
use whatsapp_rust::media::{self, AudioOptions, DocumentOptions, ImageOptions, VideoOptions};
use whatsapp_rust::upload::UploadResponse;
use whatsapp_rust::wacore::download::MediaType;
use whatsapp_rust::wacore::proto_helpers::{MessageExt as _, build_quote_context};
use whatsapp_rust::waproto::whatsapp as protocol;

use clock::Timestamp;
use domain::location::Location;
use driver::{BuiltMedia, Card, Media, MediaKind, Quoted, ReactionTo};

/// A text as WhatsApp Web sends it.
pub(super) fn text(text: String) -> protocol::Message {
    let text = protocol::message::ExtendedTextMessage { text: Some(text), ..Default::default() };
    protocol::Message { extended_text_message: MessageField::some(text), ..Default::default() }
}

/// A place on the map.
pub(super) fn location(location: &Location) -> protocol::Message {
    let Location { latitude, longitude, name, address } = location;
    let location = protocol::message::LocationMessage {
        degrees_latitude: Some(latitude.degrees()),
        degrees_longitude: Some(longitude.degrees()),
        name: name.clone(),
        address: address.clone(),
        ..Default::default()
    };
    protocol::Message { location_message: MessageField::some(location), ..Default::default() }
}

/// One card, or several in one message.
pub(super) fn contacts(cards: &[Card]) -> protocol::Message {
    let card = |Card { name, vcard }: &Card| protocol::message::ContactMessage {
        display_name: Some(name.clone()),
        vcard: Some(vcard.clone()),
        ..Default::default()
    };
    if let [one] = cards {
        return protocol::Message { contact_message: MessageField::some(card(one)), ..Default::default() };
    }
    let all = protocol::message::ContactsArrayMessage {
        display_name: Some(Card::names(cards)),
        contacts: cards.iter().map(card).collect(),
        ..Default::default()
    };
    protocol::Message { contacts_array_message: MessageField::some(all), ..Default::default() }
}

/// An emoji below a message.
pub(super) fn reaction(reaction: &ReactionTo) -> protocol::Message {
    let ReactionTo { chat, message, is_own, author, emoji } = reaction;
    let key = protocol::MessageKey {
        remote_jid: Some(chat.as_str().to_owned()),
        from_me: Some(*is_own),
        id: Some(message.as_str().to_owned()),
        participant: author.as_ref().map(|author| author.as_str().to_owned()),
    };
    let reaction = protocol::message::ReactionMessage {
        key: MessageField::some(key),
        text: Some(emoji.clone()),
        sender_timestamp_ms: Some(Timestamp::now().millis()),
        ..Default::default()
    };
    protocol::Message { reaction_message: MessageField::some(reaction), ..Default::default() }
}

/// Shows a message above another one that answers it. `own` is the address of the session's account.
pub(super) fn quote(message: &mut protocol::Message, quoted: Quoted, own: String) {
    let Quoted { message: id, author, line } = quoted;
    let author = author.map_or(own, |author| author.as_str().to_owned());
    // WhatsApp's apps show what the answer says of the message: its words alone are known here.
    let shown = protocol::Message { conversation: Some(line), ..Default::default() };
    // A content that cannot quote, such as a reaction, stays as it is.
    message.set_context_info(build_quote_context(id.as_str(), author, &shown));
}

/// The library's type for files of this kind.
pub(super) const fn media_type(kind: MediaKind) -> MediaType {
    match kind {
        MediaKind::Image => MediaType::Image,
        MediaKind::Video => MediaType::Video,
        MediaKind::Audio { .. } => MediaType::Audio,
        MediaKind::Document => MediaType::Document,
        MediaKind::Sticker { .. } => MediaType::Sticker,
    }
}

/// The message with an uploaded file, and its description. The bytes of the file are not used.
pub(super) fn media(media: Media, upload: UploadResponse) -> (protocol::Message, BuiltMedia) {
    let Media { kind, bytes: _, mimetype, file_name, caption, seconds, jpeg_thumbnail } = media;
    let mut built = BuiltMedia {
        kind,
        url: upload.url.clone(),
        mimetype: mimetype.clone(),
        file_length: upload.file_length,
        file_name: None,
        caption: caption.clone(),
        seconds: None,
    };
    let mimetype = Some(mimetype);
    let message = match kind {
        MediaKind::Image => {
            let options = ImageOptions { caption, mimetype, jpeg_thumbnail, context_info: None };
            media::image_message(upload, options)
        }
        MediaKind::Video => {
            built.seconds = seconds;
            let duration_seconds = seconds;
            let options =
                VideoOptions { caption, mimetype, jpeg_thumbnail, duration_seconds, ..Default::default() };
            media::video_message(upload, options)
        }
        MediaKind::Audio { is_voice } => {
            built.caption = None;
            built.seconds = seconds;
            let options = AudioOptions {
                mimetype,
                duration_seconds: seconds,
                ptt: Some(is_voice),
                waveform: None,
                context_info: None,
            };
            media::audio_message(upload, options)
        }
        MediaKind::Document => {
            built.file_name.clone_from(&file_name);
            let title = file_name.clone();
            let options =
                DocumentOptions { mimetype, file_name, title, caption, jpeg_thumbnail, ..Default::default() };
            media::document_message(upload, options)
        }
        MediaKind::Sticker { is_animated } => {
            built.caption = None;
            sticker(upload, mimetype, is_animated)
        }
    };
    (message, built)
}

/// The library has no function for stickers, because they are no files of their own kind to WhatsApp's servers.
fn sticker(upload: UploadResponse, mimetype: Option<String>, is_animated: bool) -> protocol::Message {
    let sticker = protocol::message::StickerMessage {
        url: Some(upload.url),
        direct_path: Some(upload.direct_path),
        media_key: Some(upload.media_key.to_vec()),
        file_sha256: Some(upload.file_sha256.to_vec()),
        file_enc_sha256: Some(upload.file_enc_sha256.to_vec()),
        file_length: Some(upload.file_length),
        media_key_timestamp: Some(upload.media_key_timestamp),
        mimetype,
        is_animated: Some(is_animated),
        ..Default::default()
    };
    protocol::Message { sticker_message: MessageField::some(sticker), ..Default::default() }
}
