//! What a business-account send is answered.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::api::openapi::BindingLimit;
use crate::clock::Timestamp;
use crate::domain::plan::Binding;
use crate::domain::request::{Skipped, SkippedEntry};
use crate::engine::{Accepted, DryRun, plan};

/// The result of a send.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::api) struct Queued {
    /// Says that the message is queued for sending.
    #[schema(example = "Message queued for sending")]
    message: &'static str,
    /// Unique numbers that the message goes to.
    recipients_count: u64,
    /// Names the send.
    send_id: Uuid,
    /// When it goes, if the request said so.
    #[schema(value_type = String, format = DateTime)]
    #[serde(skip_serializing_if = "Option::is_none")]
    send_at: Option<Timestamp>,
    /// From when on nothing of it starts, if the request said so.
    #[schema(value_type = String, format = DateTime)]
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    /// Entries of `phone_number` that are not numbers, and recipients that are left out.
    skipped_count: u64,
    /// The first hundred of them.
    skipped: Vec<SkippedRecord>,
}

/// What a send would be.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::api) struct Rehearsed {
    /// Says that nothing was queued.
    #[schema(example = "Nothing was queued: this was a dry run")]
    message: &'static str,
    /// `true`.
    dry_run: bool,
    /// Unique numbers that the message would go to.
    recipients_count: u64,
    /// Entries of `phone_number` that are not numbers, and recipients that would be left out.
    skipped_count: u64,
    /// The first hundred of them.
    skipped: Vec<SkippedRecord>,
    /// For a send with contact fields: recipients who would get no message. Absent when every field has a text in its
    /// place, and when there are none.
    #[schema(value_type = WithoutFields, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    contact_fields: Option<WithoutFields>,
    /// How long it would take under the limits of the channel's tier, its quota of templates too, with what is
    /// queued before it, in seconds; null when nothing but the provider's answers limits it.
    #[schema(example = 125)]
    estimated_seconds: Option<u64>,
    /// When it would be over; null like `estimated_seconds`.
    #[schema(value_type = Option<String>, format = DateTime)]
    estimated_end: Option<Timestamp>,
    /// The limit without which it would be over sooner; null like `estimated_seconds`.
    #[schema(value_type = Option<BindingLimit>, example = "messages_per_second")]
    binding: Option<&'static str>,
}

/// Recipients who lack a contact field that has no text in its place.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WithoutContactFields)]
pub(in crate::api) struct WithoutFields {
    /// How many of those that were looked at would get no message: `failed`, with the code -1.
    #[schema(example = 12)]
    lacking_count: u64,
    /// How many were looked at: all recipients, or the first of very many.
    #[schema(example = 1000)]
    checked_count: u64,
}

/// An entry that is left out.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Skipped)]
pub(in crate::api) struct SkippedRecord {
    /// The entry's beginning, or the number.
    input: String,
    /// What is wrong with it.
    #[schema(example = "has fewer than 7 digits")]
    reason: String,
}

impl From<Accepted> for Queued {
    fn from(Accepted { send_id, recipients, skipped, schedule }: Accepted) -> Self {
        Self {
            message: if recipients == 1 {
                "Message queued for sending"
            } else {
                "Messages queued for sending"
            },
            recipients_count: recipients,
            send_id,
            send_at: schedule.send_at,
            expires_at: schedule.expires_at,
            skipped_count: skipped.count,
            skipped: shown(skipped),
        }
    }
}

impl From<DryRun> for Rehearsed {
    fn from(dry_run: DryRun) -> Self {
        let DryRun { recipients, skipped, suppressed: _, without_fields, takes, ends, binding } = dry_run;
        let lacking = |plan::WithoutFields { count, checked }| WithoutFields {
            lacking_count: count,
            checked_count: checked,
        };
        Self {
            message: "Nothing was queued: this was a dry run",
            dry_run: true,
            recipients_count: recipients,
            skipped_count: skipped.count,
            skipped: shown(skipped),
            contact_fields: without_fields.map(lacking),
            estimated_seconds: takes.map(|takes| takes.as_secs() + u64::from(takes.subsec_nanos() > 0)),
            estimated_end: ends,
            binding: binding.map(Binding::as_str),
        }
    }
}

fn shown(skipped: Skipped) -> Vec<SkippedRecord> {
    let record = |SkippedEntry { input, reason }| SkippedRecord { input, reason };
    skipped.first.into_iter().map(record).collect()
}
