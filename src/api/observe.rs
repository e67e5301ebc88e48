//! The middleware of every request: its id, its span, its metrics, the headers with the rest of a company's
//! allowance, the apology after an internal failure, and compression.
//!
//! It runs for each request and must stay cheap: it formats and looks up names only for the first request of a
//! kind and for failures.

use std::cell::RefCell;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{Service, ServiceRequest, ServiceResponse};
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::web::Bytes;
use actix_web::{HttpMessage as _, HttpResponse, ResponseError};
use futures_util::FutureExt as _;
use metrics::{Counter, Histogram};
use tracing::Instrument as _;

use super::error::{Apology, Error, MessageBody as OlderBody};
use super::{compress, rate_limit, request_id};
use crate::engine::{Allowance, panic_message};
use crate::surface::clients::{Client, Working};
use crate::surface::{RequestId, WholeAnswer};
use crate::telemetry::Origin;

/// Counter of answered requests, by `route`, `method` and `status`.
pub const REQUESTS_TOTAL: &str = "http_requests_total";
/// Histogram of the seconds from a request's head to its answer's head, by the same labels.
pub const DURATION_SECONDS: &str = "http_request_duration_seconds";

/// The beginning of the names of the paths that speak Graph.
const GRAPH: &str = "/{version}/";

/// An answer that took longer than this is logged.
const SLOW: Duration = Duration::from_secs(1);
/// The route whose answers are slow on purpose: a message waits for its turn, at the pace of a person.
const WAITS: &str = "/api/v1/web-chat/{id}/messages";

/// The header in which a caller names its own trace (W3C Trace Context).
const TRACEPARENT: &str = "traceparent";

/// Wraps the whole surface.
pub(super) fn observe<S, B>(
    request: ServiceRequest,
    service: &S,
) -> impl Future<Output = Result<ServiceResponse, actix_web::Error>> + use<S, B>
where
    S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = actix_web::Error>,
    S::Future: 'static,
    B: MessageBody + 'static,
{
    let started = Instant::now();
    let id = request_id::choose(request.headers());
    let method = method_label(request.method());
    let is_older = has_older_bodies(request.method(), request.path());
    let verb = request.method().clone();
    let working = request.conn_data::<Arc<Client>>().map(Client::work);
    let span = tracing::info_span!("request", request.id = id.to_str().unwrap_or_default());
    request.extensions_mut().insert(RequestId(id.to_str().unwrap_or_default().to_owned()));
    let traceparent = || request.headers().get(TRACEPARENT).and_then(|value| value.to_str().ok());
    let origin = Origin::new(id.to_str().unwrap_or_default(), traceparent);
    let answer = AssertUnwindSafe(origin.carry(service.call(request))).catch_unwind();
    async move {
        let mut response = match answer.await {
            Ok(answered) => answered?.map_into_boxed_body(),
            Err(panic) => {
                tracing::error!(panic = panic_message(&*panic), "a handler panicked");
                return Err(Panicked { apology: apology(&id, is_older), id }.into());
            }
        };
        let refused = response.response().error().and_then(actix_web::Error::as_error::<Error>);
        let refusal = refused.and_then(|refused| refused.body(id.to_str().unwrap_or_default()));
        if let Some(body) = refusal {
            response = response.map_body(|_, _| BoxBody::new(body));
        } else if response.status() == StatusCode::INTERNAL_SERVER_ERROR
            // Pages of the console have their own error page, and answers in Graph's form their own body.
            && !is_of_kind(&response, "text/html")
            && response.response().extensions().get::<WholeAnswer>().is_none()
        {
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            response = response.map_body(|_, _| BoxBody::new(apology(&id, is_older)));
        }
        response.headers_mut().insert(request_id::NAME, id);
        let allowance = response.request().extensions().get::<Allowance>().copied();
        if let Some(allowance) = allowance {
            rate_limit::show(&allowance, response.headers_mut());
        }
        let observed = response.request().app_data::<Observed>();
        let (is_private, may_compress) = observed.map_or((false, false), |observed| {
            observed.record(method, response.status(), started.elapsed());
            (observed.is_private, compress::may_compress(&verb, observed.route))
        });
        if is_private {
            response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        }
        if is_of_kind(&response, "text/event-stream") {
            response = response.map_body(|_, body| BoxBody::new(AtWork { body, _working: working }));
        }
        Ok(if may_compress { compress::compress(response).await } else { response })
    }
    .instrument(span)
}

fn is_of_kind(response: &ServiceResponse, kind: &str) -> bool {
    let declared = response.headers().get(CONTENT_TYPE).and_then(|declared| declared.to_str().ok());
    declared.is_some_and(|declared| declared.starts_with(kind))
}

