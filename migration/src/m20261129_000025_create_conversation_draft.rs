//! Answers that users have begun to write in a conversation.

pub(crate) const UP: &[&str] = &[
    // One for a user in a conversation. `text` is sealed to both ids. `updated_at`: when the user typed last, by which others
    // see who is writing.
    "CREATE TABLE conversation_draft (
        conversation_id {uuid} NOT NULL,
        user_id {uuid} NOT NULL,
        company_id {uuid} NOT NULL,
        text {bytes} NOT NULL,
        updated_at {int} NOT NULL,
        PRIMARY KEY (conversation_id, user_id)
    ) {clustered}",
];

pub(crate) const DOWN: &[&str] = &["DROP TABLE conversation_draft"];
