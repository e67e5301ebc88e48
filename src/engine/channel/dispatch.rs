//! Dispatching: starting messages at the limiter's pace, and carrying out what their answers mean.

use std::time::{Duration, Instant};

use actix::prelude::*;
use metrics::{Counter, Histogram};

use super::work::Ticket;
use super::{ChannelActor, Connector, loading, retry};
use crate::clock::Timestamp;
use crate::connector::{Disposition, Reply};
use crate::domain::message::{Failure, Key, Outcome, Position, State};
use crate::domain::tier::UnknownOutcome;

/// The provider's answer to one message.
pub(super) struct Answered {
    ticket: Ticket,
    /// Which connector asked: an answer to an earlier token says nothing of the present one.
    generation: u64,
    reply: Reply,
    took: Duration,
}

/// The channel's part in the service's metrics.
pub(super) struct Figures {
    sent: Counter,
    failed: Counter,
    retried: Counter,
    unknown: Counter,
    answer: Histogram,
}

impl Figures {
    pub(super) fn new() -> Self {
        let messages =
            |outcome: &'static str| metrics::counter!("pombo_messages_total", "outcome" => outcome);
        Self {
            sent: messages("sent"),
            failed: messages("failed"),
            retried: messages("retried"),
            unknown: messages("unknown"),
            answer: metrics::histogram!("pombo_provider_answer_seconds"),
        }
    }
}

impl ChannelActor {
    /// Does whatever can be done now: reads what is needed, starts messages, writes outcomes.
    pub(super) fn pump(&mut self, ctx: &mut Context<Self>) {
        if self.stopping.is_some() {
            self.wind_down(ctx);
            return;
        }
        self.fetch(ctx);
        let wait = self.start_messages();
        self.load(ctx);
        self.record(ctx);
        if let Some(wait) = wait {
            self.wake_after(wait, ctx);
        }
    }

    /// Starts messages until something holds the next one; how long to wait when that is a matter of time.
    fn start_messages(&mut self) -> Option<Duration> {
        let connector = self.link.connector()?;
        let now = Instant::now();
        if let Some(until) = self.paused_until {
            if until > now {
                return Some(until - now);
            }
            self.paused_until = None;
        }
        let bounds = &self.shared.engine;
        while self.requests < bounds.concurrency && self.in_flight < bounds.in_flight {
            if !self.lanes.is_ready(now) {
                return self.lanes.next_due().map(|due| due.saturating_duration_since(now));
            }
            if let Err(wait) = self.limiter.take() {
                return Some(wait);
            }
            let Some(ticket) = self.lanes.take(now) else { break };
            let Some(work) = self.lanes.work(ticket.send_id) else { continue };
            let key = Key { send_id: ticket.send_id, ordinal: ticket.ordinal };
            let body = work.rendered.message(ticket.recipient, key);
            self.requests += 1;
            self.in_flight += 1;
            self.attempt(ticket, body, Connector::clone(&connector));
        }
        None
    }

    fn attempt(&self, ticket: Ticket, body: Vec<u8>, connector: Connector) {
        let (answers, generation) = (self.answers.clone(), self.link.generation());
        let started = Instant::now();
        actix::spawn(async move {
            let reply = connector.send(body).await;
            // The actor is gone only when nothing can be written any more.
            let _ = answers.send(Answered { ticket, generation, reply, took: started.elapsed() });
        });
    }

    /// Decides what an answer means and notes it for the ledger.
    fn conclude(&mut self, answered: Answered, ctx: &mut Context<Self>) {
        let Answered { ticket, generation, reply, took } = answered;
        self.requests -= 1;
        self.figures.answer.record(took);
        let attempts = ticket.attempts.saturating_add(1);
        match reply {
            Reply::Accepted { id, .. } => {
                self.pauses = 0;
                self.figures.sent.increment(1);
                self.confirm(ctx);
                self.settle(ticket, State::Sent, attempts, Some(id), None);
            }
            Reply::Refused {
                disposition:
                    Disposition::Fail
                    | Disposition::HoldTemplate
                    | Disposition::HoldRecipient
                    | Disposition::Suppress(_),
                failure,
                ..
            } => {
                self.pauses = 0;
                self.figures.failed.increment(1);
                self.settle(ticket, State::Failed, attempts, None, Some(failure));
            }
            Reply::Refused { disposition: Disposition::Retry | Disposition::Pair, failure, .. } => {
                self.retry(ticket, attempts, failure);
            }
            Reply::Refused {
                disposition:
                    Disposition::Wait
                    | Disposition::SlowNumber
                    | Disposition::SlowAccount
                    | Disposition::SlowApp
                    | Disposition::Maintenance,
                failure,
                ..
            }
            | Reply::NotSent(failure) => {
                let pause = self.pause(&failure);
                self.put_back(ticket, ticket.attempts, pause, Some(failure));
            }
            Reply::Refused {
                disposition: disposition @ (Disposition::Disconnect | Disposition::Block),
                failure,
                ..
            } => {
                self.put_back(ticket, ticket.attempts, Duration::ZERO, Some(failure.clone()));
                if generation == self.link.generation() {
                    self.disconnect(disposition, &failure, ctx);
                }
            }
            Reply::Uncertain(failure) => match self.tier.unknown_outcome {
                UnknownOutcome::Resend => self.retry(ticket, attempts, failure),
                UnknownOutcome::Hold => {
                    self.figures.unknown.increment(1);
                    self.settle(ticket, State::Unknown, attempts, None, Some(failure));
                }
            },
        }
    }

