//! Reading the provider's answers.

use reqwest::{Response, StatusCode};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::disposition::{ErrorFacts, disposition};
use super::read;
use crate::connector::{Disposition, Error, Health, Reply};
use crate::domain::message::Failure;

/// An error's words are kept up to this many characters.
const SENTENCE_CHARS: usize = 500;

#[derive(Deserialize)]
struct Accepted {
    messages: Vec<AcceptedMessage>,
}

#[derive(Deserialize)]
struct AcceptedMessage {
    id: String,
}

#[derive(Deserialize)]
struct Refused {
    error: GraphError,
}

#[derive(Deserialize)]
struct GraphError {
    code: i64,
    #[serde(default)]
    message: String,
    error_subcode: Option<i64>,
    is_transient: Option<bool>,
    error_data: Option<ErrorData>,
}

/// Usually an object with `details`; a bare string on some of the provider's endpoints.
#[derive(Deserialize)]
#[serde(untagged)]
enum ErrorData {
    Object { details: Option<String> },
    Other(IgnoredAny),
}

#[derive(Deserialize)]
struct Number {
    status: Option<String>,
    display_phone_number: Option<String>,
    quality_rating: Option<String>,
}

pub(super) async fn to_send(response: Response) -> Reply {
    let status = response.status();
    let bytes = match read(response).await {
        Ok(bytes) => bytes,
        Err(failure) => return Reply::Uncertain(failure),
    };
    if status.is_success() {
        let id =
            serde_json::from_slice::<Accepted>(&bytes).ok().and_then(|mut accepted| accepted.messages.pop());
        return match id {
            Some(message) => Reply::Accepted(plain(&message.id)),
            None => Reply::Uncertain(no_graph_body(status)),
        };
    }
    match graph_error(status, &bytes) {
        Some((disposition, failure)) => Reply::Refused(disposition, failure),
        None if status.is_server_error() => Reply::Uncertain(no_graph_body(status)),
        None if status == StatusCode::TOO_MANY_REQUESTS => {
            Reply::Refused(Disposition::Wait, no_graph_body(status))
        }
        // Something on the way refused this one: it counts, so that one message cannot hold up its channel.
        None => Reply::Refused(Disposition::Retry, no_graph_body(status)),
    }
}

pub(super) async fn to_question(response: Response) -> Result<Vec<u8>, Error> {
    let status = response.status();
    let bytes = read(response).await.map_err(|failure| Error::NoAnswer(failure.sentence))?;
    if status.is_success() {
        return Ok(bytes);
    }
    match graph_error(status, &bytes) {
        Some((disposition, failure)) => Err(Error::Refused(disposition, failure)),
        None => Err(Error::NoAnswer(no_graph_body(status).sentence)),
    }
}

/// Only `CONNECTED` numbers can send; the other words that say so for good are listed, unknown ones are
/// taken as passing.
pub(super) fn to_health(bytes: &[u8]) -> Health {
    let Ok(number) = serde_json::from_slice::<Number>(bytes) else {
        let sentence = "the provider's description of the number cannot be read".to_owned();
        return Health::Unknown(Failure { code: None, sentence });
    };
    let refused = |disposition, status: &str| {
        let sentence = format!("the provider says that the number is {status}");
        Health::Refused(disposition, Failure { code: None, sentence })
    };
    match number.status.as_deref() {
        Some(status @ ("DISCONNECTED" | "OFFLINE" | "UNVERIFIED" | "DELETED" | "MIGRATED" | "UNLINKED")) => {
            refused(Disposition::Disconnect, status)
        }
        Some(status @ ("BANNED" | "RESTRICTED")) => refused(Disposition::Block, status),
        _ => Health::Healthy {
            phone_number: number.display_phone_number,
            quality_rating: number.quality_rating,
        },
    }
}

fn graph_error(status: StatusCode, bytes: &[u8]) -> Option<(Disposition, Failure)> {
    let error = serde_json::from_slice::<Refused>(bytes).ok()?.error;
    let facts = ErrorFacts {
        code: error.code,
        subcode: error.error_subcode,
        is_transient: error.is_transient.unwrap_or(false),
        is_server_error: status.is_server_error(),
    };
    let details = match error.error_data {
        Some(ErrorData::Object { details: Some(details) }) if details != error.message => {
            format!("{}: {details}", error.message)
        }
        Some(ErrorData::Object { .. } | ErrorData::Other(IgnoredAny)) | None => error.message,
    };
    Some((disposition(&facts), Failure { code: Some(error.code), sentence: plain(&details) }))
}

fn no_graph_body(status: StatusCode) -> Failure {
    Failure { code: None, sentence: format!("the provider answered {status} without a body of its own") }
}

/// A provider's words made fit to be stored and shown: bounded, and without control characters.
pub(super) fn plain(words: &str) -> String {
    words.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SENTENCE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_decides_and_the_http_status_does_not() {
        let body = br#"{"error":{"message":"(#131045) x","code":131045,"type":"OAuthException"}}"#;
        let (disposition, failure) = graph_error(StatusCode::INTERNAL_SERVER_ERROR, body).unwrap();
        assert_eq!(disposition, Disposition::Disconnect);
        assert_eq!(failure.code, Some(131_045));
    }

    #[test]
    fn details_are_added_whatever_form_they_have() {
        let with = br#"{"error":{"message":"a","code":100,"error_data":{"details":"b\u0000c"}}}"#;
        let bare = br#"{"error":{"message":"a","code":100,"error_data":"text"}}"#;
        assert_eq!(graph_error(StatusCode::BAD_REQUEST, with).unwrap().1.sentence, "a: b c");
        assert_eq!(graph_error(StatusCode::BAD_REQUEST, bare).unwrap().1.sentence, "a");
        assert_eq!(graph_error(StatusCode::BAD_GATEWAY, b"<html>"), None);
    }

    #[test]
    fn only_a_number_that_is_gone_or_restricted_is_refused() {
        let health = |status: &str| to_health(format!(r#"{{"status":"{status}"}}"#).as_bytes());
        assert!(matches!(health("CONNECTED"), Health::Healthy { .. }));
        assert!(matches!(health("FLAGGED"), Health::Healthy { .. }));
        assert!(matches!(health("DISCONNECTED"), Health::Refused(Disposition::Disconnect, _)));
        assert!(matches!(health("BANNED"), Health::Refused(Disposition::Block, _)));
        assert!(matches!(to_health(b"<html>"), Health::Unknown(_)));
    }
}
