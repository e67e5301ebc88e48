//! A file of a message through a web session, sent or only checked.

use std::borrow::Cow;

use serde::Serialize;
use utoipa::ToSchema;

/// A file.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebFile)]
pub(crate) struct File {
    /// The type, determined from the content.
    #[schema(value_type = String, example = "image/jpeg")]
    mimetype: Cow<'static, str>,
    /// The size in bytes, as digits.
    #[schema(example = "48231")]
    file_length: String,
    /// The playing time of videos and audio, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u32)]
    seconds: Option<u32>,
    /// Whether audio is shown as a voice message.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = bool)]
    ptt: Option<bool>,
    /// The name that the recipient of a document sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    file_name: Option<String>,
}

impl File {
    /// A file of this type and length. Audio has `is_voice_note`, and always a playing time.
    pub(super) fn new(
        mimetype: impl Into<Cow<'static, str>>,
        length: u64,
        file_name: Option<String>,
        seconds: Option<u32>,
        is_voice_note: Option<bool>,
    ) -> Self {
        let seconds = if is_voice_note.is_some() { Some(seconds.unwrap_or_default()) } else { seconds };
        let (mimetype, file_length) = (mimetype.into(), length.to_string());
        Self { mimetype, file_length, seconds, ptt: is_voice_note, file_name }
    }
}
