//! Files of contacts: whatever CSV a spreadsheet, Google Contacts or HubSpot wrote, and our own.
//!
//! A file of any size is read in constant memory: decoded ([`encoding`]), cut into records ([`records`]),
//! understood by its header ([`header`]), made into drafts ([`row`]) and written in batches
//! ([`contacts()`]), which are indexed for search beside that ([`indexing`]). Faults of the file end the import before its first row is written; faults of a row
//! put that row, its line and the reason into a file beside the input ([`rejects`]). Called by the command
//! line, which draws the progress; nothing here prints.
//!
//! Files that are uploaded are looked through while they arrive ([`inspection`]), shown before they are imported
//! ([`preview()`]), and read from the database in pieces ([`stored`]); the engine writes their rows.

mod contacts;
mod encoding;
mod error;
mod export;
mod header;
mod indexing;
mod inspection;
mod preview;
mod reading;
mod records;
mod reject_code;
mod rejects;
mod row;
mod settings;
mod stored;

pub use contacts::{Options, Progress, Summary, contacts};
pub use error::Error;
pub use export::{export, export_csv};
pub use header::{Field, Mapping};
pub use indexing::Indexing;
pub use inspection::Inspection;
pub use preview::{Preview, preview};
pub use reject_code::RejectCode;
pub use rejects::rejected_csv;
pub use row::{check_contact, check_tag};
pub use settings::{Column, Settings};
pub use stored::{LONGEST_HEADER, Lot, read_stored};

/// The result of an import or export.
pub type Result<T> = std::result::Result<T, Error>;
