//! Converts contents to the library's messages.

use whatsapp_rust::buffa::MessageField;
use whatsapp_rust::media::{self, AudioOptions, DocumentOptions, ImageOptions, VideoOptions};
use whatsapp_rust::upload::UploadResponse;
use whatsapp_rust::wacore::download::MediaType;
use whatsapp_rust::waproto::whatsapp as protocol;

use driver::{BuiltMedia, Media, MediaKind};

/// A text as WhatsApp Web sends it.
pub(super) fn text(text: String) -> protocol::Message {
    let text = protocol::message::ExtendedTextMessage { text: Some(text), ..Default::default() };
    protocol::Message { extended_text_message: MessageField::some(text), ..Default::default() }
}

/// The library's type for files of this kind.
pub(super) const fn media_type(kind: MediaKind) -> MediaType {
    match kind {
        MediaKind::Image => MediaType::Image,
        MediaKind::Video => MediaType::Video,
        MediaKind::Audio { .. } => MediaType::Audio,
        MediaKind::Document => MediaType::Document,
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
    };
    (message, built)
}
