//! The template quota: how many people a business account may write to with templates in a moving day.
//!
//! The provider counts unique recipients of 24 hours over all numbers of an account, so the channels of one
//! account share one [`Account`]. It is plain memory that is asked, never waited for: whoever calls says what
//! time it is, reads from the store what was sent before, and decides what a full quota means.

mod window;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dashmap::DashMap;

pub(crate) use self::window::Reserved;
use self::window::Window;
use crate::clock::Timestamp;
use crate::domain::phone::PhoneNumber;
use crate::domain::tier::Quota;

/// The windows of all business accounts, shared by all threads.
#[derive(Default)]
pub(crate) struct Quotas(DashMap<String, Account>);

/// The window of one business account; clones share it.
#[derive(Clone, Default)]
pub(crate) struct Account(Arc<Mutex<Window>>);

impl Quotas {
    /// The account of this id at the provider.
    pub(crate) fn account(&self, waba_id: &str) -> Account {
        if let Some(known) = self.0.get(waba_id) {
            return known.clone();
        }
        self.0.entry(waba_id.to_owned()).or_default().clone()
    }

    /// The wall clock was set back to `now`: nobody was written to later than that.
    pub(crate) fn clock_went_back(&self, now: Timestamp) {
        for account in &self.0 {
            account.window().clock_went_back(now);
        }
    }
}

impl Account {
    /// Counts a template message to `recipient` if the quota has room.
    pub(crate) fn reserve(&self, recipient: PhoneNumber, quota: Quota, now: Timestamp) -> Reserved {
        self.window().reserve(recipient, quota, now)
    }

    /// Takes back what [`Reserved::New`] counted at `at`, because the provider refused the message. Does nothing
    /// when another message to the recipient was counted since.
    pub(crate) fn release(&self, recipient: PhoneNumber, at: Timestamp) {
        self.window().release(recipient, at);
    }

    /// Takes in recipients and when they were last written to, as the store knows them: at least those of the
    /// last 24 hours. What is known already stays.
    pub(crate) fn restore(&self, rows: impl IntoIterator<Item = (PhoneNumber, Timestamp)>) {
        self.window().restore(rows);
    }

    /// Recipients counted now.
    pub(crate) fn used(&self, now: Timestamp) -> u64 {
        self.window().used(now)
    }

    /// When there is room for another recipient; `None` when there is room now.
    pub(crate) fn next_slot(&self, quota: Quota, now: Timestamp) -> Option<Timestamp> {
        self.window().next_slot(quota, now)
    }

    fn window(&self) -> MutexGuard<'_, Window> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_channels_of_one_account_share_its_quota_and_other_accounts_do_not() {
        let (quotas, now) = (Quotas::default(), Timestamp::from_millis(1_000));
        let number = |nth: u64| PhoneNumber::from_u64(5_511_900_000_000 + nth).unwrap();
        let (one, same, other) = (quotas.account("1"), quotas.account("1"), quotas.account("2"));
        one.restore([]);
        other.restore([]);
        assert_eq!(one.reserve(number(1), Quota::AtMost(1), now), Reserved::New { at: now });
        assert!(matches!(same.reserve(number(2), Quota::AtMost(1), now), Reserved::Full { .. }));
        assert_eq!(other.reserve(number(2), Quota::AtMost(1), now), Reserved::New { at: now });
        assert!(same.next_slot(Quota::AtMost(1), now).is_some());
        one.release(number(1), now);
        assert_eq!((same.used(now), same.next_slot(Quota::AtMost(1), now)), (0, None));
    }
}
