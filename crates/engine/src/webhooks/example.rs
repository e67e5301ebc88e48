//! An example of each type of event, with which a person tests an endpoint, and which the API's reference shows.

use std::time::Duration;

use serde_json::json;
use uuid::Uuid;

use clock::Timestamp;
use clock::database::new_id;
use domain::event::log::Sequence;
use domain::event::{
    ChannelData, ContactData, ConversationData, Data, ErrorData, Event, InboundData, KeyData, LostData,
    MessageData, NoticeData, QuotaData, ReasonData, SendData, TemplateData, Type, VERSION,
    WebhookDisabledData, WebhookRecoveredData,
};
use domain::inbound::{InboundBody, InboundContent};
use domain::limit::Name;
use domain::suppression::{Source, Suppression};
use domain::webhook::{Cause, EXAMPLE_ID};

/// A number that belongs to nobody.
pub(super) const NUMBER: &str = "+15550100123";
/// The provider's id of a message that never was.
const MESSAGE_ID: &str = "wamid.EXAMPLE";
/// The caller's own reference of a send.
const REFERENCE: &str = "order-1042";
/// A channel, a send, an endpoint and a key that are not there.
const CHANNEL: Uuid = Uuid::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0001);
const SEND: Uuid = Uuid::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0002);
const WEBHOOK: Uuid = Uuid::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0003);
const KEY: Uuid = Uuid::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0004);
/// A conversation and a user that are not there.
const CONVERSATION: Uuid = Uuid::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0005);
const USER: Uuid = Uuid::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0006);
/// After this time, the key that expires soon expires.
const EXPIRES_IN: Duration = Duration::from_secs(5 * 24 * 60 * 60);
/// For how long the endpoint failed that accepts events again.
const FAILED_FOR: Duration = Duration::from_secs(60 * 60);

/// An event of this type that did not happen. It has the same form as a real one; its id begins with [`EXAMPLE_ID`].
pub fn example(company_id: Uuid, r#type: Type, at: Timestamp) -> Event {
    let data = data(r#type, at);
    let channel_id = match &data {
        Data::Message(_)
        | Data::Send(_)
        | Data::Channel(_)
        | Data::Inbound(_)
        | Data::Conversation(_)
        | Data::Notice(_)
        | Data::Quota(_) => Some(CHANNEL),
        Data::Contact(_)
        | Data::Template(_)
        | Data::Key(_)
        | Data::WebhookDisabled(_)
        | Data::WebhookRecovered(_)
        | Data::Lost(_) => None,
    };
    Event {
        version: VERSION,
        id: format!("{EXAMPLE_ID}{}", new_id().as_simple()),
        r#type,
        sequence: Sequence::default(),
        at,
        company_id,
        channel_id,
        data,
    }
}

fn data(r#type: Type, at: Timestamp) -> Data {
    let of = || MESSAGE_ID.to_owned();
    match r#type {
        Type::MessageSent | Type::MessageDelivered | Type::MessageRead => message(true, None),
        Type::MessageFailed => message(false, Some((Some(131_026), "the number is not on WhatsApp"))),
        Type::MessageUnknown => message(false, Some((None, "the provider did not answer"))),
        Type::MessageExpired | Type::MessageCanceled | Type::MessageSuppressed => message(false, None),
        Type::SendFinished | Type::SendCanceled | Type::SendExpired => {
            let reference = Some(REFERENCE.to_owned());
            Data::Send(SendData { send_id: SEND, recipients_count: 3, reference })
        }
        Type::ChannelConnecting | Type::ChannelConnected | Type::ChannelPairing => {
            Data::Channel(ChannelData { reason: None })
        }
        Type::ChannelDisconnected | Type::ChannelBlocked => {
            let reason = ReasonData {
                code: "credentials_refused".to_owned(),
                sentence: "the provider refuses the token: give the channel another one".to_owned(),
                provider_code: Some(190),
            };
            Data::Channel(ChannelData { reason: Some(reason) })
        }
        Type::MessageReceived | Type::MessageEcho => {
            inbound(InboundContent::Text { body: "Where is my order?".to_owned() })
        }
        Type::MessageReaction => {
            inbound(InboundContent::Reaction { message_id: of(), emoji: Some("👍".to_owned()) })
        }
        Type::MessageEdited => {
            inbound(InboundContent::Edit { message_id: of(), text: Some("Where is my parcel?".to_owned()) })
        }
        Type::MessageDeleted => inbound(InboundContent::Deletion { message_id: of() }),
        Type::ConversationOpened
        | Type::ConversationClosed
        | Type::ConversationReopened
        | Type::ConversationAssigned => {
            let is_assigned = r#type == Type::ConversationAssigned;
            Data::Conversation(ConversationData {
                conversation_id: CONVERSATION,
                number: Some(NUMBER.to_owned()),
                user_id: None,
                assigned_to: is_assigned.then_some(USER),
                by: is_assigned.then(|| format!("user:{USER}")),
            })
        }
        Type::ContactOptedOut | Type::ContactOptedIn => Data::Contact(ContactData {
            number: NUMBER.to_owned(),
            scope: Suppression::Marketing.as_str().to_owned(),
            source: Source::Message.as_str().to_owned(),
        }),
        Type::TemplateApproved => template(Some("PENDING"), "APPROVED", None),
        Type::TemplateRejected => template(Some("PENDING"), "REJECTED", Some("INVALID_FORMAT")),
        Type::TemplatePaused => template(Some("APPROVED"), "PAUSED", Some("FIRST_PAUSE")),
        Type::TemplateDisabled => template(Some("PAUSED"), "DISABLED", None),
        Type::TemplateCategoryChanged => template(Some("UTILITY"), "MARKETING", None),
        Type::TemplateQualityChanged => template(Some("GREEN"), "YELLOW", None),
        Type::ProviderNotice => {
            let value = json!({
                "display_phone_number": "15550783881",
                "event": "THROUGHPUT_UPGRADE",
                "max_daily_conversations_per_business": "TIER_UNLIMITED",
            });
            Data::Notice(NoticeData { field: "phone_number_quality_update".to_owned(), value })
        }
        Type::QuotaLow => quota(42),
        Type::QuotaUsedUp => quota(0),
        Type::KeyExpiring => {
            let (name, expires_at) = ("Shop".to_owned(), at.plus(EXPIRES_IN));
            Data::Key(KeyData { key_id: KEY, name, expires_at })
        }
        Type::WebhookDisabled => {
            let reason = Cause::Failures.as_str().to_owned();
            Data::WebhookDisabled(WebhookDisabledData { webhook_id: WEBHOOK, reason })
        }
        Type::WebhookRecovered => {
            let failing_since = at.minus(FAILED_FOR);
            Data::WebhookRecovered(WebhookRecoveredData { webhook_id: WEBHOOK, failing_since })
        }
        Type::OutboxLost => Data::Lost(LostData { count: 3, since: at }),
    }
}

