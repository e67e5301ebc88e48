//! Templates: which of them may go, as far as the quota of the business account and the provider let them.

use std::time::Duration;

use uuid::Uuid;

use super::counted::Counted;
use super::effect::Effect;
use super::input::Failed;
use super::lanes::PassedOver;
use super::map::Set;
use super::moment::Step;
use super::retries::Retry;
use super::work::{Leave, Ticket};
use super::{Machine, work};
use crate::clock::Timestamp;
use crate::domain::message::{Failure, Outcome, State};
use crate::domain::outlook::Reason;
use crate::domain::phone::PhoneNumber;
use crate::domain::send::Recipients;
use crate::domain::tier::{QUOTA_SPAN, Quota};
use crate::engine::ledger::AcceptedSend;
use crate::engine::planted::{Fault, is_planted};
use crate::engine::quota::{Member, Reserved};

/// When the quota is used up, templates go on no sooner than this: slots open one by one, and each time
/// the sends are read again.
const QUOTA_STEP: Duration = Duration::from_secs(10);
/// When the provider is asked about a template that it refused.
const LOOKED_AT_AFTER: Duration = Duration::from_secs(60);

/// What is known of the quota of templates, and of those that the provider does not let through.
pub(super) struct Templates {
    /// The window of the business account's template recipients.
    pub(super) quota: Member,
    /// Whether the window holds what was sent before this process began.
    pub(super) is_known: bool,
    /// It is being read.
    is_learning: bool,
    /// The quota is used up until then: new people wait.
    closed_until: Option<Timestamp>,
    /// Templates that the provider does not let through, which the store does not know yet.
    held: Set<i64>,
    /// What the last look found that was for people who count already.
    pub(super) counted: Counted,
}

impl Templates {
    /// Of a channel whose account has this window.
    pub(super) fn new(quota: Member) -> Self {
        Self {
            quota,
            is_known: false,
            is_learning: false,
            closed_until: None,
            held: Set::default(),
            counted: Counted::default(),
        }
    }

    /// The tier's quota is another one now.
    pub(super) fn renew(&mut self) {
        self.quota.mark(0);
        self.closed_until = None;
    }

    /// Until when new people wait, if they do.
    pub(super) const fn closed_until(&self) -> Option<Timestamp> {
        self.closed_until
    }

    /// The quota is open, for all that is known. Whether it was closed.
    pub(super) const fn open(&mut self) -> bool {
        self.closed_until.take().is_some()
    }

    /// Whether the time is over for which the quota was closed: then it is open.
    pub(super) fn opens_by(&mut self, wall: Timestamp) -> bool {
        self.closed_until.is_some_and(|until| until <= wall) && self.open()
    }

    /// Whether the provider does not let this template through.
    pub(super) fn is_held(&self, template_id: i64) -> bool {
        self.held.contains(&template_id)
    }

    /// The window may be read again.
    pub(super) const fn may_learn(&mut self) {
        self.is_learning = false;
    }
}

impl Machine {
    /// Counts the recipient of a template; until when that is not possible. Groups do not count.
    pub(super) fn count(&mut self, ticket: &mut Ticket, wall: Timestamp) -> Option<Timestamp> {
        match self.templates.quota.reserve(ticket.recipient?, self.tier.template_quota, wall) {
            Reserved::New { at } => {
                ticket.counted = Some(work::Counted::Anew(at));
                // What else waits for this person may go with it.
                if self.templates.closed_until.is_some() {
                    self.lanes.look_again();
                }
            }
            Reserved::Known => ticket.counted = Some(work::Counted::Again),
            Reserved::Uncounted => {}
            Reserved::Full { until } => return Some(until),
            Reserved::Unread => {
                self.templates.is_known = false;
                return Some(wall);
            }
        }
        None
    }

