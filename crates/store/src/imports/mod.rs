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

use sea_orm::QueryResult;
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use super::changes::{self, What, Who};
use super::contacts::signed;
use super::{Error, Result, Transaction, Upserted, execute, fetch, fetch_one, moment};
use crate::nouns::{AllImports, Imports};
use crate::one_row::put_row;
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

const COLUMNS: &str =
    "id, file_name, state, settings, bytes, bytes_read, created, updated, unchanged, rejected,
    rejected_kept, without_number, failure, created_at, updated_at, started_at, finished_at, names_kept,
    emails_left_out";

impl Imports<'_> {
    /// A page of the imports of `company`, newest first.
    pub async fn page(self, page: PageRequest) -> Result<Page<Import>> {
        let count = format!(
            "SELECT count(*) FROM contact_import WHERE company_id = $1 AND state <> {REMOVED} AND purpose = 0"
        );
        let total = self.store.count(count, vec![self.company.into()]).await?;
        if page.offset() >= total {
            return Ok(Page { records: Vec::new(), total });
        }
        let select = format!(
            "SELECT {COLUMNS} FROM contact_import WHERE company_id = $1 AND state <> {REMOVED} AND purpose = 0
             ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3"
        );
        let values = [self.company.into(), signed(page.limit).into(), signed(page.offset()).into()];
        let rows = self.store.rows(select, values).await?;
        Ok(Page { records: rows.iter().map(read).collect::<Result<_>>()?, total })
    }

    /// The import of `company` with this id.
    pub async fn find(self, id: Uuid) -> Result<Option<Import>> {
        let select = format!(
            "SELECT {COLUMNS} FROM contact_import
             WHERE id = $1 AND company_id = $2 AND state <> {REMOVED} AND purpose = 0"
        );
        self.store.row(select, [id.into(), self.company.into()]).await?.as_ref().map(read).transpose()
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
        let select = "SELECT columns FROM contact_import_mapping WHERE company_id = $1";
        fetch_one(&self.store.read, select, [self.company.into()]).await
    }

    /// Changes how a file is read, before it is imported. Returns whether that was still possible.
    pub async fn set_settings(self, id: Uuid, settings: &str) -> Result<bool> {
        let update = format!(
            "UPDATE contact_import SET settings = $3, updated_at = $4
             WHERE id = $1 AND company_id = $2 AND state = {}",
            State::Ready.as_i16()
        );
        let now = Timestamp::now().millis();
        let values = [id.into(), self.company.into(), settings.into(), now.into()];
        Ok(execute(&self.store.write, update, values).await? > 0)
    }

    /// Lets an import begin, and remembers the meaning of its columns. Returns whether the import was ready.
    pub async fn start(self, who: &Who, id: Uuid, columns: &str) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let update = format!(
            "UPDATE contact_import SET state = {}, started_at = $3, updated_at = $3
             WHERE id = $1 AND company_id = $2 AND state = {}",
            State::Running.as_i16(),
            State::Ready.as_i16()
        );
        let now = Timestamp::now().millis();
        let values = [id.into(), self.company.into(), now.into()];
        let started = execute(&transaction, update, values).await? > 0;
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
        let update = format!(
            "UPDATE contact_import SET state = {}, finished_at = $3, updated_at = $3
             WHERE id = $1 AND company_id = $2 AND state IN ({}, {})",
            State::Canceled.as_i16(),
            State::Ready.as_i16(),
            State::Running.as_i16()
        );
        let now = Timestamp::now().millis();
        let values = [id.into(), self.company.into(), now.into()];
        let is_canceled = execute(&transaction, update, values).await? > 0;
        if is_canceled {
            self.record(&transaction, who, id, "canceled").await?;
        }
        transaction.commit().await?;
        Ok(is_canceled)
    }

    /// Records a person's action on an import, in the transaction of the action.
    async fn record(self, within: &Transaction, who: &Who, id: Uuid, what: &str) -> Result<()> {
        let company = self.company;
        let select = "SELECT file_name FROM contact_import WHERE id = $1";
        let file: Option<String> = fetch_one(within, select, [id.into()]).await?;
        let after = json!({ "id": id, "file": file, "state": what });
        changes::record_one(within, who, What::Import, company, None, after).await
    }
}

impl AllImports<'_> {
    /// A piece of the file; `None` after the last one.
    pub async fn chunk(self, import: Uuid, ordinal: u64) -> Result<Option<Vec<u8>>> {
        let select = "SELECT bytes FROM contact_import_chunk WHERE import_id = $1 AND ordinal = $2";
        fetch_one(&self.store.read, select, [import.into(), signed(ordinal).into()]).await
    }
}

fn read(row: &QueryResult) -> Result<Import> {
    let number: i16 = row.try_get("", "state")?;
    let state = State::ALL.iter().copied().find(|state| state.as_i16() == number);
    Ok(Import {
        id: row.try_get("", "id")?,
        file_name: row.try_get("", "file_name")?,
        state: state.ok_or_else(|| Error::Impossible(format!("the state {number} of an import")))?,
        settings: row.try_get("", "settings")?,
        bytes: count(row, "bytes")?,
        bytes_read: count(row, "bytes_read")?,
        counts: read_counts(row)?,
        failure: row.try_get("", "failure")?,
        created_at: Timestamp::from_millis(row.try_get("", "created_at")?),
        updated_at: Timestamp::from_millis(row.try_get("", "updated_at")?),
        started_at: moment(row, "started_at")?,
        finished_at: moment(row, "finished_at")?,
    })
}

fn read_counts(row: &QueryResult) -> Result<Counts> {
    Ok(Counts {
        created: count(row, "created")?,
        updated: count(row, "updated")?,
        unchanged: count(row, "unchanged")?,
        rejected: count(row, "rejected")?,
        rejected_kept: count(row, "rejected_kept")?,
        without_number: count(row, "without_number")?,
        names_kept: count(row, "names_kept")?,
        emails_left_out: count(row, "emails_left_out")?,
    })
}

fn count(row: &QueryResult, column: &str) -> Result<u64> {
    Ok(row.try_get::<i64>("", column)?.cast_unsigned())
}
