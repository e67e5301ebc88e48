//! Contacts, tags, and which contact has which tag.
//!
//! PostgreSQL has no foreign keys here: their checks were nearly half of an import's time (8 to 10 µs for each of three
//! keys, by `EXPLAIN ANALYZE`). They are not needed: contacts are written under the lock of their company's book, which
//! exists only with the company; a transaction tags only contacts that it wrote or read; and the transaction that deletes a
//! contact removes its tags. SQLite has the keys, which cost almost nothing.

pub(crate) const UP: &[&str] = &[
    // `phone` is the number as an integer, null when it is not a valid one. `search_text` is every searched field
    // without case and accents, one per line; `tag_text` the names of the contact's tags, likewise: a rename of a tag
    // rewrites them. A company's contacts are numbered from 0 in the order of its list, oldest first, so that any page is
    // found by arithmetic; a deleted contact leaves its `ordinal` free.
    "CREATE TABLE contact (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL {references company},
        first_name TEXT NOT NULL,
        last_name TEXT NOT NULL,
        email TEXT NOT NULL,
        phone_number TEXT NOT NULL,
        phone {int},
        phone_number_lid TEXT,
        profile_picture TEXT NOT NULL,
        search_text TEXT NOT NULL,
        created_at {int} NOT NULL,
        updated_at {int} NOT NULL,
        ordinal {int} NOT NULL DEFAULT 0,
        tag_text TEXT NOT NULL DEFAULT ''
    ) {strict}",
    "CREATE UNIQUE INDEX contact_ordinal ON contact (company_id, ordinal)",
    "CREATE INDEX contact_phone ON contact (company_id, phone)",
    // Addresses are compared byte by byte, because only their equality matters.
    "CREATE INDEX contact_email ON contact (company_id, lower(email) {bytewise})",
    // `upkeep`: 0 nothing to do; 1 renamed, and the texts of its contacts are being rewritten; 2 deleted, and
    // it is being removed from its contacts. `upkeep_after`: the id of the last contact that is done.
    "CREATE TABLE tag (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL REFERENCES company (id),
        name TEXT NOT NULL,
        name_folded TEXT NOT NULL,
        color TEXT NOT NULL,
        created_at {int} NOT NULL,
        contacts {int} NOT NULL DEFAULT 0,
        upkeep {small} NOT NULL DEFAULT 0,
        upkeep_after {uuid}
    ) {strict}",
    "CREATE UNIQUE INDEX tag_name ON tag (company_id, name)",
    // Names of tags that differ in case only are one tag.
    "CREATE INDEX tag_folded ON tag (company_id, name_folded)",
    "CREATE INDEX tag_newest ON tag (company_id, created_at, id)",
    "CREATE INDEX tag_upkeep ON tag (id) WHERE upkeep <> 0",
    // The phone is here too, so that a tag's recipients are read from this one index, in order of numbers.
    "CREATE TABLE contact_tag (
        tag_id {uuid} NOT NULL {references tag},
        contact_id {uuid} NOT NULL {references contact},
        company_id {uuid} NOT NULL,
        phone {int},
        PRIMARY KEY (tag_id, contact_id)
    ) {strict}",
    "CREATE INDEX contact_tag_phone ON contact_tag (tag_id, phone)",
    "CREATE INDEX contact_tag_contact ON contact_tag (contact_id)",
    // One row for each company that has contacts; a change of contacts locks it. `contacts`: their number,
    // and the next ordinal. `indexed`: ordinals below it are in the search index. `claimed`: ordinals below
    // it are indexed or being indexed; a change to one of them is noted as stale.
    "CREATE TABLE contact_book (
        company_id {uuid} NOT NULL PRIMARY KEY REFERENCES company (id),
        contacts {int} NOT NULL,
        indexed {int} NOT NULL,
        claimed {int} NOT NULL
    ) {strict}",
    // The number of ordinals without a contact in a block of neighbouring ordinals.
    "CREATE TABLE contact_gap (
        company_id {uuid} NOT NULL,
        block {int} NOT NULL,
        removed {int} NOT NULL,
        PRIMARY KEY (company_id, block)
    ) {clustered}",
    // The companies whose stored texts are not folded again yet, each with the ordinal of the next contact. A change of the
    // folding lists all companies here.
    "CREATE TABLE contact_refold (
        company_id {uuid} NOT NULL PRIMARY KEY REFERENCES company (id),
        next {int} NOT NULL
    ) {strict}",
];

pub(crate) const DOWN: &[&str] = &[
    "DROP TABLE contact_refold",
    "DROP TABLE contact_gap",
    "DROP TABLE contact_book",
    "DROP TABLE contact_tag",
    "DROP TABLE tag",
    "DROP TABLE contact",
];
