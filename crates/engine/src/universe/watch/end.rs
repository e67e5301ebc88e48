//! The rules at the end: everything is done, nothing is held, and the channels are quiet.

use super::super::process::Process;
use super::super::world::World;
use super::told;
use domain::message::{Key, State as At};
use domain::send::State;

/// The most timers of a quiet channel in an hour: it reads the store every five minutes, and asks the provider every
/// quarter of an hour.
const WAKES: u64 = 40;
/// The most questions to the provider in an hour: one a little before the end of each quarter, and retries.
const PROBES: u64 = 8;

impl World {
    /// Whether every accepted send is over, and nothing is left to be written.
    pub(in crate::universe) fn is_done(&self) -> bool {
        if self.process.is_none() && self.nodes.is_none() {
            return false;
        }
        self.mail.is_taken()
            && self.processes().all(|process| process.ledger.is_idle())
            && !self.model.sends().values().any(|send| send.state == Some(State::Active))
    }

    /// The sends that are not over, in words.
    pub(in crate::universe) fn open_sends(&self) -> String {
        let open = self.model.sends().iter().filter(|(_, send)| send.state == Some(State::Active));
        let shown = open.take(5).map(|(id, send)| {
            let waiting = self.model.messages_of(*id).filter(|(_, row)| row.state.is_open());
            let waiting: Vec<_> = waiting.take(3).collect();
            format!("{id}: {:?} of {:?}, {:?}", send.progress, send.recipients, waiting)
        });
        shown.collect::<Vec<_>>().join("\n")
    }

    /// Checks the rules at the end of a world.
    pub(in crate::universe) fn watch_end(&mut self) {
        for (rule, what) in self.broken_at_end() {
            self.watch.break_(rule, what);
        }
    }

    fn broken_at_end(&self) -> Vec<(&'static str, String)> {
        let mut broken = self.mail.broken(&self.model);
        let left = self.model.left_behind().map(|send_id| send_id.to_string());
        broken.extend(left.map(|what| ("nothing is kept of a send that was withdrawn", what)));
        for (send_id, send) in self.model.sends() {
            if !send.is_accepted() {
                continue;
            }
            if self.watch.refused.contains(send_id) {
                broken.push((
                    "a send that is answered with 503 never appears in the store",
                    send_id.to_string(),
                ));
            }
            if !self.watch.accepted.contains_key(send_id) && self.lives == 1 {
                broken.push(("a send that is durable was accepted", send_id.to_string()));
            }
            for (ordinal, row) in self.model.messages_of(*send_id) {
                let key = Key { send_id: *send_id, ordinal };
                if row.state == At::Queued || row.state == At::Sending || row.retry_at.is_some() {
                    broken.push(("no message of a send that is over waits", format!("{key}: {row:?}")));
                }
                broken.extend(told::differing(&self.model, key).map(|what| (told::RULE, what)));
                let is_taken = self.provider.took(key) > 0;
                if matches!(row.state, At::Sent | At::Delivered | At::Read) && !is_taken {
                    broken.push((
                        "a message that is recorded as sent was taken by the provider",
                        format!("{key}: {row:?}"),
                    ));
                }
            }
            if send.state == Some(State::Finished) {
                let all = send.recipients.count();
                let rows = self.model.messages_of(*send_id).count() as u64;
                if rows != all {
                    broken.push((
                        "each message of a finished send has a row",
                        format!("{send_id}: {rows} of {all}"),
                    ));
                }
            }
        }
        for (key, attempted) in &self.watch.attempted {
            let taken = self.provider.took(*key);
            if taken > 1 && !attempted.was_in_doubt {
                broken.push(("only a message in doubt is taken twice", format!("{key}: {taken} times")));
            }
        }
        if self.plan.is_calm && !self.plan.is_crowded {
            let idled = self
                .watch
                .pacing
                .iter()
                .enumerate()
                .filter_map(|(channel, pacing)| Some((channel, pacing.idled()?)));
            let rule = "while there is work and nothing holds it, 99 % of the rate is used";
            broken.extend(idled.map(|(channel, what)| (rule, format!("channel {channel}: {what}"))));
        }
        broken.extend(self.left_in_process());
        broken
    }

    /// What an idle process still holds.
    fn left_in_process(&self) -> Vec<(&'static str, String)> {
        self.processes().flat_map(|process| self.left_in(process)).collect()
    }

    fn left_in(&self, process: &Process) -> Vec<(&'static str, String)> {
        let mut left = Vec::new();
        let free = process.common.permits.free();
        if free != self.plan.total_in_flight {
            left.push(("all permits are given back", format!("{free} of {}", self.plan.total_in_flight)));
        }
        for (channel, running) in process.channels.iter().enumerate() {
            let wakes = self.watch.wakes[channel];
            let probes = self.watch.probes[channel];
            if wakes > WAKES || probes > PROBES {
                left.push((
                    "a quiet channel is quiet",
                    format!(
                        "channel {channel}, {}, woke {wakes} times in an hour and asked {probes} times",
                        running.shown.status
                    ),
                ));
            }
            if running.machine.is_some() && running.wake.is_none() {
                left.push(("a channel always has a timer", format!("channel {channel}")));
            }
            if !running.turns.is_empty() {
                left.push(("nobody waits in a queue for nothing", format!("channel {channel}")));
            }
        }
        left
    }
}
