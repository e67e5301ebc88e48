//! The event log, which takes the place of the outbox: readers have places in it and remove nothing.

pub(crate) const UP: &[&str] = &[
    // What one write changed, packed, in the order of the changes; `entries` is their number, and `bytes` about what the
    // block takes. Numbers are never used again, so that a reader's place stays after what it has read when the log is
    // empty.
    "CREATE TABLE event_block (
        seq {serial} PRIMARY KEY {once},
        company_id {uuid} NOT NULL,
        entries {int} NOT NULL,
        bytes {int} NOT NULL,
        written_at {int} NOT NULL,
        packed {bytes} NOT NULL
    ) {strict}",
    "CREATE INDEX event_block_by_company ON event_block (company_id, seq, bytes)",
    "CREATE INDEX event_block_by_age ON event_block (written_at)",
    // Who reads: a stream outside, which reads the logs of all companies, under an id of zeros; or a company. Only
    // what somebody reads is written.
    "CREATE TABLE event_reader (
        kind TEXT NOT NULL,
        company_id {uuid} NOT NULL,
        sequence {int} NOT NULL,
        used_at {int} NOT NULL,
        PRIMARY KEY (kind, company_id)
    ) {clustered}",
    // What was removed before every reader had read it: `events` of the company, up to the block `through`.
    "CREATE TABLE event_loss (
        company_id {uuid} NOT NULL,
        through {int} NOT NULL,
        events {int} NOT NULL,
        first_at {int} NOT NULL,
        last_at {int} NOT NULL,
        PRIMARY KEY (company_id, through)
    ) {clustered}",
    "DROP TABLE outbox_event",
];

pub(crate) const DOWN: &[&str] = &[
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
    "DROP TABLE event_loss",
    "DROP TABLE event_reader",
    "DROP TABLE event_block",
];
