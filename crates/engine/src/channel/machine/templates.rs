//! Templates: which of them may go, by the quota of the business account and the provider's word on the template.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::counted::Counted;
use super::effect::Effect;
use super::input::Failed;
use super::lanes::PassedOver;
use super::map::Set;
use super::moment::Step;
use super::retries::Retry;
use super::work::{Leave, Ticket};
use super::{Machine, Moment, work};
use crate::account::{AccountUpdate, Reserved};
use crate::ledger::AcceptedSend;
use crate::planted::{Fault, is_planted};
use clock::Timestamp;
use domain::channel::{Channel, Kind};
use domain::message::{Failure, Outcome, State};
use domain::outlook::Reason;
use domain::phone::PhoneNumber;
use domain::send::Recipients;
use domain::tier::{self, QUOTA_SPAN, Quota, Tier};
use store::sends::Size;

/// The least time for which a used-up quota holds templates: slots open one by one, and each time the sends are read
/// again.
const QUOTA_STEP: Duration = Duration::from_secs(10);
/// Delay before the provider is asked about a template that it refused.
const LOOKED_AT_AFTER: Duration = Duration::from_secs(60);

/// The state of the quota of templates, and of templates that the provider refuses.
#[derive(Default)]
pub(super) struct Templates {
    /// The quota in force: the tier's, or the smaller one of a new channel's first days.
    pub(super) quota: Quota,
    /// Whether the account knows the people who were written to before this process started.
    pub(super) is_known: bool,
    /// The account was asked to read these people, and has not reported yet.
    is_learning: bool,
    /// The quota is used up until then: new people wait.
    closed_until: Option<Timestamp>,
    /// Another channel of the account waits for people granted to this one.
    pub(super) is_recalled: bool,
    /// Templates that the provider refuses, not yet marked in the store.
    held: Set<i64>,
    /// The result of the last search for people who count already.
    pub(super) counted: Counted,
}

impl Templates {
    /// No message is known yet.
    pub(super) fn new(quota: Quota) -> Self {
        Self { quota, ..Self::default() }
    }

    /// Until when new people wait, if they do.
    pub(super) const fn closed_until(&self) -> Option<Timestamp> {
        self.closed_until
    }

    /// Opens the quota. Returns whether it was closed.
    pub(super) const fn open(&mut self) -> bool {
        self.closed_until.take().is_some()
    }

    /// Opens the quota if the time for which it is closed is over. Returns whether it opened.
    pub(super) fn opens_by(&mut self, wall: Timestamp) -> bool {
        self.closed_until.is_some_and(|until| until <= wall) && self.open()
    }

    /// Whether the provider refuses this template.
    pub(super) fn is_held(&self, template_id: i64) -> bool {
        self.held.contains(&template_id)
    }
}

impl Machine {
    /// Takes over the quota of this day.
    pub(super) fn take_quota(&mut self, step: &mut Step<'_>) {
        let quota = quota(&self.tier, &self.channel, step.wall());
        if quota == self.templates.quota {
            return;
        }
        self.templates.quota = quota;
        self.account.give_back_all(quota, step.moment());
        self.templates.open();
        self.lanes.look_again();
        // Template sends that have not begun wait in the store until the account knows how many people were written to.
        if !self.templates_may_go(step.wall()) {
            self.release(Leave::Held, |work| work.template.is_some(), step);
        }
    }

    /// Counts the recipient of a template, or returns until when there is no slot. Groups do not count.
    pub(super) fn count(&mut self, ticket: &mut Ticket, at: Moment) -> Option<Timestamp> {
        match self.account.count(ticket.recipient?, self.templates.quota, at) {
            Reserved::New { at } => ticket.counted = Some(work::Counted::New(at)),
            Reserved::Known => ticket.counted = Some(work::Counted::Already),
            Reserved::Uncounted => {}
            Reserved::Full { until } => return Some(until),
            Reserved::Unread => {
                self.templates.is_known = false;
                return Some(at.wall);
            }
        }
        None
    }

