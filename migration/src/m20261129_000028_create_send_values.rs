//! Values of a send's recipients, their references, and the entries of its request that were skipped.

pub(crate) const UP: &[&str] = &[
    // A send whose recipients have values of their own. `seal`: what its blocks of values are sealed to. `gone`: 1 once the
    // values are removed, 2 while they are being removed.
    "CREATE TABLE personal_send (
        send_id {uuid} NOT NULL PRIMARY KEY,
        company_id {uuid} NOT NULL,
        seal {uuid} NOT NULL,
        gone {small} NOT NULL DEFAULT 0
    ) {clustered}",
    "CREATE INDEX personal_send_kept ON personal_send (company_id, send_id) WHERE gone <> 1",
    // `packed` is sealed with a key of the company to the send's `seal` and the first ordinal.
    "CREATE TABLE send_values (
        send_id {uuid} NOT NULL,
        first_ordinal {int} NOT NULL,
        recipients {int} NOT NULL,
        packed {bytes} NOT NULL,
        PRIMARY KEY (send_id, first_ordinal)
    ) {strict}",
    "CREATE TABLE message_reference (
        send_id {uuid} NOT NULL,
        ordinal {int} NOT NULL,
        company_id {uuid} NOT NULL,
        reference TEXT {bytewise} NOT NULL,
        PRIMARY KEY (send_id, ordinal)
    ) {clustered}",
    "CREATE INDEX message_reference_text ON message_reference (company_id, reference, send_id, ordinal)",
    // Skipped entries from `place` on, as a JSON array.
    "CREATE TABLE send_skipped (
        send_id {uuid} NOT NULL,
        place {int} NOT NULL,
        entries {int} NOT NULL,
        packed TEXT NOT NULL,
        PRIMARY KEY (send_id, place)
    ) {strict}",
];

pub(crate) const DOWN: &[&str] = &[
    "DROP TABLE send_skipped",
    "DROP TABLE message_reference",
    "DROP TABLE send_values",
    "DROP TABLE personal_send",
];
