//! Decides which addresses a link may lead to.
//!
//! Only addresses of the open Internet are public: an address that is not known to be public is not. An IPv6
//! address that embeds an IPv4 address is public if the IPv4 address is, because a translator on the way may
//! extract it. The machine's own addresses are refused even if they are public, because services that listen
//! on them often trust their own host.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use url::Host;

const fn v4(octets: [u8; 4], length: u8) -> Ipv4Net {
    let [a, b, c, d] = octets;
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

const fn v6(first: u16, second: u16, length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(first, second, 0, 0, 0, 0, 0, 0), length)
}

/// The networks that are not the open Internet, by IANA's registry of special addresses.
const CLOSED_V4: [Ipv4Net; 16] = [
    // This network.
    v4([0, 0, 0, 0], 8),
    // Private (RFC 1918).
    v4([10, 0, 0, 0], 8),
    v4([172, 16, 0, 0], 12),
    v4([192, 168, 0, 0], 16),
    // Behind a carrier's translator, and some clouds' metadata.
    v4([100, 64, 0, 0], 10),
    v4([127, 0, 0, 0], 8),
    // Link-local, with the metadata of most clouds at 169.254.169.254.
    v4([169, 254, 0, 0], 16),
    // Assignments of protocols.
    v4([192, 0, 0, 0], 24),
    // Documentation.
    v4([192, 0, 2, 0], 24),
    v4([198, 51, 100, 0], 24),
    v4([203, 0, 113, 0], 24),
    // The relays from 6to4, long out of use.
    v4([192, 88, 99, 0], 24),
    // Benchmarks.
    v4([198, 18, 0, 0], 15),
    v4([224, 0, 0, 0], 4),
    // Reserved, and broadcast.
    v4([240, 0, 0, 0], 4),
    // Azure's hosts serve their machines at this address, although it looks public.
    v4([168, 63, 129, 16], 32),
];

/// The part of IPv6 from which public addresses are given. Loopback, unspecified, unique local, link-local,
/// site-local, multicast, IPv4-mapped and IPv4-compatible addresses are all outside.
const GLOBAL_V6: Ipv6Net = v6(0x2000, 0, 3);

/// The prefix for IPv4 addresses that are reached through a translator (RFC 6052).
const NAT64: Ipv6Net = v6(0x64, 0xff9b, 96);

/// The networks in [`GLOBAL_V6`] that are not the open Internet.
const CLOSED_V6: [Ipv6Net; 4] = [
    // Assignments of protocols: Teredo, benchmarks, overlays.
    v6(0x2001, 0, 23),
    // Documentation.
    v6(0x2001, 0x0db8, 32),
    v6(0x3fff, 0, 20),
    // 6to4: IPv4 in IPv6, long out of use.
    v6(0x2002, 0, 16),
];

/// Reads the addresses of the machine's own network interfaces.
type OwnAddresses = Box<dyn Fn() -> io::Result<Vec<IpAddr>> + Send + Sync>;

/// The networks that links may lead to: the open Internet without this machine, with the operator's changes.
pub(crate) struct Networks {
    allowed: Vec<IpNet>,
    refused: Vec<IpNet>,
    own: OwnAddresses,
}

impl Networks {
    /// `own` is called for each check, so that a new address of the machine counts at once; a call takes some
    /// tens of microseconds.
    pub(crate) fn new(
        allowed: Vec<IpNet>,
        refused: Vec<IpNet>,
        own: impl Fn() -> io::Result<Vec<IpAddr>> + Send + Sync + 'static,
    ) -> Self {
        Self { allowed, refused, own: Box::new(own) }
    }

    /// Whether a link may lead to this address. Refused networks have priority over allowed ones, and these
    /// over all other rules. An allowed network counts only in the form in which it is written: allowing
    /// 127.0.0.0/8 does not allow ::ffff:127.0.0.1. A refused network counts in every form.
    pub(crate) fn admit(&self, address: IpAddr) -> bool {
        let forms = [Some(address), carried(address).map(IpAddr::V4)];
        let is_one_of = |network: &IpNet| forms.iter().flatten().any(|form| network.contains(form));
        if self.refused.iter().any(is_one_of) {
            return false;
        }
        if self.allowed.iter().any(|network| network.contains(&address)) {
            return true;
        }
        is_public(address) && !self.is_own(&forms)
    }

