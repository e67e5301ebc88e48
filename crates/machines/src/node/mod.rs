//! The decisions of a node of a cluster: when it renews its lease, which nodes it declares dead, and which shards it
//! claims and gives away.
//!
//! The machine waits for nothing and has no clock. Its shell renews, claims and releases in the database, and passes
//! the results in.

mod effect;
mod input;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::time::{Duration, Instant};

use uuid::Uuid;

pub use self::effect::Effect;
pub use self::input::{Input, Seen, Standing, Wanted};
use crate::placement::{Member, proposed};
use crate::planted::{Fault, is_planted};

/// How often the lease is renewed, and the delay after a failed renewal.
pub(super) const RENEWAL: Duration = Duration::from_secs(1);
const AGAIN: Duration = Duration::from_millis(250);
/// How long the lease lasts by the database's clock.
pub const LEASE: Duration = Duration::from_secs(6);
/// How long the node trusts its lease from the start of its last renewal, by its own clock. The rest of the lease is
/// for clocks that run differently, and for messages in flight when the trust ends.
pub(super) const TRUST: Duration = Duration::from_millis(4_500);
/// How long the members must be unchanged before channels move to balance them.
const SETTLED: Duration = Duration::from_secs(3);
/// The shards that are given away in one renewal, for balance or while draining, and those that are claimed in one
/// statement.
const MOVES: usize = 50;
const DRAINED: usize = 500;
const CLAIMED: usize = 1_000;

/// The machine of a node.
#[derive(Debug)]
pub struct Machine {
    id: Uuid,
    /// The nodes that take channels.
    members: Vec<Member>,
    members_since: Instant,
    /// Whether channels are balanced among these members.
    is_even: bool,
    trust: Option<Instant>,
    is_draining: bool,
    /// It lacks a sealing key: other nodes take its channels.
    lacks_key: bool,
    is_over: bool,
    is_renewing: bool,
    renew_at: Instant,
    /// The shards that this node owns, and whether they stay here.
    owned: BTreeMap<Uuid, bool>,
    /// The shards that are being claimed.
    claiming: BTreeMap<Uuid, bool>,
    /// The shards that are being given away.
    leaving: BTreeSet<Uuid>,
    /// The shards that will move to other members.
    moving: Vec<Uuid>,
    /// Nodes whose fence is being closed, or that are being cleared up after.
    trying: BTreeSet<Uuid>,
}

impl Machine {
    /// The machine of a node that has just joined; it renews its lease at once.
    pub fn new(id: Uuid, now: Instant) -> Self {
        Self {
            id,
            members: Vec::new(),
            members_since: now,
            is_even: true,
            trust: None,
            is_draining: false,
            lacks_key: false,
            is_over: false,
            is_renewing: false,
            renew_at: now,
            owned: BTreeMap::new(),
            claiming: BTreeMap::new(),
            leaving: BTreeSet::new(),
            moving: Vec::new(),
            trying: BTreeSet::new(),
        }
    }

    /// Handles one input, and adds its effects to `effects`.
    pub fn handle(&mut self, input: Input, now: Instant, effects: &mut Vec<Effect>) {
        if self.is_over {
            return;
        }
        match input {
            Input::Renewed { began, seen } => self.renewed(began, &seen, now, effects),
            Input::NotRenewed => {
                self.is_renewing = false;
                self.renew_at = now + AGAIN;
            }
            Input::Fenced => return self.end(effects),
            Input::Wanted(wanted) => self.wanted(wanted, now, effects),
            Input::Claimed(won) => self.claimed(won, effects),
            Input::Released(shards) => self.leaving.retain(|shard| !shards.contains(shard)),
            Input::Tried(node) => self.trying.retain(|tried| *tried != node),
            Input::Timer => {}
        }
        if self.trust.is_some_and(|until| until <= now) {
            self.trust = None;
            effects.push(Effect::Distrust);
        }
        if !self.is_renewing && self.renew_at <= now {
            self.is_renewing = true;
            effects.push(Effect::Renew);
        }
        let renewal = (!self.is_renewing).then_some(self.renew_at);
        effects.extend(renewal.into_iter().chain(self.trust).min().map(Effect::WakeAt));
    }

    fn renewed(&mut self, began: Instant, seen: &[Seen], now: Instant, effects: &mut Vec<Effect>) {
        self.is_renewing = false;
        self.renew_at = (began + RENEWAL).max(now);
        let trust = if is_planted(Fault::LeaseTrustedTooLong) { 4 * TRUST } else { TRUST };
        let until = began + trust;
        if until > now && self.trust.is_none_or(|trusted| trusted < until) {
            self.trust = Some(until);
            effects.push(Effect::Trust(until));
        }
        let own = seen.iter().find(|node| node.member.id == self.id).map(|node| node.standing);
        match own {
            Some(Standing::Draining) if !mem::replace(&mut self.is_draining, true) => {
                effects.push(Effect::Drain);
            }
            Some(Standing::Serving) if mem::take(&mut self.is_draining) => effects.push(Effect::Undrain),
            _ => {}
        }
        self.lacks_key = own == Some(Standing::LacksKey);
        self.see_members(seen, now, effects);
        self.see_the_dead(seen, effects);
        self.give_away(now, effects);
    }

