//! Figures of a send: messages by state, failures by cause, and the pace over time.

use std::time::Duration;

use super::{Counts, State};
use crate::message;
use clock::Timestamp;

/// Figures of a send's messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    /// The messages in each state.
    pub counts: Counts,
    /// Why messages did not arrive, the most frequent cause first.
    pub causes: Vec<Cause>,
    /// The messages that the provider accepted, over time.
    pub pace: Pace,
}

/// Messages that did not arrive for the same reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// Their state.
    pub state: message::State,
    /// The provider's code, if it gave one.
    pub code: Option<i64>,
    /// The sentence of one of them; `None` for messages that were never attempted.
    pub sentence: Option<String>,
    /// How many.
    pub messages: u64,
}

/// Messages over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pace {
    /// When the first step begins.
    pub from: Timestamp,
    /// How long each step is.
    pub step: Duration,
    /// Messages in each step, up to the last with any.
    pub messages: Vec<u64>,
}

/// The counts of a part of the messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    /// The rows in each state.
    pub counts: Counts,
    /// The messages that did not arrive.
    pub causes: Vec<Cause>,
    /// Rows that the provider accepted, by the number of the step.
    pub taken: Vec<(i64, u64)>,
}

impl Pace {
    /// How long a step may be, in seconds.
    const STEPS: [u64; 16] =
        [1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400, 604_800];
    /// The most steps that a chart has room for. The last step includes all later messages.
    pub const MOST_STEPS: usize = 120;

    /// No messages yet, of a send that goes from one moment to another.
    pub fn between(from: Timestamp, to: Timestamp) -> Self {
        let seconds = to.from_now(from).as_secs();
        let fits = |step: &u64| seconds / step < Self::MOST_STEPS as u64;
        let step = Self::STEPS.into_iter().find(fits).unwrap_or(Self::STEPS[Self::STEPS.len() - 1]);
        let from = from.millis() - from.millis().rem_euclid(1_000 * step.cast_signed());
        Self { from: Timestamp::from_millis(from), step: Duration::from_secs(step), messages: Vec::new() }
    }

    fn add(&mut self, step: i64, messages: u64) {
        let place = usize::try_from(step.max(0)).unwrap_or(usize::MAX).min(Self::MOST_STEPS - 1);
        if self.messages.len() <= place {
            self.messages.resize(place + 1, 0);
        }
        self.messages[place] += messages;
    }
}

impl Tally {
    /// An empty tally; `pace` says how time is divided.
    pub fn new(pace: Pace) -> Self {
        Self { counts: Counts::default(), causes: Vec::new(), pace }
    }

    /// Adds a part of the messages.
    pub fn add(&mut self, part: Part) {
        let Part { counts, causes, taken } = part;
        self.counts.add_all(&counts);
        causes.into_iter().for_each(|cause| self.add_cause(cause));
        taken.into_iter().for_each(|(step, messages)| self.pace.add(step, messages));
    }

    fn add_cause(&mut self, cause: Cause) {
        let same = |known: &&mut Cause| (known.state, known.code) == (cause.state, cause.code);
        match self.causes.iter_mut().find(same) {
            Some(known) => {
                known.messages += cause.messages;
                known.sentence = known.sentence.take().or(cause.sentence);
            }
            None => self.causes.push(cause),
        }
    }

    /// Adds the messages without a row, of a send with this many recipients whose rows are all counted.
    pub fn finish(&mut self, send: State, high_water: u64, recipients: u64) {
        self.counts.add_rowless(send, high_water, recipients);
        for state in message::State::RETRIED {
            let known = self.causes.iter().filter(|cause| cause.state == state);
            let known: u64 = known.map(|cause| cause.messages).sum();
            let messages = self.counts.of(state).saturating_sub(known);
            if messages > 0 {
                self.add_cause(Cause { state, code: None, sentence: None, messages });
            }
        }
        self.causes
            .sort_by_key(|cause| (std::cmp::Reverse(cause.messages), cause.state.as_i16(), cause.code));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::State as At;

    fn cause(state: At, code: Option<i64>, messages: u64) -> Cause {
        Cause { state, code, sentence: code.map(|code| format!("words of {code}")), messages }
    }

    #[test]
    fn parts_add_up_and_messages_without_a_row_are_counted_too() {
        let start = Timestamp::from_millis(0);
        let mut tally = Tally::new(Pace::between(start, start));
        for messages in [1, 2] {
            let mut counts = Counts::default();
            counts.add(At::Sent, 5);
            counts.add(At::Failed, messages);
            let causes = vec![cause(At::Failed, Some(131_026), messages)];
            tally.add(Part { counts, causes, taken: vec![(-1, 1), (0, 2), (3, 1)] });
        }
        tally.finish(State::Canceled, 14, 20);
        let of = |state| tally.counts.of(state);
        assert_eq!((of(At::Sent), of(At::Failed), of(At::Unknown), of(At::Canceled)), (10, 3, 1, 6));
        let expected =
            [cause(At::Canceled, None, 6), cause(At::Failed, Some(131_026), 3), cause(At::Unknown, None, 1)];
        assert_eq!(tally.causes, expected);
        assert_eq!(tally.pace.messages, [6, 0, 0, 2]);
    }

    #[test]
    fn a_chart_has_a_bounded_number_of_steps_however_long_the_send_lasts() {
        let from = Timestamp::from_millis(1_700_000_000_123);
        for (seconds, step) in [(0, 1), (119, 1), (120, 2), (3_600, 60), (90_000, 1_800), (1 << 40, 604_800)]
        {
            let pace = Pace::between(from, from.plus(Duration::from_secs(seconds)));
            assert_eq!(pace.step.as_secs(), step, "{seconds}");
            assert!(pace.from <= from && from.from_now(pace.from) < pace.step, "{seconds}");
        }
        let mut pace = Pace::between(from, from);
        pace.add(i64::MAX, 1);
        assert_eq!(pace.messages.len(), Pace::MOST_STEPS);
    }
}
