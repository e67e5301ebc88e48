//! Files with the recipients of a new send: kept like files of contacts, and read whole when the send is checked and accepted.
//!
//! Each column is a value of the recipient, under a name that follows from the column's. So the values of a send keep what the
//! file says about a recipient, and the send's results can be written beside it after the file is gone.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use uuid::Uuid;

use super::reader::{Pieces, stored_file};
use super::{ContactImports, Import, ImportChange, no_such_import, refused, settings};
use crate::{Error, RETRY_AFTER};
use domain::error::{Code, Refusal};
use domain::phone::{Country, PhoneNumber};
use domain::request::{SkipCode, Skipped, SkippedEntry};
use domain::values::{Rows, VALUE_CHARS};
use import::{Field, FileTable, MOST_RECIPIENTS, TableRow, TemporarySpill, value_names};
use store::changes::Who;

/// The largest file with the recipients of a send, in bytes.
pub const MOST_RECIPIENT_BYTES: usize = 64 * 1024 * 1024;

/// What the columns of such a file are.
#[derive(Debug, Clone, Default)]
pub struct RecipientColumns {
    /// The place of the column with the numbers.
    pub phone: usize,
    /// The place of the column with references.
    pub reference: Option<usize>,
    /// The country by whose rules numbers without a plus sign are read; without one, they are international.
    pub country: Option<Country>,
    /// The values that the message has; of others, what is too long for a value is cut.
    pub needed: HashSet<String>,
}

/// The recipients of a file.
#[derive(Debug)]
pub struct ListedRecipients {
    /// The recipients, finished.
    pub rows: Rows,
    /// The rows to which nothing can be sent, each with its place among the rows, from 0.
    pub skipped: Skipped,
    /// The rows that repeat an earlier one in everything.
    pub repeated: u64,
}

/// Which rows of a file are wanted.
#[derive(Debug, Clone)]
pub enum WantedRows {
    /// So many from the first one on.
    First(u64),
    /// Those at these places, from 0.
    At(HashSet<u64>),
}

impl ContactImports<'_> {
    /// The company's file with recipients of this id, as long as it is kept.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub async fn recipients(&self, company: Uuid, id: Uuid) -> Result<Option<Import>, Error> {
        let records = self.engine.records_of(company).await?;
        Ok(records.of(company).imports().find_recipients(id).await?)
    }

    /// Reads the recipients of a file.
    ///
    /// # Errors
    ///
    /// `import_not_found` for a file that is not kept any more, `invalid_file` for one that cannot be read,
    /// `too_many_recipients` for more than [`MOST_RECIPIENTS`] rows.
    pub async fn listed(
        &self,
        company: Uuid,
        id: Uuid,
        columns: RecipientColumns,
    ) -> Result<ListedRecipients, Error> {
        let directory = self.engine.0.shared.directory.clone();
        let listed = self.read(company, id, move |table| list(table, &columns, &directory)).await?;
        listed.ok_or_else(|| {
            let what = format_args!("has more than {MOST_RECIPIENTS} rows: make several sends of it");
            Refusal::of("recipients", Code::TooManyRecipients, what).into()
        })
    }

    /// Some rows of a file, each with its place among the rows.
    ///
    /// # Errors
    ///
    /// Those of [`ContactImports::listed`].
    pub async fn recipient_rows(
        &self,
        company: Uuid,
        id: Uuid,
        wanted: WantedRows,
    ) -> Result<Vec<(u64, TableRow)>, Error> {
        let is_enough = move |place: u64, found: usize| match &wanted {
            WantedRows::First(count) => (place >= *count, true),
            WantedRows::At(places) => (found >= places.len(), places.contains(&place)),
        };
        self.read(company, id, move |mut table| {
            let (mut place, mut found) = (0, Vec::new());
            while !is_enough(place, found.len()).0
                && let Some(row) = table.row()?
            {
                if is_enough(place, found.len()).1 {
                    found.push((place, row));
                }
                place += 1;
            }
            Ok(found)
        })
        .await
    }

    /// Reads a file on a thread that serves no requests.
    async fn read<T: Send + 'static>(
        &self,
        company: Uuid,
        id: Uuid,
        read: impl FnOnce(FileTable<Pieces>) -> import::Result<T> + Send + 'static,
    ) -> Result<T, Error> {
        let file = self.recipients(company, id).await?.ok_or_else(no_such_import)?;
        let settings = settings(&file);
        let (pieces, feeding) = stored_file(self.engine.store(), (file.id, settings.first_piece), file.bytes);
        let reading = tokio::task::spawn_blocking(move || read(FileTable::open(pieces, &settings)?)).await;
        feeding.abort();
        match reading {
            Ok(Ok(found)) => Ok(found),
            Ok(Err(import::Error::Unread(_))) => Err(Error::Unavailable { retry_after: RETRY_AFTER }),
            Ok(Err(error)) => Err(refused(&error, Code::InvalidFile).into()),
            Err(error) => {
                tracing::error!(%error, "reading a file of recipients failed because of a defect");
                Err(Error::Internal)
            }
        }
    }

    /// Discards a file with recipients.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub async fn discard_recipients(&self, company: Uuid, id: Uuid) -> Result<(), Error> {
        let records = self.engine.records_of(company).await?;
        records.of(company).imports().discard_recipients(id).await?;
        drop(records);
        self.engine.0.imports.wake();
        Ok(())
    }

    /// Imports the people of a file with recipients as contacts with this tag: the file becomes one of contacts. Names and
    /// addresses are read from the columns that are called so.
    ///
    /// # Errors
    ///
    /// `import_not_found`, and those of [`ContactImports::change`] and [`ContactImports::start`].
    pub async fn import_recipients(
        &self,
        who: &Who,
        company: Uuid,
        id: Uuid,
        (phone, country): (usize, Option<Country>),
        tag: String,
    ) -> Result<(), Error> {
        let records = self.engine.records_of(company).await?;
        if !records.of(company).imports().take_for_contacts(id).await? {
            return Err(no_such_import().into());
        }
        drop(records);
        let change = ImportChange {
            chosen: Some(vec![(phone, Field::PhoneNumber)]),
            tags: Some(vec![tag]),
            country: Some(country),
            ..ImportChange::default()
        };
        self.change(company, id, change).await?;
        self.start(who, company, id).await
    }

    /// Which columns had the values of a template in the company's last send of it, in JSON; the template 0 is none.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub async fn recipient_mapping(&self, company: Uuid, template: i64) -> Result<Option<String>, Error> {
        let records = self.engine.records_of(company).await?;
        Ok(records.of(company).imports().recipient_mapping(template).await?)
    }

    /// Remembers which columns have the values of a template.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub async fn remember_recipients(
        &self,
        company: Uuid,
        template: i64,
        columns: &str,
    ) -> Result<(), Error> {
        let records = self.engine.records_of(company).await?;
        Ok(records.of(company).imports().remember_recipients(template, columns).await?)
    }
}

