//! Conversations: what people write is taken in, kept sealed, listed, and answered.
//!
//! [`Conversations`] is what the surfaces call: everything in it is of one company, and who may do what is decided by the
//! caller. Contents are opened here, and leave as they may be shown.

mod assignment;
mod drafts;
mod intake;
mod notes;
mod open;
mod own;
mod quick_replies;
mod sending;
mod signs;
mod thread;

use uuid::Uuid;

pub use self::drafts::{BEGUN_CHARS, BegunAnswers};
pub(crate) use self::intake::HeardMessage;
pub use self::notes::{NOTE_CHARS, ShownNote, no_such_note};
pub use self::open::{ListedConversation, no_such_conversation};
pub use self::quick_replies::{QuickReplies, RenderedReply};
pub(crate) use self::signs::GiveSign;
pub use self::thread::{OwnEntry, ShownReaction, Thread, ThreadEntry, ThreadFrom, WrittenEntry};
use crate::{Engine, Error, Who};
use clock::Timestamp;
use domain::inbound::{ConversationState, PeerKey, WindowRule, Windows};
use domain::phone::PhoneNumber;
use store::changes::ContactRecord;
use store::conversations::{ConversationCursor, ConversationFilter};

/// The types of conversations.
pub mod types {
    pub use store::conversations::{
        AssignedTo, Conversation, ConversationCursor, ConversationFilter, ThreadCursor, ThreadSide,
    };
    pub use store::quick_replies::QuickReply;
}

/// The conversations of a company.
#[derive(Clone, Copy)]
pub struct Conversations<'e> {
    pub(crate) engine: &'e Engine,
    company: Uuid,
}

impl Engine {
    /// The conversations of a company.
    pub const fn conversations(&self, company: Uuid) -> Conversations<'_> {
        Conversations { engine: self, company }
    }
}

/// A part of the list of conversations.
#[derive(Debug)]
pub struct ConversationPart {
    /// The conversations, those with the latest activity first.
    pub conversations: Vec<ListedConversation>,
    /// The place after them; `None` when there are no more.
    pub next: Option<ConversationCursor>,
}

