//! Imports of uploaded files: a file in pieces, its settings, and the progress of its rows.
//!
//! The database has everything that an import needs, so that any process can continue it. Its progress moves in the
//! transaction that writes the rows. Called by the engine's runner, and by the code that shows imports.

mod cleanup;
mod recipients;
mod upload;
mod work;

pub use self::recipients::MOST_RECIPIENT_FILES;
pub use self::work::{End, Rejected, Step, Work};

use entity::contact_import::{ActiveModel, Column, Entity, Model};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, Select, Set, UpdateMany};
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use super::changes::{self, What, Who};
use super::contacts::signed;
use super::{Error, Result, Transaction, Upserted, fetch};
use crate::nouns::{AllImports, Imports};
use crate::one_row::{find_row, put_row};
use clock::Timestamp;
use domain::page::{Page, PageRequest};

/// The most unfinished imports of one company: their files are stored in the database.
pub const MOST_OPEN: i64 = 5;
/// Rejected rows of one import that are kept; the others are only counted.
pub const MOST_REJECTED_KEPT: u64 = 10_000;

/// The state of an import. The numbers are stored in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i16)]
pub enum State {
    /// The file is arriving.
    Uploading = 0,
    /// The file is complete, and a person has to begin the import.
    Ready = 1,
    /// Its rows are being written, or wait for their turn.
    Running = 2,
    /// Every row was read.
    Finished = 3,
    /// It failed because of the file.
    Failed = 4,
    /// It was canceled.
    Canceled = 5,
}

/// The state of an interrupted upload, or of an import that is too old: its remains are being removed.
const REMOVED: i16 = 9;
/// The purposes of a file: contacts, or the recipients of a new send.
const CONTACTS: i16 = 0;
const RECIPIENTS: i16 = 1;

domain::words!(State {
    Uploading = "uploading",
    Ready = "ready",
    Running = "running",
    Finished = "finished",
    Failed = "failed",
    Canceled = "canceled",
});

impl State {
    /// Whether nothing more happens to it.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Finished | Self::Failed | Self::Canceled)
    }

    const fn as_i16(self) -> i16 {
        self as i16
    }
}

/// Results of rows of a file: of an upload so far, of a file that the command line reads, or of a preview.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Rows that created a contact.
    pub created: u64,
    /// Rows that changed a contact.
    pub updated: u64,
    /// Rows that changed nothing.
    pub unchanged: u64,
    /// Rows that were rejected.
    pub rejected: u64,
    /// The rejected rows that are kept for download. The command line writes all of them to a file instead.
    #[serde(skip)]
    pub rejected_kept: u64,
    /// Rows among those created, updated and unchanged that have no valid phone number.
    pub without_number: u64,
    /// Rows whose names look wrongly decoded, so that the contacts kept theirs.
    pub names_kept: u64,
    /// Rows with a malformed e-mail address: their contacts are written without it.
    pub emails_left_out: u64,
}

impl Counts {
    /// All rows that were read.
    pub const fn rows(&self) -> u64 {
        self.created + self.updated + self.unchanged + self.rejected
    }

    /// Counts a row that is a contact.
    pub const fn add(&mut self, result: Upserted) {
        match result {
            Upserted::Created => self.created += 1,
            Upserted::Updated => self.updated += 1,
            Upserted::Unchanged => self.unchanged += 1,
        }
    }
}

/// An import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// Time-ordered id.
    pub id: Uuid,
    /// The file's name, as the client gave it.
    pub file_name: String,
    /// Its state.
    pub state: State,
    /// How the file is read, in JSON.
    pub settings: String,
    /// Bytes of the file.
    pub bytes: u64,
    /// Bytes of it whose rows are written.
    pub bytes_read: u64,
    /// Results of the rows so far.
    pub counts: Counts,
    /// Why it failed, in a sentence.
    pub failure: Option<String>,
    /// When the upload began.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it was begun.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
}

impl From<&Model> for Counts {
    fn from(row: &Model) -> Self {
        Self {
            created: row.created.cast_unsigned(),
            updated: row.updated.cast_unsigned(),
            unchanged: row.unchanged.cast_unsigned(),
            rejected: row.rejected.cast_unsigned(),
            rejected_kept: row.rejected_kept.cast_unsigned(),
            without_number: row.without_number.cast_unsigned(),
            names_kept: row.names_kept.cast_unsigned(),
            emails_left_out: row.emails_left_out.cast_unsigned(),
        }
    }
}

impl TryFrom<Model> for Import {
    type Error = Error;

    fn try_from(row: Model) -> Result<Self> {
        let impossible = || Error::Impossible(format!("state {} of import {}", row.state, row.id));
        let state = State::ALL.iter().copied().find(|known| known.as_i16() == row.state);
        Ok(Self {
            id: row.id,
            state: state.ok_or_else(impossible)?,
            bytes: row.bytes.cast_unsigned(),
            bytes_read: row.bytes_read.cast_unsigned(),
            counts: Counts::from(&row),
            file_name: row.file_name,
            settings: row.settings,
            failure: row.failure,
            created_at: Timestamp::from_millis(row.created_at),
            updated_at: Timestamp::from_millis(row.updated_at),
            started_at: row.started_at.map(Timestamp::from_millis),
            finished_at: row.finished_at.map(Timestamp::from_millis),
        })
    }
}

