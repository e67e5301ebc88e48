//! The canary: the one message that decides whether a channel that the provider refused may send again.
//!
//! The provider reports numbers as healthy whose messages it refuses. So a healthy report only half-opens a channel of
//! which a message was refused: one message goes. If the provider accepts it, the channel is open and the back-off is
//! reset. If the provider refuses it, the next canary waits longer. Plain code without clock or timer: the channel's
//! machine passes the time in and acts on the result.

use std::time::Duration;

use clock::Timestamp;
use connectors::{Disposition, Reply};
use domain::channel::Trial;
use domain::message::{Key, State};

/// The pauses between canaries: the first one, and the longest that doubling leads to.
#[derive(Debug, Clone, Copy)]
struct Steps {
    first: Duration,
    longest: Duration,
}

const USUAL: Steps = Steps { first: Duration::from_secs(60), longest: Duration::from_secs(30 * 60) };
/// The provider wants a restricted number to stay silent for hours, and extends the restriction otherwise.
const RESTRICTED: Steps =
    Steps { first: Duration::from_secs(2 * 60 * 60), longest: Duration::from_secs(24 * 60 * 60) };
/// A webhook about the number brings a canary forward, but not sooner than this after a refused one.
const AFTER_NEWS: Duration = Duration::from_secs(60);
/// A refusal by webhook this soon after the channel opened means that the accepted canary proved nothing.
const PROBATION: Duration = Duration::from_secs(10 * 60);

#[derive(Debug, Default)]
pub(super) struct Canary {
    trial: Option<Trial>,
    is_half_open: bool,
    /// The canary in flight.
    message: Option<Key>,
    /// The last canary without an answer: a receipt may still say that the provider has it.
    lost: Option<Key>,
    /// When a canary was last refused.
    refused_at: Option<Timestamp>,
    /// The back-off that was last reset, and when.
    last_reset: Option<(Duration, Timestamp)>,
}

/// What the provider's answer to a message says about the channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// The message was the canary, and the provider accepted it.
    Accepted,
    /// The message was the canary, and the provider refused the channel with it.
    Refused(Disposition),
    /// The message was the canary, and its outcome is unknown.
    Lost,
    /// Nothing.
    None,
}

impl Canary {
    /// The canary of a channel with this trial pending.
    pub(super) fn new(trial: Option<Trial>) -> Self {
        Self { trial, ..Self::default() }
    }

    /// The trial that the channel has to pass before it is open.
    pub(super) const fn trial(&self) -> Option<Trial> {
        self.trial
    }

    /// Whether one message may go.
    pub(super) const fn is_half_open(&self) -> bool {
        self.is_half_open
    }

    /// Whether a canary is in flight, so that no other message may go.
    pub(super) const fn is_on_its_way(&self) -> bool {
        self.message.is_some()
    }

    /// The provider refused the channel with a message: the canary, or one of an open channel.
    pub(super) fn refused(&mut self, disposition: Disposition, now: Timestamp, jitter: f64) {
        let steps = if disposition == Disposition::Restrict { RESTRICTED } else { USUAL };
        if self.trial.is_some() {
            self.refused_at = Some(now);
        }
        let wait = match self.trial {
            Some(Trial { wait, .. }) => (2 * wait).clamp(steps.first, steps.longest.max(wait)),
            None => steps.first,
        };
        self.trial = Some(Trial { wait, due: now.plus(wait.mul_f64(0.75 + jitter / 4.0)) });
        self.close();
    }

    /// A webhook reports that the channel was refused with a message that the provider had accepted.
    pub(super) fn refused_later(&mut self, disposition: Disposition, now: Timestamp, jitter: f64) {
        if let (None, Some((wait, at))) = (self.trial, self.last_reset.take())
            && at.plus(PROBATION) > now
        {
            self.trial = Some(Trial { wait, due: now });
        }
        self.refused(disposition, now, jitter);
    }

    /// Nothing may go until [`Canary::half_open`] says so.
    pub(super) const fn close(&mut self) {
        self.is_half_open = false;
        self.message = None;
    }

