//! Messages through a web session that are only tried: what a message would be, and whether it would go.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::stranger;
use crate::clock::Timestamp;
use crate::connector::media::{Kind, Media};
use crate::connector::web_session::Jid;
use crate::domain::channel::Channel;
use crate::domain::request::{WebRecipient, WebRequest};
use crate::engine::channel::Admit;
use crate::engine::nodes::RehearseWeb;
use crate::engine::web_session::{link, seconds};
use crate::engine::{Engine, Error};

/// What a message through a web session would be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebRehearsal {
    /// Where it would go to.
    pub to: Jid,
    /// The file that it would send.
    pub file: Option<RehearsedFile>,
    /// How long its turn is away.
    pub wait: Duration,
    /// When its turn is.
    pub at: Timestamp,
}

/// A file as it would be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RehearsedFile {
    /// By its content.
    pub mime_type: String,
    /// In bytes.
    pub length: usize,
    /// Of a document: the name that its recipient would see.
    pub file_name: Option<String>,
    /// Of an audio or a video, where the file tells: how long it plays, in seconds.
    pub seconds: Option<u32>,
    /// Of an audio: whether it would be played as a voice message.
    pub is_voice_note: Option<bool>,
}

impl Engine {
    /// Everything that [`Engine::send_web`] does before it writes, the same refusals in the same order; nothing is sent,
    /// and nothing is taken of what the channel may send.
    ///
    /// # Errors
    ///
    /// As there. A message that would wait longer than its caller for another one to the same recipient is
    /// [`Error::TooSoon`] at once.
    pub async fn rehearse_web(
        &self,
        channel: &Arc<Channel>,
        request: WebRequest,
    ) -> Result<WebRehearsal, Error> {
        self.check_running()?;
        let asked = RehearseWeb { request };
        if let Some(rehearsal) = self.ask_owner(channel, &asked).await? {
            return Ok(rehearsal);
        }
        let WebRequest { recipient, content } = asked.request;
        let session = self.session(channel)?;
        let known = self.known(channel, &recipient).await?;
        let stranger = stranger(&recipient, known.as_ref());
        let tried = match &recipient {
            WebRecipient::Number(number) => Some(*number),
            WebRecipient::Group(_) => None,
        };
        let admit = Admit { stranger, patience: self.0.web_sessions.patience(), tried };
        // Its place is given back here, so that messages that are meant do not wait for it.
        let wait = self.admit_web(channel, admit).await?.wait;
        let kind = link(&content).map(|(_, kind)| kind);
        let file = self.file(channel, &content).await?;
        let file = kind.zip(file).map(|(kind, file)| RehearsedFile::new(kind, &file));
        let to = self.address(channel, &session, &recipient, known.as_ref()).await?;
        Ok(WebRehearsal { to, file, wait, at: Timestamp::now().plus(wait) })
    }
}

impl RehearsedFile {
    fn new(kind: Kind, file: &Media) -> Self {
        Self {
            mime_type: file.mime_type.to_owned(),
            length: file.bytes.len(),
            file_name: file.file_name.clone(),
            seconds: file.duration.map(seconds),
            is_voice_note: (kind == Kind::Audio).then_some(file.is_voice_note),
        }
    }
}
