//! The template quota: how many people a business account may write to with templates in a moving day.
//!
//! The provider counts unique recipients of 24 hours over all numbers of an account, so the channels of one
//! account share one [`Account`]. It is plain memory that is asked, never waited for: whoever calls says what
//! time it is, reads from the store what was sent before, and decides what a full quota means.
//!
//! A message is marked before it is attempted, and a crash leaves nobody who knows which of the marked messages
//! were. So a channel marks no more messages to new people than there are [`Slots`] left, those marked by other
//! channels of the account counted, and after a crash all of them count.

mod window;

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dashmap::DashMap;
use uuid::Uuid;

pub(crate) use self::window::Reserved;
use self::window::Window;
use crate::clock::Timestamp;
use crate::domain::phone::PhoneNumber;
use crate::domain::tier::Quota;
use crate::store::template_recipient::WrittenTo;

/// The windows of all business accounts, shared by all threads.
#[derive(Default)]
pub(crate) struct Quotas(DashMap<String, Account>);

/// The window of one business account; clones share it.
#[derive(Clone, Default)]
pub(crate) struct Account(Arc<Mutex<Counted>>);

#[derive(Default)]
struct Counted {
    window: Window,
    /// Messages of templates that each channel marked and has not attempted.
    marked: HashMap<Uuid, u64>,
}

/// The account as one of its channels has it; what the channel marked counts until this is dropped.
pub(crate) struct Member {
    account: Account,
    channel: Uuid,
}

/// How many people more a channel may mark messages to.
pub(crate) struct Slots<'a> {
    counted: MutexGuard<'a, Counted>,
    quota: Quota,
    left: u64,
    now: Timestamp,
}

impl Quotas {
    /// The account of this id at the provider, for one of its channels.
    pub(crate) fn member(&self, waba_id: &str, channel: Uuid) -> Member {
        let account = match self.0.get(waba_id) {
            Some(known) => known.clone(),
            None => self.0.entry(waba_id.to_owned()).or_default().clone(),
        };
        Member { account, channel }
    }

    /// The wall clock was set back to `now`: nobody was written to later than that.
    pub(crate) fn clock_went_back(&self, now: Timestamp) {
        for account in &self.0 {
            account.lock().window.clock_went_back(now);
        }
    }
}

impl Account {
    /// Counts a template message to `recipient` if the quota has room.
    pub(crate) fn reserve(&self, recipient: PhoneNumber, quota: Quota, now: Timestamp) -> Reserved {
        self.lock().window.reserve(recipient, quota, now)
    }

    /// Takes back what [`Reserved::New`] counted at `at`, because the provider refused the message. Does nothing
    /// when another message to the recipient was counted since.
    pub(crate) fn release(&self, recipient: PhoneNumber, at: Timestamp) {
        self.lock().window.release(recipient, at);
    }

    /// Whether the recipient counts, so that a message to them needs no slot.
    pub(crate) fn counts(&self, recipient: PhoneNumber, quota: Quota, now: Timestamp) -> bool {
        self.lock().window.counts(recipient, quota, now)
    }

    /// How often somebody new began to count: while it is the same, who did not count does not now.
    pub(crate) fn arrivals(&self) -> u64 {
        self.lock().window.arrivals()
    }

    /// Counts from now on, though what was sent before is still to be read: no message falls between the two.
    pub(crate) fn begin(&self) {
        self.lock().window.begin();
    }

    /// Takes in people who were written to in the last 24 hours, as the store knows them. What is known already
    /// stays.
    pub(crate) fn restore(&self, people: impl IntoIterator<Item = WrittenTo>) {
        self.lock().window.restore(people);
    }

    /// Everybody was taken in.
    pub(crate) fn complete(&self) {
        self.lock().window.complete();
    }

    /// Whether everybody was taken in.
    pub(crate) fn is_complete(&self) -> bool {
        self.lock().window.is_complete()
    }

    /// The people counted now, with the times of the last messages to them, the oldest first.
    pub(crate) fn people(&self, now: Timestamp) -> Vec<(PhoneNumber, Timestamp)> {
        self.lock().window.people(now).collect()
    }

