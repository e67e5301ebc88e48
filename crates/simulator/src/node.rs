//! Numbers and accounts as the provider shows them: every field, for its field selection to choose from.

use serde_json::{Value, json};

use super::account::Account;
use super::phone::PhoneNumber;

/// All fields of an account.
pub(super) fn account(account: &Account) -> Value {
    let can_send = if account.restriction().is_some() { "BLOCKED" } else { "AVAILABLE" };
    json!({
        "id": account.waba_id, "name": "Simulated business", "currency": "USD", "timezone_id": "1",
        "message_template_namespace": "simulator", "country": "US", "status": "ACTIVE", "ownership_type": "SELF",
        "account_review_status": "APPROVED", "business_verification_status": "verified",
        "is_enabled_for_insights": true, "disable_marketing_messages_on_cloud_api": false,
        "marketing_messages_lite_api_status": "ONBOARDED", "marketing_messages_onboarding_status": "ONBOARDED",
        "owner_business_info": { "id": "1000000001", "name": "Simulated business" },
        "whatsapp_business_manager_messaging_limit": "TIER_UNLIMITED",
        "health_status": { "can_send_message": can_send, "entities": [] },
    })
}

/// All fields of a number; fields that a switch has set have its values.
pub(super) fn number(number: &PhoneNumber) -> Value {
    let standing = number.standing();
    let number_can = if standing.status == "CONNECTED" { "AVAILABLE" } else { "BLOCKED" };
    let account_can = if number.account.restriction().is_some() { "BLOCKED" } else { "AVAILABLE" };
    let all_can = if number_can == account_can { number_can } else { "BLOCKED" };
    let mut node = json!({
        "id": &*number.id,
        "display_phone_number": number.display_phone_number,
        "verified_name": "Simulated business",
        "status": standing.status,
        "quality_rating": "GREEN",
        "throughput": { "level": standing.level },
        "platform_type": "CLOUD_API",
        "is_on_biz_app": standing.is_on_biz_app,
        "code_verification_status": "VERIFIED",
        "name_status": "APPROVED",
        "account_mode": "LIVE",
        "quality_score": { "score": "GREEN" },
        "country_code": "US",
        "country_dial_code": "1",
        "is_official_business_account": false,
        "is_pin_enabled": true,
        "is_preverified_number": false,
        "search_visibility": "NON_VISIBLE",
        "eligibility_for_api_business_global_search": "NON_ELIGIBLE_UNDEFINED_COUNTRY",
        "webhook_configuration": { "application": "https://example.com/hook" },
        "last_onboarded_time": "2025-01-02T03:04:05+0000",
        "whatsapp_business_manager_messaging_limit": "TIER_UNLIMITED",
        "health_status": {
            "can_send_message": all_can,
            "entities": [
                { "entity_type": "PHONE_NUMBER", "id": &*number.id, "can_send_message": number_can },
                { "entity_type": "WABA", "id": number.account.waba_id, "can_send_message": account_can },
            ],
        },
    });
    if let Some(automation) = &number.upkeep().automation {
        node["conversational_automation"] = automation.clone();
    }
    if let Some(callback) = &number.upkeep().callback {
        node["webhook_configuration"]["phone_number"] = callback.as_str().into();
    }
    if let Value::Object(fields) = &mut node {
        fields.extend(standing.fields);
    }
    node
}
