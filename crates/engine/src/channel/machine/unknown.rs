//! Messages with an unknown outcome: the provider may or may not have them.
//!
//! They wait for a receipt. After the grace period the ledger is asked: a receipt may have moved the row before this
//! process started, or while the answer to the request was still awaited. Without a receipt, the tier's policy decides.

use std::mem;

use uuid::Uuid;

use super::Machine;
use super::effect::{Effect, Figure, Question};
use super::input::Failed;
use super::map::{Map, Set};
use super::moment::Step;
use super::retries::Retry;
use super::work::{PriorOutcome, Ticket};
use crate::planted::{Fault, is_planted};
use clock::Timestamp;
use domain::message::{Failure, Key, Outcome, State};
use domain::outlook::Reason;
use domain::tier::UnknownOutcome;

/// Messages with an unknown outcome, by the step that comes next.
#[derive(Debug, Default)]
pub(super) struct Unknowns {
    /// The wait for receipts of these is over; the ledger has to be asked.
    over: Vec<Ticket>,
    /// The ledger is being asked about these.
    asked: Vec<Ticket>,
    is_asking: bool,
    /// Messages whose outcome has just become unknown: a receipt may have arrived before.
    unsure: Vec<Key>,
    is_looking: bool,
    /// Messages whose receipt arrived while they were announced, looked up, or retried.
    heard: Set<Key>,
}

impl Unknowns {
    /// The wait for a receipt of this message is over.
    pub(super) fn add(&mut self, ticket: Ticket) {
        self.over.push(ticket);
    }

    /// The outcome of this message has just become unknown.
    pub(super) fn add_unsure(&mut self, key: Key) {
        self.unsure.push(key);
    }

    /// Whether the ledger is being asked.
    pub(super) const fn is_asking(&self) -> bool {
        self.is_asking
    }

    /// The ledger may be asked again.
    pub(super) const fn may_ask(&mut self) {
        self.is_asking = false;
    }

    /// Takes the messages that the ledger was not asked about yet.
    pub(super) fn take_rest(&mut self) -> Vec<Ticket> {
        mem::take(&mut self.over)
    }

    /// Takes out a message that the ledger was not asked about yet.
    fn take(&mut self, key: Key) -> Option<Ticket> {
        let place = self.over.iter().position(|ticket| ticket.key() == key)?;
        Some(self.over.swap_remove(place))
    }

    /// Begins to ask the ledger. Returns the messages to ask about.
    fn ask(&mut self) -> Option<Vec<Key>> {
        if self.is_asking || self.over.is_empty() {
            return None;
        }
        self.is_asking = true;
        self.asked = mem::take(&mut self.over);
        Some(self.asked.iter().map(Ticket::key).collect())
    }

    /// Begins to look for receipts of messages whose outcome has just become unknown. Returns these messages.
    fn look(&mut self) -> Option<Vec<Key>> {
        if self.is_looking || self.unsure.is_empty() {
            return None;
        }
        self.is_looking = true;
        Some(mem::take(&mut self.unsure))
    }

    /// The ledger gave no answer: the messages are asked about again after [`Unknowns::may_ask`].
    fn put_back(&mut self) {
        self.over.append(&mut self.asked);
    }

    /// Whether a receipt arrived while no part of the machine held the message.
    fn take_heard(&mut self, key: Key) -> bool {
        !self.heard.is_empty() && self.heard.remove(&key)
    }
}

impl Machine {
    /// Asks the ledger about the messages whose wait is over, and about those whose outcome has just become unknown: if
    /// a receipt arrived while their answers were awaited, there is nothing to wait for.
    pub(super) fn look_into_unknowns(&mut self, step: &mut Step<'_>) {
        if let Some(messages) = self.unknowns.ask() {
            step.push(Effect::ReadStates { question: Question::IsOver, messages });
        }
        if let Some(messages) = self.unknowns.look() {
            step.push(Effect::ReadStates { question: Question::WasHeard, messages });
        }
    }

    /// The ledger answered with the states of these messages.
    pub(super) fn states_read(
        &mut self,
        question: Question,
        result: Result<Vec<(Key, State)>, Failed>,
        step: &mut Step<'_>,
    ) {
        match (question, result) {
            (Question::WasHeard, result) => {
                self.unknowns.is_looking = false;
                // States that cannot be read now are read again when the wait is over.
                self.heard(result.unwrap_or_default(), step);
            }
            (Question::IsOver, Ok(states)) => {
                self.unknowns.may_ask();
                let states: Map<Key, State> = states.into_iter().collect();
                for ticket in mem::take(&mut self.unknowns.asked) {
                    self.resolve_unknown(ticket, states.get(&ticket.key()).copied(), step);
                }
            }
            (Question::IsOver, Err(_)) => {
                self.unknowns.put_back();
                self.retries.add(Retry::Unknowns, step.now());
                return;
            }
        }
        self.pump(step);
    }

