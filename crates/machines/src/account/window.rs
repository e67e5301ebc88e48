//! A window of 24 hours over the recipients of one business account.
//!
//! Each recipient is in it once, with the time of the last message to it, in about 70 bytes: the provider's largest
//! quota, 100,000 recipients, takes 7 MB. An account without a quota keeps nothing.
//!
//! For some recipients it is unknown whether they were written to: the process crashed, or one of several messages to
//! them was refused. They count, and are written to (again) only while no more people count than the quota allows.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use clock::Timestamp;
use domain::phone::PhoneNumber;
use domain::template::WrittenTo;
use domain::tier::Quota;

/// How long a recipient counts.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The most recipients whose day is over that one call removes, so that no call takes long.
const SWEEP: usize = 32;

/// The most recipients that are counted; a larger quota counts as this one. The oldest are left out, which changes
/// nothing for smaller quotas: only the newest recipients, as many as the quota, decide whether there is room.
const MOST: usize = 1_000_000;

/// Up to this number, recipients of channels without a quota are counted even while no channel of the account has one.
/// Beyond it, no recipient is counted until a channel has a quota and the earlier messages are read.
const MOST_WITHOUT_QUOTA: usize = 200_000;

/// A channel with a quota asks at least this often.
const ASKED_WITHIN: Duration = Duration::from_secs(60 * 60);

/// The outcome of a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reserved {
    /// The recipient counts from now on.
    New {
        /// The time to pass to [`Window::release`] if no message was sent.
        at: Timestamp,
    },
    /// The recipient counted already, and counts for longer now.
    Known,
    /// The account has no quota and nobody is counted.
    Uncounted,
    /// There is no room for another recipient.
    Full {
        /// When there will be room, unless somebody takes it by then.
        until: Timestamp,
    },
    /// The earlier messages are not known yet, and so it is unknown whether there is room. The caller asks again after
    /// [`Window::complete`].
    Unread,
}

/// The people who count, with the times of the last messages to them.
#[derive(Default)]
pub struct Window {
    /// The last message to each recipient.
    last: HashMap<PhoneNumber, Timestamp>,
    /// The same, oldest first.
    order: BTreeSet<(Timestamp, PhoneNumber)>,
    /// The people of whom it is unknown whether they were written to.
    doubtful: HashSet<PhoneNumber>,
    stage: Stage,
    /// The number of times that a person began to count.
    arrivals: u64,
    /// When a channel with a quota last asked.
    asked: Option<Timestamp>,
}

/// How many of the last day's messages a window has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    /// Nothing.
    #[default]
    Unread,
    /// The messages since the read of the store began.
    Reading,
    /// Everything.
    Complete,
}

impl Window {
    /// Counts a recipient of a template from now on, if the quota allows it.
    pub fn reserve(&mut self, recipient: PhoneNumber, quota: Quota, now: Timestamp) -> Reserved {
        match (quota, self.stage) {
            (Quota::Unlimited, Stage::Unread) => return Reserved::Uncounted,
            (Quota::AtMost(_), Stage::Unread | Stage::Reading) => return Reserved::Unread,
            (Quota::AtMost(_), Stage::Complete) => self.asked = Some(now),
            (Quota::Unlimited, Stage::Reading | Stage::Complete) => {}
        }
        if let Some(last) = self.last.get(&recipient).copied().filter(|last| !is_over(*last, now)) {
            let is_doubtful = self.doubtful.contains(&recipient);
            if is_doubtful && let Some(until) = self.too_many_until(quota, now) {
                return Reserved::Full { until };
            }
            // Always later than before, so that no earlier message can give it back.
            self.put(recipient, now.max(last.plus(Duration::from_millis(1))));
            // If this message is given back, it is unknown again whether the person was written to.
            return if self.doubtful.remove(&recipient) {
                Reserved::New { at: last }
            } else {
                Reserved::Known
            };
        }
        self.forget(quota, now);
        match quota {
            Quota::AtMost(_) => {
                if let Some(until) = self.next_slot(quota, now) {
                    return Reserved::Full { until };
                }
            }
            // A read for a channel with a quota goes on to its end.
            Quota::Unlimited
                if self.last.len() >= MOST_WITHOUT_QUOTA
                    && self.stage == Stage::Complete
                    && !self.is_asked(now) =>
            {
                *self = Self::default();
                return Reserved::Uncounted;
            }
            Quota::Unlimited => {}
        }
        self.put(recipient, now);
        Reserved::New { at: now }
    }

