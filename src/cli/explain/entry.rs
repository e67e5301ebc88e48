//! The entries of `pombo explain`: every table of codes and words that answers contain.

use serde::Serialize;

use crate::api;
use crate::connector::Disposition;
use crate::connector::cloud_api::{self, ProviderCode};
use crate::domain::channel::{ReasonCode, Status};
use crate::domain::message::State;
use crate::domain::message::own_code::{self, OwnCode};
use crate::domain::outlook::Reason;
use crate::domain::send::{EndReason, Stage};
use crate::domain::suppression::Suppression;
use crate::error::Code;

/// A table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Section {
    Error,
    Wait,
    Send,
    SendEnd,
    Message,
    ChannelStatus,
    StatusReason,
    OwnCode,
    ProviderCode,
}

impl Section {
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Error => "Error codes",
            Self::Wait => "Why a send waits",
            Self::Send => "States of a send",
            Self::SendEnd => "Why a send ended",
            Self::Message => "States of a message",
            Self::ChannelStatus => "Channel status",
            Self::StatusReason => "Reasons of a channel status",
            Self::OwnCode => "Codes of our own",
            Self::ProviderCode => "Provider codes",
        }
    }

    /// The title of the remedy.
    pub(super) const fn remedy_title(self) -> &'static str {
        match self {
            Self::ProviderCode => "What Pombo does",
            Self::Error
            | Self::Wait
            | Self::Send
            | Self::SendEnd
            | Self::Message
            | Self::ChannelStatus
            | Self::StatusReason
            | Self::OwnCode => "What to do",
        }
    }
}

/// A code or a word, with what it means.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Entry {
    pub(super) section: Section,
    pub(super) word: String,
    /// The HTTP status of an error code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<u16>,
    pub(super) meaning: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) remedy: Option<String>,
    /// First and last of a span of the provider's codes.
    #[serde(skip)]
    span: Option<(i64, i64)>,
}

impl Entry {
    fn new(section: Section, word: &str, meaning: &str, remedy: Option<&str>) -> Self {
        Self {
            section,
            word: word.to_owned(),
            status: None,
            meaning: meaning.to_owned(),
            remedy: remedy.map(str::to_owned),
            span: None,
        }
    }

    /// Whether the entry explains the word, or contains the provider's code.
    pub(super) fn is_for(&self, word: &str) -> bool {
        let number = word.parse::<i64>().ok();
        self.word.eq_ignore_ascii_case(word)
            || matches!((self.span, number), (Some((first, last)), Some(code)) if (first..=last).contains(&code))
    }
}

/// Every entry, table by table.
pub(super) fn all() -> Vec<Entry> {
    let errors = Code::ALL.iter().map(|code| Entry {
        status: Some(api::status_code(code.class())),
        ..Entry::new(Section::Error, code.as_str(), code.meaning(), None)
    });
    let waits = Reason::ALL
        .iter()
        .map(|reason| Entry::new(Section::Wait, reason.as_str(), reason.meaning(), Some(reason.remedy())));
    let sends = Stage::ALL.iter().map(|stage| Entry::new(Section::Send, stage.as_str(), send(*stage), None));
    let ends = EndReason::ALL
        .iter()
        .map(|reason| Entry::new(Section::SendEnd, reason.as_str(), reason.meaning(), Some(reason.remedy())));
    let messages =
        State::ALL.iter().map(|state| Entry::new(Section::Message, state.as_str(), message(*state), None));
    let statuses = Status::ALL.iter().map(|status| {
        let (meaning, remedy) = channel(*status);
        Entry::new(Section::ChannelStatus, status.as_str(), meaning, Some(remedy))
    });
    let reasons = ReasonCode::ALL
        .iter()
        .map(|code| Entry::new(Section::StatusReason, code.as_str(), code.meaning(), Some(code.remedy())));
    let own = own_code::ALL.iter().map(|OwnCode { code, meaning, remedy }| {
        Entry::new(Section::OwnCode, &code.to_string(), meaning, Some(remedy))
    });
    let provider = cloud_api::documented().map(provider);
    let words = errors.chain(waits).chain(sends).chain(ends).chain(messages).chain(statuses).chain(reasons);
    words.chain(own).chain(provider).collect()
}

