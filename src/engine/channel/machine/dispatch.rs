//! Dispatching: starting messages at the limiter's pace, as far as nothing holds them.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use actix::prelude::*;

use super::answer::Answered;
use super::work::{Doubt, Leave, Ticket};
use super::{ChannelActor, Connector};
use crate::clock::Timestamp;
use crate::domain::channel::Kind;
use crate::domain::message::{Key, Outcome, State};
use crate::domain::outlook::Reason;
use crate::engine::throttle::ScopeKind;

/// Why no message starts now, and until when as far as that is a matter of time.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) reason: Reason,
    pub(super) until: Option<Instant>,
}

impl ChannelActor {
    /// Does whatever can be done now: reads what is needed, starts messages, writes outcomes.
    pub(super) fn pump(&mut self, ctx: &mut Context<Self>) {
        if self.stopping.is_some() {
            self.wind_down(ctx);
            return;
        }
        let (now, wall) = (Instant::now(), Timestamp::now());
        self.expire(now, wall);
        self.awake(wall);
        self.fetch(ctx);
        self.places.release(self.in_flight);
        self.held = self.start_messages(now, wall);
        self.settle_places(ctx);
        self.look_into_doubts(ctx);
        self.look_whether_heard(ctx);
        self.load(ctx);
        self.unpark(wall, ctx);
        self.learn_quota(ctx);
        self.record(ctx);
        self.offer_trial(ctx);
        let until = self.held.as_ref().and_then(|held| held.until);
        // What is overdue waits for something else, which comes back here.
        let due = if self.link.connector().is_some() { self.lanes.next_due() } else { None };
        let due = due.filter(|due| *due > now);
        let unpark = self.lanes.next_unpark(self.templates_may_go());
        let later = [self.lanes.next_expiry(), unpark, self.next_look, self.templates_closed_until];
        let later = later.into_iter().flatten().min().map(|at| now + at.from_now(wall));
        if let Some(at) = [until, due, later].into_iter().flatten().min() {
            self.wake_at(at, ctx);
        }
    }

    /// Starts messages until something holds the next one, and says what.
    fn start_messages(&mut self, now: Instant, wall: Timestamp) -> Option<Held> {
        let Some(connector) = self.link.connector() else {
            return Some(Held { reason: self.link.refusal(), until: None });
        };
        if self.shared.stopping.load(Ordering::Relaxed) {
            return None;
        }
        if let Some(held) = self.link.holds(now).or_else(|| self.paused(now)) {
            return Some(held);
        }
        self.announce_due(now, wall);
        while self.requests < self.shared.engine.concurrency && self.in_flight < self.shared.engine.in_flight
        {
            if !self.lanes.is_ready() {
                let until = self.lanes.next_due().filter(|due| *due > now);
                let troubled = Held { reason: Reason::Retry, until };
                return self.lanes.is_troubled().then_some(troubled);
            }
            if !self.places.take(self.in_flight) {
                return Some(Held { reason: Reason::InFlight, until: None });
            }
            if let Some(held) = self.rests(now, wall) {
                return Some(held);
            }
            if !self.has_permit
                && let Err(wait) = self.limiter.take(now)
            {
                return Some(Held { reason: Reason::Rate, until: Some(now + wait) });
            }
            // A permit for a message that turns out to be held, or not wanted any more, serves the next one.
            self.has_permit = true;
            let Some(mut ticket) = self.lanes.take() else { break };
            if let Some(sentence) = self.opted_out(&ticket, wall) {
                self.suppressed(ticket, sentence);
            } else if let Some((reason, wait)) = self.hold(&mut ticket, now, wall) {
                self.put_back(ticket, Later { reason, wait, attempts: ticket.attempts, failure: None });
            } else if self.start(ticket, &connector, now) {
                self.has_permit = false;
                if let Some(held) = self.link.holds(now) {
                    return Some(held);
                }
            }
        }
        None
    }

