//! Facts: rare entries of the log, which carry what they tell.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::channel::{Connection, Status};
use crate::event::Type;
use crate::limit::Name;
use crate::phone::PhoneNumber;
use crate::send;
use crate::suppression::{Source, Suppression};
use crate::webhook::Cause;
use clock::Timestamp;

/// Something that happened, with all that is told of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// The channel; `None` for a person, a template, an API key or a webhook endpoint, which belongs to no channel.
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    pub channel_id: Option<Uuid>,
    /// When.
    #[serde(rename = "t")]
    pub at: Timestamp,
    /// What.
    #[serde(rename = "w")]
    pub what: FactKind,
}

/// What a [`Fact`] tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactKind {
    /// A send is over.
    Send {
        /// The send.
        id: Uuid,
        /// The number of [`send::State`].
        state: i16,
        /// How many unique recipients it has.
        recipients: u64,
    },
    /// A channel's connection changed.
    Channel {
        /// The word of [`Status`].
        status: String,
        /// Why it is not wholly connected.
        reason: Option<Why>,
    },
    /// A person wrote; as it was told before there were conversations.
    Inbound {
        /// Our id of the message.
        id: Uuid,
        /// The provider's id of the message.
        provider_message_id: String,
        /// The person's number.
        from: Option<i64>,
    },
    /// A person wrote, or the company on its own phone.
    Wrote(Box<WroteFact>),
    /// Something happened to a conversation.
    Conversation(ConversationFact),
    /// A person opted out.
    OptedOut(SuppressionFact),
    /// A person opted in again.
    OptedIn(SuppressionFact),
    /// The provider changed a template.
    Template(TemplateFact),
    /// The provider said something that has no fact of its own.
    Notice {
        /// The provider's name of what it is about.
        field: String,
        /// What it said: JSON, as a text, so that nothing of it is changed.
        value: String,
    },
    /// Little or nothing is left of a quota.
    Quota {
        /// The word of the limit's [`Name`](crate::limit::Name).
        limit: String,
        /// What is left.
        left: u64,
        /// How much it is.
        most: u64,
    },
    /// An API key expires soon.
    Key {
        /// The key.
        id: Uuid,
        /// Its name.
        name: String,
        /// When it expires.
        expires_at: Timestamp,
    },
    /// A webhook endpoint was disabled.
    WebhookDisabled {
        /// The endpoint.
        id: Uuid,
        /// The word of [`Cause`].
        cause: String,
    },
    /// A webhook endpoint accepts events again.
    WebhookRecovered {
        /// The endpoint.
        id: Uuid,
        /// The time of the first failure.
        since: Timestamp,
    },
}

/// A message from a person, or one that the company wrote on its own phone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WroteFact {
    /// The word of the [`Type`] of its event.
    pub r#type: String,
    /// Our id of the message.
    pub id: Uuid,
    /// Its conversation.
    pub conversation_id: Uuid,
    /// The provider's id of the message.
    pub provider_message_id: String,
    /// The person's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<i64>,
    /// The person's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The name in the person's profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The sealed body.
    #[serde(with = "in_base64")]
    pub sealed: Vec<u8>,
}

/// What happened to a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationFact {
    /// The word of the [`Type`] of its event.
    pub r#type: String,
    /// The conversation.
    pub id: Uuid,
    /// The person's number.
    pub number: Option<i64>,
    /// The person's id.
    pub user_id: Option<String>,
    /// The user who has it.
    pub assigned_to: Option<Uuid>,
    /// Who did it.
    pub by: Option<String>,
}

/// Bytes as a text: a list of numbers would take three times as much.
mod in_base64 {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize as _, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        STANDARD.decode(String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// A suppression that began or ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuppressionFact {
    /// The person's number.
    pub number: i64,
    /// The word of [`Suppression`].
    pub scope: String,
    /// The word of [`Source`].
    pub source: String,
}

/// A template that the provider changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateFact {
    /// The word of the [`Type`] of its event.
    pub r#type: String,
    /// Our own id of the template.
    pub id: i64,
    /// Its business account.
    pub waba_id: String,
    /// Its name.
    pub name: String,
    /// Its language.
    pub language: String,
    /// What was before.
    pub old: Option<String>,
    /// What is now.
    pub new: String,
    /// Why.
    pub reason: Option<String>,
}

