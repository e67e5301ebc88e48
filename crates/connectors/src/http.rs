//! Builds HTTP clients: those of connectors and of commands. Web sessions, the load test and the simulator build their
//! own, without a proxy.
//!
//! The library's clients use a proxy from the environment, so that a key or a token would reach the owner of
//! the proxy in `HTTP_PROXY`. Our clients use only the proxy in `network.proxy`, or none.

use std::error::Error as StdError;
use std::fs::File;
use std::io;
use std::iter;

use reqwest::{Client, ClientBuilder, Proxy};

use super::Error;

/// The system's errors when the process or the machine has no file, port or memory left for a connection.
const USED_UP: [i32; 5] = [libc::EMFILE, libc::ENFILE, libc::EADDRNOTAVAIL, libc::ENOBUFS, libc::ENOMEM];

/// An error and its causes, from the outside to the inside.
pub(super) fn causes<'e>(
    error: &'e (dyn StdError + 'static),
) -> impl Iterator<Item = &'e (dyn StdError + 'static)> {
    iter::successors(Some(error), |&cause| inside(cause))
}

/// The next cause. For an error inside of an [`io::Error`], `source` would skip it.
fn inside<'e>(cause: &'e (dyn StdError + 'static)) -> Option<&'e (dyn StdError + 'static)> {
    if let Some(inner) = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        return Some(inner);
    }
    cause.source()
}

/// Whether a connection failed because this machine has no file, port or memory left for it.
pub(super) fn lacks_socket(error: &reqwest::Error) -> bool {
    if causes(error).any(|cause| cause.downcast_ref::<io::Error>().is_some_and(is_used_up)) {
        return true;
    }
    // For a look-up of a name, the system reports only that it failed.
    File::open("/dev/null").as_ref().is_err_and(is_used_up)
}

fn is_used_up(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|code| USED_UP.contains(&code))
}

/// A client without a proxy, for this machine or an address that a person gave.
pub fn direct() -> ClientBuilder {
    Client::builder().no_proxy()
}

/// A client for a provider, with the proxy of `network`, if there is one.
///
/// # Errors
///
/// When the proxy's address cannot be used.
pub fn outward(network: &config::Network) -> Result<ClientBuilder, Error> {
    let Some(proxy) = &network.proxy else { return Ok(direct()) };
    // The error would show the address, which may contain a password.
    let proxy = Proxy::all(proxy.expose())
        .map_err(|_| Error::NoAnswer("network.proxy is not the address of a proxy".to_owned()))?;
    Ok(direct().proxy(proxy))
}
