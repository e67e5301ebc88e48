//! Addresses of files that anybody who has them can read until they expire.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::Url;
use uuid::Uuid;

use super::Library;
use clock::Timestamp;
use config::Config;
use domain::address::is_here;

/// A day, in seconds.
const DAY: i64 = 86_400;
/// Whole days for which an address can be read, and the rest of the day on which it was signed: all addresses of a day are the
/// same, so that a provider that caches by address fetches a file once.
const DAYS: i64 = 7;

impl Library {
    /// The address at which a provider fetches a file; `None` when it cannot reach this service.
    pub(crate) fn address_of(&self, id: Uuid, now: Timestamp) -> Option<String> {
        let base = self.address.as_ref()?.as_str().trim_end_matches('/');
        Some(format!("{base}{}", self.path(id, now)))
    }

    /// The path and query of the address.
    pub(super) fn path(&self, id: Uuid, now: Timestamp) -> String {
        let until = (now.millis().div_euclid(1_000 * DAY) + 1 + DAYS) * DAY;
        let signature = hex::encode(self.vault.sign_link(&said(id, until)));
        format!("/media/{id}?until={until}&signature={signature}")
    }

    /// Whether an address with this end, in seconds since 1970, and this signature can be read now.
    pub(super) fn opens(&self, id: Uuid, until: i64, signature: &[u8], now: Timestamp) -> bool {
        now.millis().div_euclid(1_000) < until && self.vault.is_link_signed(&said(id, until), signature)
    }
}

/// What is signed.
fn said(id: Uuid, until: i64) -> String {
    format!("{id} {until}")
}

/// Where the provider reaches this service. One on this machine does so without a public address.
pub(super) fn address(config: &Config) -> Option<Url> {
    let is_provider_here = Url::parse(&config.cloud_api.base_url).is_ok_and(|provider| is_here(&provider));
    match &config.server.public_url {
        Some(public) => Some(public.clone()).filter(|public| is_provider_here || !is_here(public)),
        None if is_provider_here => {
            let mut bound = config.server.bind;
            match bound.ip() {
                IpAddr::V4(ip) if ip.is_unspecified() => bound.set_ip(Ipv4Addr::LOCALHOST.into()),
                IpAddr::V6(ip) if ip.is_unspecified() => bound.set_ip(Ipv6Addr::LOCALHOST.into()),
                _ => {}
            }
            Url::parse(&format!("http://{bound}")).ok()
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_elsewhere_needs_a_public_address_and_one_on_this_machine_none() {
        let at = |provider: &str, public: Option<&str>, bind: &str| {
            let mut config = Config::default();
            config.cloud_api.base_url = provider.to_owned();
            config.server.public_url = public.map(|public| public.parse().unwrap());
            config.server.bind = bind.parse().unwrap();
            address(&config).map(String::from)
        };
        let (meta, simulator) = ("https://graph.facebook.com", "http://localhost:9000");
        for (provider, public, bind, found) in [
            (meta, Some("https://pombo.example"), "0.0.0.0:8080", Some("https://pombo.example/")),
            (meta, None, "0.0.0.0:8080", None),
            (meta, Some("http://127.0.0.1:8080"), "127.0.0.1:8080", None),
            (simulator, None, "0.0.0.0:8080", Some("http://127.0.0.1:8080/")),
            (simulator, None, "[::]:8080", Some("http://[::1]:8080/")),
            (simulator, Some("http://localhost:80"), "127.0.0.1:80", Some("http://localhost/")),
        ] {
            assert_eq!(at(provider, public, bind).as_deref(), found, "{provider} {public:?} {bind}");
        }
    }
}
