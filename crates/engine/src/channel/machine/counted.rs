//! Finds messages in the store to people who count against the quota of templates already, while it is used up.
//!
//! Sends to new people stay in the store: the search reads their recipients and takes none of these sends into memory.

use std::collections::HashMap;
use std::time::Duration;

use uuid::Uuid;

use super::Machine;
use super::restored::Waits;
use super::work::PriorOutcome;
use crate::account::People;
use clock::Timestamp;
use domain::phone::PhoneNumber;
use domain::tier::Quota;
use store::sends::{Ready, Size};

/// Searches take at most one part in this many of a channel's time.
const SHARE: u32 = 20;
/// A search that took no longer than this may be repeated at once.
const QUICK: Duration = Duration::from_millis(5);

/// The result of the last search.
#[derive(Debug, Default)]
pub(super) struct Counted {
    /// The earliest time of the next search: for sends with one recipient, and for bulk sends.
    not_before: [Option<Timestamp>; 2],
    /// Bulk sends none of whose recipients counted, each with the number of people that had begun to count by then.
    nobody: HashMap<Uuid, u64>,
}

impl Counted {
    /// The wall clock was set: the next search may begin at once.
    pub(super) const fn look_at_any_time(&mut self) {
        self.not_before = [None; 2];
    }
}

/// The people who count, for one search.
pub(crate) struct Counting {
    people: People,
    quota: Quota,
    now: Timestamp,
    arrivals: u64,
    nobody: HashMap<Uuid, u64>,
}

impl Counting {
    /// Whether the person counts already, so that a template to them takes no slot.
    pub(crate) fn counts(&self, number: PhoneNumber) -> bool {
        self.people.counts(number, self.quota, self.now)
    }

    /// Whether none of the send's recipients counted when they were last searched, and nobody has begun to count since.
    pub(crate) fn is_known_to_count_nobody(&self, send_id: Uuid) -> bool {
        self.nobody.get(&send_id) == Some(&self.arrivals)
    }

    /// The number of people that had begun to count before this search.
    pub(crate) const fn arrivals(&self) -> u64 {
        self.arrivals
    }
}

impl Machine {
    /// Begins a search if one is due. Returns the people who count.
    pub(super) fn look_for_counted(&mut self, size: Size, ready: Ready) -> Option<Counting> {
        if ready.templates || !self.templates.is_known {
            return None;
        }
        let now = ready.now;
        if let Some(not_before) = self.templates.counted.not_before[size as usize].filter(|at| *at > now) {
            self.queue.look_at(Some(not_before));
            return None;
        }
        let people = self.account.people();
        let arrivals = people.arrivals();
        let nobody = self.templates.counted.nobody.clone();
        Some(Counting { people, quota: self.templates.quota, now, arrivals, nobody })
    }

    /// A search ended. `took` is its duration, or `None` if there was no search.
    pub(super) fn looked_for_counted(
        &mut self,
        size: Size,
        took: Option<Duration>,
        nobody: HashMap<Uuid, u64>,
        wall: Timestamp,
    ) {
        let Some(took) = took else { return };
        let arrivals = self.account.people().arrivals();
        let counted = &mut self.templates.counted;
        counted.not_before[size as usize] = (took > QUICK).then(|| wall.plus(took.saturating_mul(SHARE)));
        counted.nobody.retain(|_, seen| *seen == arrivals);
        counted.nobody.extend(nobody);
    }

    /// Keeps messages to new people in the store.
    pub(super) fn leave_new_people(&self, waiting: &mut Waits, wall: Timestamp) {
        let before = waiting.soon.len();
        waiting.soon.retain(|(ticket, _)| {
            let is_counted = |number| self.account.counts(number, self.templates.quota, wall);
            ticket.prior == PriorOutcome::Unknown || ticket.recipient.is_none_or(is_counted)
        });
        let left = (before - waiting.soon.len()) as u64;
        if left > 0 {
            waiting.later += left;
            waiting.later_due = Some(waiting.later_due.map_or(wall, |due| due.min(wall)));
        }
    }
}
