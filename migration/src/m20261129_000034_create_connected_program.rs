//! The programs written for Meta that people connected to channels.

pub(crate) const UP: &[&str] = &[
    // `kind`: 1 Chatwoot, 2 Typebot. `webhook_id`: null until the program has one. `address`: that of Chatwoot, or of Typebot's
    // receiver; empty until it is known. `account` and `inbox` are Chatwoot's numbers.
    "CREATE TABLE connected_program (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL,
        kind {small} NOT NULL,
        channel_id {uuid} NOT NULL,
        key_id {uuid} NOT NULL,
        webhook_id {uuid},
        address TEXT NOT NULL,
        account {int},
        inbox {int},
        created_at {int} NOT NULL
    ) {strict}",
    "CREATE INDEX connected_program_company ON connected_program (company_id, id)",
];

pub(crate) const DOWN: &[&str] = &["DROP TABLE connected_program"];
