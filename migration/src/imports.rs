//! Imports of contacts, which survive a restart.

pub(crate) const UP: &[&str] = &[
    // `position`: bytes of the decoded file whose rows are written; `line`: the number of the line there.
    // Both move in the transaction that writes the rows. `settings`: how to read the file, in JSON. `names_kept`: rows
    // whose names looked wrongly decoded, so that the contacts kept theirs. `emails_left_out`: rows whose e-mail address
    // was none.
    "CREATE TABLE contact_import (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL REFERENCES company (id),
        file_name TEXT NOT NULL,
        state {small} NOT NULL,
        settings TEXT NOT NULL,
        bytes {int} NOT NULL,
        bytes_read {int} NOT NULL,
        position {int} NOT NULL,
        line {int} NOT NULL,
        created {int} NOT NULL,
        updated {int} NOT NULL,
        unchanged {int} NOT NULL,
        rejected {int} NOT NULL,
        rejected_kept {int} NOT NULL,
        without_number {int} NOT NULL,
        failure TEXT,
        has_chunks {small} NOT NULL,
        created_at {int} NOT NULL,
        updated_at {int} NOT NULL,
        started_at {int},
        finished_at {int},
        names_kept {int} NOT NULL DEFAULT 0,
        emails_left_out {int} NOT NULL DEFAULT 0
    ) {strict}",
    "CREATE INDEX contact_import_newest ON contact_import (company_id, created_at, id)",
    "CREATE INDEX contact_import_state ON contact_import (state, updated_at)",
    "CREATE INDEX contact_import_chunks ON contact_import (state) WHERE has_chunks <> 0",
    // The uploaded file; the chunks are removed when the import is over.
    "CREATE TABLE contact_import_chunk (
        import_id {uuid} NOT NULL,
        ordinal {int} NOT NULL,
        bytes {bytes} NOT NULL,
        PRIMARY KEY (import_id, ordinal)
    ) {strict}",
    // Files hardly compress in pieces, and each piece is read once.
    "{postgres} ALTER TABLE contact_import_chunk ALTER COLUMN bytes SET STORAGE EXTERNAL",
    // A rejected row: its fields in JSON. `details`: the values that the reason names, such as a field, a number or a
    // bound: a JSON list.
    "CREATE TABLE contact_import_reject (
        import_id {uuid} NOT NULL,
        ordinal {int} NOT NULL,
        line {int} NOT NULL,
        reason TEXT NOT NULL,
        fields TEXT NOT NULL,
        code TEXT,
        details TEXT,
        PRIMARY KEY (import_id, ordinal)
    ) {clustered}",
    // The meaning of each column in the company's last import, in JSON.
    "CREATE TABLE contact_import_mapping (
        company_id {uuid} NOT NULL PRIMARY KEY REFERENCES company (id),
        columns TEXT NOT NULL
    ) {strict}",
];

pub(crate) const DOWN: &[&str] = &[
    "DROP TABLE contact_import_mapping",
    "DROP TABLE contact_import_reject",
    "DROP TABLE contact_import_chunk",
    "DROP TABLE contact_import",
];
