//! Slows down guessing: after some attempts, each further attempt has to wait, longer each time.
//!
//! Attempts count for the account, even if it does not exist, and for the network of the client. An attempt
//! counts when it begins, so that many attempts at once have no advantage; a successful attempt is taken
//! back. The number of entries is bounded: the least recently used ones are evicted.

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

/// The maximum of accounts, and of networks, that are kept.
const CAPACITY: usize = 20_000;
/// How many entries are evicted at once, so that a flood does not search all entries each time.
const EVICTED: usize = CAPACITY / 20;
/// How long after its last attempt an entry is removed.
const FORGET: Duration = Duration::from_secs(3_600);

/// The back-off of an account or a network.
struct Policy {
    /// The number of attempts without a wait.
    free: u32,
    /// The longest wait.
    longest: Duration,
}

/// The longest wait is short, because a person may have to wait for other people's guesses.
const ACCOUNT: Policy = Policy { free: 5, longest: Duration::from_secs(15 * 60) };
/// Many people may share an address.
const NETWORK: Policy = Policy { free: 30, longest: Duration::from_secs(60) };

/// The account of an attempt, as a hash: people may type a long text, or a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Account([u8; 32]);

impl Account {
    /// The account of the folded e-mail, or of the text in its place.
    pub(super) fn of(email: &str) -> Self {
        Self(Sha256::digest(email.as_bytes()).into())
    }
}

/// An IPv4 address, or the /64 of an IPv6 address, which usually belongs to one person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Network {
    V4([u8; 4]),
    V6([u8; 8]),
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V4(octets) => write!(f, "{}", Ipv4Addr::from(*octets)),
            Self::V6([a, b, c, d, e, g, h, i]) => {
                let network = [*a, *b, *c, *d, *e, *g, *h, *i, 0, 0, 0, 0, 0, 0, 0, 0];
                write!(f, "{}/64", Ipv6Addr::from(network))
            }
        }
    }
}

impl From<IpAddr> for Network {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address.octets()),
            IpAddr::V6(address) => {
                let [a, b, c, d, e, f, g, h, ..] = address.octets();
                Self::V6([a, b, c, d, e, f, g, h])
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    attempts: u32,
    last: Instant,
}

#[derive(Default)]
pub(super) struct Backoff {
    accounts: HashMap<Account, Entry>,
    networks: HashMap<Network, Entry>,
}

impl Backoff {
    /// Counts an attempt when it begins.
    ///
    /// # Errors
    ///
    /// How long the caller has to wait. The attempt does not count then.
    pub(super) fn begin(&mut self, account: Account, address: IpAddr, now: Instant) -> Result<(), Duration> {
        let network = Network::from(address);
        let waits = [
            self.accounts.get(&account).map(|entry| ACCOUNT.wait(*entry, now)),
            self.networks.get(&network).map(|entry| NETWORK.wait(*entry, now)),
        ];
        let wait = waits.into_iter().flatten().max().unwrap_or_default();
        if wait > Duration::ZERO {
            return Err(wait);
        }
        count(&mut self.accounts, account, now);
        count(&mut self.networks, network, now);
        Ok(())
    }

    /// Takes an attempt back that failed through no fault of the caller, or that continues in another one.
    pub(super) fn take_back(&mut self, account: Account, address: IpAddr) {
        take_back(&mut self.accounts, &account);
        take_back(&mut self.networks, &Network::from(address));
    }

    /// Notes that the attempt succeeded: earlier failures of the account no longer count. Those of the
    /// network still count, because the attacker may have an account.
    pub(super) fn succeed(&mut self, account: Account, address: IpAddr) {
        self.accounts.remove(&account);
        take_back(&mut self.networks, &Network::from(address));
    }
}

impl Policy {
    fn wait(&self, entry: Entry, now: Instant) -> Duration {
        let Some(over) = entry.attempts.checked_sub(self.free) else { return Duration::ZERO };
        let wait = Duration::from_secs(1_u64 << over.min(20)).min(self.longest);
        (entry.last + wait).saturating_duration_since(now)
    }
}

fn count<K: Copy + Eq + std::hash::Hash>(entries: &mut HashMap<K, Entry>, key: K, now: Instant) {
    if entries.len() >= CAPACITY && !entries.contains_key(&key) {
        evict(entries, now);
    }
    let entry = entries.entry(key).or_insert(Entry { attempts: 0, last: now });
    if now.saturating_duration_since(entry.last) >= FORGET {
        entry.attempts = 0;
    }
    entry.attempts = entry.attempts.saturating_add(1);
    entry.last = now;
}

