//! Files of contacts: whatever CSV a spreadsheet, Google Contacts or HubSpot wrote, and our own.
//!
//! A file of any size is read in constant memory: decoded ([`encoding`]), cut into records ([`records`]),
//! understood by its header ([`header`]), made into drafts ([`row`]) and written in batches
//! ([`contacts()`]), which are indexed for search beside that ([`indexing`]). Faults of the file end the import before its first row is written; faults of a row
//! put that row, its line and the reason into a file beside the input ([`rejects`]). Called by the command
//! line, which draws the progress; nothing here prints.

mod contacts;
mod encoding;
mod error;
mod export;
mod header;
mod indexing;
mod reading;
mod records;
mod rejects;
mod row;

pub use contacts::{Options, Progress, Summary, contacts};
pub use error::Error;
pub use export::export;
pub use header::{Field, Mapping};

/// The result of an import or export.
pub type Result<T> = std::result::Result<T, Error>;