    /// Recipients counted now.
    pub(crate) fn used(&self, now: Timestamp) -> u64 {
        self.lock().window.used(now)
    }

    /// When there is room for another recipient; `None` when there is room now.
    pub(crate) fn next_slot(&self, quota: Quota, now: Timestamp) -> Option<Timestamp> {
        self.lock().window.next_slot(quota, now)
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Member {
    /// How many people more this channel may mark messages to, when it has marked so many.
    pub(crate) fn slots(&self, quota: Quota, marked: u64, now: Timestamp) -> Slots<'_> {
        let counted = self.lock();
        let others: u64 = counted
            .marked
            .iter()
            .filter(|(channel, _)| **channel != self.channel)
            .map(|(_, marked)| marked)
            .sum();
        let left = counted.window.room(quota, now).saturating_sub(marked + others);
        Slots { counted, quota, left, now }
    }

    /// The account, for whoever reads what was sent.
    pub(crate) fn account(&self) -> Account {
        self.account.clone()
    }

    /// So many messages of this channel are marked and were not attempted.
    pub(crate) fn mark(&self, marked: u64) {
        let mut counted = self.lock();
        if marked > 0 {
            counted.marked.insert(self.channel, marked);
        } else {
            counted.marked.remove(&self.channel);
        }
    }

    /// Whether some of this channel's are.
    pub(crate) fn has_marks(&self) -> bool {
        self.lock().marked.contains_key(&self.channel)
    }
}

impl Deref for Member {
    type Target = Account;

    fn deref(&self) -> &Account {
        &self.account
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.mark(0);
    }
}

impl Slots<'_> {
    /// Takes a slot, unless the recipient has one. Whether it has one now.
    pub(crate) fn take(&mut self, recipient: PhoneNumber) -> bool {
        if self.counted.window.counts(recipient, self.quota, self.now) {
            return true;
        }
        let is_left = self.left > 0;
        self.left -= u64::from(is_left);
        is_left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(nth: u64) -> PhoneNumber {
        PhoneNumber::from_u64(5_511_900_000_000 + nth).unwrap()
    }

    /// Three channels, the first two of one account.
    fn members() -> [Member; 3] {
        let quotas = Quotas::default();
        let member = |waba_id: &str, channel| quotas.member(waba_id, Uuid::from_u128(channel));
        let members = [member("1", 1), member("1", 2), member("2", 3)];
        members.iter().for_each(|member| member.complete());
        members
    }

    #[test]
    fn the_channels_of_one_account_share_its_quota_and_other_accounts_do_not() {
        let now = Timestamp::from_millis(1_000);
        let [one, same, other] = members();
        assert_eq!(one.reserve(number(1), Quota::AtMost(1), now), Reserved::New { at: now });
        assert!(matches!(same.reserve(number(2), Quota::AtMost(1), now), Reserved::Full { .. }));
        assert_eq!(other.reserve(number(2), Quota::AtMost(1), now), Reserved::New { at: now });
        assert!(same.next_slot(Quota::AtMost(1), now).is_some());
        one.release(number(1), now);
        assert_eq!((same.used(now), same.next_slot(Quota::AtMost(1), now)), (0, None));
    }

    #[test]
    fn no_more_is_marked_than_the_quota_has_slots_left() {
        let now = Timestamp::from_millis(1_000);
        let (quota, [one, same, _]) = (Quota::AtMost(4), members());
        assert_eq!(one.reserve(number(1), quota, now), Reserved::New { at: now });
        let take = |member: &Member, marked: u64, people: std::ops::Range<u64>| {
            let mut slots = member.slots(quota, marked, now);
            people.filter(|nth| slots.take(number(*nth))).count()
        };
        assert_eq!(take(&one, 0, 2..10), 3);
        assert_eq!(take(&one, 2, 2..10), 1, "two are taken");
        assert_eq!(take(&one, 2, 1..10), 2, "who counts already takes none");
        one.mark(2);
        assert_eq!(take(&same, 0, 2..10), 1, "by all channels");
        drop(one);
        assert_eq!(take(&same, 0, 2..10), 3, "but not by those that are gone");
        assert_eq!(take(&same, 9, 2..10), 0);
    }
}