    /// The provider reports that the number can send; `is_news` when a webhook caused the probe. Returns whether the
    /// channel became half-open by this. If the process ends before the canary's answer, the next canary waits as long
    /// as after a lost one.
    pub(super) fn half_open(&mut self, is_news: bool, now: Timestamp) -> bool {
        let Some(trial) = &mut self.trial else { return false };
        let is_brought_forward = is_news
            && trial.wait <= USUAL.longest
            && self.refused_at.is_none_or(|refused_at| refused_at.plus(AFTER_NEWS) <= now);
        if self.is_half_open || (trial.due > now && !is_brought_forward) {
            return false;
        }
        trial.due = now.plus(trial.wait);
        self.is_half_open = true;
        true
    }

    /// How long until the next canary may go; `None` without a trial.
    pub(super) fn due_in(&mut self, now: Timestamp) -> Option<Duration> {
        let trial = self.trial.as_mut()?;
        // The clock may have been set back.
        trial.due = trial.due.min(now.plus(trial.wait));
        Some(trial.due.from_now(now))
    }

    /// This message goes; it is the canary if the channel is half-open.
    pub(super) const fn started(&mut self, key: Key) {
        if self.is_half_open {
            self.message = Some(key);
        }
    }

    /// What the answer to this message says about the channel. After a refusal of the message alone, or an
    /// attempt that did not reach the provider, the next message is the canary.
    pub(super) fn answered(&mut self, key: Key, reply: &Reply, now: Timestamp) -> Word {
        if self.message != Some(key) {
            return Word::None;
        }
        self.message = None;
        match reply {
            Reply::Accepted { .. } => Word::Accepted,
            Reply::Refused { disposition, failure, .. } if disposition.refusal(failure).is_some() => {
                Word::Refused(*disposition)
            }
            Reply::Refused { .. } | Reply::NotSent(_) | Reply::NoSocket(_) | Reply::Unsendable(_) => {
                Word::None
            }
            Reply::Uncertain(_) => {
                self.lost = Some(key);
                self.close();
                if let Some(trial) = &mut self.trial {
                    trial.due = now.plus(trial.wait);
                }
                Word::Lost
            }
        }
    }

    /// Whether a receipt of this message, which is now in `state`, says that the provider accepted a canary.
    pub(super) fn is_proved_by(&self, key: Key, state: State) -> bool {
        let is_canary = self.message == Some(key) || self.lost == Some(key);
        self.trial.is_some() && is_canary && matches!(state, State::Sent | State::Delivered | State::Read)
    }