/// The recipients of a table; `None` for too many.
fn list(
    mut table: FileTable<Pieces>,
    columns: &RecipientColumns,
    directory: &Path,
) -> import::Result<Option<ListedRecipients>> {
    let broken = |error: io::Error| import::Error::Unread(error.to_string());
    let names = value_names(table.header());
    // A program without a data directory uses the system's.
    let spill = TemporarySpill::within(directory).or_else(|_| TemporarySpill::within(&std::env::temp_dir()));
    let spill = spill.map_err(broken)?;
    let (mut rows, mut skipped) = (Rows::new(true, Some(Box::new(spill))), Skipped::default());
    // What a row says that is skipped here counts nowhere else.
    let mut passed = Skipped::default();
    while let Some(TableRow { line: _, cells, broken: fault }) = table.row()? {
        let place = rows.given();
        if place >= MOST_RECIPIENTS {
            return Ok(None);
        }
        let given = cells.get(columns.phone).map_or("", String::as_str);
        let entry = |code, reason: &dyn std::fmt::Display, field: &str| {
            SkippedEntry::of(code, given, reason).at(place, Some(field))
        };
        let refused = match (&fault, PhoneNumber::parse_in(given, columns.country)) {
            (Some(fault), _) => Err(entry(SkipCode::ValueNotAllowed, fault, "row")),
            (None, Err(invalid)) => Err(entry(SkipCode::InvalidNumber, &invalid, "phone_number")),
            (None, Ok(number)) => match add(&mut rows, (&names, &cells), columns) {
                Ok(()) => Ok(number),
                Err(fault) => Err(entry(SkipCode::ValueNotAllowed, &fault, &fault.field)),
            },
        };
        match refused {
            Ok(number) => {
                rows.end(&format!("+{number}"), &mut skipped).map_err(broken)?;
            }
            Err(entry) => {
                // A row without a number ends as one that is skipped.
                rows.end("", &mut passed).map_err(broken)?;
                skipped.push(entry);
            }
        }
    }
    let (added, before) = (rows.len(), skipped.count);
    rows.finish(&mut skipped).map_err(broken)?;
    let repeated = (added - rows.len()) as u64;
    let repeated = repeated.saturating_sub(skipped.count - before);
    Ok(Some(ListedRecipients { rows, skipped, repeated }))
}

/// Adds the values of a row.
fn add(
    rows: &mut Rows,
    (names, cells): (&[String], &[String]),
    columns: &RecipientColumns,
) -> Result<(), domain::values::RowFault> {
    for (name, cell) in names.iter().zip(cells) {
        let is_cut = !columns.needed.contains(name) && cell.len() > VALUE_CHARS;
        let end = cell.char_indices().nth(VALUE_CHARS).map_or(cell.len(), |(end, _)| end);
        rows.value(name, if is_cut { &cell[..end] } else { cell })?;
    }
    match columns.reference.and_then(|place| cells.get(place)) {
        Some(reference) => rows.reference(reference),
        None => Ok(()),
    }
}
