//! A send, as its company sees it.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::api::content::SendContent;
use crate::api::schema::{SendEndReason, SendState, SendType};
use crate::api::waiting::WaitingRecord;
use crate::clock::Timestamp;
use crate::domain::message::State;
use crate::domain::outlook::Outlook;
use crate::domain::send::{Counts, EndReason, Label, Schedule, Source};
use crate::engine::records::sends::{Record, TemplateName};

/// An accepted send.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Send)]
pub(crate) struct SendRecord {
    /// The id of the send.
    id: Uuid,
    /// The name that its request gave it, or one that is made of its template or text and its recipients.
    #[schema(example = "Spring offer")]
    name: String,
    /// The channel that sends it.
    channel_id: Uuid,
    /// The `type` of its request.
    #[schema(value_type = SendType, example = "template")]
    r#type: &'static str,
    /// The template, if the send has one.
    template: Option<TemplateRecord>,
    /// The state of the send.
    #[schema(value_type = SendState, example = "active")]
    state: &'static str,
    /// The number of unique recipients.
    recipients_count: u64,
    /// The number of entries of the request that were skipped.
    skipped_count: u64,
    /// The tags whose contacts get the message.
    contact_tag_ids: Vec<Uuid>,
    /// The tags whose contacts were left out.
    without_contact_tag_ids: Vec<Uuid>,
    /// The segments whose contacts get the message: those whom they selected when the send was accepted.
    segment_ids: Vec<Uuid>,
    /// The send that it retries, if it is a retry.
    retry_of: Option<Uuid>,
    /// The retries of its messages, the newest first: at most a hundred. `GET /api/v1/sends?retry_of=` lists all.
    #[schema(max_items = 100)]
    retried_by: Vec<Uuid>,
    /// The send of the template that goes to those of its people whose window was closed; null when there is none. It is
    /// paused, canceled and retried by itself.
    template_instead_id: Option<Uuid>,
    /// Present when it is the template that goes in place of the message of its request.
    #[schema(value_type = InsteadOfRecord, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    instead_of: Option<InsteadOfRecord>,
    /// Its messages by state; the sum is `recipients_count`.
    counts: MessageCounts,
    /// Of the messages that are `sent`, `delivered` or `read`, those that were answered: the recipient wrote in the same
    /// channel after the message, within 72 hours.
    answered_count: u64,
    /// The messages that go out per second now; null when no message goes out or the rate is unknown.
    rate_per_second: Option<f64>,
    /// The estimated time of the last message; null when this is unknown.
    #[schema(value_type = Option<String>, format = DateTime)]
    estimated_end: Option<Timestamp>,
    /// Why it waits; null when its messages go out, or when it is over.
    waiting: Option<WaitingRecord>,
    /// When it starts, if its request says so.
    #[schema(value_type = Option<String>, format = DateTime)]
    send_at: Option<Timestamp>,
    /// The time after which no message starts, if its request says so.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    /// The caller's own name for it, as its request gave it.
    #[schema(example = "order-4711")]
    reference: Option<String>,
    /// The caller's own notes, as its request gave them.
    metadata: BTreeMap<String, String>,
    /// What it sends. Not in lists.
    #[schema(value_type = SendContent, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<SendContent>,
    /// When it was accepted.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When it ended; null before that.
    #[schema(value_type = Option<String>, format = DateTime)]
    finished_at: Option<Timestamp>,
    /// Why it ended, if nobody asked for that; else null.
    end_reason: Option<EndReasonRecord>,
}

/// What a template goes in place of.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = InsteadOf)]
pub(crate) struct InsteadOfRecord {
    /// The send with the message of the request; null when everybody gets the template.
    send_id: Option<Uuid>,
}

/// Why a send ended although nobody asked for that.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EndReason)]
pub(crate) struct EndReasonRecord {
    /// The reason, for programs.
    #[schema(value_type = SendEndReason, example = "restored")]
    code: &'static str,
    /// What happened and what to do, for a person.
    sentence: String,
}

