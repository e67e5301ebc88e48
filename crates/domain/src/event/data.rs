//! The details of each type of event.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::inbound::InboundBody;
use clock::Timestamp;

/// The details of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum Data {
    /// A message reached another state.
    Message(MessageData),
    /// A send is over.
    Send(SendData),
    /// A channel's connection changed.
    Channel(ChannelData),
    /// A person wrote to a channel, or the company on its own phone.
    Inbound(InboundData),
    /// A conversation began, was closed, opened again or given to somebody.
    Conversation(ConversationData),
    /// A person opted out, or opted in again.
    Contact(ContactData),
    /// The provider changed a template.
    Template(TemplateData),
    /// The provider said something that has no event of its own.
    Notice(NoticeData),
    /// Little or nothing is left of a quota.
    Quota(QuotaData),
    /// An API key expires soon.
    Key(KeyData),
    /// A webhook endpoint was disabled.
    WebhookDisabled(WebhookDisabledData),
    /// A webhook endpoint accepts events again.
    WebhookRecovered(WebhookRecoveredData),
    /// Events were dropped.
    Lost(LostData),
}

/// `message.…`: a message reached the state that the type names: `sent`, `delivered`, `read`, `failed`, `unknown`,
/// `expired`, `canceled` or `suppressed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MessageData {
    /// The send.
    pub send_id: Uuid,
    /// The caller's own reference of the send; null when the request had none.
    pub reference: Option<String>,
    /// The caller's own reference of this recipient; absent when the request gave none.
    #[schema(value_type = String, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_reference: Option<String>,
    /// The message's position in the send, from 0.
    pub ordinal: u64,
    /// The recipient: a number with its plus sign, or a group's id with `@g.us`.
    pub recipient: String,
    /// The provider's id of the message; null while the provider has not accepted it.
    pub provider_message_id: Option<String>,
    /// The last error; null when there was none.
    pub error: Option<ErrorData>,
}

/// What went wrong with a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ErrorData {
    /// The provider's code, when it gave one. A negative code is Pombo's own.
    pub code: Option<i64>,
    /// The error in words.
    pub message: String,
}

/// `send.…`: a send is over, in the way that the type names: `finished`, `canceled` or `expired`. Messages of it that
/// never started have no event of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SendData {
    /// The send.
    pub send_id: Uuid,
    /// The number of unique recipients.
    pub recipients_count: u64,
    /// The caller's own reference of the send; null when the request had none.
    pub reference: Option<String>,
}

/// `channel.…`: the connection of a channel reached the status that the type names: `connecting`, `connected`,
/// `disconnected`, `blocked` or `pairing`; or it kept its status for another reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ChannelData {
    /// Why the channel is not wholly connected; null when there is nothing to say.
    pub reason: Option<ReasonData>,
}

/// Why a channel is not connected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ReasonData {
    /// For programs.
    pub code: String,
    /// For a person: what happened and what to do.
    pub sentence: String,
    /// The provider's own code, when it gave one.
    pub provider_code: Option<i64>,
}

/// `message.received`: a person wrote to a channel. Likewise `message.reaction`: the person put an emoji below a message, or
/// removed it; `message.edited` and `message.deleted`: the person changed or deleted an earlier message; `message.echo`: the
/// company wrote to the person on its own phone, or with another program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct InboundData {
    /// The provider's id of the message.
    pub provider_message_id: String,
    /// The person's number with its plus sign; null when the provider names the person in another way, and in groups.
    pub from: Option<String>,
    /// The person's id within the business, or the address that hides the number; null when the provider gives none.
    pub user_id: Option<String>,
    /// The name in the person's profile; null when the provider gives none.
    pub name: Option<String>,
    /// The id of the group that it was written in; null in a conversation with one person.
    pub group: Option<String>,
    /// The conversation; null in events from before there were conversations.
    pub conversation_id: Option<Uuid>,
    /// What was written; null when this process cannot read it.
    pub message: Option<Box<InboundBody>>,
    /// What was written as the log has it, until it is opened.
    #[serde(skip)]
    #[schema(ignore)]
    pub sealed: Option<SealedBody>,
}

/// The sealed content of a message, and what it is sealed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedBody {
    /// Our id of the message.
    pub id: Uuid,
    /// Its sealed body.
    pub sealed: Vec<u8>,
}

