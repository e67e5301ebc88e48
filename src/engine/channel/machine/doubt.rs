//! Messages of which nobody knows whether the provider has them.
//!
//! They wait for a receipt. When their time is over the ledger is asked: a receipt may have moved the row
//! before this process began, or while the answer to the request was still awaited. Only if nothing was heard,
//! the tier's policy decides.

use std::mem;

use uuid::Uuid;

use super::Machine;
use super::effect::{Effect, Figure, Question};
use super::input::Failed;
use super::map::{Map, Set};
use super::moment::Step;
use super::retries::Retry;
use super::work::{Doubt, Ticket};
use crate::clock::Timestamp;
use crate::domain::message::{Failure, Key, Outcome, State};
use crate::domain::outlook::Reason;
use crate::domain::tier::UnknownOutcome;
use crate::engine::planted::{Fault, is_planted};

/// Messages whose states at the ledger are asked for.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    /// The time to wait for receipts of these is over.
    over: Vec<Ticket>,
    /// The ledger is being asked about these.
    asked: Vec<Ticket>,
    is_asking: bool,
    /// Nobody knows of these since just now: a receipt may have been here before.
    unsure: Vec<Key>,
    is_looking: bool,
    /// Messages of which a receipt came while they were announced, looked up, or tried again.
    heard: Set<Key>,
}

impl Doubts {
    /// The time to wait for a receipt of this message is over.
    pub(super) fn add(&mut self, ticket: Ticket) {
        self.over.push(ticket);
    }

    /// Since just now nobody knows whether the provider has this message.
    pub(super) fn add_unsure(&mut self, key: Key) {
        self.unsure.push(key);
    }

    /// Whether the ledger is being asked about messages whose time to wait is over.
    pub(super) const fn is_asking(&self) -> bool {
        self.is_asking
    }

    /// The ledger may be asked again.
    pub(super) const fn may_ask(&mut self) {
        self.is_asking = false;
    }

    /// The messages that the ledger was not asked about yet.
    pub(super) fn take_rest(&mut self) -> Vec<Ticket> {
        mem::take(&mut self.over)
    }

    /// Takes out a message that the ledger was not asked about yet.
    fn take(&mut self, key: Key) -> Option<Ticket> {
        let place = self.over.iter().position(|ticket| ticket.key() == key)?;
        Some(self.over.swap_remove(place))
    }

    /// Begins to ask: about which messages.
    fn ask(&mut self) -> Option<Vec<Key>> {
        if self.is_asking || self.over.is_empty() {
            return None;
        }
        self.is_asking = true;
        self.asked = mem::take(&mut self.over);
        Some(self.asked.iter().map(Ticket::key).collect())
    }

    /// Begins to look whether something was heard of what is unknown since just now: of which messages.
    fn look(&mut self) -> Option<Vec<Key>> {
        if self.is_looking || self.unsure.is_empty() {
            return None;
        }
        self.is_looking = true;
        Some(mem::take(&mut self.unsure))
    }

    /// The ledger gave no answer; it may be asked again after [`Doubts::may_ask`].
    fn put_back(&mut self) {
        self.over.append(&mut self.asked);
    }

    /// Whether a receipt of a message came that was in nobody's hands then.
    fn take_heard(&mut self, key: Key) -> bool {
        !self.heard.is_empty() && self.heard.remove(&key)
    }
}

impl Machine {
    /// Asks the ledger about the messages whose time to wait is over, and about those of which nobody knows since just
    /// now: a receipt may have come while their answers were awaited, and then there is nothing to wait for.
    pub(super) fn look_into_doubts(&mut self, step: &mut Step<'_>) {
        if let Some(messages) = self.doubts.ask() {
            step.push(Effect::ReadStates { question: Question::IsOver, messages });
        }
        if let Some(messages) = self.doubts.look() {
            step.push(Effect::ReadStates { question: Question::WasHeard, messages });
        }
    }

    /// The ledger said where these messages are.
    pub(super) fn states_read(
        &mut self,
        question: Question,
        result: Result<Vec<(Key, State)>, Failed>,
        step: &mut Step<'_>,
    ) {
        match (question, result) {
            (Question::WasHeard, result) => {
                self.doubts.is_looking = false;
                // What cannot be read now is asked again when the time to wait is over.
                self.heard(result.unwrap_or_default(), step);
            }
            (Question::IsOver, Ok(states)) => {
                self.doubts.may_ask();
                let states: Map<Key, State> = states.into_iter().collect();
                for ticket in mem::take(&mut self.doubts.asked) {
                    self.resolve_doubt(ticket, states.get(&ticket.key()).copied(), step);
                }
            }
            (Question::IsOver, Err(_)) => {
                self.doubts.put_back();
                self.retries.add(Retry::Doubts, step.now());
                return;
            }
        }
        self.pump(step);
    }

