//! What is fresh: a message of a node that somebody recorded and repeats is refused.
//!
//! **Questions** are for an epoch of the owner's subscription, a random id that the owner tells those who ask. No
//! clocks are compared, so that a wrong one does no harm, and an owner that has just taken a shard over, and cannot know
//! what the former one answered, takes no question for that one. Within an epoch each question counts once.
//!
//! **Wake-ups** have no answer from which their sender could learn an epoch, and cost no more than a look for work. They
//! carry the sender's time, and those of the last minutes count once.

use std::collections::{BTreeSet, HashSet};
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::envelope::Wake;
use clock::Timestamp;

/// How long an epoch lasts. Questions for the previous one are taken, too, so that those on their way find an answer.
const EPOCH: Duration = Duration::from_secs(60);
/// The most questions of an epoch: some 2 MB of ids, of which two epochs are kept. The next epoch begins at half of it,
/// so that there is room for questions that are on their way then.
const QUESTIONS: usize = 65_536;
/// How old a wake-up may be, and how far in the future: more than clocks may differ (90 s were seen). The sender of a
/// refused one is found by the search of each second.
const WAKE_AGE: i64 = 120_000;
/// The most wake-ups that are remembered. When more come within their time, those before the oldest that is
/// remembered are refused; the others wake this node anyway.
const WAKES: usize = 1_024;

/// The epochs of a subscription, and the questions that were taken in them.
#[derive(Debug)]
pub(super) struct Epochs {
    current: Epoch,
    previous: Option<Epoch>,
}

#[derive(Debug)]
struct Epoch {
    id: Uuid,
    began: Instant,
    taken: HashSet<Uuid>,
}

/// Whether a question counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judgement {
    /// It is new.
    New,
    /// It was taken before.
    Repeated,
    /// It is for another epoch.
    OtherEpoch,
}

impl Epoch {
    fn new(now: Instant) -> Self {
        Self { id: Uuid::from_u128(rand::random()), began: now, taken: HashSet::new() }
    }
}

impl Epochs {
    pub(super) fn new(now: Instant) -> Self {
        Self { current: Epoch::new(now), previous: None }
    }

    /// The epoch for further questions.
    pub(super) const fn current(&self) -> Uuid {
        self.current.id
    }

    /// Judges a question and remembers it.
    pub(super) fn judge(&mut self, epoch: Uuid, question: Uuid, now: Instant) -> Judgement {
        self.turn(now);
        let mut known = [Some(&mut self.current), self.previous.as_mut()].into_iter().flatten();
        let Some(named) = known.find(|known| known.id == epoch) else { return Judgement::OtherEpoch };
        if named.taken.contains(&question) {
            return Judgement::Repeated;
        }
        if named.taken.len() >= QUESTIONS {
            return Judgement::OtherEpoch;
        }
        named.taken.insert(question);
        Judgement::New
    }

    fn turn(&mut self, now: Instant) {
        let age = now.saturating_duration_since(self.current.began);
        if age >= EPOCH || self.current.taken.len() >= QUESTIONS / 2 {
            let former = std::mem::replace(&mut self.current, Epoch::new(now));
            // After a quiet time both are over.
            self.previous = Some(former).filter(|_| age < 2 * EPOCH);
        }
    }
}

/// The wake-ups of the last minutes.
#[derive(Debug, Default)]
pub(super) struct Wakes {
    seen: BTreeSet<(Timestamp, Uuid)>,
    /// Those up to this one are refused, because they may have been seen.
    forgotten: Option<(Timestamp, Uuid)>,
}

/// Whether a wake-up counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freshness {
    New,
    Repeated,
    Old,
}

impl Wakes {
    /// Judges a wake-up and remembers it.
    pub(super) fn judge(&mut self, wake: Wake, now: Timestamp) -> Freshness {
        let Wake { at, id } = wake;
        let apart = at.millis().abs_diff(now.millis());
        if apart > WAKE_AGE.unsigned_abs() || self.forgotten.is_some_and(|forgotten| (at, id) <= forgotten) {
            return Freshness::Old;
        }
        if !self.seen.insert((at, id)) {
            return Freshness::Repeated;
        }
        if self.seen.len() > WAKES {
            self.forgotten = self.seen.pop_first();
        }
        Freshness::New
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u128) -> Uuid {
        Uuid::from_u128(number)
    }

