//! The client behind a request: its address, and whether it came over https.
//!
//! A proxy reports both in `X-Forwarded-For` and `X-Forwarded-Proto`, or in `Forwarded` (RFC 7239). Any
//! client can send these headers, so they are trusted only on connections from configured proxies, and only
//! the part that such proxies wrote: from the right, up to the first address that belongs to none of them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use actix_web::http::header::{FORWARDED, HeaderMap, HeaderName, X_FORWARDED_FOR, X_FORWARDED_PROTO};
use ipnet::IpNet;

/// The longest chain of proxies. Entries before it are ignored.
const MOST_HOPS: usize = 16;
/// The longest address with a port.
const ADDRESS_BYTES: usize = 64;

/// The sender of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client {
    /// The client's address. An IPv4 address is never represented as an IPv6 one.
    pub address: IpAddr,
    /// Whether a trusted proxy says that the client used https.
    pub is_https: bool,
}

/// Why all clients seem to have the address of a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hidden {
    /// The proxy is not one of the trusted ones.
    Untrusted,
    /// The trusted proxy does not say who its client is.
    Unsaid,
}

/// Whether an address is a machine's own, or one of a network without addresses of the internet.
pub fn is_private(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => address.is_loopback() || address.is_private() || address.is_link_local(),
        IpAddr::V6(address) => {
            address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
        }
    }
}

/// The trusted proxies; none by default. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Proxies(Arc<[IpNet]>);

/// One hop of a request, as the proxy after it reports it.
#[derive(Default)]
struct Hop {
    address: Option<IpAddr>,
    is_https: Option<bool>,
}

impl Proxies {
    /// The proxies in these networks.
    pub fn new(networks: &[IpNet]) -> Self {
        Self(networks.into())
    }

    /// The client of a request that came over a connection from `peer`.
    pub fn client(&self, peer: Option<IpAddr>, headers: &HeaderMap) -> Client {
        let peer = peer.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)).to_canonical();
        if !self.trust(peer) {
            return Client { address: peer, is_https: false };
        }
        let usual =
            elements(headers, X_FORWARDED_FOR).map(|text| Hop { address: address(text), is_https: None });
        let usual = self.follow(peer, usual);
        let standard = self.follow(peer, elements(headers, FORWARDED).map(hop));
        let scheme = elements(headers, X_FORWARDED_PROTO).next().and_then(is_https);
        let is_https = scheme == Some(true) || standard.is_some_and(|client| client.is_https);
        let address = match (usual, standard) {
            // The proxy writes one of the two headers and passes the other one on as its client sent it. It
            // is unknown which one it wrote.
            (Some(usual), Some(standard)) if usual.address != standard.address => peer,
            (Some(told), _) | (None, Some(told)) => told.address,
            (None, None) => peer,
        };
        Client { address, is_https }
    }

    /// Why the client of a request seems to be a proxy that has many clients, if it does; `has_proxy` when the service is
    /// reached over https, which it does not speak itself.
    pub fn hides(&self, peer: Option<IpAddr>, headers: &HeaderMap, has_proxy: bool) -> Option<Hidden> {
        let peer = peer?.to_canonical();
        if self.trust(peer) {
            return (self.client(Some(peer), headers).address == peer).then_some(Hidden::Unsaid);
        }
        let names = [X_FORWARDED_FOR, X_FORWARDED_PROTO, FORWARDED];
        let says_so = || names.iter().any(|name| headers.contains_key(name));
        // Anybody can send these headers from the internet.
        (is_private(peer) && (has_proxy || says_so())).then_some(Hidden::Untrusted)
    }

    /// Follows the hops back from the connected proxy while the proxies are trusted; `None` without any report.
    fn follow(&self, peer: IpAddr, hops: impl Iterator<Item = Hop>) -> Option<Client> {
        let mut client = None;
        for hop in hops.take(MOST_HOPS) {
            let is_https = hop.is_https.unwrap_or(false);
            // If a proxy hides the origin of a request, or writes an invalid one, that proxy is the last
            // known hop.
            let Some(address) = hop.address else {
                return Some(client.unwrap_or(Client { address: peer, is_https }));
            };
            client = Some(Client { address, is_https });
            if !self.trust(address) {
                break;
            }
        }
        client
    }

    fn trust(&self, address: IpAddr) -> bool {
        let mapped = match address {
            IpAddr::V4(address) => IpAddr::V6(address.to_ipv6_mapped()),
            IpAddr::V6(_) => address,
        };
        self.0.iter().any(|network| network.contains(&address) || network.contains(&mapped))
    }
}

