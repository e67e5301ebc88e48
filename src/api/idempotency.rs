//! The `Idempotency-Key` of a request: reading the key, fingerprinting the request, and replaying an earlier answer.

use std::borrow::Cow;

use actix_web::http::header::{ContentType, HeaderMap, HeaderName, LOCATION};
use actix_web::web::{self, Bytes};
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use utoipa::IntoParams;

use super::State;
use super::auth::Company;
use super::error::Error;
use crate::engine::{self, Accepted, Claim, KeyGuard};
use crate::error::{Code, Refusal};

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: &str = "Idempotency-Replayed";
/// A body up to this size is digested on the thread that read it; a larger one on a thread where it delays no
/// other request.
const DIGESTED_IN_PLACE: usize = 256 * 1024;

/// The key of a request.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
pub(super) struct IdempotencyKey {
    /// Identifies the request: 1 to 255 visible ASCII characters, for example a UUID. A request that is
    /// repeated with the same key, path, query and body is carried out once. The key is kept for 24 hours
    /// after the request was accepted.
    #[param(rename = "Idempotency-Key", min_length = 1, max_length = 255)]
    key: Option<String>,
}

/// How a request is handled.
pub(super) enum Turn {
    /// The request has to be carried out, under its key if it has one.
    First(Option<KeyGuard>),
    /// The request was carried out before.
    Repeated(Accepted),
    /// The request was carried out before, and this is the stored answer.
    Told(String),
}

/// Decides whether a request is carried out, and holds its key if it has one. `body` is the digest of a body that came in
/// parts.
///
/// # Errors
///
/// `invalid_idempotency_key`, `idempotency_in_progress`, `idempotency_key_reused`.
pub(super) async fn turn(
    state: &State,
    company: Company,
    request: &HttpRequest,
    body: &Bytes,
) -> Result<Turn, Error> {
    let IdempotencyKey { key } = IdempotencyKey::read(request.headers())?;
    let Some(key) = key else { return Ok(Turn::First(None)) };
    let claim = Claim { key, fingerprint: fingerprint(request, body).await? };
    Ok(match state.engine.claim(company.id, claim).await? {
        engine::Turn::First(guard) => Turn::First(Some(guard)),
        engine::Turn::Repeated(accepted) => Turn::Repeated(accepted),
        engine::Turn::Told(answer) => Turn::Told(answer),
    })
}

/// Repeats the answer that was given before; what it accepted is at `address`.
pub(super) fn replay(address: &str, answer: &impl Serialize) -> HttpResponse {
    HttpResponse::Accepted().insert_header((LOCATION, address)).insert_header((REPLAYED, "true")).json(answer)
}

/// Repeats the stored answer byte for byte.
pub(super) fn replay_text(answer: String) -> HttpResponse {
    let mut replayed = HttpResponse::Ok();
    replayed.insert_header((REPLAYED, "true")).content_type(ContentType::json()).body(answer)
}

impl IdempotencyKey {
    fn read(headers: &HeaderMap) -> Result<Self, Error> {
        let mut values = headers.get_all(KEY);
        let Some(first) = values.next() else { return Ok(Self { key: None }) };
        let only = if values.next().is_none() { first.to_str().ok() } else { None };
        only.filter(|key| Claim::is_key(key)).map(|key| Self { key: Some(key.to_owned()) }).ok_or_else(|| {
            let sentence = "give the Idempotency-Key header once, with 1 to 255 visible ASCII characters";
            Refusal::new(Code::InvalidIdempotencyKey, sentence).about("Idempotency-Key").into()
        })
    }
}

/// SHA-256 over method, path, query and body, each with its length, so that different requests never have the
/// same input.
async fn fingerprint(request: &HttpRequest, body: &Bytes) -> Result<[u8; 32], Error> {
    let uri = request.uri();
    let mut digest = Sha256::new();
    let query = uri.query().map_or(Cow::Borrowed(""), |query| Cow::Owned(format!("?{query}")));
    for part in [request.method().as_str(), uri.path(), &query] {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    if body.len() <= DIGESTED_IN_PLACE {
        return Ok(digest.chain_update(body).finalize().into());
    }
    let body = body.clone();
    web::block(move || digest.chain_update(&body).finalize().into()).await.map_err(|error| {
        tracing::error!(%error, "digesting a body was cut short");
        Error::Internal
    })
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;
    use actix_web::test::TestRequest;

    use super::*;

    fn read(values: &[&[u8]]) -> Result<Option<String>, ()> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(KEY, HeaderValue::from_bytes(value).unwrap());
        }
        IdempotencyKey::read(&headers).map(|IdempotencyKey { key }| key).map_err(drop)
    }

    #[test]
    fn a_key_is_there_once_and_visible() {
        assert_eq!(read(&[]), Ok(None));
        let longest = "k".repeat(255);
        for key in ["k", "\"8e03978e-40d5\"", "'; DROP TABLE send; --".replace(' ', "+").as_str(), &longest] {
            assert_eq!(read(&[key.as_bytes()]), Ok(Some(key.to_owned())), "{key}");
        }
        let (too_long, twice): (String, [&[u8]; 2]) = ("k".repeat(256), [b"k", b"k"]);
        assert_eq!(read(&twice), Err(()));
        for hostile in [b"" as &[u8], b"a b", b"a\tb", b"\xc3\xa9", b"\xff", too_long.as_bytes()] {
            assert_eq!(read(&[hostile]), Err(()), "{hostile:?}");
        }
    }

    #[actix_web::test]
    async fn different_requests_have_different_fingerprints() {
        let of = async |method: &str, path: &str, body: &str| {
            let request = TestRequest::with_uri(path).method(method.parse().unwrap()).to_http_request();
            fingerprint(&request, &Bytes::copy_from_slice(body.as_bytes())).await.unwrap()
        };
        let large = "x".repeat(DIGESTED_IN_PLACE + 1);
        let first = of("POST", "/a", "{}").await;
        assert_eq!(of("POST", "/a", "{}").await, first);
        for (method, path, body) in [
            ("PUT", "/a", "{}"),
            ("POST", "/b", "{}"),
            ("POST", "/a?", "{}"),
            ("POST", "/a?dry_run=true", "{}"),
            ("POST", "/a", "{ }"),
            ("POST", "/a{}", ""),
            ("POST", "/a", large.as_str()),
        ] {
            assert_ne!(of(method, path, body).await, first, "{method} {path}");
        }
        assert_eq!(of("POST", "/a", &large).await, of("POST", "/a", &large).await);
    }
}
