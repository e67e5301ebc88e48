//! The supervisor of a session: it passes events to the engine's machine, one after the other, and carries out its
//! effects.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::super::clock::Clock;
use super::super::dice::Dice;
use super::super::world::{Event as WorldEvent, World};
use super::WebEvent;
use super::actions::{Action, Wish};
use super::keys::Kept;
use crate::machine::Caller;
use crate::web_session::machine::{Answer, Change, Command, Effect, Effects, Input, Machine, Saved, Write};
use crate::web_session::{Pairing, Stage, waits_for_a_person};
use domain::channel::{Connection, Status};
use driver::Event;
use machines::web_session::SessionUpdate;

pub(super) struct Supervisor {
    pub(super) number: u64,
    machine: Machine,
    effects: Effects,
    /// The effects to carry out, one after the other.
    todo: VecDeque<Effect>,
    /// Results that the machine waits for.
    awaited: VecDeque<Input>,
    /// Something is being done that the machine waits for.
    is_busy: bool,
    /// The session's events; `None` when no more will come.
    pub(super) events: VecDeque<Option<Event>>,
    /// Answers of the session to questions.
    pub(super) answers: VecDeque<Input>,
    commands: VecDeque<Command>,
    wakes_at: Option<Duration>,
    pub(super) session: Option<u64>,
    wishes: BTreeMap<Caller, Wish>,
    asked: u64,
}

/// Something that takes a while, and that the machine waits for.
pub(in crate::universe) enum Doing {
    Open,
    Stop { unlinks: bool },
    Write(Box<Write>),
    Wipe(Connection),
}

impl Supervisor {
    /// The machine's next input.
    fn next(&mut self, now: Duration, dice: &mut Dice) -> Option<Input> {
        if let Some(input) = self.awaited.pop_front() {
            return Some(input);
        }
        let is_due = self.wakes_at.is_some_and(|at| at <= now);
        let hears = self.machine.hears_commands() && !self.commands.is_empty();
        let mut ready = Vec::with_capacity(4);
        ready.extend((!self.events.is_empty()).then_some(0));
        ready.extend((!self.answers.is_empty()).then_some(1));
        ready.extend(hears.then_some(2));
        ready.extend(is_due.then_some(3));
        // Any of the inputs that are ready may come first.
        match dice.pick(&ready)? {
            0 => self.events.pop_front().map(|event| event.map_or(Input::Silence, Input::Event)),
            1 => self.answers.pop_front(),
            2 => self.commands.pop_front().map(Input::Command),
            _ => {
                self.wakes_at = None;
                Some(Input::Timer)
            }
        }
    }
}

impl World {
    /// The process starts: linked sessions are opened, except those that wait for a person.
    pub(in crate::universe) fn resume_sessions(&mut self) {
        for channel in (0..self.channels.len()).filter(|channel| self.is_web(*channel)).collect::<Vec<_>>() {
            if self.web.keys.of(channel).is_none() {
                continue;
            }
            if self.channels[channel].connection.status == Status::Connected {
                self.revision += 1;
                let (revision, wall) = (self.revision, self.clock.wall());
                let record = &mut self.channels[channel];
                record.connection.status = Status::Connecting;
                if record.connection.reason.is_none() {
                    record.connection.since = wall;
                }
                record.revision = revision;
            }
            if !waits_for_a_person(&self.channels[channel].connection) {
                self.keep(channel, false);
            }
        }
    }

    /// Starts the channel's supervisor if there is none. With `asks`, it opens no session before a command asks for it.
    fn keep(&mut self, channel: usize, asks: bool) {
        let is_linked = self.web.keys.of(channel).is_some();
        let record = self.channels[channel].clone();
        let turn = (!asks).then(|| self.dice.time(Duration::ZERO, Duration::from_millis(500)));
        let Some(process) = &mut self.process else { return };
        if process.web.supervisors.contains_key(&channel) {
            return;
        }
        let stage = if is_linked { Stage::Linked } else { Stage::Starting };
        let shown = Pairing { stage, ..Pairing::default() };
        let supervisor = Supervisor {
            number: self.web.number(),
            machine: Machine::new(&record, is_linked, shown),
            effects: Effects::default(),
            todo: VecDeque::new(),
            awaited: VecDeque::from([Input::Started { turn }]),
            is_busy: false,
            events: VecDeque::new(),
            answers: VecDeque::new(),
            commands: VecDeque::new(),
            wakes_at: None,
            session: None,
            wishes: BTreeMap::new(),
            asked: 0,
        };
        process.web.supervisors.insert(channel, supervisor);
        self.run_supervisor(channel);
    }

    /// A person sends a command to a session.
    pub(super) fn command(&mut self, channel: usize, wish: Wish) {
        self.keep(channel, matches!(wish, Wish::Unlink { .. }));
        let supervisors = self.process.as_mut().map(|process| &mut process.web.supervisors);
        let Some(supervisor) = supervisors.and_then(|supervisors| supervisors.get_mut(&channel)) else {
            return;
        };
        supervisor.asked += 1;
        let caller = Caller(supervisor.asked);
        supervisor.commands.push_back(match &wish {
            Wish::Pair { code_for, .. } => Command::Pair(*code_for, caller),
            Wish::Unlink { .. } => Command::Unlink(caller),
            Wish::Passkey(answer) => Command::Passkey(answer.clone(), caller),
        });
        supervisor.wishes.insert(caller, wish);
        self.run_supervisor(channel);
    }