fn take_back<K: Eq + std::hash::Hash>(entries: &mut HashMap<K, Entry>, key: &K) {
    if let Some(entry) = entries.get_mut(key) {
        entry.attempts = entry.attempts.saturating_sub(1);
        if entry.attempts == 0 {
            entries.remove(key);
        }
    }
}

fn evict<K: Copy + Eq + std::hash::Hash>(entries: &mut HashMap<K, Entry>, now: Instant) {
    entries.retain(|_, entry| now.saturating_duration_since(entry.last) < FORGET);
    if entries.len() < CAPACITY {
        return;
    }
    let mut lasts: Vec<_> = entries.values().map(|entry| entry.last).collect();
    let (_, oldest, _) = lasts.select_nth_unstable(EVICTED);
    let oldest = *oldest;
    entries.retain(|_, entry| entry.last > oldest);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn after_some_attempts_each_waits_twice_as_long_up_to_a_bound() {
        let (mut backoff, mut now) = (Backoff::default(), Instant::now());
        let (ana, home) = (Account::of("ana@x"), address("192.0.2.1"));
        for _ in 0..5 {
            assert_eq!(backoff.begin(ana, home, now), Ok(()));
        }
        for wait in [1, 2, 4, 8, 16] {
            assert_eq!(backoff.begin(ana, home, now), Err(wait * SECOND));
            now += wait * SECOND;
            assert_eq!(backoff.begin(ana, home, now), Ok(()));
        }
        for _ in 0..20 {
            now += ACCOUNT.longest;
            assert_eq!(backoff.begin(ana, address("192.0.2.2"), now), Ok(()));
        }
        assert_eq!(backoff.begin(ana, address("192.0.2.3"), now), Err(ACCOUNT.longest));
        assert_eq!(backoff.begin(Account::of("bea@x"), home, now), Ok(()), "another account");
        now += FORGET;
        assert_eq!(backoff.begin(ana, home, now), Ok(()));
        assert_eq!(backoff.begin(ana, home, now), Ok(()), "forgotten");
    }

    #[test]
    fn a_network_waits_whatever_accounts_it_tries_and_its_addresses_are_one() {
        let (mut backoff, now) = (Backoff::default(), Instant::now());
        for attempt in 0..30 {
            let source = address(&format!("2001:db8:0:1::{attempt:x}"));
            assert_eq!(backoff.begin(Account::of(&attempt.to_string()), source, now), Ok(()));
        }
        let next = Account::of("next");
        assert_eq!(backoff.begin(next, address("2001:db8:0:1:ffff::1"), now), Err(SECOND));
        assert_eq!(backoff.begin(next, address("2001:db8:0:2::1"), now), Ok(()));
        assert_eq!(Network::from(address("2001:db8:0:1::7")).to_string(), "2001:db8:0:1::/64");
        assert_eq!(Network::from(address("192.0.2.1")).to_string(), "192.0.2.1");
        assert_eq!(Network::from(address("::ffff:192.0.2.1")), Network::from(address("192.0.2.1")));
    }

    #[test]
    fn success_clears_the_account_and_not_the_network() {
        let (mut backoff, now) = (Backoff::default(), Instant::now());
        let (ana, own, home) = (Account::of("ana@x"), Account::of("own@x"), address("192.0.2.1"));
        for _ in 0..15 {
            let _ = backoff.begin(ana, home, now);
            backoff.accounts.clear();
            assert_eq!(backoff.begin(own, home, now), Ok(()));
            backoff.succeed(own, home);
        }
        assert_eq!(backoff.networks[&Network::from(home)].attempts, 15);
        assert!(!backoff.accounts.contains_key(&own));
        backoff.take_back(ana, home);
        assert_eq!(backoff.networks[&Network::from(home)].attempts, 14);
    }

    #[test]
    fn the_number_of_entries_is_bounded_and_the_latest_stay() {
        let (mut backoff, mut now) = (Backoff::default(), Instant::now());
        for attempt in 0..CAPACITY as u32 + 10 {
            now += Duration::from_millis(1);
            let source = IpAddr::from(attempt.to_be_bytes());
            assert_eq!(backoff.begin(Account::of(&attempt.to_string()), source, now), Ok(()));
        }
        assert!(backoff.accounts.len() <= CAPACITY && backoff.networks.len() <= CAPACITY);
        assert!(backoff.accounts.len() >= CAPACITY - 2 * EVICTED);
        assert!(backoff.accounts.contains_key(&Account::of(&(CAPACITY as u32 + 9).to_string())));
        assert!(!backoff.accounts.contains_key(&Account::of("0")));
    }
}
