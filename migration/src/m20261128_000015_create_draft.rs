//! New sends that people are writing, and the numbers to which they get tests of them.

pub(crate) const UP: &[&str] = &[
    "ALTER TABLE user_account ADD COLUMN phone_number {int}",
    // `user_id`: the person who kept it last. `is_saved`: 1 when a person saved it for the company, 0 when it was kept by
    // itself, for that person alone. `name`, `channel_id` and `kind` are copies of fields of the content, for lists;
    // `content` has the fields as a browser encodes them.
    "CREATE TABLE draft (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL REFERENCES company (id),
        user_id {uuid} NOT NULL REFERENCES user_account (id),
        is_saved {small} NOT NULL,
        name TEXT NOT NULL,
        channel_id {uuid},
        kind TEXT NOT NULL,
        content TEXT NOT NULL,
        kept_at {int} NOT NULL
    ) {strict}",
    "CREATE INDEX draft_company ON draft (company_id, kept_at)",
    "CREATE INDEX draft_user ON draft (user_id)",
    "CREATE INDEX draft_age ON draft (kept_at)",
];

pub(crate) const DOWN: &[&str] = &["DROP TABLE draft", "ALTER TABLE user_account DROP COLUMN phone_number"];
