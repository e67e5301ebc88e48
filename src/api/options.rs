//! Bounds and switches of the HTTP surface.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::domain::request::Limits;
use crate::engine::Sample;
use crate::surface::Proxies;
use crate::surface::body::Budget;

/// The largest file of a send's recipients, in bytes.
pub const UPLOAD_BYTES: usize = 64 * 1024 * 1024;
/// The largest body of a send with `recipients`, in bytes, where the memory for bodies is large enough.
pub const VALUES_BODY_BYTES: usize = 32 * 1024 * 1024;

/// Bounds and switches of the HTTP surface.
#[derive(Clone)]
pub struct Options {
    /// The largest request body, in bytes.
    pub body_bytes: usize,
    /// The largest body of a send with `recipients`, in bytes.
    pub values_body_bytes: usize,
    /// The largest file of a send's recipients, in bytes.
    pub upload_bytes: usize,
    /// The directory of temporary files.
    pub directory: PathBuf,
    /// The largest webhook, in bytes.
    pub hook_body_bytes: usize,
    /// How long a whole body may take to arrive.
    pub body_timeout: Duration,
    /// The lowest rate at which a client has to send a body, in bytes per second, after its first moments.
    pub client_rate: usize,
    /// The memory for all bodies that are being read or processed, also those of the console.
    pub bodies: Budget,
    /// The limits of one send.
    pub send: Limits,
    /// The largest `limit`.
    pub page_size: u64,
    /// The most characters of `search`.
    pub search_chars: usize,
    /// Whether `/openapi.json` and `/docs` are served.
    pub docs: bool,
    /// Proxies whose headers about the client's address are trusted.
    pub proxies: Proxies,
    /// The source of `/metrics`; the path does not exist when `None`.
    pub metrics: Option<Measures>,
}

/// The source of `/metrics`.
#[derive(Clone)]
pub struct Measures {
    /// The most channels, and the most tiers, with series of their own.
    pub detail: usize,
    /// Writes all metrics, with these samples among them.
    pub render: Arc<dyn Fn(Vec<Sample>) -> String + Send + Sync>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            body_bytes: 8 * 1024 * 1024,
            values_body_bytes: VALUES_BODY_BYTES,
            upload_bytes: UPLOAD_BYTES,
            directory: std::env::temp_dir(),
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