    /// Counts a template that went at `at` to a recipient with a slot. A recipient who counts already counts a little
    /// longer than from `at`, so that this message cannot give back what an earlier one counted.
    pub(super) fn spend(&mut self, recipient: PhoneNumber, at: Timestamp) {
        if self.stage == Stage::Unread {
            return;
        }
        match self.last.get(&recipient).copied() {
            Some(last) if !is_over(last, at) => {
                self.doubtful.remove(&recipient);
                self.put(recipient, at.max(last).plus(Duration::from_millis(1)));
            }
            Some(last) => {
                self.remove((last, recipient));
                self.put(recipient, at);
            }
            None => self.put(recipient, at),
        }
    }

    /// The same for a message that went before the clock was set back to `now`.
    pub(super) fn spend_before(&mut self, recipient: PhoneNumber, now: Timestamp) {
        self.spend(recipient, now);
        if self.is_counting() {
            self.doubtful.insert(recipient);
        }
    }

    /// A channel with a quota asks: removes some recipients whose day is over.
    pub(super) fn look_after(&mut self, quota: Quota, now: Timestamp) {
        if matches!(quota, Quota::AtMost(_)) && self.stage == Stage::Complete {
            self.asked = Some(now);
        }
        self.forget(quota, now);
    }

    /// Whether the recipient's day is not over.
    pub(super) fn is_live(&self, recipient: PhoneNumber, now: Timestamp) -> bool {
        self.last.get(&recipient).is_some_and(|last| !is_over(*last, now))
    }

    /// Whether people are counted: while they are not, nothing is kept.
    pub(super) const fn is_counting(&self) -> bool {
        !matches!(self.stage, Stage::Unread)
    }

    /// Whether the recipient counts, so that a message to it needs no slot.
    pub fn counts(&self, recipient: PhoneNumber, quota: Quota, now: Timestamp) -> bool {
        self.is_live(recipient, now)
            && !(self.doubtful.contains(&recipient) && self.too_many_until(quota, now).is_some())
    }

    /// How many more people may be counted.
    pub fn room(&self, quota: Quota, now: Timestamp) -> u64 {
        match quota {
            Quota::Unlimited => u64::MAX,
            Quota::AtMost(most) => most_of(most).saturating_sub(self.used(now) as usize) as u64,
        }
    }

    /// Takes back the count of `at`. When another message to the recipient was counted since, the recipient goes on
    /// counting, but it is unknown whether the provider accepted that message.
    pub fn release(&mut self, recipient: PhoneNumber, at: Timestamp) {
        match self.last.get(&recipient) {
            Some(last) if *last == at => self.remove((at, recipient)),
            Some(_) => {
                self.doubtful.insert(recipient);
            }
            None => {}
        }
    }

    /// The people who were written to are being read.
    pub fn begin(&mut self) {
        if self.stage == Stage::Unread {
            self.stage = Stage::Reading;
        }
    }

    /// Adds people who were written to, from the store. Newer knowledge stays.
    pub fn restore(&mut self, people: impl IntoIterator<Item = WrittenTo>) {
        for WrittenTo { recipient, at, is_certain } in people {
            let last = self.last.get(&recipient).copied();
            if last.is_none_or(|last| last < at) {
                self.put(recipient, at);
            }
            if is_certain {
                self.doubtful.remove(&recipient);
            } else if last.is_none() {
                self.doubtful.insert(recipient);
            }
        }
    }

    /// How many new people were counted since the start.
    pub const fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// All people who were written to are read.
    pub fn complete(&mut self) {
        self.stage = Stage::Complete;
    }