/// A streamed answer. Its connection is not idle while it lasts.
struct AtWork {
    body: BoxBody,
    _working: Option<Working>,
}

impl MessageBody for AtWork {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Pin::new(&mut self.body).poll_next(cx)
    }
}

/// Whether failures have the older form: those of web sessions.
fn has_older_bodies(method: &Method, path: &str) -> bool {
    method == Method::POST && path.starts_with("/api/v1/web-chat/")
}

/// The body for a client after an internal failure.
fn apology(id: &HeaderValue, is_older: bool) -> String {
    let written = if is_older {
        serde_json::to_string(&OlderBody::APOLOGY)
    } else {
        serde_json::to_string(&Apology::new(id.to_str().unwrap_or_default()))
    };
    // Texts always become JSON.
    written.unwrap_or_default()
}

/// A method as a label. Unknown methods share one label, so that a client cannot create metrics.
fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "OTHER",
    }
}

/// The class of a status as a label.
fn class(status: StatusCode) -> &'static str {
    match status.as_u16() / 100 {
        1 => "1xx",
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        _ => "5xx",
    }
}

/// The answer after a panic, which leaves no request to build an answer from.
#[derive(Debug, thiserror::Error)]
#[error("a handler panicked")]
struct Panicked {
    id: HeaderValue,
    apology: String,
}

impl ResponseError for Panicked {
    fn error_response(&self) -> HttpResponse {
        HttpResponse::InternalServerError()
            .insert_header((request_id::NAME, self.id.clone()))
            .insert_header((CONTENT_TYPE, "application/json"))
            .body(self.apology.clone())
    }
}

/// A route's metrics. Each worker has its own handles, and asks the registry once for each method and status.
pub(super) struct Observed {
    route: &'static str,
    /// The part of the service that answers.
    surface: &'static str,
    /// Whether answers contain data of a company, so that no cache may keep them.
    is_private: bool,
    series: RefCell<Vec<Series>>,
}

struct Series {
    method: &'static str,
    status: StatusCode,
    requests: Counter,
    /// The same for all routes and methods, by the class of the status.
    responses: Counter,
    /// The same for all routes of a surface.
    surface: Counter,
    seconds: Histogram,
}

impl Observed {
    pub(super) fn new(route: &'static str) -> Self {
        let surface = Self::surface(route);
        let is_private = route.starts_with("/api/") || route.starts_with("/operator/") || surface == "graph";
        Self { route, surface, is_private, series: RefCell::new(Vec::new()) }
    }

    /// The part of the service with this route, as a label.
    fn surface(route: &str) -> &'static str {
        if route.starts_with("/console") {
            "console"
        } else if route.starts_with(GRAPH) {
            "graph"
        } else {
            "api"
        }
    }

    /// For requests that match no route.
    pub(super) fn unmatched() -> Self {
        Self::new("unmatched")
    }

    /// The path in the table of routes.
    pub(super) const fn route(&self) -> &'static str {
        self.route
    }

    fn record(&self, method: &'static str, status: StatusCode, latency: Duration) {
        let millis = latency.as_secs_f64() * 1000.0;
        let (route, code) = (self.route, status.as_u16());
        let is_slow = latency > SLOW && route != WAITS && self.surface != "graph";
        if status == StatusCode::INTERNAL_SERVER_ERROR || is_slow {
            let is_failed = status == StatusCode::INTERNAL_SERVER_ERROR;
            let what = if is_failed { "failed response" } else { "slow response" };
            tracing::warn!(method, route, status = code, latency_ms = millis, "{what}");
        } else {
            tracing::debug!(method, route, status = code, latency_ms = millis, "answered");
        }
        let mut series = self.series.borrow_mut();
        let known = series.iter().position(|known| known.status == status && known.method == method);
        let index = known.unwrap_or_else(|| {
            series.push(Series::new(self, method, status));
            series.len() - 1
        });
        if let Some(series) = series.get(index) {
            series.requests.increment(1);
            series.responses.increment(1);
            series.surface.increment(1);
            series.seconds.record(latency.as_secs_f64());
        }
    }
}

impl Series {
    fn new(of: &Observed, method: &'static str, status: StatusCode) -> Self {
        let Observed { route, surface, .. } = *of;
        let code = status.as_u16().to_string();
        let labels = [("route", route.to_owned()), ("method", method.to_owned()), ("status", code)];
        Self {
            method,
            status,
            requests: metrics::counter!(REQUESTS_TOTAL, &labels),
            responses: metrics::counter!("http_responses_total", "class" => class(status)),
            surface: metrics::counter!("http_surface_requests_total", "surface" => surface),
            seconds: metrics::histogram!(DURATION_SECONDS, &labels),
        }
    }
}

#[cfg(test)]
mod tests;
