//! Holds on single messages, because of their recipient, their template or the quota; and slowdowns of the channel.

use std::mem;
use std::time::{Duration, Instant};

use super::moment::Step;
use super::work::Ticket;
use super::{Machine, Moment, STORE_PAUSE};
use crate::account::ScopeKind;
use crate::contacts::suppressions::Barrier;
use crate::planted::{Fault, is_planted};
use clock::Timestamp;
use connectors::Disposition;
use domain::channel::Kind;
use domain::message::Failure;
use domain::outlook::Reason;

impl Machine {
    /// Why this message is held, and for how long. A message that is not held has taken its slots.
    pub(super) fn hold(&mut self, ticket: &mut Ticket, step: &mut Step<'_>) -> Option<(Reason, Duration)> {
        let (now, wall) = (step.now(), step.wall());
        let template = self.lanes.work(ticket.send_id)?.template;
        if let Some(Barrier::Held(until)) = self.barrier(ticket, wall) {
            return Some((Reason::RecipientHeld, until.from_now(wall)));
        }
        if template.is_some()
            && let Some(until) = self.count(ticket, step.moment())
        {
            self.close_to_new_people(until, wall);
            // The message has no time of its own: it goes when the quota opens again.
            return Some((Reason::TemplateQuota, Duration::ZERO));
        }
        // A group has no pair of numbers.
        let number = ticket.recipient?;
        let has_waited = mem::replace(&mut ticket.has_waited, true);
        if has_waited && is_planted(Fault::SlotNotAskedAgain) {
            return None;
        }
        let slot = self.recipient_pacing.take(number, has_waited, now, step.chance()).err();
        slot.map(|slot| {
            self.give_back_quota(ticket, step.moment());
            (Reason::Pair, slot.saturating_duration_since(now))
        })
    }

    /// The reason to skip this message, if the recipient opted out after the send was accepted.
    pub(super) fn opted_out(&self, ticket: &Ticket, wall: Timestamp) -> Option<&'static str> {
        match self.barrier(ticket, wall)? {
            Barrier::OptedOut(sentence) => Some(sentence),
            Barrier::Held(_) => None,
        }
    }

    /// The suppression that keeps the message from its recipient. A web session's messages whose callers wait are not
    /// checked again.
    fn barrier(&self, ticket: &Ticket, wall: Timestamp) -> Option<Barrier> {
        let work = self.lanes.work(ticket.send_id).filter(|work| !work.confirms)?;
        if self.channel.kind == Kind::WebSession && !work.rendered.keeps_turn() {
            return None;
        }
        let is_marketing = work.template.is_some_and(|template| template.is_marketing);
        self.common.suppressions.barrier(work.company_id, ticket.recipient?, is_marketing, wall)
    }

    /// The provider answered an attempt started at `started` that the number sends too fast.
    pub(super) fn slow_down(&mut self, started: Instant, failure: &Failure, now: Instant) {
        if self.limiter.slow_down(started, now) {
            tracing::warn!(
                channel.id = %self.channel.id, channel.name = %self.channel.name,
                reason = %Reason::BackOff,
                provider.code = failure.code,
                messages_per_second = self.limiter.rate(now),
                "the provider says that the number sends too fast, the channel slows down"
            );
        }
    }

    /// The provider throttles the whole business account, or the app.
    pub(super) fn throttle(
        &self,
        disposition: Disposition,
        hint: Option<Duration>,
        failure: &Failure,
        at: Moment,
    ) -> (Reason, Duration) {
        let now = at.monotonic;
        let (reason, scope) = match disposition {
            Disposition::SlowApp => (Reason::AppThrottled, ScopeKind::App),
            _ => (Reason::AccountThrottled, ScopeKind::Account),
        };
        let until = self.account.refused(scope, hint, at).unwrap_or(now + STORE_PAUSE);
        tracing::warn!(
            channel.id = %self.channel.id, channel.name = %self.channel.name,
            %reason,
            provider.code = failure.code,
            seconds = (until - now).as_secs_f64(),
            "the provider throttles the account or the app, its channels wait"
        );
        (reason, until.saturating_duration_since(now))
    }

    /// The provider says that this recipient gets messages too fast.
    pub(super) fn pair_refused(&mut self, ticket: &Ticket, now: Instant) -> Duration {
        let until = ticket.recipient.map(|number| self.recipient_pacing.refused(number, now));
        until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now))
    }
}