/// The template of a send.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SendTemplate)]
pub(crate) struct TemplateRecord {
    /// The id of the template, as in `template_id`.
    #[schema(example = 7)]
    id: i64,
    /// Its name at the provider.
    #[schema(example = "order_shipped")]
    name: String,
    /// Its language.
    #[schema(example = "pt_BR")]
    language: String,
}

/// How many messages are in each state.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MessageCounts {
    /// Not attempted yet, or waiting for a retry.
    queued: u64,
    /// Handed to the provider; the answer is pending.
    sending: u64,
    /// The provider accepted the message.
    sent: u64,
    /// The recipient's device has the message.
    delivered: u64,
    /// The recipient read the message.
    read: u64,
    /// The message will not arrive.
    failed: u64,
    /// The send expired before the message started.
    expired: u64,
    /// The send was canceled before the message started.
    canceled: u64,
    /// The recipient opted out before the message started.
    suppressed: u64,
    /// The provider may or may not have the message.
    unknown: u64,
}

impl From<(Record, Outlook)> for SendRecord {
    fn from((record, outlook): (Record, Outlook)) -> Self {
        let name = record.name();
        let Record {
            id,
            channel_id,
            kind,
            template,
            stage,
            state: _,
            recipients,
            progress: _,
            opening: _,
            is_to_group: _,
            sources,
            tags: _,
            left_out_tags: _,
            retries,
            instead,
            skipped,
            counts,
            schedule: Schedule { send_at, expires_at },
            label: Label { name: _, reference, metadata, made_by: _ },
            due_at: _,
            created_at,
            finished_at,
            end_reason,
        } = record;
        let Outlook { rate, estimated_end, waiting } = outlook;
        let (mut contact_tag_ids, mut without_contact_tag_ids) = (Vec::new(), Vec::new());
        let (mut segment_ids, mut retry_of, mut instead_of) = (Vec::new(), None, None);
        for source in sources {
            match source {
                Source::Tag(id) => contact_tag_ids.push(id),
                Source::WithoutTag(id) => without_contact_tag_ids.push(id),
                Source::Segment(id) => segment_ids.push(id),
                Source::Send(id) => retry_of = Some(id),
                Source::Closed(send_id) => instead_of = Some(InsteadOfRecord { send_id }),
            }
        }
        Self {
            id,
            name,
            channel_id,
            r#type: kind.as_str(),
            template: template.map(TemplateRecord::from),
            state: stage.as_str(),
            recipients_count: recipients,
            skipped_count: skipped,
            contact_tag_ids,
            without_contact_tag_ids,
            segment_ids,
            retry_of,
            retried_by: retries,
            template_instead_id: instead,
            instead_of,
            answered_count: counts.answered(),
            counts: MessageCounts::from(counts),
            rate_per_second: rate,
            estimated_end,
            waiting: waiting.map(WaitingRecord::from),
            send_at,
            expires_at,
            reference,
            metadata,
            content: None,
            created_at,
            finished_at,
            end_reason: end_reason.map(EndReasonRecord::from),
        }
    }
}

impl From<EndReason> for EndReasonRecord {
    fn from(reason: EndReason) -> Self {
        Self { code: reason.as_str(), sentence: format!("{} {}", reason.meaning(), reason.remedy()) }
    }
}

impl SendRecord {
    /// This record with the content of its send.
    pub(super) fn with(self, content: SendContent) -> Self {
        Self { content: Some(content), ..self }
    }
}

impl From<TemplateName> for TemplateRecord {
    fn from(TemplateName { id, name, language, status: _ }: TemplateName) -> Self {
        Self { id, name, language }
    }
}

impl From<Counts> for MessageCounts {
    fn from(counts: Counts) -> Self {
        Self {
            queued: counts.of(State::Queued),
            sending: counts.of(State::Sending),
            sent: counts.of(State::Sent),
            delivered: counts.of(State::Delivered),
            read: counts.of(State::Read),
            failed: counts.of(State::Failed),
            expired: counts.of(State::Expired),
            canceled: counts.of(State::Canceled),
            suppressed: counts.of(State::Suppressed),
            unknown: counts.of(State::Unknown),
        }
    }
}
