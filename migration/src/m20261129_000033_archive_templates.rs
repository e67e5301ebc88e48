//! Templates that people archived, so that a new send does not offer them.

pub(crate) const UP: &[&str] = &[
    // Null: it is offered.
    "ALTER TABLE template ADD COLUMN archived_at {int}",
];

pub(crate) const DOWN: &[&str] = &["ALTER TABLE template DROP COLUMN archived_at"];
