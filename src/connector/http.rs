//! Making HTTP clients: every client of this program begins here.
//!
//! A client of the library takes a proxy from the environment by itself, and so a key or a token may reach whoever set
//! `HTTP_PROXY`. Ours take the proxy that `network.proxy` names, or none.

use reqwest::{Client, ClientBuilder, Proxy};

use super::Error;
use crate::config;

/// For a client that speaks to this machine or to an address that a person gave: no proxy.
pub fn direct() -> ClientBuilder {
    Client::builder().no_proxy()
}

/// For a client that speaks to a provider: the proxy of `network`, if there is one.
///
/// # Errors
///
/// When the proxy's address cannot be used.
pub fn outward(network: &config::Network) -> Result<ClientBuilder, Error> {
    let Some(proxy) = &network.proxy else { return Ok(direct()) };
    // The error would show the address, which may hold a password.
    let proxy = Proxy::all(proxy.expose())
        .map_err(|_| Error::NoAnswer("network.proxy is no address of a proxy".to_owned()))?;
    Ok(direct().proxy(proxy))
}
