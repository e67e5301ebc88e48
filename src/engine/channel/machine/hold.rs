//! What holds single messages back: their recipient, their template, the quota; and what slows the channel.

use std::time::{Duration, Instant};

use actix::prelude::*;
use uuid::Uuid;

use super::lanes::PassedOver;
use super::work::{Counted, Leave, Ticket};
use super::{ChannelActor, STORE_PAUSE};
use crate::clock::Timestamp;
use crate::connector::Disposition;
use crate::domain::channel::Kind;
use crate::domain::message::{Failure, Outcome, State};
use crate::domain::outlook::Reason;
use crate::domain::phone::PhoneNumber;
use crate::domain::send::Recipients;
use crate::domain::tier::{QUOTA_SPAN, Quota};
use crate::engine::ledger::AcceptedSend;
use crate::engine::quota::Reserved;
use crate::engine::suppressions::Barrier;

/// When the quota is used up, templates go on no sooner than this: slots open one by one, and each time
/// the sends are read again.
const QUOTA_STEP: Duration = Duration::from_secs(10);
/// When the provider is asked about a template that it refused.
const LOOKED_AT_AFTER: Duration = Duration::from_secs(60);

impl ChannelActor {
    /// What holds this message, and for how long. A message that nothing holds has taken its slots.
    pub(super) fn hold(
        &mut self,
        ticket: &mut Ticket,
        now: Instant,
        wall: Timestamp,
    ) -> Option<(Reason, Duration)> {
        let template = self.lanes.work(ticket.send_id)?.template;
        if let Some(Barrier::Held(until)) = self.barrier(ticket, wall) {
            return Some((Reason::RecipientHeld, until.from_now(wall)));
        }
        if template.is_some()
            && let Some(until) = self.count(ticket, wall)
        {
            self.close_to_new_people(until, wall);
            // What opens the quota again, whenever that is, lets it go: the message itself waits for nothing.
            return Some((Reason::TemplateQuota, Duration::ZERO));
        }
        // Pairs are of two numbers.
        let number = ticket.recipient?;
        // After a refusal of the provider the slots are given anew, one after the other.
        let has_slot = ticket.paced && self.pairs.blocked(number, now).is_none();
        let slot = if has_slot { None } else { self.pairs.book(number, now, rand::random()).err() };
        ticket.paced = true;
        slot.map(|slot| {
            self.give_back_quota(ticket);
            (Reason::Pair, slot.saturating_duration_since(now))
        })
    }

