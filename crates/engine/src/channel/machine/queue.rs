//! The queue in the store: writes outcomes, reads sends and messages.

use std::collections::HashSet;
use std::mem;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::effect::{Effect, Fetch};
use super::input::{Failed, LeaseLost};
use super::moment::Step;
use super::outbox::Writing;
use super::restored::{Fetched, Found, Waits};
use super::retries::Retry;
use super::work::{Leave, PriorOutcome};
use super::{Machine, admission};
use crate::ledger::Written;
use clock::Timestamp;
use domain::phone::PhoneNumber;
use domain::send::State;
use domain::tier::Quota;
use store::sends::{Ready, Size};

/// Delay before parked messages are read again after none was found.
const LOOKED_AGAIN: Duration = Duration::from_secs(5);
/// The interval of the periodic read of the store, which finds sends that were overlooked.
const LOOK_INTERVAL: Duration = Duration::from_secs(5 * 60);

/// The machine's knowledge of the sends in the store.
pub(super) struct Queue {
    /// A read of sends is under way.
    is_fetching: bool,
    /// Sends that ended or were released during the read: the read has an outdated state of them.
    gone_meanwhile: HashSet<Uuid>,
    /// Sends that cannot be read.
    broken: Vec<Uuid>,
    /// The sends that were last reported to be in the store.
    reported: [Option<Uuid>; 2],
    /// When the next send in the store is due.
    next_look: Option<Timestamp>,
    /// When the next periodic read of the store is due.
    survey_at: Instant,
}

impl Queue {
    /// A queue of which nothing is known yet. `chance`, from 0 to 1, spreads the periodic reads of channels that
    /// started together.
    pub(super) fn new(now: Instant, chance: f64) -> Self {
        Self {
            is_fetching: false,
            gone_meanwhile: HashSet::new(),
            broken: Vec::new(),
            reported: [None; 2],
            next_look: None,
            survey_at: now + LOOK_INTERVAL.mul_f64(chance),
        }
    }

    /// Whether a read of sends is under way.
    pub(super) const fn is_fetching(&self) -> bool {
        self.is_fetching
    }

    /// A read of sends begins. Sends that were released before it are read as they are now, perhaps resumed.
    fn begin(&mut self) {
        self.is_fetching = true;
        self.gone_meanwhile.clear();
    }

    /// The read ended.
    pub(super) const fn ended(&mut self) {
        self.is_fetching = false;
    }

    /// The send ended or was released.
    pub(super) fn is_gone(&mut self, send_id: Uuid) {
        if self.is_fetching {
            self.gone_meanwhile.insert(send_id);
        }
    }

    /// A send in the store is due at this time.
    pub(super) fn look_at(&mut self, due: Option<Timestamp>) {
        self.next_look = [self.next_look, due].into_iter().flatten().min();
    }

    /// When the next send in the store is due.
    pub(super) const fn next_look(&self) -> Option<Timestamp> {
        self.next_look
    }

    /// The wall clock was set: the next read of the store brings the time again.
    pub(super) const fn look_at_no_time(&mut self) {
        self.next_look = None;
    }

    /// Whether a send in the store is due. Returns `true` once for each time.
    pub(super) fn take_due(&mut self, wall: Timestamp) -> bool {
        self.next_look.take_if(|due| *due <= wall).is_some()
    }

    /// When the next periodic read of the store is due.
    pub(super) const fn survey_at(&self) -> Instant {
        self.survey_at
    }

    /// Whether the periodic read is due. Returns `true` once for each time.
    pub(super) fn take_due_survey(&mut self, now: Instant) -> bool {
        let is_due = self.survey_at <= now;
        if is_due {
            self.survey_at = now + LOOK_INTERVAL;
        }
        is_due
    }

    /// These sends are reported to be in the store. Returns those that were reported the last time too, and that can be
    /// read.
    pub(super) fn reported(&mut self, oldest: [Option<Uuid>; 2]) -> impl Iterator<Item = Uuid> {
        let before = mem::replace(&mut self.reported, oldest);
        let broken = &self.broken;
        let is_again = move |send_id: &Uuid| before.contains(&Some(*send_id)) && !broken.contains(send_id);
        oldest.into_iter().flatten().filter(is_again)
    }
}

impl Machine {
    /// Writes outcomes and marks, unless a record is under way: then the next record has them.
    pub(super) fn record(&mut self, step: &mut Step<'_>) {
        if self.outbox.is_writing() {
            return;
        }
        if !self.is_stopping() {
            self.reserve_ahead(step);
        }
        if self.outbox.is_empty() && !self.lanes.has_marks() {
            return;
        }
        // While other messages may start, the ledger may wait for more to commit.
        let is_awaited = self.is_stopping() || self.outbox.is_awaited() || self.lanes.awaits_marks();
        let marks = self.lanes.marks();
        let writes = self.outbox.write(marks, step.now());
        step.push(Effect::Write { writes, is_awaited });
    }

