//! Updates that a provider sends by itself, mainly receipts, in the engine's types.
//!
//! Updates come at least once, in any order, many at a time. An update may be a repetition.

use crate::Disposition;
use clock::Timestamp;
use domain::inbound::InboundMessage;
use domain::message::{Failure, Key, State};
use domain::phone::PhoneNumber;
use domain::price::Billing;
use domain::template::{Category, Status};
use domain::tier::Quota;

/// One update, with its account and number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// The provider's id of the business account.
    pub account: Option<String>,
    /// The provider's id of the number; absent when the update is about the whole account.
    pub number: Option<String>,
    /// The time of the update, or of its arrival if the provider gives none.
    pub at: Timestamp,
    /// The content.
    pub update: Update,
}

/// The content of an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Update {
    /// A receipt of a message.
    Receipt(Receipt),
    /// A change of a template; name and language identify it in the account.
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
    /// A change of a number, such as its rating or rate: probe it again.
    Number {
        /// The phone number, which is the only identification in this update.
        phone_number: Option<PhoneNumber>,
        /// The provider's name of the event.
        event: String,
    },
    /// A change of the business account.
    Account(AccountChange),
    /// A change of the number of people with whom the owner of the account may start a conversation in a
    /// moving 24 hours.
    Limit {
        /// The new limit; `None` when its value is unknown: probe the number again.
        messaging_limit: Option<Quota>,
    },
    /// A person said whether they want this business's marketing.
    Preference {
        /// The person, when the provider says their number.
        recipient: Option<PhoneNumber>,
        /// The person's id within the business, if the provider says it.
        user: Option<String>,
        /// Whether the person stops marketing; `false` when they want it again.
        stops: bool,
        /// When the person decided that.
        at: Timestamp,
    },
    /// What the provider said about a number, for programs that read its own words. What it leads to is an update of its own.
    Notice {
        /// The provider's name of the field.
        field: String,
        /// The number, when the provider names it in this way alone.
        phone_number: Option<PhoneNumber>,
        /// A JSON object, as a text, about one thing.
        value: String,
    },
    /// A message from a person, or an echo of what the company wrote elsewhere.
    Inbound(Box<InboundMessage>),
    /// An error of the number or the account, without a message.
    Trouble(Disposition, Failure),
    /// An update that has no consequence.
    Other {
        /// The provider's name of the field.
        field: String,
    },
    /// An unreadable part of a webhook whose other parts were read.
    Unreadable {
        /// The field.
        field: String,
    },
}

/// The outcome of a message after it was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Our own key of the message; absent when this service did not send it.
    pub key: Option<Key>,
    /// The provider's id of the message.
    pub provider_message_id: String,
    /// [`State::Sent`], [`State::Delivered`], [`State::Read`] or [`State::Failed`].
    pub state: State,
    /// The time of the state, to the second.
    pub at: Timestamp,
    /// The recipient, when the provider says their number.
    pub recipient: Option<PhoneNumber>,
    /// The recipient's id within the business, if the provider says it.
    pub user: Option<String>,
    /// For a failure, its meaning and reason.
    pub refusal: Option<(Disposition, Failure)>,
    /// How the provider bills the message, if it says so.
    pub billing: Option<Billing>,
}

/// A change of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplateChange {
    /// Whether it can be sent.
    Status {
        /// The status since then.
        status: Status,
        /// Which pause it is, why it was rejected, or another explanation.
        title: Option<String>,
    },
    /// How the provider rates it: `GREEN`, `YELLOW`, `RED`, `UNKNOWN`.
    Quality(String),
    /// Its category.
    Category(Category),
}

/// A change of a business account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountChange {
    /// This service may not use it any more; a person has to connect it again.
    Disconnected(Failure),
    /// It is restricted; a new token does not help.
    Blocked(Failure),
    /// It can be used again: probe the provider.
    Restored,
    /// Another change, by the provider's name.
    Other(String),
}
