//! A channel of the soak: its number at the provider, its pace, and the messages that were promised through
//! it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use simulator::{NumberFigures, Simulator};

/// A channel to make, and how it is used.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) number: &'static str,
    pub(crate) display: &'static str,
    pub(crate) tier: &'static str,
    /// Messages that the provider accepts in a second.
    pub(crate) limit: u32,
    /// Pause between two sends to the tag.
    pub(crate) bulk_every: Duration,
    /// Pause between two sends to one number.
    pub(crate) single_every: Duration,
    /// The first of the numbers that single sends go to, each once.
    pub(crate) first_single: u64,
}

/// A slow number and a fast one of the same account, both at some two thirds of their pace.
pub(crate) const PLANS: [Plan; 2] = [
    Plan {
        number: "106540352242921",
        display: "+1 555 078 3881",
        tier: "standard",
        limit: 80,
        bulk_every: Duration::from_secs(60),
        single_every: Duration::from_millis(250),
        first_single: 5_521_900_000_000,
    },
    Plan {
        number: "106540352242922",
        display: "+1 555 078 3882",
        tier: "high",
        limit: 1_000,
        bulk_every: Duration::from_secs(12),
        single_every: Duration::from_millis(50),
        first_single: 5_531_900_000_000,
    },
];

#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) id: String,
    pub(crate) plan: &'static Plan,
    /// The verify token of the webhook's handshake, if there is one.
    pub(crate) verify_token: Option<String>,
    contacts: Arc<[u64]>,
    bulk_sends: AtomicU64,
    singles: Mutex<Vec<u64>>,
}

/// The messages that a number got, compared with the promised ones.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Promised messages that did not arrive.
    pub(crate) lost: u64,
    /// Messages that arrived and were not promised.
    pub(crate) surplus: u64,
}

impl Channel {
    pub(crate) fn new(
        id: String,
        plan: &'static Plan,
        verify_token: Option<String>,
        contacts: Arc<[u64]>,
    ) -> Self {
        Self { id, plan, verify_token, contacts, bulk_sends: AtomicU64::new(0), singles: Mutex::default() }
    }

    /// Counts a send to the tag that was answered 202.
    pub(crate) fn promise_bulk(&self) {
        self.bulk_sends.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a send to this number that was answered 202.
    pub(crate) fn promise_single(&self, number: u64) {
        self.singles.lock().unwrap().push(number);
    }

    /// Messages that were promised.
    pub(crate) fn promised(&self) -> u64 {
        let bulk = self.bulk_sends.load(Ordering::Relaxed) * self.contacts.len() as u64;
        bulk + self.singles.lock().unwrap().len() as u64
    }

    /// The simulator's figures.
    pub(crate) fn figures(&self, simulator: &Simulator) -> NumberFigures {
        simulator.number(self.plan.number).unwrap()
    }

    /// Compares the messages that each recipient got with the promised ones.
    pub(crate) fn judge(&self, got: &BTreeMap<String, u32>) -> Verdict {
        let bulk = u32::try_from(self.bulk_sends.load(Ordering::Relaxed)).unwrap_or(u32::MAX);
        let mut due: HashMap<u64, u32> = self.contacts.iter().map(|number| (*number, bulk)).collect();
        for number in self.singles.lock().unwrap().iter() {
            *due.entry(*number).or_default() += 1;
        }
        let mut verdict = Verdict::default();
        for (number, count) in got {
            let promised = number.parse().ok().and_then(|number: u64| due.remove(&number)).unwrap_or(0);
            verdict.lost += u64::from(promised.saturating_sub(*count));
            verdict.surplus += u64::from(count.saturating_sub(promised));
        }
        verdict.lost += due.into_values().map(u64::from).sum::<u64>();
        verdict
    }
}
