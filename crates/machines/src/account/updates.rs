//! Updates that channels are told because of other channels, and how often.
//!
//! Two channels that want the same slots of a quota react to each other's updates: one returns a person, the other asks
//! for one. If each update were told at once, this would go on forever and use a core.

use std::time::{Duration, Instant};

use uuid::Uuid;

use super::effect::{AccountUpdate, Effect, Effects};

/// A channel is told the same update at most once in this time.
const EVERY: Duration = Duration::from_secs(1);

/// Updates that wait to be told, and recently told ones.
#[derive(Default)]
pub(super) struct Updates {
    waiting: Vec<(Uuid, AccountUpdate)>,
    /// The updates told within [`EVERY`], and when.
    lately: Vec<((Uuid, AccountUpdate), Instant)>,
}

impl Updates {
    /// Adds an update for the channel.
    pub(super) fn add(&mut self, channel: Uuid, update: AccountUpdate) {
        if !self.waiting.contains(&(channel, update)) {
            self.waiting.push((channel, update));
        }
    }

    /// The channel is gone.
    pub(super) fn leave(&mut self, channel: Uuid) {
        self.waiting.retain(|(waiting, _)| *waiting != channel);
    }

    /// Tells the updates that are due.
    pub(super) fn go_on(&mut self, now: Instant, effects: &mut Effects) {
        let Self { waiting, lately } = self;
        if waiting.is_empty() {
            return;
        }
        lately.retain(|(_, at)| *at + EVERY > now);
        waiting.retain(|&(channel, update)| {
            let is_early = lately.iter().any(|(told, _)| *told == (channel, update));
            if !is_early {
                lately.push(((channel, update), now));
                effects.push(Effect::Tell { channel, update });
            }
            is_early
        });
    }

    /// When the next waiting update is due.
    pub(super) fn next_at(&self) -> Option<Instant> {
        let due = |update| self.lately.iter().find(|(told, _)| told == update).map(|(_, at)| *at + EVERY);
        self.waiting.iter().filter_map(due).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_is_told_at_once_and_the_same_update_again_after_a_second() {
        let (mut told, mut effects, start) = (Updates::default(), Effects::default(), Instant::now());
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let mut go_on = |told: &mut Updates, after| {
            told.go_on(start + after, &mut effects);
            effects.drain().count()
        };
        told.add(one, AccountUpdate::Recalled);
        assert_eq!(go_on(&mut told, Duration::ZERO), 1);
        assert_eq!(told.next_at(), None);
        for _ in 0..3 {
            told.add(one, AccountUpdate::Recalled);
        }
        told.add(one, AccountUpdate::HasRoom);
        told.add(other, AccountUpdate::Recalled);
        assert_eq!(go_on(&mut told, EVERY / 2), 2, "another channel, and something else");
        assert_eq!(told.next_at(), Some(start + EVERY));
        assert_eq!(go_on(&mut told, EVERY), 1);
        assert_eq!((told.next_at(), go_on(&mut told, 5 * EVERY)), (None, 0));
        told.add(one, AccountUpdate::HasRoom);
        told.leave(one);
        assert_eq!(go_on(&mut told, 5 * EVERY), 0);
    }
}
