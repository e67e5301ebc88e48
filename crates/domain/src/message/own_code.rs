//! Codes of failures that the service itself decides on. They are negative, unlike any provider's code.

/// The recipient lacks a contact field that has no text in its place.
pub const NO_CONTACT_VALUE: i64 = -1;

/// The recipient lacks a value of the send that has no text in its place.
pub const NO_VALUE: i64 = -2;

/// A code of our own, for people who look it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnCode {
    /// The number.
    pub code: i64,
    /// What happened.
    pub meaning: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

/// Every code.
pub const ALL: &[OwnCode] = &[
    OwnCode {
        code: NO_CONTACT_VALUE,
        meaning: "The recipient is no contact with a value for a contact field of the send, and the field has no text in its \
                  place. The provider was not asked.",
        remedy: "Fill in the contacts, then send again to the messages with this code; or give the field a text for \
                 recipients without a value, such as `{{contact.first_name|friend}}`.",
    },
    OwnCode {
        code: NO_VALUE,
        meaning: "The values of the recipient could not be opened, because the service lacks the key that sealed them. The \
                  provider was not asked.",
        remedy: "Give the service the sealing key, then send again to the messages with this code; or make a new send with \
                 values.",
    },
];
