//! Slows down guessing: after some attempts, each further attempt has to wait, longer each time.
//!
//! An attempt from an unknown place counts for the account, even if it does not exist, and for the network of the
//! client. An attempt on a device that the person signed in on before, or within a session, counts for that device or
//! session alone, so that a stranger's guesses do not lock the person out. An attempt counts when it begins, so that
//! many attempts at once have no advantage; a successful attempt is taken back.
//!
//! The counts are in the database, so that the nodes of a cluster count together. Nothing is forgotten to make room:
//! once there are [`CAPACITY`] counts, further accounts and networks share some ([`SHARED`]) until older counts expire.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use store::Store;
use store::users::guesses::Guesses;

/// The maximum of accounts and networks with a count of their own; some 5 MiB in the database.
const CAPACITY: u64 = 50_000;
/// Beyond it, accounts and networks share this many counts each, by the first bits of their hash.
const SHARED: u16 = 4_096;
/// How often a node looks whether there is room, and the most expired counts that it removes then: more than passwords
/// can be checked in that time.
const LOOKED: Duration = Duration::from_secs(1);
const SWEPT: u32 = 1_000;

/// The back-off of a subject.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Policy {
    /// The number of attempts without a wait.
    free: u32,
    /// The longest wait.
    longest: Duration,
}

/// The longest wait is short, because a person in an unknown place may have to wait for other people's guesses.
const ACCOUNT: Policy = Policy { free: 5, longest: Duration::from_secs(15 * 60) };
/// Only the person, or a thief of the device or session, makes these attempts.
const OWN: Policy = Policy { free: 5, longest: Duration::from_secs(15 * 60) };
/// Many people may share an address.
const NETWORK: Policy = Policy { free: 30, longest: Duration::from_secs(60) };
/// The /48 of an IPv6 address: 256 times [`NETWORK`], which one customer may have.
const SITE: Policy = Policy { free: 120, longest: Duration::from_secs(60) };

/// Where an attempt is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Nobody knows.
    Unknown(IpAddr),
    /// A device that this person signed in on before.
    Device { user_id: Uuid, device: [u8; 32] },
    /// A session of the person.
    Session(Uuid),
}

/// What an attempt counts for: a hash, because people may type a long text or a password in place of an e-mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Subject {
    key: [u8; 32],
    policy: &'static Policy,
    /// Whether a successful attempt ends the count.
    ends: bool,
    /// Whether strangers decide how many subjects of this kind there are.
    is_open: bool,
}

impl Subject {
    fn new(kind: &str, name: &[&[u8]], policy: &'static Policy) -> Self {
        let mut hash = Sha256::new();
        hash.update(kind.as_bytes());
        name.iter().for_each(|part| hash.update(part));
        let is_open = kind == "account" || kind.starts_with("network");
        Self { key: hash.finalize().into(), policy, ends: !kind.starts_with("network"), is_open }
    }

    /// What an attempt at the account of this folded e-mail, or of the text in its place, counts for.
    pub(super) fn all(email: &str, place: Place) -> Vec<Self> {
        match place {
            Place::Device { user_id, device } => {
                vec![Self::new("device", &[user_id.as_bytes(), &device], &OWN)]
            }
            Place::Session(id) => vec![Self::new("session", &[id.as_bytes()], &OWN)],
            Place::Unknown(address) => {
                let account = Self::new("account", &[email.as_bytes()], &ACCOUNT);
                match Network::from(address) {
                    Network::V4(octets) => {
                        vec![account, Self::new("network 4", &[&octets], &NETWORK)]
                    }
                    Network::V6(octets) => {
                        let site = Self::new("network 6/48", &[&octets[..6]], &SITE);
                        vec![account, Self::new("network 6/56", &[&octets], &NETWORK), site]
                    }
                }
            }
        }
    }

    /// The count that this subject shares with others.
    fn shared(self) -> Self {
        let [a, b, ..] = self.key;
        let bucket = u16::from_be_bytes([a, b]) % SHARED;
        let kind = if self.ends { "shared account" } else { "shared network" };
        Self { is_open: false, ends: false, ..Self::new(kind, &[&bucket.to_be_bytes()], self.policy) }
    }
}

