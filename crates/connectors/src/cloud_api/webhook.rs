//! The provider's webhooks: verifying and parsing a body.
//!
//! <https://developers.facebook.com/docs/graph-api/webhooks/getting-started>. One body carries up to 1,000 updates
//! in at most 3 MB. Each update is parsed by itself, so that an unreadable update does not affect the others:
//! the body is divided without copying, and only the pieces are parsed.

mod account;
mod content;
mod inbound;
mod messages;
mod template;
#[cfg(test)]
mod tests;

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::de::{Deserialize, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;
use sha2::Sha256;

use super::answer::plain;
use super::lenient::{Text, fields, phone_number};
use crate::update::{AccountChange, Heard, Update};
use clock::Timestamp;
use domain::phone::PhoneNumber;
use domain::secret::Secret;

/// The `object` of this provider's webhooks.
const OBJECT: &str = "whatsapp_business_account";
/// The most updates of a webhook: twenty times as many as the provider sends. What is made of an unreadable one takes a
/// hundred times the memory of its text.
const MOST_UPDATES: usize = 20_000;
/// The longest object that programs hear of as it is, in bytes.
const NOTICE_BYTES: usize = 4_096;
/// The prefix of a signature.
const ALGORITHM: &str = "sha256=";

/// Why a body is no webhook.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAWebhook {
    /// Not a JSON object.
    #[error("the body is not a JSON object: {0}")]
    Malformed(String),
    /// With more updates than any webhook has.
    #[error("the body has more than {MOST_UPDATES} updates")]
    TooMany,
    /// A webhook about something else.
    #[error("the body is about `{0}` and not about a business account")]
    OtherObject(String),
}

/// Whether the app with this secret signed exactly these bytes. `header` is the value of `X-Hub-Signature-256`.
pub fn verify(app_secret: &Secret, body: &[u8], header: &str) -> bool {
    let header = header.trim();
    let digits = match header.split_at_checked(ALGORITHM.len()) {
        Some((algorithm, digits)) if algorithm.eq_ignore_ascii_case(ALGORITHM) => digits,
        _ => return false,
    };
    let mut claimed = [0; 32];
    if hex::decode_to_slice(digits, &mut claimed).is_err() {
        return false;
    }
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(app_secret.expose().as_bytes()) else {
        // HMAC accepts a key of any length.
        return false;
    };
    mac.update(body);
    mac.verify_slice(&claimed).is_ok()
}

fields! {
    Envelope {
        texts object;
        raw entry;
    }
    /// The updates of one business account.
    Entry {
        texts id, time;
        raw changes;
    }
}

#[derive(serde::Deserialize)]
struct Change<'a> {
    #[serde(borrow)]
    field: Text<'a>,
    #[serde(borrow)]
    value: &'a RawValue,
}

/// All updates of a webhook, in order.
///
/// # Errors
///
/// When the body is not a webhook about business accounts, or has more updates than any.
pub fn parse(body: &[u8]) -> Result<Vec<Heard>, NotAWebhook> {
    let malformed = |error: &dyn ToString| NotAWebhook::Malformed(error.to_string());
    let text = std::str::from_utf8(body).map_err(|error| malformed(&error))?;
    let envelope: Envelope<'_> = serde_json::from_str(text).map_err(|error| malformed(&error))?;
    if envelope.object.get() != Some(OBJECT) {
        return Err(NotAWebhook::OtherObject(plain(envelope.object.get().unwrap_or_default())));
    }
    let mut batch = Batch::new(Timestamp::now());
    for entry in batch.items(envelope.entry, "entry") {
        match serde_json::from_str(entry.get()) {
            Ok(entry) => read_entry(&entry, &mut batch),
            Err(_) => batch.note_unreadable("entry"),
        }
    }
    if batch.is_too_large { Err(NotAWebhook::TooMany) } else { Ok(batch.heard) }
}

fn read_entry(entry: &Entry<'_>, batch: &mut Batch) {
    let account = entry.id.get().map(plain);
    let received = batch.at;
    batch.account.clone_from(&account);
    batch.at = seconds(&entry.time).unwrap_or(received);
    for change in batch.items(entry.changes, "changes") {
        match serde_json::from_str::<Change<'_>>(change.get()) {
            Ok(change) => read_change(&change, batch),
            Err(_) => batch.note_unreadable("changes"),
        }
        // A change may be about another account or one of its numbers.
        batch.account.clone_from(&account);
        batch.number = None;
    }
    batch.account = None;
    batch.at = received;
}

