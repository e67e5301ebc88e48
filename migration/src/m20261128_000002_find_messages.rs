//! Messages are found by their recipient, and sends by their caller's reference.
//!
//! The index of recipients leads with the hours in which a send was accepted: the first bytes of its id, which count
//! spans of 4 hours and 40 minutes. So new rows go to the end of the index, where the ledger's rows come together, and
//! not to a place of their own each among all rows of the past. A search looks into each span.

pub(crate) const UP: &[&str] = &[
    "ALTER TABLE send ADD COLUMN reference TEXT",
    // A JSON object whose values are texts.
    "ALTER TABLE send ADD COLUMN metadata TEXT",
    "CREATE INDEX send_reference ON send (company_id, reference, id) WHERE reference IS NOT NULL",
    // Messages without a row: those of sends that are not over, and those of sends that were canceled or expired. The
    // recipient of a single send is in both indexes.
    "DROP INDEX send_active",
    "CREATE INDEX send_active ON send (channel_id, id, recipient) WHERE state < 2",
    "CREATE INDEX send_ended_early ON send (company_id, recipient, id) WHERE state > 2",
    "CREATE INDEX message_recipient ON message ({hours of send_id}, recipient)",
];

pub(crate) const DOWN: &[&str] = &[
    "DROP INDEX message_recipient",
    "DROP INDEX send_ended_early",
    "DROP INDEX send_active",
    "CREATE INDEX send_active ON send (channel_id, id) WHERE state < 2",
    "DROP INDEX send_reference",
    "ALTER TABLE send DROP COLUMN metadata",
    "ALTER TABLE send DROP COLUMN reference",
];
