//! What a provider tells of its own accord, in the engine's words: receipts above all.
//!
//! Updates come at least once, in any order, many at a time. Nothing here says whether one is news.

use crate::clock::Timestamp;
use crate::connector::Disposition;
use crate::domain::message::{Failure, Key, State};
use crate::domain::phone::PhoneNumber;
use crate::domain::template::{Category, Status};
use crate::domain::tier::Quota;

/// One update, and whom it concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// The provider's id of the business account.
    pub account: Option<String>,
    /// The provider's id of the number; absent where the whole account is meant.
    pub number: Option<String>,
    /// When it was said, or heard if that is not told.
    pub at: Timestamp,
    /// What it says.
    pub update: Update,
}

/// What a provider tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Update {
    /// Of a message that was handed over.
    Receipt(Receipt),
    /// Of a template; name and language are its identity in the account.
    Template {
        /// The provider's id.
        provider_id: String,
        /// Its name.
        name: String,
        /// With an underscore, such as `pt_BR`.
        language: String,
        /// What changed.
        change: TemplateChange,
    },
    /// Something about a number changed, its rating or its rate: ask the provider again.
    Number {
        /// The number itself, as the only thing that tells which it is.
        phone_number: Option<PhoneNumber>,
        /// The provider's word.
        event: String,
    },
    /// Of the business account.
    Account(AccountChange),
    /// How many people the owner of the account may begin a conversation with in a moving 24 hours.
    Limit {
        /// The new limit; `None` when it is not said in words that we know: ask the provider again.
        messaging_limit: Option<Quota>,
    },
    /// A person said whether they want this business's marketing.
    Preference {
        /// The person.
        recipient: PhoneNumber,
        /// They do not want it (any more); `false` when they want it again.
        stops: bool,
        /// When they said so.
        at: Timestamp,
    },
    /// A message from a person.
    Inbound {
        /// The provider's id of the message.
        id: String,
        /// The person, when the provider says their number.
        from: Option<PhoneNumber>,
        /// When it was sent.
        at: Timestamp,
        /// JSON: the provider's `message` as it came, and in `contacts` what it says about the sender.
        payload: String,
    },
    /// An error of the number or the account, and of no message that could be named.
    Trouble(Disposition, Failure),
    /// Something that nothing follows from.
    Other {
        /// What it was about, in the provider's word.
        field: String,
    },
    /// Something that could not be read; what came with it was.
    Unreadable {
        /// Where it stood.
        field: String,
    },
}

/// The outcome of a message after it was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Our own name of the message; absent when it was not sent by this service.
    pub key: Option<Key>,
    /// The provider's id of the message.
    pub provider_message_id: String,
    /// [`State::Sent`], [`State::Delivered`], [`State::Read`] or [`State::Failed`].
    pub state: State,
    /// When it came about, to the second.
    pub at: Timestamp,
    /// The recipient, when the provider says their number.
    pub recipient: Option<PhoneNumber>,
    /// Of a failure: what it means, and why.
    pub refusal: Option<(Disposition, Failure)>,
}

/// What changed about a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplateChange {
    /// Whether it can be sent.
    Status {
        /// The status since then.
        status: Status,
        /// Which pause it is, why it was rejected, or another word of explanation.
        title: Option<String>,
    },
    /// How the provider rates it: `GREEN`, `YELLOW`, `RED`, `UNKNOWN`.
    Quality(String),
    /// Its category.
    Category(Category),
}

/// What changed about a business account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountChange {
    /// This service may not use it any more; a person has to connect it again.
    Disconnected(Failure),
    /// It is restricted; a new token does not help.
    Blocked(Failure),
    /// It can be used again: ask the provider.
    Restored,
    /// Something else, in the provider's word.
    Other(String),
}
