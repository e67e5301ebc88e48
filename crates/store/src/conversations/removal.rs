//! Removes what is old, and everything of a person.

use entity::{automatic_answer, conversation, conversation_message};
use sea_orm::sea_query::LockType;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use crate::changes::ContactRecord;
use crate::dialect::{Rows, Type};
use crate::lease::Lease;
use crate::nouns::{AllConversations, Conversations};
use crate::retention::{Step, first_id_at};
use crate::{Result, Transaction, fetch};
use clock::Timestamp;
use domain::inbound::PeerKey;
use domain::phone::PhoneNumber;

const PEER: &[(&str, Type)] = &[("peer", Type::Text)];
const NUMBER: &[(&str, Type)] = &[("number", Type::Int)];
/// The tables with rows of a conversation, and the columns with its id; the conversation itself last.
const TABLES: [(&str, &str); 5] = [
    ("conversation_message", "conversation_id"),
    ("conversation_note", "conversation_id"),
    ("conversation_draft", "conversation_id"),
    ("conversation_word", "conversation_id"),
    ("conversation", "id"),
];

impl AllConversations<'_> {
    /// Removes messages that arrived before `before`, the oldest first, at most `limit`.
    pub async fn remove_messages(self, lease: &Lease, before: Timestamp, limit: u32) -> Result<Step> {
        let old = conversation_message::Entity::find()
            .select_only()
            .column(conversation_message::Column::Id)
            .filter(conversation_message::Column::Id.lt(first_id_at(before)))
            .order_by_asc(conversation_message::Column::Id)
            .limit(u64::from(limit));
        let found = old.into_tuple::<Uuid>().all(&self.store.read).await?;
        if found.is_empty() {
            return Ok(Step::default());
        }
        let transaction = self.store.begin_fenced(lease).await?;
        self.remove_in(&transaction, &found, &[("conversation_message", "id")]).await?;
        transaction.commit().await?;
        let others = found.len() as u64;
        Ok(Step { others, more: others >= u64::from(limit), ..Step::default() })
    }

    /// Removes conversations in which nothing was written since `before`, with all that belongs to them, at most `limit`.
    pub async fn remove_silent(self, lease: &Lease, before: Timestamp, limit: u32) -> Result<Step> {
        let ids = conversation::Entity::find().select_only().column(conversation::Column::Id);
        let silent = ids.filter(conversation::Column::LastAt.lt(before.millis()));
        let old = silent.clone().filter(conversation::Column::CreatedAt.lt(before.millis()));
        let old = old.order_by_asc(conversation::Column::LastAt).limit(u64::from(limit));
        let found = old.into_tuple::<Uuid>().all(&self.store.read).await?;
        if found.is_empty() {
            return Ok(Step::default());
        }
        let transaction = self.store.begin_fenced(lease).await?;
        // Locked, and only those in which nobody has written since they were found.
        let silent = silent.filter(self.store.among(conversation::Column::Id, &found));
        let silent = silent.order_by_asc(conversation::Column::Id).lock(LockType::NoKeyUpdate);
        let silent = silent.into_tuple::<Uuid>().all(&transaction).await?;
        if !silent.is_empty() {
            self.remove_in(&transaction, &silent, &TABLES).await?;
        }
        transaction.commit().await?;
        let more = found.len() as u64 >= u64::from(limit);
        Ok(Step { others: silent.len() as u64, more, ..Step::default() })
    }

    async fn remove_in(self, transaction: &Transaction, ids: &[Uuid], tables: &[(&str, &str)]) -> Result<()> {
        if let Some((_, column)) = tables.iter().find(|(table, _)| *table == "conversation_message") {
            self.store.inbound_files().leave_with_messages(transaction, column, ids).await?;
        }
        for (table, column) in tables {
            self.store.delete_among(transaction, table, column, ids).await?;
        }
        Ok(())
    }
}

