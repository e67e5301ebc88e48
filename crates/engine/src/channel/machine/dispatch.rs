//! Dispatching: starts messages at the limiter's pace, unless something holds them.

use std::mem;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::effect::{Attempt, Effect, Figure, WebAttempt};
use super::moment::Step;
use super::work::{Leave, PriorOutcome, Ticket, Work};
use super::{Life, Machine, admission};
use crate::account::ScopeKind;
use crate::planted::{Fault, is_planted};
use domain::channel::Kind;
use domain::message::{Failure, Key, Outcome, State};
use domain::outlook::Reason;
use domain::send;
use store::sends::Size;

/// Why no message starts now, and until when, if the end is known.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) reason: Reason,
    pub(super) until: Option<Instant>,
}

impl Machine {
    /// Does all that can be done now: reads what is needed, starts messages, writes outcomes.
    pub(super) fn pump(&mut self, step: &mut Step<'_>) {
        match self.life {
            Life::Running => {}
            Life::Stopping(_) => return self.wind_down(step),
            Life::Over => return,
        }
        self.expire(step);
        self.take_quota(step);
        self.awake(step);
        self.fetch(step);
        self.flight.release();
        self.held = self.start_messages(step);
        self.settle_permits(step);
        self.look_into_unknowns(step);
        self.load(step);
        self.unpark(step);
        self.learn_quota(step);
        self.record(step);
        self.tell_account(step);
        self.offer_trial(step);
    }

    /// Starts messages until something holds the next one. Returns what holds it.
    fn start_messages(&mut self, step: &mut Step<'_>) -> Option<Held> {
        let quiet = self.tier.quiet_until(step.wall());
        if mem::replace(&mut self.lanes.is_quiet, quiet.is_some()) != quiet.is_some() && quiet.is_some() {
            // A message that stays marked or announced until morning would look attempted after a crash.
            self.release(Leave::Held, |work| !work.is_direct(), step);
            self.give_back_people(step.moment());
        }
        if !self.link.can_send() {
            return Some(Held { reason: self.link.refusal(), until: None });
        }
        if self.common.stopping.load(Ordering::Relaxed) {
            return None;
        }
        let now = step.now();
        if let Some(held) = self.link.holds(now).or_else(|| self.paused(now)) {
            return Some(held);
        }
        self.announce_due(step);
        let (concurrency, in_flight) = (self.common.engine.concurrency, self.common.engine.in_flight);
        while self.flight.requests < concurrency && self.flight.in_flight < in_flight {
            if !self.lanes.is_ready() {
                let until = self.lanes.next_due().filter(|due| *due > now);
                let troubled = Held { reason: Reason::Retry, until };
                let is_troubled = [Size::Direct, Size::Bulk].iter().any(|size| self.lanes.is_troubled(*size));
                let has_bulk = || self.lanes.works().any(|work| !work.is_direct());
                let rests = quiet.filter(|_| has_bulk()).map(|until| Held {
                    reason: Reason::QuietHours,
                    until: Some(now + until.from_now(step.wall())),
                });
                return rests.or_else(|| is_troubled.then_some(troubled));
            }
            if !self.flight.has_permit() {
                return Some(Held { reason: Reason::InFlight, until: None });
            }
            if let Some(held) = self.rests(step) {
                return Some(held);
            }
            // The permit of a message that turns out to be held or canceled serves the next one.
            if let Err(wait) = self.limiter.permit(now) {
                return Some(Held { reason: Reason::Rate, until: Some(now + wait) });
            }
            let Some(mut ticket) = self.lanes.take() else { break };
            if let Some(sentence) = self.opted_out(&ticket, step.wall()) {
                self.suppressed(ticket, sentence, step);
            } else if let Some((reason, wait)) = self.hold(&mut ticket, step) {
                let later = Later { reason, wait, attempts: ticket.attempts, failure: None };
                if self.put_back(ticket, later, step) {
                    step.note(Figure::Held(reason));
                }
            } else if self.attempt(ticket, step) {
                self.limiter.use_permit();
                if let Some(held) = self.link.holds(now) {
                    return Some(held);
                }
            }
        }
        None
    }

    /// Why the whole channel may not send now.
    pub(super) fn paused(&self, now: Instant) -> Option<Held> {
        if let Some((reason, until)) = self.pause.holds(now) {
            return Some(Held { reason, until: Some(until) });
        }
        let (kind, until) = self.account.throttled(now)?;
        let reason = match kind {
            ScopeKind::App => Reason::AppThrottled,
            ScopeKind::Account => Reason::AccountThrottled,
        };
        Some(Held { reason, until: Some(until) })
    }

