//! The template quota: how many people the account may write to with templates in a moving day.
//!
//! The provider counts the unique recipients of 24 hours over all numbers of an account. The [window](super::window)
//! has the people who were written to. Before a channel writes to people, they are granted to it, some at a time. A
//! granted person takes a slot from then on, so that the channel needs no call when it sends. Afterwards the channel
//! reports the people it wrote to, and returns the others.
//!
//! A message is marked before it is attempted, and after a crash it is unknown which marked messages were attempted. So
//! a channel marks messages only to people granted to it, and after a crash all of them count.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::effect::{AccountUpdate, Answer, Effect, Effects, Granted};
use super::input::{Ask, Unread};
use super::updates::Updates;
use super::window::{self, Reserved, Window};
use crate::Moment;
use crate::planted::{Fault, is_planted};
use clock::Timestamp;
use domain::phone::PhoneNumber;
use domain::template::WrittenTo;
use domain::tier::{QUOTA_SPAN, Quota};

/// Delay before the store is read again after that failed.
const READ_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// A message that is ahead of the wall clock by no more than this went before a small adjustment of the clock. One that
/// is further ahead went before the clock was set back.
const ADJUSTED_BY: Duration = Duration::from_secs(1);

/// The quota of one account. The limit itself comes with each request, because the channels' tiers may differ in it.
#[derive(Default)]
pub(super) struct Slots {
    window: Window,
    grants: BTreeMap<Uuid, Grants>,
    /// The number of channels to which each person is granted.
    holders: HashMap<PhoneNumber, u32>,
    /// Channels that found no slot while others hold some.
    refused: Vec<Uuid>,
    /// Channels that wait until the store is read.
    waiting: Vec<Uuid>,
    reading: Reading,
    /// Counts how often grants became void.
    voids: u64,
    updates: Updates,
}

/// The people who are granted to one channel.
struct Grants {
    /// The quota of the channel's tier, which its grants keep.
    quota: Quota,
    people: HashSet<PhoneNumber>,
    is_void: bool,
}

/// The read of the people who were written to in the last day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Reading {
    #[default]
    Idle,
    UnderWay {
        span: (Timestamp, Timestamp),
    },
    /// The read failed: it is retried then.
    Again(Instant),
}

impl Slots {
    /// The channel has a quota from now on. Returns whether the people who were written to before are known; otherwise
    /// the channel is told once they are.
    pub(super) fn learn(&mut self, channel: Uuid, at: Moment, effects: &mut Effects) -> bool {
        if is_planted(Fault::QuotaNotRestored) {
            self.window.begin();
            self.window.complete();
        }
        if self.window.is_complete() {
            return true;
        }
        if !self.waiting.contains(&channel) {
            self.waiting.push(channel);
        }
        if self.reading == Reading::Idle {
            self.read(at, effects);
        }
        false
    }

    /// Counts people from now on and then reads the earlier ones, so that no message is missed in between.
    fn read(&mut self, at: Moment, effects: &mut Effects) {
        let span = (at.wall.minus(QUOTA_SPAN), at.wall);
        self.reading = Reading::UnderWay { span };
        self.window.begin();
        effects.push(Effect::ReadPeople { span });
    }

    /// People who were written to in the last day, from the store.
    pub(super) fn found(&mut self, people: Vec<WrittenTo>) {
        if matches!(self.reading, Reading::UnderWay { .. }) {
            self.window.restore(people);
        }
    }

    /// The read of the store ended.
    pub(super) fn was_read(
        &mut self,
        span: (Timestamp, Timestamp),
        result: Result<(), Unread>,
        now: Instant,
        effects: &mut Effects,
    ) {
        // An earlier machine of the account may have begun another read.
        if self.reading != (Reading::UnderWay { span }) {
            return;
        }
        if result.is_err() {
            self.reading = Reading::Again(now + READ_AGAIN_AFTER);
            return;
        }
        self.reading = Reading::Idle;
        self.window.complete();
        for channel in mem::take(&mut self.waiting) {
            effects.push(Effect::Tell { channel, update: AccountUpdate::PeopleKnown });
        }
    }