/// An IPv4 address, or the /56 of an IPv6 address, which usually belongs to one household.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Network {
    V4([u8; 4]),
    V6([u8; 7]),
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V4(octets) => write!(f, "{}", Ipv4Addr::from(*octets)),
            Self::V6(network) => {
                let mut octets = [0; 16];
                octets[..7].copy_from_slice(network);
                write!(f, "{}/56", Ipv6Addr::from(octets))
            }
        }
    }
}

impl From<IpAddr> for Network {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address.octets()),
            IpAddr::V6(address) => {
                let [a, b, c, d, e, f, g, ..] = address.octets();
                Self::V6([a, b, c, d, e, f, g])
            }
        }
    }
}

impl Policy {
    fn wait(&self, Guesses { attempts, since, is_stored: _ }: Guesses) -> Duration {
        let Some(over) = attempts.checked_sub(self.free) else { return Duration::ZERO };
        let wait = Duration::from_secs(1_u64 << over.min(20)).min(self.longest);
        wait.saturating_sub(since)
    }
}

/// How long an attempt has to wait after these guesses at its subjects.
fn wait(subjects: &[Subject], guesses: &[Guesses]) -> Duration {
    let waits = subjects.iter().zip(guesses).map(|(subject, guesses)| subject.policy.wait(*guesses));
    waits.max().unwrap_or_default()
}

fn keys<'a>(subjects: impl IntoIterator<Item = &'a Subject>) -> Vec<[u8; 32]> {
    subjects.into_iter().map(|subject| subject.key).collect()
}

/// Counts attempts in the database, and knows whether it has room for further counts.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    is_full: AtomicBool,
    looked: Mutex<Option<Instant>>,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It stays counted.
    Guess,
    /// It failed through no fault of the caller, or continues in another attempt.
    Open,
    /// It succeeded: earlier failures of the account, device or session no longer count. Those of the network still
    /// count, because the attacker may have an account.
    Success,
}

impl Backoff {
    /// Counts an attempt when it begins. Returns what it counted for, or how long the caller has to wait; the attempt
    /// does not count then, and nothing is written.
    pub(super) async fn begin(
        &self,
        store: &Store,
        mut subjects: Vec<Subject>,
    ) -> store::Result<Result<Vec<Subject>, Duration>> {
        let mut guesses = store.sign_ins().guesses(&keys(&subjects)).await?;
        let is_new = |(subject, guesses): (&Subject, &Guesses)| subject.is_open && !guesses.is_stored;
        if subjects.iter().zip(&guesses).any(is_new) && !self.has_room(store).await? {
            for (subject, guesses) in subjects.iter_mut().zip(&guesses) {
                if is_new((subject, guesses)) {
                    *subject = subject.shared();
                }
            }
            guesses = store.sign_ins().guesses(&keys(&subjects)).await?;
        }
        let mut waits = wait(&subjects, &guesses);
        if waits == Duration::ZERO {
            // Looked at again, because others may have counted meanwhile.
            waits =
                store.sign_ins().count_guess(&keys(&subjects), |guesses| wait(&subjects, guesses)).await?;
        }
        Ok(if waits == Duration::ZERO { Ok(subjects) } else { Err(waits) })
    }

    /// Ends an attempt that counted for these subjects.
    pub(super) async fn end(&self, store: &Store, subjects: &[Subject], end: End) -> store::Result<()> {
        let (ended, others): (Vec<_>, Vec<_>) =
            subjects.iter().partition(|subject| end == End::Success && subject.ends);
        match end {
            End::Guess => Ok(()),
            End::Open | End::Success => store.sign_ins().end_guess(&keys(others), &keys(ended)).await,
        }
    }

