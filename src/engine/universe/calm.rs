//! Mending the world once trouble is over, and what must hold after each step.

use super::world::World;
use crate::domain::message::Key;
use crate::domain::send::Control;
use crate::domain::tier::Quota;

impl World {
    /// People resume what is paused, reconnect what is disconnected, and raise quotas that would take weeks.
    pub(super) fn mend(&mut self) {
        self.revision += 1;
        for tier in &mut self.plan.tiers {
            tier.template_quota = Quota::Unlimited;
        }
        for channel in &mut self.channels {
            channel.revision = self.revision;
        }
        let paused = self.model.sends().iter().filter(|(_, send)| send.control == Control::Paused);
        for send_id in paused.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.control(send_id, Control::Running);
        }
        for channel in 0..self.channels.len() {
            if !self.channels[channel].connection.accepts() {
                self.reconnect(channel);
            }
        }
    }

    /// What a crash leaves in doubt.
    pub(super) fn watch_crash(&mut self) {
        let holds: Vec<_> = (0..self.channels.len()).map(|channel| self.watch.holds(channel)).collect();
        let place = |key: Key| {
            let channel_id = self.model.send(key.send_id)?.channel_id;
            self.channel_of(channel_id)
        };
        let held: std::collections::HashSet<Key> = self
            .watch
            .attempted_keys()
            .filter(|key| place(*key).is_some_and(|channel| holds[channel]))
            .collect();
        let model = &self.model;
        self.watch.crashed(
            self.clock.elapsed(),
            |key| held.contains(&key),
            |key| model.message(key).map(|row| row.state),
        );
    }

    /// What must hold after each step of a channel.
    pub(super) fn watch_step(&mut self, channel: usize) {
        let Some(process) = &self.process else { return };
        let running = &process.channels[channel];
        if running.machine.is_some() && running.under_way == 0 && running.wake.is_none() {
            let what = format!("channel {channel}");
            self.watch.break_("a machine has a timer or something under way", what);
        }
        if running.machine.is_none() && !process.ledger.closed {
            self.watch
                .break_("a machine ends only when nothing can be written", format!("channel {channel}"));
        }
    }
}