    /// Why a web session may not send now.
    fn rests(&self, step: &Step<'_>) -> Option<Held> {
        if self.channel.kind != Kind::WebSession {
            return None;
        }
        // The session's recent activity is being read.
        let Some(web_pacing) = &self.admission.web_pacing else {
            return Some(Held { reason: Reason::Turn, until: None });
        };
        let (reason, until) = web_pacing.holds(&self.tier, step.now(), step.wall())?;
        Some(Held { reason, until: Some(until) })
    }

    /// Starts an attempt of a message. Returns whether that was possible.
    fn attempt(&mut self, ticket: Ticket, step: &mut Step<'_>) -> bool {
        let Some(work) = self.lanes.work(ticket.send_id) else { return false };
        let (rendered, started) = (work.rendered.clone(), step.now());
        let web = self.admission.web_pacing.as_mut().map(|web_pacing| {
            let pending_reply = self.common.pending_replies.find(ticket.send_id);
            if let Some(pending_reply) = &pending_reply {
                pending_reply.begin();
            }
            let slot = web_pacing.started(ticket.send_id, &self.tier, started, step.chance());
            Box::new(WebAttempt { pending_reply, slot })
        });
        self.history.count(started, self.limiter.rate(started));
        self.link.canary.started(ticket.key());
        self.flight.started();
        let generation = self.link.generation();
        step.push(Effect::Attempt(Attempt { ticket, rendered, web, generation, started }));
        true
    }

    /// Announces the next attempt of messages that are due again. They go once the announcement is durable, so that
    /// after a crash during the attempt their outcome is unknown and they do not merely wait.
    fn announce_due(&mut self, step: &mut Step<'_>) {
        let ahead = usize::try_from(self.ahead(step.now())).unwrap_or(usize::MAX);
        for size in [Size::Direct, Size::Bulk] {
            if self.lanes.is_quiet && size == Size::Bulk {
                continue;
            }
            let announced = self.outbox.announced().filter(|ticket| self.lanes.size_of(ticket) == size);
            let room = ahead.saturating_sub(announced.count() + self.lanes.again(size));
            self.announce_some(size, room, step);
        }
    }

    /// Announces at most `room` messages of one size.
    fn announce_some(&mut self, size: Size, mut room: usize, step: &mut Step<'_>) {
        let (now, wall) = step.clocks();
        while room > 0 {
            let Some(ticket) = self.lanes.due(size, now) else { break };
            // A message whose recipient got another one meanwhile is not announced.
            let waits = ticket
                .recipient
                .map_or(Duration::ZERO, |number| self.recipient_pacing.wait(number, true, now));
            if !waits.is_zero() && !is_planted(Fault::SlotNotAskedAgain) {
                step.note(Figure::Held(Reason::Pair));
                self.lanes.hold_back(ticket.send_id, Reason::Pair);
                if !self.lanes.defer(ticket, now + waits, false) {
                    self.lanes.park(ticket, wall.plus(waits));
                }
                continue;
            }
            match ticket.prior {
                // Without a slot of the quota, no recipient is marked as possibly written to.
                PriorOutcome::NotTaken | PriorOutcome::PerhapsTaken
                    if !self.has_slot(&ticket, step.moment()) =>
                {
                    let next_slot = self.account.next_slot(self.templates.quota, wall);
                    self.close_to_new_people(next_slot.unwrap_or(wall), wall);
                    step.note(Figure::Held(Reason::TemplateQuota));
                    self.lanes.hold_back(ticket.send_id, Reason::TemplateQuota);
                    self.lanes.park(ticket, wall);
                }
                PriorOutcome::NotTaken => {
                    room -= 1;
                    self.announce(ticket, step);
                }
                PriorOutcome::PerhapsTaken | PriorOutcome::Unknown => self.unknowns.add(ticket),
            }
        }
    }