/// `conversation.…`: a conversation began with a person's first message (`opened`), was closed (`closed`), was opened again by
/// a message or a user (`reopened`), or was given to a user or to nobody (`assigned`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ConversationData {
    /// The conversation.
    pub conversation_id: Uuid,
    /// The person's number with its plus sign; null when it is not known.
    pub number: Option<String>,
    /// The person's id within the business, or the address that hides the number; null when it is not known.
    pub user_id: Option<String>,
    /// The user who has it; null when nobody does.
    pub assigned_to: Option<Uuid>,
    /// Who did it, as the record of changes names its authors; null when a message did.
    pub by: Option<String>,
}

/// `contact.…`: a person opted out (`opted_out`), so that sends skip the person from now on, or opted in again (`opted_in`). A
/// suppression that the company adds or lifts is told in the same way; one that only delays messages is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ContactData {
    /// The person's number with its plus sign.
    pub number: String,
    /// The messages that it is about: `marketing`, or `everything`. Each has events of its own.
    pub scope: String,
    /// Where it comes from: the person wrote a word (`message`) or changed a setting in WhatsApp (`preference`), the provider
    /// refused a message because of it (`provider`), or a user, a program or an operator changed it (`operator`).
    pub source: String,
}

/// `template.…`: the provider changed a template of the company: its status, which the type names (`approved`, `rejected`,
/// `paused` or `disabled`), its category (`category_changed`) or its rating (`quality_changed`). The templates of an account
/// that is listed for the first time are not told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct TemplateData {
    /// The template's id, by which requests name it.
    pub template_id: i64,
    /// The business account that it belongs to.
    pub waba_id: String,
    /// Its name.
    pub name: String,
    /// Its language, such as `pt_BR`.
    pub language: String,
    /// The status, the category or the rating before, in the provider's words; null when there was none, as for a new template.
    pub old: Option<String>,
    /// The status, the category or the rating now, in the provider's words.
    pub new: String,
    /// Why the provider changed the status, in its words; null when it gave no reason.
    pub reason: Option<String>,
}

/// `provider.notice`: the provider said something about a business account's number, in its own words: what a person wants to get
/// (`user_preferences`, one person in each event), or a change of the number (`phone_number_quality_update`,
/// `phone_number_name_update`). What this leads to has events of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct NoticeData {
    /// The provider's name of what it is about.
    pub field: String,
    /// What it said; without content for a webhook endpoint that masks numbers.
    #[schema(value_type = std::collections::BTreeMap<String, serde_json::Value>)]
    pub value: serde_json::Value,
}

/// `quota.…`: less than a tenth is left of a quota of the channel (`low`), or nothing (`used_up`). The next event of the quota
/// comes once more than a fifth of it was free again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct QuotaData {
    /// Which limit of the channel it is, such as `template_quota` or `daily_cap`.
    pub limit: String,
    /// How much is left.
    pub left: u64,
    /// How much it is in 24 hours.
    pub most: u64,
}

/// `key.expiring`: an API key of the company expires within a week.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct KeyData {
    /// The key's id.
    pub key_id: Uuid,
    /// Its name.
    pub name: String,
    /// When it expires.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
}

/// `webhook.disabled`: a webhook endpoint gets no events until a person enables it. Its events wait in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct WebhookDisabledData {
    /// The endpoint.
    pub webhook_id: Uuid,
    /// Why: the receiver answered 410 (`gone`), all attempts of five days failed (`failures`), or a `person` or a program
    /// disabled it.
    pub reason: String,
}

/// `webhook.recovered`: a webhook endpoint accepts events again, after five or more failures in a row. It gets the events
/// that waited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct WebhookRecoveredData {
    /// The endpoint.
    pub webhook_id: Uuid,
    /// When the first of the failures happened.
    #[schema(value_type = String, format = DateTime)]
    pub failing_since: Timestamp,
}

/// `outbox.lost`: events of the company were dropped, because they could not be published and the outbox was full. Read
/// sends and messages again by the API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LostData {
    /// How many events were dropped.
    pub count: u64,
    /// When the first of them happened; `at` is the time of the last.
    #[schema(value_type = String, format = DateTime)]
    pub since: Timestamp,
}
