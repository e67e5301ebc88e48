//! Making HTTP clients: every client of this program begins here.
//!
//! A client of the library takes a proxy from the environment by itself, so that a key or a token reaches the one who set
//! `HTTP_PROXY`. Ours take the proxy that `network.proxy` names, or none.

use std::error::Error as StdError;
use std::fs::File;
use std::io;

use reqwest::{Client, ClientBuilder, Proxy};

use super::Error;
use crate::config;

/// What the system says when the process or the machine has no file, port or memory left for one more connection.
const USED_UP: [i32; 5] = [libc::EMFILE, libc::ENFILE, libc::EADDRNOTAVAIL, libc::ENOBUFS, libc::ENOMEM];

/// Whether a connection was not made because there is nothing left here to make it with.
pub(super) fn lacks_socket(error: &reqwest::Error) -> bool {
    let mut cause: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(inner) = cause {
        if inner.downcast_ref::<io::Error>().is_some_and(is_used_up) {
            return true;
        }
        cause = inner.source();
    }
    // Where a name is looked up, the system says only that it failed.
    File::open("/dev/null").as_ref().is_err_and(is_used_up)
}

fn is_used_up(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|code| USED_UP.contains(&code))
}

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
