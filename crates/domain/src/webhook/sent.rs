//! The headers of a request to an endpoint, as they are sent and as the log of deliveries shows them.

use clock::Timestamp;

/// The header with the id of a request, which is the same in each repetition.
pub const ID_HEADER: &str = "webhook-id";
/// The header with the time of a request.
pub const TIMESTAMP_HEADER: &str = "webhook-timestamp";
/// The header with the signatures of a request.
pub const SIGNATURE_HEADER: &str = "webhook-signature";
/// The header with the signature of a body in Meta's form: `sha256=` and the HMAC in hexadecimal digits.
pub const HUB_SIGNATURE_HEADER: &str = "x-hub-signature-256";
/// The header with the number of an attempt, from 1, beside [`HUB_SIGNATURE_HEADER`].
pub const ATTEMPT_HEADER: &str = "x-pombo-attempt";
/// The header of a request with an example, which is `true` then: nothing of it happened.
pub const TEST_HEADER: &str = "x-pombo-test";
/// How the id of an example begins.
pub const EXAMPLE_ID: &str = "example.";
/// The type of a request's body.
pub const BODY_TYPE: &str = "application/json";

/// Whether a request with this id, or an event, is an example.
pub fn is_example(id: &str) -> bool {
    id.starts_with(EXAMPLE_ID)
}

/// The time of a request in its headers: in seconds since 1970.
pub const fn signed_at(at: Timestamp) -> i64 {
    at.millis().div_euclid(1000)
}

/// What the log keeps of the headers of a request. The others follow from its event and its time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentHeaders {
    /// The id of the request, if it is not that of its event.
    pub id: Option<String>,
    /// The signatures.
    pub signature: String,
    /// The names of the endpoint's own headers. Their values are kept nowhere else than at the endpoint.
    pub own: Vec<String>,
}

impl SentHeaders {
    /// The headers of a request that began then, with this event or this one first, without those that belong to HTTP itself. The
    /// endpoint's own headers have no value.
    pub fn all(&self, event_id: &str, at: Timestamp) -> Vec<(&str, Option<String>)> {
        let Self { id, signature, own } = self;
        let known = [
            ("content-type", BODY_TYPE.to_owned()),
            (ID_HEADER, id.as_deref().unwrap_or(event_id).to_owned()),
            (TIMESTAMP_HEADER, signed_at(at).to_string()),
            (SIGNATURE_HEADER, signature.clone()),
        ];
        let test = is_example(event_id).then(|| (TEST_HEADER, true.to_string()));
        let known = known.into_iter().chain(test).map(|(name, value)| (name, Some(value)));
        known.chain(own.iter().map(|name| (name.as_str(), None))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_headers_of_a_request_follow_from_what_the_log_keeps() {
        let at = Timestamp::from_millis(1_700_000_000_999);
        let one = SentHeaders { id: None, signature: "v1,AAAA".to_owned(), own: vec!["x-team".to_owned()] };
        let value = |text: &str| Some(text.to_owned());
        let expected = [
            ("content-type", value("application/json")),
            ("webhook-id", value("event.7")),
            ("webhook-timestamp", value("1700000000")),
            ("webhook-signature", value("v1,AAAA")),
            ("x-team", None),
        ];
        assert_eq!(one.all("event.7", at), expected);
        let batch = SentHeaders { id: value("batch.7.9.a"), own: Vec::new(), ..one };
        assert_eq!(batch.all("event.7", at)[1], ("webhook-id", value("batch.7.9.a")));
        assert_eq!(batch.all("example.7", at)[4], ("x-pombo-test", value("true")));
    }
}