    fn supervisor(&mut self, channel: usize) -> Option<&mut Supervisor> {
        self.process.as_mut()?.web.supervisors.get_mut(&channel)
    }

    /// Passes all waiting inputs to the machine and carries out its effects, until one takes a while.
    pub(super) fn run_supervisor(&mut self, channel: usize) {
        let (now, at) = (self.clock.elapsed(), self.clock.now());
        loop {
            let supervisors = self.process.as_mut().map(|process| &mut process.web.supervisors);
            let Some(supervisor) = supervisors.and_then(|supervisors| supervisors.get_mut(&channel)) else {
                return;
            };
            if supervisor.is_busy {
                return;
            }
            if let Some(effect) = supervisor.todo.pop_front() {
                self.carry_out_for_supervisor(channel, effect);
                continue;
            }
            let Some(input) = supervisor.next(now, &mut self.dice) else { return };
            supervisor.machine.handle(input, at, &mut supervisor.effects);
            supervisor.todo.extend(supervisor.effects.drain());
        }
    }

    /// Carries out, after a while, something that a machine waits for.
    fn do_later(&mut self, channel: usize, longest: u64, doing: Doing) {
        let wait = self.dice.time(Duration::from_millis(1), Duration::from_millis(longest));
        let Some(supervisor) = self.supervisor(channel) else { return };
        supervisor.is_busy = true;
        let supervisor = supervisor.number;
        self.after_for_web(wait, WebEvent::Does { channel, supervisor, doing: Box::new(doing) });
    }

    fn carry_out_for_supervisor(&mut self, channel: usize, effect: Effect) {
        if self.watch.is_traced() {
            let word = word(&effect, &self.clock);
            self.watch.trace(&self.clock, &format!("    the session of channel {channel} wants: {word}"));
        }
        match effect {
            Effect::Open => self.do_later(channel, 400, Doing::Open),
            Effect::Stop { unlinks } => {
                if let Some(supervisor) = self.supervisor(channel) {
                    supervisor.answers.clear();
                }
                self.do_later(channel, if unlinks { 8_000 } else { 1_500 }, Doing::Stop { unlinks });
            }
            Effect::Forget => {
                self.close_handle(channel);
                if let Some(session) =
                    self.supervisor(channel).and_then(|supervisor| supervisor.session.take())
                {
                    self.drop_session(session);
                }
            }
            Effect::AskCode(_) => self.answer_code(channel),
            Effect::AnswerPasskey(answer) => self.answer_gate(channel, &answer),
            Effect::Look => {
                let has_given_up = self.goes_wrong(self.plan.trouble.read_fails / 8);
                if let Some(supervisor) = self.supervisor(channel) {
                    supervisor.awaited.push_back(Input::Looked { has_given_up });
                }
            }
            Effect::Write(write) => self.do_later(channel, 40, Doing::Write(write)),
            Effect::Wipe(to) => {
                self.close_handle(channel);
                if let Some(session) = self.supervisor(channel).and_then(|supervisor| supervisor.session) {
                    self.close_records(session);
                }
                self.do_later(channel, 40, Doing::Wipe(to));
            }
            Effect::Hear(ack) => self.hear_ack(channel, &ack),
            Effect::Tell(SessionUpdate::Inbound(number)) => {
                if !self.goes_wrong(self.plan.trouble.read_fails) {
                    self.web.keys.note_heard(channel, number, self.clock.wall());
                }
            }
            Effect::Tell(SessionUpdate::Ack(ack)) => self.take_in_ack(channel, &ack),
            Effect::Tell(SessionUpdate::Lid(..)) => {}
            Effect::Show(pairing) => self.show_pairing(channel, &pairing),
            Effect::Reply(caller, answer) => self.answer_wish(channel, caller, answer),
            Effect::WakeAt(at) => {
                let at = self.clock.since_beginning(at).max(self.clock.elapsed());
                let Some(process) = &mut self.process else { return };
                let life = Some(process.life);
                if let Some(supervisor) = process.web.supervisors.get_mut(&channel) {
                    supervisor.wakes_at = Some(at);
                }
                let event = Box::new(WebEvent::Wakes { channel });
                self.event_queue.plan(at, WorldEvent::Web { life, event });
            }
            Effect::End => self.end_supervisor(channel),
        }
    }

    /// The machine has ended: callers that still wait are turned away.
    fn end_supervisor(&mut self, channel: usize) {
        let Some(process) = &mut self.process else { return };
        let Some(supervisor) = process.web.supervisors.remove(&channel) else { return };
        if let Some(session) = supervisor.session {
            self.drop_session(session);
        }
        for wish in supervisor.wishes.into_values() {
            self.wish_again(channel, &wish);
        }
    }