    /// The provider accepted a canary: the channel is open.
    pub(super) fn accepted(&mut self, now: Timestamp) {
        let last_reset = self.trial.map(|trial| (trial.wait, now)).or(self.last_reset);
        *self = Self { last_reset, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use domain::message::Failure;

    const MINUTE: Duration = Duration::from_secs(60);

    fn at(minutes: u32) -> Timestamp {
        Timestamp::from_millis(0).plus(minutes * MINUTE)
    }

    fn key(ordinal: u64) -> Key {
        Key { send_id: Uuid::nil(), ordinal }
    }

    fn refusal(disposition: Disposition) -> Reply {
        let failure = Failure { code: None, sentence: String::new() };
        Reply::Refused { disposition, failure, retry_after: None }
    }

    fn accepted() -> Reply {
        Reply::Accepted { id: String::new(), known_as: None }
    }

    fn uncertain() -> Reply {
        Reply::Uncertain(Failure { code: None, sentence: String::new() })
    }

    fn refused(disposition: Disposition) -> Canary {
        let mut canary = Canary::default();
        canary.refused(disposition, at(0), 1.0);
        canary
    }

    fn waits(disposition: Disposition, times: usize) -> Vec<u64> {
        let mut canary = refused(disposition);
        let mut now = at(0);
        let wait = |canary: &mut Canary, now| canary.due_in(now).unwrap().as_secs() / 60;
        let mut waits = vec![wait(&mut canary, now)];
        while waits.len() < times {
            now = canary.trial().unwrap().due;
            assert!(canary.half_open(false, now));
            canary.started(key(1));
            assert_eq!(canary.answered(key(1), &refusal(disposition), now), Word::Refused(disposition));
            canary.refused(disposition, now, 1.0);
            waits.push(wait(&mut canary, now));
        }
        waits
    }

    #[test]
    fn each_refused_canary_doubles_the_pause_and_a_restricted_number_pauses_for_hours() {
        assert_eq!(waits(Disposition::Block, 7), [1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(waits(Disposition::Disconnect, 3), [1, 2, 4]);
        assert_eq!(waits(Disposition::Restrict, 6), [120, 240, 480, 960, 1440, 1440]);
    }

    #[test]
    fn a_healthy_answer_lets_one_message_go_when_it_is_due_and_no_second_one() {
        let mut canary = refused(Disposition::Block);
        assert!(!canary.half_open(false, at(0)));
        assert!(canary.half_open(false, at(1)) && canary.is_half_open());
        assert!(!canary.half_open(false, at(1)), "it is half-open already");
        canary.started(key(1));
        assert!(canary.is_on_its_way());
        assert_eq!(canary.answered(key(2), &accepted(), at(1)), Word::None, "an earlier message");
        assert_eq!(canary.answered(key(1), &refusal(Disposition::Fail), at(1)), Word::None);
        assert!(canary.is_half_open() && !canary.is_on_its_way(), "the next message is the canary");
        canary.started(key(3));
        assert_eq!(canary.answered(key(3), &accepted(), at(1)), Word::Accepted);
        canary.accepted(at(1));
        assert_eq!((canary.trial(), canary.is_half_open()), (None, false));
        canary.refused(Disposition::Block, at(2), 1.0);
        assert_eq!(canary.due_in(at(2)), Some(MINUTE), "the back-off begins again");
    }

    #[test]
    fn a_webhook_brings_a_canary_forward_but_not_repeatedly_and_not_by_hours() {
        let mut canary = refused(Disposition::Block);
        assert!(canary.half_open(true, at(0)));
        canary.started(key(1));
        canary.refused(Disposition::Block, at(0), 1.0);
        assert!(!canary.half_open(true, at(0)));
        assert!(canary.half_open(true, at(1)), "a minute later");
        assert!(!refused(Disposition::Restrict).half_open(true, at(100)));
    }

    #[test]
    fn a_lost_answer_proves_nothing_and_a_receipt_proves_it_later() {
        let mut canary = refused(Disposition::Block);
        canary.half_open(false, at(1));
        canary.started(key(1));
        assert_eq!(canary.answered(key(1), &uncertain(), at(2)), Word::Lost);
        assert!(!canary.is_half_open() && !canary.half_open(false, at(2)));
        assert_eq!(canary.due_in(at(2)), Some(MINUTE), "no longer than before");
        assert!(!canary.is_proved_by(key(1), State::Failed) && !canary.is_proved_by(key(2), State::Sent));
        assert!(canary.is_proved_by(key(1), State::Delivered));
    }

    #[test]
    fn a_canary_counts_as_tried_when_the_process_ends_before_its_answer() {
        let mut canary = refused(Disposition::Block);
        canary.half_open(false, at(5));
        let mut restored = Canary::new(canary.trial());
        assert!(!restored.half_open(false, at(5)) && restored.half_open(false, at(6)));
    }

    #[test]
    fn a_clock_that_is_set_back_makes_no_pause_longer() {
        let mut canary = refused(Disposition::Block);
        canary.refused(Disposition::Block, at(1_000), 1.0);
        assert_eq!(canary.due_in(at(10)), Some(2 * MINUTE));
    }

    #[test]
    fn a_refusal_by_webhook_soon_after_the_channel_opened_continues_the_back_off() {
        let mut canary = refused(Disposition::Block);
        canary.refused(Disposition::Block, at(1), 1.0);
        canary.accepted(at(3));
        canary.refused_later(Disposition::Block, at(4), 1.0);
        assert_eq!(canary.due_in(at(4)), Some(4 * MINUTE));
        canary.accepted(at(10));
        canary.refused_later(Disposition::Block, at(60), 1.0);
        assert_eq!(canary.due_in(at(60)), Some(MINUTE), "long after it");
        for (minutes, wait) in [(9, 2 * MINUTE), (10, MINUTE)] {
            let mut canary = refused(Disposition::Block);
            canary.accepted(at(0));
            canary.refused_later(Disposition::Block, at(minutes), 1.0);
            assert_eq!(canary.due_in(at(minutes)), Some(wait), "the probation is over after ten minutes");
        }
    }
}
