//! The provider's description of a number: whether it can send, and how fast.
//! <https://developers.facebook.com/docs/graph-api/reference/whats-app-business-account-to-number-current-status>

use super::answer::plain;
use super::disposition::meaning;
use super::lenient::{Text, fields};
use crate::{Disposition, Health};
use domain::channel::{Level, Number};
use domain::message::Failure;
use domain::tier::Quota;

/// The requested fields; without this list, the provider returns hardly any fields.
pub(super) const FIELDS: &str = "id,display_phone_number,verified_name,status,quality_rating,throughput,\
    platform_type,is_on_biz_app,code_verification_status,name_status,account_mode,\
    whatsapp_business_manager_messaging_limit,health_status";

fields! {
    Description {
        needs
            /// Always present; an answer without it describes no number.
            id;
        texts status, display_phone_number, verified_name, quality_rating, platform_type, is_on_biz_app,
            whatsapp_business_manager_messaging_limit;
        objects throughput: Throughput, health_status: HealthStatus;
    }
    Throughput { texts level; }
    HealthStatus {
        texts can_send_message;
        lists entities: Entity;
    }
    /// The number, its business account, its owner or the app.
    Entity {
        texts entity_type, can_send_message;
        lists errors: EntityError, additional_info: Text;
    }
    EntityError { texts error_code, error_description, possible_solution; }
}

/// Only `CONNECTED` numbers can send. The permanent other states are listed; unknown states count as
/// temporary. A number that can send, but not to everybody, is healthy.
pub(super) fn to_health(bytes: &[u8]) -> Health {
    let description = serde_json::from_slice::<Description<'_>>(bytes).ok();
    let Some(description) = description.filter(|description| description.id.get().is_some()) else {
        let sentence = "the provider's description of the number cannot be read".to_owned();
        return Health::Unknown(Failure { code: None, sentence });
    };
    let refused = |disposition, status: &str| {
        let sentence = format!("the provider says that the number is {}", plain(status));
        Health::Refused(disposition, Failure { code: None, sentence })
    };
    match description.status.get() {
        Some(status @ ("DISCONNECTED" | "OFFLINE" | "UNVERIFIED" | "DELETED" | "MIGRATED" | "UNLINKED")) => {
            refused(Disposition::Disconnect, status)
        }
        Some(status @ ("BANNED" | "RESTRICTED")) => refused(Disposition::Block, status),
        _ => match description.health_status.as_ref().and_then(blocked) {
            Some((disposition, failure)) => Health::Refused(disposition, failure),
            None => Health::Healthy(description.into()),
        },
    }
}

/// Why the number cannot send, if so. Reasons that a new token remedies come first, then other permanent
/// reasons, then temporary ones.
fn blocked(health: &HealthStatus<'_>) -> Option<(Disposition, Failure)> {
    if health.can_send_message.get() != Some("BLOCKED") {
        return None;
    }
    let mut reasons: Vec<_> = health
        .entities
        .iter()
        .flatten()
        .filter(|entity| entity.can_send_message.get() == Some("BLOCKED"))
        .flat_map(reasons)
        .collect();
    reasons.sort_by_key(|(disposition, _)| match disposition {
        Disposition::Disconnect => 0,
        Disposition::Block | Disposition::Restrict => 1,
        _ => 2,
    });
    let unexplained = || {
        let sentence = "the provider says that the number cannot send".to_owned();
        (Disposition::Block, Failure { code: None, sentence })
    };
    Some(reasons.into_iter().next().unwrap_or_else(unexplained))
}

/// The reasons of an entity that cannot send. A code that the table has only for messages, or does not have,
/// stops the channel, too.
fn reasons(entity: &Entity<'_>) -> Vec<(Disposition, Failure)> {
    let what = entity.entity_type.get().unwrap_or("number");
    let errors: Vec<_> = entity
        .errors
        .iter()
        .flatten()
        .map(|error| {
            let code = error.error_code.whole();
            let disposition = match code.and_then(meaning) {
                Some(
                    known @ (Disposition::Disconnect
                    | Disposition::Wait
                    | Disposition::Maintenance
                    | Disposition::SlowNumber
                    | Disposition::SlowAccount
                    | Disposition::SlowApp),
                ) => known,
                _ => Disposition::Block,
            };
            let words = [error.error_description.get(), error.possible_solution.get()];
            (disposition, Failure { code, sentence: blocked_sentence(what, words.into_iter().flatten()) })
        })
        .collect();
    if !errors.is_empty() {
        return errors;
    }
    let words = entity.additional_info.iter().flatten().filter_map(Text::get);
    vec![(Disposition::Block, Failure { code: None, sentence: blocked_sentence(what, words) })]
}

fn blocked_sentence<'a>(what: &str, words: impl Iterator<Item = &'a str>) -> String {
    let mut sentence = format!("the provider says that the {} cannot send", what.to_ascii_lowercase());
    for (index, word) in words.enumerate() {
        sentence.push_str(if index == 0 { ": " } else { " " });
        sentence.push_str(word);
    }
    plain(&sentence)
}

impl From<Description<'_>> for Number {
    fn from(description: Description<'_>) -> Self {
        let short = |text: Text<'_>| text.get().map(plain);
        let is_shared =
            description.is_on_biz_app.is_true() && description.platform_type.get() == Some("CLOUD_API");
        let level = match description.throughput.as_ref().and_then(|throughput| throughput.level.get()) {
            _ if is_shared => Some(Level::Coexistence),
            Some("STANDARD") => Some(Level::Standard),
            Some("HIGH") => Some(Level::High),
            Some("NOT_APPLICABLE") => Some(Level::NotApplicable),
            _ => None,
        };
        Self {
            messaging_limit: description
                .whatsapp_business_manager_messaging_limit
                .get()
                .and_then(messaging_limit),
            phone_number: short(description.display_phone_number),
            verified_name: short(description.verified_name),
            quality_rating: short(description.quality_rating),
            status: short(description.status),
            level,
        }
    }
}

/// A messaging limit: `TIER_250`, `TIER_2K`, `TIER_UNLIMITED`, or, in some webhooks, `2000` and `-1`. `None` for
/// any other word.
pub(super) fn messaging_limit(word: &str) -> Option<Quota> {
    let amount = word.strip_prefix("TIER_").unwrap_or(word);
    if matches!(amount, "UNLIMITED" | "-1") {
        return Some(Quota::Unlimited);
    }
    let (digits, times) = match amount.strip_suffix('K') {
        Some(digits) => (digits, 1_000),
        None => (amount, 1),
    };
    let count = digits.parse::<u32>().ok()?.checked_mul(times)?;
    (count > 0).then_some(Quota::AtMost(count))
}

#[cfg(test)]
mod tests;
