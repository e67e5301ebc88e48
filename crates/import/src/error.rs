//! The errors that end an import or export, in sentences for the person who started it.

use std::io;
use std::path::{Path, PathBuf};

use super::inspection::Other;

/// Why an import or export failed. A fault of one row does not end the import: it is reported in the file of rejected
/// rows.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened or read.
    #[error("cannot read {path}: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// The file of rejected rows, or the export, cannot be written.
    #[error("cannot write {path}: {source}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// There is no encoding of this name.
    #[error(
        "{0:?} is no known text encoding; common ones are utf-8, utf-16le, windows-1252, iso-8859-1 and macintosh"
    )]
    UnknownEncoding(String),
    /// A byte that is invalid in the file's encoding.
    #[error(
        "line {line}: byte 0x{byte:02X} at position {offset} is not valid {encoding}; save the file as \
         UTF-8 (in a spreadsheet: \"CSV UTF-8\"), or say what it is with --encoding, for example \
         --encoding windows-1252. Nothing was imported"
    )]
    Encoding {
        /// From 1.
        line: u64,
        /// From 0, in bytes from the beginning of the file.
        offset: u64,
        /// The byte there.
        byte: u8,
        /// The encoding that the file was read with.
        encoding: &'static str,
    },
    /// A byte of an uploaded file that is invalid in the file's encoding.
    #[error(
        "line {line}: the byte at position {offset} is not valid {encoding}: save the file as UTF-8 (in a \
         spreadsheet: \"CSV UTF-8\"), or say which encoding it has, for example windows-1252"
    )]
    NotEncoded {
        /// From 1.
        line: u64,
        /// From 0, in bytes from the beginning of the file.
        offset: u64,
        /// The encoding that the file was read with.
        encoding: &'static str,
    },
    /// An uploaded file that holds NUL characters.
    #[error(
        "line {line} holds NUL characters: this is no text file, or it is UTF-16 and has to be called so (utf-16le)"
    )]
    NotText {
        /// From 1.
        line: u64,
    },
    /// An uploaded file with a line that is far too long.
    #[error("line {line} is longer than 1 MiB: this is no CSV file of contacts")]
    EndlessLine {
        /// From 1.
        line: u64,
    },
    /// A file that contacts are not read from, such as one in another format.
    #[error("{}", .0.sentence())]
    NotCsv(Other),
    /// The uploaded file has no row that ends where an earlier reading stopped.
    #[error("the stored file is not the one whose rows were read up to line {line}")]
    Misplaced {
        /// From 1.
        line: u64,
    },
    /// A piece of an uploaded file is not there, or not whole.
    #[error("{0}")]
    Damaged(String),
    /// The results do not add up: an internal failure.
    #[error("the file has {rows} rows, and the results of {written} are known: import it again")]
    Miscounted {
        /// The rows of the file.
        rows: u64,
        /// The rows that were created, updated, unchanged or rejected.
        written: u64,
    },
    /// There is no such country.
    #[error("{0:?} is no country: give its two letters, such as BR")]
    NoSuchCountry(String),
    /// A piece of an uploaded file could not be read.
    #[error("the uploaded file cannot be read: {0}")]
    Unread(String),
    /// The file is empty.
    #[error("the file is empty: its first line must name the columns")]
    Empty,
    /// The header's quotes are broken.
    #[error("line {line}: the header cannot be read: {fault}")]
    Header {
        /// From 1.
        line: u64,
        /// What is wrong with it.
        fault: String,
    },
    /// The header names more columns than are read.
    #[error(
        "line {line}: the header names {found} columns, and at most {most} are read: remove the columns that are no part \
         of a contact", most = super::header::MOST_COLUMNS
    )]
    TooManyColumns {
        /// From 1.
        line: u64,
        /// The number of columns.
        found: usize,
    },
    /// More mappings than a file has columns.
    #[error("{found} columns are mapped, and at most {most} can be", most = super::header::MOST_MAPPINGS)]
    TooManyMappings {
        /// The number of mappings.
        found: usize,
    },
    /// More tags for every contact of the file than a contact may be given at once.
    #[error("every contact of the file gets {found} tags, and at most {most} can be given at once", most = domain::contact::MOST_TAGS)]
    TooManyTags {
        /// The number of tags.
        found: usize,
    },
    /// More rows than a send has recipients.
    #[error("the file has more than {most} rows: make several sends of it", most = super::MOST_RECIPIENTS)]
    TooManyRows,
    /// A mapping to a field that does not exist.
    #[error("{field:?} for the column {column:?} is none of {fields}", fields = super::header::FIELDS)]
    NoSuchField {
        /// The column of the mapping.
        column: String,
        /// The word.
        field: String,
    },
    /// No column is known to contain phone numbers or e-mail addresses, which identify contacts.
    #[error(
        "line {line}: no column is known to hold a phone number or an e-mail address (found: {found}); \
         name one with --map, for example --map \"Contact 1=phone_number\""
    )]
    NoKnownColumn {
        /// From 1.
        line: u64,
        /// The header's first columns.
        found: String,
    },
    /// A mapping that is not `column=field`, or whose field does not exist.
    #[error("{0:?} is no mapping: it must be column=field, and field one of {fields}", fields = super::header::FIELDS)]
    Mapping(String),
    /// A mapping names a column that the file does not have.
    #[error("line {line}: there is no column {column:?} to map (found: {found})")]
    NoSuchColumn {
        /// From 1.
        line: u64,
        /// The column of the mapping.
        column: String,
        /// The header's first columns.
        found: String,
    },
    /// The database failed. The batches before stay, and another import of the file continues from there.
    #[error("{0}; rows imported so far are kept, and the same import run again finishes the job")]
    Store(#[from] store::Error),
    /// The reading thread ended without a result: an internal failure.
    #[error("reading the file stopped unexpectedly")]
    Stopped,
}

impl Error {
    pub(super) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Read { path: path.to_owned(), source }
    }

    pub(super) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Write { path: path.to_owned(), source }
    }
}
