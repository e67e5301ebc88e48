//! Compresses answers in JSON for clients that accept gzip.
//!
//! Only an answer that is complete is compressed: what a stream has written is with its client at once, and stays so.
//!
//! An answer with a secret is not compressed. The length of a compressed answer reveals whether a secret and a text that
//! somebody else chose are alike; secrets are shown in answers to requests that make them, and while a phone is linked.

use actix_web::HttpResponse;
use actix_web::body::{BodySize, BoxBody, MessageBody as _};
use actix_web::dev::ServiceResponse;
use actix_web::http::Method;
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, VARY};
use actix_web::web::{self, Bytes};
use flate2::Compression;

use crate::surface::gzip::{gzip, takes_gzip};

/// A shorter answer fits into one packet without compression, in bytes.
const WORTH_COMPRESSING: u64 = 1024;
/// A longer answer is compressed beside the thread that serves requests, in bytes. This many take a millisecond or two.
const LONG: u64 = 128 * 1024;
/// Requests that change nothing and are no `GET`, because their questions are long.
const QUESTIONS: &[&str] = &["/api/v1/numbers/check"];
/// Paths below which answers have secrets: codes that link a phone.
const SECRET: &str = "/api/v1/web-chat/{id}/pairing";

/// Whether answers of this route may be compressed.
pub(super) fn may_compress(method: &Method, route: &str) -> bool {
    let is_question = *method == Method::GET || QUESTIONS.contains(&route);
    let is_ours = route.starts_with("/api/") || route.starts_with("/operator/") || route == "/openapi.json";
    is_question && is_ours && !route.starts_with(SECRET)
}

/// The answer, compressed if that is worth it and the client accepts it.
pub(super) async fn compress(response: ServiceResponse) -> ServiceResponse {
    let length = match response.response().body().size() {
        BodySize::Sized(length) if length >= WORTH_COMPRESSING => length,
        _ => return response,
    };
    let is_json = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if !is_json || response.headers().contains_key(CONTENT_ENCODING) {
        return response;
    }
    let is_accepted = takes_gzip(response.request().headers());
    let (request, answer) = response.into_parts();
    let (mut answer, body) = answer.into_parts();
    answer.headers_mut().append(VARY, HeaderValue::from_static("accept-encoding"));
    let whole = match body.try_into_bytes() {
        Ok(whole) if is_accepted => whole,
        Ok(whole) => return ServiceResponse::new(request, answer.set_body(BoxBody::new(whole))),
        Err(body) => return ServiceResponse::new(request, answer.set_body(body)),
    };
    let compressed = if length > LONG { beside(whole.clone()).await } else { Some(fast(&whole)) };
    let answer: HttpResponse = match compressed {
        Some(compressed) => {
            answer.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            answer.set_body(BoxBody::new(compressed))
        }
        None => answer.set_body(BoxBody::new(whole)),
    };
    ServiceResponse::new(request, answer)
}

fn fast(bytes: &[u8]) -> Vec<u8> {
    gzip(bytes, Compression::fast())
}

/// Compresses on a thread for blocking work; `None` when there is none any more.
async fn beside(bytes: Bytes) -> Option<Vec<u8>> {
    web::block(move || fast(&bytes)).await.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_with_secrets_are_never_compressed() {
        for (method, route, may) in [
            (Method::GET, "/api/v1/contacts", true),
            (Method::POST, "/api/v1/numbers/check", true),
            (Method::GET, "/openapi.json", true),
            (Method::GET, "/operator/v1/changes", true),
            (Method::HEAD, "/api/v1/contacts", false),
            (Method::POST, "/operator/v1/companies/{id}/keys", false),
            (Method::POST, "/operator/v1/invitations", false),
            (Method::GET, "/api/v1/web-chat/{id}/pairing", false),
            (Method::GET, "/api/v1/web-chat/{id}/pairing/passkey", false),
            (Method::GET, "/console/contacts", false),
            (Method::GET, "/metrics", false),
        ] {
            assert_eq!(may_compress(&method, route), may, "{method} {route}");
        }
    }
}
