//! Bounds and switches of the HTTP surface.

use std::time::Duration;

use metrics_exporter_prometheus::PrometheusHandle;

use crate::domain::request::Limits;

/// Bounds and switches of the HTTP surface.
#[derive(Clone)]
pub struct Options {
    /// The largest request body, in bytes.
    pub body_bytes: usize,
    /// How long a whole body may take to arrive.
    pub body_timeout: Duration,
    /// What one send may contain.
    pub send: Limits,
    /// The largest `limit`.
    pub page_size: u64,
    /// The most characters of `search`.
    pub search_chars: usize,
    /// Whether `/openapi.json` and `/docs` are served.
    pub docs: bool,
    /// What `/metrics` shows; the path does not exist when `None`.
    pub metrics: Option<PrometheusHandle>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            body_bytes: 8 * 1024 * 1024,
            body_timeout: Duration::from_secs(60),
            send: Limits::default(),
            page_size: 1000,
            search_chars: 200,
            docs: true,
            metrics: None,
        }
    }
}
