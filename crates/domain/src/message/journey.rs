//! The journey of one message: its recorded steps, in order.
//!
//! A message keeps its state, when that was heard, when the provider accepted it, and its last failure. The times of
//! overtaken steps in between (a delivery before it was read, attempts before the last) are not kept.

use super::{Failure, Outcome, State};
use crate::outlook::Waiting;
use crate::send::Schedule;
use clock::Timestamp;

crate::worded! {
    /// A milestone of a message. The words are part of the API and never change.
    pub enum Milestone {
        /// Its send was accepted.
        Accepted = "accepted",
        /// The message waits, or waited, for the moment that its request named.
        Scheduled = "scheduled",
        /// The message was handed to the provider, once or several times.
        Attempted = "attempted",
        /// An attempt was refused for a reason that passes.
        Refused = "refused",
        /// The message waits now, for the given reason.
        Waiting = "waiting",
        /// The provider has it.
        Sent = "sent",
        /// The recipient's device has it.
        Delivered = "delivered",
        /// The recipient read it.
        Read = "read",
        /// The message will not arrive.
        Failed = "failed",
        /// Its send expired before it started.
        Expired = "expired",
        /// Its send was canceled before it started.
        Canceled = "canceled",
        /// Its recipient opted out before it went.
        Suppressed = "suppressed",
        /// The provider may or may not have it.
        Unknown = "unknown",
    }
}

/// One step of a journey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What happened.
    pub milestone: Milestone,
    /// When; `None` when that is not recorded.
    pub at: Option<Timestamp>,
    /// Until when, for a lasting step.
    pub until: Option<Timestamp>,
    /// What went wrong.
    pub failure: Option<Failure>,
    /// What it waits for.
    pub waiting: Option<Waiting>,
}

/// The known state of a message and of its send.
#[derive(Debug, Clone)]
pub struct Journey<'a> {
    /// When its send was accepted.
    pub accepted_at: Timestamp,
    /// The schedule of its send.
    pub schedule: Schedule,
    /// When its send ended.
    pub finished_at: Option<Timestamp>,
    /// The message's outcome.
    pub outcome: &'a Outcome,
    /// When the outcome was recorded; `None` when the message was never attempted.
    pub updated_at: Option<Timestamp>,
    /// What it waits for now.
    pub waiting: Option<Waiting>,
}

impl Milestone {
    const fn end(state: State) -> Option<Self> {
        match state {
            State::Queued | State::Sending | State::Sent => None,
            State::Delivered => Some(Self::Delivered),
            State::Read => Some(Self::Read),
            State::Failed => Some(Self::Failed),
            State::Expired => Some(Self::Expired),
            State::Canceled => Some(Self::Canceled),
            State::Suppressed => Some(Self::Suppressed),
            State::Unknown => Some(Self::Unknown),
        }
    }
}

impl Step {
    const fn new(milestone: Milestone, at: Option<Timestamp>) -> Self {
        Self { milestone, at, until: None, failure: None, waiting: None }
    }
}

