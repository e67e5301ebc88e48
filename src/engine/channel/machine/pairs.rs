//! Pairs: when the next message may go from this number to the same recipient.
//!
//! The provider wants an even distance between them and lends a burst: what goes sooner is borrowed from the
//! intervals after it (GCRA for each recipient). A pair that it refuses all the same (code 131056) waits longer
//! with each refusal, and holds up nobody else. The channel's machine calls, and says what time it is.
//!
//! A message takes its slot when it goes, each attempt one. One that must wait is promised a slot of its own, so that
//! the messages that wait for a recipient do not all come back for one; it asks again when it comes back, because what
//! came back late, after a pause or a slow commit, would otherwise go at once with those behind it.
//!
//! Memory is bounded by [`CAPACITY`] pairs, about 9 MB for a number that reaches it. A pair is forgotten when it
//! owes nothing any more, some with every call and never all at once. Beyond the bound the pairs with the
//! least left to wait are forgotten first; what is then sent too soon the provider refuses, and is sent later.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::{Duration, Instant};

use crate::domain::phone::PhoneNumber;
use crate::domain::tier::Tier;
use crate::engine::planted::{Fault, is_planted};

/// The most pairs that are remembered. A number that keeps to its pace stays far below: it owes no more
/// intervals than it sent messages, so 1,000 messages a second at six seconds each are 6,000 pairs.
const CAPACITY: usize = 100_000;

/// The waits after refusals are 4 to the power of 0, 1, 2 … seconds, as the provider recommends, and no longer
/// than 4 to this power.
const LONGEST: u32 = 4;

/// A pair that was refused and lies quiet this long after its wait begins with the shortest wait again.
const QUIET: Duration = Duration::from_secs(4_u64.pow(LONGEST));

/// A longer interval counts as this one, so that no sum of intervals overflows.
const LONGEST_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// At most so many pairs are looked at in one call to find one that may be forgotten.
const LOOKS: usize = 16;

/// Slots are booked so far ahead, and no farther.
const FARTHEST: Duration = Duration::from_secs(60 * 60);

/// Memory for more pairs than this is given back when no pair is left.
const KEPT: usize = 1024;

pub(super) struct Pairs {
    /// Between two messages; zero when pairs are not paced.
    interval: Duration,
    /// What a burst is ahead of its even pace.
    tolerance: Duration,
    pairs: HashMap<PhoneNumber, Pair>,
    /// One entry for each pair: when it may be forgotten, as was known when it was entered. That moment may have
    /// moved away since, so it is looked up again when it comes.
    order: BinaryHeap<Reverse<(Instant, PhoneNumber)>>,
    capacity: usize,
}

#[derive(Clone, Copy)]
struct Pair {
    /// When the next message would go if those that went had gone evenly.
    arrival: Instant,
    /// The same, if those that wait had gone at the slots that they were promised.
    promised: Instant,
    refused: Option<Refused>,
}

#[derive(Clone, Copy)]
struct Refused {
    until: Instant,
    /// How often in a row.
    times: u32,
}

impl Pair {
    /// From then on the pair is like one that was never seen.
    fn forgotten_at(&self) -> Instant {
        let owes = self.arrival.max(self.promised);
        self.refused.map_or(owes, |refused| owes.max(refused.until + QUIET))
    }
}

impl Pairs {
    /// For a number of this tier.
    pub(super) fn new(tier: &Tier) -> Self {
        Self::bounded(tier, CAPACITY)
    }

    fn bounded(tier: &Tier, capacity: usize) -> Self {
        let mut pairs = Self {
            interval: Duration::ZERO,
            tolerance: Duration::ZERO,
            pairs: HashMap::new(),
            order: BinaryHeap::new(),
            capacity,
        };
        pairs.retune(tier);
        pairs
    }

    /// Follows a changed tier; what pairs owe stays.
    pub(super) fn retune(&mut self, tier: &Tier) {
        self.interval = tier.pair_interval.min(LONGEST_INTERVAL);
        self.tolerance = self.interval * tier.pair_burst.saturating_sub(1);
    }

    /// A message to `recipient` goes now, if it may; otherwise it is promised a slot. One that `has_waited` stands
    /// behind what went, any other behind what waits too. Beyond [`FARTHEST`] slots are given by chance: what is called
    /// off leaves its slot empty, and nobody shall wait for days behind those.
    ///
    /// # Errors
    ///
    /// When it is to ask again.
    pub(super) fn take(
        &mut self,
        recipient: PhoneNumber,
        has_waited: bool,
        now: Instant,
        chance: f64,
    ) -> Result<(), Instant> {
        if self.interval.is_zero() && self.pairs.is_empty() {
            return Ok(());
        }
        self.forget(now);
        let blocked = self.blocked(recipient, now);
        if self.interval.is_zero() {
            return blocked.map_or(Ok(()), Err);
        }
        let (interval, tolerance) = (self.interval, self.tolerance);
        let Some(pair) = self.pairs.get_mut(&recipient) else {
            let next = now + interval;
            self.remember(recipient, Pair { arrival: next, promised: next, refused: None });
            return Ok(());
        };
        let wait = |arrival: Instant| arrival.saturating_duration_since(now).saturating_sub(tolerance);
        let last = pair.arrival.max(pair.promised);
        let before = if has_waited { pair.arrival } else { last };
        if blocked.is_none() && wait(before).is_zero() {
            if !is_planted(Fault::PairSlotLost) {
                pair.arrival = pair.arrival.max(now) + interval;
            }
            return Ok(());
        }
        let wait = wait(last);
        if wait > FARTHEST {
            return Err(now + wait.mul_f64(1.0 + chance));
        }
        pair.promised = last.max(now) + interval;
        Err(blocked.map_or(now + wait, |until| until.max(now + wait)))
    }

