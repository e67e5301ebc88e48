//! Resolves host names, and connects only to the addresses that were checked.
//!
//! Each connection has one resolution, which is made and checked in one step inside the client. So no other
//! answer can come between the check and the connection.
//!
//! A lookup cannot be canceled: the system may continue for half a minute after its caller gave up. So each
//! lookup keeps a permit until it has ended, and no company has more lookups in progress than permits. The
//! permit is that of the link ([`in_place`]), or one for the lookup alone ([`with_lookups`]).

use std::error::Error as StdError;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;
use std::thread;

use async_trait::async_trait;
use ipnet::IpNet;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::network::Networks;
use crate::fair_semaphore::{FairSemaphore, Permit};
use crate::http;

/// The reason of a failed lookup.
type BoxError = Box<dyn StdError + Send + Sync>;

tokio::task_local! {
    /// The permits for the lookups of a task.
    static PLACE: LookupPlace;
}

/// Where the permit of a lookup comes from.
#[derive(Clone)]
enum LookupPlace {
    /// The permit of the link that the task follows.
    Held(Arc<Permit>),
    /// The permits for lookups, and the company that takes one of them for each.
    Shared(Arc<FairSemaphore>, Uuid),
}

impl LookupPlace {
    async fn permit(self) -> Arc<Permit> {
        match self {
            Self::Held(permit) => permit,
            Self::Shared(lookups, company) => Arc::new(lookups.acquire(company, 1).await),
        }
    }
}

/// Runs a download with its permit, which is returned once the download and all its lookups have ended.
pub(crate) async fn in_place<D: Future>(place: Permit, download: D) -> D::Output {
    PLACE.scope(LookupPlace::Held(Arc::new(place)), download).await
}

/// Runs a request for a company. Each of its lookups waits for a permit of `lookups`.
pub(crate) async fn with_lookups<R: Future>(
    lookups: Arc<FairSemaphore>,
    company: Uuid,
    request: R,
) -> R::Output {
    PLACE.scope(LookupPlace::Shared(lookups, company), request).await
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
pub(crate) struct System;

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
struct NotPublic;

/// Gives the client only addresses that links may lead to.
#[derive(Clone)]
pub(crate) struct Guard {
    lookup: Arc<dyn Lookup>,
    networks: Arc<Networks>,
}

impl Guard {
    /// A guard that asks `lookup`. `allowed` and `refused` are the operator's changes to the rule that links lead to
    /// the open Internet and not to this machine.
    pub(crate) fn new(lookup: Arc<dyn Lookup>, allowed: &[IpNet], refused: &[IpNet]) -> Self {
        let machine = Arc::clone(&lookup);
        let networks = Networks::new(allowed.to_vec(), refused.to_vec(), move || machine.own_addresses());
        Self { lookup, networks: Arc::new(networks) }
    }

    /// The networks that links may lead to.
    pub(crate) fn networks(&self) -> Arc<Networks> {
        Arc::clone(&self.networks)
    }

    /// Every address of a name. A name with even one address that is not public is refused ([`was_refused`]): usual
    /// names have none, and using only the others would make a link work or fail by chance.
    pub(crate) async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, BoxError> {
        let permit = match PLACE.try_with(LookupPlace::clone) {
            Ok(place) => Some(place.permit().await),
            Err(_) => None,
        };
        let (lookup, name) = (Arc::clone(&self.lookup), name.to_owned());
        // A task of its own ends with the lookup, and not when the link is given up.
        let looking_up = tokio::spawn(async move {
            let _permit = permit;
            lookup.addresses(&name).await
        });
        let addresses = looking_up.await??;
        if addresses.is_empty() {
            return Err(io::Error::from(io::ErrorKind::NotFound).into());
        }
        if !addresses.iter().all(|address| self.networks.admit(*address)) {
            return Err(NotPublic.into());
        }
        Ok(addresses)
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        let place = PLACE.try_with(LookupPlace::clone).ok();
        Box::pin(async move {
            let resolving = guard.addresses(name.as_str());
            // The client may go on with a connection in a task of its own.
            let addresses = match place {
                Some(place) => PLACE.scope(place, resolving).await?,
                None => resolving.await?,
            };
            // Port 0 means the port in the link.
            let addresses: Addrs = Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

/// Whether a request or a lookup failed because a name has an address that links may not lead to.
pub(crate) fn was_refused(error: &(dyn StdError + 'static)) -> bool {
    http::causes(error).any(|cause| cause.is::<NotPublic>())
}