    fn resolve_doubt(&mut self, ticket: Ticket, state: Option<State>, step: &mut Step<'_>) {
        if self.was_heard(ticket.key()) || state.is_some_and(|state| !state.is_open()) {
            self.lanes.settle(ticket, true);
            return;
        }
        let Some(work) = self.lanes.work(ticket.send_id) else { return };
        let (company_id, is_leaving) = (work.company_id, work.leaving().is_some());
        if is_leaving || self.is_stopping() {
            // Its row says that it is in doubt, and its next reader asks again.
            self.lanes.park(ticket, step.wall());
        } else if ticket.doubt != Doubt::Full
            || self.tier.unknown_outcome == UnknownOutcome::Resend
            || is_planted(Fault::DoubtNotHeld)
        {
            self.announce(ticket, step);
        } else {
            self.leave_unknown(ticket, company_id, None, step);
        }
    }

    /// Nobody will ever know, unless a receipt comes.
    pub(super) fn leave_unknown(
        &mut self,
        ticket: Ticket,
        company_id: Uuid,
        error: Option<Failure>,
        step: &mut Step<'_>,
    ) {
        step.note(Figure::Unknown);
        let outcome = Outcome {
            position: ticket.position(),
            state: State::Unknown,
            attempts: ticket.attempts,
            provider_message_id: None,
            error,
            retry_at: None,
            taken_at: ticket.taken_at,
        };
        self.outbox.add(ticket.send_id, company_id, outcome);
        self.end_errand(ticket.send_id, State::Unknown, None, step.wall());
        self.lanes.settle(ticket, true);
    }

    /// A message that was perhaps sent before the process ended.
    pub(super) fn doubt(&mut self, ticket: Ticket, company_id: Uuid, step: &mut Step<'_>) {
        let sentence = "the service ended before the provider's answer was written".to_owned();
        let error = Some(Failure { code: None, sentence });
        self.lanes.count(ticket.send_id);
        if self.tier.unknown_outcome == UnknownOutcome::Hold {
            self.leave_unknown(ticket, company_id, error, step);
            return;
        }
        let grace = self.common.retry.unknown_grace;
        let retry_at: Timestamp = step.wall().plus(grace);
        let outcome = Outcome {
            position: ticket.position(),
            state: State::Unknown,
            attempts: ticket.attempts,
            provider_message_id: None,
            error,
            retry_at: Some(retry_at),
            taken_at: ticket.taken_at,
        };
        self.outbox.add(ticket.send_id, company_id, outcome);
        self.lanes.hold_back(ticket.send_id, Reason::UnknownOutcome);
        self.lanes.settle(ticket, false);
        let ticket = Ticket { again: true, doubt: Doubt::Full, ..ticket };
        if !self.lanes.defer(ticket, step.now() + grace, false) {
            self.lanes.park(ticket, retry_at);
        }
    }

    /// Whether a receipt of a message came that was in nobody's hands then.
    pub(super) fn was_heard(&mut self, key: Key) -> bool {
        self.doubts.take_heard(key)
    }

    /// Receipts moved these messages: those that wait here are over.
    pub(super) fn heard(&mut self, messages: impl IntoIterator<Item = (Key, State)>, step: &mut Step<'_>) {
        for (key, state) in messages {
            if state.is_open() || is_planted(Fault::ReceiptIgnored) {
                continue;
            }
            self.end_errand(key.send_id, state, None, step.wall());
            if let Some(ticket) = self.doubts.take(key) {
                self.lanes.settle(ticket, true);
            } else if !self.lanes.heard(key) && self.lanes.is_recorded(key) {
                // It is on its way somewhere between these: its holder asks before it goes on.
                self.doubts.heard.insert(key);
            }
        }
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
            doubt: Doubt::Full,
            has_waited: true,
            counted: None,
            taken_at: None,
        }
    }

    #[test]
    fn the_ledger_is_asked_about_each_message_once_and_again_when_it_gave_no_answer() {
        let mut doubts = Doubts::default();
        assert_eq!(doubts.ask(), None);
        doubts.add(ticket(1));
        assert_eq!(doubts.ask(), Some(vec![ticket(1).key()]));
        doubts.add(ticket(2));
        assert_eq!(doubts.ask(), None, "it is being asked");
        assert_eq!((doubts.take(ticket(1).key()), doubts.take(ticket(2).key())), (None, Some(ticket(2))));
        doubts.put_back();
        assert_eq!(doubts.ask(), None, "not before the pause is over");
        doubts.may_ask();
        assert_eq!(doubts.ask(), Some(vec![ticket(1).key()]));
        assert!(doubts.is_asking() && doubts.take_rest().is_empty());
    }

    #[test]
    fn a_receipt_that_came_in_between_counts_once() {
        let mut doubts = Doubts::default();
        assert!(!doubts.take_heard(ticket(1).key()));
        doubts.heard.insert(ticket(1).key());
        assert!(doubts.take_heard(ticket(1).key()) && !doubts.take_heard(ticket(1).key()));
    }
}
