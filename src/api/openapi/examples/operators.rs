//! Requests of operators.

use serde_json::json;

use super::{Example, ID, NUMBER};

/// All of them.
pub(super) fn all() -> Vec<Example> {
    let companies = "/operator/v1/companies";
    vec![
        ("post", "/operator/v1/plan", "rate", "A lower rate", json!({ "messages_per_second": "60/s" })),
        ("post", companies, "company", "A company", json!({ "name": "Bakery", "tier": "standard" })),
        ("patch", "/operator/v1/companies/{id}", "tier", "Another tier", json!({ "tier": "high" })),
        (
            "post",
            "/operator/v1/companies/{id}/keys",
            "key",
            "A key that sends",
            json!({
                "name": "website", "scopes": ["send", "read"],
            }),
        ),
        (
            "post",
            "/operator/v1/companies/{id}/suppressions",
            "marketing",
            "No more marketing",
            json!({
                "phone_number": NUMBER, "left_out_of": "marketing",
            }),
        ),
        (
            "put",
            "/operator/v1/companies/{id}/opt-out-words",
            "words",
            "Words of the company's own",
            json!({
                "left_out_of": "everything", "stop_words": ["chega"], "start_words": ["voltar"],
            }),
        ),
        (
            "post",
            "/operator/v1/rate-cards",
            "prices",
            "Prices of the next year",
            json!({
                "csv": "# date: 2027-01-01\n# currency: USD\nMarket,Countries,Marketing,Utility,Authentication\n\
                    Brazil,BR,0.0625,0.0068,0.0068\nOther,*,0.0604,0.0077,0.0077\n",
            }),
        ),
        (
            "post",
            "/operator/v1/users",
            "member",
            "A member of a company",
            json!({
                "email": "ana@example.com", "name": "Ana Souza", "company_id": ID, "role": "member",
            }),
        ),
        (
            "post",
            "/operator/v1/users/{id}/reset",
            "both",
            "The password and the second factor",
            json!({
                "totp": true,
            }),
        ),
        (
            "post",
            "/operator/v1/invitations",
            "owner",
            "An owner of a company",
            json!({
                "email": "joao@example.com", "name": "João Lima", "company_id": ID, "role": "owner",
            }),
        ),
        (
            "patch",
            "/operator/v1/tiers/{name}",
            "rate",
            "Another rate",
            json!({ "messages_per_second": "60/s" }),
        ),
        ("post", "/operator/v1/tiers/{name}/rename", "name", "Another name", json!({ "name": "high-2026" })),
        (
            "post",
            "/operator/v1/tiers/{name}/rollback",
            "change",
            "As it was after a change",
            json!({ "change_id": ID }),
        ),
        (
            "put",
            "/operator/v1/tiers/{name}",
            "business_account",
            "A tier of business accounts",
            json!({
                "kind": "business_account", "messages_per_second": "40/s", "template_quota": 2000,
            }),
        ),
        (
            "put",
            "/operator/v1/tiers/{name}",
            "web_session",
            "A tier of web sessions",
            json!({
                "kind": "web_session", "messages_per_second": "6/min", "jitter": "4s", "daily_cap": 200,
                "warm_up": [20, 40, 60], "cold_contacts": 10, "unknown_outcome": "hold",
            }),
        ),
        (
            "post",
            "/operator/v1/channels",
            "business_account",
            "A business account",
            json!({
                "company_id": ID, "kind": "business_account", "name": "Support", "tier": "standard",
                "phone_number_id": "106540352242922", "waba_id": "102290129340398", "token": "EAAG-good",
            }),
        ),
        (
            "post",
            "/operator/v1/channels",
            "web_session",
            "A web session",
            json!({
                "company_id": ID, "kind": "web_session", "name": "Shop",
            }),
        ),
        ("patch", "/operator/v1/channels/{id}", "name", "Another name", json!({ "name": "Support" })),
        ("put", "/operator/v1/channels/{id}/tier", "tier", "Another tier", json!({ "tier": "high" })),
        (
            "put",
            "/operator/v1/channels/{id}/tier",
            "options",
            "A slower pace and quiet hours of its own",
            json!({
                "tier": "standard",
                "options": { "messages_per_second": "20/s", "quiet_hours": "21:00-08:00 Europe/Madrid" },
            }),
        ),
        (
            "post",
            "/operator/v1/channels/{id}/reconnect",
            "token",
            "A new token",
            json!({ "token": "EAAG-good" }),
        ),
    ]
}