    /// How long a message to `recipient` would have to wait; takes no slot.
    pub(super) fn wait(&self, recipient: PhoneNumber, has_waited: bool, now: Instant) -> Duration {
        let Some(pair) = self.pairs.get(&recipient) else { return Duration::ZERO };
        let before = if has_waited { pair.arrival } else { pair.arrival.max(pair.promised) };
        let paced = before.saturating_duration_since(now).saturating_sub(self.tolerance);
        let blocked = self.blocked(recipient, now).map(|until| until.saturating_duration_since(now));
        let paced = if self.interval.is_zero() { Duration::ZERO } else { paced };
        paced.max(blocked.unwrap_or_default())
    }

    /// Until when the provider wants nothing to go to `recipient`.
    pub(super) fn blocked(&self, recipient: PhoneNumber, now: Instant) -> Option<Instant> {
        let refused = self.pairs.get(&recipient)?.refused?;
        (refused.until > now).then_some(refused.until)
    }

    /// The provider refused a message to `recipient` because this pair is too fast (code 131056): nothing goes
    /// to it before the moment that is returned. Further answers within that wait are of the same refusal.
    pub(super) fn refused(&mut self, recipient: PhoneNumber, now: Instant) -> Instant {
        self.forget(now);
        let known = self.pairs.get(&recipient).copied();
        let before = known.and_then(|pair| pair.refused).filter(|refused| refused.until + QUIET > now);
        if let Some(refused) = before.filter(|refused| refused.until > now) {
            return refused.until;
        }
        let times = before.map_or(0, |refused| refused.times + 1).min(LONGEST);
        let until = now + Duration::from_secs(4_u64.pow(times));
        let refused = Some(Refused { until, times });
        match self.pairs.get_mut(&recipient) {
            Some(pair) => {
                pair.refused = refused;
                pair.arrival = pair.arrival.max(until);
            }
            None => self.remember(recipient, Pair { arrival: until, promised: until, refused }),
        }
        until
    }

    /// The provider took a message to `recipient`: the next refusal is a first one again. One that is being
    /// waited for stays, because the answers of messages in flight come in any order.
    pub(super) fn accepted(&mut self, recipient: PhoneNumber, now: Instant) {
        if let Some(pair) = self.pairs.get_mut(&recipient)
            && pair.refused.is_some_and(|refused| refused.until <= now)
        {
            pair.refused = None;
        }
    }

    fn remember(&mut self, recipient: PhoneNumber, pair: Pair) {
        if self.pairs.len() >= self.capacity {
            self.evict();
        }
        self.pairs.insert(recipient, pair);
        self.order.push(Reverse((pair.forgotten_at(), recipient)));
    }

    /// Forgets pairs that owe nothing any more: two at most, because a call can add one and put off another.
    fn forget(&mut self, now: Instant) {
        for _ in 0..2 {
            if self.order.peek().is_some_and(|Reverse((moment, _))| *moment <= now) {
                self.settle(Some(now));
            }
        }
        if self.pairs.is_empty() && self.pairs.capacity() > KEPT {
            (self.pairs, self.order) = (HashMap::new(), BinaryHeap::new());
        }
    }

    /// Forgets the pair with the least left to wait, as far as some looks can tell.
    fn evict(&mut self) {
        for _ in 0..LOOKS {
            if self.settle(None) {
                return;
            }
        }
        if let Some(Reverse((_, recipient))) = self.order.pop() {
            self.pairs.remove(&recipient);
        }
    }

    /// Looks at the first of the order. It is forgotten when it owes nothing at `now`, or, without that, when
    /// its moment is still the one that it was entered with; otherwise it is entered again. Whether it was
    /// forgotten.
    fn settle(&mut self, now: Option<Instant>) -> bool {
        let Some(Reverse((moment, recipient))) = self.order.pop() else { return false };
        let Some(pair) = self.pairs.get(&recipient) else { return false };
        let due = pair.forgotten_at();
        let forgotten = due <= now.unwrap_or(moment);
        if forgotten {
            self.pairs.remove(&recipient);
        } else {
            self.order.push(Reverse((due, recipient)));
        }
        forgotten
    }
}

#[cfg(test)]
mod tests;