    /// Tries the message again later, unless it was tried often enough.
    fn retry(&mut self, ticket: Ticket, attempts: u16, failure: Failure) {
        if let Some(wait) = retry::wait(&self.shared.retry, attempts, rand::random()) {
            self.put_back(ticket, attempts, wait, Some(failure));
        } else {
            self.figures.failed.increment(1);
            self.settle(ticket, State::Failed, attempts, None, Some(failure));
        }
    }

    /// The provider takes nothing now: no message of this channel starts for a while.
    fn pause(&mut self, failure: &Failure) -> Duration {
        let now = Instant::now();
        if let Some(until) = self.paused_until.filter(|until| *until > now) {
            return until - now;
        }
        self.pauses += 1;
        let pause = retry::pause(self.pauses, rand::random());
        self.paused_until = Some(now + pause);
        tracing::warn!(
            channel.id = %self.channel.id,
            provider.code = failure.code,
            reason = failure.sentence,
            seconds = pause.as_secs_f64(),
            "the provider takes nothing, pausing"
        );
        pause
    }

    /// The message is over: nothing more happens to it but receipts.
    fn settle(
        &mut self,
        ticket: Ticket,
        state: State,
        attempts: u16,
        provider_message_id: Option<String>,
        error: Option<Failure>,
    ) {
        let outcome = Outcome {
            position: position(ticket),
            state,
            attempts,
            provider_message_id,
            error,
            retry_at: None,
        };
        self.note(ticket, outcome, true);
    }

    /// The message waits to be tried again.
    fn put_back(&mut self, ticket: Ticket, attempts: u16, wait: Duration, error: Option<Failure>) {
        self.figures.retried.increment(1);
        let outcome = Outcome {
            position: position(ticket),
            state: State::Queued,
            attempts,
            provider_message_id: None,
            error,
            retry_at: Some(Timestamp::now().plus(wait)),
        };
        self.note(ticket, outcome, false);
        self.lanes.defer(Ticket { attempts, again: true, ..ticket }, Instant::now() + wait);
    }

    fn note(&mut self, ticket: Ticket, outcome: Outcome, over: bool) {
        let Some(work) = self.lanes.work(ticket.send_id) else { return };
        let company_id = work.company_id;
        self.outbox.push(ticket.send_id, company_id, outcome, ticket.again);
        self.lanes.settle(ticket, over);
    }

    /// Takes in what was found in the store.
    pub(super) fn restore(&mut self, found: Vec<loading::Found>) {
        let (now, wall) = (Instant::now(), Timestamp::now());
        let grace = self.shared.retry.unknown_grace;
        for loading::Found { work, waiting, unknown } in found {
            let (send_id, company_id) = (work.id, work.company_id);
            let hold = self.tier.unknown_outcome == UnknownOutcome::Hold;
            if self.lanes.holds(send_id) {
                continue;
            }
            self.lanes.add(work);
            for (ticket, retry_at) in waiting {
                self.lanes.resume(ticket, now + retry_at.from_now(wall));
            }
            if !unknown.is_empty() {
                tracing::warn!(send.id = %send_id, messages = unknown.len(), policy = ?self.tier.unknown_outcome, "outcomes are unknown since the last stop");
            }
            for ticket in unknown {
                if hold {
                    self.figures.unknown.increment(1);
                    self.lanes.count(send_id);
                    self.outbox.add(send_id, company_id, in_doubt(ticket));
                    self.lanes.settle(ticket, true);
                } else {
                    self.lanes.resume(ticket, now + grace);
                }
            }
        }
    }

    fn wake_after(&mut self, wait: Duration, ctx: &mut Context<Self>) {
        let at = Instant::now() + wait;
        if let Some((set, timer)) = self.wake {
            if set <= at && set > Instant::now() {
                return;
            }
            ctx.cancel_future(timer);
        }
        let timer = ctx.run_later(wait, |actor, ctx| {
            actor.wake = None;
            actor.pump(ctx);
        });
        self.wake = Some((at, timer));
    }

    /// Waits for what is in flight, writes it, takes back what was only reserved, and tells who waits.
    fn wind_down(&mut self, ctx: &mut Context<Self>) {
        if self.requests == 0 && !self.recording {
            self.lanes.release();
        }
        self.record(ctx);
        if self.requests == 0 && !self.recording {
            for waiting in self.stopping.iter_mut().flat_map(std::mem::take) {
                let _ = waiting.send(());
            }
            ctx.stop();
        }
    }
}

impl StreamHandler<Answered> for ChannelActor {
    fn handle(&mut self, answered: Answered, ctx: &mut Context<Self>) {
        self.conclude(answered, ctx);
        self.pump(ctx);
    }

    /// The stream ends with the actor.
    fn finished(&mut self, _: &mut Context<Self>) {}
}

/// The outcome of a message that was perhaps sent before the process ended.
fn in_doubt(ticket: Ticket) -> Outcome {
    let sentence = "the service ended before the provider's answer was written".to_owned();
    Outcome {
        position: position(ticket),
        state: State::Unknown,
        attempts: ticket.attempts,
        provider_message_id: None,
        error: Some(Failure { code: None, sentence }),
        retry_at: None,
    }
}

const fn position(ticket: Ticket) -> Position {
    Position { ordinal: ticket.ordinal, recipient: ticket.recipient }
}
