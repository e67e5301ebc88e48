//! Files of a send's recipients, each with values of their own: CSV with a column for each value, or an object on each line.
//!
//! A file arrives in a temporary one ([`RecipientFile`]) and is read once it is whole, so that nothing of a file that is none
//! is sent to. What is kept of its rows is packed and spills into another temporary file: reading takes the same memory for
//! any file, beside 16 bytes a row. Encodings, separators, titles above the header and what a spreadsheet did to numbers are
//! recognised as in files of contacts. A row with a fault is skipped with its reason; a fault of the file refuses it.

mod columns;
mod table;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use encoding_rs::Encoding;

pub use self::columns::{ColumnFault, HeldColumns, OtherColumns, RecipientColumn, UnknownColumn};
use super::encoding::{self, Decoded, Invalid, MARK};
use super::inspection::{Inspected, Inspection};
use super::spill::TemporarySpill;
use super::{Error, sheet};
use domain::error::{Code, Refusal};
use domain::phone::{Country, PhoneNumber};
use domain::request::{Skipped, recipient_of_line};
use domain::values::{RowFault, Rows};

/// The most recipients of a file: 16 MB of memory while they are resolved.
pub const MOST_RECIPIENTS: u64 = 1_000_000;
/// The bytes that are read at once.
const PIECE: usize = 64 * 1024;
/// The longest line with an object, in bytes: 64 values with every character escaped are shorter.
const LONGEST_LINE: usize = 1024 * 1024;
/// Why a row with bytes that are no text is skipped.
const WRONG_BYTE: &str = "holds a byte that is not valid in the file's encoding";

/// Why no recipients are read from a file.
#[derive(Debug, thiserror::Error)]
pub enum RecipientFault {
    /// The file is at fault.
    #[error("{0}")]
    Refused(Refusal),
    /// The temporary file cannot be written or read.
    #[error("the temporary file of recipients: {0}")]
    Disk(#[from] io::Error),
}

impl RecipientFault {
    /// The refusal of the file: "`recipients` what".
    fn of(what: impl std::fmt::Display) -> Self {
        Self::Refused(Refusal::of("recipients", Code::InvalidField, what))
    }

    /// The refusal of a row.
    fn of_row(index: u64, RowFault { field, what }: &RowFault) -> Self {
        Self::Refused(Refusal::of(format!("recipients[{index}].{field}"), Code::InvalidValues, what))
    }
}

impl From<Refusal> for RecipientFault {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Error> for RecipientFault {
    fn from(error: Error) -> Self {
        match error {
            Error::NotCsv(_) => Self::of(NO_TABLE),
            Error::Unread(_) | Error::Damaged(_) | Error::Stopped => Self::Disk(io::Error::other(error)),
            error => Self::of(format_args!("cannot be read: {error}")),
        }
    }
}

/// What is said of a file in another format.
const NO_TABLE: &str =
    "is neither CSV nor NDJSON: save the table as \"CSV UTF-8\", or write an object on each line";

/// How a file is read.
#[derive(Debug, Clone, Default)]
pub struct RecipientSettings {
    /// The label of its encoding, or [`GUESSED`](super::GUESSED); without one, it is UTF-8 or begins with a byte-order mark.
    pub encoding: Option<String>,
    /// The country by whose rules numbers without a plus sign are read; without one, they are international.
    pub country: Option<Country>,
    /// What columns of a CSV file hold, by their names or places (`#3`); without it, their names say so.
    pub columns: Option<Vec<(String, RecipientColumn)>>,
    /// Whether white space in values is folded.
    pub cleans: bool,
}

/// The recipients of a file.
#[derive(Debug, Default)]
pub struct ReadRecipients {
    /// Those that can be sent to, as far as the file tells: [finished](Rows::finish).
    pub rows: Rows,
    /// The other ones.
    pub skipped: Skipped,
    /// The columns that nothing is read from, although nobody said so.
    pub unread_columns: Vec<String>,
}

/// A file of recipients that arrives: a temporary one, which is gone when it is dropped.
#[derive(Debug)]
pub struct RecipientFile {
    file: File,
    directory: PathBuf,
    length: u64,
}

impl RecipientFile {
    /// An empty file in this directory, which is created if it does not exist.
    ///
    /// # Errors
    ///
    /// When it cannot be created.
    pub fn within(directory: &Path) -> io::Result<Self> {
        files::create_directory(directory)?;
        Ok(Self { file: tempfile::tempfile_in(directory)?, directory: directory.to_owned(), length: 0 })
    }