fn inbound(content: InboundContent) -> Data {
    Data::Inbound(InboundData {
        provider_message_id: format!("{MESSAGE_ID}.IN"),
        from: Some(NUMBER.to_owned()),
        user_id: None,
        name: Some("Ana".to_owned()),
        group: None,
        conversation_id: Some(CONVERSATION),
        message: Some(Box::new(InboundBody::of(content))),
        sealed: None,
    })
}

fn message(is_accepted: bool, error: Option<(Option<i64>, &str)>) -> Data {
    Data::Message(MessageData {
        send_id: SEND,
        reference: Some(REFERENCE.to_owned()),
        message_reference: None,
        ordinal: 0,
        recipient: NUMBER.to_owned(),
        provider_message_id: is_accepted.then(|| MESSAGE_ID.to_owned()),
        error: error.map(|(code, message)| ErrorData { code, message: message.to_owned() }),
    })
}

fn quota(left: u64) -> Data {
    Data::Quota(QuotaData { limit: Name::TemplateQuota.as_str().to_owned(), left, most: 1_000 })
}

fn template(old: Option<&str>, new: &str, reason: Option<&str>) -> Data {
    Data::Template(TemplateData {
        template_id: 7,
        waba_id: "102290129340398".to_owned(),
        name: "order_shipped".to_owned(),
        language: "en_US".to_owned(),
        old: old.map(str::to_owned),
        new: new.to_owned(),
        reason: reason.map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_an_example_of_each_type_with_an_id_of_its_own() {
        let examples =
            Type::ALL.iter().map(|r#type| example(Uuid::nil(), *r#type, Timestamp::from_millis(0)));
        let examples: Vec<_> = examples.collect();
        for (r#type, event) in Type::ALL.iter().zip(&examples) {
            assert_eq!(event.r#type, *r#type);
            let kind = match event.data {
                Data::Message(_) | Data::Inbound(_) => "message.",
                Data::Send(_) => "send.",
                Data::Channel(_) => "channel.",
                Data::Conversation(_) => "conversation.",
                Data::Contact(_) => "contact.",
                Data::Template(_) => "template.",
                Data::Notice(_) => "provider.",
                Data::Quota(_) => "quota.",
                Data::Key(_) => "key.",
                Data::WebhookDisabled(_) | Data::WebhookRecovered(_) => "webhook.",
                Data::Lost(_) => "outbox.",
            };
            assert!(r#type.as_str().starts_with(kind), "{event:?}");
        }
        let ids: std::collections::HashSet<_> = examples.iter().map(|event| &event.id).collect();
        assert_eq!(ids.len(), examples.len());
    }
}