impl Conversations<'_> {
    /// The numbers of these contacts, and the keys of those of whom an address is known that hides the number.
    pub async fn names_of(self, contacts: &[Uuid]) -> Result<(Vec<PhoneNumber>, Vec<PeerKey>)> {
        let (asked, values) = Rows::of_ids(self.store.backend, contacts).select(2);
        let sql = format!(
            "SELECT contact.phone, contact.phone_number_lid FROM {asked} AS asked CROSS JOIN contact \
             WHERE contact.id = asked.id AND contact.company_id = $1"
        );
        let values = std::iter::once(self.company.into()).chain(values);
        let names = fetch::<(Option<i64>, Option<String>)>(&self.store.read, sql, values).await?;
        let (numbers, hidden): (Vec<_>, Vec<_>) = names.into_iter().unzip();
        let hidden = hidden.into_iter().flatten().filter(|address| !address.is_empty());
        Ok((
            numbers.into_iter().flatten().filter_map(PhoneNumber::from_i64).collect(),
            hidden.map(|address| PeerKey::of_user(&address)).collect(),
        ))
    }

    /// The keys of the people with these numbers by the ids that the provider has for them, as far as their messages said them.
    pub async fn ids_of(self, numbers: &[PhoneNumber]) -> Result<Vec<PeerKey>> {
        let mut asked = Rows::new(self.store.backend, NUMBER);
        numbers.iter().for_each(|number| asked.push([number.as_i64().into()]));
        let (asked, values) = asked.select(2);
        let sql = format!(
            "SELECT person_user.user_id FROM {asked} AS asked CROSS JOIN person_user \
             WHERE person_user.company_id = $1 AND person_user.number = asked.number"
        );
        let values = std::iter::once(self.company.into()).chain(values);
        let ids = fetch::<String>(&self.store.read, sql, values).await?.into_iter();
        Ok(ids.map(|id| PeerKey::of_user(&id)).collect())
    }

    /// Removes the conversations with these people, on all channels, with everything that was written in them. Returns their
    /// ids and the ids of the removed messages. Files that these people sent leave. The record gets the numbers of both, and
    /// nothing of what was written.
    pub async fn erase(
        self,
        record: &mut ContactRecord,
        people: &[PeerKey],
    ) -> Result<(Vec<Uuid>, Vec<Uuid>)> {
        let mut asked = Rows::new(self.store.backend, PEER);
        people.iter().for_each(|peer| asked.push([peer.as_str().into()]));
        let (asked, values) = asked.select(2);
        let sql = format!(
            "SELECT DISTINCT conversation.id FROM {asked} AS asked CROSS JOIN conversation \
             WHERE conversation.company_id = $1 AND conversation.peer = asked.peer"
        );
        let values = std::iter::once(self.company.into()).chain(values);
        // Before the transaction: most people have none.
        let conversations = fetch::<Uuid>(&self.store.read, sql, values).await?;
        if conversations.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        let transaction = self.store.begin().await?;
        // Locked, so that no message joins them meanwhile.
        let ids = conversation::Entity::find().select_only().column(conversation::Column::Id);
        let locked = ids.filter(self.store.among(conversation::Column::Id, &conversations));
        let locked = locked.order_by_asc(conversation::Column::Id).lock(LockType::NoKeyUpdate);
        let conversations = locked.into_tuple::<Uuid>().all(&transaction).await?;
        let ids = conversation_message::Entity::find().select_only().column(conversation_message::Column::Id);
        let written = self.store.among(conversation_message::Column::ConversationId, &conversations);
        let messages = ids.filter(written).into_tuple::<Uuid>().all(&transaction).await?;
        self.store.conversations().remove_in(&transaction, &conversations, &TABLES).await?;
        let numbers = people.iter().filter_map(PeerKey::number).map(PhoneNumber::as_i64);
        automatic_answer::Entity::delete_many()
            .filter(automatic_answer::Column::CompanyId.eq(self.company))
            .filter(automatic_answer::Column::Recipient.is_in(numbers))
            .exec(&transaction)
            .await?;
        let [gone, written] = [&conversations, &messages].map(|ids| ids.len() as u64);
        record.count(&transaction, &[("erased_conversations", gone), ("erased_messages", written)]).await?;
        transaction.commit().await?;
        Ok((conversations, messages))
    }
}
