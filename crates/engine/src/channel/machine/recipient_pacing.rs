//! Recipient pacing: when the next message may go from this number to the same recipient.
//!
//! The provider demands an even distance between messages of a pair (number and recipient) and grants a burst: a
//! message that goes sooner borrows from the intervals after it (GCRA for each recipient). A pair that the provider
//! refuses (code 131056) waits longer with each refusal, and holds up no other pair. The channel's machine calls it,
//! and passes the time in.
//!
//! Each attempt takes a slot when it goes. A message that has to wait is promised a slot of its own, so that the
//! messages that wait for a recipient do not all come back for the same one. It asks again when it comes back: after a
//! pause or a slow commit it may be late, and would otherwise go at once with those behind it.
//!
//! Memory is bounded by [`CAPACITY`] pairs, about 9 MB for a number that reaches it. A pair is removed when it owes
//! nothing any more, some with every call and never all at once. Beyond the bound, the pairs with the shortest wait
//! left are removed first; the provider refuses a message that then goes too soon, and it is retried.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::{Duration, Instant};

use crate::contacts::people::PeopleOf;
use crate::planted::{Fault, is_planted};
use domain::phone::PhoneNumber;
use domain::tier::Tier;

/// The most pairs in memory. A number that keeps to its pace stays far below: it owes no more intervals than it sent
/// messages, so 1,000 messages a second at six seconds each are 6,000 pairs.
const CAPACITY: usize = 100_000;

/// The waits after refusals are 4 to the power of 0, 1, 2 … seconds, as the provider recommends, and no longer
/// than 4 to this power.
const LONGEST: u32 = 4;

/// After this time without a refusal, measured from the end of its wait, a refused pair begins with the shortest wait
/// again.
const QUIET: Duration = Duration::from_secs(4_u64.pow(LONGEST));

/// A longer interval counts as this one, so that no sum of intervals overflows.
const LONGEST_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// The most pairs that one call examines to find one to remove.
const LOOKS: usize = 16;

/// Slots are promised at most this far ahead.
const FARTHEST: Duration = Duration::from_secs(60 * 60);

/// Memory for more pairs than this is freed when no pair is left.
const KEPT: usize = 1024;

pub(super) struct RecipientPacing {
    /// The time between two messages; zero when pairs are not paced.
    interval: Duration,
    /// How far a burst may be ahead of the even pace.
    tolerance: Duration,
    pairs: HashMap<PhoneNumber, Pair>,
    /// One entry for each pair: when it may be removed, as known when it was entered. That time may have moved since,
    /// so it is checked when it comes.
    order: BinaryHeap<Reverse<(Instant, PhoneNumber)>>,
    capacity: usize,
    /// Who has which number: a pair is of a person, whichever number a message goes to.
    people: Option<PeopleOf>,
}

#[derive(Clone, Copy)]
struct Pair {
    /// When the next message would go if the messages sent had gone evenly.
    arrival: Instant,
    /// The same, if the waiting messages had gone in their promised slots.
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
    /// When the pair may be removed: from then on it is like one that was never seen.
    fn removable_at(&self) -> Instant {
        let owes = self.arrival.max(self.promised);
        self.refused.map_or(owes, |refused| owes.max(refused.until + QUIET))
    }
}

impl RecipientPacing {
    /// For a number of this tier.
    pub(super) fn new(tier: &Tier) -> Self {
        Self::bounded(tier, CAPACITY)
    }

    fn bounded(tier: &Tier, capacity: usize) -> Self {
        let mut pacing = Self {
            interval: Duration::ZERO,
            tolerance: Duration::ZERO,
            pairs: HashMap::new(),
            order: BinaryHeap::new(),
            capacity,
            people: None,
        };
        pacing.retune(tier);
        pacing
    }

    /// The same, for these people.
    pub(super) fn of(self, people: PeopleOf) -> Self {
        Self { people: Some(people), ..self }
    }

    fn person(&self, number: PhoneNumber) -> PhoneNumber {
        self.people.as_ref().map_or_else(|| number.person(), |people| people.person(number))
    }

    /// Follows a changed tier; what pairs owe stays.
    pub(super) fn retune(&mut self, tier: &Tier) {
        self.interval = tier.pair_interval.min(LONGEST_INTERVAL);
        self.tolerance = self.interval * tier.pair_burst.saturating_sub(1);
    }

    /// Takes a slot for a message to `recipient` if it may go now; otherwise promises it a slot. A message that
    /// `has_waited` queues behind the messages that went; any other message also queues behind the waiting ones. Beyond
    /// [`FARTHEST`], slots are given at random: canceled messages leave their slots empty, and no message should wait
    /// for days behind those.
    ///
    /// # Errors
    ///
    /// When the message has to ask again.
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
        let recipient = self.person(recipient);
        self.remove_settled(now);
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
        let recipient = self.person(recipient);
        let Some(pair) = self.pairs.get(&recipient) else { return Duration::ZERO };
        let before = if has_waited { pair.arrival } else { pair.arrival.max(pair.promised) };
        let paced = before.saturating_duration_since(now).saturating_sub(self.tolerance);
        let blocked = self.blocked(recipient, now).map(|until| until.saturating_duration_since(now));
        let paced = if self.interval.is_zero() { Duration::ZERO } else { paced };
        paced.max(blocked.unwrap_or_default())
    }

    /// Until when the provider refuses messages to `recipient`.
    pub(super) fn blocked(&self, recipient: PhoneNumber, now: Instant) -> Option<Instant> {
        let refused = self.pairs.get(&self.person(recipient))?.refused?;
        (refused.until > now).then_some(refused.until)
    }

    /// The provider refused a message to `recipient` because this pair is too fast (code 131056). Returns the time
    /// before which nothing goes to the recipient. Further refusals within that wait count as the same refusal.
    pub(super) fn refused(&mut self, recipient: PhoneNumber, now: Instant) -> Instant {
        let recipient = self.person(recipient);
        self.remove_settled(now);
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

    /// The provider accepted a message to `recipient`: the next refusal counts as a first one. A present wait stays,
    /// because the answers of messages in flight come in any order.
    pub(super) fn accepted(&mut self, recipient: PhoneNumber, now: Instant) {
        let recipient = self.person(recipient);
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
        self.order.push(Reverse((pair.removable_at(), recipient)));
    }

    /// Removes pairs that owe nothing any more: two at most, because a call can add one and delay another.
    fn remove_settled(&mut self, now: Instant) {
        for _ in 0..2 {
            if self.order.peek().is_some_and(|Reverse((moment, _))| *moment <= now) {
                self.settle(Some(now));
            }
        }
        if self.pairs.is_empty() && self.pairs.capacity() > KEPT {
            (self.pairs, self.order) = (HashMap::new(), BinaryHeap::new());
        }
    }

    /// Removes the pair with the shortest wait left, among a few that are examined.
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

    /// Examines the first pair of the order. The pair is removed when it owes nothing at `now`, or, without `now`, when
    /// its time has not moved since it was entered; otherwise it is entered again. Returns whether it was removed.
    fn settle(&mut self, now: Option<Instant>) -> bool {
        let Some(Reverse((moment, recipient))) = self.order.pop() else { return false };
        let Some(pair) = self.pairs.get(&recipient) else { return false };
        let due = pair.removable_at();
        let is_removed = due <= now.unwrap_or(moment);
        if is_removed {
            self.pairs.remove(&recipient);
        } else {
            self.order.push(Reverse((due, recipient)));
        }
        is_removed
    }
}

#[cfg(test)]
mod tests;
