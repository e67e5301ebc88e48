//! The body and the signature of a webhook.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use serde::Serialize;
use sha2::Sha256;

use super::error::title;
use super::notice;
use super::outbox::{Event, Notice};
use super::person;
use super::phone::PhoneNumber;
use super::progression::Step;
use super::script::AsyncFailure;
use clock::Timestamp;
use domain::graph::hook::in_ascii;

#[derive(Debug, Serialize)]
struct Envelope<'a> {
    object: &'static str,
    entry: Vec<Entry<'a>>,
}

#[derive(Debug, Serialize)]
struct Entry<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<i64>,
    changes: Vec<Change<'a>>,
}

#[derive(Debug, Serialize)]
struct Change<'a> {
    field: &'a str,
    value: Value<'a>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Value<'a> {
    Statuses(Statuses<'a>),
    Other(&'a serde_json::Value),
}

#[derive(Debug, Serialize)]
struct Statuses<'a> {
    messaging_product: &'static str,
    metadata: Metadata<'a>,
    /// The people that the statuses are about, each once. Statuses of failures have them, too: existing clients rely
    /// on it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    contacts: Vec<serde_json::Value>,
    statuses: &'a [Status],
}

#[derive(Debug, Serialize)]
struct Metadata<'a> {
    display_phone_number: &'a str,
    phone_number_id: &'a str,
}

/// One status of one message.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Status {
    id: String,
    status: Step,
    timestamp: String,
    /// A phone, or a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    recipient_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recipient_user_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recipient_type: Option<&'static str>,
    #[serde(skip_serializing_if = "String::is_empty")]
    biz_opaque_callback_data: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pricing: Option<Pricing>,
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<serde_json::Value>,
}

#[derive(Debug, Clone, Serialize)]
struct Pricing {
    billable: bool,
    pricing_model: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    category: &'static str,
}

impl Status {
    /// The status of a message at this step.
    pub(super) fn of(event: &Event, step: Step, at: Timestamp) -> Self {
        let is_priced = matches!(step, Step::Sent | Step::Delivered);
        let is_address = event.is_group || !person::is_user_id(&event.to);
        Self {
            id: event.id.clone(),
            status: step,
            timestamp: (at.millis() / 1_000).to_string(),
            recipient_id: is_address.then(|| event.to.clone()),
            recipient_user_id: (!event.is_group).then(|| person::user_id(&event.to)),
            recipient_type: event.is_group.then_some("group"),
            biz_opaque_callback_data: event.key.clone(),
            pricing: is_priced.then_some(Pricing {
                billable: true,
                pricing_model: "PMP",
                kind: "regular",
                category: event.category,
            }),
            errors: event.failure.as_ref().filter(|_| step == Step::Failed).map(errors),
        }
    }
}

/// The recipients that these statuses are about.
fn contacts(statuses: &[Status]) -> Vec<serde_json::Value> {
    let mut known = HashSet::new();
    let people = statuses.iter().filter_map(|status| {
        let id = status.recipient_user_id.as_deref()?;
        known.insert(id).then(|| person::contact(status.recipient_id.as_deref().unwrap_or(id)))
    });
    people.collect()
}

fn errors(failure: &AsyncFailure) -> serde_json::Value {
    let title = failure.title.as_deref().unwrap_or_else(|| title(failure.code));
    notice::errors(failure.code, title)
}

/// The content of one webhook: statuses, by number, and other notices.
#[derive(Debug, Default)]
pub(super) struct Bundle {
    by_number: BTreeMap<u32, (Arc<PhoneNumber>, Vec<Status>)>,
    statuses: usize,
    notices: Vec<Notice>,
}

impl Bundle {
    pub(super) fn add(&mut self, number: &Arc<PhoneNumber>, status: Status) {
        let group = self.by_number.entry(number.index).or_insert_with(|| (Arc::clone(number), Vec::new()));
        group.1.push(status);
        self.statuses += 1;
    }

    pub(super) fn add_notice(&mut self, notice: Notice) {
        self.notices.push(notice);
    }

    /// How many updates are in it.
    pub(super) fn len(&self) -> usize {
        self.statuses + self.notices.len()
    }

    pub(super) fn statuses(&self) -> usize {
        self.statuses
    }

    pub(super) fn notices(&self) -> usize {
        self.notices.len()
    }

    /// The body: JSON whose text outside ASCII is escaped, as the provider sends it.
    pub(super) fn body(&self) -> String {
        let mut by_account: BTreeMap<&str, Vec<Change<'_>>> = BTreeMap::new();
        for (number, statuses) in self.by_number.values() {
            by_account.entry(&number.account.waba_id).or_default().push(Change {
                field: "messages",
                value: Value::Statuses(Statuses {
                    messaging_product: "whatsapp",
                    metadata: Metadata {
                        display_phone_number: &number.display_phone_number,
                        phone_number_id: &number.id,
                    },
                    contacts: contacts(statuses),
                    statuses,
                }),
            });
        }
        let statuses = by_account.into_iter().map(|(id, changes)| Entry { id, time: None, changes });
        let others = self.notices.iter().map(|notice| Entry {
            id: &notice.waba_id,
            time: notice.seconds,
            changes: vec![Change { field: &notice.field, value: Value::Other(&notice.value) }],
        });
        let entry = statuses.chain(others).collect();
        let envelope = Envelope { object: "whatsapp_business_account", entry };
        // These types have no map keys and no failing serializers: writing them cannot fail.
        in_ascii(serde_json::to_string(&envelope).unwrap_or_default())
    }
}

/// The value of `X-Hub-Signature-256` for exactly these bytes.
pub(super) fn signature(app_secret: &str, body: &[u8]) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(app_secret.as_bytes()) else {
        // HMAC takes a key of any length.
        return String::new();
    };
    mac.update(body);
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_the_hmac_of_the_bytes() {
        assert_eq!(
            signature("key", b"The quick brown fox jumps over the lazy dog"),
            "sha256=f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8"
        );
    }
}
