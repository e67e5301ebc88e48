//! Carries out what the provider's answers mean.

use std::time::{Duration, Instant};

use super::dispatch::Later;
use super::effect::Figure;
use super::input::Answered;
use super::moment::Step;
use super::work::{Leave, PriorOutcome, Ticket};
use super::{Machine, retry};
use crate::planted::{Fault, is_planted};
use connectors::{Disposition, Reply};
use domain::channel::Kind;
use domain::message::{Failure, Outcome, State};
use domain::outlook::Reason;
use domain::send;
use domain::suppression::{HOLD, Suppression};
use domain::tier::UnknownOutcome;
use driver::RESTRICTED;
use machines::web_session::RESTRICTED_FOR;
use store::suppressions::{Says, Word};

/// A message that waits longer than this waits in the store.
const PARKED_AFTER: Duration = Duration::from_secs(120);

impl Machine {
    /// An attempt ended, with or without an answer.
    pub(super) fn answered(&mut self, answered: Answered, step: &mut Step<'_>) {
        self.conclude(answered, step);
        self.pump(step);
    }

    /// Decides what an answer means and passes the outcome to the ledger.
    fn conclude(&mut self, answered: Answered, step: &mut Step<'_>) {
        let Answered { mut ticket, generation, reply, started } = answered;
        self.flight.requests -= 1;
        self.weigh(ticket.key(), &reply, step);
        if self.was_heard(ticket.key()) {
            // A receipt says that the provider has the message: this answer changes nothing.
            self.end_pending_reply(ticket.send_id, State::Sent, None, step.wall());
            self.flight.in_flight -= 1;
            self.lanes.settle(ticket, true);
            return;
        }
        step.note(Figure::Answered(step.now().saturating_duration_since(started)));
        let attempts = ticket.attempts.saturating_add(1);
        match reply {
            Reply::Accepted { id, known_as } => {
                self.pause.succeeded();
                step.note(Figure::Sent);
                if generation == self.link.generation() {
                    self.confirm(step);
                }
                if let Some(number) = ticket.recipient {
                    self.recipient_pacing.accepted(number, step.now());
                    if let Some(known_as) = known_as {
                        self.common.people.notice(self.channel.company_id, number, known_as);
                    }
                }
                if self.channel.kind == Kind::BusinessAccount {
                    self.common.message_ids.put(id.as_str(), ticket.key());
                }
                self.account.accepted(step.moment());
                ticket.taken_at = Some(step.wall());
                self.settle(ticket, State::Sent, attempts, Some(id), None, step);
            }
            Reply::Refused { disposition, failure, retry_after } => {
                if self.leaves_unknown(disposition) {
                    (ticket.prior, ticket.taken_at) = (PriorOutcome::PerhapsTaken, Some(step.wall()));
                } else {
                    self.give_back_quota(&mut ticket, step.moment());
                }
                let answer = Refusal { disposition, failure, retry_after, generation, started };
                self.refused(ticket, attempts, answer, step);
            }
            Reply::NotSent(failure) => {
                self.not_sent(ticket, Reason::ProviderPause, failure, retry::PAUSE, step);
            }
            Reply::NoSocket(failure) => {
                self.not_sent(ticket, Reason::NoSocket, failure, retry::NO_SOCKET, step);
            }
            Reply::Unsendable(failure) => {
                self.give_back_quota(&mut ticket, step.moment());
                step.note(Figure::Failed);
                let attempts = ticket.attempts;
                self.settle(ticket, State::Failed, attempts, None, Some(failure), step);
            }
            Reply::Uncertain(failure) => {
                ticket.taken_at = Some(step.wall());
                self.unknowns.add_unsure(ticket.key());
                self.uncertain(ticket, attempts, failure, step);
            }
        }
    }

