//! Shared by API and console: registering paths from a table, reading bodies, counting connections, compressing
//! answers, and finding the client of a request that comes through a proxy. Nothing here knows a route or a page.

pub mod body;
pub mod client;
pub(crate) mod clients;
pub(crate) mod gzip;
pub(crate) mod paths;

pub use self::client::{Client, Proxies};
