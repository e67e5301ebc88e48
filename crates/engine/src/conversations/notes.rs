//! Notes about conversations, and answers to them.

use std::sync::Arc;

use uuid::Uuid;

use super::sending::number_is_unknown;
use super::{Conversations, no_such_conversation};
use crate::{Accepted, Error, KeyGuard, Who};
use clock::Timestamp;
use clock::database::new_id;
use domain::channel::{Channel, Kind};
use domain::error::{Code, Refusal};
use domain::inbound::PeerKey;
use domain::phone::PhoneNumber;
use domain::request::{Audience, BusinessRequest, RequestedContent};
use domain::send::{Label, Schedule};
use store::conversations::{Conversation, ConversationNote};
use vault::context;

/// The most characters of a note.
pub const NOTE_CHARS: usize = 4_096;

/// A note about a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownNote {
    /// Its id.
    pub id: Uuid,
    /// Its author, as the record of changes names authors.
    pub author: String,
    /// The text; `None` when it cannot be opened.
    pub text: Option<String>,
    /// When it was written.
    pub created_at: Timestamp,
    /// When its author changed it last.
    pub edited_at: Option<Timestamp>,
}

/// The refusal for an id that is no note, or another author's.
pub fn no_such_note() -> Refusal {
    Refusal::new(Code::NoteNotFound, "the conversation has no note with this id that you may change")
}

