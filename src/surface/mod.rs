//! What both HTTP surfaces share: how paths are registered from a table, and who is behind a request that comes through a
//! proxy. Nothing here knows a route or a page.

pub mod client;
pub(crate) mod paths;

pub use self::client::{Client, Proxies};
