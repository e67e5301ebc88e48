//! What the other side of a conversation sees besides messages: that theirs were read, and that somebody types an answer.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Conversations;
use crate::accept::web_send::reconnecting;
use crate::asking::{Question, Within};
use crate::channel::MarkRead;
use crate::handover::author_address;
use crate::{Engine, Error, RETRY_AFTER};
use clock::Timestamp;
use connectors::Disposition;
use domain::channel::{Channel, Kind};
use domain::error::{Code, Refusal};
use domain::inbound::Direction;
use driver::{AskError, Jid, MessageId};
use store::conversations::{Conversation, StoredMessage, ThreadCursor};

/// The most messages that one request tells the other side of: what is older counts as read with them.
const MOST_MARKED: usize = 200;

/// The most echoes that are expected between them.
const ECHOES: usize = 30;

/// Messages of one writer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReadMark {
    /// The writer, in a group.
    writer: Option<Jid>,
    messages: Vec<MessageId>,
}

/// Show the other side of a conversation a sign, through this channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GiveSign {
    /// This message and all before it were read, and perhaps somebody types. Through a business account.
    ReadUpTo { message: String, is_typing: bool },
    /// These messages were read. Through a web session.
    Read { chat: Jid, marks: Vec<ReadMark> },
    /// Somebody types, or has stopped. Through a web session.
    Typing { chat: Jid, is_typing: bool },
}

#[async_trait(?Send)]
impl Question for GiveSign {
    const NAME: &'static str = "sign";
    const WITHIN: Within = Within::OfOthers;
    type Answer = ();

    fn check(&self, _: &config::Limits) -> Result<(), Refusal> {
        let marked = match self {
            Self::Read { marks, .. } => marks.iter().map(|mark| mark.messages.len()).sum(),
            Self::ReadUpTo { .. } | Self::Typing { .. } => 1,
        };
        if marked > MOST_MARKED {
            return Err(Refusal::new(Code::InvalidBody, "more messages than one request marks as read"));
        }
        Ok(())
    }

    async fn answer(self, engine: &Engine, channel: &Arc<Channel>) -> Result<(), Error> {
        engine.conversations(channel.company_id).give(channel, self).await
    }
}