    fn resolve_unknown(&mut self, ticket: Ticket, state: Option<State>, step: &mut Step<'_>) {
        if self.was_heard(ticket.key()) || state.is_some_and(|state| !state.is_open()) {
            self.lanes.settle(ticket, true);
            return;
        }
        let Some(work) = self.lanes.work(ticket.send_id) else { return };
        let (company_id, is_leaving) = (work.company_id, work.leaving().is_some());
        if is_leaving || self.is_stopping() {
            // The row says that the outcome is unknown: the ledger is asked again when the message is read next.
            self.lanes.park(ticket, step.wall());
        } else if ticket.prior != PriorOutcome::Unknown
            || self.tier.unknown_outcome == UnknownOutcome::Resend
            || is_planted(Fault::DoubtNotHeld)
        {
            self.announce(ticket, step);
        } else {
            self.leave_unknown(ticket, company_id, None, step);
        }
    }

    /// Leaves the outcome unknown, unless a receipt arrives.
    pub(super) fn leave_unknown(
        &mut self,
        ticket: Ticket,
        company_id: Uuid,
        error: Option<Failure>,
        step: &mut Step<'_>,
    ) {
        step.note(Figure::Unknown);
        self.outbox.add(ticket.send_id, company_id, unknown(ticket, error, None));
        self.end_pending_reply(ticket.send_id, State::Unknown, None, step.wall());
        self.lanes.settle(ticket, true);
    }

    /// A message that an earlier process may have sent.
    pub(super) fn restore_unknown(&mut self, ticket: Ticket, company_id: Uuid, step: &mut Step<'_>) {
        let sentence = "the service ended before the provider's answer was written".to_owned();
        let error = Some(Failure { code: None, sentence });
        self.lanes.count(ticket.send_id);
        if self.tier.unknown_outcome == UnknownOutcome::Hold {
            self.leave_unknown(ticket, company_id, error, step);
            return;
        }
        let grace = self.common.retry.unknown_grace;
        let retry_at: Timestamp = step.wall().plus(grace);
        self.outbox.add(ticket.send_id, company_id, unknown(ticket, error, Some(retry_at)));
        self.lanes.hold_back(ticket.send_id, Reason::UnknownOutcome);
        self.lanes.settle(ticket, false);
        let ticket = Ticket { again: true, prior: PriorOutcome::Unknown, ..ticket };
        if !self.lanes.defer(ticket, step.now() + grace, false) {
            self.lanes.park(ticket, retry_at);
        }
    }

    /// Whether a receipt arrived while no part of the machine held the message.
    pub(super) fn was_heard(&mut self, key: Key) -> bool {
        self.unknowns.take_heard(key)
    }

    /// Receipts moved these messages: those of them that wait here are over.
    pub(super) fn heard(&mut self, messages: impl IntoIterator<Item = (Key, State)>, step: &mut Step<'_>) {
        for (key, state) in messages {
            if state.is_open() || is_planted(Fault::ReceiptIgnored) {
                continue;
            }
            self.end_pending_reply(key.send_id, state, None, step.wall());
            if let Some(ticket) = self.unknowns.take(key) {
                self.lanes.settle(ticket, true);
            } else if !self.lanes.heard(key) && self.lanes.is_recorded(key) {
                // The message is between two parts of the machine: the part that takes it next checks for a receipt
                // before it goes on.
                self.unknowns.heard.insert(key);
            }
        }
    }
}

/// The outcome of an attempt that the provider may have accepted.
fn unknown(ticket: Ticket, error: Option<Failure>, retry_at: Option<Timestamp>) -> Outcome {
    Outcome {
        position: ticket.position(),
        state: State::Unknown,
        attempts: ticket.attempts,
        provider_message_id: None,
        error,
        retry_at,
        taken_at: ticket.taken_at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket(ordinal: u64) -> Ticket {
        Ticket {
            send_id: Uuid::nil(),
            ordinal,
            recipient: None,
            attempts: 1,
            again: true,
            prior: PriorOutcome::Unknown,
            has_waited: true,
            counted: None,
            taken_at: None,
        }
    }

    #[test]
    fn the_ledger_is_asked_about_each_message_once_and_again_when_it_gave_no_answer() {
        let mut unknowns = Unknowns::default();
        assert_eq!(unknowns.ask(), None);
        unknowns.add(ticket(1));
        assert_eq!(unknowns.ask(), Some(vec![ticket(1).key()]));
        unknowns.add(ticket(2));
        assert_eq!(unknowns.ask(), None, "a question is under way");
        assert_eq!((unknowns.take(ticket(1).key()), unknowns.take(ticket(2).key())), (None, Some(ticket(2))));
        unknowns.put_back();
        assert_eq!(unknowns.ask(), None, "not before the pause is over");
        unknowns.may_ask();
        assert_eq!(unknowns.ask(), Some(vec![ticket(1).key()]));
        assert!(unknowns.is_asking() && unknowns.take_rest().is_empty());
    }

    #[test]
    fn a_receipt_that_came_in_between_counts_once() {
        let mut unknowns = Unknowns::default();
        assert!(!unknowns.take_heard(ticket(1).key()));
        unknowns.heard.insert(ticket(1).key());
        assert!(unknowns.take_heard(ticket(1).key()) && !unknowns.take_heard(ticket(1).key()));
    }
}
