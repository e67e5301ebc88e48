//! Selections of contacts that a company saved under names, and notes on contacts.

pub(crate) const UP: &[&str] = &[
    // `identity`: what a name has in common with names that count as the same. `filter`: the version of its form, and what it selects, as JSON.
    "CREATE TABLE saved_segment (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL REFERENCES company (id),
        name TEXT NOT NULL,
        identity TEXT NOT NULL,
        filter TEXT NOT NULL,
        created_at {int} NOT NULL,
        updated_at {int} NOT NULL
    ) {strict}",
    "CREATE UNIQUE INDEX saved_segment_name ON saved_segment (company_id, identity)",
    // `author`: as the record of changes names its authors.
    "CREATE TABLE contact_note (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL REFERENCES company (id),
        contact_id {uuid} NOT NULL {references contact},
        author TEXT NOT NULL,
        body TEXT NOT NULL,
        created_at {int} NOT NULL,
        updated_at {int} NOT NULL
    ) {strict}",
    "CREATE INDEX contact_note_of ON contact_note (contact_id, id)",
];

pub(crate) const DOWN: &[&str] = &["DROP TABLE contact_note", "DROP TABLE saved_segment"];