    /// When the store is read again, or a channel is told an update.
    pub(super) fn next_at(&self) -> Option<Instant> {
        [self.reads_again_at(), self.updates.next_at()].into_iter().flatten().min()
    }

    const fn reads_again_at(&self) -> Option<Instant> {
        match self.reading {
            Reading::Again(at) => Some(at),
            Reading::Idle | Reading::UnderWay { .. } => None,
        }
    }

    /// Reads the store again if that is due, and tells channels the updates that are due.
    pub(super) fn go_on(&mut self, at: Moment, effects: &mut Effects) {
        if self.reads_again_at().is_some_and(|again| again <= at.monotonic) {
            self.read(at, effects);
        }
        self.updates.go_on(at.monotonic, effects);
    }

    /// A channel reports the people it wrote to, returns others, and asks for more.
    pub(super) fn ask(&mut self, ask: Ask, at: Moment, effects: &mut Effects) {
        let Ask { channel, quota, sent, returned, wanted } = ask;
        let arrivals = self.window.arrivals();
        for (recipient, sent_at) in sent {
            // The account learned of the clock's change before it learned of this message.
            if sent_at > at.wall.plus(ADJUSTED_BY) {
                self.window.spend_before(recipient, at.wall);
            } else {
                self.window.spend(recipient, sent_at);
            }
        }
        let mut is_freed = false;
        for recipient in returned {
            is_freed |= self.give_back(channel, recipient, at.wall);
        }
        self.window.look_after(quota, at.wall);
        let refused = self.grant(channel, quota, wanted, at.wall);
        self.void_overdrawn(Some(channel), at.wall);
        if !refused.is_empty() && self.window.room(quota, at.wall) > 0 {
            self.recall(channel);
        } else if is_freed {
            self.tell_of_room();
        }
        effects.push(Effect::Answer(Answer::Granted(Granted {
            refused,
            has_arrivals: self.window.arrivals() != arrivals,
            is_known: self.window.is_complete(),
        })));
    }

    /// Grants these people to the channel while there are slots. Returns those for whom there is none.
    fn grant(
        &mut self,
        channel: Uuid,
        quota: Quota,
        wanted: Vec<PhoneNumber>,
        wall: Timestamp,
    ) -> Vec<PhoneNumber> {
        if !self.window.is_complete() {
            return wanted;
        }
        let (mut used, mut refused) = (None, Vec::new());
        for recipient in wanted {
            if self.grants.get(&channel).is_some_and(|held| held.people.contains(&recipient)) {
                continue;
            }
            if !self.window.counts(recipient, quota, wall) {
                // A person granted to another channel takes a slot already, but perhaps one that only that channel's
                // larger quota has.
                let is_held = self.holders.contains_key(&recipient);
                let with_them = used.unwrap_or_else(|| self.used(wall)) + u64::from(!is_held);
                if with_them > most_of(quota) {
                    refused.push(recipient);
                    continue;
                }
                used = Some(with_them);
            }
            let new = || Grants { quota, people: HashSet::new(), is_void: false };
            let grants = self.grants.entry(channel).or_insert_with(new);
            grants.quota = quota;
            grants.people.insert(recipient);
            *self.holders.entry(recipient).or_default() += 1;
        }
        refused
    }

    /// The number of people who take a slot only because they are granted.
    fn held_alone(&self, wall: Timestamp) -> u64 {
        self.holders.keys().filter(|held| !self.window.is_live(**held, wall)).count() as u64
    }

    /// The channel does not write to this person. Returns whether that freed a slot.
    fn give_back(&mut self, channel: Uuid, recipient: PhoneNumber, wall: Timestamp) -> bool {
        let Some(held) = self.grants.get_mut(&channel) else { return false };
        if !held.people.remove(&recipient) {
            return false;
        }
        if held.people.is_empty() {
            self.grants.remove(&channel);
        }
        let Some(holders) = self.holders.get_mut(&recipient) else { return false };
        *holders -= 1;
        if *holders > 0 {
            return false;
        }
        self.holders.remove(&recipient);
        !self.window.is_live(recipient, wall)
    }

