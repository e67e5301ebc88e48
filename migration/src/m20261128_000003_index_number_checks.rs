//! The numbers about which a web session asked lately, which its channel reads when it starts.

pub(crate) const UP: &[&str] =
    &["CREATE INDEX web_session_contact_checked ON web_session_contact (channel_id, checked_at)
       WHERE checked_at IS NOT NULL AND first_sent_at IS NULL"];

pub(crate) const DOWN: &[&str] = &["DROP INDEX web_session_contact_checked"];
