//! Messages of sends that their recipients answered, the sends to groups, which stand in conversations, and people by number.

pub(crate) const UP: &[&str] = &[
    // When the recipient answered; null when nobody did.
    "ALTER TABLE message ADD COLUMN answered_at {int}",
    // Sends that may have lasted for long, or began long after they were accepted, by their ends: an answer to one of their
    // messages is looked for among these. There are few.
    "CREATE INDEX send_lasting ON send (channel_id, finished_at)
     WHERE finished_at IS NOT NULL AND (recipient IS NULL OR send_at IS NOT NULL)",
    // The recipient 0 is a group, which the content names.
    "CREATE INDEX send_group ON send (channel_id, id) WHERE recipient = 0",
    // By which a person is found whom the provider named by an id alone.
    "CREATE INDEX person_user_number ON person_user (company_id, number)",
];

pub(crate) const DOWN: &[&str] = &[
    "DROP INDEX person_user_number",
    "DROP INDEX send_group",
    "DROP INDEX send_lasting",
    "ALTER TABLE message DROP COLUMN answered_at",
];