impl Journey<'_> {
    /// Its steps, in order.
    pub fn steps(self) -> Vec<Step> {
        let Self { accepted_at, schedule, finished_at, outcome, updated_at, waiting } = self;
        let Outcome { state, attempts, error, taken_at, .. } = outcome;
        let mut steps = vec![Step::new(Milestone::Accepted, Some(accepted_at))];
        if let Some(start) = schedule.send_at.filter(|start| *start > accepted_at) {
            let scheduled = Step::new(Milestone::Scheduled, Some(accepted_at));
            steps.push(Step { until: Some(start), ..scheduled });
        }
        let is_settled = matches!(state, State::Sent | State::Delivered | State::Read);
        if *attempts > 0 || *state == State::Sending {
            // Only the last of several attempts is a step. Of the refusals before it, the outcome keeps the last error.
            let at = taken_at.or(updated_at.filter(|_| !is_settled));
            steps.push(Step::new(Milestone::Attempted, at));
        }
        if state.is_open()
            && let Some(failure) = error
        {
            let refused = Step::new(Milestone::Refused, updated_at);
            steps.push(Step { failure: Some(failure.clone()), ..refused });
        }
        let was_taken = is_settled || (*state == State::Failed && outcome.provider_message_id.is_some());
        if was_taken {
            let at = taken_at.or(updated_at.filter(|_| *state == State::Sent));
            steps.push(Step::new(Milestone::Sent, at));
        }
        if *state == State::Read {
            steps.push(Step::new(Milestone::Delivered, None));
        }
        if let Some(end) = Milestone::end(*state) {
            let failure = error.clone().filter(|_| !state.is_open());
            steps.push(Step { failure, ..Step::new(end, updated_at.or(finished_at)) });
        }
        if let Some(waiting) = waiting.filter(|_| state.is_open()) {
            let step = Step::new(Milestone::Waiting, None);
            steps.push(Step { until: waiting.until, waiting: Some(waiting), ..step });
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Position;
    use crate::outlook::Reason;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn outcome(state: State, attempts: u16) -> Outcome {
        Outcome {
            position: Position { ordinal: 0, recipient: None },
            state,
            attempts,
            provider_message_id: None,
            error: None,
            retry_at: None,
            taken_at: None,
        }
    }

    fn journey(outcome: &Outcome, updated_at: Option<i64>) -> Journey<'_> {
        Journey {
            accepted_at: at(1),
            schedule: Schedule::default(),
            finished_at: Some(at(90)),
            outcome,
            updated_at: updated_at.map(at),
            waiting: None,
        }
    }

    fn told(journey: Journey<'_>) -> Vec<(&'static str, Option<i64>)> {
        let step = |step: Step| (step.milestone.as_str(), step.at.map(Timestamp::millis));
        journey.steps().into_iter().map(step).collect()
    }

    #[test]
    fn a_message_that_was_read_went_all_the_way() {
        let taken = |state| Outcome { taken_at: Some(at(5)), ..outcome(state, 1) };
        let read = taken(State::Read);
        let expected = [
            ("accepted", Some(1)),
            ("attempted", Some(5)),
            ("sent", Some(5)),
            ("delivered", None),
            ("read", Some(9)),
        ];
        assert_eq!(told(journey(&read, Some(9))), expected);
        assert_eq!(told(journey(&taken(State::Delivered), Some(9)))[3], ("delivered", Some(9)));
        assert_eq!(told(journey(&taken(State::Sent), Some(9))).len(), 3);
    }

    #[test]
    fn a_failure_says_whether_the_provider_had_it_and_why_it_failed() {
        let failure = Failure { code: Some(131_026), sentence: "not on WhatsApp".to_owned() };
        let refused = Outcome { error: Some(failure.clone()), ..outcome(State::Failed, 1) };
        assert_eq!(
            told(journey(&refused, Some(9))),
            [("accepted", Some(1)), ("attempted", Some(9)), ("failed", Some(9))]
        );
        let id = Some("wamid".to_owned());
        let later = Outcome { provider_message_id: id, taken_at: Some(at(5)), ..refused };
        let steps = journey(&later, Some(9)).steps();
        let words: Vec<_> = steps.iter().map(|step| step.milestone.as_str()).collect();
        assert_eq!(words, ["accepted", "attempted", "sent", "failed"]);
        assert_eq!(steps[3].failure, Some(failure));
    }

    #[test]
    fn a_message_that_was_never_attempted_ends_with_its_send() {
        for (state, end) in [(State::Expired, "expired"), (State::Canceled, "canceled")] {
            let never = outcome(state, 0);
            assert_eq!(told(journey(&never, None)), [("accepted", Some(1)), (end, Some(90))]);
        }
        let queued = outcome(State::Queued, 0);
        let schedule = Schedule { send_at: Some(at(50)), expires_at: None };
        let waiting =
            Waiting { reason: Reason::Scheduled, sentence: "later".to_owned(), until: Some(at(50)) };
        let journey = Journey { schedule, waiting: Some(waiting), ..journey(&queued, None) };
        let steps = journey.steps();
        let until: Vec<_> = steps.iter().map(|step| (step.milestone, step.until)).collect();
        let expected = [
            (Milestone::Accepted, None),
            (Milestone::Scheduled, Some(at(50))),
            (Milestone::Waiting, Some(at(50))),
        ];
        assert_eq!(until, expected);
    }

    #[test]
    fn a_message_that_is_tried_again_says_what_refused_it_and_what_it_waits_for() {
        let error = Some(Failure { code: Some(130_429), sentence: "too fast".to_owned() });
        let refused = Outcome { error, retry_at: Some(at(20)), ..outcome(State::Queued, 2) };
        let waiting = Waiting { reason: Reason::Retry, sentence: "again".to_owned(), until: Some(at(20)) };
        let words = told(Journey { waiting: Some(waiting), ..journey(&refused, Some(9)) });
        let expected =
            [("accepted", Some(1)), ("attempted", Some(9)), ("refused", Some(9)), ("waiting", None)];
        assert_eq!(words, expected);
    }
}