    /// Adds the next piece.
    ///
    /// # Errors
    ///
    /// Those of the disk.
    pub fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        self.length += piece.len() as u64;
        self.file.write_all(piece)
    }

    /// Its bytes so far.
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// Reads the recipients. This blocks for as long as the file is long: about a second for 30 MB.
    ///
    /// # Errors
    ///
    /// `invalid_field` for a file that is none, or another one than the settings say; `invalid_values` for a value that is no
    /// text and a name that is none; `too_many_recipients` for more than [`MOST_RECIPIENTS`].
    pub fn read(mut self, settings: &RecipientSettings) -> Result<ReadRecipients, RecipientFault> {
        let encoding = self.encoding(settings)?;
        let spill = TemporarySpill::within(&self.directory)?;
        let mut read =
            ReadRecipients { rows: Rows::new(settings.cleans, Some(Box::new(spill))), ..Default::default() };
        self.file.seek(SeekFrom::Start(0))?;
        let text = Decoded::new(self.file, encoding, Invalid::Mark);
        let mut text = BufReader::with_capacity(PIECE, text);
        let beginning = text.fill_buf().map_err(|error| unread(&error))?;
        let first = beginning.trim_ascii_start().first().copied();
        match first {
            Some(b'{') => lines(text, settings, &mut read)?,
            Some(b'[') => {
                let what = "is a JSON array: write each recipient as an object on a line of its own (NDJSON)";
                return Err(RecipientFault::of(what));
            }
            _ => table::read(text, settings, &mut read)?,
        }
        read.rows.finish(&mut read.skipped)?;
        Ok(read)
    }

    /// Looks through the whole file, and finds its encoding.
    fn encoding(&mut self, settings: &RecipientSettings) -> Result<&'static Encoding, RecipientFault> {
        self.file.seek(SeekFrom::Start(0))?;
        let mut inspection = Inspection::new(settings.encoding.as_deref(), settings.country)?;
        let mut piece = vec![0; PIECE];
        let mut is_first = true;
        loop {
            let length = self.file.read(&mut piece)?;
            if length == 0 {
                break;
            }
            if is_first && sheet::is_workbook(&piece[..length]) {
                return Err(RecipientFault::of(NO_TABLE));
            }
            is_first = false;
            inspection.feed(&piece[..length])?;
        }
        let Inspected { encoding, wrong: _ } = inspection.finish()?;
        Ok(encoding::named(Some(encoding))?)
    }
}

/// Reads an object on each line.
fn lines(
    mut text: impl BufRead,
    settings: &RecipientSettings,
    read: &mut ReadRecipients,
) -> Result<(), RecipientFault> {
    let ReadRecipients { rows, skipped, .. } = read;
    let mut line = Vec::new();
    loop {
        line.clear();
        let most = LONGEST_LINE as u64 + 1;
        let length = text.by_ref().take(most).read_until(b'\n', &mut line).map_err(|error| unread(&error))?;
        if length == 0 {
            return Ok(());
        }
        if length > LONGEST_LINE {
            let what =
                format!("has a line that is too long: at most 1 MiB; it is recipient {}", rows.given());
            return Err(RecipientFault::of(what));
        }
        // It was decoded, so that it is UTF-8.
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        has_room(rows)?;
        if line.contains(MARK) {
            rows.skip(&encoding::shown(line), "values", &WRONG_BYTE, skipped);
            continue;
        }
        let written = recipient_of_line(rows, line)?;
        rows.end_as(PhoneNumber::parse_in(&written, settings.country), &written, skipped)?;
    }
}

/// Refuses one recipient more than a file may have.
fn has_room(rows: &Rows) -> Result<(), RecipientFault> {
    if rows.given() < MOST_RECIPIENTS {
        return Ok(());
    }
    let what = format_args!("has more than {MOST_RECIPIENTS} rows: make several sends of it");
    Err(Refusal::of("recipients", Code::TooManyRecipients, what).into())
}

/// Why a text cannot be read. A byte that is not valid becomes a [`MARK`] and no failure.
fn unread(error: &io::Error) -> RecipientFault {
    RecipientFault::Disk(io::Error::new(error.kind(), error.to_string()))
}

#[cfg(test)]
mod tests;