    /// Holds templates to new people until `until`. Templates to people who count already still go.
    pub(super) fn close_to_new_people(&mut self, until: Timestamp, wall: Timestamp) {
        // A new channel's quota rises with its next day.
        let rises = warming_day(&self.tier, &self.channel, wall)
            .map(|day| self.channel.created_at.plus(QUOTA_SPAN.saturating_mul(day + 1)));
        let until = rises.map_or(until, |rises| until.min(rises)).max(wall.plus(QUOTA_STEP));
        if self.templates.closed_until.is_none() {
            tracing::info!(
                channel.id = %self.channel.id, channel.name = %self.channel.name,
                reason = %Reason::TemplateQuota,
                %until,
                template_quota = %self.templates.quota,
                "template quota used up, new people wait"
            );
        }
        self.templates.closed_until = Some(until);
        self.queue.look_at(Some(until));
    }

    /// Parks messages without a slot: whole sends, and single messages of sends of which other messages can go.
    pub(super) fn pass_over(&mut self, passed: PassedOver, step: &mut Step<'_>) {
        let PassedOver { is_blocked, sends, people } = passed;
        let wall = step.wall();
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
            let until = self.account.next_slot(self.templates.quota, wall).unwrap_or(wall);
            self.close_to_new_people(until, wall);
            // A send that left memory without a write is searched for people who count at once: no later input would
            // come of it.
            self.fetch(step);
        }
    }

    /// The people to whom template messages may go out: those of marked messages and of announced retries.
    fn promised_people(&self) -> Vec<PhoneNumber> {
        let again = self.outbox.announcements().chain(self.lanes.again_now());
        let again =
            again.filter(|ticket| self.lanes.is_template(ticket)).filter_map(|ticket| ticket.recipient);
        self.lanes.marked_people().chain(again).collect()
    }

    /// Reports to the account the people who were written to, returns the granted people who are not needed, and asks
    /// for the people of the messages that are marked next. Returns those of them for whom there is no slot.
    pub(super) fn ask_for_people(&mut self, tops_up: bool, at: Moment) -> HashSet<PhoneNumber> {
        let promised = self.promised_people();
        let next = self.lanes.next_people(tops_up);
        let known: HashSet<_> = promised.iter().copied().collect();
        let wanted = promised.into_iter().chain(next);
        let granted = self.account.ask(self.templates.quota, &known, wanted, at);
        self.templates.is_known &= granted.is_known;
        granted.refused.into_iter().collect()
    }

    /// Gives back granted people to whom no message is promised.
    pub(super) fn give_back_people(&mut self, at: Moment) {
        let promised: HashSet<_> = self.promised_people().into_iter().collect();
        self.account.ask(self.templates.quota, &promised, [], at);
    }

    /// While new people wait, reports the people who were written to at once: other messages to them may go too.
    pub(super) fn tell_account(&mut self, step: &mut Step<'_>) {
        if self.templates.closed_until.is_some() {
            self.account.tell(self.templates.quota, step.moment());
        }
        if self.account.take_arrivals() && self.templates.closed_until.is_some() {
            self.lanes.look_again();
            self.fetch(step);
        }
    }

    /// Whether the quota of templates has a slot for the retry of a message.
    pub(super) fn has_slot(&mut self, ticket: &Ticket, at: Moment) -> bool {
        if self.templates.quota == Quota::Unlimited || !self.lanes.is_template(ticket) {
            return true;
        }
        let Some(number) = ticket.recipient else { return true };
        self.account.ask_for(number, self.templates.quota, at)
    }

    /// Whether a send that was just accepted may begin; otherwise it waits in the store.
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

    /// Whether the person was written to in the last 24 hours, so that a template to them takes no slot.
    fn is_counted(&self, number: PhoneNumber, wall: Timestamp) -> bool {
        self.account.counts(number, self.templates.quota, wall)
    }

    /// Whether the quota of templates is known to have slots.
    pub(super) fn templates_may_go(&self, wall: Timestamp) -> bool {
        let closed = self.templates.closed_until.is_some_and(|until| until > wall);
        self.templates.quota == Quota::Unlimited || (self.templates.is_known && !closed)
    }

    /// Lets templates go again after another channel of the business account gave slots back.
    pub(super) fn reopen_templates(&mut self, wall: Timestamp) {
        if self.account.next_slot(self.templates.quota, wall).is_none() {
            self.templates.open();
        }
    }

    /// Has the account learn the people who were written to lately, before the first template goes under a quota.
    pub(super) fn learn_quota(&mut self, step: &mut Step<'_>) {
        let Templates { is_known, is_learning, .. } = self.templates;
        if is_known || is_learning || self.templates.quota == Quota::Unlimited {
            return;
        }
        // Messages that this channel marked before there was a quota would count as attempted.
        if !self.account.knows_people() && self.lanes.works().any(|work| work.template.is_some()) {
            return;
        }
        if self.account.want_people(step.moment()) {
            // The account has read the people already for another channel, and has counted newer messages since.
            self.templates.is_known = true;
            self.lanes.look_again();
            self.fetch(step);
        } else {
            self.templates.is_learning = true;
        }
    }

    /// Handles an update of the channel's business account.
    pub(super) fn account_changed(&mut self, news: AccountUpdate, step: &mut Step<'_>) {
        match news {
            AccountUpdate::MayAsk => return self.may_ask(step),
            AccountUpdate::PeopleKnown => {
                self.templates.is_learning = false;
                self.templates.is_known = true;
                self.templates.open();
                self.lanes.look_again();
            }
            AccountUpdate::Recalled => self.templates.is_recalled = true,
            AccountUpdate::HasRoom => {
                if self.templates.open() {
                    self.lanes.look_again();
                }
            }
        }
        self.pump(step);
    }

    /// Whether people granted to this channel, which it cannot write to now, go back to the account because another
    /// channel waits for them.
    pub(super) fn lends_people(&mut self, now: Instant) -> bool {
        if self.templates.is_recalled {
            let is_held = self.link.holds(now).is_some() || self.paused(now).is_some();
            self.templates.is_recalled =
                is_held || [Size::Direct, Size::Bulk].into_iter().any(|size| self.lanes.is_troubled(size));
        }
        self.templates.is_recalled
    }

    /// The provider refused the message: its recipient does not count because of it.
    pub(super) fn give_back_quota(&mut self, ticket: &mut Ticket, at: Moment) {
        if let (Some(work::Counted::New(counted_at)), Some(number)) =
            (ticket.counted.take(), ticket.recipient)
        {
            self.account.release(number, counted_at, at);
            // The quota has a slot again.
            if self.templates.open() {
                self.lanes.look_again();
            }
        }
    }

    /// The provider refuses the template of this send: all sends with it wait in the store until the provider accepts
    /// it.
    pub(super) fn hold_template(&mut self, send_id: Uuid, failure: &Failure, step: &mut Step<'_>) {
        let Some(template) = self.lanes.work(send_id).and_then(|work| work.template) else { return };
        if !self.templates.held.insert(template.id) {
            return;
        }
        tracing::warn!(
            channel.id = %self.channel.id, channel.name = %self.channel.name,
            template.id = template.id,
            reason = %Reason::TemplatePaused,
            provider.code = failure.code,
            provider.sentence = failure.sentence,
            "the provider refuses a template, its messages wait"
        );
        let is_of_it = |work: &work::Work| {
            is_planted(Fault::TemplateHoldsAll) || work.template.is_some_and(|used| used.id == template.id)
        };
        self.release(Leave::Held, is_of_it, step);
        step.push(Effect::PauseTemplate(template.id));
    }

    /// The write that marks a template as paused ended. Once the template is marked, reads of the store skip its sends
    /// until they may go.
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
        self.account.want_templates(LOOKED_AT_AFTER, step.moment());
    }

    /// The provider changed whether these templates may be sent.
    pub(super) fn templates_changed(&mut self, templates: &[(i64, bool)], step: &mut Step<'_>) {
        let closed = |id: i64| templates.iter().any(|(changed, may)| *changed == id && !may);
        self.release(Leave::Held, |work| work.template.is_some_and(|used| closed(used.id)), step);
        if templates.iter().any(|(_, may)| *may) {
            self.lanes.look_again();
        }
        self.pump(step);
    }
}

/// The quota of this day.
pub(super) fn quota(tier: &Tier, channel: &Channel, wall: Timestamp) -> Quota {
    tier.template_quota_on(tier::day(channel.created_at, wall))
}

/// The day of a business account's channel, counted from 0, if its quota is the one of that day.
pub(super) fn warming_day(tier: &Tier, channel: &Channel, wall: Timestamp) -> Option<u32> {
    let day = tier::day(channel.created_at, wall);
    (channel.kind == Kind::BusinessAccount && (day as usize) < tier.warm_up.len()).then_some(day)
}