    /// The record under way is durable, or nothing can be written any more.
    pub(super) fn written(&mut self, result: Result<Written, LeaseLost>, step: &mut Step<'_>) {
        let Ok(Written { gone, overtaken }) = result else {
            // The ledger has logged the reason. Nothing can be written any more, so nothing is sent.
            self.lose_pending_replies(step);
            self.end(step);
            return;
        };
        let Some(Writing { marks, started, announced, said, begun }) = self.outbox.written() else { return };
        self.ahead.took(step.now().saturating_duration_since(begun), step.now());
        self.tune_ahead(step);
        self.lanes.forget(&gone);
        self.announced(announced, &overtaken, step);
        if !said.is_empty() {
            // A read of the store that began before this write did not find the suppression.
            step.push(Effect::LookUp(said));
        }
        self.flight.in_flight -= started;
        self.tell_ended(&marks, step);
        self.queue.look_at(marks.iter().filter_map(|mark| mark.due_at).min());
        for send_id in self.lanes.written(&marks) {
            self.queue.is_gone(send_id);
        }
        self.pump(step);
    }

    /// Reserves the messages that are handed out next, within the quota of templates.
    fn reserve_ahead(&mut self, step: &mut Step<'_>) {
        let (at, quota) = (step.moment(), self.templates.quota);
        let (can_send, lends_people) = (self.link.can_send(), self.lends_people(at.monotonic));
        // Other channels of the account may use these slots instead.
        if (!can_send || lends_people) && self.account.has_people() {
            self.lanes.take_back_templates();
            self.account.give_back_all(quota, at);
        }
        if !can_send {
            return;
        }
        // A record that is written anyway also reserves the messages that would be reserved soon.
        let tops_up = !self.outbox.is_empty() || self.lanes.has_marks();
        if lends_people {
            self.lanes.reserve_others_ahead(tops_up);
            return;
        }
        if quota == Quota::Unlimited {
            self.lanes.reserve_ahead(tops_up, |_| true);
            return;
        }
        let refused = self.ask_for_people(tops_up, at);
        let (account, is_full) = (&mut self.account, !refused.is_empty());
        let passed = self.lanes.reserve_ahead(tops_up, |person| {
            // When the quota is full, only people who count already have a slot, besides those that were granted.
            account.holds(person)
                || (!refused.contains(&person)
                    && (!is_full || account.counts(person, quota, at.wall))
                    && account.ask_for(person, quota, at))
        });
        if passed.is_blocked {
            self.give_back_people(at);
        }
        self.pass_over(passed, step);
    }

    /// The periodic read of the store, so that an overlooked send does not wait longer.
    pub(super) fn look_into_store(&mut self, step: &mut Step<'_>) {
        self.reopen_templates(step.wall());
        self.look(step);
    }

    /// Reads sends from the store while there is room here and the store may hold more.
    pub(super) fn fetch(&mut self, step: &mut Step<'_>) {
        if self.queue.is_fetching() || self.is_stopping() {
            return;
        }
        let wanted = [Size::Direct, Size::Bulk].map(|size| (size, self.lanes.room(size)));
        let Some((size, Some(room))) = wanted.into_iter().find(|(_, room)| room.is_some()) else { return };
        self.queue.begin();
        self.lanes.look(size);
        let mut held = self.lanes.held(size);
        held.extend(&self.queue.broken);
        let ready = Ready { now: step.wall(), templates: self.templates_may_go(step.wall()) };
        let counted = self.look_for_counted(size, ready);
        step.push(Effect::Fetch(Box::new(Fetch { size, ready, held, room, counted })));
    }

    /// Sends were read.
    pub(super) fn fetched(&mut self, size: Size, result: Result<Fetched, Failed>, step: &mut Step<'_>) {
        let gone = mem::take(&mut self.queue.gone_meanwhile);
        let Ok(Fetched { found, broken, all, next_due, took, nobody_counted }) = result else {
            self.retries.add(Retry::Fetch, step.now());
            return;
        };
        self.queue.ended();
        self.looked_for_counted(size, took, nobody_counted, step.wall());
        self.queue.broken.extend(broken);
        self.queue.look_at(next_due);
        for found in found.into_iter().filter(|found| !gone.contains(&found.id())) {
            self.restore(found, step);
        }
        if all {
            self.lanes.caught_up(size);
        }
        self.pump(step);
    }

