//! Notes that people of a company write on its contacts, and which nobody else gets.

use entity::contact;
use entity::contact_note::{ActiveModel, Column, Entity, Model};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, SelectExt, Set};
use uuid::Uuid;

use crate::changes::{ContactRecord, Who};
use crate::nouns::ContactNotes;
use crate::{Result, Transaction};
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

impl From<Model> for ContactNote {
    fn from(note: Model) -> Self {
        let Model { id, company_id: _, contact_id: _, author, body, created_at, updated_at } = note;
        let [created_at, updated_at] = [created_at, updated_at].map(Timestamp::from_millis);
        Self { id, author, body, created_at, updated_at }
    }
}

impl ContactNotes<'_> {
    /// A page of the notes on a contact, newest first. A contact that the company does not have has none.
    pub async fn page(self, contact: Uuid, page: PageRequest) -> Result<Page<ContactNote>> {
        let notes = Entity::find()
            .filter(Column::ContactId.eq(contact))
            .filter(Column::CompanyId.eq(self.company))
            .order_by_desc(Column::Id);
        Ok(self.store.page_of(notes, page).await?.map(ContactNote::from))
    }

    /// Adds a note, of which [`NOTE_CHARS`] are not checked here.
    pub async fn add(self, who: &Who, contact: Uuid, body: &str, now: Timestamp) -> Result<NewNote> {
        let transaction = self.begin().await?;
        let own = contact::Entity::find_by_id(contact).filter(contact::Column::CompanyId.eq(self.company));
        if !own.exists(&transaction).await? {
            return transaction.unchanged(NewNote::NoContact).await;
        }
        let known = Entity::find().filter(Column::ContactId.eq(contact)).count(&transaction).await?;
        if known >= MOST_NOTES {
            return transaction.unchanged(NewNote::Full).await;
        }
        let id = new_id();
        let note = ActiveModel {
            id: Set(id),
            company_id: Set(self.company),
            contact_id: Set(contact),
            author: Set(who.to_string()),
            body: Set(body.to_owned()),
            created_at: Set(now.millis()),
            updated_at: Set(now.millis()),
        };
        Entity::insert(note).exec_without_returning(&transaction).await?;
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
        let own = Entity::update_many()
            .col_expr(Column::Body, Expr::value(body))
            .col_expr(Column::UpdatedAt, Expr::value(now.millis()))
            .filter(Column::Id.eq(note))
            .filter(Column::ContactId.eq(contact))
            .filter(Column::CompanyId.eq(self.company))
            .filter(Column::Author.eq(who.to_string()));
        if own.exec(&transaction).await?.rows_affected == 0 {
            return transaction.unchanged(false).await;
        }
        self.record(transaction, who, contact, "notes_changed").await?;
        Ok(true)
    }

    /// Deletes a note that `who` may delete. Returns whether there was one.
    pub async fn delete(self, who: &Who, (contact, note): (Uuid, Uuid), may: NotesOf) -> Result<bool> {
        let transaction = self.begin().await?;
        let mut note = Entity::delete_by_id(note)
            .filter(Column::ContactId.eq(contact))
            .filter(Column::CompanyId.eq(self.company));
        if may == NotesOf::Oneself {
            note = note.filter(Column::Author.eq(who.to_string()));
        }
        if note.exec(&transaction).await?.rows_affected == 0 {
            return transaction.unchanged(false).await;
        }
        self.record(transaction, who, contact, "notes_deleted").await?;
        Ok(true)
    }

    /// Moves the notes on `others` to `into`, in the transaction that merges these contacts.
    pub(super) async fn move_to(self, transaction: &Transaction, into: Uuid, others: &[Uuid]) -> Result<()> {
        Entity::update_many()
            .col_expr(Column::ContactId, Expr::value(into))
            .filter(Column::CompanyId.eq(self.company))
            .filter(self.store.among(Column::ContactId, others))
            .exec(transaction)
            .await?;
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
