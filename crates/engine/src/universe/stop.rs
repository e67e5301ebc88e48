//! A graceful stop: the process starts nothing more, waits for what is under way, and ends.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use super::process::{Process, Running};
use super::world::World;
use crate::channel::machine::{Caller, Input};
use crate::planted::{Fault, is_planted};
use domain::message::{Key, State};

impl World {
    /// An operator stops the process.
    pub(super) fn stop(&mut self) {
        let Some(process) = self.process.as_mut().filter(|process| !process.is_stopping) else { return };
        process.is_stopping = true;
        self.watch.stopping();
        process.common.stopping.store(true, Ordering::Release);
        for channel in 0..self.channels.len() {
            let Some(process) = &mut self.process else { return };
            process.callers += 1;
            let caller = Caller(process.callers);
            self.inform(channel, Input::Stop(caller));
        }
    }

    /// Ends the process once all of its machines have ended.
    pub(super) fn end_if_stopped(&mut self) {
        let Some(process) = self.process.as_ref().filter(|process| has_ended(process)) else { return };
        if self.has_stopped(process) {
            self.watch_stop();
            self.leave_cluster();
        } else if process.ledger.closed {
            // It has lost the lease, and its end is planned.
            return;
        }
        // With nothing left to write, a process does not notice that it lost the lease, and ends all the same.
        self.crash();
    }

    /// Whether a process was stopped and is done, with everything written.
    pub(super) fn has_stopped(&self, process: &Process) -> bool {
        has_ended(process) && self.model.is_held_by(process.epoch)
    }

    /// Checks that a process that stopped gracefully leaves no unknown outcomes.
    fn watch_stop(&mut self) {
        let Some(life) = self.process.as_ref().map(|process| process.life) else { return };
        let owned = self.channels_owned();
        let is_here = |key: &Key| {
            let channel = self.model.send(key.send_id).and_then(|send| self.channel_of(send.channel_id));
            channel.is_none_or(|channel| owned.contains(&channel))
        };
        let attempted = self.watch.attempted_here(life).filter(is_here);
        let attempted: BTreeSet<_> = attempted.map(|key| (key.send_id, key.ordinal)).collect();
        for (send_id, ordinal) in &attempted {
            let row = self.model.message(Key { send_id: *send_id, ordinal: *ordinal });
            if row.is_none_or(|row| row.state == State::Sending) {
                let what = format!("{send_id}.{ordinal}: {row:?}");
                self.watch.break_("a graceful stop leaves nothing in doubt", what);
            }
        }
        let sends: BTreeSet<_> = attempted.into_iter().map(|(send_id, _)| send_id).collect();
        for (send_id, send) in sends.iter().filter_map(|id| Some((id, self.model.send(*id)?))) {
            let mut marked = send.progress.settled..send.progress.high_water;
            let has_no_row =
                |ordinal: &u64| self.model.message(Key { send_id: *send_id, ordinal: *ordinal }).is_none();
            if let Some(ordinal) = marked.find(has_no_row) {
                let what = format!("{send_id}: {ordinal} is marked and has no row, {:?}", send.progress);
                self.watch.break_("a graceful stop leaves nothing in doubt", what);
            }
        }
    }
}

/// Whether a process was stopped and none of its machines goes on, whether they end with the process or because another
/// node takes their channels.
fn has_ended(process: &Process) -> bool {
    let is_awaited = |running: &Running| !running.is_leaving || !is_planted(Fault::LeavingNotAwaited);
    let mut awaited = process.channels.iter().filter(|running| is_awaited(running));
    process.is_stopping && awaited.all(|running| running.machine.is_none())
}
