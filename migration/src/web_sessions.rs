//! The records that web sessions write to go on after a restart, and what they know of numbers.

pub(crate) const UP: &[&str] = &[
    // `value` is sealed to its place. `mark` is a number of the session's own, such as a time of expiry. Rows
    // come and go with the channel's connection, many at a time. They have no reference to the channel,
    // because it would be checked for each row.
    "CREATE TABLE web_session_record (
        channel_id {uuid} NOT NULL,
        namespace TEXT NOT NULL,
        key TEXT {bytewise} NOT NULL,
        value {bytes} NOT NULL,
        mark {int} NOT NULL,
        PRIMARY KEY (channel_id, namespace, key)
    ) {clustered}",
    // `checked_at`: when the number was last looked up on WhatsApp; null if it never was. `jid`: the address
    // that the lookup found; null if the number is not on WhatsApp. `lid`: the address that hides the number,
    // once it is known. `first_sent_at` and `first_heard_at`: when the session first wrote to the number and
    // first heard from it; null before that.
    "CREATE TABLE web_session_contact (
        channel_id {uuid} NOT NULL,
        phone {int} NOT NULL,
        jid TEXT,
        lid TEXT,
        checked_at {int},
        first_sent_at {int},
        first_heard_at {int},
        PRIMARY KEY (channel_id, phone)
    ) {clustered}",
    "CREATE INDEX web_session_contact_sent ON web_session_contact (channel_id, first_sent_at)
     WHERE first_sent_at IS NOT NULL",
];

pub(crate) const DOWN: &[&str] = &["DROP TABLE web_session_contact", "DROP TABLE web_session_record"];