    /// What keeps the whole channel from sending now.
    fn paused(&mut self, now: Instant) -> Option<Held> {
        if let Some((reason, until)) = self.pause {
            if until > now {
                return Some(Held { reason, until: Some(until) });
            }
            self.pause = None;
        }
        let (kind, until) = self.shared.throttles.until(self.link.scopes(), now)?;
        let reason = match kind {
            ScopeKind::App => Reason::AppThrottled,
            ScopeKind::Account => Reason::AccountThrottled,
        };
        Some(Held { reason, until: Some(until) })
    }

    /// What keeps a web session from sending now.
    fn rests(&self, now: Instant, wall: Timestamp) -> Option<Held> {
        if self.channel.kind != Kind::WebSession {
            return None;
        }
        // It is being read what the session did lately.
        let Some(rhythm) = &self.rhythm else { return Some(Held { reason: Reason::Turn, until: None }) };
        let (reason, until) = rhythm.holds(&self.tier, now, wall)?;
        Some(Held { reason, until: Some(until) })
    }

    /// Hands a message over. Whether that was possible.
    fn start(&mut self, ticket: Ticket, connector: &Connector, started: Instant) -> bool {
        let Some(work) = self.lanes.work(ticket.send_id) else { return false };
        let prepared = match &mut self.rhythm {
            None => connector.prepare(&work.rendered, &ticket),
            Some(rhythm) => {
                let errand = self.shared.errands.find(ticket.send_id);
                if let Some(errand) = &errand {
                    errand.begin();
                }
                let attempt = rhythm.started(ticket.send_id, &self.tier, started, rand::random());
                connector.prepare(&work.rendered, &ticket).awaited(errand, attempt)
            }
        };
        self.history.count(started, self.limiter.rate(started));
        self.link.canary.started(ticket.key());
        self.requests += 1;
        self.in_flight += 1;
        let (answers, generation) = (self.answers.clone(), self.link.generation());
        actix::spawn(async move {
            let reply = prepared.send().await;
            // The actor is gone only when nothing can be written any more.
            let _ = answers.send(Box::new(Answered { ticket, generation, reply, started }));
        });
        true
    }

    /// Says of messages that are due again that they are tried again; they may once that is durable, so that
    /// a crash in the middle of the attempt leaves them unknown and not merely waiting.
    fn announce_due(&mut self, now: Instant, wall: Timestamp) {
        let ahead = usize::try_from(self.ahead(now)).unwrap_or(usize::MAX);
        while self.outbox.announced() + self.lanes.again() < ahead {
            let Some(ticket) = self.lanes.due(now) else { break };
            match ticket.doubt {
                // Nobody is marked as perhaps written to whom the quota has no slot for.
                Doubt::None | Doubt::Slight if !self.has_slot(&ticket, wall) => {
                    let until = self.quota.next_slot(self.tier.template_quota, wall).unwrap_or(wall);
                    self.close_to_new_people(until, wall);
                    self.lanes.hold_back(ticket.send_id, Reason::TemplateQuota);
                    self.lanes.park(ticket, wall);
                }
                Doubt::None => self.announce(ticket, wall),
                Doubt::Slight | Doubt::Full => self.doubts.push(ticket),
            }
        }
    }

    /// See [`ChannelActor::announce_due`].
    pub(super) fn announce(&mut self, ticket: Ticket, wall: Timestamp) {
        if let Some(sentence) = self.opted_out(&ticket, wall) {
            self.suppressed(ticket, sentence);
            return;
        }
        let Some(work) = self.lanes.work(ticket.send_id) else { return };
        let outcome = Outcome {
            position: ticket.position(),
            state: State::Sending,
            attempts: ticket.attempts,
            provider_message_id: None,
            error: None,
            retry_at: Some(wall.plus(self.shared.retry.unknown_grace)),
            taken_at: Some(wall),
        };
        self.outbox.announce(Ticket { again: true, doubt: Doubt::None, ..ticket }, work.company_id, outcome);
    }

