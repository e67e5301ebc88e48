//! A phone number: a channel, as Meta describes one.

use actix_web::HttpResponse;
use serde_json::{Map, Value, json};

use super::call::Call;
use super::object::asked;
use super::receivers;
use super::refusal::DoorRefusal;
use crate::domain::channel::{Channel, Level, Status};
use crate::domain::tier::Quota;

/// Shows a number.
pub(super) async fn show(call: &Call, channel: &Channel) -> Result<HttpResponse, DoorRefusal> {
    let id = call.door().number_id(channel).await?;
    let mut fields = described(channel, &id);
    fields.insert("webhook_configuration".to_owned(), receivers::configuration(call, channel).await?);
    Ok(HttpResponse::Ok().json(asked(call, fields)))
}

/// All that is told of a number.
pub(super) fn described(channel: &Channel, id: &str) -> Map<String, Value> {
    let status = match channel.connection.status {
        Status::Connected => "CONNECTED",
        Status::Connecting | Status::Pairing => "PENDING",
        Status::Disconnected => "DISCONNECTED",
        Status::Blocked => "RESTRICTED",
    };
    let level = match channel.level {
        Some(Level::High) => "HIGH",
        Some(Level::NotApplicable) => "NOT_APPLICABLE",
        Some(Level::Standard | Level::Coexistence) | None => "STANDARD",
    };
    let limit = limit(channel.messaging_limit);
    let fields = [
        ("id", json!(id)),
        ("display_phone_number", json!(channel.phone_number.as_deref().unwrap_or_default())),
        ("verified_name", json!(channel.name)),
        ("quality_rating", json!(channel.quality_rating.as_deref().unwrap_or("UNKNOWN"))),
        ("code_verification_status", json!("VERIFIED")),
        ("account_mode", json!("LIVE")),
        ("name_status", json!("APPROVED")),
        ("platform_type", json!("CLOUD_API")),
        ("throughput", json!({ "level": level })),
        ("status", json!(status)),
        ("messaging_limit_tier", json!(limit)),
        ("whatsapp_business_manager_messaging_limit", json!(limit)),
        ("is_official_business_account", json!(false)),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Meta's word for how many people a number may write to first.
fn limit(quota: Option<Quota>) -> &'static str {
    match quota {
        Some(Quota::AtMost(0..=50)) => "TIER_50",
        Some(Quota::AtMost(51..=250)) => "TIER_250",
        Some(Quota::AtMost(251..=2_000)) => "TIER_2K",
        Some(Quota::AtMost(2_001..=10_000)) => "TIER_10K",
        Some(Quota::AtMost(10_001..=100_000)) => "TIER_100K",
        Some(Quota::AtMost(_) | Quota::Unlimited) | None => "TIER_UNLIMITED",
    }
}

/// Changes a number: only its receiver of webhooks can be.
pub(super) async fn change(mut call: Call, channel: &Channel) -> Result<HttpResponse, DoorRefusal> {
    let (fields, _) = call.fields().await?;
    match fields.map.get("webhook_configuration") {
        Some(Value::Object(given)) => receivers::set_for_number(&call, channel, given).await,
        _ => Err(call.unsupported()),
    }
}
