//! The records of a session, and how they change.

use std::fmt;

/// One record of a session. It may be a private key, so it is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Record {
    /// Its key, unique in its namespace.
    pub key: String,
    /// Its content: in the session's own format, or sealed.
    pub value: Vec<u8>,
    /// A number for the session's own use: seconds since 1970 for records that expire, another value for
    /// others.
    pub mark: i64,
}

/// One change of the records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Writes a record, and replaces an existing one with this key.
    Put {
        /// The namespace of the record.
        namespace: String,
        /// The record.
        record: Record,
    },
    /// Sets the mark of those of these records that exist.
    Mark {
        /// The namespace of the records.
        namespace: String,
        /// The keys of the records.
        keys: Vec<String>,
        /// The new mark.
        mark: i64,
    },
    /// Deletes those of these records that exist.
    Delete {
        /// The namespace of the records.
        namespace: String,
        /// The keys of the records.
        keys: Vec<String>,
    },
    /// Deletes all records of a namespace.
    Clear {
        /// The namespace to empty.
        namespace: String,
    },
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Record({}, {} bytes, mark {})", self.key, self.value.len(), self.mark)
    }
}
