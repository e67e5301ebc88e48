//! Companies whose people are not told that their messages were read.

pub(crate) const UP: &[&str] = &[
    // 1: nobody is told.
    "ALTER TABLE automatic_text ADD COLUMN hides_reading {small} NOT NULL DEFAULT 0",
];

pub(crate) const DOWN: &[&str] = &["ALTER TABLE automatic_text DROP COLUMN hides_reading"];
