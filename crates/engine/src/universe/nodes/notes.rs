//! Messages between nodes: notes in the database, and wake-ups that may get lost.

use std::collections::BTreeMap;
use std::time::Duration;

use uuid::Uuid;

use super::NodeEvent;
use crate::channel::machine::Input;
use crate::machine::Caller;
use crate::universe::world::{Event, World};
use domain::send::State;
use machines::node::Wanted;

/// How long a caller waits for the owner of a channel to act.
const PATIENCE: Duration = Duration::from_secs(3);

/// The notes for owners of channels.
#[derive(Debug, Default)]
pub(super) struct Notes {
    all: BTreeMap<u64, Note>,
    written: u64,
}

#[derive(Debug, Clone, Copy)]
struct Note {
    channel: usize,
    told: Told,
}

#[derive(Debug, Clone, Copy)]
enum Told {
    Look,
    /// The caller waits until `until`.
    Release {
        send_id: Uuid,
        over: Option<State>,
        until: Duration,
    },
}

impl World {
    /// Leaves it to the channel's owner to release a send, if that is another node; `false` when this node has to act.
    /// A channel that runs nowhere needs nothing.
    pub(in crate::universe) fn is_left_to_another(
        &mut self,
        channel: usize,
        send_id: Uuid,
        over: Option<State>,
    ) -> bool {
        if self.is_anothers(channel) {
            self.tell_former_owner(channel, send_id, over);
            let until = self.clock.elapsed() + PATIENCE;
            self.note(channel, Told::Release { send_id, over, until });
            return true;
        }
        let runs_nowhere = self.runs_elsewhere(channel);
        if runs_nowhere {
            // A channel that runs nowhere reads the store when it starts.
            self.watch_stopped(send_id);
        }
        runs_nowhere
    }

    /// Whether another node owns the channel, by the rows.
    pub(in crate::universe) fn is_anothers(&self, channel: usize) -> bool {
        let own = self.node().map(|node| node.id);
        let owner = self.nodes.as_ref().and_then(|nodes| nodes.rows.owner(self.shard_of(channel)));
        owner.is_some_and(|owner| Some(owner) != own)
    }

    /// Tells the channel's machine too, if it still runs here because this process has not noticed that it lost the
    /// channel. Its answer does not count.
    fn tell_former_owner(&mut self, channel: usize, send_id: Uuid, over: Option<State>) {
        if self.runs_elsewhere(channel) {
            return;
        }
        let Some(process) = &mut self.process else { return };
        process.callers += 1;
        let caller = Caller(process.callers);
        self.inform(channel, Input::Released { send_id, over, caller });
    }

    /// Makes a channel read the store again, on whichever node it runs.
    pub(in crate::universe) fn have_looked(&mut self, channel: usize) {
        if self.runs_elsewhere(channel) {
            self.note(channel, Told::Look);
        } else {
            self.inform(channel, Input::Look);
        }
    }

    fn note(&mut self, channel: usize, told: Told) {
        let Some(nodes) = &mut self.nodes else { return };
        let notes = &mut nodes.rows.notes;
        notes.written += 1;
        notes.all.insert(notes.written, Note { channel, told });
        self.wake(channel);
    }

    /// The present node acts on the notes that concern it.
    pub(super) fn read_notes(&mut self, wanted: &mut Vec<Wanted>) {
        let Some(nodes) = &self.nodes else { return };
        let all: Vec<_> = nodes.rows.notes.all.iter().map(|(number, note)| (*number, *note)).collect();
        for (number, Note { channel, told }) in all {
            if !self.owns(channel) {
                wanted.push(self.wanted(channel));
                continue;
            }
            if self.runs_elsewhere(channel) {
                self.note_is_done(number);
                continue;
            }
            match told {
                Told::Look => {
                    self.inform(channel, Input::Look);
                    self.note_is_done(number);
                }
                Told::Release { send_id, over, .. } => self.release_for(number, channel, send_id, over),
            }
        }
    }

    fn release_for(&mut self, number: u64, channel: usize, send_id: Uuid, over: Option<State>) {
        let Some(process) = &mut self.process else { return };
        let Some(node) = &mut process.node else { return };
        if node.acting.values().any(|acted_on| *acted_on == number) {
            return;
        }
        process.callers += 1;
        let caller = Caller(process.callers);
        node.acting.insert(caller, number);
        process.channels[channel].stopping.push((caller, send_id));
        self.inform(channel, Input::Released { send_id, over, caller });
    }

    /// Ends the note that this caller stands for; `false` when it stands for none.
    pub(in crate::universe) fn answer_note(&mut self, caller: Caller) -> bool {
        let number = self.node_mut().and_then(|node| node.acting.remove(&caller));
        number.inspect(|number| self.note_is_done(*number)).is_some()
    }

    /// Removes the note, unless another node owns the channel by now, which the present one may not have noticed.
    fn note_is_done(&mut self, number: u64) {
        let Some(nodes) = &self.nodes else { return };
        let Some(note) = nodes.rows.notes.all.get(&number).copied() else { return };
        let owner = nodes.rows.owner(self.shard_of(note.channel));
        if owner.is_none() || owner != self.node().map(|node| node.id) {
            return;
        }
        if let Some(nodes) = &mut self.nodes {
            nodes.rows.notes.all.remove(&number);
        }
        if let Told::Release { send_id, until, .. } = note.told
            && self.clock.elapsed() <= until
        {
            self.watch_stopped(send_id);
        }
    }

    /// Tells the owner of a channel to look; the wake-up may get lost.
    pub(super) fn wake(&mut self, channel: usize) {
        let (shard, now) = (self.shard_of(channel), self.clock.elapsed());
        let hears = |process: &&super::Process| {
            process.node.as_ref().is_some_and(|node| node.owned.contains(&shard) && node.mute_until <= now)
        };
        let life = self.processes().find(hears).map(|process| process.life);
        let Some(life) = life.filter(|_| !self.is_word_lost()) else { return };
        let wait = Duration::from_micros(self.dice.between(200, 5_000));
        let event = Box::new(NodeEvent::Looks { is_round: false });
        self.after(wait, Event::Node { life: Some(life), event });
    }

    /// Tells a channel about a durable receipt; if the channel runs on another node, that may get lost.
    pub(in crate::universe) fn tell_heard(&mut self, channel: usize, heard: Input) {
        if !self.runs_elsewhere(channel) {
            return self.inform(channel, heard);
        }
        let Some(life) = self.life_that_runs(channel).filter(|_| !self.is_word_lost()) else { return };
        let (wait, input) = (Duration::from_micros(self.dice.between(200, 5_000)), Box::new(heard));
        self.after(wait, Event::Tell { life, channel, input, is_answer: false });
    }
}