/// What the provider changed of a template, in its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedValue {
    /// The type of the event.
    pub r#type: Type,
    /// What was before; `None` for a new template, and for a rating that was not there.
    pub old: Option<String>,
    /// What is now.
    pub new: String,
    /// Why.
    pub reason: Option<String>,
}

/// Why a channel is not wholly connected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Why {
    /// For programs.
    pub code: String,
    /// For people.
    pub sentence: String,
    /// The provider's own code.
    pub provider_code: Option<i64>,
}

impl Fact {
    /// A send that ended in `state`.
    pub const fn of_send(
        (id, channel_id): (Uuid, Uuid),
        state: send::State,
        recipients: u64,
        at: Timestamp,
    ) -> Self {
        let what = FactKind::Send { id, state: state.as_i16(), recipients };
        Self { channel_id: Some(channel_id), at, what }
    }

    /// A channel's connection as it is now.
    pub fn of_channel(channel_id: Uuid, status: Status, reason: Option<Why>, since: Timestamp) -> Self {
        let what = FactKind::Channel { status: status.as_str().to_owned(), reason };
        Self { channel_id: Some(channel_id), at: since, what }
    }

    /// A person who opted out of these messages.
    pub fn of_opt_out(number: PhoneNumber, scope: Suppression, source: Source, at: Timestamp) -> Self {
        let what = FactKind::OptedOut(SuppressionFact::new(number, scope, source));
        Self { channel_id: None, at, what }
    }

    /// A person who gets these messages again.
    pub fn of_opt_in(number: PhoneNumber, scope: Suppression, source: Source, at: Timestamp) -> Self {
        let what = FactKind::OptedIn(SuppressionFact::new(number, scope, source));
        Self { channel_id: None, at, what }
    }

    /// A change of the template with this id, business account, name and language.
    pub fn of_template(
        (id, waba_id, name, language): (i64, &str, &str, &str),
        change: ChangedValue,
        at: Timestamp,
    ) -> Self {
        let ChangedValue { r#type, old, new, reason } = change;
        let what = FactKind::Template(TemplateFact {
            r#type: r#type.as_str().to_owned(),
            id,
            waba_id: waba_id.to_owned(),
            name: name.to_owned(),
            language: language.to_owned(),
            old,
            new,
            reason,
        });
        Self { channel_id: None, at, what }
    }

    /// What the provider said about the number of a channel: its name, and a JSON text.
    pub const fn of_notice(channel_id: Uuid, field: String, value: String, at: Timestamp) -> Self {
        Self { channel_id: Some(channel_id), at, what: FactKind::Notice { field, value } }
    }

    /// A quota of a channel of which this much is left.
    pub fn of_quota(channel_id: Uuid, limit: Name, (left, most): (u64, u64), at: Timestamp) -> Self {
        let what = FactKind::Quota { limit: limit.as_str().to_owned(), left, most };
        Self { channel_id: Some(channel_id), at, what }
    }

    /// An API key that expires soon.
    pub const fn of_key(id: Uuid, name: String, expires_at: Timestamp, at: Timestamp) -> Self {
        Self { channel_id: None, at, what: FactKind::Key { id, name, expires_at } }
    }

    /// A webhook endpoint that was disabled for this cause.
    pub fn of_disabled_webhook(id: Uuid, cause: Cause, at: Timestamp) -> Self {
        let what = FactKind::WebhookDisabled { id, cause: cause.as_str().to_owned() };
        Self { channel_id: None, at, what }
    }

    /// A webhook endpoint that failed since a time, and accepts events again.
    pub const fn of_recovered_webhook(id: Uuid, since: Timestamp, at: Timestamp) -> Self {
        Self { channel_id: None, at, what: FactKind::WebhookRecovered { id, since } }
    }
}

impl SuppressionFact {
    fn new(number: PhoneNumber, scope: Suppression, source: Source) -> Self {
        let (scope, source) = (scope.as_str().to_owned(), source.as_str().to_owned());
        Self { number: number.as_i64(), scope, source }
    }
}

impl TemplateFact {
    /// The type of its event; `None` if this program does not know it.
    pub fn r#type(&self) -> Option<Type> {
        self.r#type.parse().ok()
    }
}

impl Why {
    /// The connection that has this reason.
    pub fn connection(status: Status, reason: Option<Self>, since: Timestamp) -> Connection {
        let reason = reason.map(|Self { code, sentence, provider_code }| crate::channel::Reason {
            code: code.as_str().into(),
            sentence,
            provider_code,
        });
        Connection { status, reason, since }
    }
}
