//! The ledger of the process: the engine's own machine, and the callers that wait for its answers.
//!
//! The world carries out the machine's effects: its commits go to the [database](super::commits), and its answers to
//! the [callers](super::answers).

use std::collections::BTreeMap;
use std::time::Duration;

use uuid::Uuid;

use super::answers::Asked;
use super::world::{Event, World};
use crate::channel::machine::Input as ToChannel;
use crate::ledger::machine::{Effect, Effects, Figure, Input, Machine};
use crate::ledger::{Arrived, Condition, Hear};
use crate::machine::Caller;
use store::ledger::{PendingWrites, Receipt};

/// When trouble is over, each caller is answered within this.
const ANSWERED: Duration = Duration::from_secs(60);

/// Something that happens to the ledger of a process.
pub(super) enum LedgerEvent {
    /// Requests that were just arriving are here.
    Gathered,
    /// The database answers the commit under way.
    CommitReports,
    /// The database settles which of these sends are there.
    Settles(Vec<Uuid>),
    /// The timer fires.
    Timer(u64),
    /// A client that writes its audience in parts goes on.
    GoesOn(Box<Asked>),
}

pub(super) struct Ledger {
    machine: Machine,
    /// Empty between inputs.
    effects: Effects,
    /// The waiting callers, with the times of their requests.
    callers: BTreeMap<Caller, (Duration, Asked)>,
    asked: u64,
    /// When the timer fires, and which one it is.
    wake: Option<Duration>,
    timer: u64,
    /// What is under way for the machine: gathering, a commit, settling.
    pub(super) under_way: usize,
    /// The commit under way.
    pub(super) commit: Option<u64>,
    /// Another process took over.
    pub(super) closed: bool,
    capacity: usize,
    /// The number of channels with a record under way.
    channels: usize,
}

impl Ledger {
    /// A ledger with an empty batch, for this many channels; `capacity` is the most sends that wait at once.
    pub(super) fn new(capacity: usize, channels: usize) -> Self {
        Self {
            machine: Machine::new(capacity),
            effects: Effects::default(),
            callers: BTreeMap::new(),
            asked: 0,
            wake: None,
            timer: 0,
            under_way: 0,
            commit: None,
            closed: false,
            capacity,
            channels,
        }
    }

    /// Whether nobody waits for it and it does nothing.
    pub(super) fn is_idle(&self) -> bool {
        self.callers.is_empty() && self.under_way == 0 && self.wake.is_none()
    }

    /// Adds a caller.
    fn add(&mut self, asked: Asked, now: Duration) -> Caller {
        self.asked += 1;
        let caller = Caller(self.asked);
        self.callers.insert(caller, (now, asked));
        caller
    }

    /// Takes out a caller.
    pub(super) fn take(&mut self, caller: Caller) -> Option<Asked> {
        self.callers.remove(&caller).map(|(_, asked)| asked)
    }

    /// All callers, when the process is gone.
    pub(super) fn into_callers(self) -> impl Iterator<Item = Asked> {
        self.callers.into_values().map(|(_, asked)| asked)
    }

    /// Describes the batch if it has more sends and receipts than the capacity allows, or if more records wait than
    /// there are channels.
    fn exceeds(&self, batch: &PendingWrites) -> Option<String> {
        let (sends, receipts) = (batch.sends.len(), batch.receipts.len());
        let records = self.callers.values().filter(|(_, asked)| matches!(asked, Asked::Record(_))).count();
        let is_full = sends + receipts > self.capacity || records > self.channels;
        is_full
            .then(|| format!("{sends} sends and {receipts} receipts of {}, {records} records", self.capacity))
    }
}

impl World {
    /// Asks the ledger something; the answer goes to the caller that `asked` names.
    pub(super) fn ask_ledger(&mut self, asked: Asked, input: impl FnOnce(Caller) -> Input) {
        let now = self.clock.elapsed();
        let Some(process) = &mut self.process else { return };
        let caller = process.ledger.add(asked, now);
        self.tell_ledger(input(caller));
    }

    /// Passes an input to the ledger, and carries out its effects.
    pub(super) fn tell_ledger(&mut self, input: Input) {
        let now = self.clock.now();
        let Some(process) = &mut self.process else { return };
        let ledger = &mut process.ledger;
        let mut effects = std::mem::take(&mut ledger.effects);
        ledger.machine.handle(input, now, &mut effects);
        for effect in effects.drain() {
            self.carry_out_for_ledger(effect);
        }
        let Some(process) = &mut self.process else { return };
        let ledger = &mut process.ledger;
        ledger.effects = effects;
        if !ledger.callers.is_empty() && ledger.under_way == 0 && ledger.wake.is_none() {
            let what = format!("{} callers wait", ledger.callers.len());
            self.watch.break_("a ledger with work left has a timer or something under way", what);
        }
    }

