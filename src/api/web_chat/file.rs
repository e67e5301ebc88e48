//! A file of a message through a web session, sent or only looked at.

use std::borrow::Cow;

use serde::Serialize;
use utoipa::ToSchema;

/// A file.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebFile)]
pub(in crate::api) struct File {
    /// What it is, by its content.
    #[schema(value_type = String, example = "image/jpeg")]
    mimetype: Cow<'static, str>,
    /// Its bytes, in digits.
    #[schema(example = "48231")]
    file_length: String,
    /// How long it plays, of videos and audio.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u32)]
    seconds: Option<u32>,
    /// Whether it is shown as a voice message, of audio.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = bool)]
    ptt: Option<bool>,
    /// The name that the recipient of a document sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    file_name: Option<String>,
}

impl File {
    /// A file of this type and length; `is_voice_note` is said of audio, which always has a playing time.
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
