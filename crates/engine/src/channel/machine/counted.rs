//! Finds messages in the store to people who count against the quota of templates already, while it is used up.
//!
//! Sends to new people stay in the store: the search reads their recipients and takes none of these sends into memory.
//! A bulk send that is in memory already, because some of its messages are under way or wait for a retry, is searched
//! beyond the recipients that are in memory, and only while none of those counts.

use std::collections::HashMap;
use std::ops::Range;
use std::time::Duration;

use uuid::Uuid;

use super::map::Set;
use super::restored::Waits;
use super::work::PriorOutcome;
use super::{Machine, lanes};
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
    /// When the next search may begin, if that is later than `now`.
    fn later_than(&self, size: Size, now: Timestamp) -> Option<Timestamp> {
        self.not_before[size as usize].filter(|at| *at > now)
    }

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
    unread: Vec<(Uuid, Range<u64>)>,
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

    /// The sends to search that the machine has, each with the ordinals of the recipients that it has not read.
    pub(crate) fn unread(&self) -> &[(Uuid, Range<u64>)] {
        &self.unread
    }
}

impl Machine {
    /// Begins a search if one is due. Returns the people who count.
    pub(super) fn look_for_counted(&mut self, size: Size, ready: Ready) -> Option<Counting> {
        if ready.templates || !self.templates.is_known {
            return None;
        }
        let now = ready.now;
        if let Some(not_before) = self.templates.counted.later_than(size, now) {
            self.queue.look_at(Some(not_before));
            return None;
        }
        let people = self.account.people();
        let arrivals = people.arrivals();
        let nobody = self.templates.counted.nobody.clone();
        let unread = if size == Size::Bulk { unread(self) } else { Vec::new() };
        Some(Counting { people, quota: self.templates.quota, now, arrivals, nobody, unread })
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

/// The sends here that have to be searched, each with the ordinals of the recipients that are not here.
fn unread(machine: &Machine) -> Vec<(Uuid, Range<u64>)> {
    let mut stuck = lanes::stuck(&machine.lanes).peekable();
    if stuck.peek().is_none() {
        return Vec::new();
    }
    let arrivals = machine.account.people().arrivals();
    stuck.filter_map(|work| Some((work.id, work.unsearched(arrivals)?))).collect()
}

/// Whether sends that are here have to be searched now, for which no room is needed.
pub(super) fn is_search_due(machine: &mut Machine, ready: Ready) -> bool {
    if ready.templates || !machine.templates.is_known || unread(machine).is_empty() {
        return false;
    }
    let not_before = machine.templates.counted.later_than(Size::Bulk, ready.now);
    machine.queue.look_at(not_before);
    not_before.is_none()
}

/// These sends leave for the store, and no recipient here counts: those of which nobody else counted, when they were
/// searched here, need no search there.
pub(super) fn remember(machine: &mut Machine, sends: &Set<Uuid>) {
    let Machine { lanes, templates, .. } = machine;
    let searched = sends.iter().filter_map(|id| Some((*id, lanes.work(*id)?.nobody_beyond()?)));
    templates.counted.nobody.extend(searched);
}