    /// What was announced is durable: it may go, unless its send left meanwhile. `overtaken` are messages whose
    /// row says that they are over: a receipt came, or their send was canceled.
    pub(super) fn announced(&mut self, tickets: Vec<Ticket>, overtaken: &[Key]) {
        for ticket in tickets {
            if self.was_heard(ticket.key()) || overtaken.contains(&ticket.key()) {
                self.lanes.settle(ticket, true);
                continue;
            }
            match self.lanes.work(ticket.send_id).map(|work| work.leaving()) {
                Some(None) => self.lanes.try_again(ticket),
                Some(Some(_)) => self.put_back(ticket, Later::now(&ticket, Reason::Retry)),
                None => {}
            }
        }
    }

    /// Lets go of the sends that `chosen` picks.
    pub(super) fn release(&mut self, leave: Leave, chosen: impl FnMut(&super::work::Work) -> bool) {
        let moment = (Instant::now(), Timestamp::now());
        for ticket in self.lanes.leave(leave, moment, chosen) {
            self.put_back(ticket, Later::now(&ticket, Reason::Turn));
        }
    }

    fn expire(&mut self, now: Instant, wall: Timestamp) {
        let expired = self.lanes.expired(wall);
        if expired.is_empty() {
            return;
        }
        let over = Leave::Over(crate::domain::send::State::Expired);
        for send_id in &expired {
            self.end_errand(*send_id, State::Expired, None);
        }
        for ticket in self.lanes.leave(over, (now, wall), |work| expired.contains(&work.id)) {
            self.put_back(ticket, Later::now(&ticket, Reason::Turn));
        }
        tracing::info!(channel.id = %self.channel.id, sends = expired.len(), "the time of sends is over");
    }

    /// Looks into the store when something that waits there may be due: a send, or all of those that the quota
    /// of templates kept.
    fn awake(&mut self, wall: Timestamp) {
        if self.templates_closed_until.is_some_and(|until| until <= wall) {
            self.templates_closed_until = None;
            self.lanes.look_again();
        }
        if self.next_look.is_some_and(|due| due <= wall) {
            self.next_look = None;
            self.lanes.look_again();
        }
    }

    fn wake_at(&mut self, at: Instant, ctx: &mut Context<Self>) {
        let now = Instant::now();
        if let Some((set, timer)) = self.wake {
            if set <= at && set > now {
                return;
            }
            ctx.cancel_future(timer);
        }
        let timer = ctx.run_later(at.saturating_duration_since(now), |actor, ctx| {
            actor.wake = None;
            actor.pump(ctx);
        });
        self.wake = Some((at, timer));
    }

    /// Waits for what is in flight, writes it, takes back what was only reserved or announced, and tells who
    /// waits.
    fn wind_down(&mut self, ctx: &mut Context<Self>) {
        self.end_errands();
        self.release(Leave::Held, |work| work.leaving().is_none());
        let doubts = std::mem::take(&mut self.doubts);
        for ticket in doubts {
            self.lanes.park(ticket, Timestamp::now());
        }
        self.record(ctx);
        if self.requests == 0 && !self.recording && !self.doubting {
            for waiting in self.stopping.iter_mut().flat_map(std::mem::take) {
                let _ = waiting.send(());
            }
            ctx.stop();
        }
    }
}

/// A message that goes later, and why.
#[derive(Debug)]
pub(super) struct Later {
    pub(super) reason: Reason,
    pub(super) wait: Duration,
    /// How often it was tried, as far as that counts.
    pub(super) attempts: u16,
    pub(super) failure: Option<crate::domain::message::Failure>,
}

impl Later {
    /// As soon as it may.
    pub(super) const fn now(ticket: &Ticket, reason: Reason) -> Self {
        Self { reason, wait: Duration::ZERO, attempts: ticket.attempts, failure: None }
    }
}
