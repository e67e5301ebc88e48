//! Looking, while the quota of templates is used up, for what waits in the store for people who count already.
//!
//! New people's sends stay where they are: the look reads whom they are to, and takes none of them into memory.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use uuid::Uuid;

use super::ChannelActor;
use super::loading::{self, Waits, numbers_from};
use super::work::Doubt;
use crate::clock::Timestamp;
use crate::domain::channel::Kind;
use crate::domain::phone::PhoneNumber;
use crate::domain::send::Recipients;
use crate::domain::tier::Quota;
use crate::engine::quota::Account;
use crate::store::send::{Ready, Size};
use crate::store::waiting_template::Candidate;
use crate::store::{Result, Store};

/// Sends that are looked at in one read.
const AT_ONCE: usize = 1_000;
/// Of a channel's time, a look takes at most one part of so many.
const SHARE: u32 = 20;
/// A look that took no longer than this is repeated whenever there is an occasion.
const QUICK: Duration = Duration::from_millis(5);

/// What the last look found.
#[derive(Debug, Default)]
pub(super) struct Counted {
    /// No look for those with one recipient, or with many, before then.
    not_before: [Option<Timestamp>; 2],
    /// Sends with many recipients of whom nobody counted when so many had begun to count.
    nobody: HashMap<Uuid, u64>,
}

/// Who counts, as a look asks.
pub(super) struct Counting {
    account: Account,
    quota: Quota,
    now: Timestamp,
    arrivals: u64,
    nobody: HashMap<Uuid, u64>,
}

/// What a look found.
#[derive(Default)]
pub(super) struct Look {
    /// Sends of which somebody counts, and of those with many recipients the first message that is for such a person.
    pub(super) found: Vec<(Uuid, Option<u64>)>,
    /// Whether there is no more.
    pub(super) all: bool,
    nobody: HashMap<Uuid, u64>,
}

impl Counting {
    fn counts(&self, number: PhoneNumber) -> bool {
        self.account.counts(number, self.quota, self.now)
    }

    /// The oldest sends of templates that are for somebody who counts, at most `room`, without those in `held`.
    pub(super) async fn look(
        &self,
        store: &Store,
        channel: Uuid,
        size: Size,
        held: &HashSet<Uuid>,
        room: usize,
    ) -> Result<Look> {
        let mut look = Look { all: true, ..Look::default() };
        let mut last = Uuid::nil();
        loop {
            let candidates = store.waiting_templates(channel, size, self.now, last, AT_ONCE).await?;
            let Some(newest) = candidates.last() else { return Ok(look) };
            last = newest.id;
            for candidate in candidates.iter().filter(|candidate| !held.contains(&candidate.id)) {
                if look.found.len() >= room {
                    look.all = false;
                    return Ok(look);
                }
                self.look_at(store, candidate, &mut look).await?;
            }
        }
    }

    async fn look_at(&self, store: &Store, candidate: &Candidate, look: &mut Look) -> Result<()> {
        let Candidate { id, recipients, high_water } = *candidate;
        let count = match recipients {
            Recipients::One(number) => {
                look.found.extend(self.counts(number).then_some((id, None)));
                return Ok(());
            }
            Recipients::Group => {
                look.found.push((id, None));
                return Ok(());
            }
            Recipients::Blocks(count) => count,
        };
        if self.nobody.get(&id) == Some(&self.arrivals) {
            look.nobody.insert(id, self.arrivals);
            return Ok(());
        }
        let mut next = high_water;
        while next < count {
            let (first, numbers) = numbers_from(store, id, next).await?;
            if let Some(place) = numbers.iter().position(|number| self.counts(*number)) {
                look.found.push((id, Some(first + place as u64)));
                return Ok(());
            }
            next = first + numbers.len() as u64;
        }
        look.nobody.insert(id, self.arrivals);
        Ok(())
    }
}

impl Look {
    /// The sends none of whose recipients is counted against the quota.
    pub(super) fn nobody(&mut self) -> HashMap<Uuid, u64> {
        std::mem::take(&mut self.nobody)
    }
}

impl ChannelActor {
    /// Who counts, when what is for them has to be looked for now.
    pub(super) fn look_for_counted(&mut self, size: Size, ready: Ready) -> Option<Counting> {
        if ready.templates || !self.quota_known {
            return None;
        }
        let now = ready.now;
        if let Some(not_before) = self.counted.not_before[size as usize].filter(|at| *at > now) {
            self.look_at(Some(not_before));
            return None;
        }
        let account = self.quota.account();
        let arrivals = account.arrivals();
        let nobody = self.counted.nobody.clone();
        Some(Counting { account, quota: self.tier.template_quota, now, arrivals, nobody })
    }

    /// A look for them took so long, if there was one.
    pub(super) fn looked_for_counted(
        &mut self,
        size: Size,
        took: Option<Duration>,
        nobody: HashMap<Uuid, u64>,
    ) {
        let Some(took) = took else { return };
        let now = Timestamp::now();
        self.counted.not_before[size as usize] = (took > QUICK).then(|| now.plus(took.saturating_mul(SHARE)));
        let arrivals = self.quota.arrivals();
        self.counted.nobody.retain(|_, seen| *seen == arrivals);
        self.counted.nobody.extend(nobody);
    }

    /// The wall clock was set: the next look waits for nothing.
    pub(super) const fn look_at_any_time(&mut self) {
        self.counted.not_before = [None; 2];
    }

    /// Of messages that wait in the store, those to new people stay there.
    pub(super) fn leave_new_people(&self, waiting: &mut Waits, wall: Timestamp) {
        let before = waiting.soon.len();
        waiting.soon.retain(|(ticket, _)| {
            let is_counted = |number| self.quota.counts(number, self.tier.template_quota, wall);
            ticket.doubt == Doubt::Full || ticket.recipient.is_none_or(is_counted)
        });
        let left = (before - waiting.soon.len()) as u64;
        if left > 0 {
            waiting.later += left;
            waiting.later_due = Some(waiting.later_due.map_or(wall, |due| due.min(wall)));
        }
    }
}

/// Restores what a look found, and notes where in it somebody counts.
pub(super) async fn take(store: &Store, kind: Kind, look: &Look) -> Result<loading::Taken> {
    let ids: Vec<_> = look.found.iter().map(|(id, _)| *id).collect();
    let mut taken = loading::restore_all(store, kind, store.unfinished_among(&ids).await?).await?;
    let places: HashMap<_, _> = look.found.iter().copied().collect();
    for found in &mut taken.found {
        found.counted_at = places.get(&found.work.id).copied().flatten();
    }
    Ok(taken)
}