    /// Whether there is room for counts of further accounts and networks. Expired ones are removed first.
    async fn has_room(&self, store: &Store) -> store::Result<bool> {
        let is_due = {
            let (mut looked, now) = (self.looked.lock(), Instant::now());
            let is_due = looked.is_none_or(|looked| now.saturating_duration_since(looked) >= LOOKED);
            if is_due {
                *looked = Some(now);
            }
            is_due
        };
        if is_due {
            let counts = store.sign_ins().sweep_guesses(SWEPT, CAPACITY).await?;
            let was_full = self.is_full.swap(counts >= CAPACITY, Ordering::Relaxed);
            if counts >= CAPACITY && !was_full {
                tracing::warn!(
                    counts,
                    "too many accounts and networks fail to sign in, further ones share counts"
                );
            }
        }
        Ok(!self.is_full.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn after(attempts: u32, since: Duration) -> Guesses {
        Guesses { attempts, since, is_stored: true }
    }

    fn at(email: &str, address: &str) -> Vec<Subject> {
        Subject::all(email, Place::Unknown(address.parse().unwrap()))
    }

    #[test]
    fn after_some_attempts_each_waits_twice_as_long_up_to_a_bound() {
        for (attempts, since, waits) in [
            (4, Duration::ZERO, Duration::ZERO),
            (5, Duration::ZERO, SECOND),
            (6, Duration::ZERO, 2 * SECOND),
            (9, Duration::ZERO, 16 * SECOND),
            (9, 15 * SECOND, SECOND),
            (9, 16 * SECOND, Duration::ZERO),
            (15, Duration::ZERO, ACCOUNT.longest),
            (u32::MAX, SECOND, ACCOUNT.longest - SECOND),
        ] {
            assert_eq!(ACCOUNT.wait(after(attempts, since)), waits, "{attempts} {since:?}");
        }
    }

    #[test]
    fn an_attempt_waits_for_the_slowest_of_its_subjects() {
        let subjects = at("ana@x", "192.0.2.1");
        let waits = |guesses: [u32; 2]| wait(&subjects, &guesses.map(|count| after(count, Duration::ZERO)));
        assert_eq!(waits([4, 29]), Duration::ZERO);
        assert_eq!(waits([6, 30]), 2 * SECOND);
        assert_eq!(waits([4, 40]), 60 * SECOND);
    }

    #[test]
    fn a_client_of_ipv6_is_its_56_and_its_48() {
        let [_, home, site] = at("a", "2001:db8:0:100::1")[..] else { panic!() };
        let [_, same_home, same_site] = at("a", "2001:db8:0:1ff:ffff::2")[..] else { panic!() };
        let [_, next_home, next_site] = at("a", "2001:db8:0:200::1")[..] else { panic!() };
        let [_, _, other_site] = at("a", "2001:db8:1:100::1")[..] else { panic!() };
        assert_eq!((home, site), (same_home, same_site));
        assert_eq!(site, next_site);
        assert!(home != next_home && site != other_site);
        assert_eq!(
            Network::from("2001:db8:0:1ff::7".parse::<IpAddr>().unwrap()).to_string(),
            "2001:db8:0:100::/56"
        );
        assert_eq!(at("a", "::ffff:192.0.2.1"), at("a", "192.0.2.1"));
    }

    #[test]
    fn a_device_and_a_session_count_for_themselves_alone() {
        let device =
            |user: u128, device| Place::Device { user_id: Uuid::from_u128(user), device: [device; 32] };
        let one = Subject::all("ana@x", device(1, 1));
        assert_eq!(one.len(), 1);
        for other in [device(1, 2), device(2, 1), Place::Session(Uuid::from_u128(1))] {
            let other = Subject::all("ana@x", other);
            assert!(other.len() == 1 && other[0].key != one[0].key, "{other:?}");
        }
    }

    #[test]
    fn shared_counts_are_few_and_keep_their_kind() {
        let mut accounts = std::collections::HashSet::new();
        for account in 0..20_000 {
            let [account, network] = at(&format!("{account}@x"), "192.0.2.1")[..] else { panic!() };
            accounts.insert(account.shared().key);
            assert_eq!((account.shared().policy, network.shared().policy), (&ACCOUNT, &NETWORK));
            assert!(account.shared().key != network.shared().key);
        }
        assert!(accounts.len() <= usize::from(SHARED) && accounts.len() > 4_000, "{}", accounts.len());
    }
}
