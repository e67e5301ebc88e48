//! The keys of operators, and the record of changes.

pub(crate) const UP: &[&str] = &[
    // A name is never used twice, not even after its key was revoked, because the record of changes names
    // operators by it.
    "CREATE TABLE operator_key (
        id {uuid} NOT NULL PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        prefix TEXT NOT NULL,
        hash {bytes} NOT NULL UNIQUE,
        expires_at {int},
        revoked_at {int},
        created_at {int} NOT NULL
    ) {strict}",
    // One row per change, written in the transaction of what it records. `before` and `after` are JSON. `address` is null
    // for changes at the command line and with a key.
    "CREATE TABLE change (
        id {uuid} NOT NULL PRIMARY KEY,
        at {int} NOT NULL,
        who TEXT NOT NULL,
        what TEXT NOT NULL,
        subject TEXT NOT NULL,
        before TEXT,
        after TEXT NOT NULL,
        address TEXT
    ) {strict}",
    // Ids are ordered by time, so that each of these serves a span of time as well.
    "CREATE INDEX change_subject ON change (subject, id)",
    "CREATE INDEX change_who ON change (who, id)",
    "CREATE INDEX change_what ON change (what, id)",
    "CREATE INDEX change_who_what ON change (who, what, id)",
    "CREATE INDEX change_subject_who ON change (subject, who, id)",
    "CREATE INDEX change_subject_what ON change (subject, what, id)",
    "CREATE INDEX change_failed_sign_in ON change (id) WHERE who = 'user:'",
];

pub(crate) const DOWN: &[&str] = &["DROP TABLE change", "DROP TABLE operator_key"];
