//! The answers to a business-account send.

use std::collections::BTreeMap;

use actix_web::HttpResponse;
use actix_web::http::header::LOCATION;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::api::content::SendContent;
use crate::api::costs::CostEstimate;
use crate::api::idempotency;
use crate::api::schema::BindingLimit;
use crate::api::skipped::{SkippedRecord, skipped_counts, skipped_records};
use crate::clock::Timestamp;
use crate::domain::plan::Binding;
use crate::engine::{Accepted, DryRun, DryRunInstead, SentInstead, plan};

/// The result of a send.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Queued {
    /// Says that the message is queued for sending.
    #[schema(example = "Message queued for sending")]
    message: &'static str,
    /// Unique numbers that get the message, or the template in its place.
    recipients_count: u64,
    /// The id of the send.
    send_id: Uuid,
    /// The template that goes to people whose window is closed; absent when nobody gets it.
    #[schema(value_type = InsteadAnswer, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    template_instead: Option<InsteadAnswer>,
    /// When the send starts, if the request says so.
    #[schema(value_type = String, format = DateTime)]
    #[serde(skip_serializing_if = "Option::is_none")]
    send_at: Option<Timestamp>,
    /// The time after which no message of the send starts, if the request says so.
    #[schema(value_type = String, format = DateTime)]
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    /// The number of skipped entries: entries of `phone_number` that are not numbers, tags that the company does not
    /// have, and recipients who get no message.
    skipped_count: u64,
    /// The first hundred of them; of a send with values the first thousand. `GET /api/v1/sends/{id}/skipped` has more.
    skipped: Vec<SkippedRecord>,
    /// For a send with values: how many of them there are of each kind, by their `code`. Absent when there are none.
    #[schema(required = false, example = json!({"value_missing": 2}))]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    skipped_counts: BTreeMap<&'static str, u64>,
    /// The fields of the request that had no effect: fields that this path does not know, or that the message's type
    /// does not use, and values that have no place in the message (`values.order`). The first ones of many; absent when there
    /// are none.
    #[schema(required = false, example = json!(["file_name"]))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<String>,
}

/// The template that goes in place of the message to people whose window is closed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SentInstead)]
pub(crate) struct InsteadAnswer {
    /// The id of its send, which has a record, a state and results of its own. It is the `send_id` of the answer when everybody
    /// gets the template.
    send_id: Uuid,
    /// How many of the recipients get it.
    #[schema(example = 12)]
    recipients_count: u64,
}

/// The template that would go in place of the message to people whose window is closed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RehearsedInstead)]
pub(crate) struct RehearsedInstead {
    /// How many of the recipients would get it.
    #[schema(example = 12)]
    recipients_count: u64,
    /// What it would cost by the provider's published prices; absent when none apply when it starts.
    #[schema(value_type = CostEstimate, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<CostEstimate>,
}

/// The result of a dry run.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Rehearsed {
    /// Says that nothing was queued.
    #[schema(example = "Nothing was queued: this was a dry run")]
    message: &'static str,
    /// `true`.
    dry_run: bool,
    /// Unique numbers that would get the message, or the template in its place.
    recipients_count: u64,
    /// The template of `template_instead`, for a request that has it.
    #[schema(value_type = RehearsedInstead, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    template_instead: Option<RehearsedInstead>,
    /// The number of entries that would be skipped: entries of `phone_number` that are not numbers, and
    /// suppressed recipients.
    skipped_count: u64,
    /// The first hundred of them; of a send with values the first thousand. With `Accept: text/csv` the answer is a table of
    /// them, at most 20,000.
    skipped: Vec<SkippedRecord>,
    /// For a send with values: how many of them there are of each kind, by their `code`. Absent when there are none.
    #[schema(required = false, example = json!({"value_missing": 2}))]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    skipped_counts: BTreeMap<&'static str, u64>,
    /// For a send with values: the first five messages, with everything filled in. Absent for other sends.
    #[schema(value_type = Vec<SendExample>, required = false, max_items = 5)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    examples: Vec<SendExample>,
    /// For a send with contact fields: recipients who would get no message. Absent when every field has a
    /// text for recipients without a value, and for sends without contact fields.
    #[schema(value_type = WithoutContactFields, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    contact_fields: Option<WithoutContactFields>,
    /// How long the send would take, in seconds, under the limits of the channel's tier (including its quota
    /// of templates) and after the sends queued before it; null when only the provider's answers limit it.
    #[schema(example = 125)]
    estimated_seconds: Option<u64>,
    /// When the send would be over; null when `estimated_seconds` is null.
    #[schema(value_type = Option<String>, format = DateTime)]
    estimated_end: Option<Timestamp>,
    /// The limit that decides the duration; null when `estimated_seconds` is null.
    #[schema(value_type = Option<BindingLimit>, example = "messages_per_second")]
    binding: Option<&'static str>,
    /// What it would cost by the provider's published prices, without the messages of `template_instead`, which has a cost of its
    /// own; absent when none apply when it starts.
    #[schema(value_type = CostEstimate, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<CostEstimate>,
    /// The fields of the request that had no effect: fields that this path does not know, or that the message's type
    /// does not use, and values that have no place in the message (`values.order`). The first ones of many; absent when there
    /// are none.
    #[schema(required = false, example = json!(["file_name"]))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<String>,
}

