//! The queue in the store: writing what was done, reading what is to be done.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::prelude::*;
use uuid::Uuid;

use super::outbox::Parcel;
use super::work::{Doubt, Leave};
use super::{ChannelActor, STORE_PAUSE, loading};
use crate::clock::Timestamp;
use crate::domain::send::{Mark, State};
use crate::domain::tier::Quota;
use crate::engine::ledger::{Record, Written};
use crate::store::send::{Ready, Size};
use crate::store::suppression::Word;

/// When messages that wait in the store are looked for again after none was found.
const LOOKED_AGAIN: Duration = Duration::from_secs(5);

impl ChannelActor {
    /// Writes outcomes and marks, unless a record is under way: what comes meanwhile goes with the next.
    pub(super) fn record(&mut self, ctx: &mut Context<Self>) {
        if self.recording {
            return;
        }
        if self.stopping.is_none() {
            self.reserve_ahead();
        }
        if self.outbox.is_empty() && !self.lanes.has_marks() {
            return;
        }
        self.recording = true;
        let marks = self.lanes.marks();
        let Parcel { outcomes, started, announced, suppressions } = self.outbox.take();
        self.announcing.clone_from(&announced);
        let said = suppressions.clone();
        let record = Record { outcomes, marks: marks.clone(), suppressions };
        let begun = Instant::now();
        self.shared
            .ledger
            .send(record)
            .into_actor(self)
            .map(move |result, actor, ctx| match result {
                Ok(Ok(Written { gone, overtaken })) => {
                    let now = Instant::now();
                    actor.ahead.took(now - begun, now);
                    actor.tune_ahead(now);
                    actor.lanes.forget(&gone);
                    actor.announcing.clear();
                    actor.announced(announced, &overtaken);
                    actor.look_up_suppressions(said, ctx);
                    actor.recorded(&marks, started, ctx);
                }
                // The ledger said why; nothing more can be written, so nothing more is sent.
                Ok(Err(_)) | Err(_) => {
                    actor.end_errands();
                    ctx.stop();
                }
            })
            .spawn(ctx);
    }

    /// A read of the store that began before this write did not find it there.
    fn look_up_suppressions(&self, said: Vec<Word>, ctx: &mut Context<Self>) {
        if said.is_empty() {
            return;
        }
        let shared = Arc::clone(&self.shared);
        async move { shared.suppressions.look_up(&shared.store, &said).await }
            .into_actor(self)
            .map(|result, actor, _| {
                if let Err(error) = result {
                    tracing::debug!(channel.id = %actor.channel.id, %error, "reading suppressions failed");
                }
            })
            .spawn(ctx);
    }

    fn recorded(&mut self, marks: &[Mark], started: usize, ctx: &mut Context<Self>) {
        self.recording = false;
        self.in_flight -= started;
        self.tell_ended(marks);
        self.look_at(marks.iter().filter_map(|mark| mark.due_at).min());
        let gone = self.lanes.written(marks);
        if self.fetching {
            self.gone_meanwhile.extend(gone);
        }
        self.pump(ctx);
    }

    /// Asks for the marks of the messages that are handed out next, as far as the quota of templates goes.
    fn reserve_ahead(&mut self) {
        if self.link.connector().is_none() {
            // Other channels of the account may write to as many people instead.
            if self.quota.has_marks() {
                self.lanes.take_back_templates();
                self.quota.mark(0);
            }
            return;
        }
        // What is written anyway takes along what would be due soon.
        let tops_up = !self.outbox.is_empty() || self.lanes.has_marks();
        if self.tier.template_quota == Quota::Unlimited {
            self.lanes.reserve_ahead(tops_up, |_| true);
            return;
        }
        let wall = Timestamp::now();
        let promised = self.promised_templates();
        let mut slots = self.quota.slots(self.tier.template_quota, promised, wall);
        let passed = self.lanes.reserve_ahead(tops_up, |recipient| slots.take(recipient));
        drop(slots);
        self.quota.mark(self.promised_templates());
        self.pass_over(passed, wall);
    }

    /// Something in the store is due then.
    pub(super) fn look_at(&mut self, due: Option<Timestamp>) {
        self.next_look = [self.next_look, due].into_iter().flatten().min();
    }

    /// Reads sends from the store while it holds some that are not here and there is room.
    pub(super) fn fetch(&mut self, ctx: &mut Context<Self>) {
        if self.fetching || self.stopping.is_some() {
            return;
        }
        let wanted = [Size::Direct, Size::Bulk].map(|size| (size, self.lanes.room(size)));
        let Some((size, Some(room))) = wanted.into_iter().find(|(_, room)| room.is_some()) else { return };
        self.fetching = true;
        // What was let go before this moment is read as it is now, perhaps resumed.
        self.gone_meanwhile.clear();
        self.lanes.look(size);
        let mut held = self.lanes.held(size);
        held.extend(&self.broken);
        let now = Timestamp::now();
        let ready = Ready { now, templates: self.templates_may_go() };
        let counted = self.look_for_counted(size, ready);
        let (store, channel) = (self.shared.reader.store(), Arc::clone(&self.channel));
        let fetching = async move { loading::fetch(store, &channel, size, ready, held, room, counted).await };
        self.shared
            .reader
            .read(fetching)
            .into_actor(self)
            .map(move |result, actor, ctx| {
                let gone = std::mem::take(&mut actor.gone_meanwhile);
                match result {
                    Ok(loading::Fetched { found, broken, all, next_due, took, nobody_counted }) => {
                        actor.fetching = false;
                        actor.looked_for_counted(size, took, nobody_counted);
                        actor.broken.extend(broken);
                        actor.look_at(next_due);
                        let found = found.into_iter().filter(|found| !gone.contains(&found.work.id));
                        actor.restore(found.collect());
                        if all {
                            actor.lanes.caught_up(size);
                        }
                        actor.pump(ctx);
                    }
                    Err(error) => {
                        tracing::error!(channel.id = %actor.channel.id, %error, "reading the queue failed");
                        ctx.run_later(STORE_PAUSE, |actor, ctx| {
                            actor.fetching = false;
                            actor.pump(ctx);
                        });
                    }
                }
            })
            .spawn(ctx);
    }