    fn refused(&mut self, ticket: Ticket, attempts: u16, refusal: Refusal, step: &mut Step<'_>) {
        let Refusal { disposition, failure, retry_after, generation, started } = refusal;
        let later =
            |reason, wait| Later { reason, wait, attempts: ticket.attempts, failure: Some(failure.clone()) };
        let template = self.lanes.work(ticket.send_id).and_then(|work| work.template);
        match remedy(disposition, template.is_some(), ticket.recipient.is_some()) {
            Disposition::Fail => {
                if let (Some(RESTRICTED), Some(web_pacing)) = (failure.code, &mut self.admission.web_pacing) {
                    web_pacing.restrict(step.wall().plus(RESTRICTED_FOR));
                }
                self.fail(ticket, attempts, failure, step);
            }
            Disposition::Retry => self.retry(ticket, attempts, failure, step),
            Disposition::Wait => {
                let wait = self.pause_for(Reason::ProviderPause, &failure, retry::PAUSE, step);
                self.put_back_started(ticket, later(Reason::ProviderPause, wait.max_of(retry_after)), step);
            }
            Disposition::Maintenance => {
                let wait = self.pause_for(Reason::ProviderPause, &failure, retry::MAINTENANCE, step);
                self.put_back_started(ticket, later(Reason::ProviderPause, wait), step);
            }
            Disposition::SlowNumber => {
                self.slow_down(started, &failure, step.now());
                let wait = retry::soon(step.chance()).max_of(retry_after);
                self.put_back_started(ticket, later(Reason::BackOff, wait), step);
            }
            Disposition::SlowAccount | Disposition::SlowApp => {
                let (reason, wait) = self.throttle(disposition, retry_after, &failure, step.moment());
                self.put_back_started(ticket, later(reason, wait), step);
            }
            Disposition::Pair => {
                let wait = self.pair_refused(&ticket, step.now());
                self.put_back_started(ticket, later(Reason::Pair, wait), step);
            }
            Disposition::HoldTemplate => {
                self.hold_template(ticket.send_id, &failure, step);
                self.put_back_started(ticket, later(Reason::TemplatePaused, Duration::ZERO), step);
            }
            Disposition::HoldRecipient => {
                let (until, provider_code) = (step.wall().plus(HOLD), failure.code);
                self.suppress(&ticket, Suppression::Marketing, Says::Hold { until, provider_code }, step);
                self.put_back_started(ticket, later(Reason::RecipientHeld, HOLD), step);
            }
            Disposition::Suppress(scope) => {
                self.suppress(&ticket, scope, Says::Stop { provider_code: failure.code }, step);
                self.fail(ticket, attempts, failure, step);
            }
            Disposition::Disconnect | Disposition::Block | Disposition::Restrict => {
                let reason = match disposition {
                    Disposition::Disconnect => Reason::Disconnected,
                    _ => Reason::Blocked,
                };
                self.put_back_started(ticket, later(reason, Duration::ZERO), step);
                if generation == self.link.generation() || is_planted(Fault::GenerationNotCompared) {
                    self.refused_by_answer(disposition, &failure, step);
                }
            }
        }
    }

    /// Whether the provider may have taken a message though it says that it failed. A web session fails before it hands
    /// the message over, or says that the outcome is unknown.
    fn leaves_unknown(&self, disposition: Disposition) -> bool {
        self.channel.kind == Kind::BusinessAccount
            && matches!(disposition, Disposition::Retry | Disposition::Wait)
    }

    /// The outcome of the attempt is unknown: the channel waits for a receipt, then the tier's policy decides.
    fn uncertain(&mut self, ticket: Ticket, attempts: u16, failure: Failure, step: &mut Step<'_>) {
        self.pause_for(Reason::ProviderPause, &failure, retry::UNCERTAIN, step);
        let is_last = u32::from(attempts) >= self.common.retry.attempts;
        let is_held = self.tier.unknown_outcome == UnknownOutcome::Hold && !is_planted(Fault::DoubtNotHeld);
        if is_held || is_last {
            step.note(Figure::Unknown);
            self.settle(ticket, State::Unknown, attempts, None, Some(failure), step);
            return;
        }
        let later = Later {
            reason: Reason::UnknownOutcome,
            wait: self.common.retry.unknown_grace,
            attempts,
            failure: Some(failure),
        };
        self.put_back_started(Ticket { prior: PriorOutcome::Unknown, ..ticket }, later, step);
    }

