//! Resolves host names, and connects only to the addresses that were checked.
//!
//! Each connection has one resolution, which is made and checked in one step inside the client. So no other
//! answer can come between the check and the connection.
//!
//! A lookup cannot be canceled: the system may continue for half a minute after its caller gave up. So each
//! lookup keeps the permit of its link until it has ended, and no company has more lookups in progress than
//! permits.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;
use std::thread;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::sync::oneshot;

use super::network::Networks;
use crate::fair_semaphore::Permit;

tokio::task_local! {
    /// The permit of the link that a task follows.
    static PLACE: Arc<Permit>;
}

/// Runs a download with its permit, which is returned once the download and all its lookups have ended.
pub(super) async fn in_place<D: Future>(place: Permit, download: D) -> D::Output {
    PLACE.scope(Arc::new(place), download).await
}

/// Finds the addresses of a name and of this machine. It is a trait, so that tests can simulate deceptive
/// names and machines with public addresses.
#[async_trait]
pub trait Lookup: Send + Sync {
    /// Every address of `host`.
    ///
    /// # Errors
    ///
    /// When the name is unknown, or no resolver answers.
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>>;

    /// Every address of this machine's network interfaces, as they are now.
    ///
    /// # Errors
    ///
    /// When the system does not provide them.
    fn own_addresses(&self) -> io::Result<Vec<IpAddr>> {
        Ok(if_addrs::get_if_addrs()?.iter().map(if_addrs::Interface::ip).collect())
    }
}

/// The system's own resolver.
pub(super) struct System;

#[async_trait]
impl Lookup for System {
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let (host, (tell, told)) = (host.to_owned(), oneshot::channel());
        // A thread of its own, because names that do not resolve would otherwise occupy the threads that
        // parse bodies.
        thread::Builder::new().name("pombo-lookup".to_owned()).spawn(move || {
            let found = (host.as_str(), 0).to_socket_addrs();
            // The caller may be gone.
            let _ = tell.send(found.map(|found| found.map(|address| address.ip()).collect()));
        })?;
        told.await.map_err(io::Error::other)?
    }
}

/// A name has an address that links may not lead to.
#[derive(Debug, thiserror::Error)]
#[error("the name leads to an address that is not public")]
pub(super) struct NotPublic;

/// Gives the client only addresses that links may lead to.
pub(super) struct Guard {
    lookup: Arc<dyn Lookup>,
    networks: Arc<Networks>,
}

impl Guard {
    pub(super) fn new(lookup: Arc<dyn Lookup>, networks: Arc<Networks>) -> Self {
        Self { lookup, networks }
    }
}

impl Resolve for Guard {
    /// A name with even one address that is not public is refused: usual names have none, and using only the
    /// others would make a link work or fail by chance.
    fn resolve(&self, name: Name) -> Resolving {
        let (lookup, networks) = (Arc::clone(&self.lookup), Arc::clone(&self.networks));
        let place = PLACE.try_with(Arc::clone).ok();
        Box::pin(async move {
            // A task of its own ends with the lookup, and not when the link is given up.
            let looking_up = tokio::spawn(async move {
                let _place = place;
                lookup.addresses(name.as_str()).await
            });
            let addresses = looking_up.await??;
            if addresses.is_empty() {
                return Err(io::Error::from(io::ErrorKind::NotFound).into());
            }
            if !addresses.iter().all(|address| networks.admit(*address)) {
                return Err(NotPublic.into());
            }
            // Port 0 means the port in the link.
            let addresses: Addrs = Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

/// Whether a request failed because of [`NotPublic`].
pub(super) fn was_refused(error: &reqwest::Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        if inner.is::<NotPublic>() {
            return true;
        }
        cause = inner.source();
    }
    false
}