impl Imports<'_> {
    /// A page of the imports of `company`, newest first.
    pub async fn page(self, page: PageRequest) -> Result<Page<Import>> {
        let newest = self.of_contacts().order_by_desc(Column::CreatedAt).order_by_desc(Column::Id);
        self.store.page_of(newest, page).await?.try_map(Import::try_from)
    }

    /// The import of `company` with this id.
    pub async fn find(self, id: Uuid) -> Result<Option<Import>> {
        let found = self.of_contacts().filter(Column::Id.eq(id)).one(&self.store.read).await?;
        found.map(Import::try_from).transpose()
    }

    /// The company's files of contacts.
    fn of_contacts(self) -> Select<Entity> {
        Entity::find()
            .filter(Column::CompanyId.eq(self.company))
            .filter(Column::State.ne(REMOVED))
            .filter(Column::Purpose.eq(CONTACTS))
    }

    /// The company's import of this id, to be changed.
    fn change(self, id: Uuid) -> UpdateMany<Entity> {
        Entity::update_many().filter(Column::Id.eq(id)).filter(Column::CompanyId.eq(self.company))
    }

    /// The next `limit` rejected rows of a company's import from the place `from` on, in the order in which they were
    /// rejected.
    pub async fn rejected(self, import: Uuid, from: u64, limit: u32) -> Result<Vec<Rejected>> {
        let select = "SELECT line, reason, fields, code, details FROM contact_import_reject
             WHERE import_id = (SELECT id FROM contact_import WHERE id = $1 AND company_id = $4)
             AND ordinal >= $2 ORDER BY ordinal LIMIT $3";
        let values = [import.into(), signed(from).into(), i64::from(limit).into(), self.company.into()];
        type Columns = (i64, String, String, Option<String>, Option<String>);
        let rows = fetch::<Columns>(&self.store.read, select, values).await?;
        let rejected = rows.into_iter().map(|(line, reason, fields, code, details)| {
            let list = |text: &str| {
                let broken = |_| Error::Impossible(format!("a rejected row of import {import}"));
                serde_json::from_str::<Vec<String>>(text).map_err(broken)
            };
            Ok(Rejected {
                line: line.cast_unsigned(),
                reason,
                code,
                details: details.as_deref().map(list).transpose()?.unwrap_or_default(),
                fields: list(&fields)?,
            })
        });
        rejected.collect()
    }

    /// The meaning of each column in the company's last import, in JSON.
    pub async fn remembered_columns(self) -> Result<Option<String>> {
        let of = [("company_id", self.company.into())];
        find_row(&self.store.read, ("contact_import_mapping", "columns"), of).await
    }

    /// Changes how a file is read, before it is imported. Returns whether that was still possible.
    pub async fn set_settings(self, id: Uuid, settings: &str) -> Result<bool> {
        let changes = ActiveModel { settings: Set(settings.to_owned()), ..changed_now() };
        let ready = self.change(id).set(changes).filter(Column::State.eq(State::Ready.as_i16()));
        Ok(ready.exec(&self.store.write).await?.rows_affected > 0)
    }

    /// Lets an import begin, and remembers the meaning of its columns. Returns whether the import was ready.
    pub async fn start(self, who: &Who, id: Uuid, columns: &str) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let now = Timestamp::now().millis();
        let changes = ActiveModel {
            state: Set(State::Running.as_i16()),
            started_at: Set(Some(now)),
            updated_at: Set(now),
            ..Default::default()
        };
        let ready = self.change(id).set(changes).filter(Column::State.eq(State::Ready.as_i16()));
        let started = ready.exec(&transaction).await?.rows_affected > 0;
        if started {
            let row = [("company_id", self.company.into()), ("columns", columns.into())];
            put_row(&transaction, "contact_import_mapping", &["company_id"], row).await?;
            self.record(&transaction, who, id, "started").await?;
        }
        transaction.commit().await?;
        Ok(started)
    }

    /// Ends an import early; the rows that are written stay. Returns whether the import was unfinished.
    pub async fn cancel(self, who: &Who, id: Uuid) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let unfinished = [State::Ready, State::Running].map(State::as_i16);
        let unfinished = self.change(id).set(ended(State::Canceled)).filter(Column::State.is_in(unfinished));
        let is_canceled = unfinished.exec(&transaction).await?.rows_affected > 0;
        if is_canceled {
            self.record(&transaction, who, id, "canceled").await?;
        }
        transaction.commit().await?;
        Ok(is_canceled)
    }

    /// Records a person's action on an import, in the transaction of the action.
    async fn record(self, within: &Transaction, who: &Who, id: Uuid, what: &str) -> Result<()> {
        let company = self.company;
        let file = Entity::find_by_id(id).one(within).await?.map(|import| import.file_name);
        let after = json!({ "id": id, "file": file, "state": what });
        changes::record_one(within, who, What::Import, company, None, after).await
    }
}

impl AllImports<'_> {
    /// A piece of the file; `None` after the last one.
    pub async fn chunk(self, import: Uuid, ordinal: u64) -> Result<Option<Vec<u8>>> {
        let of = [("import_id", import.into()), ("ordinal", signed(ordinal).into())];
        find_row(&self.store.read, ("contact_import_chunk", "bytes"), of).await
    }
}

/// What changes of an import whenever something does.
fn changed_now() -> ActiveModel {
    ActiveModel { updated_at: Set(Timestamp::now().millis()), ..Default::default() }
}

/// What changes of an import that ends in this state.
fn ended(state: State) -> ActiveModel {
    let now = Timestamp::now().millis();
    ActiveModel {
        state: Set(state.as_i16()),
        finished_at: Set(Some(now)),
        updated_at: Set(now),
        ..Default::default()
    }
}