    fn carry_out_for_ledger(&mut self, effect: Effect) {
        if self.watch.is_traced() {
            let word = match &effect {
                Effect::Commit(commit) => format!("commit {}", super::words::batch(&commit.batch)),
                Effect::Settle(sends) => format!("settle {sends:?}"),
                Effect::Reply(caller, answer) => format!("reply to {caller:?}: {answer:?}"),
                Effect::Tell { arrived, .. } => {
                    let ids: Vec<_> = arrived.sends.iter().map(|send| send.id.to_string()).collect();
                    format!("tell of {}", ids.join(", "))
                }
                _ => String::new(),
            };
            if !word.is_empty() {
                self.watch.trace(&self.clock, &format!("    the ledger wants: {word}"));
            }
        }
        match effect {
            Effect::Gather => {
                let wait = Duration::from_micros(self.dice.below(300));
                self.later_for_ledger(wait, LedgerEvent::Gathered);
            }
            Effect::Commit(commit) => {
                let ledger = self.process.as_ref().map(|process| &process.ledger);
                if let Some(what) = ledger.and_then(|ledger| ledger.exceeds(&commit.batch)) {
                    self.watch.break_("the ledger's batches stay bounded", what);
                }
                self.begin_commit(commit);
            }
            Effect::Settle(sends) => self.begin_settling(sends),
            Effect::Tell { channel_id, arrived } => self.tell_arrived(channel_id, arrived),
            Effect::Reply(caller, answer) => self.answer_caller(caller, answer),
            Effect::Show(condition) => self.show_condition(condition),
            Effect::WakeAt(at) => {
                let at = self.clock.since_beginning(at).max(self.clock.elapsed());
                let Some(process) = &mut self.process else { return };
                let (life, ledger) = (process.life, &mut process.ledger);
                ledger.timer += 1;
                ledger.wake = Some(at);
                let event = Box::new(LedgerEvent::Timer(ledger.timer));
                self.event_queue.plan(at, Event::Ledger { life, event });
            }
            Effect::Note(Figure::RefusedRow { .. }) => self.figures.refused_rows += 1,
            Effect::Note(_) | Effect::End => {}
        }
    }

    /// Plans an event that the ledger waits for.
    pub(super) fn later_for_ledger(&mut self, wait: Duration, event: LedgerEvent) {
        let Some(process) = &mut self.process else { return };
        process.ledger.under_way += 1;
        let life = process.life;
        self.after(wait, Event::Ledger { life, event: Box::new(event) });
    }

    /// Something happens to the ledger.
    pub(super) fn ledger_event(&mut self, event: LedgerEvent) {
        let Some(process) = &mut self.process else { return };
        let ledger = &mut process.ledger;
        match event {
            LedgerEvent::Gathered => {
                ledger.under_way -= 1;
                self.tell_ledger(Input::Gathered);
            }
            LedgerEvent::CommitReports => {
                ledger.under_way -= 1;
                self.commit_reports();
            }
            LedgerEvent::Settles(sends) => {
                ledger.under_way -= 1;
                self.settle(sends);
            }
            LedgerEvent::Timer(timer) if timer == ledger.timer => {
                ledger.wake = None;
                self.tell_ledger(Input::Timer);
            }
            LedgerEvent::Timer(_) => {}
            LedgerEvent::GoesOn(asked) => self.go_on_writing(*asked),
        }
    }

    /// A channel passes on its record.
    pub(super) fn record(&mut self, channel: usize, writes: Box<PendingWrites>, is_awaited: bool) {
        self.ask_ledger(Asked::Record(channel), |caller| Input::Record { writes, is_awaited, caller });
    }

    /// The provider sends a receipt, and repeats it until it is accepted.
    pub(super) fn webhook(&mut self, channel: usize, receipt: Receipt) {
        let now = self.clock.elapsed();
        match &self.process {
            Some(process) if process.stands_until <= now => {
                let hear = Hear { receipts: vec![receipt.clone()], ..Hear::default() };
                let asked = Asked::Hear(vec![(channel, receipt)]);
                self.ask_ledger(asked, |caller| Input::Hear { hear, caller });
            }
            Some(_) | None => self.tell_again(vec![(channel, receipt)]),
        }
    }

    /// Tells a channel about sends, and checks that they are durable by then.
    fn tell_arrived(&mut self, channel_id: Uuid, arrived: Arrived) {
        let Arrived { sends, is_late } = arrived;
        let is_there = |send_id| self.model.send(send_id).is_some_and(super::model::SendRow::is_accepted);
        if let Some(early) = sends.iter().find(|send| !is_there(send.id)) {
            let what = early.id.to_string();
            self.watch.break_("a channel hears of a send when that is durable", what);
        }
        if let Some(channel) = self.channel_of(channel_id) {
            if self.runs_elsewhere(channel) {
                self.hint(channel);
            } else {
                self.inform(channel, ToChannel::Accepted { sends, is_late });
            }
        }
    }

    /// Another process took over: nothing more can be written, and this one ends.
    pub(super) fn show_condition(&mut self, condition: Condition) {
        if condition != Condition::Fenced {
            return;
        }
        let end = self.dice.time(Duration::from_millis(1), Duration::from_secs(2));
        let Some(process) = &mut self.process else { return };
        process.ledger.closed = true;
        let life = process.life;
        self.after(end, Event::Ends { life });
    }

    /// Checks that no caller waits for long once trouble is over.
    pub(super) fn watch_callers(&mut self, calm_since: Duration) {
        let now = self.clock.elapsed();
        let waits = |(asked_at, _): &&(Duration, Asked)| calm_since.max(*asked_at) + ANSWERED < now;
        let late = self.processes().flat_map(|process| process.ledger.callers.values()).find(waits);
        let late = late.map(|(asked_at, asked)| format!("{} waits since {asked_at:?}", asked.word()));
        if let Some(what) = late {
            self.watch.break_("no caller of the ledger waits forever once trouble stops", what);
        }
    }
}
