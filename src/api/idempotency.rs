//! The `Idempotency-Key` of a request, and replaying an earlier answer.

use actix_web::http::header::{ContentType, LOCATION};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use utoipa::IntoParams;

use super::State;
use super::auth::Company;
use super::error::Error;
use crate::engine::{self, Accepted, KeyGuard};
use crate::surface::idempotency::claim;

const REPLAYED: &str = "Idempotency-Replayed";

/// The key of a request.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "read by the OpenAPI document only")]
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
    let Some(claim) = claim(request, body).await? else { return Ok(Turn::First(None)) };
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