    fn answer_wish(&mut self, channel: usize, caller: Caller, answer: Answer) {
        let Some(wish) = self.supervisor(channel).and_then(|supervisor| supervisor.wishes.remove(&caller))
        else {
            let what = format!("channel {channel}, {caller:?}: {answer:?}");
            return self.watch.break_("each caller of a web session is answered once", what);
        };
        match (answer, &wish) {
            (Answer::Done, Wish::Unlink { .. }) => {
                let is_kept = self.web.keys.of(channel).is_some();
                if is_kept || self.channels[channel].linked_at.is_some() {
                    let what = format!("channel {channel}: {:?}", self.web.keys.of(channel));
                    self.watch.break_("after an unlink was answered the keys are gone", what);
                }
                self.figures.unlinked += 1;
                self.watch.unlinked(channel);
            }
            (Answer::TurnedAway, _) => self.wish_again(channel, &wish),
            (Answer::Done | Answer::NotExpected(_), _) => {}
        }
    }

    /// A person who was turned away asks again, a few times.
    fn wish_again(&mut self, channel: usize, wish: &Wish) {
        let again = match *wish {
            Wish::Pair { tries, code_for } if tries > 1 => Wish::Pair { tries: tries - 1, code_for },
            Wish::Unlink { tries } if tries > 1 => Wish::Unlink { tries: tries - 1 },
            Wish::Pair { .. } | Wish::Unlink { .. } | Wish::Passkey(_) => return,
        };
        self.after_for_web(Duration::ZERO, WebEvent::Person { channel, action: Action::Wish(again) });
    }

    /// Carries out an effect that the machine waits for.
    pub(super) fn supervisor_does(&mut self, channel: usize, number: u64, doing: Doing) {
        if self.supervisor(channel).is_none_or(|supervisor| supervisor.number != number) {
            return;
        }
        let fails = self.goes_wrong(self.plan.trouble.read_fails);
        let words = || "the database is away".to_owned();
        let input = match doing {
            Doing::Open if fails => Input::Opened(Err("its records cannot be used".to_owned())),
            Doing::Open => {
                self.open_session(channel);
                Input::Opened(Ok(()))
            }
            Doing::Stop { unlinks } => {
                self.stop_session(channel, unlinks);
                Input::Stopped
            }
            Doing::Write(_) if fails => Input::Written(Err(words())),
            Doing::Write(write) => Input::Written(Ok(self.write_session(channel, *write))),
            Doing::Wipe(_) if fails => Input::Wiped(Err(words())),
            Doing::Wipe(to) => {
                self.web.keys.wipe(channel);
                self.revision += 1;
                let revision = self.revision;
                let record = &mut self.channels[channel];
                (record.connection, record.linked_at, record.revision) = (to, None, revision);
                Input::Wiped(Ok(()))
            }
        };
        self.supervisor_done(channel, number, input);
    }

    fn supervisor_done(&mut self, channel: usize, number: u64, input: Input) {
        if let Some(supervisor) = self.supervisor(channel).filter(|supervisor| supervisor.number == number) {
            supervisor.is_busy = false;
            supervisor.awaited.push_back(input);
            self.run_supervisor(channel);
        }
    }

    /// Writes the number of the phone, and the channel's state unless another change came first.
    fn write_session(&mut self, channel: usize, write: Write) -> Saved {
        let Write { number, connection } = write;
        self.revision += 1;
        let revision = self.revision;
        let record = &mut self.channels[channel];
        if let Some((number, at)) = number {
            record.phone_number = Some(format!("+{number}"));
            record.linked_at = Some(at);
            record.revision = revision;
        }
        let Some(Change { from, to }) = connection else { return Saved::Done };
        if record.connection != from {
            return Saved::Overtaken(record.connection.clone());
        }
        record.connection = to;
        record.revision = revision;
        Saved::Done
    }

    /// The device in the channel's records.
    pub(super) fn device(&self, channel: usize) -> Option<u64> {
        match self.web.keys.of(channel)? {
            Kept::Device(device) => Some(device),
            Kept::Begun => None,
        }
    }
}

/// The effect in words, for the trace.
fn word(effect: &Effect, clock: &Clock) -> String {
    match effect {
        Effect::Open => "open".to_owned(),
        Effect::Stop { unlinks } => format!("stop, unlinks {unlinks}"),
        Effect::Forget => "forget".to_owned(),
        Effect::AskCode(_) => "ask a code".to_owned(),
        Effect::AnswerPasskey(_) => "answer the passkey gate".to_owned(),
        Effect::Look => "look".to_owned(),
        Effect::Write(write) => format!("write {write:?}"),
        Effect::Wipe(to) => format!("wipe, {:?}", to.status),
        Effect::Hear(ack) => format!("hear {ack:?}"),
        Effect::Tell(update) => format!("tell {update:?}"),
        Effect::Show(pairing) => format!("show {}", pairing.stage),
        Effect::Reply(caller, answer) => format!("reply to {caller:?}: {answer:?}"),
        Effect::WakeAt(at) => format!("wake at {:?}", clock.since_beginning(*at)),
        Effect::End => "end".to_owned(),
    }
}