impl Conversations<'_> {
    /// Marks what the person wrote up to a moment as read, and lets the person see that: the unread messages, or the last one
    /// if all were read before. Through a business account, WhatsApp marks all earlier messages with it.
    ///
    /// # Errors
    ///
    /// `conversation_not_found`, `channel_not_found`. When the person cannot be told: `reconnect_waba`,
    /// `session_disconnected`, [`Error::Unavailable`]; the conversation is marked as read nevertheless.
    pub async fn mark_read_and_tell(&self, id: Uuid, up_to: Timestamp) -> Result<(), Error> {
        let (channel, conversation) = self.place(id).await?;
        let sign = self.read_sign(&channel, &conversation, up_to).await?;
        self.mark_read(id, up_to).await?;
        match sign {
            Some(sign) => self.give(&channel, sign).await,
            None => Ok(()),
        }
    }

    /// Marks what the person wrote up to a moment as read, and lets the person see that, unless the company chose that nobody
    /// does.
    ///
    /// # Errors
    ///
    /// Those of [`Self::mark_read_and_tell`].
    pub async fn mark_read_as_chosen(&self, id: Uuid, up_to: Timestamp) -> Result<(), Error> {
        if self.hides_reading().await? {
            self.mark_read(id, up_to).await
        } else {
            self.mark_read_and_tell(id, up_to).await
        }
    }

    /// Shows the person that somebody types an answer, except where that would also show what the company hides: that the
    /// person's messages were read.
    ///
    /// # Errors
    ///
    /// Those of [`Self::show_typing`].
    pub async fn show_typing_as_chosen(&self, id: Uuid) -> Result<(), Error> {
        let (channel, conversation) = self.place(id).await?;
        if channel.kind == Kind::BusinessAccount && self.hides_reading().await? {
            return Ok(());
        }
        self.show_typing_in(&channel, &conversation, true).await
    }

    async fn hides_reading(&self) -> Result<bool, Error> {
        let records = self.engine.records_of(self.company).await?;
        Ok(records.of(self.company).automatic().hides_reading().await?)
    }

    /// Shows the person that somebody types an answer, or has stopped. WhatsApp ends it after some seconds (25 for a business
    /// account), and when the answer comes. Through a business account, the person's messages are shown as read too, and
    /// there is no way to end it before.
    ///
    /// # Errors
    ///
    /// `conversation_not_found`, `channel_not_found`; `window_closed` when a business account knows no message of the person;
    /// `reconnect_waba`, `session_disconnected`, [`Error::Unavailable`].
    pub async fn show_typing(&self, id: Uuid, is_typing: bool) -> Result<(), Error> {
        let (channel, conversation) = self.place(id).await?;
        self.show_typing_in(&channel, &conversation, is_typing).await
    }

    async fn show_typing_in(
        &self,
        channel: &Arc<Channel>,
        conversation: &Conversation,
        is_typing: bool,
    ) -> Result<(), Error> {
        let sign = match channel.kind {
            Kind::BusinessAccount if !is_typing => None,
            Kind::BusinessAccount => {
                let heard = self.heard(conversation, Timestamp::now(), 1).await?;
                let last = heard.into_iter().next().ok_or_else(|| {
                    let sentence = "the person wrote no message that can be answered: WhatsApp shows typing to people \
                                    who wrote";
                    Refusal::new(Code::WindowClosed, sentence)
                })?;
                Some(GiveSign::ReadUpTo { message: last.provider_id, is_typing })
            }
            Kind::WebSession => chat(conversation).map(|chat| GiveSign::Typing { chat, is_typing }),
        };
        match sign {
            Some(sign) => self.give(channel, sign).await,
            None => Ok(()),
        }
    }

    /// The last messages of the other side up to a moment, the later ones first, at most `most`.
    async fn heard(
        &self,
        of: &Conversation,
        up_to: Timestamp,
        most: usize,
    ) -> Result<Vec<StoredMessage>, Error> {
        // Every id is above the nil one, so that nothing at the next millisecond counts.
        let before =
            ThreadCursor { at: Timestamp::from_millis(up_to.millis().saturating_add(1)), id: Uuid::nil() };
        let records = self.engine.records_of(self.company).await?;
        let stored = records.of(self.company).conversations();
        let found = stored.messages_before(of.id, Some(before), (most + ECHOES) as u64).await?;
        Ok(found.into_iter().filter(|message| message.direction == Direction::In).take(most).collect())
    }

    /// The sign that the messages up to a moment were read; `None` when there is nothing to tell of.
    async fn read_sign(
        &self,
        channel: &Channel,
        of: &Conversation,
        up_to: Timestamp,
    ) -> Result<Option<GiveSign>, Error> {
        // Those that are unread; the last one if all were read before.
        let most = match channel.kind {
            Kind::BusinessAccount => 1,
            Kind::WebSession => usize::try_from(of.unread).unwrap_or(usize::MAX).clamp(1, MOST_MARKED),
        };
        let heard = self.heard(of, up_to, most).await?;
        if channel.kind == Kind::BusinessAccount {
            let last = heard.into_iter().next();
            return Ok(last.map(|last| GiveSign::ReadUpTo { message: last.provider_id, is_typing: false }));
        }
        let Some(chat) = chat(of) else { return Ok(None) };
        let mut marks = Vec::<ReadMark>::new();
        for message in heard {
            let Ok(id) = MessageId::parse(&message.provider_id) else { continue };
            let writer = match of.peer.group() {
                None => None,
                Some(_) => {
                    let author = self.whole_body(&message).await?.and_then(|body| body.author);
                    // WhatsApp takes no mark in a group without the writer.
                    let Some(writer) = author.as_ref().and_then(author_address) else { continue };
                    Some(writer)
                }
            };
            match marks.iter_mut().find(|mark| mark.writer == writer) {
                Some(mark) => mark.messages.push(id),
                None => marks.push(ReadMark { writer, messages: vec![id] }),
            }
        }
        Ok((!marks.is_empty()).then_some(GiveSign::Read { chat, marks }))
    }

    async fn give(&self, channel: &Arc<Channel>, sign: GiveSign) -> Result<(), Error> {
        self.engine.check_running()?;
        if self.engine.owners().ask(channel, &sign).await?.is_some() {
            return Ok(());
        }
        match sign {
            GiveSign::ReadUpTo { message, is_typing } => {
                self.engine.directory().actor(channel).admit()?;
                let marked = self.engine.directory().ask(channel.id, MarkRead { message, is_typing }).await;
                let later = Error::Unavailable { retry_after: RETRY_AFTER };
                marked.ok_or(later)?.or_else(|error| refused(channel, error))
            }
            GiveSign::Read { chat, marks } => {
                let session = self.engine.web_sends().session(channel)?;
                for ReadMark { writer, messages } in marks {
                    session
                        .mark_read(&chat, writer.as_ref(), &messages)
                        .await
                        .map_err(|error| lost(&error))?;
                }
                Ok(())
            }
            GiveSign::Typing { chat, is_typing } => {
                let session = self.engine.web_sends().session(channel)?;
                session.show_typing(&chat, is_typing).await.map_err(|error| lost(&error))
            }
        }
    }
}

/// The address of a conversation at WhatsApp Web: a group's, or a person's, by the one that hides the number if it is known,
/// because WhatsApp writes under that one.
fn chat(of: &Conversation) -> Option<Jid> {
    if let Some(group) = of.peer.group() {
        return Jid::group(group).ok();
    }
    let hidden = of.user_id.as_deref().or_else(|| of.peer.user_id()).and_then(|id| Jid::parse(id).ok());
    hidden.or_else(|| of.peer.number().map(Jid::person))
}

/// What a provider's refusal of a sign means for its caller. A message that the provider does not know any more needs none.
fn refused(channel: &Channel, error: connectors::Error) -> Result<(), Error> {
    let (disposition, failure) = match error {
        connectors::Error::Refused(disposition, failure) => (disposition, failure),
        connectors::Error::NoAnswer(sentence) => {
            tracing::debug!(channel.id = %channel.id, channel.name = %channel.name, sentence, "the provider did not take a read mark");
            return Err(Error::Unavailable { retry_after: RETRY_AFTER });
        }
    };
    match disposition {
        Disposition::Disconnect | Disposition::Block | Disposition::Restrict => {
            let sentence = format!("the provider refuses the channel: {}", failure.sentence);
            Err(Refusal::new(Code::ReconnectWaba, sentence).into())
        }
        Disposition::Wait
        | Disposition::Retry
        | Disposition::SlowNumber
        | Disposition::SlowAccount
        | Disposition::SlowApp
        | Disposition::Maintenance => Err(Error::Unavailable { retry_after: RETRY_AFTER }),
        Disposition::Fail
        | Disposition::Pair
        | Disposition::HoldTemplate
        | Disposition::HoldRecipient
        | Disposition::Suppress(_) => {
            tracing::debug!(channel.id = %channel.id, channel.name = %channel.name, reason = failure.sentence, "the provider knows no such message");
            Ok(())
        }
    }
}

fn lost(error: &AskError) -> Error {
    match error {
        AskError::NotConnected => reconnecting().into(),
        AskError::Refused { .. } | AskError::NoAnswer(_) => Error::Unavailable { retry_after: RETRY_AFTER },
    }
}