    /// Takes a send from the store into the lanes.
    fn restore(&mut self, found: Found, step: &mut Step<'_>) {
        let Found { work, mut waiting, unknown, counted_at } = found;
        let (now, wall) = step.clocks();
        let (send_id, company_id) = (work.id, work.company_id);
        if work.template.is_some() && !self.templates_may_go(wall) {
            self.leave_new_people(&mut waiting, wall);
        }
        let is_held = work.template.is_some_and(|used| self.templates.is_held(used.id));
        if self.lanes.holds(send_id) || is_held {
            return;
        }
        let may_have_gone = !unknown.is_empty()
            || waiting.later > 0
            || waiting.soon.iter().any(|(ticket, _)| ticket.prior == PriorOutcome::Unknown);
        let keeps_turn = work.rendered.keeps_turn();
        if keeps_turn && self.pending_reply(send_id).is_none() {
            // It came after the recent activity was read.
            admission::keep_turn(self, send_id, None);
        }
        let is_abandoned = !may_have_gone && !keeps_turn && self.is_abandoned(send_id);
        if let Some(pending_reply) = self.pending_reply(send_id) {
            pending_reply.pause(false);
        }
        self.lanes.add(work);
        if let Some(ordinal) = counted_at {
            self.lanes.counted_at(send_id, ordinal);
        }
        self.lanes.parked(send_id, waiting.later, waiting.later_due);
        for (ticket, retry_at) in waiting.soon {
            self.lanes.resume(ticket, now + retry_at.from_now(wall));
        }
        if !unknown.is_empty() {
            tracing::warn!(send.id = %send_id, messages = unknown.len(), unknown_outcome = self.tier.unknown_outcome.as_str(), "outcomes of messages are unknown since the last stop");
        }
        for ticket in unknown {
            self.restore_unknown(ticket, company_id, step);
        }
        self.lanes.settle_down(send_id);
        if is_abandoned {
            tracing::info!(send.id = %send_id, "the caller of a message is gone, the message is not sent");
            self.release(Leave::Over(State::Expired), |work| work.id == send_id, step);
        }
    }

    /// Reads parked messages that are due, of sends that are here.
    pub(super) fn unpark(&mut self, step: &mut Step<'_>) {
        for send_id in self.lanes.unparks(step.wall(), self.templates_may_go(step.wall())) {
            step.push(Effect::ReadWaits(send_id));
        }
    }

    /// Parked messages were read.
    pub(super) fn waits_read(&mut self, send_id: Uuid, result: Result<Waits, Failed>, step: &mut Step<'_>) {
        let Ok(waits) = result else {
            self.retries.add(Retry::Waits(send_id), step.now());
            return;
        };
        let (now, wall) = step.clocks();
        let (mut found, mut have_left) = (0, false);
        if self.lanes.is_being_read(send_id) {
            for (ticket, retry_at) in waits.soon {
                // A message that was in memory before may have changed since the state that was read.
                if self.lanes.has_left(ticket.key()) {
                    have_left = true;
                } else if self.lanes.resume(ticket, now + retry_at.from_now(wall)) {
                    found += 1;
                }
            }
        }
        // Some parked messages are in memory as well. The others are read again later, and not at once when only
        // messages in memory were found.
        let mut next = waits.later_due.unwrap_or_else(|| wall.plus(Waits::HORIZON));
        if have_left {
            next = next.min(wall.plus(LOOKED_AGAIN));
        }
        if found == 0 {
            next = next.max(wall.plus(LOOKED_AGAIN));
        }
        self.lanes.unparked(send_id, found, waits.later, next);
        self.pump(step);
    }

    /// Reads the recipients that bulk sends need next.
    pub(super) fn load(&mut self, step: &mut Step<'_>) {
        for (send_id, from) in self.lanes.loads() {
            step.push(Effect::ReadRecipients { send_id, from });
        }
    }

    /// Recipients were read.
    pub(super) fn recipients_read(
        &mut self,
        send_id: Uuid,
        from: u64,
        result: Result<Vec<PhoneNumber>, Failed>,
        step: &mut Step<'_>,
    ) {
        match result {
            Ok(numbers) => self.lanes.loaded(send_id, from, &numbers),
            Err(Failed::Permanently) => {
                self.queue.broken.push(send_id);
                self.release(Leave::Held, |work| work.id == send_id, step);
            }
            Err(Failed::Temporarily) => {
                self.retries.add(Retry::Recipients { send_id, from }, step.now());
                return;
            }
        }
        self.pump(step);
    }
}
