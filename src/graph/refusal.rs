//! Refusals in Graph's shape: `{"error": {"message", "type", "code", "error_data", …}}`, with Meta's HTTP status.
//!
//! `details` is a sentence for people: what is wrong and what to do. `fbtrace_id` is the id of the request, which is in the log.

pub(super) mod meaning;

use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::RETRY_AFTER;
use actix_web::{HttpMessage as _, HttpRequest, HttpResponse};
use serde_json::{Value, json};

use crate::surface::{RequestId, WholeAnswer};

/// Code, HTTP status, title. Codes that are not here are answered with 400.
const TITLES: &[(i64, u16, &str)] = &[
    (1, 400, "Unknown error"),
    (2, 503, "Service temporarily unavailable"),
    (4, 429, "Application request limit reached"),
    (10, 403, "Permission denied"),
    (17, 429, "Request limit of the user reached"),
    (32, 429, "Request limit of the page reached"),
    (33, 400, "Phone number has been deleted"),
    (100, 400, "Invalid parameter"),
    (190, 401, "Invalid OAuth access token"),
    (200, 403, "Permission not granted"),
    (368, 403, "Temporarily blocked for policy violations"),
    (613, 429, "Rate limit of the request reached"),
    (80_007, 429, "Rate limit of the business account reached"),
    (80_008, 429, "Rate limit of the business account reached"),
    (130_403, 400, "User is blocked by the business"),
    (130_429, 429, "Rate limit hit"),
    (130_472, 400, "User is part of an experiment"),
    (130_497, 403, "Business account may not message users in this country"),
    (130_501, 400, "Message type is currently not supported"),
    (131_000, 500, "Something went wrong"),
    (131_005, 403, "Access denied"),
    (131_008, 400, "Required parameter is missing"),
    (131_009, 400, "Parameter value is not valid"),
    (131_016, 503, "Service unavailable"),
    (131_021, 400, "Recipient cannot be sender"),
    (131_026, 400, "Message undeliverable"),
    (131_030, 400, "Recipient phone number not in allowed list"),
    (131_031, 403, "Account has been locked"),
    (131_037, 400, "Display name has not been approved"),
    (131_042, 400, "Business eligibility payment issue"),
    (131_045, 500, "Phone number registration error"),
    (131_047, 400, "Re-engagement message"),
    (131_048, 429, "Spam rate limit hit"),
    (131_049, 400, "Not delivered to keep the ecosystem healthy"),
    (131_050, 400, "User has stopped marketing messages from this business"),
    (131_051, 400, "Unsupported message type"),
    (131_052, 400, "Media download error"),
    (131_053, 400, "Media upload error"),
    (131_055, 400, "Method not allowed"),
    (131_056, 429, "Pair rate limit hit"),
    (131_057, 500, "Account in maintenance mode"),
    (131_062, 400, "Recipient type is not supported for this message"),
    (131_063, 400, "Marketing templates cannot be sent in this way"),
    (131_064, 400, "Limit of violations of the rules for templates reached"),
    (132_000, 400, "Number of parameters does not match the expected number of params"),
    (132_001, 404, "Template name does not exist in the translation"),
    (132_005, 400, "Translated text too long"),
    (132_007, 400, "Template content violates policy"),
    (132_012, 400, "Parameter format does not match format in the created template"),
    (132_015, 400, "Template is paused"),
    (132_016, 400, "Template is disabled"),
    (132_018, 400, "Values do not fit the template"),
    (132_068, 400, "Flow is in blocked state"),
    (132_069, 400, "Flow is in throttled state"),
    (133_000, 500, "Incomplete deregistration"),
    (133_004, 503, "Server temporarily unavailable"),
    (133_006, 400, "Phone number needs to be verified"),
    (133_010, 400, "Phone number not registered"),
    (134_011, 400, "Terms of payments have not been accepted"),
    (134_100, 400, "Only marketing messages can be sent in this way"),
    (134_101, 400, "Template is not synchronized yet"),
    (134_102, 500, "Template is not available in this way"),
    (135_000, 400, "Generic user error"),
    (137_000, 400, "Identity of the recipient has changed"),
];

/// A refusal of the door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DoorRefusal {
    /// Meta's number.
    code: i64,
    subcode: Option<u32>,
    /// Instead of the code's own title.
    title: Option<String>,
    details: Option<String>,
    /// Instead of the code's own status.
    status: Option<u16>,
    retry_after: Option<Duration>,
}

impl DoorRefusal {
    /// The refusal with this number of Meta's.
    pub(super) fn because(code: i64, details: impl Into<String>) -> Self {
        let details = Some(details.into());
        Self { code, subcode: None, title: None, details, status: None, retry_after: None }
    }