    /// Nobody new is written to with a template before `until`. Who was written to in the last hours still is.
    pub(super) fn close_to_new_people(&mut self, until: Timestamp, wall: Timestamp) {
        let until = until.max(wall.plus(QUOTA_STEP));
        if self.templates.closed_until.is_none() {
            tracing::info!(
                channel.id = %self.channel.id,
                reason = %Reason::TemplateQuota,
                %until,
                quota = %self.tier.template_quota,
                "template quota used up, new people wait"
            );
        }
        self.templates.closed_until = Some(until);
        self.queue.look_at(Some(until));
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
            let until = self.templates.quota.next_slot(self.tier.template_quota, wall).unwrap_or(wall);
            self.close_to_new_people(until, wall);
        }
    }

    /// Messages of templates to new people that may go out: marked, or announced to be tried again.
    pub(super) fn promised_templates(&self, wall: Timestamp) -> u64 {
        let is_new = |number| !self.templates.quota.counts(number, self.tier.template_quota, wall);
        let again = self.outbox.announcements().chain(self.lanes.again_now());
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
        let promised = self.promised_templates(wall);
        self.templates.quota.slots(self.tier.template_quota, promised, wall).take(number)
    }

    /// Whether a send that was just accepted may be begun; otherwise it waits in the store.
    pub(super) fn may_begin(&self, send: &AcceptedSend, wall: Timestamp) -> bool {
        let Some(used) = send.order.template else { return true };
        if self.templates.is_held(used.id) {
            return false;
        }
        self.templates_may_go(wall)
            || (self.templates.is_known
                && match send.recipients {
                    Recipients::One(number) => self.is_counted(number, wall),
                    Recipients::Group | Recipients::Blocks(_) => true,
                })
    }

    /// Whether the person was written to in the last hours, so that a template to them takes no slot.
    fn is_counted(&self, number: PhoneNumber, wall: Timestamp) -> bool {
        self.templates.quota.counts(number, self.tier.template_quota, wall)
    }

    /// Whether the quota of templates, as far as that is known, lets some through.
    pub(super) fn templates_may_go(&self, wall: Timestamp) -> bool {
        let closed = self.templates.closed_until.is_some_and(|until| until > wall);
        self.tier.template_quota == Quota::Unlimited || (self.templates.is_known && !closed)
    }

    /// Lets templates go again when another channel of the business account gave slots back.
    pub(super) fn reopen_templates(&mut self, wall: Timestamp) {
        if self.templates.quota.next_slot(self.tier.template_quota, wall).is_none() {
            self.templates.open();
        }
    }

    /// Reads whom the business account wrote to lately, before the first template goes under a quota.
    pub(super) fn learn_quota(&mut self, step: &mut Step<'_>) {
        let Templates { is_known, is_learning, .. } = self.templates;
        if is_known || is_learning || self.tier.template_quota == Quota::Unlimited {
            return;
        }
        if is_planted(Fault::QuotaNotRestored) {
            self.templates.quota.begin();
            self.templates.quota.complete();
        }
        if self.templates.quota.is_complete() {
            // Another channel of the account read it, and what was sent since counts.
            self.templates.is_known = true;
            self.lanes.look_again();
            self.fetch(step);
            return;
        }
        // What this channel marked before there was a quota would count as attempted.
        if self.lanes.works().any(|work| work.template.is_some()) {
            return;
        }
        self.templates.is_learning = true;
        self.templates.quota.begin();
        let (window, wall) = (self.templates.quota.account(), step.wall());
        step.push(Effect::ReadTemplateRecipients { span: (wall.minus(QUOTA_SPAN), wall), window });
    }

    /// The window holds what was sent before.
    pub(super) fn quota_learned(&mut self, result: Result<(), Failed>, step: &mut Step<'_>) {
        if result.is_err() {
            self.retries.add(Retry::TemplateRecipients, step.now());
            return;
        }
        self.templates.quota.complete();
        self.templates.is_learning = false;
        self.templates.is_known = true;
        self.lanes.look_again();
        self.pump(step);
    }

    /// The provider refused the message: its recipient does not count for it.
    pub(super) fn give_back_quota(&mut self, ticket: &mut Ticket) {
        if let (Some(work::Counted::Anew(at)), Some(number)) = (ticket.counted.take(), ticket.recipient) {
            self.templates.quota.release(number, at);
            // It is not used up after all.
            if self.templates.open() {
                self.lanes.look_again();
            }
        }
    }

    /// The provider does not let the template of this send through: everything that uses it waits in the store
    /// until the provider does.
    pub(super) fn hold_template(&mut self, send_id: Uuid, failure: &Failure, step: &mut Step<'_>) {
        let Some(template) = self.lanes.work(send_id).and_then(|work| work.template) else { return };
        if !self.templates.held.insert(template.id) {
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
        let is_of_it = |work: &work::Work| {
            is_planted(Fault::TemplateHoldsAll) || work.template.is_some_and(|used| used.id == template.id)
        };
        self.release(Leave::Held, is_of_it, step);
        step.push(Effect::PauseTemplate(template.id));
    }

    /// From here on the store leaves the template's sends out, and says when they may go.
    pub(super) fn template_marked(
        &mut self,
        template_id: i64,
        result: Result<(), Failed>,
        step: &mut Step<'_>,
    ) {
        if result.is_err() {
            self.retries.add(Retry::PauseTemplate(template_id), step.now());
            return;
        }
        self.templates.held.remove(&template_id);
        step.push(Effect::WantTemplates { after: LOOKED_AT_AFTER });
    }

    /// The provider says of these templates whether they may be sent.
    pub(super) fn templates_changed(&mut self, templates: &[(i64, bool)], step: &mut Step<'_>) {
        let closed = |id: i64| templates.iter().any(|(changed, may)| *changed == id && !may);
        self.release(Leave::Held, |work| work.template.is_some_and(|used| closed(used.id)), step);
        if templates.iter().any(|(_, may)| *may) {
            self.lanes.look_again();
        }
        self.pump(step);
    }
}
