//! Alerts to people: their kinds, which events belong to each, and what is kept of each subject.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::channel::{ReasonCode, Status};
use crate::event::Type;
use crate::event::log::{Fact, FactKind};
use crate::user::Role;
use crate::webhook::Cause;
use clock::Timestamp;

crate::worded! {
    /// What a person may be told by e-mail.
    pub enum AlertKind {
        /// A channel cannot send, or sends again.
        Channel = "channel",
        /// A send to several recipients is over.
        Send = "send",
        /// A quota of a channel is nearly used up, or used up.
        Quota = "quota",
        /// An API key expires soon.
        Key = "key",
        /// A template cannot be sent any more.
        Template = "template",
        /// A webhook endpoint was stopped, or works again.
        Webhook = "webhook",
    }
}

/// Whether something became worse or better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlertTurn {
    /// People are told.
    Worse,
    /// People are told if they were told of the trouble before.
    Better,
}

/// The facts of a subject that an alert shows at most, the last ones.
pub const MOST_SHOWN: usize = 5;

/// The codes of a channel whose phone could not be linked: the person who tried it knows.
const WHILE_PAIRING: [ReasonCode; 4] = [
    ReasonCode::PairingFailed,
    ReasonCode::PasskeyTimedOut,
    ReasonCode::PasskeyRefused,
    ReasonCode::BusinessPairingRefused,
];

/// The alerts of one kind about one subject: a channel, a webhook endpoint, or everything of that kind in the company.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertThread {
    /// The company.
    pub company_id: Uuid,
    /// The kind.
    pub kind: AlertKind,
    /// The channel or the endpoint; nil for the whole company.
    pub subject: Uuid,
    /// Whether the last fact was trouble that may end.
    pub is_troubled: bool,
    /// Facts that nobody was told.
    pub untold: u64,
    /// When the first of them happened.
    pub since: Option<Timestamp>,
    /// The last of them, at most [`MOST_SHOWN`], the oldest first.
    pub facts: Vec<Fact>,
    /// When people are to be told; `None` while there is nothing to tell.
    pub due_at: Option<Timestamp>,
    /// No other mail about the subject goes before this time, except the first one that says that it is better.
    pub held_until: Option<Timestamp>,
    /// Whether that one went.
    pub told_better: bool,
    /// When people were told last.
    pub told_at: Option<Timestamp>,
    /// How often the thread was written; 0 for one that is not stored.
    pub revision: i64,
}

/// What a mail says about one subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertItem {
    /// The word of the [`AlertKind`].
    pub kind: String,
    /// How many facts there were.
    pub count: u64,
    /// When the first of them happened.
    pub since: Timestamp,
    /// The last of them, the oldest first.
    pub facts: Vec<Fact>,
}

impl AlertKind {
    /// Whether a person with this role is told unless the person chose otherwise.
    pub const fn is_told_to(self, role: Role) -> bool {
        matches!(role, Role::Owner) && !matches!(self, Self::Send)
    }

    /// Whether such a trouble ends with a fact of its own.
    pub const fn can_end(self) -> bool {
        matches!(self, Self::Channel | Self::Webhook)
    }

    /// The types of the events that such an alert is about, for webhook endpoints.
    pub const fn types(self) -> &'static [Type] {
        match self {
            Self::Channel => &[Type::ChannelDisconnected, Type::ChannelBlocked, Type::ChannelConnected],
            Self::Send => &[Type::SendFinished, Type::SendCanceled, Type::SendExpired],
            Self::Quota => &[Type::QuotaLow, Type::QuotaUsedUp],
            Self::Key => &[Type::KeyExpiring],
            Self::Template => &[Type::TemplatePaused, Type::TemplateRejected, Type::TemplateDisabled],
            Self::Webhook => &[Type::WebhookDisabled, Type::WebhookRecovered],
        }
    }
}

impl AlertThread {
    /// A thread in which nothing happened.
    pub const fn new(company_id: Uuid, kind: AlertKind, subject: Uuid) -> Self {
        Self {
            company_id,
            kind,
            subject,
            is_troubled: false,
            untold: 0,
            since: None,
            facts: Vec::new(),
            due_at: None,
            held_until: None,
            told_better: false,
            told_at: None,
            revision: 0,
        }
    }

    /// What a mail says about it; `None` while there is nothing to tell.
    pub fn item(&self) -> Option<AlertItem> {
        Some(AlertItem {
            kind: self.kind.as_str().to_owned(),
            count: self.untold,
            since: self.since?,
            facts: self.facts.clone(),
        })
    }
}