    /// Whether a link may have this host: a name is checked when it is resolved ([`super::Guard`]).
    pub(crate) fn admit_host(&self, host: &Host<&str>) -> bool {
        match *host {
            Host::Ipv4(address) => self.admit(IpAddr::V4(address)),
            Host::Ipv6(address) => self.admit(IpAddr::V6(address)),
            Host::Domain(_) => true,
        }
    }

    /// Whether one of these is an address of this machine. When its interfaces cannot be read, every address
    /// counts as its own.
    fn is_own(&self, forms: &[Option<IpAddr>]) -> bool {
        match (self.own)() {
            Ok(own) => forms.iter().flatten().any(|form| own.contains(form)),
            Err(error) => {
                tracing::error!(%error, "cannot read the machine's network interfaces, links are refused");
                true
            }
        }
    }
}

fn is_public(address: IpAddr) -> bool {
    let carries_public = carried(address).is_none_or(is_public_v4);
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        // In a network with only IPv6, public hosts are reached by NAT64.
        IpAddr::V6(address) => carries_public && (NAT64.contains(&address) || is_public_v6(address)),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !CLOSED_V4.iter().any(|network| network.contains(&address))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    GLOBAL_V6.contains(&address) && !CLOSED_V6.iter().any(|network| network.contains(&address))
}

