//! The names of sends, which people find them by, and who made them.

pub(crate) const UP: &[&str] = &[
    // Null: the name is made when it is read.
    "ALTER TABLE send ADD COLUMN given_name TEXT",
    "ALTER TABLE send ADD COLUMN given_name_folded TEXT",
    // As the record of changes names its authors.
    "ALTER TABLE send ADD COLUMN made_by TEXT",
    "CREATE INDEX send_named ON send (company_id, id, given_name_folded) WHERE given_name_folded IS NOT NULL",
];

pub(crate) const DOWN: &[&str] = &[
    "DROP INDEX send_named",
    "ALTER TABLE send DROP COLUMN made_by",
    "ALTER TABLE send DROP COLUMN given_name_folded",
    "ALTER TABLE send DROP COLUMN given_name",
];
