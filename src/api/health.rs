//! Probes and metrics, for those who run the service.

use actix_web::web::{Data, Json};
use actix_web::{HttpResponse, Responder};
use serde::Serialize;
use utoipa::ToSchema;

use super::State;
use super::error::Error;

/// Whether the process lives, or takes requests.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Health {
    /// `ok`, `ready` or `not_ready`.
    #[schema(example = "ready")]
    status: &'static str,
    /// What stands in the way of being ready, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    obstacles: Vec<String>,
}

/// Liveness
///
/// Answers as long as the process does.
#[utoipa::path(
    get,
    path = "/healthz",
    operation_id = "liveness",
    tag = "operation",
    security(()),
    responses((status = 200, description = "The process lives", body = Health)),
)]
pub(super) async fn live() -> impl Responder {
    Json(Health { status: "ok", obstacles: Vec::new() })
}

/// Readiness
///
/// Whether requests should be sent here now.
#[utoipa::path(
    get,
    path = "/readyz",
    operation_id = "readiness",
    tag = "operation",
    security(()),
    responses(
        (status = 200, description = "Ready", body = Health),
        (status = 503, description = "Not ready, and why", body = Health),
    ),
)]
pub(super) async fn ready(state: Data<State>) -> HttpResponse {
    let obstacles = state.engine.ready().obstacles;
    if obstacles.is_empty() {
        HttpResponse::Ok().json(Health { status: "ready", obstacles })
    } else {
        HttpResponse::ServiceUnavailable().json(Health { status: "not_ready", obstacles })
    }
}

/// Metrics
///
/// In Prometheus' text format.
#[utoipa::path(
    get,
    path = "/metrics",
    operation_id = "metrics",
    tag = "operation",
    security(()),
    responses((status = 200, description = "The present values", body = String, content_type = "text/plain")),
)]
pub(super) async fn metrics(state: Data<State>) -> Result<HttpResponse, Error> {
    let metrics = state.options.metrics.as_ref().ok_or_else(Error::no_such_path)?;
    Ok(HttpResponse::Ok().content_type("text/plain; version=0.0.4; charset=utf-8").body(metrics.render()))
}
