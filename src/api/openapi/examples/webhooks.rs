//! Webhook endpoints.

use serde_json::json;

use super::{Example, ID};

const ADDRESS: &str = "https://example.com/webhooks";

/// The requests about webhook endpoints.
pub(super) fn all() -> Vec<Example> {
    vec![
        (
            "post",
            "/api/v1/webhooks",
            "default",
            "What needs a reaction",
            json!({
                "url": ADDRESS,
            }),
        ),
        (
            "post",
            "/api/v1/webhooks",
            "receipts",
            "Receipts of one channel, many in each request",
            json!({
                "url": ADDRESS, "types": ["message.*"], "channel_ids": [ID], "batch": 100, "max_in_flight": 4,
                "headers": { "authorization": "Bearer abc" }, "mask_numbers": true,
            }),
        ),
        (
            "patch",
            "/api/v1/webhooks/{id}",
            "types",
            "Other types of events",
            json!({
                "types": ["message.failed", "send.*"],
            }),
        ),
        (
            "post",
            "/api/v1/webhooks/{id}/rotate-secret",
            "at_once",
            "The former secret is known to others",
            json!({
                "overlap": "0s",
            }),
        ),
        (
            "post",
            "/api/v1/webhooks/{id}/enable",
            "now",
            "Without the events of the past",
            json!({
                "from": "now",
            }),
        ),
        (
            "post",
            "/api/v1/webhooks/{id}/replay",
            "failed",
            "What failed since yesterday",
            json!({
                "state": "failed", "since": "2026-01-01T00:00:00Z",
            }),
        ),
        (
            "post",
            "/api/v1/webhooks/{id}/verify",
            "token",
            "The token that the receiver expects",
            json!({
                "verify_token": "a token of the receiver",
            }),
        ),
        (
            "post",
            "/api/v1/webhooks/{id}/test",
            "failed",
            "A message that failed",
            json!({
                "type": "message.failed",
            }),
        ),
        (
            "post",
            "/api/v1/webhooks/{id}/deliveries/resend",
            "event",
            "One event",
            json!({
                "sequence": 458_754,
            }),
        ),
    ]
}
