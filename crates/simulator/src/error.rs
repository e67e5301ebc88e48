//! Error bodies in the provider's form, and the table of codes with their HTTP status and title.

use std::borrow::Cow;

use actix_web::http::StatusCode;
use serde_json::{Value, json};

/// Codes whose status [`super::Options::throttle_status`] sets.
const THROTTLES: [u32; 5] = [4, 80_007, 130_429, 131_048, 131_056];

/// Code, HTTP status, title. Other codes are answered with 400.
const TABLE: &[(u32, u16, &str)] = &[
    (0, 401, "The app user cannot be authenticated"),
    (1, 400, "Unknown error"),
    (2, 503, "Service temporarily unavailable"),
    (3, 500, "Capability or permission missing"),
    (4, 400, "Application request limit reached"),
    (10, 403, "Permission denied"),
    (33, 400, "The business phone number has been deleted"),
    (100, 400, "Invalid parameter"),
    (104, 401, "An access token is required to request this resource"),
    (190, 401, "Invalid OAuth access token"),
    (200, 403, "Permission not granted"),
    (368, 403, "Temporarily blocked for policy violations"),
    (2_500, 400, "Unknown path components"),
    (80_007, 400, "Rate limit of the business account reached"),
    (130_403, 400, "User is blocked by the business"),
    (130_429, 400, "Rate limit hit"),
    (130_472, 400, "User is part of an experiment"),
    (130_497, 403, "Business account may not message users in this country"),
    (131_000, 500, "Something went wrong"),
    (131_005, 403, "Access denied"),
    (131_008, 400, "Required parameter is missing"),
    (131_009, 400, "Parameter value is not valid"),
    (131_016, 500, "Service unavailable"),
    (131_021, 400, "Recipient cannot be sender"),
    (131_026, 400, "Message undeliverable"),
    (131_030, 400, "Recipient phone number not in allowed list"),
    (131_031, 403, "Account has been locked"),
    (131_037, 400, "Display name has not been approved"),
    (131_042, 400, "Business eligibility payment issue"),
    (131_045, 500, "Phone number registration error"),
    (131_047, 400, "Re-engagement message"),
    (131_048, 400, "Spam rate limit hit"),
    (131_049, 400, "Not delivered to keep the ecosystem healthy"),
    (131_050, 400, "User has stopped marketing messages from this business"),
    (131_051, 400, "Unsupported message type"),
    (131_053, 400, "Media upload error"),
    (131_056, 400, "Pair rate limit hit"),
    (131_057, 500, "Account in maintenance mode"),
    (132_000, 400, "Number of parameters does not match the expected number of params"),
    (132_001, 404, "Template name does not exist in the translation"),
    (132_005, 400, "Translated text too long"),
    (132_007, 400, "Template content violates policy"),
    (132_012, 400, "Parameter format does not match format in the created template"),
    (132_015, 400, "Template is paused"),
    (132_016, 400, "Template is disabled"),
    (133_000, 500, "Incomplete deregistration"),
    (133_004, 503, "Server temporarily unavailable"),
    (133_010, 400, "Phone number not registered"),
    (135_000, 400, "Generic user error"),
];

/// A refusal in the provider's form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GraphError {
    /// The code, by which clients decide.
    pub(super) code: u32,
    pub(super) subcode: Option<u32>,
    pub(super) details: Option<String>,
    pub(super) is_transient: Option<bool>,
    title: Cow<'static, str>,
    status: Option<u16>,
}

impl GraphError {
    /// A refusal with this code and the status and title of the table.
    pub(super) fn new(code: u32) -> Self {
        Self {
            code,
            subcode: None,
            details: None,
            is_transient: (code == 2).then_some(true),
            title: Cow::Borrowed(title(code)),
            status: None,
        }
    }

    /// A refusal with this code and details.
    pub(super) fn because(code: u32, details: impl Into<String>) -> Self {
        Self { details: Some(details.into()), ..Self::new(code) }
    }

    /// No object of that id, or none that this token may see.
    pub(super) fn unknown_object(id: &str) -> Self {
        let title = format!("Object with ID '{id}' does not exist or the token may not use it");
        Self { subcode: Some(33), title: Cow::Owned(title), ..Self::new(100) }
    }

    /// A budget of calls is spent: 4 for the app's, 80007 for an account's.
    pub(super) fn over_budget(code: u32) -> Self {
        Self { subcode: Some(2_446_079), is_transient: Some(true), ..Self::new(code) }
    }

    /// With this subcode.
    pub(super) fn with_subcode(self, subcode: u32) -> Self {
        Self { subcode: Some(subcode), ..self }
    }

    /// With another title than the table's.
    pub(super) fn titled(self, title: String) -> Self {
        Self { title: Cow::Owned(title), ..self }
    }

    /// With another HTTP status than the table's.
    pub(super) fn with_status(self, status: u16) -> Self {
        Self { status: Some(status), ..self }
    }

    /// The HTTP status; rate limits have the configured one unless a script set another.
    pub(super) fn status(&self, throttle_status: u16) -> StatusCode {
        let listed = TABLE.iter().find(|row| row.0 == self.code).map_or(400, |row| row.1);
        let usual = if THROTTLES.contains(&self.code) { throttle_status } else { listed };
        StatusCode::from_u16(self.status.unwrap_or(usual)).unwrap_or(StatusCode::BAD_REQUEST)
    }

    /// The body, with this trace id.
    pub(super) fn body(&self, trace: &str) -> Value {
        let mut error = json!({
            "message": format!("(#{}) {}", self.code, self.title),
            "type": "OAuthException",
            "code": self.code,
            "fbtrace_id": trace,
        });
        if let Some(details) = &self.details {
            error["error_data"] = json!({ "messaging_product": "whatsapp", "details": details });
        }
        if let Some(subcode) = self.subcode {
            error["error_subcode"] = subcode.into();
        }
        if let Some(is_transient) = self.is_transient {
            error["is_transient"] = is_transient.into();
        }
        json!({ "error": error })
    }
}

/// The title of a code, for answers and for failed statuses.
pub(super) fn title(code: u32) -> &'static str {
    TABLE.iter().find(|row| row.0 == code).map_or("Unknown error", |row| row.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_of_a_rate_limit_is_configured_and_others_are_not() {
        assert_eq!(GraphError::new(130_429).status(429), 429);
        assert_eq!(GraphError::new(130_429).status(400), 400);
        assert_eq!(GraphError::new(132_001).status(429), 404);
        assert_eq!(GraphError::new(130_429).with_status(500).status(429), 500);
    }

    #[test]
    fn an_error_body_has_the_providers_shape() {
        let body = GraphError::because(132_000, "body: 1 of 3").body("Axyz");
        assert_eq!(
            body,
            json!({"error": {
                "message": "(#132000) Number of parameters does not match the expected number of params",
                "type": "OAuthException", "code": 132_000, "fbtrace_id": "Axyz",
                "error_data": {"messaging_product": "whatsapp", "details": "body: 1 of 3"},
            }})
        );
    }
}
