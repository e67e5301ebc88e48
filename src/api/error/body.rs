//! The bodies of refusals and failures.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use super::Error;
use crate::api::skipped::{SkippedRecord, skipped_counts, skipped_records};
use crate::domain::request::Skipped;
use crate::engine::Exhausted;
use crate::error::{Code, Refusal};

/// The body of every refusal.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Error)]
pub(crate) struct ErrorBody<'a> {
    /// One sentence for a person: what is wrong and what to do about it.
    #[schema(example = "`type` is missing: give one of text, image, video, audio, document")]
    error: &'a str,
    /// For programs; a code never changes.
    #[schema(example = "missing_type")]
    code: &'static str,
    /// The field or the parameter at fault: its name as it was given, or its path in the body. Absent when none is, or
    /// more than one.
    #[schema(value_type = String, required = false, example = "type")]
    #[serde(skip_serializing_if = "Option::is_none")]
    param: Option<&'a str>,
    /// The id of the request, as in `X-Request-Id`: it is in the log of the service.
    #[schema(example = "01890a5d-ac96-774b-bcce-b302099a8057")]
    request_id: &'a str,
    /// For `no_valid_recipients` and `recipients_skipped`, where entries were skipped: their number.
    #[schema(value_type = u64, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped_count: Option<u64>,
    /// For these: the first ones of them, as in the answer to an accepted send.
    #[schema(value_type = Vec<SkippedRecord>, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<Vec<SkippedRecord>>,
    /// For a send with values: how many of them there are of each kind, by their `code`.
    #[schema(value_type = BTreeMap<String, u64>, required = false, example = json!({"value_missing": 2}))]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    skipped_counts: BTreeMap<&'static str, u64>,
}

impl<'a> ErrorBody<'a> {
    pub(crate) const fn new(error: &'a str, code: Code, request_id: &'a str) -> Self {
        Self {
            error,
            code: code.as_str(),
            param: None,
            request_id,
            skipped_count: None,
            skipped: None,
            skipped_counts: BTreeMap::new(),
        }
    }

    fn of(refusal: &'a Refusal, request_id: &'a str) -> Self {
        let Refusal { code, sentence, param } = refusal;
        Self { param: param.as_deref(), ..Self::new(sentence, *code, request_id) }
    }

    fn of_nobody(refusal: &'a Refusal, skipped: &Skipped, request_id: &'a str) -> Self {
        let body = Self::of(refusal, request_id);
        if skipped.count == 0 {
            return body;
        }
        let shown = Some(skipped_records(skipped));
        let skipped_counts = skipped_counts(skipped);
        Self { skipped_count: Some(skipped.count), skipped: shown, skipped_counts, ..body }
    }
}

/// The body of a refusal in the older form of web sessions.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Message)]
pub(crate) struct MessageBody {
    /// One sentence for a person.
    #[schema(example = "Unknown Channel")]
    message: &'static str,
}

impl MessageBody {
    /// The channel is not the company's.
    const UNKNOWN_CHANNEL: Self = Self { message: "Unknown Channel" };
    /// After an internal failure.
    pub(crate) const APOLOGY: Self = Self { message: "Something went wrong and the team has been notified" };
}

/// The body after an internal failure. It contains no internal details.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Apology<'a> {
    /// One sentence for a person.
    #[schema(example = "internal server error")]
    error: &'static str,
    /// The id of the request, as in `X-Request-Id`: the log says what happened.
    #[schema(example = "01890a5d-ac96-774b-bcce-b302099a8057")]
    request_id: &'a str,
}

impl<'a> Apology<'a> {
    pub(crate) const fn new(request_id: &'a str) -> Self {
        Self { error: "internal server error", request_id }
    }
}

impl Error {
    /// The body of the answer to the request with this id, as JSON. An internal failure has none of its own.
    pub(crate) fn body(&self, request_id: &str) -> Option<String> {
        let written = match self {
            Self::Refused(refusal) => serde_json::to_string(&ErrorBody::of(refusal, request_id)),
            Self::Nobody(refusal, skipped) => {
                serde_json::to_string(&ErrorBody::of_nobody(refusal, skipped, request_id))
            }
            Self::UnknownChannel => serde_json::to_string(&MessageBody::UNKNOWN_CHANNEL),
            Self::MethodNotAllowed(_) => {
                let sentence = "this path does not answer that method: see the Allow header";
                serde_json::to_string(&ErrorBody::new(sentence, Code::MethodNotAllowed, request_id))
            }
            Self::RateLimited(Exhausted { allowance, .. }) => {
                let (limit, seconds) = (allowance.limit, allowance.window.as_secs());
                let sentence = format!(
                    "the company's tier allows {limit} requests in {seconds} s and all are used: \
                     try again after the seconds of Retry-After"
                );
                serde_json::to_string(&ErrorBody::new(&sentence, Code::RateLimited, request_id))
            }
            Self::TooSoon(_, sentence, _) => {
                serde_json::to_string(&ErrorBody::new(sentence, Code::RateLimited, request_id))
            }
            Self::Unavailable(_) => {
                let sentence = "the service cannot do this now: try again after the seconds of Retry-After";
                serde_json::to_string(&ErrorBody::new(sentence, Code::ServiceUnavailable, request_id))
            }
            Self::Internal => return None,
        };
        // Texts and numbers always become JSON.
        written.ok()
    }
}
