//! Requests to send, parsed from hostile bytes into values that cannot be wrong.
//!
//! The checks come in the order that the API promises, and the first failing one answers. At first a body is only split
//! into the raw text of its fields; each field is read at its step, so that a request that is refused early never has
//! its million recipients read. Nothing here knows the caller or looks anything up.
//!
//! Decided here:
//!
//! - `null`, blank texts and empty arrays are absent; only `components` may be an empty array.
//! - A known field that is given twice makes the body invalid: which one counts would be a guess. Inside
//!   `components` and `interactive` the last one counts.
//! - Fields that a type does not use (a text's `caption`) are ignored, and so are unknown ones, except other spellings of
//!   known ones.
//! - A reaction goes to one number: each message of a bulk send is another one.

mod answer;
mod audience;
mod body;
mod business;
mod check;
mod enclosed;
mod field;
mod instead;
mod kind;
mod label;
mod plain;
mod quick_send;
mod recipients;
mod retry;
mod shape;
mod skipped;
mod split_send;
mod structured;
mod template;
mod unused;
mod web;

pub use self::answer::{ConversationRequest, ConversationSend};
pub use self::audience::{Again, Audience, MOST_SEGMENTS, OnSkipped, Personal};
pub use self::business::{BusinessRequest, BusinessSend, RequestedContent};
pub use self::check::{CheckEntry, CheckRequest, MOST_CHECKED, NumberCheck};
pub use self::instead::of_instead;
pub use self::kind::{business_types, web_types};
pub use self::quick_send::QuickSend;
pub use self::recipients::{GivenRecipient, GivenValue, recipient_of_line};
pub use self::retry::{RetryRequest, SendAgain};
pub use self::shape::{
    ErrorCode, ErrorCodes, MessageType, Number, Numbers, RecipientType, RetriedState, RetriedStates,
    SegmentIds, Tags, TemplateId, TemplateInstead, WebMessageType,
};
pub use self::skipped::{KEPT_ENTRIES, SHOWN_ENTRIES, SHOWN_RECIPIENTS, SkipCode, Skipped, SkippedEntry};
pub use self::split_send::SplitSend;
pub use self::web::{GROUP_SUFFIX, WebRecipient, WebRequest, WebSend};
use crate::link;

/// How much one request may ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Characters of a text.
    pub text_chars: usize,
    /// Characters of a caption.
    pub caption_chars: usize,
    /// Characters of a link.
    pub link_chars: usize,
    /// Entries of `phone_number`, valid or not.
    pub phone_numbers: usize,
    /// Entries of `contact_tag_id`, and of `without_contact_tag_id`.
    pub tags: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            text_chars: 4096,
            caption_chars: 1024,
            link_chars: link::MAX_CHARS,
            phone_numbers: 100_000,
            tags: 100,
        }
    }
}

#[cfg(test)]
mod tests;
