//! Says in the log when all visitors seem to have the address of a proxy: guesses at passwords are then counted for the
//! proxy, and a stranger who guesses makes all people on unknown devices wait.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use actix_web::http::header::HeaderMap;
use parking_lot::Mutex;

use crate::surface::{Hidden, Proxies};

/// How often it is said.
const EVERY: Duration = Duration::from_secs(3_600);

/// When it was said last.
#[derive(Debug, Default)]
pub(super) struct HiddenClients(Mutex<Option<Instant>>);

impl HiddenClients {
    /// Looks at a request to sign in over a connection from `peer`.
    pub(super) fn look(&self, proxies: &Proxies, peer: Option<IpAddr>, headers: &HeaderMap, has_proxy: bool) {
        let Some((peer, hidden)) = peer.zip(proxies.hides(peer, headers, has_proxy)) else { return };
        if !self.is_due(Instant::now()) {
            return;
        }
        match hidden {
            Hidden::Untrusted => tracing::warn!(
                %peer,
                "every visitor seems to have the address of a proxy: set server.trusted_proxies to the proxy's network, \
                 and let the proxy set X-Forwarded-For"
            ),
            Hidden::Unsaid => tracing::warn!(
                %peer,
                "every visitor seems to have the address of a proxy: let the proxy set X-Forwarded-For and remove \
                 Forwarded"
            ),
        }
    }

    fn is_due(&self, now: Instant) -> bool {
        let mut said = self.0.lock();
        let is_due = said.is_none_or(|said| now.saturating_duration_since(said) >= EVERY);
        if is_due {
            *said = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_once_an_hour() {
        let (clients, now) = (HiddenClients::default(), Instant::now());
        assert!(clients.is_due(now) && !clients.is_due(now + EVERY / 2) && clients.is_due(now + EVERY));
    }
}
