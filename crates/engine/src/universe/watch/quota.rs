//! The people to whom business accounts sent templates, as the receiver can know it.

use std::collections::HashMap;
use std::time::Duration;

use domain::phone::PhoneNumber;

/// A recipient counts for a day; clocks that were set make the last hour of it uncertain.
const SURELY_COUNTED: Duration = Duration::from_secs(23 * 3_600);

#[derive(Debug, Default)]
pub(super) struct WrittenTo(HashMap<String, HashMap<PhoneNumber, Written>>);

#[derive(Debug, Clone, Copy, Default)]
struct Written {
    /// When the provider last took a message, or may have.
    taken_at: Option<Duration>,
    under_way: u32,
}

impl WrittenTo {
    /// How many people an account wrote to, unless this person is one of them.
    pub(super) fn others(&self, account: &str, person: PhoneNumber, now: Duration) -> Option<usize> {
        let counts = |written: &Written| {
            written.under_way > 0 || written.taken_at.is_some_and(|at| at + SURELY_COUNTED > now)
        };
        let Some(people) = self.0.get(account) else { return Some(0) };
        if people.get(&person).is_some_and(counts) {
            return None;
        }
        Some(people.values().filter(|written| counts(written)).count())
    }

    /// A message to this person is under way.
    pub(super) fn begin(&mut self, account: &str, person: PhoneNumber) {
        let people = self.0.entry(account.to_owned()).or_default();
        people.entry(person).or_default().under_way += 1;
    }

    /// The answer is here: the provider took it, or may have, or surely did not.
    pub(super) fn end(&mut self, account: &str, person: PhoneNumber, was_taken: bool, now: Duration) {
        let Some(written) = self.0.get_mut(account).and_then(|people| people.get_mut(&person)) else {
            return;
        };
        written.under_way = written.under_way.saturating_sub(1);
        if was_taken {
            written.taken_at = Some(now);
        }
    }

    /// Messages of these accounts that are under way may have been taken.
    pub(super) fn crash(&mut self, now: Duration, is_of_account: impl Fn(&str) -> bool) {
        let accounts = self.0.iter_mut().filter(|(account, _)| is_of_account(account));
        let people = accounts.flat_map(|(_, people)| people.values_mut());
        for written in people.filter(|written| written.under_way > 0) {
            *written = Written { taken_at: Some(now), under_way: 0 };
        }
    }
}
