//! Probes and metrics, for operators.

use actix_web::http::header::RETRY_AFTER;
use actix_web::web::{Data, Json};
use actix_web::{HttpResponse, Responder};
use serde::Serialize;
use utoipa::ToSchema;

use super::State;
use super::error::{Error, ErrorBody, RETRY_SOON};
use super::options::Measures;
use super::rate_limit::whole_seconds;
use crate::engine::Readiness;
use crate::error::Code;

/// Whether the process is alive, or accepts requests.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Health {
    /// `ok` or `ready`.
    #[schema(example = "ready")]
    status: &'static str,
    /// What a person should look at although requests are accepted, each a sentence; absent when there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<String>,
}

/// Why requests should not be sent here now: the body of a refusal, with each obstacle separately.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct NotReady {
    /// One sentence for a person.
    #[schema(example = "not ready: the database does not answer")]
    error: String,
    /// `service_unavailable`.
    #[schema(example = "service_unavailable")]
    code: &'static str,
    /// `not_ready`.
    #[schema(example = "not_ready")]
    status: &'static str,
    /// The obstacles, each a sentence.
    obstacles: Vec<String>,
    /// What a person should look at beside them, each a sentence; absent when there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<String>,
}

/// Liveness
///
/// Answers as long as the process runs.
#[utoipa::path(
    get,
    path = "/healthz",
    operation_id = "liveness",
    responses((status = 200, description = "The process lives", body = Health)),
)]
pub(super) async fn live() -> impl Responder {
    Json(Health { status: "ok", details: Vec::new() })
}

/// Readiness
///
/// Whether requests should be sent here now.
#[utoipa::path(
    get,
    path = "/readyz",
    operation_id = "readiness",
    responses(
        (status = 200, description = "Ready", body = Health),
        (status = 503, description = "Not ready, and why; see `Retry-After`", body = NotReady),
    ),
)]
pub(super) async fn ready(state: Data<State>) -> HttpResponse {
    let Readiness { obstacles, details } = state.engine.ready();
    if obstacles.is_empty() {
        HttpResponse::Ok().json(Health { status: "ready", details })
    } else {
        not_ready(obstacles, details)
    }
}

fn not_ready(obstacles: Vec<String>, details: Vec<String>) -> HttpResponse {
    let code = Code::ServiceUnavailable.as_str();
    let error = format!("not ready: {}", obstacles.join("; "));
    HttpResponse::ServiceUnavailable()
        .insert_header((RETRY_AFTER, whole_seconds(RETRY_SOON)))
        .json(NotReady { error, code, status: "not_ready", obstacles, details })
}

/// Metrics
///
/// In Prometheus' text format.
#[utoipa::path(
    get,
    path = "/metrics",
    operation_id = "metrics",
    responses(
        (status = 200, description = "The present values", body = String, content_type = "text/plain"),
        (status = 404, description = "`not_found`: metrics are switched off", body = ErrorBody),
    ),
)]
pub(super) async fn metrics(state: Data<State>) -> Result<HttpResponse, Error> {
    let Measures { detail, render } = state.options.metrics.as_ref().ok_or_else(Error::no_such_path)?;
    // These metrics are read for each request, not at intervals.
    state.engine.channels().measure();
    metrics_process::Collector::default().collect();
    let text = render(state.engine.channels().samples(*detail));
    Ok(HttpResponse::Ok().content_type("text/plain; version=0.0.4; charset=utf-8").body(text))
}

#[cfg(test)]
mod tests {
    use actix_web::body::to_bytes;
    use serde_json::{Value, json};

    use super::*;

    #[actix_web::test]
    async fn not_ready_has_the_form_of_a_refusal_and_says_when_to_retry() {
        let answer = not_ready(vec!["the database does not answer".to_owned()], Vec::new());
        let wait = answer.headers().get(RETRY_AFTER).unwrap().to_str().unwrap();
        assert_eq!((answer.status().as_u16(), wait), (503, "1"));
        let body: Value = serde_json::from_slice(&to_bytes(answer.into_body()).await.unwrap()).unwrap();
        let expected = json!({
            "error": "not ready: the database does not answer",
            "code": "service_unavailable",
            "status": "not_ready",
            "obstacles": ["the database does not answer"],
        });
        assert_eq!(body, expected);
    }
}