    /// A key that is missing, unknown, or not good any more.
    pub(super) fn bad_key(details: &str) -> Self {
        Self::because(190, details)
    }

    /// More requests than the company may make.
    pub(super) fn too_many(wait: Duration) -> Self {
        let details = "the company made as many requests as its tier allows: try again after the seconds of Retry-After";
        Self::because(4, details).later(wait)
    }

    /// An id that the caller does not have, or a request that is not offered: nobody learns which.
    pub(super) fn unknown(verb: &str, id: &str) -> Self {
        let id: String = id.chars().filter(|c| c.is_ascii_graphic() && *c != '\'').take(64).collect();
        let title = format!(
            "Unsupported {verb} request. Object with ID '{id}' does not exist, cannot be loaded due to missing permissions, \
             or does not support this operation"
        );
        Self {
            code: 100,
            subcode: Some(33),
            title: Some(title),
            details: None,
            status: None,
            retry_after: None,
        }
    }

    /// A defect of ours, which was logged where it happened.
    pub(super) fn internal() -> Self {
        Self::because(131_000, "something went wrong here, and the log of the service says what")
    }

    /// With another HTTP status.
    pub(super) fn with_status(self, status: u16) -> Self {
        Self { status: Some(status), ..self }
    }

    /// With the time after which the request may be repeated.
    pub(super) fn later(self, wait: Duration) -> Self {
        Self { retry_after: Some(wait), ..self }
    }

    fn status(&self) -> StatusCode {
        let listed =
            TITLES.iter().find(|(code, ..)| *code == self.code).map_or(400, |(_, status, _)| *status);
        StatusCode::from_u16(self.status.unwrap_or(listed)).unwrap_or(StatusCode::BAD_REQUEST)
    }

    fn body(&self, trace: &str) -> Value {
        let listed = TITLES.iter().find(|(code, ..)| *code == self.code).map(|(.., title)| *title);
        // Of a number that has no title here, the provider's own words say more than one.
        let usual = listed.or(self.details.as_deref()).unwrap_or("Unknown error");
        let title = self.title.as_deref().unwrap_or(usual);
        let kind = if self.subcode.is_some() { "GraphMethodException" } else { "OAuthException" };
        // Programs show one or the other of these to people.
        let details = self.details.as_deref().unwrap_or(title);
        let mut error = json!({
            "message": format!("(#{}) {title}", self.code),
            "type": kind,
            "code": self.code,
            "error_data": { "messaging_product": "whatsapp", "details": details },
            "error_user_title": usual,
            "error_user_msg": details,
            "fbtrace_id": trace,
        });
        if let Some(subcode) = self.subcode {
            error["error_subcode"] = subcode.into();
        }
        if self.retry_after.is_some() {
            error["is_transient"] = true.into();
        }
        json!({ "error": error })
    }

    /// The answer to a request.
    pub(super) fn answer(&self, request: &HttpRequest) -> HttpResponse {
        let trace = request.extensions().get::<RequestId>().map(|id| id.0.clone()).unwrap_or_default();
        let mut answer = HttpResponse::build(self.status());
        if let Some(wait) = self.retry_after {
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            answer.insert_header((RETRY_AFTER, seconds.max(1)));
        }
        let mut answer = answer.json(self.body(&trace));
        answer.extensions_mut().insert(WholeAnswer);
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_metas_shape_and_the_status_of_its_number() {
        let refused = DoorRefusal::because(131_047, "send a template");
        assert_eq!(refused.status(), 400);
        assert_eq!(
            refused.body("r-1"),
            json!({"error": {
                "message": "(#131047) Re-engagement message", "type": "OAuthException", "code": 131_047,
                "error_data": {"messaging_product": "whatsapp", "details": "send a template"},
                "error_user_title": "Re-engagement message", "error_user_msg": "send a template", "fbtrace_id": "r-1",
            }})
        );
        let (key, lost) = (DoorRefusal::bad_key("x"), DoorRefusal::unknown("get", "7").with_status(404));
        assert_eq!((key.status().as_u16(), lost.status().as_u16()), (401, 404));
        assert_eq!(lost.body("")["error"]["error_subcode"], 33);
        let other = DoorRefusal::because(2_388_023, "the name is being deleted");
        assert_eq!((other.status().as_u16(), &other.body("")["error"]["code"]), (400, &json!(2_388_023)));
        assert_eq!(other.body("")["error"]["message"], "(#2388023) the name is being deleted");
    }
}
