//! Dry runs of messages through a web session: what a message would be, and whether it would go.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{DryRunWeb, stranger, unheard_voice};
use crate::Error;
use crate::accept::automatic::check_opted_out;
use crate::accept::web_send::WebSends;
use crate::channel::Admit;
use crate::handover::{file_name, is_voice, link, seconds};
use clock::Timestamp;
use connectors::media::{Kind, Media};
use domain::channel::Channel;
use domain::content::Content;
use domain::request::{WebRecipient, WebRequest};
use driver::Jid;

/// The result of a dry run: what the message would be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebDryRun {
    /// The address that it would go to.
    pub to: Jid,
    /// The file that it would send.
    pub file: Option<DryRunFile>,
    /// How long until its turn.
    pub wait: Duration,
    /// When its turn would be.
    pub at: Timestamp,
    /// The fields of the request that would have no effect.
    #[serde(default)]
    pub ignored: Vec<String>,
}

/// A file, as it would be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DryRunFile {
    /// The type, by its content.
    pub mime_type: String,
    /// The length in bytes.
    pub length: usize,
    /// For a document: the name that the recipient would see.
    pub file_name: Option<String>,
    /// For an audio or a video whose file gives it: the duration in seconds.
    pub seconds: Option<u32>,
    /// For an audio: whether it would be played as a voice message.
    pub is_voice_note: Option<bool>,
}

impl WebSends<'_> {
    /// Does the checks of [`WebSends::send`], with the same refusals in the same order. Nothing is sent, and nothing
    /// counts against the channel's limits.
    ///
    /// # Errors
    ///
    /// As [`WebSends::send`]. A message that would wait longer than its caller's patience, because of another one to
    /// the same recipient, is [`Error::TooSoon`] at once.
    pub async fn dry_run(&self, channel: &Arc<Channel>, request: WebRequest) -> Result<WebDryRun, Error> {
        self.engine.check_running()?;
        check_opted_out(&self.engine.0.shared, channel, &request.recipient)?;
        let asked = DryRunWeb { request: self.filled(channel, request).await? };
        if let Some(dry_run) = self.engine.owners().ask(channel, &asked).await? {
            return Ok(dry_run);
        }
        let WebRequest { recipient, content, quotes: _, label: _, values: _, mut ignored } = asked.request;
        let session = self.session(channel)?;
        let known = self.known(channel, &recipient).await?;
        let stranger = stranger(&recipient, known.as_ref());
        let tried = match &recipient {
            WebRecipient::Number(number) => Some(*number),
            WebRecipient::Group(_) => None,
        };
        let admit = Admit { stranger, patience: self.engine.0.web_sessions.patience(), tried };
        // The admission is given back here, so that real messages do not wait for it.
        let wait = self.admit_web(channel, admit).await?.wait;
        let kind = link(&content).map(|(_, kind)| kind);
        let file = self.file(channel, &content).await?;
        ignored.extend(unheard_voice(&content, file.as_ref()));
        let file = kind.zip(file).map(|(kind, file)| DryRunFile::new(kind, &file, &content));
        let to = self.address(channel, &session, &recipient, known.as_ref()).await?;
        Ok(WebDryRun { to, file, wait, at: Timestamp::now().plus(wait), ignored })
    }
}

impl DryRunFile {
    pub(in crate::accept) fn new(kind: Kind, file: &Media, content: &Content) -> Self {
        Self {
            mime_type: file.details.mime_type.to_owned(),
            length: file.bytes.len(),
            file_name: file_name(content, file.file_name.clone()),
            seconds: file.details.duration.map(seconds),
            is_voice_note: (kind == Kind::Audio).then_some(is_voice(content, file.is_voice_note)),
        }
    }
}
