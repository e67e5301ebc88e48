//! Reading the provider's answers.

use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode};
use serde::Deserialize;

use super::disposition::{ErrorFacts, disposition};
use super::lenient::{fields, if_readable, phone_number};
use super::{Objects, hint, read};
use crate::{Disposition, Error, Reply};
use domain::message::Failure;

/// The maximum number of characters of an error's text that are kept.
const SENTENCE_CHARS: usize = 500;

#[derive(Deserialize)]
struct AcceptedBody<'a> {
    #[serde(borrow)]
    messages: Vec<AcceptedMessage<'a>>,
    #[serde(borrow, default, deserialize_with = "if_readable")]
    contacts: Option<Vec<AcceptedContact<'a>>>,
}

fields! {
    /// The recipient, as given and as the provider knows the number.
    AcceptedContact { texts wa_id; }
    AcceptedMessage { needs id; }
}

#[derive(Deserialize)]
struct Refused<'a> {
    #[serde(borrow)]
    error: GraphError<'a>,
}

fields! {
    GraphError {
        needs code;
        texts
            message,
            error_subcode,
            is_transient,
            fbtrace_id,
            /// For the people who look at the failure, in the language of the account perhaps.
            error_user_title,
            error_user_msg;
        objects
            /// Usually an object with `details`; a bare string on some of the provider's endpoints.
            error_data: ErrorData;
    }
    ErrorData { texts details; }
}

/// The meaning of the answer to a send.
pub(super) async fn to_send(response: Response, objects: &Objects) -> Reply {
    let status = response.status();
    // This is needed only for a refusal, which is rare.
    let headers = if status.is_success() { HeaderMap::new() } else { response.headers().clone() };
    let bytes = match read(response).await {
        Ok(bytes) => bytes,
        Err(failure) => return Reply::Uncertain(failure),
    };
    if status.is_success() {
        return accepted(&bytes).unwrap_or_else(|| Reply::Uncertain(no_graph_body(status)));
    }
    let refused = |disposition, failure| Reply::Refused {
        disposition,
        failure,
        retry_after: hint::retry_after(&headers, disposition),
    };
    match graph_error(status, &headers, &bytes, objects) {
        Some((disposition, failure)) => refused(disposition, failure),
        None if status.is_server_error() => Reply::Uncertain(no_graph_body(status)),
        None if status == StatusCode::TOO_MANY_REQUESTS => refused(Disposition::Wait, no_graph_body(status)),
        // A proxy on the way refused this request. The attempt counts, so that one message cannot block its
        // channel.
        None => refused(Disposition::Retry, no_graph_body(status)),
    }
}

/// The body of the answer to a question.
///
/// # Errors
///
/// When it is a refusal, or not one of the provider's answers.
pub(super) async fn to_question(response: Response, objects: &Objects) -> Result<Vec<u8>, Error> {
    let status = response.status();
    let headers = if status.is_success() { HeaderMap::new() } else { response.headers().clone() };
    let bytes = read(response).await.map_err(|failure| Error::NoAnswer(failure.sentence))?;
    if status.is_success() {
        return Ok(bytes);
    }
    match graph_error(status, &headers, &bytes, objects) {
        Some((disposition, failure)) => Err(Error::Refused(disposition, failure)),
        None => Err(Error::NoAnswer(no_graph_body(status).sentence)),
    }
}

fn accepted(bytes: &[u8]) -> Option<Reply> {
    let AcceptedBody { mut messages, contacts } = serde_json::from_slice(bytes).ok()?;
    let message: AcceptedMessage<'_> = messages.pop()?;
    let known_as = contacts.as_ref().and_then(|contacts| phone_number(&contacts.first()?.wa_id));
    // A message that the provider holds until it has reviewed the template is accepted, too: it goes out
    // later, or fails when the template is paused.
    Some(Reply::Accepted { id: plain(message.id.get()?), known_as })
}

/// The provider's error and its meaning; `None` when the body is not in the provider's form.
fn graph_error(
    status: StatusCode,
    headers: &HeaderMap,
    bytes: &[u8],
    objects: &Objects,
) -> Option<(Disposition, Failure)> {
    let error = serde_json::from_slice::<Refused<'_>>(bytes).ok()?.error;
    let code = error.code.whole()?;
    let message = error.message.get().unwrap_or_default();
    let disposition = disposition(&ErrorFacts {
        code,
        subcode: error.error_subcode.whole(),
        is_transient: error.is_transient.is_true(),
        is_server_error: status.is_server_error(),
        is_about_another: named_object(message).is_some_and(|id| !objects.contain(id)),
    });
    let details = error.error_data.as_ref().and_then(|data| data.details.get());
    let sentence = sentence(message, details, [error.error_user_title.get(), error.error_user_msg.get()]);
    tracing::debug!(
        provider.code = code,
        provider.status = status.as_u16(),
        provider.trace = error.fbtrace_id.get().or_else(|| hint::text(headers, "x-fb-trace-id")),
        provider.request = hint::text(headers, "x-fb-request-id"),
        ?disposition,
        reason = sentence,
        "the provider refused"
    );
    Some((disposition, Failure { code: Some(code), sentence }))
}

/// The sentence of an error, from places that may repeat each other: the message and its details, which are for
/// programmers, and the title and the text that the provider writes for people. The last one often says what to do.
pub(super) fn sentence(message: &str, details: Option<&str>, for_people: [Option<&str>; 2]) -> String {
    let mut sentence = message.trim().to_owned();
    for part in [details].into_iter().chain(for_people).flatten() {
        let part = part.trim();
        if !sentence.contains(part) {
            if !sentence.is_empty() {
                sentence.push_str(": ");
            }
            sentence.push_str(part);
        }
    }
    plain(&sentence)
}

