//! Reads a table (CSV) of recipients.

use std::borrow::Cow;
use std::io::{BufReader, Read};

use super::columns::{ColumnFault, HeldColumns, OtherColumns};
use super::{ReadRecipients, RecipientFault, RecipientSettings, WRONG_BYTE, has_room, unread};
use crate::encoding::{self, Decoded, MARK};
use crate::header::{self, MOST_COLUMNS};
use crate::reading::split;
use crate::records::{Broken, Found, Records};
use crate::row::bare;
use crate::{Error, opening};
use domain::cell::unguard;
use domain::error::{Code, Refusal};
use domain::phone::PhoneNumber;
use domain::values::MOST_VALUES;

/// Rows that are divided at a time, and their text in bytes, with that of the last one.
const CHUNK_ROWS: usize = 256;
const CHUNK_BYTES: usize = 256 * 1024;

/// Reads a header and the rows below it.
pub(super) fn read<R: Read>(
    text: BufReader<Decoded<R>>,
    settings: &RecipientSettings,
    read: &mut ReadRecipients,
) -> Result<(), RecipientFault> {
    let mut records = Records::divided_by(None, text).map_err(|error| unread(&error))?;
    let (header, line) = opening::header(&mut records, |error| Error::Unread(error.to_string())).map_err(
        |error| match error {
            Error::Header { line, fault } => {
                RecipientFault::of(format_args!("has a header that cannot be read: line {line}: {fault}"))
            }
            error => error.into(),
        },
    )?;
    let others = if settings.columns.is_some() { OtherColumns::Unread } else { OtherColumns::ByName };
    let columns = HeldColumns::find(&header, settings.columns.as_deref().unwrap_or_default(), others)
        .map_err(|fault| of_columns(fault, &header, line))?;
    for (_, name) in &columns.values {
        // They were checked.
        let _ = read.rows.name(name);
    }
    let mut table = RecipientTable { columns, settings, read };
    let (mut text, mut is_over) = (Vec::new(), false);
    while !is_over {
        text.clear();
        let (mut rows, mut broken) = (0, None);
        while rows < CHUNK_ROWS && text.len() < CHUNK_BYTES {
            let start = text.len();
            let Some(found) = records.next(&mut text).map_err(|error| unread(&error))? else {
                is_over = true;
                break;
            };
            if let Found { broken: Some(why), .. } = found {
                broken = Some((String::from_utf8_lossy(&text[start..]).trim().to_owned(), why));
                text.truncate(start);
                break;
            }
            rows += 1;
        }
        table.rows(&text, records.delimiter(), rows)?;
        if let Some((written, why)) = broken {
            table.lost(&written, why)?;
        }
    }
    table.read.unread_columns = table.columns.unread;
    Ok(())
}

/// The refusal of a header that does not say what its columns hold.
fn of_columns(fault: ColumnFault, header: &[String], line: u64) -> RecipientFault {
    let shown = header::shown(header);
    let no_column = |name: String, what: &str| -> RecipientFault {
        let what =
            format!("names {name:?}, which {what}: give its name or its place, such as #2, of {shown}");
        Refusal::of("columns", Code::InvalidField, what).into()
    };
    RecipientFault::of(match fault {
        ColumnFault::Missing(name) => return no_column(name, "is no column of the file"),
        ColumnFault::Several(name) => return no_column(name, "is several columns of the file"),
        ColumnFault::TooMany(found) => {
            format!("has {found} columns on line {line}, and at most {MOST_COLUMNS} are read")
        }
        ColumnFault::NoNumbers => format!(
            "has no column `phone_number`: name it so on line {line}, or say in `columns` which one it is; the columns \
             are {shown}"
        ),
        ColumnFault::Twice(column) => format!(
            "has two columns for {column} on line {line}: name them differently, or say in `columns` which one it is"
        ),
        ColumnFault::TooManyValues(found) => format!(
            "has {found} columns with values, and at most {MOST_VALUES} are read: say in `columns` which ones"
        ),
    })
}

struct RecipientTable<'a> {
    columns: HeldColumns,
    settings: &'a RecipientSettings,
    read: &'a mut ReadRecipients,
}

impl RecipientTable<'_> {
    /// Divides a text into so many rows, and adds them.
    fn rows(&mut self, text: &[u8], delimiter: u8, rows: usize) -> Result<(), RecipientFault> {
        let (mut seen, mut fault) = (0, None);
        let divided = split(text, delimiter, |_, cells| {
            seen += 1;
            self.row(cells).map_err(|wrong| {
                fault = Some(wrong);
                Error::Stopped
            })
        });
        if let Some(fault) = fault {
            return Err(fault);
        }
        divided?;
        // Each record is one row: another number would give a recipient the values of a neighbour.
        if seen == rows { Ok(()) } else { Err(Error::Stopped.into()) }
    }

    /// Adds a row. One of empty cells, as spreadsheets have them at the end, is none.
    fn row(&mut self, cells: &[&str]) -> Result<(), RecipientFault> {
        let Self { columns, settings, read } = self;
        let ReadRecipients { rows, skipped, .. } = &mut **read;
        if cells.iter().all(|cell| bare(cell).is_empty()) {
            return Ok(());
        }
        has_room(rows)?;
        let cell = |index: usize| unguard(bare(cells.get(index).copied().unwrap_or_default()));
        let number = cell(columns.phone_number);
        let more = cells.get(columns.count..).unwrap_or_default();
        if more.iter().any(|cell| !bare(cell).is_empty()) {
            // A separator in a value that is not quoted moves all that follows to other names.
            let (found, wanted) = (cells.len(), columns.count);
            let reason = format!(
                "has {found} cells where the header has {wanted}: put a text with a separator in quotes"
            );
            rows.skip(&encoding::shown(&number), "values", &reason, skipped);
            return Ok(());
        }
        for (index, name) in &columns.values {
            let value = cell(*index);
            if value.contains(MARK) {
                rows.unfit(&format!("values.{name}"), WRONG_BYTE);
            } else {
                rows.value(name, &value).map_err(|fault| RecipientFault::of_row(rows.given(), &fault))?;
            }
        }
        if let Some(index) = columns.reference {
            let reference = cell(index);
            if reference.contains(MARK) {
                rows.unfit("reference", WRONG_BYTE);
            } else {
                rows.reference(&reference).map_err(|fault| RecipientFault::of_row(rows.given(), &fault))?;
            }
        }
        let number: Cow<'_, str> =
            if number.contains(MARK) { encoding::shown(&number).into() } else { number };
        rows.end_as(PhoneNumber::parse_in(&number, settings.country), &number, skipped)?;
        Ok(())
    }

    /// Skips a row whose quotes are broken.
    fn lost(&mut self, written: &str, why: Broken) -> Result<(), RecipientFault> {
        let ReadRecipients { rows, skipped, .. } = &mut *self.read;
        has_room(rows)?;
        rows.skip(&encoding::shown(written), "phone_number", &why, skipped);
        Ok(())
    }
}