    /// Why the recipient does not want this message, if they opted out since its send was accepted.
    pub(super) fn opted_out(&self, ticket: &Ticket, wall: Timestamp) -> Option<&'static str> {
        match self.barrier(ticket, wall)? {
            Barrier::OptedOut(sentence) => Some(sentence),
            Barrier::Held(_) => None,
        }
    }

    /// What keeps the message from its recipient. A web session's caller waits for what they ask for.
    fn barrier(&self, ticket: &Ticket, wall: Timestamp) -> Option<Barrier> {
        if self.channel.kind != Kind::BusinessAccount {
            return None;
        }
        let work = self.lanes.work(ticket.send_id)?;
        let is_marketing = work.template.is_some_and(|template| template.is_marketing);
        self.shared.suppressions.barrier(work.company_id, ticket.recipient?, is_marketing, wall)
    }

    /// Counts the recipient of a template; until when that is not possible. Groups do not count.
    fn count(&mut self, ticket: &mut Ticket, wall: Timestamp) -> Option<Timestamp> {
        match self.quota.reserve(ticket.recipient?, self.tier.template_quota, wall) {
            Reserved::New { at } => {
                ticket.counted = Some(Counted::Anew(at));
                // What else waits for this person may go with it.
                if self.templates_closed_until.is_some() {
                    self.lanes.look_again();
                }
            }
            Reserved::Known => ticket.counted = Some(Counted::Again),
            Reserved::Uncounted => {}
            Reserved::Full { until } => return Some(until),
            Reserved::Unread => {
                self.quota_known = false;
                return Some(wall);
            }
        }
        None
    }

    /// Nobody new is written to with a template before `until`. Who was written to in the last hours still is.
    pub(super) fn close_to_new_people(&mut self, until: Timestamp, wall: Timestamp) {
        let until = until.max(wall.plus(QUOTA_STEP));
        if self.templates_closed_until.is_none() {
            tracing::info!(
                channel.id = %self.channel.id,
                reason = %Reason::TemplateQuota,
                %until,
                quota = %self.tier.template_quota,
                "template quota used up, new people wait"
            );
        }
        self.templates_closed_until = Some(until);
        self.look_at(Some(until));
    }

    /// Those who found no slot wait in the store: sends as a whole, and people of sends that others get.
    pub(super) fn pass_over(&mut self, passed: PassedOver, wall: Timestamp) {
        let PassedOver { is_blocked, sends, people } = passed;
        for (send_id, company_id, position) in people {
            let outcome = Outcome {
                position,
                state: State::Queued,
                attempts: 0,
                provider_message_id: None,
                error: None,
                retry_at: Some(wall),
                taken_at: None,
            };
            self.outbox.pass(send_id, company_id, outcome);
            self.lanes.hold_back(send_id, Reason::TemplateQuota);
            self.lanes.passed_until(send_id, wall);
        }
        self.lanes.send_back(&sends);
        if is_blocked {
            let until = self.quota.next_slot(self.tier.template_quota, wall).unwrap_or(wall);
            self.close_to_new_people(until, wall);
        }
    }

    /// Messages of templates to new people that may go out: marked, or announced to be tried again.
    pub(super) fn promised_templates(&self) -> u64 {
        let wall = Timestamp::now();
        let is_new = |number| !self.quota.counts(number, self.tier.template_quota, wall);
        let again = self.outbox.announcements().iter().chain(&self.announcing).chain(self.lanes.again_now());
        let again =
            again.filter(|ticket| ticket.recipient.is_some_and(is_new) && self.lanes.is_template(ticket));
        self.lanes.marked_templates(is_new) + again.count() as u64
    }

    /// Whether the quota of templates has a slot for a message that is to be tried again.
    pub(super) fn has_slot(&self, ticket: &Ticket, wall: Timestamp) -> bool {
        if self.tier.template_quota == Quota::Unlimited || !self.lanes.is_template(ticket) {
            return true;
        }
        let Some(number) = ticket.recipient else { return true };
        self.quota.slots(self.tier.template_quota, self.promised_templates(), wall).take(number)
    }

    /// Whether a send that was just accepted may be begun; otherwise it waits in the store.
    pub(super) fn may_begin(&self, send: &AcceptedSend) -> bool {
        let Some(used) = send.order.template else { return true };
        if self.held_templates.contains(&used.id) {
            return false;
        }
        self.templates_may_go()
            || (self.quota_known
                && match send.recipients {
                    Recipients::One(number) => self.is_counted(number),
                    Recipients::Group | Recipients::Blocks(_) => true,
                })
    }

    /// Whether the person was written to in the last hours, so that a template to them takes no slot.
    fn is_counted(&self, number: PhoneNumber) -> bool {
        self.quota.counts(number, self.tier.template_quota, Timestamp::now())
    }

    /// Whether the quota of templates, as far as that is known, lets some through.
    pub(super) fn templates_may_go(&self) -> bool {
        let closed = self.templates_closed_until.is_some_and(|until| until > Timestamp::now());
        self.tier.template_quota == Quota::Unlimited || (self.quota_known && !closed)
    }

    /// Lets templates go again when another channel of the business account gave slots back.
    pub(super) fn reopen_templates(&mut self) {
        if self.quota.next_slot(self.tier.template_quota, Timestamp::now()).is_none() {
            self.templates_closed_until = None;
        }
    }

    /// Reads whom the business account wrote to lately, before the first template goes under a quota.
    pub(super) fn learn_quota(&mut self, ctx: &mut Context<Self>) {
        if self.quota_known || self.learning || self.tier.template_quota == Quota::Unlimited {
            return;
        }
        if self.quota.is_complete() {
            // Another channel of the account read it, and what was sent since counts.
            self.quota_known = true;
            self.lanes.look_again();
            self.fetch(ctx);
            return;
        }
        // What this channel marked before there was a quota would count as attempted.
        if self.lanes.works().any(|work| work.template.is_some()) {
            return;
        }
        self.learning = true;
        self.quota.begin();
        let (store, quota) = (self.shared.store.clone(), self.quota.account());
        let waba_id = self.channel.waba_id.clone().unwrap_or_default();
        let now = Timestamp::now();
        let reading = self.shared.reader.read(async move {
            let span = (now.minus(QUOTA_SPAN), now);
            store.template_recipients(&waba_id, span, |people| quota.restore(people)).await
        });
        reading
            .into_actor(self)
            .map(move |result, actor, ctx| match result {
                Ok(()) => {
                    actor.quota.complete();
                    actor.learning = false;
                    actor.quota_known = true;
                    actor.lanes.look_again();
                    actor.pump(ctx);
                }
                Err(error) => {
                    tracing::error!(channel.id = %actor.channel.id, %error, "reading the recipients of templates failed");
                    ctx.run_later(STORE_PAUSE, |actor, ctx| {
                        actor.learning = false;
                        actor.learn_quota(ctx);
                    });
                }
            })
            .spawn(ctx);
    }

    /// The provider refused the message: its recipient does not count for it.
    pub(super) fn give_back_quota(&mut self, ticket: &mut Ticket) {
        if let (Some(Counted::Anew(at)), Some(number)) = (ticket.counted.take(), ticket.recipient) {
            self.quota.release(number, at);
            // It is not used up after all.
            if self.templates_closed_until.take().is_some() {
                self.lanes.look_again();
            }
        }
    }

    /// The provider says that the number sends too fast.
    pub(super) fn slow_down(&mut self, started: Instant, failure: &Failure) {
        let now = Instant::now();
        if self.limiter.slow_down(started, now) {
            tracing::warn!(
                channel.id = %self.channel.id,
                reason = %Reason::BackOff,
                provider.code = failure.code,
                rate = self.limiter.rate(now),
                "the provider says that the number sends too fast, slowing down"
            );
        }
    }

    /// The provider takes nothing from the whole business account, or from the app.
    pub(super) fn throttle(
        &mut self,
        disposition: Disposition,
        hint: Option<Duration>,
        failure: &Failure,
    ) -> (Reason, Duration) {
        let now = Instant::now();
        let (reason, scope) = match disposition {
            Disposition::SlowApp => (Reason::AppThrottled, self.link.scopes().first()),
            _ => (Reason::AccountThrottled, self.link.scopes().last()),
        };
        let until = scope.map_or(now + STORE_PAUSE, |scope| self.shared.throttles.refused(scope, hint, now));
        tracing::warn!(
            channel.id = %self.channel.id,
            %reason,
            provider.code = failure.code,
            seconds = (until - now).as_secs_f64(),
            "the provider takes nothing from the account or the app, its channels wait"
        );
        (reason, until.saturating_duration_since(now))
    }

    /// The provider says that too much goes to this recipient.
    pub(super) fn pair_refused(&mut self, ticket: &Ticket) -> Duration {
        let now = Instant::now();
        let until = ticket.recipient.map(|number| self.pairs.refused(number, now));
        until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now))
    }

    /// The provider does not let the template of this send through: everything that uses it waits in the store
    /// until the provider does.
    pub(super) fn hold_template(&mut self, send_id: Uuid, failure: &Failure, ctx: &mut Context<Self>) {
        let Some(template) = self.lanes.work(send_id).and_then(|work| work.template) else { return };
        if !self.held_templates.insert(template.id) {
            return;
        }
        tracing::warn!(
            channel.id = %self.channel.id,
            template.id = template.id,
            reason = %Reason::TemplatePaused,
            provider.code = failure.code,
            provider.sentence = failure.sentence,
            "the provider does not let a template through, its messages wait"
        );
        self.release(Leave::Held, |work| work.template.is_some_and(|used| used.id == template.id));
        self.mark_template_paused(template.id, ctx);
    }

    fn mark_template_paused(&self, template_id: i64, ctx: &mut Context<Self>) {
        let store = self.shared.store.clone();
        async move { store.pause_template(template_id).await }
            .into_actor(self)
            .map(move |result, actor, ctx| match result {
                // From here on the store leaves its sends out, and says when they may go.
                Ok(()) => {
                    actor.held_templates.remove(&template_id);
                    actor.shared.template_sync.want(&actor.channel, LOOKED_AT_AFTER);
                }
                Err(error) => {
                    tracing::error!(template.id = template_id, %error, "a template was not marked as paused");
                    ctx.run_later(STORE_PAUSE, move |actor, ctx| {
                        actor.mark_template_paused(template_id, ctx);
                    });
                }
            })
            .spawn(ctx);
    }

    /// The provider says of these templates whether they may be sent.
    pub(super) fn templates_changed(&mut self, templates: &[(i64, bool)]) {
        let closed = |id: i64| templates.iter().any(|(changed, may)| *changed == id && !may);
        self.release(Leave::Held, |work| work.template.is_some_and(|used| closed(used.id)));
        if templates.iter().any(|(_, may)| *may) {
            self.lanes.look_again();
        }
    }
}