impl Fact {
    /// The kind of alert that the fact is for, and which way it turns; `None` if it is for none.
    pub fn alert(&self) -> Option<(AlertKind, AlertTurn)> {
        use AlertTurn::{Better, Worse};
        Some(match &self.what {
            FactKind::Send { recipients, .. } if *recipients > 1 => (AlertKind::Send, Worse),
            FactKind::Channel { status, reason } => match status.parse::<Status>().ok()? {
                Status::Disconnected | Status::Blocked => {
                    let code = reason.as_ref().and_then(|reason| ReasonCode::parse(&reason.code));
                    if code.is_some_and(|code| WHILE_PAIRING.contains(&code)) {
                        return None;
                    }
                    (AlertKind::Channel, Worse)
                }
                Status::Connected => (AlertKind::Channel, Better),
                Status::Connecting | Status::Pairing => return None,
            },
            FactKind::Template(fact) => match fact.r#type()? {
                Type::TemplatePaused | Type::TemplateRejected | Type::TemplateDisabled => {
                    (AlertKind::Template, Worse)
                }
                _ => return None,
            },
            FactKind::Quota { .. } => (AlertKind::Quota, Worse),
            FactKind::Key { .. } => (AlertKind::Key, Worse),
            // A person who disables an endpoint knows.
            FactKind::WebhookDisabled { cause, .. } if *cause != Cause::Person.as_str() => {
                (AlertKind::Webhook, Worse)
            }
            FactKind::WebhookRecovered { .. } => (AlertKind::Webhook, Better),
            FactKind::Send { .. }
            | FactKind::Inbound { .. }
            | FactKind::Wrote(_)
            | FactKind::Conversation(_)
            | FactKind::OptedOut(_)
            | FactKind::OptedIn(_)
            | FactKind::Notice { .. }
            | FactKind::WebhookDisabled { .. } => return None,
        })
    }

    /// What the alerts of the fact are held together by: its channel or endpoint; nil for the company.
    pub fn alert_subject(&self) -> Uuid {
        match &self.what {
            FactKind::WebhookDisabled { id, .. } | FactKind::WebhookRecovered { id, .. } => *id,
            _ => self.channel_id.unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::log::Why;
    use crate::send;

    const AT: Timestamp = Timestamp::from_millis(7);
    const CHANNEL: Uuid = Uuid::from_u128(1);

    fn channel(status: Status, code: Option<&str>) -> Option<(AlertKind, AlertTurn)> {
        let why = |code: &str| Why { code: code.to_owned(), sentence: String::new(), provider_code: None };
        Fact::of_channel(CHANNEL, status, code.map(why), AT).alert()
    }

    #[test]
    fn a_channel_that_needs_a_person_is_an_alert_and_a_failed_pairing_is_none() {
        let worse = Some((AlertKind::Channel, AlertTurn::Worse));
        assert_eq!(channel(Status::Disconnected, Some("credentials_refused")), worse);
        assert_eq!(channel(Status::Blocked, Some("of_a_later_version")), worse);
        assert_eq!(channel(Status::Disconnected, Some("pairing_failed")), None);
        assert_eq!(channel(Status::Pairing, None), None);
        assert_eq!(channel(Status::Connected, None), Some((AlertKind::Channel, AlertTurn::Better)));
    }

    #[test]
    fn the_end_of_a_single_message_is_no_alert() {
        let of = |recipients| {
            let fact = Fact::of_send((Uuid::from_u128(2), CHANNEL), send::State::Finished, recipients, AT);
            fact.alert().map(|(kind, _)| kind)
        };
        assert_eq!((of(1), of(2)), (None, Some(AlertKind::Send)));
    }

    #[test]
    fn a_webhook_that_a_person_disabled_is_no_alert() {
        let id = Uuid::from_u128(3);
        let of = |cause| Fact::of_disabled_webhook(id, cause, AT).alert().map(|(kind, _)| kind);
        assert_eq!((of(Cause::Person), of(Cause::Gone)), (None, Some(AlertKind::Webhook)));
        assert_eq!(Fact::of_disabled_webhook(id, Cause::Gone, AT).alert_subject(), id);
    }

    #[test]
    fn only_owners_are_told_without_a_choice_and_not_of_each_send() {
        let told = |role| AlertKind::ALL.iter().filter(|kind| kind.is_told_to(role)).count();
        assert_eq!(Role::ALL.map(told), [AlertKind::ALL.len() - 1, 0, 0, 0]);
    }
}
