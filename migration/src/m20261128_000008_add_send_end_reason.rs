//! Why a send ended, where nobody asked for it.

pub(crate) const UP: &[&str] = &[
    // 1: the database was restored from a backup.
    "ALTER TABLE send ADD COLUMN end_reason {small}",
];

pub(crate) const DOWN: &[&str] = &["ALTER TABLE send DROP COLUMN end_reason"];
