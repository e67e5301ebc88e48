//! Shared by API and console: the listeners, registering paths from a table, reading bodies and forms, counting connections,
//! compressing answers, and finding the client of a request that comes through a proxy. Nothing here knows a route or a
//! page.

pub mod body;
pub mod client;
pub(crate) mod clients;
pub(crate) mod gzip;
mod listener;
pub(crate) mod multipart;
pub(crate) mod paths;

pub use self::client::{Client, Hidden, Proxies, is_private};
pub use self::listener::Listener;
