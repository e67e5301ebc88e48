//! Probes of the account's numbers: the channels ask the provider one after another.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use uuid::Uuid;

/// A probe without an answer within this time no longer holds up the next one.
const PATIENCE: Duration = Duration::from_secs(5);

/// The channels that wait to probe, and the one that does.
#[derive(Debug, Default)]
pub(super) struct Questions {
    line: VecDeque<Uuid>,
    asking: Option<(Uuid, Instant)>,
}

impl Questions {
    /// The channel wants to probe. Returns whether it may at once; otherwise it waits in the queue.
    pub(super) fn want(&mut self, channel: Uuid, now: Instant) -> bool {
        if self.line.is_empty() && self.is_free(now) {
            self.asking = Some((channel, now));
            return true;
        }
        if !self.line.contains(&channel) {
            self.line.push_back(channel);
        }
        false
    }

    /// The channel's probe ended, or is not needed any more.
    pub(super) fn end(&mut self, channel: Uuid) {
        self.asking.take_if(|(asking, _)| *asking == channel);
        self.line.retain(|waiting| *waiting != channel);
    }

    /// The channel that probes next, if one may.
    pub(super) fn next(&mut self, now: Instant) -> Option<Uuid> {
        if !self.is_free(now) {
            return None;
        }
        let channel = self.line.pop_front()?;
        self.asking = Some((channel, now));
        Some(channel)
    }

    /// When the next probe begins at the latest.
    pub(super) fn next_at(&self) -> Option<Instant> {
        self.asking.filter(|_| !self.line.is_empty()).map(|(_, since)| since + PATIENCE)
    }

    fn is_free(&self, now: Instant) -> bool {
        self.asking.is_none_or(|(_, since)| since + PATIENCE <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(number: u128) -> Uuid {
        Uuid::from_u128(number)
    }

    #[test]
    fn one_channel_after_another_asks_and_none_that_left() {
        let (mut questions, now) = (Questions::default(), Instant::now());
        assert!(questions.want(channel(1), now));
        for number in [2, 3, 2, 4] {
            assert!(!questions.want(channel(number), now));
        }
        assert_eq!(questions.next(now), None, "the first one asks");
        questions.end(channel(3));
        questions.end(channel(1));
        assert_eq!(questions.next(now), Some(channel(2)));
        questions.end(channel(1));
        assert_eq!(questions.next(now), None, "the end of an earlier question ends no other");
        questions.end(channel(2));
        assert_eq!((questions.next(now), questions.next(now)), (Some(channel(4)), None));
        questions.end(channel(4));
        assert!(questions.want(channel(5), now));
    }

    #[test]
    fn a_question_that_hangs_holds_up_the_next_one_for_some_seconds() {
        let (mut questions, now) = (Questions::default(), Instant::now());
        questions.want(channel(1), now);
        assert_eq!(questions.next_at(), None, "no channel waits");
        questions.want(channel(2), now);
        let at = questions.next_at().unwrap();
        assert_eq!(questions.next(at), Some(channel(2)));
        questions.end(channel(1));
        assert_eq!(questions.next(at), None, "the second one still asks");
    }
}