    /// Retries the message later, unless its attempts are used up.
    fn retry(&mut self, ticket: Ticket, attempts: u16, failure: Failure, step: &mut Step<'_>) {
        match retry::wait(&self.common.retry, attempts, step.chance()) {
            Some(wait) => {
                let later = Later { reason: Reason::Retry, wait, attempts, failure: Some(failure) };
                self.put_back_started(ticket, later, step);
            }
            None => self.fail(ticket, attempts, failure, step),
        }
    }

    fn fail(&mut self, ticket: Ticket, attempts: u16, failure: Failure, step: &mut Step<'_>) {
        self.pause.succeeded();
        step.note(Figure::Failed);
        self.settle(ticket, State::Failed, attempts, None, Some(failure), step);
    }

    /// From now on, messages to the recipient are skipped, or held for a while.
    fn suppress(&mut self, ticket: &Ticket, scope: Suppression, says: Says, step: &Step<'_>) {
        let Some(work) = self.lanes.work(ticket.send_id) else { return };
        let Some(recipient) = ticket.recipient else { return };
        let (company_id, said_at) = (work.company_id, step.wall());
        let recipient = self.common.people.person(company_id, recipient);
        let word = Word { company_id, recipient, scope, said_at, says };
        self.outbox.suppress(word);
        if let Some(record) = word.record() {
            self.common.suppressions.add(record);
        }
    }

    /// The recipient opted out after the send was accepted: the message ends here, without an attempt.
    pub(super) fn suppressed(&mut self, ticket: Ticket, sentence: &str, step: &mut Step<'_>) {
        let Some(work) = self.lanes.work(ticket.send_id) else { return };
        let company_id = work.company_id;
        let error = Some(Failure { code: None, sentence: sentence.to_owned() });
        if ticket.prior == PriorOutcome::Unknown {
            // An earlier attempt may have reached the recipient.
            self.leave_unknown(ticket, company_id, error, step);
            return;
        }
        step.note(Figure::Suppressed);
        self.end_pending_reply(ticket.send_id, State::Suppressed, None, step.wall());
        let outcome = Outcome {
            position: ticket.position(),
            state: State::Suppressed,
            attempts: ticket.attempts,
            provider_message_id: None,
            error,
            retry_at: None,
            taken_at: ticket.taken_at,
        };
        self.outbox.add(ticket.send_id, company_id, outcome);
        self.lanes.settle(ticket, true);
    }

    /// The message is over; only receipts may still change it.
    fn settle(
        &mut self,
        ticket: Ticket,
        state: State,
        attempts: u16,
        provider_message_id: Option<String>,
        error: Option<Failure>,
        step: &Step<'_>,
    ) {
        self.end_pending_reply(ticket.send_id, state, error.as_ref(), step.wall());
        let outcome = Outcome {
            position: ticket.position(),
            state,
            attempts,
            provider_message_id,
            error,
            retry_at: None,
            taken_at: ticket.taken_at,
        };
        let Some(work) = self.lanes.work(ticket.send_id) else {
            self.flight.in_flight -= 1;
            return;
        };
        self.outbox.push(ticket.send_id, work.company_id, outcome, ticket.again);
        self.lanes.settle(ticket, true);
    }

    /// A message that was not started goes later. That is no hold by itself: it also happens when the whole send leaves.
    pub(super) fn put_back(&mut self, ticket: Ticket, later: Later, step: &mut Step<'_>) -> bool {
        self.go_later(ticket, later, false, step)
    }

