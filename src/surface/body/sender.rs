//! The senders of bodies, who share the memory for bodies.

use std::net::{IpAddr, Ipv6Addr};

use uuid::Uuid;

/// The sender of a body. Whatever authenticates a request puts it into the request's extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Sender {
    /// A company, authenticated by its key.
    Company(Uuid),
    /// An operator, authenticated by a key.
    Operator,
    /// A person who is signed in to the console.
    Person {
        /// The company that the person has chosen, or else the person.
        company: Uuid,
        /// The person.
        user: Uuid,
    },
    /// A client at this address that sends a webhook for this company. Only the body authenticates it.
    Hook(Uuid, Peer),
    /// A client at this address that sends a form of the console, such as the one for signing in.
    Visitor(Peer),
    /// A program at this address that sends a file and is not known, because its key comes with the file or is the provider's.
    Program(Peer),
}

/// The address of a client. For IPv6 it is only the network, because one owner has all addresses in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Peer(Option<IpAddr>);

impl Peer {
    pub(crate) fn new(address: Option<IpAddr>) -> Self {
        Self(address.map(|address| match address.to_canonical() {
            IpAddr::V6(address) => {
                // A site is given a /48.
                let [a, b, c, ..] = address.segments();
                IpAddr::V6(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0))
            }
            address @ IpAddr::V4(_) => address,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_of_ipv6_is_one_peer() {
        let peer = |address: &str| Peer::new(Some(address.parse().unwrap()));
        assert_eq!(peer("2001:db8:1:2::7"), peer("2001:db8:1:3:ffff::9"));
        assert_ne!(peer("2001:db8:1:2::7"), peer("2001:db8:2:2::7"));
        assert_eq!(peer("::ffff:10.1.2.3"), peer("10.1.2.3"));
        assert_ne!(peer("10.1.2.3"), peer("10.1.2.4"));
    }
}
