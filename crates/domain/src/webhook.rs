//! Webhook endpoints: the addresses to which the events of a company are sent.

mod fault;
mod graph;
mod headers;
mod replay;
mod sent;
mod settings;

use uuid::Uuid;

pub use self::fault::FaultKind;
pub use self::graph::{GraphReach, InAccount, SetFor, WebhookProfile};
pub use self::headers::{Header, Headers, is_own_header};
pub use self::replay::{Replay, ReplayOf, ReplayRequest};
pub use self::sent::{
    ATTEMPT_HEADER, BODY_TYPE, EXAMPLE_ID, HUB_SIGNATURE_HEADER, ID_HEADER, SIGNATURE_HEADER, SentHeaders,
    TEST_HEADER, TIMESTAMP_HEADER, is_example, signed_at,
};
pub use self::settings::{MOST_BATCH, MOST_IN_FLIGHT, Schemes, Settings, known_types, type_of, types_of};
use crate::event::Type;
use clock::Timestamp;

/// The types of events that an endpoint gets when its settings name none: those on which a person or a program has to
/// act.
pub const DEFAULT_TYPES: &[Type] = &[
    Type::MessageFailed,
    Type::SendFinished,
    Type::SendCanceled,
    Type::SendExpired,
    Type::ChannelConnecting,
    Type::ChannelConnected,
    Type::ChannelDisconnected,
    Type::ChannelBlocked,
    Type::ChannelPairing,
    Type::MessageReceived,
    Type::MessageReaction,
    Type::MessageEdited,
    Type::MessageDeleted,
    Type::ConversationOpened,
    Type::ConversationClosed,
    Type::ConversationReopened,
    Type::ConversationAssigned,
    Type::ContactOptedOut,
    Type::ContactOptedIn,
    Type::TemplateApproved,
    Type::TemplateRejected,
    Type::TemplatePaused,
    Type::TemplateDisabled,
    Type::TemplateCategoryChanged,
    Type::TemplateQualityChanged,
    Type::QuotaLow,
    Type::QuotaUsedUp,
    Type::KeyExpiring,
    Type::WebhookDisabled,
    Type::WebhookRecovered,
];

/// The failures in a row after which an endpoint gets one event a minute until it accepts one.
pub const OPENING_FAILURES: u32 = 5;

/// A webhook endpoint of a company, without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Time-ordered id.
    pub id: Uuid,
    /// The company whose events it gets.
    pub company_id: Uuid,
    /// Its settings.
    pub settings: Settings,
    /// Its state and its failures.
    pub health: Health,
    /// When it was added.
    pub created_at: Timestamp,
}

impl Endpoint {
    /// Whether events are sent to it.
    pub const fn is_enabled(&self) -> bool {
        matches!(self.health.state, State::Enabled)
    }
}

crate::worded! {
    /// The form in which events are sent.
    #[derive(Default)]
    pub enum Shape {
        /// Pombo's own events.
        #[default]
        Pombo = "pombo",
        /// Meta's webhooks, for programs that are written for its Cloud API.
        Graph = "graph",
    }
}

/// The state and the failures of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Health {
    /// Failed attempts in a row.
    pub failures: u32,
    /// The time of the first of them, or of the first one after two days without any; `None` without failures.
    pub failing_since: Option<Timestamp>,
    /// The time of the last of them; `None` without failures.
    pub failed_at: Option<Timestamp>,
    /// The state.
    pub state: State,
}

impl Health {
    /// The health of a new endpoint.
    pub const NEW: Self = Self { failures: 0, failing_since: None, failed_at: None, state: State::Enabled };
}

/// The state of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Events are sent to it.
    Enabled,
    /// No events are sent to it until a person enables it.
    Disabled {
        /// Why.
        cause: Cause,
        /// Since when.
        since: Timestamp,
    },
}

crate::worded! {
    /// Why an endpoint is disabled.
    pub enum Cause {
        /// The receiver answered 410: it wants no further events.
        Gone = "gone",
        /// A person disabled it.
        Person = "person",
        /// All attempts failed for too long.
        Failures = "failures",
    }
}

crate::worded! {
    /// A part of an endpoint that is stored sealed. Without a key that unseals it, the endpoint gets nothing, and its events wait.
    pub enum SealedPart {
        /// The secrets that sign its requests.
        Secret = "secret",
        /// The headers of its requests.
        Headers = "headers",
    }
}

crate::worded! {
    /// The events that an endpoint gets first after a person enabled it.
    pub enum Resume {
        /// Those that happened while it was disabled, as far as the log of events still has them.
        CatchUp = "cursor",
        /// Those that happen from now on. Earlier events and their retries are dropped.
        FromNow = "now",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_gets_by_default_what_needs_a_reaction() {
        let is_default = |r#type: Type| {
            let (kind, word) = r#type.as_str().split_once('.').unwrap();
            match kind {
                "conversation" | "send" | "channel" | "contact" | "template" | "quota" | "key"
                | "webhook" => true,
                "message" => matches!(word, "failed" | "received" | "reaction" | "edited" | "deleted"),
                _ => false,
            }
        };
        let expected: Vec<_> = Type::ALL.iter().copied().filter(|r#type| is_default(*r#type)).collect();
        assert_eq!(DEFAULT_TYPES, expected);
    }

    #[test]
    fn words_are_read_as_they_are_written() {
        for cause in Cause::ALL {
            assert_eq!(cause.to_string().parse(), Ok(*cause));
        }
        for shape in Shape::ALL {
            assert_eq!(shape.to_string().parse(), Ok(*shape));
        }
        assert_eq!("now".parse(), Ok(Resume::FromNow));
    }
}
