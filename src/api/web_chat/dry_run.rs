//! The answer to a message that was only tried.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::engine::{RehearsedFile, WebRehearsal};

/// What a message would be.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebTried)]
pub(in crate::api) struct Tried {
    /// That nothing was sent.
    #[schema(example = "Nothing was sent: this was a dry run")]
    message: &'static str,
    /// `true`.
    dry_run: bool,
    /// 1.
    #[schema(example = 1)]
    recipients_count: u32,
    /// Where it would go to.
    #[serde(rename = "remoteJid")]
    #[schema(example = "5511988887777@s.whatsapp.net")]
    remote_jid: String,
    /// The file that it would send; null of a text.
    file: Option<File>,
    /// How long its turn is away at the channel's pace, in seconds.
    #[schema(example = 4)]
    estimated_seconds: u64,
    /// When its turn is.
    #[schema(value_type = String, format = DateTime)]
    estimated_end: Timestamp,
}

/// A file that would be sent.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebTriedFile)]
pub(in crate::api) struct File {
    /// What it is, by its content.
    #[schema(example = "image/jpeg")]
    mimetype: &'static str,
    /// Its bytes, in digits.
    #[schema(example = "48231")]
    file_length: String,
    /// How long it plays, of videos and audio.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u32)]
    seconds: Option<u32>,
    /// Whether it would be shown as a voice message, of audio.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = bool)]
    ptt: Option<bool>,
    /// The name that the recipient of a document would see.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    file_name: Option<String>,
}

impl From<WebRehearsal> for Tried {
    fn from(WebRehearsal { to, file, wait, at }: WebRehearsal) -> Self {
        Self {
            message: "Nothing was sent: this was a dry run",
            dry_run: true,
            recipients_count: 1,
            remote_jid: to.as_str().to_owned(),
            file: file.map(File::from),
            estimated_seconds: wait.as_secs() + u64::from(wait.subsec_nanos() > 0),
            estimated_end: at,
        }
    }
}

impl From<RehearsedFile> for File {
    fn from(RehearsedFile { mime_type, length, file_name, seconds, is_voice_note }: RehearsedFile) -> Self {
        let seconds = if is_voice_note.is_some() { Some(seconds.unwrap_or_default()) } else { seconds };
        Self { mimetype: mime_type, file_length: length.to_string(), seconds, ptt: is_voice_note, file_name }
    }
}