    /// Announces the next attempt of one message.
    pub(super) fn announce(&mut self, ticket: Ticket, step: &mut Step<'_>) {
        let wall = step.wall();
        if let Some(sentence) = self.opted_out(&ticket, wall) {
            self.suppressed(ticket, sentence, step);
            return;
        }
        if is_planted(Fault::AnnouncementLeftOut) {
            self.lanes.try_again(Ticket { again: true, prior: PriorOutcome::NotTaken, ..ticket });
            return;
        }
        let Some(work) = self.lanes.work(ticket.send_id) else { return };
        let outcome = Outcome {
            position: ticket.position(),
            state: State::Sending,
            attempts: ticket.attempts,
            provider_message_id: None,
            error: None,
            retry_at: Some(wall.plus(self.common.retry.unknown_grace)),
            taken_at: Some(wall),
        };
        self.outbox.announce(
            Ticket { again: true, prior: PriorOutcome::NotTaken, ..ticket },
            work.company_id,
            outcome,
        );
    }

    /// Announcements are durable: the messages may go, unless their send left meanwhile. The rows of `overtaken`
    /// messages say that they are over: a receipt came, or their send was canceled.
    pub(super) fn announced(&mut self, tickets: Vec<Ticket>, overtaken: &[Key], step: &mut Step<'_>) {
        for ticket in tickets {
            if self.was_heard(ticket.key()) || overtaken.contains(&ticket.key()) {
                self.lanes.settle(ticket, true);
                continue;
            }
            match self.lanes.work(ticket.send_id).map(|work| work.leaving()) {
                Some(None) => self.lanes.try_again(ticket),
                Some(Some(_)) if is_planted(Fault::PauseForgetsAnnounced) => self.lanes.try_again(ticket),
                Some(Some(_)) => {
                    self.put_back(ticket, Later::now(&ticket, Reason::Retry), step);
                }
                None => {}
            }
        }
    }

    /// Releases the sends that `chosen` picks.
    pub(super) fn release(&mut self, leave: Leave, chosen: impl FnMut(&Work) -> bool, step: &mut Step<'_>) {
        for ticket in self.lanes.leave(leave, step.clocks(), chosen) {
            self.put_back(ticket, Later::now(&ticket, Reason::Turn), step);
        }
    }

    fn expire(&mut self, step: &mut Step<'_>) {
        let expired = self.lanes.expired(step.wall());
        if expired.is_empty() {
            return;
        }
        for send_id in &expired {
            self.end_pending_reply(*send_id, State::Expired, None, step.wall());
            admission::is_over(self, *send_id);
        }
        self.release(Leave::Over(send::State::Expired), |work| expired.contains(&work.id), step);
        tracing::info!(channel.id = %self.channel.id, channel.name = %self.channel.name, sends = expired.len(), "sends expired");
    }

    /// Reads the store when a send that waits there may be due, or one that waits for the quota of templates.
    fn awake(&mut self, step: &Step<'_>) {
        let are_templates_open = self.templates.opens_by(step.wall());
        if self.queue.take_due(step.wall()) || are_templates_open {
            self.lanes.look_again();
        }
    }

    /// Ends the channel: waits for messages in flight, writes their outcomes, takes back reserved and announced
    /// messages, and answers the callers that wait.
    fn wind_down(&mut self, step: &mut Step<'_>) {
        self.end_pending_replies(step);
        self.release(Leave::Held, |work| work.leaving().is_none(), step);
        for ticket in self.unknowns.take_rest() {
            self.lanes.park(ticket, step.wall());
        }
        self.account.give_back_all(self.templates.quota, step.moment());
        self.record(step);
        if self.flight.requests == 0 && !self.outbox.is_writing() && !self.unknowns.is_asking() {
            self.end(step);
        }
    }

    /// How many messages of each lane are marked or announced ahead: only one while a canary has to open the channel.
    fn ahead(&self, now: Instant) -> u64 {
        if self.link.canary.is_half_open() { 1 } else { self.ahead.messages(now) }
    }

    /// Adjusts how many messages are marked ahead.
    pub(super) fn tune_ahead(&mut self, step: &Step<'_>) {
        self.lanes.set_ahead(self.ahead(step.now()));
    }
}

/// A message that goes later, and why.
#[derive(Debug)]
pub(super) struct Later {
    pub(super) reason: Reason,
    pub(super) wait: Duration,
    /// The attempts that count.
    pub(super) attempts: u16,
    pub(super) failure: Option<Failure>,
}

impl Later {
    /// As soon as possible.
    pub(super) const fn now(ticket: &Ticket, reason: Reason) -> Self {
        Self { reason, wait: Duration::ZERO, attempts: ticket.attempts, failure: None }
    }
}
