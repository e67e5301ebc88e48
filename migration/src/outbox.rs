//! Events that wait to be published.

pub(crate) const UP: &[&str] = &[
    // Rows are numbered in the order of their changes, and removed when they are published. The meaning of
    // the columns depends on `kind`: `number` is a message's error, a send's number of recipients, or a
    // number of dropped events; `name` is the provider's id of a message. Rows come with the ledger's, many
    // at a time. They have no references, because these would be checked for each row.
    "CREATE TABLE outbox_event (
        seq {serial} PRIMARY KEY,
        kind {small} NOT NULL,
        company_id {uuid} NOT NULL,
        channel_id {uuid},
        subject_id {uuid},
        ordinal {int},
        recipient {int},
        state {small},
        number {int},
        name TEXT,
        detail TEXT,
        at {int} NOT NULL,
        written_at {int} NOT NULL
    ) {strict}",
];

pub(crate) const DOWN: &[&str] = &["DROP TABLE outbox_event"];
