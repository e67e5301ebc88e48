//! Notes that people of a company write on its contacts, and which nobody else gets.

use sea_orm::Value;
use uuid::Uuid;

use super::signed;
use crate::changes::{ContactRecord, Who};
use crate::nouns::ContactNotes;
use crate::one_row::{insert_row, update_rows};
use crate::{Result, Transaction, execute, fetch, fetch_one};
use clock::Timestamp;
use clock::database::new_id;
use domain::page::{Page, PageRequest};

/// The most notes on a contact that can be added. More come together when contacts are merged.
pub const MOST_NOTES: u64 = 200;
/// The longest note, in characters.
pub const NOTE_CHARS: usize = 2_000;

/// A note on a contact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContactNote {
    /// Time-ordered id.
    pub id: Uuid,
    /// Who wrote it, as the record of changes names authors.
    pub author: String,
    /// The text.
    pub body: String,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was written or last changed.
    pub updated_at: Timestamp,
}

/// The outcome of adding a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewNote {
    /// It was added under this id.
    Added(Uuid),
    /// The company has no such contact.
    NoContact,
    /// The contact has [`MOST_NOTES`].
    Full,
}

/// The notes that somebody may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotesOf {
    /// Those that they wrote themselves.
    Oneself,
    /// Everybody's.
    Everybody,
}

/// One row of the table.
type Row = (Uuid, String, String, i64, i64);

impl ContactNotes<'_> {
    /// A page of the notes on a contact, newest first. A contact that the company does not have has none.
    pub async fn page(self, contact: Uuid, page: PageRequest) -> Result<Page<ContactNote>> {
        let count = "SELECT count(*) FROM contact_note WHERE contact_id = $1 AND company_id = $2";
        let total = self.store.count(count, [contact.into(), self.company.into()]).await?;
        if page.offset() >= total {
            return Ok(Page { records: Vec::new(), total });
        }
        let select = "SELECT id, author, body, created_at, updated_at FROM contact_note
             WHERE contact_id = $1 AND company_id = $2 ORDER BY id DESC LIMIT $3 OFFSET $4";
        let values =
            [contact.into(), self.company.into(), signed(page.limit).into(), signed(page.offset()).into()];
        let rows = fetch::<Row>(&self.store.read, select, values).await?;
        Ok(Page { records: rows.into_iter().map(note).collect(), total })
    }

    /// Adds a note, of which [`NOTE_CHARS`] are not checked here.
    pub async fn add(self, who: &Who, contact: Uuid, body: &str, now: Timestamp) -> Result<NewNote> {
        let transaction = self.begin().await?;
        let select = "SELECT id FROM contact WHERE id = $1 AND company_id = $2";
        let found = fetch_one::<Uuid>(&transaction, select, [contact.into(), self.company.into()]).await?;
        if found.is_none() {
            return transaction.unchanged(NewNote::NoContact).await;
        }
        let count = "SELECT count(*) FROM contact_note WHERE contact_id = $1";
        let known = fetch_one::<i64>(&transaction, count, [contact.into()]).await?.unwrap_or_default();
        if known >= signed(MOST_NOTES) {
            return transaction.unchanged(NewNote::Full).await;
        }
        let id = new_id();
        let row = [
            ("id", id.into()),
            ("company_id", self.company.into()),
            ("contact_id", contact.into()),
            ("author", who.to_string().into()),
            ("body", body.into()),
            ("created_at", now.millis().into()),
            ("updated_at", now.millis().into()),
        ];
        insert_row(&transaction, "contact_note", row).await?;
        self.record(transaction, who, contact, "notes_added").await?;
        Ok(NewNote::Added(id))
    }

    /// Replaces the text of a note that `who` wrote. Returns whether there was one.
    pub async fn change(
        self,
        who: &Who,
        (contact, note): (Uuid, Uuid),
        body: &str,
        now: Timestamp,
    ) -> Result<bool> {
        let transaction = self.begin().await?;
        let set = [("body", body.into()), ("updated_at", now.millis().into())];
        let of = [
            ("id", note.into()),
            ("contact_id", contact.into()),
            ("company_id", self.company.into()),
            ("author", who.to_string().into()),
        ];
        if update_rows(&transaction, "contact_note", set, of).await? == 0 {
            return transaction.unchanged(false).await;
        }
        self.record(transaction, who, contact, "notes_changed").await?;
        Ok(true)
    }

    /// Deletes a note that `who` may delete. Returns whether there was one.
    pub async fn delete(self, who: &Who, (contact, note): (Uuid, Uuid), may: NotesOf) -> Result<bool> {
        let transaction = self.begin().await?;
        let mut delete =
            "DELETE FROM contact_note WHERE id = $1 AND contact_id = $2 AND company_id = $3".to_owned();
        let mut values: Vec<Value> = vec![note.into(), contact.into(), self.company.into()];
        if may == NotesOf::Oneself {
            delete.push_str(" AND author = $4");
            values.push(who.to_string().into());
        }
        if execute(&transaction, delete, values).await? == 0 {
            return transaction.unchanged(false).await;
        }
        self.record(transaction, who, contact, "notes_deleted").await?;
        Ok(true)
    }

    /// Moves the notes on `others` to `into`, in the transaction that merges these contacts.
    pub(super) async fn move_to(self, transaction: &Transaction, into: Uuid, others: &[Uuid]) -> Result<()> {
        let (rows, values) = self.store.contacts().id_rows(others).behind([into.into(), self.company.into()]);
        let update = format!(
            "UPDATE contact_note SET contact_id = $1
             WHERE company_id = $2 AND contact_id IN (SELECT id FROM {rows} AS rows)"
        );
        execute(transaction, update, values).await?;
        Ok(())
    }

    /// A transaction in which contacts stay: their deletion takes the same lock.
    async fn begin(self) -> Result<Transaction> {
        let transaction = self.store.begin().await?;
        self.store.of(self.company).contacts().lock_totals(&transaction).await?;
        Ok(transaction)
    }

    /// Records the change without the text, which is erased with its contact, and commits it.
    async fn record(self, transaction: Transaction, who: &Who, contact: Uuid, word: &str) -> Result<()> {
        let mut record = ContactRecord::new(who, self.company).about("contact", contact);
        record.count(&transaction, &[(word, 1)]).await?;
        Ok(transaction.commit().await?)
    }
}

fn note((id, author, body, created_at, updated_at): Row) -> ContactNote {
    let (created_at, updated_at) = (Timestamp::from_millis(created_at), Timestamp::from_millis(updated_at));
    ContactNote { id, author, body, created_at, updated_at }
}
