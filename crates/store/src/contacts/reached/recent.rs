//! Lists by large sends that were just looked up, so that the pages of a list read the messages of its send once.
//!
//! A list that is found fast is not kept, and a slow one only for a time in proportion to that which it took. Pages are shown
//! from it; what changes contacts, or sends to them, looks them up again.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use uuid::Uuid;

use super::BySend;

/// A list that took less than this is looked up each time.
const SLOW: Duration = Duration::from_millis(250);
/// How long a list is used, as a multiple of the time that it took: further pages cost a twentieth of that at most.
const TIMES: u32 = 20;
/// The longest time for which a list is used.
const LONGEST: Duration = Duration::from_secs(60);
/// The most contacts of all lists that are kept, four bytes each: 64 MiB. The oldest list makes room.
const MOST: usize = 16 * 1024 * 1024;

/// The lists that are kept, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct RecentLists(Mutex<VecDeque<RecentList>>);

#[derive(Debug)]
struct RecentList {
    key: (Uuid, BySend),
    places: Vec<u32>,
    until: Instant,
}

impl RecentLists {
    /// The places of this company's list, if it was looked up a short while ago.
    pub(super) fn find(&self, key: (Uuid, BySend), now: Instant) -> Option<Vec<u32>> {
        let mut lists = self.0.lock();
        lists.retain(|list| list.until > now);
        lists.iter().find(|list| list.key == key).map(|list| list.places.clone())
    }

    /// Keeps the places of this company's list if it took long to look them up.
    pub(super) fn keep(&self, key: (Uuid, BySend), places: &[u32], took: Duration, now: Instant) {
        if took < SLOW || places.len() > MOST {
            return;
        }
        let list = RecentList { key, places: places.to_vec(), until: now + (took * TIMES).min(LONGEST) };
        let mut lists = self.0.lock();
        lists.retain(|list| list.key != key);
        lists.push_back(list);
        let mut kept: usize = lists.iter().map(|list| list.places.len()).sum();
        while kept > MOST {
            let Some(oldest) = lists.pop_front() else { break };
            kept -= oldest.places.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::message::Reception;

    const LONG: Duration = Duration::from_secs(1);

    fn key(company: u128, reception: Reception) -> (Uuid, BySend) {
        (Uuid::from_u128(company), BySend { send: Uuid::from_u128(9), reception })
    }

    #[test]
    fn a_slow_list_is_used_again_for_a_while_by_its_company_alone() {
        let (lists, now) = (RecentLists::default(), Instant::now());
        let read = key(1, Reception::Read);
        lists.keep(read, &[7, 3], Duration::from_millis(249), now);
        assert_eq!(lists.find(read, now), None, "it was fast");
        lists.keep(read, &[7, 3], LONG, now);
        assert_eq!(lists.find(read, now), Some(vec![7, 3]));
        for other in [key(2, Reception::Read), key(1, Reception::NotRead)] {
            assert_eq!(lists.find(other, now), None);
        }
        assert_eq!(lists.find(read, now + LONG * 19), Some(vec![7, 3]));
        assert_eq!(lists.find(read, now + LONG * 20), None);
        lists.keep(read, &[1], LONG * 10, now);
        assert_eq!(lists.find(read, now + LONGEST), None, "at most a minute");
    }

    #[test]
    fn the_oldest_lists_make_room() {
        let (lists, now) = (RecentLists::default(), Instant::now());
        let many = vec![0; MOST / 2];
        for company in 1..=3 {
            lists.keep(key(company, Reception::Read), &many, LONG, now);
        }
        let is_kept = |company| lists.find(key(company, Reception::Read), now).is_some();
        assert_eq!([1, 2, 3].map(is_kept), [false, true, true]);
        let more = [many.as_slice(), &many, &[0]].concat();
        lists.keep(key(4, Reception::Read), &more, LONG, now);
        assert_eq!([2, 3, 4].map(is_kept), [true, true, false]);
    }
}