    /// A message that was started goes later.
    pub(super) fn put_back_started(&mut self, ticket: Ticket, later: Later, step: &mut Step<'_>) {
        step.note(Figure::Retried);
        let reason = later.reason;
        if self.go_later(ticket, later, true, step) {
            step.note(Figure::Held(reason));
        }
    }

    /// Returns whether the message waits: a message whose send is over ends instead.
    fn go_later(&mut self, ticket: Ticket, later: Later, was_started: bool, step: &mut Step<'_>) -> bool {
        let Later { reason, wait, attempts, failure } = later;
        if let Some(pending_reply) = self.pending_reply(ticket.send_id) {
            pending_reply.put_back(reason, ticket.prior == PriorOutcome::Unknown);
        }
        let Some(work) = self.lanes.work(ticket.send_id) else {
            self.flight.in_flight -= usize::from(was_started);
            return false;
        };
        let (company_id, leaving) = (work.company_id, work.leaving());
        let due = step.wall().plus(wait);
        let (state, retry_at) = match leaving {
            Some(Leave::Over(_)) if ticket.prior == PriorOutcome::Unknown => (State::Unknown, None),
            Some(Leave::Over(over)) => (ended(over), None),
            Some(Leave::Held) | None if ticket.prior == PriorOutcome::Unknown => (State::Unknown, Some(due)),
            Some(Leave::Held) | None => (State::Queued, Some(due)),
        };
        let outcome = Outcome {
            position: ticket.position(),
            state,
            attempts,
            provider_message_id: None,
            error: failure,
            retry_at,
            taken_at: ticket.taken_at,
        };
        if was_started {
            self.outbox.push(ticket.send_id, company_id, outcome, ticket.again);
        } else {
            self.outbox.add(ticket.send_id, company_id, outcome);
        }
        if retry_at.is_none() {
            self.end_pending_reply(ticket.send_id, state, None, step.wall());
            self.lanes.settle(ticket, true);
            return false;
        }
        self.lanes.hold_back(ticket.send_id, reason);
        self.lanes.settle(ticket, false);
        let ticket = Ticket { attempts, again: true, counted: None, ..ticket };
        // A receipt finds a message with an unknown outcome only in memory.
        let stays = leaving.is_none() && (wait <= PARKED_AFTER || reason == Reason::UnknownOutcome);
        if !stays || !self.lanes.defer(ticket, step.now() + wait, is_trouble(reason)) {
            self.lanes.park(ticket, due);
        }
        true
    }
}

/// The provider's refusal of a message.
struct Refusal {
    disposition: Disposition,
    failure: Failure,
    retry_after: Option<Duration>,
    generation: u64,
    started: Instant,
}

/// Replaces a disposition that cannot apply to the message: without this, the message would wait forever.
const fn remedy(disposition: Disposition, has_template: bool, has_recipient: bool) -> Disposition {
    match disposition {
        // Only templates are held. Only marketing, which is always a template, is held for a recipient.
        Disposition::HoldTemplate if !has_template => Disposition::Fail,
        Disposition::HoldRecipient if !has_template || !has_recipient => Disposition::Fail,
        // A group has no pair of numbers.
        Disposition::Pair if !has_recipient => Disposition::Retry,
        other => other,
    }
}

/// Whether the message waits because of trouble that other messages would meet too.
const fn is_trouble(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::Retry
            | Reason::ProviderPause
            | Reason::NoSocket
            | Reason::BackOff
            | Reason::AccountThrottled
            | Reason::AppThrottled
            | Reason::Disconnected
    )
}

/// The state of messages that end with their send.
const fn ended(over: send::State) -> State {
    match over {
        send::State::Canceled => State::Canceled,
        _ => State::Expired,
    }
}

/// The longer of two waits: the channel's own and the one that the provider asks for.
trait MaxOf {
    fn max_of(self, other: Option<Duration>) -> Duration;
}

impl MaxOf for Duration {
    fn max_of(self, other: Option<Duration>) -> Duration {
        other.map_or(self, |other| self.max(other))
    }
}

#[cfg(test)]
mod tests;
