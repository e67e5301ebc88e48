//! Receipts, messages from people, and people's preferences.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::super::answer::sentence;
use super::super::disposition::{ErrorFacts, disposition};
use super::super::lenient::{Text, fields, if_readable};
use super::{Batch, inbound, phone_number, plain, seconds};
use crate::Disposition;
use crate::update::{Receipt, Update};
use domain::message::{Failure, State};
use domain::price::{Billing, PriceCategory};

/// The maximum size of the information about a sender: a name and ids.
const CONTACT_BYTES: usize = 2_048;
/// The maximum length of a person's id within a business: two letters of a country, `ENT` and 128 characters, with two
/// points between them.
const USER_ID_BYTES: usize = 2 + 1 + 3 + 1 + 128;

fields! {
    Value {
        objects metadata: Metadata;
        raw contacts, statuses, messages, errors, user_preferences, message_echoes, calls, history;
    }
    Metadata { texts phone_number_id; }
    Status {
        needs id, status;
        texts timestamp, recipient_id, recipient_user_id, biz_opaque_callback_data;
        objects pricing: Pricing;
        raw errors;
    }
    Pricing {
        needs category;
        texts
            /// Newer versions may leave it out.
            billable,
            #[serde(rename = "type")]
            kind;
    }
    WebhookError {
        texts code, title, message, error_user_title, error_user_msg;
        objects error_data: ErrorData;
    }
    ErrorData { texts details; }
}

/// What the provider says about a person.
#[derive(Deserialize)]
pub(super) struct Contact<'a> {
    #[serde(borrow, default)]
    pub(super) wa_id: Text<'a>,
    #[serde(borrow, default)]
    pub(super) user_id: Text<'a>,
    #[serde(borrow, default, deserialize_with = "if_readable")]
    profile: Option<Profile<'a>>,
}

fields! {
    Profile { texts name; }
}

impl Contact<'_> {
    /// The name in the person's profile.
    pub(super) fn name(&self) -> Option<&str> {
        self.profile.as_ref()?.name.get()
    }
}

fields! {
    Preference {
        needs category, value;
        texts wa_id, user_id, timestamp;
    }
}

/// Receipts, messages from people, and errors of the number.
pub(super) fn read(json: &str, batch: &mut Batch) -> Option<()> {
    let value = open(json, batch)?;
    for status in batch.items(value.statuses, "messages.statuses") {
        match receipt(status, batch) {
            Some(update) => batch.note(update)?,
            None => batch.note_unreadable("messages.statuses"),
        }
    }
    let messages = batch.items(value.messages, "messages.messages");
    if !messages.is_empty() {
        let contacts = contacts(&batch.items(value.contacts, "messages.contacts"));
        for message in messages {
            match inbound::message(message, &contacts, batch) {
                Some(update) => batch.note(update)?,
                None => batch.note_unreadable("messages.messages"),
            }
        }
    }
    for error in batch.items(value.errors, "messages.errors") {
        match refusal(error) {
            Some((disposition, failure)) => batch.note(Update::Trouble(disposition, failure))?,
            None => batch.note_unreadable("messages.errors"),
        }
    }
    Some(())
}

/// Whether people want marketing. Programs hear of each person in the provider's words.
pub(super) fn read_preferences(json: &str, batch: &mut Batch) -> Option<()> {
    let value = open(json, batch)?;
    let preferences = batch.items(value.user_preferences, "user_preferences");
    let contacts = contacts(&batch.items(value.contacts, "user_preferences.contacts"));
    for preference in preferences {
        match self::preference(preference, &contacts, batch) {
            Some(update) => {
                batch.note(update)?;
                batch.note_said("user_preferences", None, said(preference, &contacts)?)?;
            }
            None => batch.note_unreadable("user_preferences"),
        }
    }
    Some(())
}

/// What one person wants, with the information about the person; programs need some.
fn said(raw: &RawValue, contacts: &HashMap<String, &str>) -> Option<String> {
    let preference: Preference<'_> = serde_json::from_str(raw.get()).ok()?;
    let (number, user) = (preference.wa_id.get(), preference.user_id.get());
    let known = [number, user].into_iter().flatten().find_map(|name| contacts.get(name)).copied();
    let contact = known.map_or_else(
        || {
            let mut contact = json!({ "profile": { "name": number.or(user).unwrap_or_default() } });
            for (field, id) in [("wa_id", number), ("user_id", user)] {
                if let Some(id) = id {
                    contact[field] = json!(id);
                }
            }
            contact.to_string()
        },
        str::to_owned,
    );
    Some(format!(r#"{{"contacts":[{contact}],"user_preferences":[{}]}}"#, raw.get()))
}

/// What the company wrote in its own app.
pub(super) fn read_echoes(json: &str, batch: &mut Batch) -> Option<()> {
    let value = open(json, batch)?;
    let echoes = batch.items(value.message_echoes, "smb_message_echoes");
    let contacts = contacts(&batch.items(value.contacts, "smb_message_echoes.contacts"));
    for echo in echoes {
        match inbound::echo(echo, &contacts, batch) {
            Some(update) => batch.note(update)?,
            None => batch.note_unreadable("smb_message_echoes"),
        }
    }
    Some(())
}

/// Calls of people.
pub(super) fn read_calls(json: &str, batch: &mut Batch) -> Option<()> {
    let value = open(json, batch)?;
    let calls = batch.items(value.calls, "calls");
    let contacts = contacts(&batch.items(value.contacts, "calls.contacts"));
    for call in calls {
        match inbound::call(call, &contacts, batch) {
            Some(update) => batch.note(update)?,
            None => batch.note_unreadable("calls"),
        }
    }
    Some(())
}

/// What was written on a phone before its number was connected.
pub(super) fn read_history(json: &str, batch: &mut Batch) -> Option<()> {
    let value = open(json, batch)?;
    for part in batch.items(value.history, "history") {
        if inbound::history(part, batch).is_none() {
            batch.note_unreadable("history");
        }
    }
    Some(())
}

fn open<'a>(json: &'a str, batch: &mut Batch) -> Option<Value<'a>> {
    let value: Value<'a> = serde_json::from_str(json).ok()?;
    batch.number = value.metadata.as_ref().and_then(|metadata| metadata.phone_number_id.get()).map(plain);
    Some(value)
}

