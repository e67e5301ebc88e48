//! Removes what is old, and everything of a person.

use sea_orm::Value;
use uuid::Uuid;

use crate::changes::ContactRecord;
use crate::dialect::{Rows, Type};
use crate::lease::Lease;
use crate::nouns::{AllConversations, Conversations};
use crate::retention::{Step, first_id_at};
use crate::suppressions::listed;
use crate::{Result, Transaction, execute, fetch};
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
        let sql = "SELECT id FROM conversation_message WHERE id < $1 ORDER BY id LIMIT $2";
        let values: [Value; 2] = [first_id_at(before).into(), i64::from(limit).into()];
        let found = fetch::<Uuid>(&self.store.read, sql, values).await?;
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
        let sql =
            "SELECT id FROM conversation WHERE last_at < $1 AND created_at < $1 ORDER BY last_at LIMIT $2";
        let values: [Value; 2] = [before.millis().into(), i64::from(limit).into()];
        let found = fetch::<Uuid>(&self.store.read, sql, values).await?;
        if found.is_empty() {
            return Ok(Step::default());
        }
        let transaction = self.store.begin_fenced(lease).await?;
        let (rows, values) = Rows::of_ids(self.store.backend, &found).select(2);
        // Locked, and only those in which nobody has written since they were found.
        let sql = format!(
            "SELECT id FROM conversation WHERE id IN (SELECT id FROM {rows} AS found) AND last_at < $1 ORDER BY id{}",
            self.store.locking()
        );
        let values = std::iter::once(before.millis().into()).chain(values);
        let silent = fetch::<Uuid>(&transaction, sql, values).await?;
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
            let (rows, values) = Rows::of_ids(self.store.backend, ids).select(1);
            let sql = format!("DELETE FROM {table} WHERE {column} IN (SELECT id FROM {rows} AS gone)");
            execute(transaction, sql, values).await?;
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
        let of = |what: &str, rows: &str| format!("SELECT id FROM {what} IN (SELECT id FROM {rows} AS gone)");
        let (rows, values) = Rows::of_ids(self.store.backend, &conversations).select(1);
        // Locked, so that no message joins them meanwhile.
        let sql = of("conversation WHERE id", &rows) + " ORDER BY id" + self.store.locking();
        let conversations = fetch::<Uuid>(&transaction, sql, values).await?;
        let (rows, values) = Rows::of_ids(self.store.backend, &conversations).select(1);
        let sql = of("conversation_message WHERE conversation_id", &rows);
        let messages = fetch::<Uuid>(&transaction, sql, values).await?;
        self.store.conversations().remove_in(&transaction, &conversations, &TABLES).await?;
        let numbers: Vec<_> = people.iter().filter_map(PeerKey::number).collect();
        if !numbers.is_empty() {
            let numbers = listed(&numbers);
            let sql =
                format!("DELETE FROM automatic_answer WHERE company_id = $1 AND recipient IN ({numbers})");
            execute(&transaction, sql, [self.company.into()]).await?;
        }
        let [gone, written] = [&conversations, &messages].map(|ids| ids.len() as u64);
        record.count(&transaction, &[("erased_conversations", gone), ("erased_messages", written)]).await?;
        transaction.commit().await?;
        Ok((conversations, messages))
    }
}
