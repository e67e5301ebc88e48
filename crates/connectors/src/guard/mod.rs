//! Guards the requests to addresses that clients give: links to files, and the receivers of webhooks.
//!
//! Such an address is not trusted, and requests to it are made from inside the operator's network. So it may lead only
//! to the open Internet and to networks that the operator allows ([`network`]). A name is checked by the addresses that
//! are connected to ([`resolver`]). The clients that are made here never use a proxy from the environment, cookies or
//! compression, and follow no redirects.

mod network;
mod resolver;

use reqwest::ClientBuilder;
use reqwest::redirect::Policy;

pub(crate) use self::network::Networks;
pub use self::resolver::Lookup;
pub(crate) use self::resolver::{Guard, System, in_place, was_refused, with_lookups};
use crate::http;

/// A client that connects only to addresses that `guard` admits. A host that is an IP address is not resolved, so the
/// caller checks it before each request ([`Networks::admit_host`]).
pub(crate) fn client(guard: Guard) -> ClientBuilder {
    http::direct()
        .user_agent(concat!("pombo/", env!("CARGO_PKG_VERSION")))
        .dns_resolver(guard)
        .redirect(Policy::none())
        .referer(false)
        // No answer is decompressed here, even if another dependency enables that in the client.
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
}
