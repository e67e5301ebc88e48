//! A send as its company sees it.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::api::openapi::{SendState, SendType, WaitingReason};
use crate::clock::Timestamp;
use crate::domain::message::State;
use crate::domain::outlook::{Outlook, Waiting};
use crate::domain::send::{Counts, Schedule, Source};
use crate::engine::records::sends::{Record, TemplateName};

/// An accepted send.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Send)]
pub(in crate::api) struct SendRecord {
    /// Names the send.
    id: Uuid,
    /// The channel that sends it.
    channel_id: Uuid,
    /// The `type` of its request.
    #[schema(value_type = SendType, example = "template")]
    r#type: &'static str,
    /// The template, when it sends one.
    template: Option<TemplateRecord>,
    /// Where it is.
    #[schema(value_type = SendState, example = "active")]
    state: &'static str,
    /// Unique numbers that it goes to.
    recipients_count: u64,
    /// Entries of its request that were left out.
    skipped_count: u64,
    /// The tags whose contacts it goes to.
    contact_tag_ids: Vec<Uuid>,
    /// The send whose messages it sends again, if it does.
    retry_of: Option<Uuid>,
    /// Where its messages are; the sum is `recipients_count`.
    counts: CountsRecord,
    /// Messages of it that go in a second now; null when nothing goes or nobody can say.
    rate_per_second: Option<f64>,
    /// When its last message will likely have gone; null when nobody can say.
    #[schema(value_type = Option<String>, format = DateTime)]
    estimated_end: Option<Timestamp>,
    /// What it waits for; null when its messages go, or when it is over.
    waiting: Option<WaitingRecord>,
    /// When it starts, if its request said so.
    #[schema(value_type = Option<String>, format = DateTime)]
    send_at: Option<Timestamp>,
    /// From when on nothing of it starts, if its request said so.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    /// When it was accepted.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When it was over; null before.
    #[schema(value_type = Option<String>, format = DateTime)]
    finished_at: Option<Timestamp>,
}

/// The template that a send sends.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SendTemplate)]
pub(in crate::api) struct TemplateRecord {
    /// Its number, as `template_id` gives it.
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
#[schema(as = MessageCounts)]
pub(in crate::api) struct CountsRecord {
    /// Not attempted yet, or to be tried again.
    queued: u64,
    /// Handed to the provider, no answer yet.
    sending: u64,
    /// The provider accepted it.
    sent: u64,
    /// The recipient's device has it.
    delivered: u64,
    /// The recipient read it.
    read: u64,
    /// The message will not arrive.
    failed: u64,
    /// Its time was over before it started.
    expired: u64,
    /// Its send was canceled before it started.
    canceled: u64,
    /// Its recipient opted out before it went.
    suppressed: u64,
    /// The provider may or may not have it.
    unknown: u64,
}

/// What a send waits for.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Waiting)]
pub(in crate::api) struct WaitingRecord {
    /// What holds it, for programs.
    #[schema(value_type = WaitingReason, example = "scheduled")]
    reason: &'static str,
    /// The obstacle and the remedy, for a person.
    sentence: String,
    /// Until when; null when that depends on somebody, or on what comes.
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
}

impl From<(Record, Outlook)> for SendRecord {
    fn from((record, outlook): (Record, Outlook)) -> Self {
        let Record {
            id,
            channel_id,
            kind,
            template,
            stage,
            state: _,
            recipients,
            progress: _,
            sources,
            skipped,
            counts,
            schedule: Schedule { send_at, expires_at },
            due_at: _,
            created_at,
            finished_at,
        } = record;
        let Outlook { rate, estimated_end, waiting } = outlook;
        let (mut contact_tag_ids, mut retry_of) = (Vec::new(), None);
        for source in sources {
            match source {
                Source::Tag(id) => contact_tag_ids.push(id),
                Source::Send(id) => retry_of = Some(id),
            }
        }
        Self {
            id,
            channel_id,
            r#type: kind.as_str(),
            template: template.map(TemplateRecord::from),
            state: stage.as_str(),
            recipients_count: recipients,
            skipped_count: skipped,
            contact_tag_ids,
            retry_of,
            counts: CountsRecord::from(counts),
            rate_per_second: rate,
            estimated_end,
            waiting: waiting.map(WaitingRecord::from),
            send_at,
            expires_at,
            created_at,
            finished_at,
        }
    }
}

impl From<TemplateName> for TemplateRecord {
    fn from(TemplateName { id, name, language, status: _ }: TemplateName) -> Self {
        Self { id, name, language }
    }
}

impl From<Counts> for CountsRecord {
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

impl From<Waiting> for WaitingRecord {
    fn from(Waiting { reason, sentence, until }: Waiting) -> Self {
        Self { reason: reason.as_str(), sentence, until }
    }
}