    #[test]
    fn a_question_counts_once_and_only_in_an_epoch_of_this_subscription() {
        let start = Instant::now();
        let (mut here, mut elsewhere) = (Epochs::new(start), Epochs::new(start));
        let epoch = here.current();
        assert_eq!(here.judge(epoch, id(1), start), Judgement::New);
        assert_eq!(here.judge(epoch, id(1), start), Judgement::Repeated);
        assert_eq!(here.judge(epoch, id(2), start), Judgement::New);
        assert_eq!(elsewhere.judge(epoch, id(1), start), Judgement::OtherEpoch, "the shard has moved");
        assert_eq!(here.judge(Uuid::nil(), id(3), start), Judgement::OtherEpoch);
    }

    #[test]
    fn a_question_of_the_previous_epoch_counts_once_and_one_of_an_older_epoch_never() {
        let start = Instant::now();
        let mut epochs = Epochs::new(start);
        let first = epochs.current();
        assert_eq!(epochs.judge(first, id(1), start), Judgement::New);
        let later = start + EPOCH;
        assert_eq!(epochs.judge(first, id(1), later), Judgement::Repeated);
        assert_eq!(epochs.judge(first, id(2), later), Judgement::New);
        assert_ne!(epochs.current(), first);
        assert_eq!(epochs.judge(first, id(1), later + EPOCH), Judgement::OtherEpoch);
        assert_eq!(epochs.judge(first, id(3), later + EPOCH), Judgement::OtherEpoch);
    }

    #[test]
    fn after_a_quiet_time_no_former_epoch_counts() {
        let start = Instant::now();
        let mut epochs = Epochs::new(start);
        let first = epochs.current();
        assert_eq!(epochs.judge(first, id(1), start + 2 * EPOCH), Judgement::OtherEpoch);
    }

    #[test]
    fn the_memory_of_questions_is_bounded_and_still_refuses_every_repetition() {
        let start = Instant::now();
        let (mut epochs, mut asked) = (Epochs::new(start), Vec::new());
        let remembered = |epochs: &Epochs| {
            epochs.current.taken.len() + epochs.previous.as_ref().map_or(0, |epoch| epoch.taken.len())
        };
        let first = epochs.current();
        for number in 0..QUESTIONS as u128 * 2 {
            // Some callers know the present epoch, and some only the first one.
            let epoch = if number % 2 == 0 { epochs.current() } else { first };
            if epochs.judge(epoch, id(number), start) == Judgement::New {
                asked.push((epoch, id(number)));
            }
            assert!(remembered(&epochs) <= 2 * QUESTIONS);
        }
        assert!(asked.len() >= QUESTIONS);
        assert!(
            asked.iter().all(|(epoch, question)| epochs.judge(*epoch, *question, start) != Judgement::New)
        );
        for number in 0..QUESTIONS as u128 * 2 {
            epochs.judge(first, id(1_000_000 + number), start);
        }
        assert!(remembered(&epochs) <= 2 * QUESTIONS);
    }

    #[test]
    fn a_wake_up_counts_once_and_clocks_may_differ() {
        let (mut wakes, now) = (Wakes::default(), Timestamp::from_millis(1_000_000));
        let wake = |millis, number| Wake { at: Timestamp::from_millis(millis), id: id(number) };
        for millis in [1_000_000, 1_000_000 - 90_000, 1_000_000 + 90_000] {
            assert_eq!(wakes.judge(wake(millis, 1), now), Freshness::New);
            assert_eq!(wakes.judge(wake(millis, 1), now), Freshness::Repeated);
        }
        assert_eq!(wakes.judge(wake(1_000_000 - WAKE_AGE - 1, 2), now), Freshness::Old);
        assert_eq!(wakes.judge(wake(1_000_000 + WAKE_AGE + 1, 2), now), Freshness::Old);
        assert_eq!(wakes.judge(wake(i64::MIN, 2), now), Freshness::Old);
    }

    #[test]
    fn the_memory_of_wake_ups_is_bounded_and_still_refuses_every_repetition() {
        let (mut wakes, now) = (Wakes::default(), Timestamp::from_millis(1_000_000));
        let all: Vec<_> = (0..WAKES as u128 * 2)
            .map(|number| Wake {
                at: Timestamp::from_millis(1_000_000 + (number as i64) / 7),
                id: id(number),
            })
            .collect();
        for wake in &all {
            assert_eq!(wakes.judge(*wake, now), Freshness::New);
            assert!(wakes.seen.len() <= WAKES);
        }
        assert!(all.iter().all(|wake| wakes.judge(*wake, now) != Freshness::New));
    }
}
