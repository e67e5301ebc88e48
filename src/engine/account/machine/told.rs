//! What channels are told of each other's people, and how often.
//!
//! Two channels that want the same slots of a quota answer the news of each other: one gives a person back, the other asks
//! for one. If each news were told at once, this would go on forever and use a core.

use std::time::{Duration, Instant};

use uuid::Uuid;

use super::effect::{Effect, Effects, News};

/// The same news is told to a channel at most once in this time.
const EVERY: Duration = Duration::from_secs(1);

/// News that channels are to be told, and what they were told lately.
#[derive(Default)]
pub(super) struct Told {
    waiting: Vec<(Uuid, News)>,
    /// What was told within [`EVERY`], and when.
    lately: Vec<((Uuid, News), Instant)>,
}

impl Told {
    /// The channel is to be told this.
    pub(super) fn add(&mut self, channel: Uuid, news: News) {
        if !self.waiting.contains(&(channel, news)) {
            self.waiting.push((channel, news));
        }
    }

    /// The channel is gone.
    pub(super) fn leave(&mut self, channel: Uuid) {
        self.waiting.retain(|(waiting, _)| *waiting != channel);
    }

    /// Tells what may be told now.
    pub(super) fn go_on(&mut self, now: Instant, effects: &mut Effects) {
        let Self { waiting, lately } = self;
        if waiting.is_empty() {
            return;
        }
        lately.retain(|(_, at)| *at + EVERY > now);
        waiting.retain(|&(channel, news)| {
            let is_early = lately.iter().any(|(told, _)| *told == (channel, news));
            if !is_early {
                lately.push(((channel, news), now));
                effects.push(Effect::Tell { channel, news });
            }
            is_early
        });
    }

    /// When something that waits may be told.
    pub(super) fn next_at(&self) -> Option<Instant> {
        let due = |news| self.lately.iter().find(|(told, _)| told == news).map(|(_, at)| *at + EVERY);
        self.waiting.iter().filter_map(due).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_is_told_at_once_and_the_same_news_again_after_a_second() {
        let (mut told, mut effects, start) = (Told::default(), Effects::default(), Instant::now());
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let mut go_on = |told: &mut Told, after| {
            told.go_on(start + after, &mut effects);
            effects.drain().count()
        };
        told.add(one, News::Recalled);
        assert_eq!(go_on(&mut told, Duration::ZERO), 1);
        assert_eq!(told.next_at(), None);
        for _ in 0..3 {
            told.add(one, News::Recalled);
        }
        told.add(one, News::HasRoom);
        told.add(other, News::Recalled);
        assert_eq!(go_on(&mut told, EVERY / 2), 2, "another channel, and something else");
        assert_eq!(told.next_at(), Some(start + EVERY));
        assert_eq!(go_on(&mut told, EVERY), 1);
        assert_eq!((told.next_at(), go_on(&mut told, 5 * EVERY)), (None, 0));
        told.add(one, News::HasRoom);
        told.leave(one);
        assert_eq!(go_on(&mut told, 5 * EVERY), 0);
    }
}
