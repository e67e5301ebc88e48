//! Files of contacts: CSV and xlsx of spreadsheets, Google Contacts, HubSpot, and Pombo's own exports.
//!
//! A file of any size is read in constant memory. It is decoded ([`encoding`]), divided into records
//! ([`records`]), mapped by its header ([`opening`], [`header`]), converted to drafts ([`row`]), written in batches
//! ([`contacts()`]), and indexed for search in the background ([`indexing`]). A fault of the file ends the
//! import before its first row is written. A row with a fault is written to a file beside the input, with its
//! line and the reason ([`rejects`]). The command line calls this crate and shows the progress; this crate
//! prints nothing. The first sheet of an xlsx file is converted to CSV before ([`sheet`]).
//!
//! A send's recipients with values of their own come in files too ([`recipients`]).
//!
//! Uploaded files are checked while they arrive ([`inspection`]), shown before they are imported
//! ([`preview()`]), and read from the database in pieces ([`stored`]); the engine writes their rows.

mod contacts;
mod encoding;
mod error;
mod export;
mod file_format;
mod header;
mod indexing;
mod inspection;
mod opening;
mod preview;
mod reading;
mod recipients;
mod records;
mod reject_code;
mod rejects;
mod row;
mod settings;
mod sheet;
mod spill;
mod stored;
mod table;
mod table_file;

pub use contacts::{Options, Progress, Summary, contacts};
pub use error::Error;
pub use export::{BYTE_ORDER_MARK, export, export_csv};
pub use file_format::FileFormat;
pub use header::{Field, MOST_COLUMNS, MOST_MAPPINGS, Mapping, column_name, is_taken};
pub use indexing::Indexing;
pub use inspection::{GUESSED, Inspected, Inspection, Other, WrongBytes};
pub use preview::{Preview, preview};
pub use recipients::{
    ColumnFault, HeldColumns, MOST_RECIPIENTS, OtherColumns, ReadRecipients, RecipientColumn, RecipientFault,
    RecipientFile, RecipientSettings, UnknownColumn,
};
pub use reject_code::RejectCode;
pub use rejects::{csv_row, rejected_csv};
pub use row::{check_contact, check_tag, check_tags};
pub use settings::{Column, Settings, TAG_SEPARATORS};
pub use sheet::{SourceSheet, is_workbook, sheet_csv};
pub use spill::TemporarySpill;
pub use stored::{Lot, Tally, read_stored};
pub use table::{FileTable, TableRow, value_names};
pub use table_file::open_table;

/// The result of an import or export.
pub type Result<T> = std::result::Result<T, Error>;