    /// Whether all people who were written to are read.
    pub fn is_complete(&self) -> bool {
        self.stage == Stage::Complete
    }

    /// The people who count, with the times of the last messages to them, the oldest first.
    pub fn people(&self, now: Timestamp) -> impl Iterator<Item = (PhoneNumber, Timestamp)> {
        let counted = self.order.iter().filter(move |(at, _)| !is_over(*at, now));
        counted.map(|(at, recipient)| (*recipient, *at))
    }

    /// Recipients with a time later than `now`, from a clock that was ahead, count from `now` on for a day. Their times
    /// no longer tell whether the provider accepted these messages.
    pub fn clock_went_back(&mut self, now: Timestamp) {
        while let Some((at, recipient)) = self.order.last().copied().filter(|(at, _)| *at > now) {
            self.order.remove(&(at, recipient));
            self.last.insert(recipient, now);
            self.order.insert((now, recipient));
            self.doubtful.insert(recipient);
        }
    }

    /// The number of people who count now.
    pub fn used(&self, now: Timestamp) -> u64 {
        let over = self.order.iter().take_while(|(at, _)| is_over(*at, now)).count();
        (self.order.len() - over) as u64
    }

    /// When the quota has room for one more person; `None` if it has no bound, or room now.
    pub fn next_slot(&self, quota: Quota, now: Timestamp) -> Option<Timestamp> {
        let Quota::AtMost(most) = quota else { return None };
        self.at_most(most_of(most).saturating_sub(1), now)
    }

    /// Until when more people count than the quota allows.
    fn too_many_until(&self, quota: Quota, now: Timestamp) -> Option<Timestamp> {
        let Quota::AtMost(most) = quota else { return None };
        self.at_most(most_of(most), now)
    }

    /// When no more than `count` people count; `None` when that is so now.
    fn at_most(&self, count: usize, now: Timestamp) -> Option<Timestamp> {
        let to_go = self.order.len().checked_sub(count).filter(|to_go| *to_go > 0)?;
        // A quota may be much smaller than the count: searches from the nearer end.
        let last_to_go = if to_go <= count {
            self.order.iter().nth(to_go - 1)
        } else {
            self.order.iter().rev().nth(count)
        };
        let (at, _) = last_to_go?;
        (!is_over(*at, now)).then(|| at.plus(DAY))
    }

    /// Whether a channel with a quota asked lately.
    fn is_asked(&self, now: Timestamp) -> bool {
        self.asked.is_some_and(|asked| asked.plus(ASKED_WITHIN) > now)
    }

    fn put(&mut self, recipient: PhoneNumber, at: Timestamp) {
        match self.last.insert(recipient, at) {
            Some(before) => {
                self.order.remove(&(before, recipient));
            }
            None => self.arrivals += 1,
        }
        self.order.insert((at, recipient));
        if self.order.len() > MOST {
            self.drop_oldest();
        }
    }

    fn remove(&mut self, (at, recipient): (Timestamp, PhoneNumber)) {
        self.last.remove(&recipient);
        self.doubtful.remove(&recipient);
        self.order.remove(&(at, recipient));
    }

    /// Removes recipients whose day is over: some at every call, and as many as are needed to have room.
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
        if let Some(oldest) = self.order.first().copied() {
            self.remove(oldest);
        }
    }

    /// Whether one more fits, while recipients whose day is over count too.
    fn has_room(&self, quota: Quota) -> bool {
        match quota {
            Quota::Unlimited => true,
            Quota::AtMost(most) => self.order.len() < most_of(most),
        }
    }
}

/// How many people a quota allows.
pub(super) const fn most_of(quota: u32) -> usize {
    if quota as usize > MOST { MOST } else { quota as usize }
}

/// Whether a recipient last written to at `last` no longer counts. A time in the future counts until its day is over
/// too, unless [`Window::clock_went_back`] was called since.
fn is_over(last: Timestamp, now: Timestamp) -> bool {
    last.plus(DAY) <= now
}

#[cfg(test)]
mod tests;
