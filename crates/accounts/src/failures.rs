//! Decides which failed sign-ins get an entry of their own in the record of changes.
//!
//! The first few of a network in a minute get one each. The others share one entry with their number. Attempts of
//! further networks also share one entry once the minute has many entries, so that attempts that go on for days do
//! not fill the disk.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use uuid::Uuid;

use super::backoff::Network;
use clock::Timestamp;
use store::Store;
use store::users::failed_sign_ins::Folded;

/// The attempts of a network in a minute that get entries of their own.
const OWN: u32 = 5;
/// The entries of a minute, without the one for all further networks.
const ENTRIES: u32 = 10;
const MINUTE: i64 = 60_000;

/// How a failed attempt is recorded.
#[derive(Debug)]
pub(super) enum Entry {
    /// As an entry of its own.
    Own,
    /// In one entry with others.
    Folded(Arc<Fold>),
}

/// Attempts that share one entry.
#[derive(Debug)]
pub(super) struct Fold {
    id: Uuid,
    at: Timestamp,
    /// The network; `None` for many networks.
    network: Option<String>,
    times: AtomicU64,
    /// The number that is recorded already.
    written: tokio::sync::Mutex<u64>,
}

/// The attempts of the present minute.
#[derive(Debug, Default)]
pub(super) struct Failures {
    minute: i64,
    entries: u32,
    networks: HashMap<Network, Tried>,
    others: Option<Arc<Fold>>,
}

#[derive(Debug, Default)]
struct Tried {
    own: u32,
    fold: Option<Arc<Fold>>,
}

impl Failures {
    /// Counts an attempt that failed.
    pub(super) fn note(&mut self, address: IpAddr, now: Timestamp) -> Entry {
        let minute = now.millis().div_euclid(MINUTE);
        if minute != self.minute {
            *self = Self { minute, ..Self::default() };
        }
        let network = Network::from(address);
        let has_room = self.entries < ENTRIES;
        let tried = match self.networks.get_mut(&network) {
            Some(tried) => tried,
            None if has_room => self.networks.entry(network).or_default(),
            None => return Entry::Folded(Fold::another(&mut self.others, None, now)),
        };
        if tried.own < OWN && has_room {
            tried.own += 1;
            self.entries += 1;
            return Entry::Own;
        }
        if tried.fold.is_none() {
            // At most one more for each network with entries, so a minute has at most twice as many.
            self.entries += 1;
        }
        Entry::Folded(Fold::another(&mut tried.fold, Some(network), now))
    }
}

impl Fold {
    /// Counts an attempt in the fold at this place, and creates the fold if there is none.
    fn another(place: &mut Option<Arc<Self>>, network: Option<Network>, now: Timestamp) -> Arc<Self> {
        let fold = place.get_or_insert_with(|| {
            Arc::new(Self {
                id: Uuid::now_v7(),
                at: now,
                network: network.map(|network| network.to_string()),
                times: AtomicU64::new(0),
                written: tokio::sync::Mutex::new(0),
            })
        });
        fold.times.fetch_add(1, Ordering::Relaxed);
        Arc::clone(fold)
    }

    /// Records the number of attempts. Of attempts that fail at the same time, one writes for all.
    pub(super) async fn record(&self, store: &Store) -> store::Result<()> {
        let mut written = self.written.lock().await;
        let times = self.times.load(Ordering::Relaxed);
        if times > *written {
            let Self { id, at, network, .. } = self;
            let folded = Folded { id: *id, at: *at, address: network.as_deref(), times };
            store.sign_ins().fold_failed(folded).await?;
            *written = times;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(entry: Entry) -> Option<(Uuid, u64)> {
        match entry {
            Entry::Own => None,
            Entry::Folded(fold) => Some((fold.id, fold.times.load(Ordering::Relaxed))),
        }
    }

    #[test]
    fn the_first_of_a_minute_have_their_own_entries_and_the_others_share_one() {
        let (mut failures, home) = (Failures::default(), "192.0.2.1".parse().unwrap());
        let mut now = Timestamp::from_millis(1_000 * MINUTE);
        for _ in 0..2 {
            let noted: Vec<_> = (0..9).map(|_| folded(failures.note(home, now))).collect();
            assert!(noted[..5].iter().all(Option::is_none), "{noted:?}");
            let times: Vec<_> = noted[5..].iter().flatten().map(|(_, times)| *times).collect();
            assert_eq!(times, [1, 2, 3, 4]);
            assert!(noted[5..].iter().flatten().all(|(id, _)| Some(*id) == noted[5].map(|(id, _)| id)));
            assert!(folded(failures.note("192.0.2.2".parse().unwrap(), now)).is_none(), "another network");
            now = Timestamp::from_millis(now.millis() + MINUTE);
        }
    }

    #[test]
    fn the_addresses_of_one_network_of_ipv6_are_one() {
        let (mut failures, now) = (Failures::default(), Timestamp::from_millis(MINUTE));
        let noted: Vec<_> = (0..7)
            .map(|last| folded(failures.note(format!("2001:db8:0:{last}::1").parse().unwrap(), now)))
            .collect();
        assert_eq!(noted.iter().filter(|noted| noted.is_none()).count(), 5, "{noted:?}");
    }

    #[test]
    fn many_networks_make_no_more_entries_than_a_minute_may_have() {
        let (mut failures, now) = (Failures::default(), Timestamp::from_millis(7 * MINUTE));
        let mut entries = std::collections::HashSet::new();
        let mut own = 0;
        for attempt in 0..100_000_u32 {
            match folded(failures.note(IpAddr::from((attempt % 50_000).to_be_bytes()), now)) {
                None => own += 1,
                Some((id, _)) => drop(entries.insert(id)),
            }
        }
        assert!(own + entries.len() <= 2 * ENTRIES as usize + 1, "{own} and {}", entries.len());
        assert!(failures.networks.len() <= ENTRIES as usize);
    }
}
