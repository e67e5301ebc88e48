//! Repairs the world once trouble is over, and checks the rules after each step.

use super::watch::Gone;
use super::world::World;
use domain::message::Key;
use domain::send::{Control, Recipients};
use domain::tier::Quota;

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

    /// Notes the messages whose outcome a crash leaves unknown.
    pub(super) fn watch_crash(&mut self) {
        let all: Vec<_> = (0..self.channels.len()).collect();
        self.watch_loss(&all);
    }

    /// Notes that the process that ran these channels is gone.
    pub(super) fn watch_loss(&mut self, lost: &[usize]) {
        let holds: Vec<_> = (0..self.channels.len()).map(|channel| self.watch.holds(channel)).collect();
        self.count_marked(lost);
        let (model, channels) = (&self.model, &self.channels);
        let place = |key: Key| {
            let channel_id = model.send(key.send_id)?.channel_id;
            channels.iter().position(|channel| channel.id == channel_id)
        };
        let accounts: Vec<_> =
            lost.iter().filter_map(|channel| channels[*channel].waba_id.as_deref()).collect();
        let gone = Gone {
            message: &|key| place(key).is_none_or(|channel| lost.contains(&channel)),
            channel: &|channel| lost.contains(&channel),
            account: &|account| accounts.contains(&account),
        };
        self.watch.crashed(
            self.clock.elapsed(),
            &gone,
            |key| place(key).is_some_and(|channel| holds[channel]),
            |key| model.message(key).map(|row| row.state),
        );
    }

    /// Counts people for whom a template was marked, without a row: they may have got it.
    fn count_marked(&mut self, lost: &[usize]) {
        let now = self.clock.elapsed();
        for (send_id, send) in self.model.sends().iter().filter(|(_, send)| send.template_id.is_some()) {
            let place = self.channel_of(send.channel_id).filter(|channel| lost.contains(channel));
            let Some(place) = place else { continue };
            let account = self.channels[place].waba_id.as_deref().unwrap_or_default();
            for ordinal in send.progress.settled..send.progress.high_water {
                let recipient = match send.recipients {
                    Recipients::One(number) => Some(number),
                    Recipients::Group => None,
                    Recipients::Blocks(_) => self.number(*send_id, ordinal),
                };
                let has_row = self.model.message(Key { send_id: *send_id, ordinal }).is_some();
                if let (Some(person), false) = (recipient, has_row) {
                    self.watch.template_perhaps_sent(account, person, now);
                }
            }
        }
    }

    /// Checks the rules that hold after each step of a channel.
    pub(super) fn watch_step(&mut self, channel: usize) {
        let Some(process) = &self.process else { return };
        let running = &process.channels[channel];
        if running.machine.is_some() && running.under_way == 0 && running.wake.is_none() {
            let what = format!("channel {channel}");
            self.watch.break_("a machine has a timer or something under way", what);
        }
        let may_end = process.ledger.closed || process.is_stopping || running.is_leaving;
        if running.machine.is_none() && !may_end {
            self.watch
                .break_("a machine ends only when nothing can be written", format!("channel {channel}"));
        }
    }
}
