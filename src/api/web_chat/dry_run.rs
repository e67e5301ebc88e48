//! The answer to a dry run.

use serde::Serialize;
use utoipa::ToSchema;

use super::file::File;
use crate::clock::Timestamp;
use crate::engine::{DryRunFile, WebDryRun};

/// The result of a dry run.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WebTried {
    /// Says that nothing was sent.
    #[schema(example = "Nothing was sent: this was a dry run")]
    message: &'static str,
    /// `true`.
    dry_run: bool,
    /// 1.
    #[schema(example = 1)]
    recipients_count: u32,
    /// The recipient.
    #[serde(rename = "remoteJid")]
    #[schema(example = "5511988887777@s.whatsapp.net")]
    remote_jid: String,
    /// The file that would be sent; null for a message without one.
    file: Option<File>,
    /// The seconds until the message's turn at the channel's pace.
    #[schema(example = 4)]
    estimated_seconds: u64,
    /// The time of the message's turn.
    #[schema(value_type = String, format = DateTime)]
    estimated_end: Timestamp,
    /// The fields of the request that had no effect: fields that this path does not know, or that the message's type
    /// does not use. The first ones of many; absent when there are none.
    #[schema(required = false, example = json!(["file_name"]))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<String>,
}

impl From<WebDryRun> for WebTried {
    fn from(WebDryRun { to, file, wait, at, ignored }: WebDryRun) -> Self {
        Self {
            message: "Nothing was sent: this was a dry run",
            dry_run: true,
            recipients_count: 1,
            remote_jid: to.as_str().to_owned(),
            file: file.map(File::from),
            estimated_seconds: wait.as_secs() + u64::from(wait.subsec_nanos() > 0),
            estimated_end: at,
            ignored,
        }
    }
}

impl From<DryRunFile> for File {
    fn from(DryRunFile { mime_type, length, file_name, seconds, is_voice_note }: DryRunFile) -> Self {
        Self::new(mime_type, length as u64, file_name, seconds, is_voice_note)
    }
}
