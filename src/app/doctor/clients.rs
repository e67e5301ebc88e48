//! Checks whether the service sees its clients, or only a proxy in front of it.

use std::net::IpAddr;

use super::Findings;
use crate::config::Config;
use crate::store::users::failed_sign_ins::Origins;
use crate::surface::is_private;

const CHECK: &str = "clients";
/// The attempts to sign in that are looked at.
pub(super) const SIGN_INS: u64 = 100;
/// Fewer attempts say nothing.
const FEW_SIGN_INS: usize = 10;

/// Whether the people who sign in seem to have one address, which is then a proxy's.
pub(super) fn check(findings: &mut Findings, config: &Config, origins: &Origins) {
    let Origins { attempts, people, addresses } = origins;
    if *attempts < FEW_SIGN_INS || people.len() < 2 {
        return;
    }
    let mut all = addresses.iter().map(|address| address.parse::<IpAddr>().ok());
    let is_proxy = |address: IpAddr| {
        is_private(address) || config.server.trusted_proxies.iter().any(|network| network.contains(&address))
    };
    match (all.next().flatten().filter(|address| is_proxy(*address)), all.next()) {
        (Some(address), None) => findings.look(
            CHECK,
            format!(
                "the last {attempts} attempts to sign in, of several people, came from {address}, which seems to be a \
                 proxy: set server.trusted_proxies to its network and let it set X-Forwarded-For, so that one client's \
                 guesses at passwords do not make all others wait"
            ),
        ),
        _ => findings.good(CHECK, "people who sign in are told apart by their addresses"),
    }
}
