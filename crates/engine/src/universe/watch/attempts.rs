//! The rules of attempts.

use std::time::Duration;

use uuid::Uuid;

use super::super::model::SendRow;
use super::super::world::World;
use domain::message::{Key, State};
use domain::phone::PhoneNumber;
use domain::send::{Control, Recipients};
use domain::tier::Quota;

/// A single message that could go is passed over for no longer than this.
const PASSED_OVER: Duration = Duration::from_secs(2);

impl World {
    /// Checks the rules when a channel's machine hands a message over.
    pub(in crate::universe) fn watch_attempt(
        &mut self,
        channel: usize,
        key: Key,
        recipient: Option<PhoneNumber>,
    ) {
        if let Some((rule, what)) = self.broken_by_attempt(channel, key, recipient) {
            self.watch.break_(rule, format!("channel {channel}, message {key}: {what}"));
        }
        let is_template = self.model.send(key.send_id).is_some_and(|send| send.template_id.is_some());
        if let (Some(number), true) = (recipient, is_template) {
            let waba_id = self.channels[channel].waba_id.as_deref().unwrap_or_default();
            self.watch.written_to.begin(waba_id, number.person());
        }
        let life = self.process.as_ref().map_or(0, |process| process.life);
        self.watch.attempted_here.insert(key, life);
        let attempted = self.watch.attempted.entry(key).or_default();
        attempted.times += 1;
        (attempted.life, attempted.is_answered) = (life, false);
        let highest = self.watch.highest.entry(key.send_id).or_default();
        *highest = (*highest).max(key.ordinal + 1);
        let is_refused =
            |process: &super::super::process::Process| !process.channels[channel].shown.accepts();
        if self.process.as_ref().is_some_and(is_refused) {
            self.watch.canaries.insert(key, channel);
        }
        let now = self.clock.elapsed();
        let pacing = &mut self.watch.pacing[channel];
        if let Some(too_fast) = pacing.attempt(now) {
            self.watch.break_(
                "the receiver never sees more than rate and burst",
                format!("channel {channel}: {too_fast}"),
            );
        }
        self.watch_shares(channel, key);
        let has_more = self.has_more(key);
        self.watch.pacing[channel].has_more(has_more);
        if let Some(number) = recipient
            && let Some(too_fast) = self.watch.pacing[channel].attempt_to(number.person(), now)
        {
            let what = format!("channel {channel}, message {key}: {too_fast}");
            self.watch.break_("the receiver sees no pair faster than its pace", what);
        }
    }

    fn broken_by_attempt(
        &self,
        channel: usize,
        key: Key,
        recipient: Option<PhoneNumber>,
    ) -> Option<(&'static str, String)> {
        let Some(send) = self.model.send(key.send_id) else {
            return Some(("only an accepted send is attempted", String::new()));
        };
        if !send.is_accepted() || self.watch.refused.contains(&key.send_id) {
            return Some(("only an accepted send is attempted", format!("{send:?}")));
        }
        if key.ordinal >= send.progress.high_water {
            return Some((
                "nothing is attempted at or above the durable mark",
                format!("{:?}", send.progress),
            ));
        }
        if let Some(what) = self.broken_by_other_owner(channel) {
            return Some(("only the owner of a channel starts its messages", what));
        }
        let row = self.model.message(key);
        let before = self.watch.attempted.get(&key).copied().unwrap_or_default();
        let is_of_another = self.process.as_ref().is_some_and(|process| process.life != before.life);
        let is_known = before.was_in_doubt || before.is_answered;
        if self.nodes.is_some() && before.times > 0 && is_of_another && !is_known {
            let what = format!("life {} attempted it before, {row:?}", before.life);
            return Some(("only a message in doubt is attempted by two nodes", what));
        }
        if before.is_confirmed {
            return Some(("without a crash nothing is repeated", String::new()));
        }
        // The channel may have a tier by now that sends such messages again.
        if before.is_held && self.watch.holds(channel) {
            return Some(("a message in doubt is held if the tier says so", String::new()));
        }
        if self.watch.over.contains(&key) {
            return Some(("no message is repeated after a receipt that came in time", format!("{row:?}")));
        }
        let is_announced = row.is_some_and(|row| row.state == State::Sending || !row.state.is_open());
        // An announced message ends with its send, and the channel hears of that a moment later.
        if before.times > 0 && !is_announced && send.is_active() {
            return Some(("only an announced attempt is repeated", format!("{row:?}")));
        }
        if self.watch.stopped.contains(&key.send_id) {
            return Some(("nothing starts after a pause or a cancel was answered", format!("{send:?}")));
        }
        let wall = self.clock.wall();
        if send.expires_at.is_some_and(|end| end <= wall) {
            return Some(("nothing starts after the expiry", format!("{:?}, now {wall:?}", send.expires_at)));
        }
        if send.send_at.is_some_and(|start| start > self.watch.latest) {
            return Some(("nothing starts before its moment", format!("{:?}, now {wall:?}", send.send_at)));
        }
        if let Some(what) = self.watch.promises.broken_by(key.send_id, wall) {
            return Some(("the outlook of a send that waits is true", what));
        }
        if send.channel_id != self.channels[channel].id {
            return Some(("a channel sends its own sends", String::new()));
        }
        self.broken_by_refused_channel(channel)
            .or_else(|| self.broken_quota(channel, send.template_id, recipient))
            .or_else(|| self.passed_over(channel, key, send.is_bulk()))
    }

