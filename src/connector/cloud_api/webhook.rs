//! The provider's webhooks: verifying and parsing a body.
//!
//! <https://developers.facebook.com/docs/graph-api/webhooks/getting-started>. One body carries up to 1,000 updates
//! in at most 3 MB. Each update is parsed by itself, so that an unreadable update does not affect the others:
//! the body is divided without copying, and only the pieces are parsed.

mod account;
mod messages;
mod template;
#[cfg(test)]
mod tests;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::Sha256;

use super::answer::plain;
use super::lenient::Text;
use crate::clock::Timestamp;
use crate::connector::update::{AccountChange, Heard, Update};
use crate::domain::phone::PhoneNumber;
use crate::domain::secret::Secret;

/// The `object` of this provider's webhooks.
const OBJECT: &str = "whatsapp_business_account";
/// The prefix of a signature.
const ALGORITHM: &str = "sha256=";

/// Why a body is no webhook.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAWebhook {
    /// Not a JSON object.
    #[error("the body is not a JSON object: {0}")]
    Malformed(String),
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

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    object: Text<'a>,
    #[serde(borrow)]
    entry: Option<&'a RawValue>,
}

/// The updates of one business account.
#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow, default)]
    id: Text<'a>,
    #[serde(borrow, default)]
    time: Text<'a>,
    #[serde(borrow)]
    changes: Option<&'a RawValue>,
}

#[derive(Deserialize)]
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
/// When the body is not a webhook about business accounts.
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
    Ok(batch.heard)
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
        "message_template_status_update" => template::read_status(json, batch),
        "message_template_quality_update" => template::read_quality(json, batch),
        "template_category_update" => template::read_category(json, batch),
        "account_update" => account::read(json, batch),
        "business_capability_update" => account::read_limit(json, batch),
        "phone_number_quality_update" | "phone_number_name_update" => account::read_number(json, batch),
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
}

impl Batch {
    const fn new(at: Timestamp) -> Self {
        Self { heard: Vec::new(), account: None, number: None, at }
    }

    /// Adds an update about the present account and number. Returns `Some`, because the update was readable.
    fn note(&mut self, update: Update) -> Option<()> {
        let (account, number) = (self.account.clone(), self.number.clone());
        self.heard.push(Heard { account, number, at: self.at, update });
        Some(())
    }

    fn note_unreadable(&mut self, field: &str) {
        self.note(Update::Unreadable { field: plain(field) });
    }

    /// The items of a list, not parsed yet. A value that is no list counts as unreadable.
    fn items<'a>(&mut self, list: Option<&'a RawValue>, field: &str) -> Vec<&'a RawValue> {
        let Some(list) = list else { return Vec::new() };
        serde_json::from_str(list.get()).unwrap_or_else(|_| {
            self.note_unreadable(field);
            Vec::new()
        })
    }
}

/// A time in seconds since 1970.
fn seconds(text: &Text<'_>) -> Option<Timestamp> {
    text.whole()?.checked_mul(1_000).map(Timestamp::from_millis)
}

/// A phone number, which consists only of digits. Other ids of people (a group, a name of the provider's own)
/// contain digits, too, and are no phone numbers.
fn phone_number(text: &Text<'_>) -> Option<PhoneNumber> {
    let digits = text.get().map(|text| text.strip_prefix('+').unwrap_or(text))?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| PhoneNumber::parse(digits).ok()).flatten()
}