const fn send(stage: Stage) -> &'static str {
    match stage {
        Stage::Scheduled => "Its `send_at` has not come.",
        Stage::Active => "Its messages go out, or wait for the reason in `waiting`.",
        Stage::Paused => "A person paused it. No message starts until it is resumed.",
        Stage::Finished => "Every message has its outcome.",
        Stage::Canceled => {
            "A person canceled it, or a restore did: see `end_reason`. Messages that had not started never go."
        }
        Stage::Expired => "Its `expires_at` came. Messages that had not started never go.",
    }
}

const fn message(state: State) -> &'static str {
    match state {
        State::Queued => "Waits for its turn, or for its next attempt.",
        State::Sending => "Handed to the provider; the answer is pending.",
        State::Sent => "The provider accepted it.",
        State::Delivered => "The recipient's device has it.",
        State::Read => "The recipient read it.",
        State::Failed => {
            "It will not arrive. `error` has the provider's code and words, or a negative code of our own."
        }
        State::Expired => "The send's `expires_at` came before the message started.",
        State::Canceled => "The send was canceled before the message started.",
        State::Unknown => {
            "The provider may or may not have it: the answer got lost, or the process ended before it was written. A receipt \
             settles it; otherwise the tier's `unknown_outcome` decides."
        }
        State::Suppressed => "The recipient opted out before the message started.",
    }
}

const fn channel(status: Status) -> (&'static str, &'static str) {
    match status {
        Status::Connecting => (
            "The provider has not confirmed the channel yet. Sends are accepted; if the provider refused the channel before, \
             one message goes at a time.",
            "Nothing.",
        ),
        Status::Connected => ("The provider confirmed the channel.", "Nothing."),
        Status::Disconnected => (
            "The provider refused the token or the registration, or a web session ended. Sends are refused, the queue is \
             kept.",
            "See `status_reason`. A business account is reconnected with `pombo channel reconnect CHANNEL --token-file FILE`; \
             without a token, the stored token is tried again.",
        ),
        Status::Blocked => (
            "The provider restricted the account, or its payment failed. Sends are refused, the queue is kept.",
            "Settle it with the provider. A new token does not help.",
        ),
        Status::Pairing => {
            ("The web session has no linked phone.", "Link one: `pombo channel pair CHANNEL`.")
        }
    }
}

fn provider(code: ProviderCode) -> Entry {
    let ProviderCode { first, last, says, disposition } = code;
    let word = if first == last { first.to_string() } else { format!("{first} to {last}") };
    let entry = Entry::new(Section::ProviderCode, &word, says, Some(effect(disposition)));
    Entry { span: Some((first, last)), ..entry }
}

const fn effect(disposition: Disposition) -> &'static str {
    match disposition {
        Disposition::Fail => "The message fails.",
        Disposition::Retry => "The message is retried; the attempt counts.",
        Disposition::Wait => "The channel pauses, then retries; the attempt does not count.",
        Disposition::SlowNumber => {
            "The channel halves its pace, which recovers in steps; the message is retried."
        }
        Disposition::SlowAccount => "All channels of the business account wait; the message is retried.",
        Disposition::SlowApp => "All channels of the app wait; the message is retried.",
        Disposition::Maintenance => "The channel pauses for 5 to 60 seconds; the message is retried.",
        Disposition::Pair => "Messages to this recipient wait; the message is retried.",
        Disposition::HoldTemplate => "Sends with the template wait until the provider approves it again.",
        Disposition::HoldRecipient => "Marketing to this recipient waits for 24 hours.",
        Disposition::Suppress(Suppression::Marketing) => {
            "The message fails, and the recipient is suppressed for the company's marketing."
        }
        Disposition::Suppress(Suppression::Everything) => {
            "The message fails, and the recipient is suppressed for all messages of the company."
        }
        Disposition::Disconnect => "The channel becomes `disconnected`; its queue is kept.",
        Disposition::Block => "The channel becomes `blocked`; its queue is kept.",
        Disposition::Restrict => "The channel becomes `blocked` for 2 to 24 hours; its queue is kept.",
    }
}
