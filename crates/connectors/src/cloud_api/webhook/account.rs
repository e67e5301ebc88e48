//! Changes of business accounts and their numbers.

use super::super::lenient::{Text, fields};
use super::super::number::messaging_limit;
use super::{Batch, plain, seconds};
use crate::update::{AccountChange, Update};
use domain::message::Failure;
use domain::phone::PhoneNumber;

fields! {
    Value {
        needs event;
        objects ban_info: BanInfo, disconnection_info: DisconnectionInfo, waba_info: AccountInfo;
        lists restriction_info: Restriction;
    }
    BanInfo { texts waba_ban_state; }
    Restriction { texts restriction_type, expiration, remediation; }
    DisconnectionInfo { texts reason; }
    AccountInfo { texts waba_id; }
    NumberChange { texts display_phone_number, event, decision; }
    Capability {
        texts
            max_daily_conversations_per_business,
            /// The older field, from before an owner's numbers shared a limit.
            max_daily_conversation_per_phone;
    }
}

/// Whether the account can be used.
pub(super) fn read(json: &str, batch: &mut Batch) -> Option<()> {
    let value: Value<'_> = serde_json::from_str(json).ok()?;
    // An update for a partner is under the partner's id, and names the account in a field.
    if let Some(account) = value.waba_info.as_ref().and_then(|info| info.waba_id.get()) {
        batch.account = Some(plain(account));
    }
    let change = change(value.event.get()?, &value);
    batch.note(Update::Account(change))
}

fn change(event: &str, value: &Value<'_>) -> AccountChange {
    let other = || AccountChange::Other(plain(event));
    let gone = |what: &str| {
        let reason = value.disconnection_info.as_ref().and_then(|info| info.reason.get());
        let reason = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
        AccountChange::Disconnected(failure(&format!("{what}{reason}")))
    };
    match event {
        "ACCOUNT_DELETED" => gone("the business account was deleted"),
        "PARTNER_REMOVED" => gone("the access to the business account was taken away"),
        "PARTNER_APP_UNINSTALLED" => gone("the app was removed from the business account"),
        "ACCOUNT_OFFBOARDED" => gone("the business account was taken off the platform"),
        "DISABLED_UPDATE" => match value.ban_info.as_ref().and_then(|ban| ban.waba_ban_state.get()) {
            Some("DISABLE") => AccountChange::Blocked(failure("the business account was disabled")),
            Some("REINSTATE") => AccountChange::Restored,
            // An announced ban: until its date nothing changes.
            _ => other(),
        },
        "ACCOUNT_RESTRICTION" => {
            let mut restrictions = value.restriction_info.iter().flatten();
            restrictions.find_map(restricted).map_or_else(other, AccountChange::Blocked)
        }
        "ACCOUNT_RECONNECTED" | "PARTNER_APP_INSTALLED" | "REINSTATE" => AccountChange::Restored,
        // These include violations: their consequence is reported as a restriction or a ban.
        _ => other(),
    }
}

/// Why the account cannot send, if the restriction is about sending; other restrictions are about adding
/// numbers and the like.
fn restricted(restriction: &Restriction<'_>) -> Option<Failure> {
    let what = match restriction.restriction_type.get()? {
        "RESTRICTED_BIZ_INITIATED_MESSAGING" => "begin conversations",
        "RESTRICTED_CUSTOMER_INITIATED_MESSAGING" => "answer in conversations",
        _ => return None,
    };
    let mut sentence = format!("the business account may not {what}");
    if let Some(until) = seconds(&restriction.expiration) {
        sentence.push_str(&format!(" until {until}"));
    }
    if let Some(remediation) = restriction.remediation.get() {
        sentence.push_str(": ");
        sentence.push_str(remediation);
    }
    Some(failure(&sentence))
}

fn failure(sentence: &str) -> Failure {
    Failure { code: None, sentence: plain(sentence) }
}

/// A change of the number of people who may be written to in a day.
pub(super) fn read_limit(json: &str, batch: &mut Batch) -> Option<()> {
    let value: Capability<'_> = serde_json::from_str(json).ok()?;
    let words = [&value.max_daily_conversations_per_business, &value.max_daily_conversation_per_phone];
    let word = words.into_iter().find_map(Text::get);
    batch.note(Update::Limit { messaging_limit: word.and_then(messaging_limit) })
}

/// A change of a number's rating, rate or name. Programs hear of it in the provider's words.
pub(super) fn read_number(field: &str, json: &str, batch: &mut Batch) -> Option<()> {
    let value: NumberChange<'_> = serde_json::from_str(json).ok()?;
    let event = value.event.get().or(value.decision.get()).unwrap_or_default();
    let shown = value.display_phone_number.get().unwrap_or_default();
    let phone_number = PhoneNumber::parse(shown).ok();
    batch.note(Update::Number { phone_number, event: plain(event) })?;
    batch.note_said(field, phone_number, json.to_owned())
}
