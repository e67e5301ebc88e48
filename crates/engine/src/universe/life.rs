//! The start of a process, from durable state, and its end.

use std::sync::Arc;
use std::time::Duration;

use super::answers::Asked;
use super::process::{Process, Running};
use super::world::{Event, World};
use crate::channel::machine::{Input, Machine};

/// How often the sentinel looks for changes, for expired sends, and for channels with work.
pub(super) const CHANGES: Duration = Duration::from_millis(250);
pub(super) const EXPIRY: Duration = Duration::from_secs(2);
pub(super) const WORK: Duration = Duration::from_secs(2);
/// The longest that a recipient is held.
pub(super) const LONGEST_HOLD: Duration = Duration::from_secs(24 * 3_600);

impl World {
    /// Starts a process, with the steps of the engine's start.
    pub(super) fn start(&mut self) {
        let epoch = self.model.take_lease();
        self.lives += 1;
        let life = self.lives;
        let wall = self.clock.wall();
        self.model.clock_went_back(wall, LONGEST_HOLD);
        if let Err(error) = self.model.remove_unresolved(epoch) {
            self.watch.break_("a process that has the lease may write", error.to_string());
        }
        self.model.put_off_unknown(wall.plus(self.plan.unknown_grace));
        self.model.end_left_messages(wall);
        for (send_id, _) in self.model.sends().iter().filter(|(_, send)| send.is_accepted()) {
            self.watch.found(*send_id);
        }
        let process = self.new_process(life, epoch);
        self.process = Some(process);
        for channel in 0..self.channels.len() {
            if let Some(process) = &mut self.process {
                process.channels.push(Running::idle(&self.channels[channel]));
            }
            self.start_channel(channel);
        }
        self.resume_sessions();
        for (wait, event) in [
            (CHANGES, Event::Changes { life }),
            (EXPIRY, Event::Expiry { life }),
            (WORK, Event::Overlooked { life }),
        ] {
            self.after(wait, event);
        }
    }

    /// A process that has read the durable state, without channels yet.
    pub(super) fn new_process(&self, life: u64, epoch: u64) -> Process {
        let process = Process::new(life, epoch, &self.plan);
        let tiers = self
            .plan
            .tiers
            .iter()
            .filter_map(|tier| Some((tier.name.clone(), serde_json::to_string(tier).ok()?)));
        process.common.tiers.replace(tiers.collect::<Vec<_>>());
        for record in self.model.suppressions(self.clock.wall()) {
            process.common.suppressions.add(record);
        }
        process
    }

    /// Starts a channel.
    pub(super) fn start_channel(&mut self, channel: usize) {
        let record = Arc::new(self.channels[channel].clone());
        let now = self.clock.now();
        let Some(process) = &mut self.process else { return };
        self.watch.retuned(channel, &self.plan, &record.tier, self.clock.elapsed());
        // The process may have read the tiers before this one changed: then it reads them again.
        let tier = process.common.tiers.of(&record);
        let is_old = self.plan.tiers.iter().any(|present| present.name == tier.name && present != &*tier);
        let running = &mut process.channels[channel];
        (running.shown, running.revision) = (record.connection.clone(), record.revision - i64::from(is_old));
        running.machine = Some(Machine::new(Arc::clone(&process.common), record, now, &mut self.dice));
        self.tell(channel, Input::Started, false);
    }

    /// The process is gone, in the middle of whatever it did, and starts again after a while.
    pub(super) fn crash(&mut self) {
        let Some(process) = self.process.take() else { return };
        let has_stopped = self.has_stopped(&process);
        let has_left = self.nodes.is_some() && process.is_stopping;
        self.figures.crashes += u64::from(!has_stopped && !has_left);
        // A requested commit may happen all the same.
        self.leave_commit(process.ledger.commit);
        // The provider got no answer, and repeats its receipts.
        for asked in process.ledger.into_callers() {
            match asked {
                Asked::Hear(receipts) => self.tell_again(receipts),
                Asked::Wrote(message) => self.tell_mail_again(message),
                _ => {}
            }
        }
        self.drop_sessions();
        if self.nodes.is_some() {
            // The unknown outcomes show when the fence is closed.
            return self.node_is_gone();
        }
        // Requests on their way get no answer.
        if has_stopped {
            self.watch.stopped();
        } else {
            self.watch_crash();
        }
        let away = self.dice.time(Duration::from_millis(100), Duration::from_secs(20));
        self.after(away, Event::Restart);
    }
}