/// The IPv4 address that a translator would extract from this address. Among addresses that can be public,
/// these are NAT64 and ISATAP addresses.
fn carried(address: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V6(address) = address else { return None };
    let [_, _, _, _, e, f, high, low] = address.segments();
    let is_isatap = e & !0x0200 == 0 && f == 0x5efe;
    let [[w, x], [y, z]] = [high.to_be_bytes(), low.to_be_bytes()];
    (is_isatap || NAT64.contains(&address)).then(|| Ipv4Addr::new(w, x, y, z))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn addresses_outside_the_open_internet_are_not_public() {
        for text in [
            "0.0.0.0",
            "0.255.255.255",
            "10.0.0.0",
            "10.255.255.255",
            "100.64.0.0",
            "100.100.100.200",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "168.63.129.16",
            "169.254.0.0",
            "169.254.169.254",
            "169.254.255.255",
            "172.16.0.0",
            "172.31.255.255",
            "192.0.0.0",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.0",
            "192.168.255.255",
            "198.18.0.0",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.255",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.0",
            "255.255.255.254",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::8.8.8.8",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::ffff:0:10.0.0.1",
            "64:ff9b::127.0.0.1",
            "64:ff9b::169.254.169.254",
            "64:ff9b:1::8.8.8.8",
            "64:ff9b:0:1::8.8.8.8",
            "100::1",
            "2001::1",
            "2001:0:7f00:1::",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:db8::1",
            "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
            "2002:7f00:1::",
            "2002:808:808::1",
            "2606:4700::5efe:10.0.0.1",
            "2606:4700::200:5efe:192.168.0.1",
            "3fff::1",
            "4000::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fd20:ce::254",
            "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        ] {
            assert!(!is_public(address(text)), "{text}");
        }
    }

    #[test]
    fn addresses_next_to_closed_networks_are_public() {
        for text in [
            "1.0.0.0",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "168.63.129.17",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "191.255.255.255",
            "192.0.1.0",
            "192.0.3.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "64:ff9b::8.8.8.8",
            "2000::1",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2001:db7:ffff::1",
            "2001:db9::1",
            "2003::1",
            "2606:4700::5efe:8.8.8.8",
            "2a00:1450::1",
            "3ffe:ffff::1",
            "3fff:1000::1",
        ] {
            assert!(is_public(address(text)), "{text}");
        }
    }

    #[test]
    fn networks_that_the_operator_allows_are_admitted_only_in_their_written_form() {
        let networks = networks(&["127.0.0.0/8", "fd00:1::/32"], &[], &["127.0.0.1", "8.8.4.4"]);
        for text in ["127.0.0.1", "127.9.9.9", "fd00:1::7", "8.8.8.8", "2a00:1450::1"] {
            assert!(networks.admit(address(text)), "{text}");
        }
        for text in ["10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::127.0.0.1", "2002:7f00:1::", "fd00:2::7"] {
            assert!(!networks.admit(address(text)), "{text}");
        }
    }

    fn networks(allowed: &[&str], refused: &[&str], own: &[&str]) -> Networks {
        let parsed = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        let own: Vec<_> = own.iter().map(|text| address(text)).collect();
        Networks::new(parsed(allowed), parsed(refused), move || Ok(own.clone()))
    }

    #[test]
    fn the_machine_s_own_public_addresses_are_refused_in_every_form() {
        let networks = networks(&[], &[], &["8.8.8.8", "2a00:1450::1"]);
        for text in ["8.8.8.8", "64:ff9b::8.8.8.8", "2606:4700::5efe:8.8.8.8", "2a00:1450::1"] {
            assert!(!networks.admit(address(text)), "{text}");
        }
        for text in ["8.8.8.9", "64:ff9b::8.8.8.9", "2a00:1450::2"] {
            assert!(networks.admit(address(text)), "{text}");
        }
    }

    #[test]
    fn networks_that_the_operator_refuses_are_refused_in_every_form_even_if_allowed() {
        let networks = networks(&["10.1.0.0/16"], &["10.1.2.0/24", "8.8.8.0/24", "2a00:1450::/32"], &[]);
        for text in ["10.1.2.3", "8.8.8.8", "64:ff9b::8.8.8.8", "2a00:1450::1"] {
            assert!(!networks.admit(address(text)), "{text}");
        }
        for text in ["10.1.3.3", "8.8.9.8", "2a00:1451::1"] {
            assert!(networks.admit(address(text)), "{text}");
        }
    }

    #[test]
    fn nothing_public_is_asked_while_the_machine_s_own_addresses_are_unknown() {
        let networks = Networks::new(Vec::new(), Vec::new(), || Err(io::Error::other("no")));
        assert!(!networks.admit(address("8.8.8.8")));
    }

    /// All forms in which an IPv6 address embeds an IPv4 address.
    fn carriers(inner: Ipv4Addr, fill: u64) -> Vec<Ipv6Addr> {
        let inner = u128::from(u32::from(inner));
        let fill = u128::from(fill);
        let mut all = vec![
            // Compatible, mapped, translated.
            inner,
            0xffff << 32 | inner,
            0xffff_0000 << 32 | inner,
            // NAT64 with the well-known prefix, and with the one for local use, in each of its lengths.
            0x0064_ff9b << 96 | inner,
            0x0064_ff9b_0001 << 80 | fill << 32 & (0xffff_ffff_ffff << 32) | inner,
            0x0064_ff9b_0001 << 80 | inner << 48 | fill & 0xffff_ffff_ffff,
            // 6to4.
            0x2002 << 112 | inner << 80 | fill,
            // Teredo: the server as it is, the client with its bits turned.
            0x2001_0000 << 96 | inner << 64 | fill,
            0x2001_0000 << 96 | fill << 32 & (0xffff_ffff_ffff_ffff << 32) | !inner & 0xffff_ffff,
        ];
        // ISATAP, in any network.
        for interface in [0x5efe, 0x0200_5efe] {
            all.push(0x2606_4700 << 96 | u128::from(fill as u32) << 64 | interface << 32 | inner);
        }
        all.into_iter().map(Ipv6Addr::from).collect()
    }

    fn closed() -> impl Strategy<Value = Ipv4Addr> {
        (prop::sample::select(CLOSED_V4.to_vec()), any::<u32>()).prop_map(|(network, host)| {
            let mask = u32::from(network.hostmask());
            Ipv4Addr::from(u32::from(network.network()) | host & mask)
        })
    }

    proptest! {
        #[test]
        fn no_closed_address_gets_through_in_any_form(inner in closed(), fill in any::<u64>()) {
            prop_assert!(!is_public(IpAddr::V4(inner)), "{}", inner);
            for carrier in carriers(inner, fill) {
                prop_assert!(!is_public(IpAddr::V6(carrier)), "{} in {}", inner, carrier);
            }
        }

        #[test]
        fn only_what_the_registry_calls_global_is_public(bits in any::<u128>()) {
            let address = Ipv6Addr::from(bits);
            if is_public(IpAddr::V6(address)) {
                prop_assert!(address.segments()[0] & 0xe000 == 0x2000 || bits >> 32 == 0x0064_ff9b << 64);
            }
        }
    }
}