/// The id in `Object with ID '…' does not exist`.
fn named_object(message: &str) -> Option<&str> {
    message.split('\'').nth(1).filter(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()))
}

fn no_graph_body(status: StatusCode) -> Failure {
    Failure { code: None, sentence: format!("the provider answered {status} without a body of its own") }
}

/// A provider's text, cut to a bounded length and without control characters, so that it can be stored and
/// shown.
pub(super) fn plain(words: &str) -> String {
    words.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SENTENCE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::phone::PhoneNumber;

    fn error(status: StatusCode, body: &[u8]) -> Option<(Disposition, Failure)> {
        let objects = Objects { phone_number_id: "1065".to_owned(), waba_id: "1022".to_owned() };
        graph_error(status, &HeaderMap::new(), body, &objects)
    }

    #[test]
    fn the_code_decides_and_the_http_status_does_not() {
        for (status, code, expected) in [
            (StatusCode::INTERNAL_SERVER_ERROR, 3, Disposition::Disconnect),
            (StatusCode::INTERNAL_SERVER_ERROR, 131_045, Disposition::Disconnect),
            (StatusCode::NOT_FOUND, 132_001, Disposition::HoldTemplate),
            (StatusCode::BAD_REQUEST, 130_429, Disposition::SlowNumber),
            (StatusCode::TOO_MANY_REQUESTS, 130_429, Disposition::SlowNumber),
            (StatusCode::UNAUTHORIZED, 100, Disposition::Fail),
        ] {
            let body = format!(r#"{{"error":{{"message":"x","code":{code},"type":"OAuthException"}}}}"#);
            let (disposition, failure) = error(status, body.as_bytes()).unwrap();
            assert_eq!((disposition, failure.code), (expected, Some(code)), "{status} {code}");
        }
    }

    #[test]
    fn details_are_added_whatever_form_they_have() {
        let said = |body: &[u8]| error(StatusCode::BAD_REQUEST, body).unwrap().1.sentence;
        assert_eq!(
            said(br#"{"error":{"message":"a","code":100,"error_data":{"details":"b\u0000c"}}}"#),
            "a: bc"
        );
        assert_eq!(said(br#"{"error":{"message":"a","code":"100","error_data":"text"}}"#), "a");
        assert_eq!(said(br#"{"error":{"code":100,"error_data":{"details":"b"}}}"#), "b");
        assert_eq!(error(StatusCode::BAD_GATEWAY, b"<html>"), None);
        assert_eq!(error(StatusCode::BAD_GATEWAY, br#"{"error":{"message":"no code"}}"#), None);
    }

    #[test]
    fn what_the_provider_writes_for_people_is_kept() {
        let body = br#"{"error":{"message":"(#100) Invalid parameter","code":100,"error_subcode":2388299,
            "error_user_title":"Too many emojis","error_user_msg":"Use at most 10 emojis."}}"#;
        let said = error(StatusCode::BAD_REQUEST, body).unwrap().1.sentence;
        assert_eq!(said, "(#100) Invalid parameter: Too many emojis: Use at most 10 emojis.");
    }

    #[test]
    fn an_answer_says_under_which_number_the_provider_knows_the_recipient() {
        let known_as = |contacts: &str| {
            let body = format!(r#"{{"contacts":{contacts},"messages":[{{"id":"wamid.A="}}]}}"#);
            match accepted(body.as_bytes()) {
                Some(Reply::Accepted { known_as, .. }) => known_as.map(PhoneNumber::as_u64),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(known_as(r#"[{"input":"+5564988887777","wa_id":"556488887777"}]"#), Some(556_488_887_777));
        for none in
            [r#"[{"input":"US.1","user_id":"US.1"}]"#, r#"[{"wa_id":"US.1"}]"#, "[]", "null", "7", "[7]"]
        {
            assert_eq!(known_as(none), None, "{none}");
        }
    }

    #[test]
    fn only_a_missing_object_of_the_channel_disconnects_it() {
        let gone = |id: &str| {
            let body = format!(
                r#"{{"error":{{"message":"Object with ID '{id}' does not exist","code":100,"error_subcode":33}}}}"#
            );
            error(StatusCode::BAD_REQUEST, body.as_bytes()).unwrap().0
        };
        assert_eq!(gone("1065"), Disposition::Disconnect);
        assert_eq!(gone("1022"), Disposition::Disconnect);
        assert_eq!(gone("77"), Disposition::Fail, "the request named a file");
        assert_eq!(gone(""), Disposition::Disconnect);
    }

    #[test]
    fn a_message_that_is_held_is_accepted_too() {
        let reply = |message: &str| accepted(format!(r#"{{"messages":[{message}]}}"#).as_bytes());
        let taken = Some(Reply::Accepted { id: "wamid.A=".to_owned(), known_as: None });
        assert_eq!(reply(r#"{"id":"wamid.A="}"#), taken);
        assert_eq!(reply(r#"{"id":"wamid.A=","message_status":"held_for_quality_assessment"}"#), taken);
        assert_eq!(reply(r#"{"id":"wamid.A=","message_status":7}"#), taken);
        assert_eq!(reply(r#"{"id":""}"#), None);
        assert_eq!(accepted(br#"{"messages":[]}"#), None);
    }
}