    fn see_members(&mut self, seen: &[Seen], now: Instant, effects: &mut Vec<Effect>) {
        let serving = seen.iter().filter(|node| node.standing == Standing::Serving);
        let mut members: Vec<_> = serving.map(|node| node.member).collect();
        members.sort_unstable_by_key(|member| member.id);
        if members != self.members {
            effects.push(Effect::Members(members.clone()));
            (self.members, self.members_since, self.is_even) = (members, now, false);
        }
    }

    /// A lapsed node loses its channels when its fence is closed; one of the others clears up after it.
    fn see_the_dead(&mut self, seen: &[Seen], effects: &mut Vec<Effect>) {
        let alive = |node: &&Seen| {
            matches!(node.standing, Standing::Serving | Standing::Draining | Standing::LacksKey)
        };
        let alive: Vec<_> = seen.iter().filter(alive).map(|node| node.member).collect();
        for Seen { member, standing } in seen.iter().filter(|node| node.member.id != self.id) {
            let effect = match standing {
                Standing::Lapsed if is_planted(Fault::LapsedNeverFenced) => continue,
                Standing::Lapsed => Effect::CloseFence(member.id),
                Standing::Fenced if proposed(&alive, member.id) == Some(self.id) => {
                    Effect::ClearUp(member.id)
                }
                Standing::Serving | Standing::Draining | Standing::LacksKey | Standing::Fenced => continue,
            };
            if self.trying.insert(member.id) {
                effects.push(effect);
            }
        }
    }

    /// Gives away shards for which other nodes are proposed, or all while it drains or lacks a key, some at a time.
    fn give_away(&mut self, now: Instant, effects: &mut Vec<Effect>) {
        let given: Vec<_> = if self.is_draining || self.lacks_key {
            self.owned.keys().copied().take(DRAINED).collect()
        } else {
            if !self.is_even && now.saturating_duration_since(self.members_since) >= SETTLED {
                self.is_even = true;
                let moves =
                    |shard: &&Uuid| proposed(&self.members, **shard).is_some_and(|node| node != self.id);
                let owned = self.owned.iter().filter(|(_, stays)| !**stays).map(|(shard, _)| shard);
                self.moving = owned.filter(moves).copied().collect();
            }
            let mut moving = mem::take(&mut self.moving);
            let rest = moving.split_off(moving.len().min(MOVES));
            self.moving = rest;
            moving.retain(|shard| proposed(&self.members, *shard) != Some(self.id));
            moving
        };
        let given: Vec<_> = given.into_iter().filter(|shard| self.owned.remove(shard).is_some()).collect();
        if !given.is_empty() {
            self.leaving.extend(&given);
            effects.push(Effect::GiveUp(given));
        }
    }

    fn wanted(&mut self, wanted: Vec<Wanted>, now: Instant, effects: &mut Vec<Effect>) {
        let is_trusted = self.trust.is_some_and(|until| now < until);
        // Shards that find no room are wanted again in the next round.
        if self.is_draining || self.lacks_key || !is_trusted || !self.claiming.is_empty() {
            return;
        }
        let wanted = wanted.into_iter().filter(|Wanted { shard, .. }| {
            let is_here = self.owned.contains_key(shard) || self.leaving.contains(shard);
            !is_here && proposed(&self.members, *shard) == Some(self.id)
        });
        self.claiming = wanted.take(CLAIMED).map(|Wanted { shard, stays }| (shard, stays)).collect();
        if !self.claiming.is_empty() {
            effects.push(Effect::Claim(self.claiming.keys().copied().collect()));
        }
    }

    fn claimed(&mut self, won: Vec<Uuid>, effects: &mut Vec<Effect>) {
        let claimed = mem::take(&mut self.claiming);
        let ours = won.into_iter().filter_map(|shard| Some((shard, *claimed.get(&shard)?)));
        let ours: Vec<_> = ours.collect();
        if !ours.is_empty() {
            effects.push(Effect::Own(ours.iter().map(|(shard, _)| *shard).collect()));
            self.owned.extend(ours);
            // The shards may have been claimed for an earlier set of members.
            self.is_even = false;
        }
    }

    fn end(&mut self, effects: &mut Vec<Effect>) {
        self.is_over = true;
        if self.trust.take().is_some() {
            effects.push(Effect::Distrust);
        }
        self.owned.clear();
        effects.push(Effect::End);
    }

    /// Whether the node owns this shard.
    #[cfg(test)]
    pub fn owns(&self, shard: Uuid) -> bool {
        self.owned.contains_key(&shard)
    }

    /// Whether the node trusts its lease.
    #[cfg(test)]
    pub fn trusts(&self, now: Instant) -> bool {
        self.trust.is_some_and(|until| now < until)
    }
}