impl Conversations<'_> {
    /// The notes about a conversation, the oldest first.
    ///
    /// # Errors
    ///
    /// `conversation_not_found`.
    pub async fn notes(&self, conversation: Uuid) -> Result<Vec<ShownNote>, Error> {
        let records = self.engine.records_of(self.company).await?;
        let stored = records.of(self.company).conversations();
        stored.find(conversation).await?.ok_or_else(no_such_conversation)?;
        let found = stored.notes(conversation).await?;
        drop(records);
        let mut notes = Vec::with_capacity(found.len());
        for ConversationNote { id, author, text, created_at, edited_at } in found {
            let opened = self.engine.0.shared.contents.open(&text, &context::conversation_note(id)).await?;
            let text = opened.and_then(|text| String::from_utf8(text).ok());
            notes.push(ShownNote { id, author, text, created_at, edited_at });
        }
        Ok(notes)
    }

    /// Adds a note of at most [`NOTE_CHARS`] characters, and returns its id.
    ///
    /// # Errors
    ///
    /// `invalid_field` for an empty or too long text; `conversation_not_found`, also for a conversation with a thousand notes.
    pub async fn add_note(&self, who: &Who, conversation: Uuid, text: &str) -> Result<Uuid, Error> {
        let id = new_id();
        let note = ConversationNote {
            id,
            author: who.to_string(),
            text: self.sealed_note(id, text).await?,
            created_at: Timestamp::now(),
            edited_at: None,
        };
        if self.store().add_note(conversation, &note).await? {
            Ok(id)
        } else {
            Err(no_such_conversation().into())
        }
    }

    /// Changes the text of a note, which only its author may.
    ///
    /// # Errors
    ///
    /// `invalid_field`, `note_not_found`.
    pub async fn edit_note(
        &self,
        who: &Who,
        (conversation, id): (Uuid, Uuid),
        text: &str,
    ) -> Result<(), Error> {
        let sealed = self.sealed_note(id, text).await?;
        let author = who.to_string();
        if self.store().edit_note((conversation, id), &author, sealed, Timestamp::now()).await? {
            Ok(())
        } else {
            Err(no_such_note().into())
        }
    }

    /// Removes a note: its author's own, or `anybody`'s.
    ///
    /// # Errors
    ///
    /// `note_not_found`.
    pub async fn remove_note(
        &self,
        who: &Who,
        (conversation, id): (Uuid, Uuid),
        anybody: bool,
    ) -> Result<(), Error> {
        let author = who.to_string();
        let author = (!anybody).then_some(author.as_str());
        if self.store().remove_note((conversation, id), author).await? {
            Ok(())
        } else {
            Err(no_such_note().into())
        }
    }

    async fn sealed_note(&self, id: Uuid, text: &str) -> Result<Vec<u8>, Error> {
        let text = text.trim();
        if text.is_empty() || text.chars().count() > NOTE_CHARS {
            return Err(Refusal::of(
                "text",
                Code::InvalidField,
                format_args!("has no text, or more than {NOTE_CHARS} characters"),
            )
            .into());
        }
        let key = self.engine.0.shared.contents.current(self.company).await?;
        Ok(key.seal(text.as_bytes(), &context::conversation_note(id)))
    }

    /// A conversation and its channel.
    ///
    /// # Errors
    ///
    /// `conversation_not_found`; `channel_not_found` when the channel was removed.
    pub async fn place(&self, id: Uuid) -> Result<(Arc<Channel>, Conversation), Error> {
        let records = self.engine.records_of(self.company).await?;
        let found = records.of(self.company).conversations().find(id).await?;
        drop(records);
        let conversation = found.ok_or_else(no_such_conversation)?;
        let channel = self.engine.channel(conversation.channel_id).await?;
        let channel = channel.filter(|channel| channel.company_id == self.company).ok_or_else(|| {
            Refusal::new(Code::ChannelNotFound, "the channel of this conversation was removed")
        })?;
        Ok((channel, conversation))
    }

    /// The channel of a conversation and the number of its person, to whom an answer goes. Through a web session, the caller
    /// sends with [`crate::Engine::web_sends`].
    ///
    /// # Errors
    ///
    /// `conversation_not_found`, `channel_not_found` when the channel was removed, `invalid_phone_number` for a group and for
    /// a person whose number is not known.
    pub async fn recipient(&self, id: Uuid) -> Result<(Arc<Channel>, PhoneNumber, Conversation), Error> {
        let (channel, conversation) = self.place(id).await?;
        let number = conversation.peer.number().ok_or_else(number_is_unknown)?;
        Ok((channel, number, conversation))
    }

    /// Answers the person of a conversation through a business account: a direct send like every other, which is noted in the
    /// conversation at once. `quotes` is the provider's id of the message that it answers.
    ///
    /// # Errors
    ///
    /// As for [`Conversations::recipient`] and [`crate::Engine::send`]; `invalid_type` for a web session.
    pub async fn reply(
        &self,
        id: Uuid,
        content: RequestedContent,
        quotes: Option<String>,
        label: Label,
        guard: Option<KeyGuard>,
    ) -> Result<Accepted, Error> {
        let (channel, number, _) = self.recipient(id).await?;
        if channel.kind != Kind::BusinessAccount {
            let sentence =
                "this conversation is on a web session, through which answers are sent in another way";
            return Err(Refusal::new(Code::InvalidType, sentence).into());
        }
        let audience = Audience { numbers: vec![number], ..Audience::default() };
        let schedule = Schedule { send_at: None, expires_at: None };
        let request = BusinessRequest { content, audience, schedule, label, quotes, ignored: Vec::new() };
        let accepted = self.engine.send(&channel, request, guard).await?;
        self.note_answers().await;
        Ok(accepted)
    }

    /// Notes answers now, so that the list is right when the caller reads it next; the round repeats what is not written.
    pub(super) async fn note_answers(&self) {
        if let Err(error) = self.engine.0.shared.note_answers().await {
            tracing::debug!(%error, "cannot note an answer in its conversation yet");
        }
    }

    /// The company's conversation on a channel with a person, if there is one.
    pub async fn with(&self, channel: Uuid, number: PhoneNumber) -> Result<Option<Conversation>, Error> {
        let person = self.engine.0.shared.people.person(self.company, number);
        let records = self.engine.records_of(self.company).await?;
        let stored = records.of(self.company).conversations();
        Ok(stored.find_with(channel, &PeerKey::of_number(person)).await?)
    }
}
