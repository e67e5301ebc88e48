//! Sends, their frozen recipients, the ledger of attempted messages, and what the provider reports besides.

pub(crate) const UP: &[&str] = &[
    // `high_water`: ordinals below it may have been attempted. `settled`: ordinals below it all have a
    // row in the ledger. `recipient` is set if there is only one; otherwise the recipients are in the blocks.
    // `control`: 0 runs, 1 is paused by a person. `due_at`: the send does nothing before this moment, because it is
    // scheduled or all its remaining messages wait until then.
    "CREATE TABLE send (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL,
        channel_id {uuid} NOT NULL,
        state {small} NOT NULL,
        content TEXT NOT NULL,
        recipients {int} NOT NULL,
        recipient {int},
        high_water {int} NOT NULL,
        settled {int} NOT NULL,
        created_at {int} NOT NULL,
        finished_at {int},
        control {small} NOT NULL DEFAULT 0,
        template_id {int},
        due_at {int},
        send_at {int},
        expires_at {int},
        skipped {int} NOT NULL DEFAULT 0,
        resolver {uuid}
    ) {clustered}",
    "CREATE INDEX send_active ON send (channel_id, id) WHERE state < 2",
    "CREATE INDEX send_company ON send (company_id, id)",
    "CREATE INDEX send_due ON send (channel_id, due_at) WHERE state < 2 AND due_at IS NOT NULL",
    "CREATE INDEX send_expiring ON send (expires_at) WHERE state < 2 AND expires_at IS NOT NULL",
    // The sends of web sessions by their time, which is in their ids. All of them expire and have one
    // recipient. Few other sends do, so the index costs those almost nothing.
    "CREATE INDEX send_brief ON send (channel_id, id) WHERE recipient IS NOT NULL AND expires_at IS NOT NULL",
    // A state below 0 is a tombstone: it holds the send's id, so that a late commit cannot write the send.
    "CREATE INDEX send_withdrawn ON send (id) WHERE state < 0",
    "CREATE INDEX send_template ON send (channel_id, finished_at)
     WHERE template_id IS NOT NULL AND finished_at IS NOT NULL",
    "CREATE TABLE recipient_block (
        send_id {uuid} NOT NULL,
        first_ordinal {int} NOT NULL,
        recipients {int} NOT NULL,
        packed {bytes} NOT NULL,
        PRIMARY KEY (send_id, first_ordinal)
    ) {strict}",
    // `kind`: 0 is a tag, 1 is a send whose messages are sent again.
    "CREATE TABLE send_source (
        send_id {uuid} NOT NULL,
        source_id {uuid} NOT NULL,
        kind {small} NOT NULL,
        PRIMARY KEY (send_id, source_id)
    ) {clustered}",
    "CREATE INDEX send_source_of ON send_source (source_id, send_id)",
    // One row per attempted message. `retry_at` is set while the message waits for a retry. `taken_at` is null while the
    // provider certainly has not taken the message: one that waits for a retry and has this time is in doubt.
    "CREATE TABLE message (
        send_id {uuid} NOT NULL,
        ordinal {int} NOT NULL,
        company_id {uuid} NOT NULL,
        recipient {int} NOT NULL,
        state {small} NOT NULL,
        attempts {small} NOT NULL,
        provider_message_id TEXT,
        error_code {int},
        error TEXT,
        retry_at {int},
        updated_at {int} NOT NULL,
        taken_at {int},
        PRIMARY KEY (send_id, ordinal)
    ) {clustered}",
    "CREATE INDEX message_waiting ON message (send_id, ordinal) WHERE retry_at IS NOT NULL",
    // The row of the send is gone, and so are its messages and blocks below `next_ordinal`.
    "CREATE TABLE forgotten_send (
        id {uuid} NOT NULL PRIMARY KEY,
        recipients {int} NOT NULL,
        next_ordinal {int} NOT NULL
    ) {clustered}",
    // `fingerprint`: SHA-256 over the request. The answer is built again from the other columns. `result`: the whole answer
    // as JSON, for sends of web sessions, whose answers cannot be built again.
    "CREATE TABLE idempotency_key (
        company_id {uuid} NOT NULL,
        key TEXT NOT NULL,
        fingerprint {bytes} NOT NULL,
        send_id {uuid} NOT NULL,
        recipients {int} NOT NULL,
        skipped {int} NOT NULL,
        skipped_first TEXT NOT NULL,
        created_at {int} NOT NULL,
        result TEXT,
        PRIMARY KEY (company_id, key)
    ) {clustered}",
    "CREATE INDEX idempotency_key_age ON idempotency_key (created_at)",
    // Requests with an Idempotency-Key that a node is working on.
    "CREATE TABLE key_in_progress (
        company_id {uuid} NOT NULL,
        key TEXT NOT NULL,
        node_id {uuid} NOT NULL,
        PRIMARY KEY (company_id, key)
    ) {strict}",
    // Reports of the provider that no other table keeps, such as inbound messages. `identity` is the
    // provider's id of the report, so that a repeated report is kept once.
    "CREATE TABLE event (
        id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL,
        channel_id {uuid} NOT NULL,
        kind TEXT NOT NULL,
        identity TEXT NOT NULL,
        payload TEXT NOT NULL,
        created_at {int} NOT NULL
    ) {strict}",
    "CREATE UNIQUE INDEX event_identity ON event (channel_id, kind, identity)",
    "CREATE INDEX event_company ON event (company_id, id)",
];

pub(crate) const DOWN: &[&str] = &[
    "DROP TABLE event",
    "DROP TABLE key_in_progress",
    "DROP TABLE idempotency_key",
    "DROP TABLE forgotten_send",
    "DROP TABLE message",
    "DROP TABLE send_source",
    "DROP TABLE recipient_block",
    "DROP TABLE send",
];