/// A message as its recipient would get it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SendExample {
    /// The recipient.
    #[schema(example = "+5511988887777")]
    recipient: String,
    /// The content; null for a recipient who lacks a field of a contact, and would get no message.
    content: Option<SendContent>,
}

/// Recipients who lack a value of a contact field for which the send has no other text.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WithoutContactFields {
    /// How many of the checked recipients would get no message: it would end as `failed`, with the code -1.
    #[schema(example = 12)]
    lacking_count: u64,
    /// How many recipients were checked: all, or the first ones of a very large send.
    #[schema(example = 1000)]
    checked_count: u64,
}

impl Queued {
    /// The answer, with the address of the send's record.
    pub(crate) fn answer(self) -> HttpResponse {
        HttpResponse::Accepted().insert_header((LOCATION, self.address())).json(self)
    }

    /// The same answer, repeated.
    pub(crate) fn replayed(self) -> HttpResponse {
        idempotency::replay(&self.address(), &self)
    }

    fn address(&self) -> String {
        format!("/api/v1/sends/{}", self.send_id)
    }
}

impl From<Accepted> for Queued {
    fn from(Accepted { send_id, recipients, instead, skipped, schedule, ignored }: Accepted) -> Self {
        Self {
            message: if recipients == 1 {
                "Message queued for sending"
            } else {
                "Messages queued for sending"
            },
            recipients_count: recipients,
            send_id,
            template_instead: instead.map(InsteadAnswer::from),
            send_at: schedule.send_at,
            expires_at: schedule.expires_at,
            skipped_count: skipped.count,
            skipped_counts: skipped_counts(&skipped),
            skipped: skipped_records(&skipped),
            ignored,
        }
    }
}

impl From<SentInstead> for InsteadAnswer {
    fn from(SentInstead { send_id, recipients }: SentInstead) -> Self {
        Self { send_id, recipients_count: recipients }
    }
}

impl From<DryRunInstead> for RehearsedInstead {
    fn from(DryRunInstead { recipients, cost }: DryRunInstead) -> Self {
        Self { recipients_count: recipients, cost: cost.map(CostEstimate::from) }
    }
}

impl From<plan::Example> for SendExample {
    fn from(plan::Example { number, content }: plan::Example) -> Self {
        let content = content.map(|content| SendContent::of(content, None));
        Self { recipient: format!("+{number}"), content }
    }
}

impl From<DryRun> for Rehearsed {
    fn from(dry_run: DryRun) -> Self {
        let DryRun {
            recipients,
            skipped,
            suppressed: _,
            without_fields,
            takes,
            ends,
            binding,
            cost,
            instead,
            examples,
            ignored,
        } = dry_run;
        let lacking = |plan::WithoutFields { count, checked }| WithoutContactFields {
            lacking_count: count,
            checked_count: checked,
        };
        Self {
            message: "Nothing was queued: this was a dry run",
            dry_run: true,
            recipients_count: recipients,
            template_instead: instead.map(RehearsedInstead::from),
            skipped_count: skipped.count,
            skipped_counts: skipped_counts(&skipped),
            skipped: skipped_records(&skipped),
            examples: examples.into_iter().map(SendExample::from).collect(),
            contact_fields: without_fields.map(lacking),
            estimated_seconds: takes.map(|takes| takes.as_secs() + u64::from(takes.subsec_nanos() > 0)),
            estimated_end: ends,
            binding: binding.map(Binding::as_str),
            cost: cost.map(CostEstimate::from),
            ignored,
        }
    }
}