impl Conversations<'_> {
    /// At most `limit` conversations after a place. A search knows the names in people's profiles. To find people by the names
    /// of their contacts too, the caller searches contacts for the same text, and gives the numbers of those found, some
    /// hundred at most, as [`ConversationFilter::numbers`]: in any form, also of people without a conversation.
    pub async fn list(
        &self,
        mut filter: ConversationFilter,
        after: Option<ConversationCursor>,
        limit: u64,
    ) -> Result<ConversationPart, Error> {
        let people = &self.engine.0.shared.people;
        filter.numbers.iter_mut().for_each(|number| *number = people.person(self.company, *number));
        let records = self.engine.records_of(self.company).await?;
        let (found, next) = records.of(self.company).conversations().list(&filter, after, limit).await?;
        drop(records);
        Ok(ConversationPart { conversations: self.opened(found).await?, next })
    }

    /// The conversations with the person of a contact, on all channels; empty when the contact has neither a valid number nor
    /// an address that hides it, or does not exist.
    pub async fn of_contact(&self, contact: Uuid) -> Result<Vec<ListedConversation>, Error> {
        let records = self.engine.records_of(self.company).await?;
        let keys = self.keys_of_contacts(&[contact]).await?;
        let found = records.of(self.company).conversations().with_people(&keys).await?;
        drop(records);
        self.opened(found).await
    }

    /// Removes the conversations with the person of a contact, on all channels, with everything that was written in them and
    /// the notes about them. The contact stays. The record of changes says who did it, and how much was removed.
    pub async fn erase_of_contact(&self, who: &Who, contact: Uuid) -> Result<(), Error> {
        let mut record = ContactRecord::new(who, self.company).about("contact", contact);
        Ok(self.engine.contacts().erase_conversations(&mut record, self.company, &[contact]).await?)
    }

    /// The conversation with this id.
    ///
    /// # Errors
    ///
    /// `conversation_not_found`.
    pub async fn one(&self, id: Uuid) -> Result<ListedConversation, Error> {
        let records = self.engine.records_of(self.company).await?;
        let found = records.of(self.company).conversations().find(id).await?;
        drop(records);
        let found = found.ok_or_else(no_such_conversation)?;
        self.opened(vec![found]).await?.pop().ok_or_else(|| no_such_conversation().into())
    }

    /// How many open conversations have something unread, counted up to `most`: those of the user and those of nobody, or of
    /// everybody without a user.
    pub async fn count_unread(&self, user: Option<Uuid>, most: u64) -> Result<u64, Error> {
        let records = self.engine.records_of(self.company).await?;
        Ok(records.of(self.company).conversations().count_unread(user, most).await?)
    }

    /// Marks what the person wrote up to a moment as read.
    ///
    /// # Errors
    ///
    /// `conversation_not_found`.
    pub async fn mark_read(&self, id: Uuid, up_to: Timestamp) -> Result<(), Error> {
        is_there(self.store().mark_read(id, up_to).await?)
    }

    /// Marks a conversation as unread.
    ///
    /// # Errors
    ///
    /// `conversation_not_found`.
    pub async fn mark_unread(&self, id: Uuid) -> Result<(), Error> {
        is_there(self.store().mark_unread(id).await?)
    }

    /// Closes a conversation, or opens it again.
    ///
    /// # Errors
    ///
    /// `conversation_not_found`.
    pub async fn set_state(&self, who: &Who, id: Uuid, state: ConversationState) -> Result<(), Error> {
        is_there(self.store().set_state(id, state, &who.to_string()).await?)
    }

    /// What is known of the windows of a channel of the company.
    pub async fn windows(&self, channel: Uuid) -> Result<Windows, Error> {
        Ok(self.store().windows(channel).await?)
    }

    /// Decides who decides whether free messages of a channel go. The caller has checked that it is the company's.
    pub async fn set_window_rule(&self, who: &Who, channel: Uuid, rule: WindowRule) -> Result<(), Error> {
        self.store().set_window_rule(who, channel, rule).await?;
        self.engine.0.shared.windows.changed(channel);
        Ok(())
    }

    /// Removes everything of a person: the conversations on all channels, and what was written in them. Returns the ids of the
    /// removed messages. Files that the person sent leave with them.
    pub async fn erase(&self, who: &Who, number: PhoneNumber) -> Result<Vec<Uuid>, Error> {
        let mut record = ContactRecord::new(who, self.company);
        let keys = self.keys_of_numbers(vec![number]).await?;
        let (_, messages) = self.store().erase(&mut record, &keys).await?;
        Ok(messages)
    }

    /// The keys under which conversations with the people of these contacts may be.
    pub(crate) async fn keys_of_contacts(&self, contacts: &[Uuid]) -> store::Result<Vec<PeerKey>> {
        let (numbers, hidden) = self.store().names_of(contacts).await?;
        let mut keys = self.keys_of_numbers(numbers).await?;
        keys.extend(hidden);
        Ok(keys)
    }

    /// The keys of the people with these numbers: all numbers of theirs, and the ids of those whose numbers the provider hid
    /// for a time.
    async fn keys_of_numbers(&self, numbers: Vec<PhoneNumber>) -> store::Result<Vec<PeerKey>> {
        let people = &self.engine.0.shared.people;
        let forms = numbers.into_iter().flat_map(|number| people.forms(self.company, number));
        let forms: Vec<_> = forms.collect();
        let ids = self.store().ids_of(&forms).await?;
        Ok(forms.into_iter().map(PeerKey::of_number).chain(ids).collect())
    }

    fn store(&self) -> store::Conversations<'_> {
        self.engine.store().of(self.company).conversations()
    }
}

fn is_there(is_there: bool) -> Result<(), Error> {
    if is_there { Ok(()) } else { Err(no_such_conversation().into()) }
}
