//! Who of a group wrote a message, so that nobody deletes the message of another.

pub(crate) const UP: &[&str] = &[
    // A digest, or `admin` for what an admin does to the message of another. Null: an echo, a message outside of groups, and
    // one that is older than this column.
    "ALTER TABLE conversation_message ADD COLUMN writer TEXT {bytewise}",
];

pub(crate) const DOWN: &[&str] = &["ALTER TABLE conversation_message DROP COLUMN writer"];
