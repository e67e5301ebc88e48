//! Own fields of contacts, and their values.
//!
//! As other tables of contacts, PostgreSQL has no foreign key from a value to its contact: values are written under the
//! lock of their company's book, and the transaction that deletes a contact removes its values.

pub(crate) const UP: &[&str] = &[
    // `kind`: text, number or date. `removed`: 1 for a field that was deleted, and is being removed from its contacts.
    "CREATE TABLE contact_field (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL REFERENCES company (id),
        key TEXT NOT NULL,
        name TEXT NOT NULL,
        kind TEXT NOT NULL,
        created_at {int} NOT NULL,
        removed {small} NOT NULL DEFAULT 0
    ) {strict}",
    "CREATE UNIQUE INDEX contact_field_key ON contact_field (company_id, key) WHERE removed = 0",
    "CREATE INDEX contact_field_removed ON contact_field (id) WHERE removed <> 0",
    // A contact's value of a field, of which a contact may have none. `sorted` orders the values of a field and finds
    // equal ones: the millionths of a number, a date as 20260131, the first bytes of the digest of a folded text. `text`
    // is null for numbers and dates. `ordinal` is the contact's: a list of contacts is read from one index.
    "CREATE TABLE contact_value (
        contact_id {uuid} NOT NULL {references contact},
        field_id {uuid} NOT NULL,
        ordinal {int} NOT NULL,
        sorted {int} NOT NULL,
        text TEXT,
        PRIMARY KEY (contact_id, field_id)
    ) {clustered}",
    "CREATE INDEX contact_value_sorted ON contact_value (field_id, sorted, ordinal)",
];

pub(crate) const DOWN: &[&str] = &["DROP TABLE contact_value", "DROP TABLE contact_field"];