fn read_change(change: &Change<'_>, batch: &mut Batch) {
    let json = change.value.get();
    let field = change.field.get().unwrap_or_default();
    let is_readable = match field {
        "messages" => messages::read(json, batch),
        "user_preferences" => messages::read_preferences(json, batch),
        "smb_message_echoes" => messages::read_echoes(json, batch),
        "calls" => messages::read_calls(json, batch),
        "history" => messages::read_history(json, batch),
        "message_template_status_update" => template::read_status(json, batch),
        "message_template_quality_update" => template::read_quality(json, batch),
        "template_category_update" => template::read_category(json, batch),
        "account_update" => account::read(json, batch),
        "business_capability_update" => account::read_limit(json, batch),
        "phone_number_quality_update" | "phone_number_name_update" => {
            account::read_number(field, json, batch)
        }
        "account_alerts" | "account_review_update" | "security" => {
            batch.note(Update::Account(AccountChange::Other(field.to_owned())))
        }
        other => batch.note(Update::Other { field: plain(other) }),
    };
    if is_readable.is_none() {
        batch.note_unreadable(field);
    }
}

/// The updates of a body that are parsed so far.
struct Batch {
    heard: Vec<Heard>,
    /// The account of the present part.
    account: Option<String>,
    number: Option<String>,
    /// The time of updates without a time of their own.
    at: Timestamp,
    /// Whether there were too many updates. The rest is not parsed.
    is_too_large: bool,
}

impl Batch {
    const fn new(at: Timestamp) -> Self {
        Self { heard: Vec::new(), account: None, number: None, at, is_too_large: false }
    }

    /// Adds an update about the present account and number. Returns `Some`, because the update was readable.
    fn note(&mut self, update: Update) -> Option<()> {
        if self.heard.len() >= MOST_UPDATES {
            self.is_too_large = true;
            return Some(());
        }
        let (account, number) = (self.account.clone(), self.number.clone());
        self.heard.push(Heard { account, number, at: self.at, update });
        Some(())
    }

    /// Adds what the provider said of a number, unless it is longer than anything that it says there.
    fn note_said(&mut self, field: &str, phone_number: Option<PhoneNumber>, value: String) -> Option<()> {
        if value.len() > NOTICE_BYTES {
            return Some(());
        }
        self.note(Update::Notice { field: field.to_owned(), phone_number, value })
    }

    fn note_unreadable(&mut self, field: &str) {
        self.note(Update::Unreadable { field: plain(field) });
    }

    /// The items of a list, not parsed yet. A value that is no list counts as unreadable.
    fn items<'a>(&mut self, list: Option<&'a RawValue>, field: &str) -> Vec<&'a RawValue> {
        let Some(list) = list.filter(|_| !self.is_too_large) else { return Vec::new() };
        match serde_json::from_str(list.get()) {
            Ok(FirstItems { items, is_all }) => {
                self.is_too_large |= !is_all;
                items
            }
            Err(_) => {
                self.note_unreadable(field);
                Vec::new()
            }
        }
    }
}

/// The items of a list, at most [`MOST_UPDATES`] of them.
struct FirstItems<'a> {
    items: Vec<&'a RawValue>,
    is_all: bool,
}

impl<'de: 'a, 'a> Deserialize<'de> for FirstItems<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FirstVisitor;

        impl<'de> Visitor<'de> for FirstVisitor {
            type Value = FirstItems<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<FirstItems<'de>, A::Error> {
                let mut items = Vec::new();
                while items.len() < MOST_UPDATES {
                    let Some(item) = list.next_element()? else {
                        return Ok(FirstItems { items, is_all: true });
                    };
                    items.push(item);
                }
                let is_all = list.next_element::<IgnoredAny>()?.is_none();
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(FirstItems { items, is_all })
            }
        }

        deserializer.deserialize_seq(FirstVisitor)
    }
}

/// A time in seconds since 1970.
fn seconds(text: &Text<'_>) -> Option<Timestamp> {
    text.whole()?.checked_mul(1_000).map(Timestamp::from_millis)
}