    /// A channel found no slot while others hold unused ones: asks those to return what they cannot use now.
    fn recall(&mut self, channel: Uuid) {
        if !self.refused.contains(&channel) {
            self.refused.push(channel);
        }
        for holder in self.grants.keys().filter(|holder| **holder != channel) {
            self.updates.add(*holder, AccountUpdate::Recalled);
        }
    }

    /// Tells the channels that wait for a slot that one is free.
    fn tell_of_room(&mut self) {
        for channel in mem::take(&mut self.refused) {
            self.updates.add(channel, AccountUpdate::HasRoom);
        }
    }

    /// The channel is gone, and everything that is granted to it is free.
    pub(super) fn leave(&mut self, channel: Uuid, wall: Timestamp) {
        self.updates.leave(channel);
        self.waiting.retain(|waiting| *waiting != channel);
        self.refused.retain(|refused| *refused != channel);
        let mut is_freed = false;
        for recipient in self.people_of(channel) {
            is_freed |= self.give_back(channel, recipient, wall);
        }
        if is_freed {
            self.tell_of_room();
        }
    }

    /// Makes the grants of a channel void when more slots are taken than its quota has: where the tiers of channels
    /// have different quotas, one channel may use up the slots that were granted to another. A channel whose grants are
    /// void asks for each person when it sends. The granted people take their slots until the channel has reported whom
    /// it wrote to and returned the others.
    fn void_overdrawn(&mut self, by: Option<Uuid>, wall: Timestamp) {
        let least = self.grants.values().map(|grants| most_of(grants.quota)).min();
        let at_most = self.window.used(wall) + self.holders.len() as u64;
        if least.is_none_or(|least| at_most <= least) {
            return;
        }
        let used = self.used(wall);
        for (channel, grants) in &mut self.grants {
            if grants.is_void || used <= most_of(grants.quota) {
                continue;
            }
            grants.is_void = true;
            self.voids += 1;
            if by != Some(*channel) {
                self.updates.add(*channel, AccountUpdate::Recalled);
            }
        }
    }

    fn people_of(&self, channel: Uuid) -> Vec<PhoneNumber> {
        self.grants.get(&channel).map_or_else(Vec::new, |grants| grants.people.iter().copied().collect())
    }

    /// How often grants became void. While the number is unchanged, messages may go to granted people.
    pub(super) const fn voids(&self) -> u64 {
        self.voids
    }

    /// Counts a template of a channel without a quota, which has no grants.
    pub(super) fn count(&mut self, recipient: PhoneNumber, wall: Timestamp) -> Reserved {
        let counted = self.window.reserve(recipient, Quota::Unlimited, wall);
        if matches!(counted, Reserved::New { .. }) {
            self.void_overdrawn(None, wall);
        }
        counted
    }

    /// Takes back the count of `at`, because the provider refused the message. When another message to the recipient
    /// was counted since, or the clock was set back, the recipient still counts, because the provider may count them.
    /// But while more people count than a quota allows, the recipient takes a slot like a new person, because the
    /// provider may not count them.
    pub(super) fn release(&mut self, recipient: PhoneNumber, at: Timestamp) {
        self.window.release(recipient, at);
    }

    /// The wall clock was set back to `now`: nobody was written to later than that.
    pub(super) fn clock_went_back(&mut self, now: Timestamp) {
        self.window.clock_went_back(now);
        // People whose day was over may count again.
        self.void_overdrawn(None, now);
    }

    /// Whether people are counted.
    pub(super) const fn is_counting(&self) -> bool {
        self.window.is_counting()
    }

    /// The people who were written to.
    pub(super) const fn window(&self) -> &Window {
        &self.window
    }

    /// The slots that are taken, by people who were written to and by granted people.
    pub(super) fn used(&self, wall: Timestamp) -> u64 {
        self.window.used(wall) + self.held_alone(wall)
    }
}

/// How many people a quota allows.
const fn most_of(quota: Quota) -> u64 {
    match quota {
        Quota::Unlimited => u64::MAX,
        Quota::AtMost(most) => window::most_of(most) as u64,
    }
}
