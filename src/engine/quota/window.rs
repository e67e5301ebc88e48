//! A window of 24 hours over the recipients of one business account.
//!
//! Each recipient is in it once, with the time of the last message to it, which takes about 70 bytes: a quota
//! of 100,000 recipients, the largest of the provider, is 7 MB. An account without a quota keeps nothing.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use crate::clock::Timestamp;
use crate::domain::phone::PhoneNumber;
use crate::domain::tier::Quota;

/// How long a recipient counts.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// At most so many recipients whose day is over are forgotten in one call, so that none stands still for long.
const SWEEP: usize = 32;

/// The most recipients that are counted; a larger quota counts as this one. The oldest are left out, and that
/// changes nothing for smaller quotas: only the newest, as many as the quota, decide when there is room.
const MOST: usize = 1_000_000;

/// A channel without a quota is counted up to here while another channel of its account has one. Beyond that
/// nobody is counted until the other one reads again what was sent.
const MOST_WITHOUT_QUOTA: usize = 200_000;

/// What became of a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reserved {
    /// The recipient counts from now on.
    New {
        /// To be given back with [`super::Account::release`] when nothing was sent.
        at: Timestamp,
    },
    /// The recipient counted already and counts longer now.
    Known,
    /// The account has no quota and nobody is counted.
    Uncounted,
    /// There is no room for another recipient.
    Full {
        /// When there will be, unless it is taken by then.
        until: Timestamp,
    },
    /// What was sent before is not known, so nobody can say whether there is room: to be asked again after
    /// [`super::Account::restore`].
    Unread,
}

/// See the module.
#[derive(Default)]
pub(super) struct Window {
    /// The last message to each recipient.
    last: HashMap<PhoneNumber, Timestamp>,
    /// The same, oldest first.
    order: BTreeSet<(Timestamp, PhoneNumber)>,
    /// Whether everything that was sent in the last day is here.
    complete: bool,
}

impl Window {
    pub(super) fn reserve(&mut self, recipient: PhoneNumber, quota: Quota, now: Timestamp) -> Reserved {
        if !self.complete {
            return if quota == Quota::Unlimited { Reserved::Uncounted } else { Reserved::Unread };
        }
        if let Some(last) = self.last.get(&recipient).copied().filter(|last| !is_over(*last, now)) {
            // Always a little later than before, so that no earlier message can give it back.
            self.put(recipient, now.max(last.plus(Duration::from_millis(1))));
            return Reserved::Known;
        }
        self.forget(quota, now);
        match quota {
            Quota::AtMost(_) => {
                if let Some(until) = self.next_slot(quota, now) {
                    return Reserved::Full { until };
                }
            }
            Quota::Unlimited if self.last.len() >= MOST_WITHOUT_QUOTA => {
                *self = Self::default();
                return Reserved::Uncounted;
            }
            Quota::Unlimited => {}
        }
        self.put(recipient, now);
        Reserved::New { at: now }
    }

    pub(super) fn release(&mut self, recipient: PhoneNumber, at: Timestamp) {
        if self.last.get(&recipient) == Some(&at) {
            self.last.remove(&recipient);
            self.order.remove(&(at, recipient));
        }
    }

    pub(super) fn restore(&mut self, rows: impl IntoIterator<Item = (PhoneNumber, Timestamp)>) {
        for (recipient, at) in rows {
            if self.last.get(&recipient).is_none_or(|last| *last < at) {
                self.put(recipient, at);
            }
            if self.order.len() > MOST {
                self.drop_oldest();
            }
        }
        self.complete = true;
    }

    /// Recipients that a clock that was ahead wrote to later than `now` count from `now` on: a day, and not as long as
    /// the clock was ahead besides.
    pub(super) fn clock_went_back(&mut self, now: Timestamp) {
        while let Some((at, recipient)) = self.order.last().copied().filter(|(at, _)| *at > now) {
            self.order.remove(&(at, recipient));
            self.last.insert(recipient, now);
            self.order.insert((now, recipient));
        }
    }

    pub(super) fn used(&self, now: Timestamp) -> u64 {
        let over = self.order.iter().take_while(|(at, _)| is_over(*at, now)).count();
        (self.order.len() - over) as u64
    }

    pub(super) fn next_slot(&self, quota: Quota, now: Timestamp) -> Option<Timestamp> {
        let Quota::AtMost(most) = quota else { return None };
        // A quota may have become smaller than what is counted: then more than one must go first.
        let others_to_go = self.order.len().checked_sub((most as usize).min(MOST))?;
        let (last_to_go, _) = self.order.iter().nth(others_to_go)?;
        (!is_over(*last_to_go, now)).then(|| last_to_go.plus(DAY))
    }

    fn put(&mut self, recipient: PhoneNumber, at: Timestamp) {
        if let Some(before) = self.last.insert(recipient, at) {
            self.order.remove(&(before, recipient));
        }
        self.order.insert((at, recipient));
    }

    /// Forgets recipients whose day is over: some at every call, and as many as it takes to have room.
    fn forget(&mut self, quota: Quota, now: Timestamp) {
        for looked in 0.. {
            let over = self.order.first().is_some_and(|(at, _)| is_over(*at, now));
            if !over || (looked >= SWEEP && self.has_room(quota)) {
                break;
            }
            self.drop_oldest();
        }
        if self.last.is_empty() {
            self.last.shrink_to_fit();
        }
    }

    fn drop_oldest(&mut self) {
        if let Some((_, recipient)) = self.order.pop_first() {
            self.last.remove(&recipient);
        }
    }

    /// Whether one more fits, those counted whose day is over.
    fn has_room(&self, quota: Quota) -> bool {
        match quota {
            Quota::Unlimited => true,
            Quota::AtMost(most) => self.order.len() < (most as usize).min(MOST),
        }
    }
}

/// Whether a recipient last written to at `last` does not count any more. Times in the future count until their day
/// is over too, unless [`Window::clock_went_back`] was told of them.
fn is_over(last: Timestamp, now: Timestamp) -> bool {
    last.plus(DAY) <= now
}

#[cfg(test)]
mod tests;