    /// Checks that bulk sends that nothing holds take turns.
    fn watch_shares(&mut self, channel: usize, key: Key) {
        if !self.plan.is_calm || self.model.send(key.send_id).is_none_or(|send| !send.is_bulk()) {
            return;
        }
        let is_in_progress = |(send_id, send): &(&Uuid, &SendRow)| {
            let attempted = self.watch.highest.get(*send_id).copied().unwrap_or(0);
            let has_begun = send.progress.high_water > 0 && attempted < send.recipients.count();
            has_begun && send.is_bulk() && send.is_active() && send.channel_id == self.channels[channel].id
        };
        let in_progress: Vec<_> =
            self.model.sends().iter().filter(is_in_progress).map(|(id, _)| *id).collect();
        if let Some(unfair) = self.watch.shares[channel].turn(key.send_id, &in_progress) {
            self.watch.break_("bulk sends take turns in fair shares", format!("channel {channel}: {unfair}"));
        }
        self.watch_turns(channel);
    }

    /// Checks that channels that share few permits take turns.
    fn watch_turns(&mut self, channel: usize) {
        if !self.plan.is_crowded {
            return;
        }
        let is_busy = |channel: &usize| {
            let is_own = |send: &SendRow| send.channel_id == self.channels[*channel].id;
            self.model.sends().iter().any(|(send_id, send)| {
                let attempted = self.watch.highest.get(send_id).copied().unwrap_or(0);
                let has_more = send.progress.high_water > 0 && attempted < send.recipients.count();
                has_more && send.is_bulk() && send.is_active() && is_own(send)
            })
        };
        let busy: Vec<_> = (0..self.channels.len()).filter(is_busy).collect();
        if let Some(unfair) = self.watch.turns.turn(channel, &busy) {
            self.watch.break_("channels take turns in fair shares", unfair);
        }
    }

    /// Whether much of a bulk send is left that nothing holds.
    fn has_more(&self, key: Key) -> bool {
        let Some(send) = self.model.send(key.send_id).filter(|_| self.plan.is_calm) else { return false };
        let left = send.recipients.count().saturating_sub(key.ordinal + 1);
        send.is_bulk() && send.expires_at.is_none() && left > 0
    }

    /// Only one message of a refused channel goes at a time, the canary.
    fn broken_by_refused_channel(&self, channel: usize) -> Option<(&'static str, String)> {
        let running = &self.process.as_ref()?.channels[channel];
        if running.shown.accepts() {
            return None;
        }
        let canaries = self.watch.canaries.values().filter(|of| **of == channel).count();
        (canaries > 0)
            .then(|| ("a refused channel sends one message at a time", format!("{canaries} are under way")))
    }

    /// Templates to new people go within the quota of the business account.
    fn broken_quota(
        &self,
        channel: usize,
        template: Option<i64>,
        recipient: Option<PhoneNumber>,
    ) -> Option<(&'static str, String)> {
        let (_, number) = (template?, recipient?);
        let pacing = &self.watch.pacing[channel];
        let Quota::AtMost(most) = pacing.quota(self.clock.elapsed())? else { return None };
        let waba_id = self.channels[channel].waba_id.as_deref().unwrap_or_default();
        let people = self.watch.written_to.others(waba_id, number.person(), self.clock.elapsed())?;
        let is_full = people >= usize::try_from(most).unwrap_or(usize::MAX);
        is_full
            .then(|| ("templates go to no more people than the quota allows", format!("{people} of {most}")))
    }

    /// Checks that single sends go before bulk sends and before their retries.
    fn passed_over(&self, channel: usize, key: Key, is_bulk: bool) -> Option<(&'static str, String)> {
        if !is_bulk {
            return None;
        }
        let now = self.clock.elapsed();
        let waits = |send_id: &Uuid| {
            let marked_at = self.watch.accepted.get(send_id).and_then(|accepted| accepted.marked_at);
            let is_due = marked_at.is_some_and(|at| at + PASSED_OVER < now);
            let Some(send) = self.model.send(*send_id).filter(|_| is_due) else { return false };
            let Recipients::One(number) = send.recipients else { return false };
            let only = Key { send_id: *send_id, ordinal: 0 };
            send.is_active()
                // An expired send waits for its last record only.
                && send.expires_at.is_none_or(|at| at > self.clock.wall())
                && send.progress.high_water == 1
                && send.channel_id == self.channels[channel].id
                && send.control == Control::Running
                && send.template_id.is_none()
                && self.model.message(only).is_none()
                && !self.watch.attempted.contains_key(&only)
                && !self.watch.pacing[channel].may_wait(number.person(), now)
                && !self.watch.slowed.contains(&(channel, number.person()))
        };
        let passed_over = self.watch.marked.iter().find(|send_id| waits(send_id))?;
        // Enough messages that wait for trouble to pass hold up new ones.
        let is_open = |send_id: &Uuid| {
            self.model.message(Key { send_id: *send_id, ordinal: 0 }).is_some_and(|row| row.state.is_open())
        };
        if self.watch.marked.iter().filter(|send_id| is_open(send_id)).count() >= self.plan.deferred {
            return None;
        }
        Some(("single sends go before bulk", format!("{passed_over} waits while {key} goes")))
    }

    /// A caller hears that nothing of this send starts any more.
    pub(in crate::universe) fn watch_stopped(&mut self, send_id: Uuid) {
        let Some(send) = self.model.send(send_id) else { return };
        let is_over = send.state.is_some_and(domain::send::State::is_over);
        if is_over || send.control == Control::Paused {
            self.watch.stopped.insert(send_id);
        }
    }
}
