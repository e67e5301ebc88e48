//! Events: what the service tells other programs about sends, messages, channels with their quotas, people who opt out,
//! templates, API keys and webhook endpoints.
//!
//! The shapes are a promise to those programs. Fields are added and never change their meaning; a change that breaks a
//! reader raises [`VERSION`]. `docs/events.md` lists every field from here, and a test compares the two. No event
//! contains the content of a message that the company sends; what people write is in theirs.

mod catalogue;
mod data;
pub mod log;

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

pub use self::catalogue::Type;
pub use self::data::*;
use self::log::{
    ConversationFact, Fact, FactKind, LogEntry, Sequence, SuppressionFact, TemplateFact, Why, WroteFact,
};
use crate::channel::Connection;
use crate::message::{Key, State};
use crate::phone::PhoneNumber;
use crate::send;
use clock::Timestamp;

/// The version of the shapes below.
pub const VERSION: u32 = 1;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Event {
    /// The version of this shape: 1.
    pub version: u32,
    /// The event's name. An event that comes twice has the same id.
    pub id: String,
    /// What happened, such as `message.delivered`.
    #[schema(value_type = String)]
    #[serde(serialize_with = "word")]
    pub r#type: Type,
    /// The event's place among the company's events: it rises from each to the next, with gaps. A program that gets events
    /// of one message or channel in another order puts them in order by it.
    #[schema(value_type = i64)]
    pub sequence: Sequence,
    /// When it happened.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// The company that it belongs to.
    pub company_id: Uuid,
    /// The channel; null in `contact.…`, `template.…`, `key.…`, `webhook.…` and `outbox.lost`.
    pub channel_id: Option<Uuid>,
    /// The details that belong to the type.
    pub data: Data,
}

/// Whose event it is, and where it is in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventPlace {
    /// The company.
    pub company_id: Uuid,
    /// The channel, if there is one.
    pub channel_id: Option<Uuid>,
    /// The place.
    pub sequence: Sequence,
}