    /// Takes in what was found in the store.
    fn restore(&mut self, found: Vec<loading::Found>) {
        let (now, wall) = (Instant::now(), Timestamp::now());
        for loading::Found { work, mut waiting, unknown, counted_at } in found {
            let (send_id, company_id) = (work.id, work.company_id);
            if work.template.is_some() && !self.templates_may_go() {
                self.leave_new_people(&mut waiting, wall);
            }
            let is_held = work.template.is_some_and(|used| self.held_templates.contains(&used.id));
            if self.lanes.holds(send_id) || is_held {
                continue;
            }
            let may_have_gone = !unknown.is_empty()
                || waiting.later > 0
                || waiting.soon.iter().any(|(ticket, _)| ticket.doubt == Doubt::Full);
            let is_abandoned = !may_have_gone && self.is_abandoned(send_id);
            if let Some(errand) = self.errand(send_id) {
                errand.pause(false);
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
                tracing::warn!(send.id = %send_id, messages = unknown.len(), policy = ?self.tier.unknown_outcome, "outcomes are unknown since the last stop");
            }
            for ticket in unknown {
                self.doubt(ticket, company_id, now, wall);
            }
            self.lanes.settle_down(send_id);
            if is_abandoned {
                tracing::info!(send.id = %send_id, "nobody waits for the message any more, it is not sent");
                self.release(Leave::Over(State::Expired), |work| work.id == send_id);
            }
        }
    }

    /// Reads messages that wait in the store and are due, of sends that are here.
    pub(super) fn unpark(&mut self, wall: Timestamp, ctx: &mut Context<Self>) {
        for send_id in self.lanes.unparks(wall, self.templates_may_go()) {
            let store = self.shared.reader.store();
            self.shared
                .reader
                .read(async move { loading::waits(&store, send_id).await })
                .into_actor(self)
                .map(move |result, actor, ctx| match result {
                    Ok(waits) => actor.unparked(send_id, waits, ctx),
                    Err(error) => {
                        tracing::error!(send.id = %send_id, %error, "reading waiting messages failed");
                        ctx.run_later(STORE_PAUSE, move |actor, ctx| {
                            actor.lanes.unparked(send_id, 0, 1, Timestamp::now());
                            actor.pump(ctx);
                        });
                    }
                })
                .spawn(ctx);
        }
    }

    fn unparked(&mut self, send_id: Uuid, waits: loading::Waits, ctx: &mut Context<Self>) {
        let (now, wall) = (Instant::now(), Timestamp::now());
        let leaves = self.lanes.work(send_id).is_none_or(|work| work.leaving().is_some());
        let found = if leaves {
            0
        } else {
            let due = |retry_at: Timestamp| now + retry_at.from_now(wall);
            let soon = waits.soon.into_iter();
            soon.filter(|(ticket, retry_at)| self.lanes.resume(*ticket, due(*retry_at))).count()
        };
        // Some of what waits in the store is here as well: whatever is left is looked for again later, and not at
        // once when only such were found.
        let mut next = waits.later_due.unwrap_or_else(|| wall.plus(loading::HORIZON));
        if found == 0 {
            next = next.max(wall.plus(LOOKED_AGAIN));
        }
        self.lanes.unparked(send_id, found as u64, waits.later, next);
        self.pump(ctx);
    }

    /// Reads the recipients that bulk sends need next.
    pub(super) fn load(&mut self, ctx: &mut Context<Self>) {
        for (send_id, ordinal) in self.lanes.loads() {
            let store = self.shared.reader.store();
            self.shared.reader.read(async move { loading::numbers_from(&store, send_id, ordinal).await })
                .into_actor(self)
                .map(move |result, actor, ctx| match result {
                    Ok((from, numbers)) => {
                        actor.lanes.loaded(send_id, from, &numbers);
                        actor.pump(ctx);
                    }
                    Err(error) if !error.is_passing() => {
                        tracing::error!(send.id = %send_id, %error, "the send's recipients cannot be read, it is left out");
                        actor.broken.push(send_id);
                        actor.release(Leave::Held, |work| work.id == send_id);
                        actor.pump(ctx);
                    }
                    Err(error) => {
                        tracing::error!(send.id = %send_id, %error, "reading recipients failed");
                        ctx.run_later(STORE_PAUSE, move |actor, ctx| {
                            actor.lanes.loaded(send_id, ordinal, &[]);
                            actor.pump(ctx);
                        });
                    }
                })
                .spawn(ctx);
        }
    }
}
