//! The schemas of the API reference that no type of ours has: the provider's documents, words, and the failures that every
//! endpoint may answer.

mod described;
mod words;

use utoipa::IntoResponses;

pub(super) use self::described::{ChangedValue, TemplatePart, WebhookBody};
pub(super) use self::words::*;
use super::error::{Apology, ErrorBody};

/// The failures that every endpoint for companies and operators may answer.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
pub(super) enum Failures {
    /// The request is wrong; the code says how.
    #[response(status = 400)]
    Invalid(ErrorBody<'static>),
    /// `invalid_auth_header`: the header is missing or malformed. `invalid_api_key`: the key is unknown,
    /// revoked or expired.
    #[response(status = 401, headers(("WWW-Authenticate" = String, description = "`Bearer`")))]
    Unauthenticated(ErrorBody<'static>),
    /// `method_not_allowed`: see the `Allow` header.
    #[response(status = 405, headers(("Allow" = String, description = "The methods that the path answers")))]
    MethodNotAllowed(ErrorBody<'static>),
    /// `rate_limited`: the company makes more requests than its tier allows. `Retry-After` says when the next
    /// request may be made; every answer to a limited company has the remaining requests in `RateLimit`.
    #[response(status = 429, headers(
        ("Retry-After" = u64, description = "Seconds until the next request may be made"),
        ("RateLimit" = String, description = "What is left of each allowance"),
        ("RateLimit-Policy" = String, description = "Each allowance"),
    ))]
    RateLimited(ErrorBody<'static>),
    /// An internal failure; the body has no details.
    #[response(status = 500)]
    Internal(Apology),
    /// `service_unavailable`: try again after `Retry-After` seconds.
    #[response(status = 503, headers(("Retry-After" = u64, description = "Seconds until it may succeed")))]
    Unavailable(ErrorBody<'static>),
}
