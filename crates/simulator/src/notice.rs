//! The values of webhooks that are not statuses: changes of an account, a template or a number, and messages
//! from people. Field names and types are the provider's, including its inconsistencies.

use serde_json::{Value, json};

use super::error::title;
use super::person::{contact, user_id};
use super::phone::PhoneNumber;
use super::template::StoredTemplate;
use clock::Timestamp;

/// `phone_number_quality_update` at the end of an upgrade.
pub(super) fn upgrade(number: &PhoneNumber) -> Value {
    json!({
        "display_phone_number": digits(number),
        "event": "THROUGHPUT_UPGRADE",
        "current_limit": "TIER_UNLIMITED",
        "max_daily_conversations_per_business": "TIER_UNLIMITED",
    })
}

/// `message_template_status_update`: the template has another status than before. The id is a number here,
/// and the language has a hyphen where every other place has an underscore.
pub(super) fn template_status(stored: &StoredTemplate, status: &str) -> Value {
    let template = &stored.template;
    let title = match (template.status.as_str(), status) {
        (_, "PAUSED") => Some("FIRST_PAUSE"),
        (_, "DISABLED") => Some("DISABLED"),
        ("PAUSED", "APPROVED") => Some("UNPAUSE"),
        _ => None,
    };
    let mut value = json!({
        "event": status,
        "message_template_id": stored.id,
        "message_template_name": template.name,
        "message_template_language": template.language.replace('_', "-"),
        "message_template_category": template.category,
        "reason": if status == "REJECTED" { "ABUSIVE_CONTENT" } else { "NONE" },
    });
    if let Some(title) = title {
        value["other_info"] = json!({ "title": title, "description": "The simulator was told so." });
    }
    value
}

/// `user_preferences`: a person stopped (`stop`) or resumed (`resume`) marketing messages.
pub(super) fn preference(number: &PhoneNumber, wa_id: &str, value: &str) -> Value {
    let detail = format!("User requested to {value} marketing messages");
    about(
        number,
        json!({
            "contacts": [contact(wa_id)],
            "user_preferences": [{
                "wa_id": wa_id, "user_id": user_id(wa_id), "detail": detail, "category": "marketing_messages", "value": value,
                "timestamp": seconds(),
            }],
        }),
    )
}

/// `messages`: an error of the number or its account, not about a single message.
pub(super) fn error(number: &PhoneNumber, code: u32) -> Value {
    about(number, json!({ "errors": errors(code, title(code)) }))
}

/// The errors of a webhook, which are worded unlike those of an answer.
pub(super) fn errors(code: u32, title: &str) -> Value {
    json!([{
        "code": code,
        "title": title,
        "message": title,
        "error_data": { "details": title },
        "href": "/documentation/business-messaging/whatsapp/support/error-codes",
    }])
}

/// A value about a number.
pub(super) fn about(number: &PhoneNumber, mut value: Value) -> Value {
    value["messaging_product"] = "whatsapp".into();
    value["metadata"] =
        json!({ "display_phone_number": number.display_phone_number, "phone_number_id": &*number.id });
    value
}

/// The number's digits.
pub(super) fn digits(number: &PhoneNumber) -> String {
    number.display_phone_number.chars().filter(char::is_ascii_digit).collect()
}

/// Seconds since the Unix epoch.
pub(super) fn seconds() -> i64 {
    Timestamp::now().millis() / 1_000
}
