//! Bounds and switches of the HTTP surface.

use std::time::Duration;

use metrics_exporter_prometheus::PrometheusHandle;

use super::body::Budget;
use crate::domain::request::Limits;
use crate::surface::Proxies;

/// Bounds and switches of the HTTP surface.
#[derive(Clone)]
pub struct Options {
    /// The largest request body, in bytes.
    pub body_bytes: usize,
    /// The largest webhook, in bytes.
    pub hook_body_bytes: usize,
    /// How long a whole body may take to arrive.
    pub body_timeout: Duration,
    /// Bytes of a body in a second that a client has to send, after its first moments.
    pub client_rate: usize,
    /// The memory of all bodies that are being read or worked on.
    pub bodies: Budget,
    /// What one send may contain.
    pub send: Limits,
    /// The largest `limit`.
    pub page_size: u64,
    /// The most characters of `search`.
    pub search_chars: usize,
    /// Whether `/openapi.json` and `/docs` are served.
    pub docs: bool,
    /// Proxies whose word on the client's address is believed.
    pub proxies: Proxies,
    /// What `/metrics` shows; the path does not exist when `None`.
    pub metrics: Option<PrometheusHandle>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            body_bytes: 8 * 1024 * 1024,
            hook_body_bytes: 3 * 1024 * 1024,
            client_rate: 8 * 1024,
            bodies: Budget::new(64 * 1024 * 1024),
            body_timeout: Duration::from_secs(60),
            send: Limits::default(),
            page_size: 1000,
            search_chars: 200,
            docs: true,
            proxies: Proxies::default(),
            metrics: None,
        }
    }
}
