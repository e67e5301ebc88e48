//! A webhook endpoint and its deliveries as commands show them.

use serde::Serialize;
use uuid::Uuid;

use super::output::{Columns, Listed};
use crate::api::records;
use crate::clock::Timestamp;
use crate::domain::webhook::SealedPart;
use crate::engine::ShownEndpoint;
use crate::store::companies::Company;

/// An endpoint: the API's record, with its company.
#[derive(Serialize)]
pub(super) struct Record {
    #[serde(flatten)]
    pub(super) webhook: records::Webhook,
    company_id: Uuid,
    #[serde(skip)]
    company: String,
}

impl Record {
    /// The endpoint, and its company.
    pub(super) fn new(shown: ShownEndpoint, company: &Company) -> Self {
        Self { webhook: shown.into(), company_id: company.id, company: company.name.clone() }
    }

    /// The fields as rows of a table, for a person.
    pub(super) fn fields(&self) -> Vec<Vec<String>> {
        let Self { webhook, company_id: _, company } = self;
        let channels = webhook.channel_ids.iter().map(Uuid::to_string).collect::<Vec<_>>().join("\n");
        let headers = webhook.header_names.as_ref();
        // A command may lack the key that the service has.
        let headers = headers.map_or_else(|| "cannot be unsealed here".to_owned(), |names| names.join(", "));
        let remedies: Vec<_> = webhook.unsealable.iter().map(|part| remedy(part, webhook.id)).collect();
        let fields = [
            ("url", Some(webhook.url.clone())),
            ("id", Some(webhook.id.to_string())),
            ("company", Some(company.clone())),
            ("shape", Some(webhook.shape.to_owned())),
            ("profile", webhook.profile.map(str::to_owned)),
            ("set by a program for", webhook.set_for.map(str::to_owned)),
            ("types", Some(webhook.types.join("\n"))),
            ("channels", Some(if channels.is_empty() { "all".to_owned() } else { channels })),
            ("headers", Some(headers).filter(|headers| !headers.is_empty())),
            ("at the same time", Some(webhook.max_in_flight.to_string())),
            ("events in a request", Some(webhook.batch.to_string())),
            ("numbers", webhook.mask_numbers.then(|| "masked".to_owned())),
            ("state", Some(webhook.state.to_owned())),
            ("because", webhook.disabled_reason.map(str::to_owned)),
            ("cannot unseal", Some(webhook.unsealable.join(", ")).filter(|parts| !parts.is_empty())),
            ("remedy", Some(remedies.join("\n")).filter(|remedies| !remedies.is_empty())),
            ("disabled since", time(webhook.disabled_since)),
            ("failures in a row", Some(webhook.failures.to_string())),
            ("failing since", time(webhook.failing_since)),
            ("retries", Some(webhook.retries.to_string())),
            ("given up", Some(webhook.given_up.to_string())),
            ("lost", Some(webhook.lost).filter(|lost| *lost > 0).map(|lost| lost.to_string())),
            ("waiting since", time(webhook.waiting_since)),
            ("sent again since", time(webhook.replay.as_ref().map(|replay| replay.started_at))),
            ("sent again until", time(webhook.replay.as_ref().and_then(|replay| replay.finished_at))),
            ("created at", Some(webhook.created_at.to_string())),
        ];
        fields.into_iter().filter_map(|(name, value)| Some(vec![name.to_owned(), value?])).collect()
    }
}

/// What to do about a part that cannot be unsealed.
fn remedy(part: &str, id: Uuid) -> String {
    let command = match part.parse() {
        Ok(SealedPart::Headers) => {
            format!("give the headers again: pombo webhook change {id} --headers-file FILE, or --no-headers")
        }
        Ok(SealedPart::Secret) | Err(_) => format!("replace the secret: pombo webhook rotate-secret {id}"),
    };
    format!("set the sealing key back, or {command}")
}

/// Why an endpoint gets no events.
fn because(webhook: &records::Webhook) -> String {
    let disabled = webhook.disabled_reason.map(str::to_owned);
    let sealed = Some(&webhook.unsealable).filter(|parts| !parts.is_empty());
    let sealed = sealed.map(|parts| format!("cannot unseal its {}", parts.join(", ")));
    disabled.into_iter().chain(sealed).collect::<Vec<_>>().join("; ")
}

fn time(time: Option<Timestamp>) -> Option<String> {
    time.map(|time| time.to_string())
}

impl Listed for Record {
    const COLUMNS: Columns<Self> = &[
        ("company", |Self { company, .. }| company.clone()),
        ("url", |Self { webhook, .. }| webhook.url.clone()),
        ("id", |Self { webhook, .. }| webhook.id.to_string()),
        ("state", |Self { webhook, .. }| webhook.state.to_owned()),
        ("because", |Self { webhook, .. }| because(webhook)),
        ("failures", |Self { webhook, .. }| webhook.failures.to_string()),
        ("retries", |Self { webhook, .. }| webhook.retries.to_string()),
        ("waiting since", |Self { webhook, .. }| time(webhook.waiting_since).unwrap_or_default()),
    ];
}

impl Listed for records::WebhookDelivery {
    const COLUMNS: Columns<Self> = &[
        ("at", |Self { at, .. }| at.to_string()),
        ("type", |Self { r#type, .. }| r#type.clone()),
        ("events", |Self { events, .. }| events.to_string()),
        ("attempt", |Self { attempt, .. }| attempt.to_string()),
        ("status", |Self { status, .. }| {
            status.map_or_else(|| "none".to_owned(), |status| status.to_string())
        }),
        ("ms", |Self { took_ms, .. }| took_ms.to_string()),
        ("finding", |Self { fault, .. }| fault.clone().unwrap_or_default()),
    ];
}
