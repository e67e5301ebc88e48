//! The failures that operations have in common.

use std::collections::BTreeMap;

use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::{Content, Ref, RefOr};
use utoipa::{IntoResponses, PartialSchema, ToSchema};

use crate::api::error::{Apology, ErrorBody};

/// The failures that every endpoint for companies and operators may answer.
pub(super) struct Failures;

/// The failures of a request with a body.
pub(super) struct BodyFailures;

/// The failures of requests beyond the allowance of a company.
pub(super) struct AllowanceFailures;

type Responses = BTreeMap<String, RefOr<Response>>;

impl IntoResponses for Failures {
    fn responses() -> Responses {
        let invalid = refusal("The request is wrong; the code says how, and `param` where.");
        let unauthenticated = refusal(
            "`invalid_auth_header`: the header is missing or malformed. `invalid_api_key`: the key is unknown,\n\
             revoked or expired.",
        );
        let method_not_allowed = refusal("`method_not_allowed`: see the `Allow` header.");
        let internal = failure::<Apology<'static>>("An internal failure; the body has no details.");
        let unavailable = refusal("`service_unavailable`: try again after `Retry-After` seconds.");
        responses([
            (400, invalid),
            (401, unauthenticated.header("WWW-Authenticate", header::<String>("`Bearer`"))),
            (405, method_not_allowed.header("Allow", header::<String>("The methods that the path answers"))),
            (500, internal),
            (503, unavailable.header("Retry-After", header::<u64>("Seconds until it may succeed"))),
        ])
    }
}

impl IntoResponses for BodyFailures {
    fn responses() -> Responses {
        responses([(408, refusal("`body_too_slow`")), (413, refusal("`body_too_large`"))])
    }
}

impl IntoResponses for AllowanceFailures {
    fn responses() -> Responses {
        let rate_limited = refusal(
            "`rate_limited`: the company makes more requests than its tier allows. `Retry-After` says when the next\n\
             request may be made.",
        );
        let retry_after = header::<u64>("Seconds until the next request may be made");
        responses([(429, rate_limited.header("Retry-After", retry_after))])
    }
}

fn responses<const N: usize>(failures: [(u16, ResponseBuilder); N]) -> Responses {
    failures.into_iter().map(|(status, failure)| (status.to_string(), failure.into())).collect()
}

/// A refusal with a code.
fn refusal(description: &str) -> ResponseBuilder {
    failure::<ErrorBody<'static>>(description)
}

fn failure<T: ToSchema>(description: &str) -> ResponseBuilder {
    let content = Content::new(Some(Ref::from_schema_name(T::name())));
    ResponseBuilder::new().description(description).content("application/json", content)
}

fn header<T: PartialSchema>(description: &str) -> Header {
    HeaderBuilder::new().schema(Some(T::schema())).description(Some(description)).build()
}