fn receipt(status: &RawValue, batch: &Batch) -> Option<Update> {
    let status: Status<'_> = serde_json::from_str(status.get()).ok()?;
    let state = match status.status.get()? {
        "sent" => State::Sent,
        "delivered" => State::Delivered,
        "read" | "played" => State::Read,
        "failed" => State::Failed,
        _ => return Some(Update::Other { field: "messages.statuses".to_owned() }),
    };
    let refusal = || {
        let errors: Vec<&RawValue> = serde_json::from_str(status.errors?.get()).ok()?;
        errors.into_iter().find_map(refusal)
    };
    Some(Update::Receipt(Receipt {
        key: status.biz_opaque_callback_data.get().and_then(|key| key.parse().ok()),
        provider_message_id: plain(status.id.get()?),
        state,
        at: seconds(&status.timestamp).unwrap_or(batch.at),
        recipient: phone_number(&status.recipient_id),
        user: user_id(&status.recipient_user_id),
        refusal: if state == State::Failed { refusal() } else { None },
        billing: status.pricing.as_ref().and_then(billing),
    }))
}

/// How a message is billed; nothing without a category.
fn billing(pricing: &Pricing<'_>) -> Option<Billing> {
    let category = PriceCategory::heard(pricing.category.get()?);
    let is_charged = match pricing.billable.get() {
        Some(_) => pricing.billable.is_true(),
        None => pricing.kind.get() == Some("regular"),
    };
    Some(Billing { category, is_charged })
}

/// An error that came by webhook; the same codes as in answers mean the same.
fn refusal(error: &RawValue) -> Option<(Disposition, Failure)> {
    let error: WebhookError<'_> = serde_json::from_str(error.get()).ok()?;
    let message = error.message.get().or(error.title.get()).unwrap_or_default();
    let details = error.error_data.as_ref().and_then(|data| data.details.get());
    let code = error.code.whole();
    let disposition = code.map_or(Disposition::Fail, |code| {
        disposition(&ErrorFacts {
            code,
            subcode: None,
            is_transient: false,
            is_server_error: false,
            is_about_another: false,
        })
    });
    let for_people = [error.error_user_title.get(), error.error_user_msg.get()];
    let failure = Failure { code, sentence: sentence(message, details, for_people) };
    (code.is_some() || !failure.sentence.is_empty()).then_some((disposition, failure))
}

/// The information about each sender, by both ids that a message may have for them.
fn contacts<'a>(list: &[&'a RawValue]) -> HashMap<String, &'a str> {
    let mut contacts = HashMap::new();
    for raw in list.iter().map(|contact| contact.get()).filter(|raw| raw.len() <= CONTACT_BYTES) {
        let Ok(contact) = serde_json::from_str::<Contact<'_>>(raw) else { continue };
        for id in [contact.wa_id.get(), contact.user_id.get()].into_iter().flatten() {
            contacts.insert(id.to_owned(), raw);
        }
    }
    contacts
}

/// The information about a sender, read.
pub(super) fn described(contact: Option<&str>) -> Option<Contact<'_>> {
    serde_json::from_str(contact?).ok()
}

/// A person's id within the business.
pub(super) fn user_id(text: &Text<'_>) -> Option<String> {
    let id = text.get()?;
    let is_plain = id.bytes().all(|byte| byte.is_ascii_graphic());
    (is_plain && id.len() <= USER_ID_BYTES).then(|| id.to_owned())
}

fn preference(raw: &RawValue, contacts: &HashMap<String, &str>, batch: &Batch) -> Option<Update> {
    let preference: Preference<'_> = serde_json::from_str(raw.get()).ok()?;
    if preference.category.get()? != "marketing_messages" {
        return Some(Update::Other { field: "user_preferences".to_owned() });
    }
    let stops = match preference.value.get()? {
        "stop" => true,
        "resume" => false,
        _ => return None,
    };
    let names = [preference.wa_id.get(), preference.user_id.get()];
    let contact = described(names.into_iter().flatten().find_map(|name| contacts.get(name)).copied());
    let recipient = phone_number(&preference.wa_id);
    let recipient = recipient.or_else(|| phone_number(&contact.as_ref()?.wa_id));
    let user = user_id(&preference.user_id).or_else(|| user_id(&contact.as_ref()?.user_id));
    if recipient.is_none() && user.is_none() {
        return None;
    }
    let at = seconds(&preference.timestamp).unwrap_or(batch.at);
    Some(Update::Preference { recipient, user, stops, at })
}
