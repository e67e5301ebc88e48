//! The timers of all accounts: each machine has one.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Instant;

/// When each account has to be woken.
#[derive(Debug, Default)]
pub(super) struct Timers {
    order: BTreeSet<(Instant, Arc<str>)>,
    set: HashMap<Arc<str>, Instant>,
}

impl Timers {
    /// Wakes the account then; this replaces an earlier time.
    pub(super) fn set(&mut self, account: Arc<str>, at: Instant) {
        if let Some(earlier) = self.set.insert(Arc::clone(&account), at) {
            self.order.remove(&(earlier, Arc::clone(&account)));
        }
        self.order.insert((at, account));
    }

    /// Wakes the account no more.
    pub(super) fn cancel(&mut self, account: &Arc<str>) {
        if let Some(at) = self.set.remove(account) {
            self.order.remove(&(at, Arc::clone(account)));
        }
    }

    /// When the next account has to be woken.
    pub(super) fn next(&self) -> Option<Instant> {
        self.order.first().map(|(at, _)| *at)
    }

    /// Takes out the accounts whose time has come.
    pub(super) fn due(&mut self, now: Instant) -> Vec<Arc<str>> {
        let mut due = Vec::new();
        while let Some((at, account)) = self.order.pop_first() {
            if at > now {
                self.order.insert((at, account));
                break;
            }
            self.set.remove(&account);
            due.push(account);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_account_is_woken_once_at_the_moment_set_last() {
        let (mut timers, now) = (Timers::default(), Instant::now());
        let after = |seconds| now + Duration::from_secs(seconds);
        let [one, two, three] = ["1", "2", "3"].map(Arc::<str>::from);
        timers.set(Arc::clone(&one), after(1));
        timers.set(Arc::clone(&two), after(2));
        timers.set(Arc::clone(&three), after(2));
        timers.set(Arc::clone(&one), after(3));
        timers.cancel(&three);
        assert_eq!((timers.next(), timers.due(after(1))), (Some(after(2)), Vec::new()));
        assert_eq!((timers.due(after(2)), timers.due(after(3))), (vec![two], vec![one]));
        assert_eq!((timers.next(), timers.set.len()), (None, 0));
    }
}