/// The elements of a header, from the last to the first. A comma within quotes ends an element, too: quotes
/// that a client leaves open must not hide the elements that a proxy adds.
fn elements(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    let values: Vec<_> = headers.get_all(name).collect();
    let elements = values.into_iter().rev().flat_map(|value| value.as_bytes().rsplit(|byte| *byte == b','));
    // Bytes that are not text count as an element without an address.
    elements.map(|element| std::str::from_utf8(element).unwrap_or("?"))
}

/// An element of `Forwarded`.
fn hop(element: &str) -> Hop {
    let mut hop = Hop::default();
    for (name, value) in element.split(';').filter_map(|pair| pair.split_once('=')) {
        match name.trim() {
            name if name.eq_ignore_ascii_case("for") => hop.address = address(value),
            name if name.eq_ignore_ascii_case("proto") => hop.is_https = is_https(value),
            _ => {}
        }
    }
    hop
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text).trim()
}

/// An address, alone or with a port.
fn address(text: &str) -> Option<IpAddr> {
    let text = unquoted(text);
    if text.len() > ADDRESS_BYTES {
        return None;
    }
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    let address: Option<IpAddr> = text.parse().ok();
    let address = address.or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()));
    address.or_else(bracketed).map(|address| address.to_canonical())
}

fn is_https(text: &str) -> Option<bool> {
    match unquoted(text) {
        scheme if scheme.eq_ignore_ascii_case("https") => Some(true),
        scheme if scheme.eq_ignore_ascii_case("http") => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    fn proxies() -> Proxies {
        let networks = ["10.0.0.0/8", "fd00::/8", "::ffff:192.0.2.0/120"];
        Proxies::new(&networks.map(|network| network.parse().unwrap()))
    }

    fn told(peer: &str, headers: &[(&HeaderName, &str)]) -> (String, bool) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append((*name).clone(), HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        let Client { address, is_https } = proxies().client(Some(peer.parse().unwrap()), &map);
        (address.to_string(), is_https)
    }

    #[test]
    fn only_a_trusted_proxy_is_believed() {
        for (peer, header, expected) in [
            ("198.51.100.7", "203.0.113.5", "198.51.100.7"),
            ("10.0.0.1", "203.0.113.5", "203.0.113.5"),
            ("::ffff:10.0.0.1", "203.0.113.5", "203.0.113.5"),
            ("192.0.2.9", "203.0.113.5", "203.0.113.5"),
            ("fd00::1", "2001:db8::5", "2001:db8::5"),
            ("2001:db8::1", "203.0.113.5", "2001:db8::1"),
            ("10.0.0.1", "::ffff:203.0.113.5", "203.0.113.5"),
            // Everything left of the first address that is not a proxy's was written by that client.
            ("10.0.0.1", "1.1.1.1, 203.0.113.5", "203.0.113.5"),
            ("10.0.0.1", "1.1.1.1, 203.0.113.5, 10.0.0.2,fd00::3", "203.0.113.5"),
            ("10.0.0.1", "10.9.9.9, 203.0.113.5, 10.0.0.2", "203.0.113.5"),
            ("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"),
            ("10.0.0.1", "203.0.113.5:4711", "203.0.113.5"),
            ("10.0.0.1", "[2001:db8::5]:4711", "2001:db8::5"),
            ("10.0.0.1", "[2001:db8::5]", "2001:db8::5"),
            ("10.0.0.1", "unknown, 10.0.0.2", "10.0.0.2"),
        ] {
            assert_eq!(told(peer, &[(&X_FORWARDED_FOR, header)]).0, expected, "{peer} {header}");
        }
        assert_eq!(told("10.0.0.1", &[]).0, "10.0.0.1");
    }

    #[test]
    fn a_proxy_that_hides_its_clients_is_recognised() {
        let (none, forwarded) = (HeaderMap::new(), {
            let mut map = HeaderMap::new();
            map.append(X_FORWARDED_FOR, HeaderValue::from_static("203.0.113.5"));
            map
        });
        for (peer, headers, has_proxy, expected) in [
            ("10.0.0.1", &forwarded, true, None),
            ("10.0.0.1", &none, true, Some(Hidden::Unsaid)),
            ("127.0.0.1", &forwarded, false, Some(Hidden::Untrusted)),
            ("127.0.0.1", &none, true, Some(Hidden::Untrusted)),
            ("::ffff:192.168.0.1", &none, true, Some(Hidden::Untrusted)),
            ("127.0.0.1", &none, false, None),
            ("203.0.113.5", &forwarded, true, None),
        ] {
            assert_eq!(
                proxies().hides(peer.parse().ok(), headers, has_proxy),
                expected,
                "{peer} {has_proxy}"
            );
        }
    }

    #[test]
    fn several_lines_are_one_list() {
        let lines = [(&X_FORWARDED_FOR, "203.0.113.5"), (&X_FORWARDED_FOR, "10.0.0.2")];
        assert_eq!(told("10.0.0.1", &lines).0, "203.0.113.5");
    }

    #[test]
    fn the_standard_header_is_read_as_well() {
        for (header, expected) in [
            ("for=203.0.113.5;proto=https;by=10.0.0.1", ("203.0.113.5", true)),
            ("For=\"[2001:db8::5]:4711\" ; Proto=HTTPS", ("2001:db8::5", true)),
            ("for=1.1.1.1;proto=https, for=203.0.113.5;proto=http", ("203.0.113.5", false)),
            ("for=203.0.113.5;proto=https, for=10.0.0.2;proto=http", ("203.0.113.5", true)),
            ("for=_hidden;proto=https", ("10.0.0.1", true)),
            ("for=unknown, for=10.0.0.2", ("10.0.0.2", false)),
            // An open quote of a client hides nothing that the proxy adds.
            ("for=\"1.1.1.1, for=203.0.113.5", ("203.0.113.5", false)),
        ] {
            let (address, is_https) = told("10.0.0.1", &[(&FORWARDED, header)]);
            assert_eq!((address.as_str(), is_https), expected, "{header}");
        }
    }

    #[test]
    fn neither_of_two_headers_that_disagree_is_believed() {
        let (own, other) = ("203.0.113.5", "for=1.1.1.1;proto=https");
        let of = |usual: &str, standard: &str| {
            told("10.0.0.1", &[(&X_FORWARDED_FOR, usual), (&FORWARDED, standard)]).0
        };
        assert_eq!(of(own, other), "10.0.0.1");
        assert_eq!(of(own, "for=203.0.113.5"), own);
    }

    #[test]
    fn the_scheme_is_the_one_that_the_nearest_proxy_reports() {
        let of = |peer: &str, scheme: &str| {
            told(peer, &[(&X_FORWARDED_FOR, "203.0.113.5"), (&X_FORWARDED_PROTO, scheme)]).1
        };
        assert!(of("10.0.0.1", "https") && of("10.0.0.1", "http, HTTPS"));
        for (peer, scheme) in [("198.51.100.7", "https"), ("10.0.0.1", "https, http"), ("10.0.0.1", "wss")] {
            assert!(!of(peer, scheme), "{peer} {scheme}");
        }
        let alone = told("10.0.0.1", &[(&X_FORWARDED_PROTO, "https")]);
        assert_eq!(alone, ("10.0.0.1".to_owned(), true));
    }

    #[test]
    fn hostile_headers_are_ignored_without_failures() {
        let long = "9".repeat(100_000);
        let many = "10.0.0.2,".repeat(50_000);
        let (quotes, signs) = ("\"".repeat(10_000), ";=,".repeat(10_000));
        for header in [
            "",
            ",",
            ",,,,",
            " ",
            "\t",
            "203.0.113",
            "203.0.113.5.6",
            "1e400",
            "0x7f.1",
            "localhost",
            "<script>",
            "fe80::1%eth0",
            "[",
            "]",
            "[::1",
            "::1]",
            ":80",
            "[]:80",
            "-1",
            "203.0.113.5;x",
            "caf\u{e9}",
            &long,
            &quotes,
            &signs,
        ] {
            assert_eq!(told("10.0.0.1", &[(&X_FORWARDED_FOR, header)]).0, "10.0.0.1", "{header:.40}");
            assert_eq!(told("10.0.0.1", &[(&FORWARDED, header)]).0, "10.0.0.1", "{header:.40}");
            let spoofed = format!("{header}, 203.0.113.5");
            assert_eq!(told("10.0.0.1", &[(&X_FORWARDED_FOR, &spoofed)]).0, "203.0.113.5", "{header:.40}");
        }
        assert_eq!(told("10.0.0.1", &[(&X_FORWARDED_FOR, &many)]).0, "10.0.0.1", "it ends with a comma");
        let many = many.trim_end_matches(',');
        assert_eq!(told("10.0.0.1", &[(&X_FORWARDED_FOR, many)]).0, "10.0.0.2");
        let last = told("10.0.0.1", &[(&FORWARDED, &format!("for=1.1.1.1, for={long}"))]);
        assert_eq!(last.0, "10.0.0.1");
    }
}