impl Event {
    /// A message reached a state with this type. The id is the message and the state, so that a repetition has the same.
    pub fn of_message(place: EventPlace, r#type: Type, at: Timestamp, data: MessageData) -> Self {
        let key = Key { send_id: data.send_id, ordinal: data.ordinal };
        Self::new(place, format!("{key}.{}", r#type.word()), r#type, at, Data::Message(data))
    }

    /// What a fact tells; `None` if this program does not know it. The reference of a send is not in the log.
    pub fn of_fact(company_id: Uuid, sequence: Sequence, fact: Fact) -> Option<Self> {
        let Fact { channel_id, at, what } = fact;
        let place = EventPlace { company_id, channel_id, sequence };
        let of_webhook = |id: Uuid, r#type: Type, data| {
            let id = format!("{}.{}.{}", id.as_simple(), r#type.word(), at.millis());
            Self::new(place, id, r#type, at, data)
        };
        Some(match what {
            FactKind::Send { id, state, recipients } => {
                let r#type = Type::of_send(send::State::from_i16(state)?);
                let data = SendData { send_id: id, recipients_count: recipients, reference: None };
                Self::new(
                    place,
                    format!("{}.{}", id.as_simple(), r#type.word()),
                    r#type,
                    at,
                    Data::Send(data),
                )
            }
            FactKind::Channel { status, reason } => {
                Self::of_channel(place, channel_id?, Why::connection(status.parse().ok()?, reason, at))
            }
            FactKind::Inbound { id, provider_message_id, from } => {
                let data = InboundData {
                    provider_message_id,
                    from: shown(from),
                    user_id: None,
                    name: None,
                    group: None,
                    conversation_id: None,
                    message: None,
                    sealed: None,
                };
                Self::new(place, id.as_simple().to_string(), Type::MessageReceived, at, Data::Inbound(data))
            }
            FactKind::Wrote(fact) => Self::of_inbound(place, at, *fact)?,
            FactKind::Conversation(fact) => Self::of_conversation(place, at, fact)?,
            FactKind::OptedOut(fact) => Self::of_suppression(place, Type::ContactOptedOut, at, fact)?,
            FactKind::OptedIn(fact) => Self::of_suppression(place, Type::ContactOptedIn, at, fact)?,
            FactKind::Template(fact) => Self::of_template(place, at, fact)?,
            FactKind::Notice { field, value } => {
                let data = NoticeData { field, value: serde_json::from_str(&value).ok()? };
                Self::of_company(place, Type::ProviderNotice, at, Data::Notice(data))
            }
            FactKind::Quota { limit, left, most } => {
                let r#type = if left == 0 { Type::QuotaUsedUp } else { Type::QuotaLow };
                Self::of_company(place, r#type, at, Data::Quota(QuotaData { limit, left, most }))
            }
            FactKind::Key { id, name, expires_at } => {
                let data = KeyData { key_id: id, name, expires_at };
                Self::of_company(place, Type::KeyExpiring, at, Data::Key(data))
            }
            FactKind::WebhookDisabled { id, cause } => {
                let data = WebhookDisabledData { webhook_id: id, reason: cause };
                of_webhook(id, Type::WebhookDisabled, Data::WebhookDisabled(data))
            }
            FactKind::WebhookRecovered { id, since } => {
                let data = WebhookRecoveredData { webhook_id: id, failing_since: since };
                of_webhook(id, Type::WebhookRecovered, Data::WebhookRecovered(data))
            }
        })
    }

    /// A channel's connection changed. The place in the log distinguishes changes in the same millisecond.
    fn of_channel(place: EventPlace, channel_id: Uuid, to: Connection) -> Self {
        let Connection { status, reason, since } = to;
        let id = format!("{}.{}.{}", channel_id.as_simple(), since.millis(), place.sequence.as_i64());
        let reason = reason.map(|reason| ReasonData {
            code: reason.code.to_string(),
            sentence: reason.sentence,
            provider_code: reason.provider_code,
        });
        Self::new(place, id, Type::of_channel(status), since, Data::Channel(ChannelData { reason }))
    }

    /// A person wrote, or the company on its own phone. The id is ours of the message.
    fn of_inbound(place: EventPlace, at: Timestamp, fact: WroteFact) -> Option<Self> {
        let WroteFact {
            r#type,
            id,
            conversation_id,
            provider_message_id,
            from,
            user_id,
            name,
            group,
            sealed,
        } = fact;
        let data = InboundData {
            provider_message_id,
            from: shown(from),
            user_id,
            name,
            group,
            conversation_id: Some(conversation_id),
            message: None,
            sealed: Some(SealedBody { id, sealed }),
        };
        let r#type = r#type.parse().ok()?;
        Some(Self::new(place, id.as_simple().to_string(), r#type, at, Data::Inbound(data)))
    }

    /// Something happened to a conversation. The place in the log distinguishes changes in the same millisecond.
    fn of_conversation(place: EventPlace, at: Timestamp, fact: ConversationFact) -> Option<Self> {
        let ConversationFact { r#type, id, number, user_id, assigned_to, by } = fact;
        let r#type: Type = r#type.parse().ok()?;
        let sequence = place.sequence.as_i64();
        let data = ConversationData { conversation_id: id, number: shown(number), user_id, assigned_to, by };
        let id = format!("{}.{}.{}.{sequence}", id.as_simple(), r#type.word(), at.millis());
        Some(Self::new(place, id, r#type, at, Data::Conversation(data)))
    }

    /// A person opted out, or in again. The id does not contain the number, which some readers must not see.
    fn of_suppression(place: EventPlace, r#type: Type, at: Timestamp, fact: SuppressionFact) -> Option<Self> {
        let SuppressionFact { number, scope, source } = fact;
        let data = ContactData { number: format!("+{}", PhoneNumber::from_i64(number)?), scope, source };
        Some(Self::of_company(place, r#type, at, Data::Contact(data)))
    }

    /// The provider changed a template.
    fn of_template(place: EventPlace, at: Timestamp, fact: TemplateFact) -> Option<Self> {
        let r#type = fact.r#type()?;
        let TemplateFact { r#type: _, id, waba_id, name, language, old, new, reason } = fact;
        let data = TemplateData { template_id: id, waba_id, name, language, old, new, reason };
        Some(Self::of_company(place, r#type, at, Data::Template(data)))
    }

    /// Something that is named by its company alone. The place in the log distinguishes changes in the same millisecond.
    fn of_company(place: EventPlace, r#type: Type, at: Timestamp, data: Data) -> Self {
        let EventPlace { company_id, sequence, .. } = place;
        let id =
            format!("{}.{}.{}.{}", company_id.as_simple(), r#type.word(), at.millis(), sequence.as_i64());
        Self::new(place, id, r#type, at, data)
    }

    /// Events were dropped, the last of them at `at`.
    pub fn of_loss(company_id: Uuid, sequence: Sequence, at: Timestamp, data: LostData) -> Self {
        let id = format!("{}.lost.{}.{}", company_id.as_simple(), at.millis(), data.count);
        let place = EventPlace { company_id, channel_id: None, sequence };
        Self::new(place, id, Type::OutboxLost, at, Data::Lost(data))
    }

    const fn new(place: EventPlace, id: String, r#type: Type, at: Timestamp, data: Data) -> Self {
        let EventPlace { company_id, channel_id, sequence } = place;
        Self { version: VERSION, id, r#type, sequence, at, company_id, channel_id, data }
    }
}

impl LogEntry {
    /// The event's type; `None` if this program does not know it.
    pub fn r#type(&self) -> Option<Type> {
        match self {
            Self::Message(moved) => Type::of_message(moved.state),
            Self::Fact(fact) => Some(match &fact.what {
                FactKind::Send { state, .. } => Type::of_send(send::State::from_i16(*state)?),
                FactKind::Channel { status, .. } => Type::of_channel(status.parse().ok()?),
                FactKind::Inbound { .. } => Type::MessageReceived,
                FactKind::Wrote(fact) => fact.r#type.parse().ok()?,
                FactKind::Conversation(fact) => fact.r#type.parse().ok()?,
                FactKind::OptedOut(_) => Type::ContactOptedOut,
                FactKind::OptedIn(_) => Type::ContactOptedIn,
                FactKind::Template(fact) => fact.r#type()?,
                FactKind::Notice { .. } => Type::ProviderNotice,
                FactKind::Quota { left: 0, .. } => Type::QuotaUsedUp,
                FactKind::Quota { .. } => Type::QuotaLow,
                FactKind::Key { .. } => Type::KeyExpiring,
                FactKind::WebhookDisabled { .. } => Type::WebhookDisabled,
                FactKind::WebhookRecovered { .. } => Type::WebhookRecovered,
            }),
        }
    }
}

/// A number as events show it.
fn shown(number: Option<i64>) -> Option<String> {
    number.and_then(PhoneNumber::from_i64).map(|number| format!("+{number}"))
}

fn word<S: serde::Serializer>(r#type: &Type, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(r#type.as_str())
}

/// Whether a message in this state has an event. A message that waits for its turn or for an answer has none.
pub const fn is_told(state: State) -> bool {
    Type::of_message(state).is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::log::ChangedValue;
    use super::*;
    use crate::suppression::{Source, Suppression};
    use crate::webhook::Cause;

    #[test]
    fn an_event_is_written_as_the_documents_show_it() {
        let (company, channel, send) = (Uuid::from_u128(1), Uuid::from_u128(2), Uuid::from_u128(3));
        let place =
            EventPlace { company_id: company, channel_id: Some(channel), sequence: Sequence::new(1, 2) };
        let data = MessageData {
            send_id: send,
            reference: Some("order-7".to_owned()),
            message_reference: None,
            ordinal: 7,
            recipient: "+5511988887777".to_owned(),
            provider_message_id: None,
            error: Some(ErrorData { code: Some(131_026), message: "undeliverable".to_owned() }),
        };
        let event = Event::of_message(place, Type::MessageFailed, Timestamp::from_millis(0), data);
        let expected = json!({
            "version": 1,
            "id": "00000000000000000000000000000003.7.failed",
            "type": "message.failed",
            "sequence": 65_538,
            "at": "1970-01-01T00:00:00.000Z",
            "company_id": company,
            "channel_id": channel,
            "data": {
                "send_id": send,
                "reference": "order-7",
                "ordinal": 7,
                "recipient": "+5511988887777",
                "provider_message_id": null,
                "error": { "code": 131_026, "message": "undeliverable" },
            },
        });
        assert_eq!(serde_json::to_value(&event).unwrap(), expected);
    }

    #[test]
    fn a_repetition_has_the_same_id_and_another_state_has_another() {
        let id = |r#type, at| {
            let data = MessageData {
                send_id: Uuid::from_u128(3),
                reference: None,
                message_reference: None,
                ordinal: 0,
                recipient: String::new(),
                provider_message_id: None,
                error: None,
            };
            let (company_id, channel_id) = (Uuid::nil(), Some(Uuid::nil()));
            let place = EventPlace { company_id, channel_id, sequence: Sequence::new(at, 0) };
            Event::of_message(place, r#type, Timestamp::from_millis(at), data).id
        };
        assert_eq!(id(Type::MessageSent, 1), id(Type::MessageSent, 2));
        assert_ne!(id(Type::MessageSent, 1), id(Type::MessageRead, 1));
    }

    #[test]
    fn a_change_of_a_webhook_endpoint_is_an_event_without_a_channel() {
        let (company, endpoint) = (Uuid::from_u128(1), Uuid::from_u128(5));
        let (since, at) = (Timestamp::from_millis(0), Timestamp::from_millis(7));
        for (fact, id, kind, data) in [
            (
                Fact::of_disabled_webhook(endpoint, Cause::Gone, at),
                "00000000000000000000000000000005.disabled.7",
                "webhook.disabled",
                json!({ "webhook_id": endpoint, "reason": "gone" }),
            ),
            (
                Fact::of_recovered_webhook(endpoint, since, at),
                "00000000000000000000000000000005.recovered.7",
                "webhook.recovered",
                json!({ "webhook_id": endpoint, "failing_since": since.to_string() }),
            ),
        ] {
            // As the log keeps it.
            let packed = log::pack(&[LogEntry::Fact(fact)]);
            let Some(Some(LogEntry::Fact(fact))) = log::unpack(&packed).pop() else { panic!("{kind}") };
            assert_eq!(LogEntry::Fact(fact.clone()).r#type().map(Type::as_str), Some(kind));
            let event = json!(Event::of_fact(company, Sequence::new(1, 2), fact));
            assert_eq!((&event["id"], &event["type"], &event["data"]), (&json!(id), &json!(kind), &data));
            assert_eq!((&event["channel_id"], &event["at"]), (&json!(null), &json!(at.to_string())));
        }
    }

    #[test]
    fn an_opt_out_and_a_change_of_a_template_are_read_from_the_log_as_they_were_told() {
        let (company, at) = (Uuid::from_u128(1), Timestamp::from_millis(7));
        let number = PhoneNumber::from_u64(5_511_988_887_777).unwrap();
        let change = ChangedValue {
            r#type: Type::TemplatePaused,
            old: Some("APPROVED".to_owned()),
            new: "PAUSED".to_owned(),
            reason: Some("FIRST_PAUSE".to_owned()),
        };
        let template = (9, "102290129340398", "sale", "pt_BR");
        let person = json!({ "number": "+5511988887777", "scope": "marketing", "source": "message" });
        let paused = json!({
            "template_id": 9, "waba_id": "102290129340398", "name": "sale", "language": "pt_BR",
            "old": "APPROVED", "new": "PAUSED", "reason": "FIRST_PAUSE",
        });
        let (scope, source) = (Suppression::Marketing, Source::Message);
        for (fact, id, kind, data) in [
            (Fact::of_opt_out(number, scope, source, at), "opted_out", "contact.opted_out", &person),
            (Fact::of_opt_in(number, scope, source, at), "opted_in", "contact.opted_in", &person),
            (Fact::of_template(template, change, at), "paused", "template.paused", &paused),
        ] {
            let packed = log::pack(&[LogEntry::Fact(fact)]);
            let Some(Some(LogEntry::Fact(fact))) = log::unpack(&packed).pop() else { panic!("{kind}") };
            assert_eq!(LogEntry::Fact(fact.clone()).r#type().map(Type::as_str), Some(kind));
            let event = json!(Event::of_fact(company, Sequence::new(1, 2), fact));
            let id = format!("{}.{id}.7.65538", company.as_simple());
            assert_eq!((&event["id"], &event["type"], &event["data"]), (&json!(id), &json!(kind), data));
            assert_eq!((&event["channel_id"], &event["at"]), (&json!(null), &json!(at.to_string())));
        }
    }

    #[test]
    fn waiting_messages_have_no_event() {
        let told: Vec<_> = State::ALL.into_iter().filter(|state| is_told(*state)).collect();
        assert_eq!(told.len(), State::ALL.len() - 2);
    }
}
