//! The introduction of the reference: what holds for all operations that a listener serves.

use crate::api::{Listener, Options};
use crate::engine::KEPT;

/// The introduction for the readers of a listener's reference.
pub(super) fn text(listener: Listener, options: &Options) -> String {
    let (company, operator) = (listener != Listener::Operator, listener != Listener::Public);
    let mut sections = vec!["Sends messages through the WhatsApp channels of companies.".to_owned()];
    sections.push(format!("## Authentication\n\n{}", authentication(company, operator)));
    sections.push(pages(options));
    if company {
        sections.push(idempotency());
        sections.push(LIMITS.to_owned());
    }
    sections.push(ERRORS.to_owned());
    sections.push(VERSIONS.to_owned());
    sections.join("\n\n")
}

fn authentication(company: bool, operator: bool) -> String {
    let mut sentences = Vec::new();
    if company {
        sentences.push(
            "Every request below `/api/v1` carries a company's API key, as `Authorization: Bearer pombo_…`. Each operation \
             names the scope that the key needs; without it, the answer is 403 `insufficient_scope`.",
        );
    }
    if operator {
        sentences.push(
            "Every request below `/operator/v1` carries an operator's key, as `Authorization: Bearer pombo_op_…`. No \
             company's key opens these paths.",
        );
    }
    sentences
        .push("Keys are shown once, when they are created; they belong on servers, not in browsers or apps.");
    sentences.join(" ")
}

fn pages(options: &Options) -> String {
    let (page_size, default) = (options.page_size, options.page_size.min(10));
    format!(
        "## Pages\n\nA list answers `data`, `currentPage`, `totalPages` and `totalRecords`. `page` counts from 1, `limit` is \
         {default} when absent and at most {page_size}. A page past the last one has empty `data`. Lists are sorted as \
         their description says. Large results of sends are read as one stream instead, with \
         `Accept: application/x-ndjson`.\n\nAnswers in JSON are compressed for clients that send \
         `Accept-Encoding: gzip`; streams are not."
    )
}

fn idempotency() -> String {
    let hours = KEPT.as_secs() / 3_600;
    format!(
        "## Repeating a request\n\nA request that sends may carry an `Idempotency-Key` of your choice. Within {hours} hours, a \
         repeated request under its key is carried out once and gets the first answer again, with \
         `Idempotency-Replayed: true`. Requests that read, write contacts, or suppress a number may be repeated without \
         one: repeating them changes nothing more."
    )
}

const LIMITS: &str = "## Limits\n\nA company whose tier has `api_requests` reads in each answer what is left of it, in `RateLimit` \
     and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers). Beyond it the answer is 429 `rate_limited`. 429 and 503 \
     have `Retry-After` in seconds: nothing was done, so wait that long and repeat the request.";

const ERRORS: &str = "## Errors\n\nA refusal is an object with `error`, a sentence for people that says what to do next, and `code`, \
     a word for programs that never changes. Decide by the code and the status, never by the sentence. An answer 500 has no \
     code. Every answer has `X-Request-Id`, your own if you send one: quote it in questions to the people who run the \
     service.";

const VERSIONS: &str = "## Versions\n\nThe version in the path changes when a client of the present one would break. Within a version, \
     changes only add: operations, optional parameters and fields of requests, fields of answers, codes, and words of lists \
     such as states. So ignore fields that you do not know, and treat an unknown word or code as its status says. What is \
     going to be removed is marked as deprecated here, for at least twelve months and one release before it goes; answers of \
     such an operation carry `Deprecation` and `Sunset` with the dates. A new version is served beside the old one for as \
     long.";
