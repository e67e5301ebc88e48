//! The index that contacts are searched by.
//!
//! It is empty at first. Searches are then slow but correct, because contacts outside the index are read one by
//! one. A running service fills it.

pub(crate) const UP: &[&str] = &[
    // Some thousand neighbouring contacts of a company, from the ordinal `first` on.
    "CREATE TABLE contact_segment (
        id {serial} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL,
        first {int} NOT NULL,
        contacts {int} NOT NULL
    ) {strict}",
    "CREATE UNIQUE INDEX contact_segment_first ON contact_segment (company_id, first)",
    // The places of a gram of one to three characters in a segment's texts. Always read by its whole key. It
    // has no foreign key, because that would be checked thousands of times for each segment.
    "CREATE TABLE contact_gram (
        segment_id {int} NOT NULL,
        gram {int} NOT NULL,
        places {bytes} NOT NULL,
        PRIMARY KEY (segment_id, gram)
    ) {clustered}",
    // Places are packed already: PostgreSQL need not try to compress them.
    "{postgres} ALTER TABLE contact_gram ALTER COLUMN places SET STORAGE EXTERNAL",
    // Contacts that changed since they were indexed, and the number of changes.
    "CREATE TABLE contact_stale (
        company_id {uuid} NOT NULL,
        ordinal {int} NOT NULL,
        changes {int} NOT NULL,
        PRIMARY KEY (company_id, ordinal)
    ) {clustered}",
];

pub(crate) const DOWN: &[&str] =
    &["DROP TABLE contact_stale", "DROP TABLE contact_gram", "DROP TABLE contact_segment"];
