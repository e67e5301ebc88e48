//! Web sessions in the engine: for now, where they keep their keys.

mod records;

pub use self::records::SessionRecords;
