//! What a receiver with the library of the Standard Webhooks project accepts.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use standardwebhooks::{Webhook, WebhookError};

use super::*;

/// The headers and the body of a request.
fn received(request: &str) -> (HeaderMap, &[u8]) {
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let fields = head.lines().filter_map(|line| line.split_once(": "));
    let headers = fields.map(|(name, value)| {
        let (name, value): (HeaderName, HeaderValue) = (name.parse().unwrap(), value.parse().unwrap());
        (name, value)
    });
    (headers.collect(), body.as_bytes())
}

fn key(secret: &Secret) -> SigningKey {
    SigningKey::parse(secret).unwrap()
}

fn library(secret: &Secret) -> Webhook {
    Webhook::new(secret.expose()).unwrap()
}

#[tokio::test]
async fn a_delivery_is_verified_with_either_secret_and_with_no_other_one() {
    let [present, former, other] = [(); 3].map(|()| signature::generate());
    let receiver = Receiver::new(&answer(200, "", "")).await;
    let sent = signed(&receiver.url(), &[key(&present), key(&former)]);
    assert!(Sender::new(&options(PATIENCE)).unwrap().deliver(sent).await.is_delivered());

    let request = receiver.request();
    let (headers, body) = received(&request);
    assert_eq!(body, BODY);
    let is_invalid =
        |verified: Result<(), WebhookError>| matches!(verified, Err(WebhookError::InvalidSignature));
    for secret in [&present, &former] {
        library(secret).verify(body, &headers).unwrap();
        assert!(is_invalid(library(secret).verify(br#"{"type":"send.expired"}"#, &headers)));
        for (name, changed) in [("webhook-id", "evt_2"), ("webhook-signature", "v1,AAAA")] {
            let mut headers = headers.clone();
            headers.insert(name, HeaderValue::from_static(changed));
            assert!(is_invalid(library(secret).verify(body, &headers)), "{name}");
        }
    }
    assert!(is_invalid(library(&other).verify(body, &headers)));
    let mut old = headers;
    old.insert("webhook-timestamp", HeaderValue::from_static("1614265330"));
    let refused = library(&present).verify(body, &old);
    assert!(matches!(refused, Err(WebhookError::TimestampTooOldError)), "{refused:?}");
}

#[test]
fn the_library_signs_texts_as_they_are_signed_here() {
    for body in ["", "{}", r#"{"name":"João 🎉"}"#, "a\r\n.b\0"] {
        let secret = signature::generate();
        let theirs = library(&secret).sign("evt_1", 1_614_265_330, body.as_bytes()).unwrap();
        assert_eq!(signature::sign(&[key(&secret)], "evt_1", 1_614_265_330, body.as_bytes()), theirs);
    }
}
