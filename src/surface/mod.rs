//! Shared by API and console: the listeners, registering paths from a table, reading bodies and forms, counting connections,
//! compressing answers, idempotency keys, and finding the client of a request that comes through a proxy. Nothing here knows a route or a
//! page.

pub mod body;
pub mod client;
pub(crate) mod clients;
pub(crate) mod gzip;
pub(crate) mod idempotency;
mod listener;
pub(crate) mod multipart;
pub(crate) mod paths;

pub use self::client::{Client, Hidden, Proxies, is_private};
pub use self::listener::Listener;

/// Says that an answer about an internal failure has its body. It is in the answer's extensions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WholeAnswer;

/// The id of a request, which logs and the answer have. It is in the request's extensions.
#[derive(Debug, Clone)]
pub(crate) struct RequestId(pub(crate) String);
