//! The machine of a web session: the only place that decides when the session is opened and ended, the channel's state,
//! and the progress of a pairing.
//!
//! It ends when there is no session to keep: when a person has to act, when the phone is unlinked, or when the engine
//! stops. Anything that must survive is in the store.

mod codes;
mod effect;
mod end_policy;
mod ending;
mod events;
mod input;
mod pairing;
mod passkey;
mod passkey_answer;
mod update;
mod writing;

#[cfg(test)]
mod tests;

use std::mem;
use std::time::{Duration, Instant};

use uuid::Uuid;

pub use self::effect::{Answer, Change, Effect, Effects, Write};
use self::end_policy::Then;
pub use self::end_policy::{RESTRICTED_FOR, restricted_until, waits_for_a_person};
use self::ending::After;
pub use self::events::is_written_by_sender;
pub use self::input::{Command, Input, Saved};
pub use self::pairing::{Pairing, Passkey, Shown, Stage};
use self::passkey::Gate;
pub use self::passkey_answer::{NotExpected, PasskeyAnswer};
pub use self::update::SessionUpdate;
use crate::planted::{Fault, is_planted};
use crate::{Caller, Moment};
use clock::Timestamp;
use domain::channel::{Channel, Connection, Status};
use domain::phone::PhoneNumber;
use domain::web_session::{End, Event};

/// Delay before a failed write is retried.
const WRITE_PAUSE: Duration = Duration::from_secs(1);
/// How often a session is checked while nothing else happens.
const LOOK_INTERVAL: Duration = Duration::from_secs(30);
/// How long a machine that is started for a command waits for that command.
const ASKING: Duration = Duration::from_secs(10);
/// Longer waits are cut to this one: no process runs that long.
const FAR_FUTURE: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// The machine of one web session.
pub struct Machine {
    /// For the log.
    channel: Uuid,
    /// The channel's name when the machine began, for the log.
    name: String,
    phase: Phase,
    /// The progress of the pairing, as shown.
    pairing: Pairing,
    /// The stored state, as last known.
    connection: Connection,
    /// The state to write next.
    next_connection: Option<Connection>,
    /// The number of the phone, and when it was linked.
    next_number: Option<(PhoneNumber, Timestamp)>,
    /// The connected, restricted state: kept while the session is disconnected for other reasons.
    restriction: Option<Connection>,
    /// A phone is linked, or was when the session began.
    is_linked: bool,
    /// When a phone was linked, if one is.
    linked_at: Option<Timestamp>,
    /// A person wants to link a phone.
    is_wanted: bool,
    /// A pairing code is wanted for this number and not requested yet.
    code_wanted: Option<PhoneNumber>,
    /// A pairing code for this number was requested, and may still be valid.
    code_for: Option<PhoneNumber>,
    /// The passkey gate of the present session.
    gate: Gate,
    /// The number of failed sessions in a row.
    failures: u32,
    /// The write under way.
    writing: Option<Write>,
    /// When the last write is retried, which failed and was logged.
    write_again_at: Option<Instant>,
    /// The last requested time to wake the machine.
    wakes_at: Option<Instant>,
}

/// The phase of a session.
enum Phase {
    /// There is no session. One is opened at `until`, or earlier on command if the wait `may_be_cut`; with `asks`, only
    /// on command.
    Waiting { until: Instant, may_be_cut: bool, asks: bool },
    /// The session is being opened.
    Opening,
    /// The session is open.
    Open { asks_code: bool, look_at: Instant },
    /// The session was told to end. Its remaining events are read, once it has stopped only until `until`.
    Ending { after: After, until: Option<Instant> },
    /// The session is over, and the channel's new state is written, with retries.
    Settling { then: Then },
    /// The session is over, and its keys are deleted, with retries.
    Wiping { to: Connection, done: Option<Caller>, again_at: Option<Instant> },
    /// The session is over, and writing a state that is not stored yet is tried once more.
    Leaving,
    /// The machine has not started, or has ended.
    Over,
}

impl Machine {
    /// The machine of this channel, with a linked phone or without; `shown` is the progress of its pairing.
    pub fn new(channel: &Channel, is_linked: bool, shown: Pairing) -> Self {
        Self {
            channel: channel.id,
            name: channel.name.clone(),
            phase: Phase::Over,
            pairing: shown,
            restriction: end_policy::restricted_until(&channel.connection)
                .map(|_| Connection { status: Status::Connected, ..channel.connection.clone() }),
            connection: channel.connection.clone(),
            next_connection: None,
            next_number: None,
            is_linked,
            linked_at: channel.linked_at,
            is_wanted: false,
            code_wanted: None,
            code_for: None,
            gate: Gate::default(),
            failures: 0,
            writing: None,
            write_again_at: None,
            wakes_at: None,
        }
    }

    /// Whether the machine takes a command now.
    pub const fn hears_commands(&self) -> bool {
        match self.phase {
            Phase::Waiting { .. } | Phase::Open { .. } | Phase::Settling { .. } | Phase::Wiping { .. } => {
                true
            }
            Phase::Opening | Phase::Ending { .. } | Phase::Leaving | Phase::Over => false,
        }
    }

    /// Handles one input, and adds its effects to `effects`.
    pub fn handle(&mut self, input: Input, at: Moment, effects: &mut Effects) {
        match input {
            Input::Started { turn } => self.start(turn, at, effects),
            Input::Timer => self.woken(at, effects),
            Input::Command(command) => self.command(command, at, effects),
            Input::Event(event) => self.event(event, at, effects),
            Input::Silence => self.silence(at, effects),
            Input::Opened(result) => self.opened(result, at, effects),
            Input::Stopped => self.stopped(at),
            Input::CodeAnswered(answer) => self.code_answered(answer, at, effects),
            Input::PasskeyAnswered(answer) => self.passkey_answered(answer, effects),
            Input::Looked { has_given_up } => {
                if has_given_up && self.is_open() {
                    let sentence = "its keys could not be written".to_owned();
                    self.stop(After::Ended(End::Failed { sentence }), effects);
                }
            }
            Input::Written(result) => self.written(result, at, effects),
            Input::Wiped(result) => self.wiped(result, at, effects),
        }
        self.ask_session(effects);
        self.set_timer(effects);
    }

    fn start(&mut self, turn: Option<Duration>, at: Moment, effects: &mut Effects) {
        match turn {
            Some(turn) => self.wait(Then::OpenNotBefore(turn), at, effects),
            None => {
                self.phase = Phase::Waiting { until: later(at, ASKING), may_be_cut: true, asks: true };
            }
        }
    }

    const fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open { .. })
    }

    /// Waits until a session is opened, or ends the machine when none will be.
    fn wait(&mut self, then: Then, at: Moment, effects: &mut Effects) {
        let (wait, may_be_cut) = match then {
            Then::Close => return self.end(effects),
            Then::OpenAfter(wait) => (wait, true),
            Then::OpenNotBefore(wait) => (wait, false),
        };
        self.phase = Phase::Waiting { until: later(at, wait), may_be_cut, asks: false };
    }

    fn open(&mut self, effects: &mut Effects) {
        self.phase = Phase::Opening;
        effects.push(Effect::Open);
    }

    fn opened(&mut self, result: Result<(), String>, at: Moment, effects: &mut Effects) {
        if !matches!(self.phase, Phase::Opening) {
            return;
        }
        match result {
            Ok(()) => {
                self.gate = Gate::default();
                self.phase = Phase::Open { asks_code: false, look_at: at.monotonic + LOOK_INTERVAL };
                effects.push(Effect::Look);
            }
            Err(sentence) => self.ended(&End::Failed { sentence }, at, effects),
        }
    }

    fn command(&mut self, command: Command, at: Moment, effects: &mut Effects) {
        if let Phase::Wiping { .. } = self.phase {
            // Commands that arrive during this are refused.
            return match command {
                Command::Stop => self.end(effects),
                Command::Pair(_, caller) | Command::Passkey(_, caller) | Command::Unlink(caller) => {
                    effects.push(Effect::Reply(caller, Answer::TurnedAway));
                }
            };
        }
        match command {
            Command::Pair(number, caller) => {
                self.want(number, effects);
                effects.push(Effect::Reply(caller, Answer::Done));
                let is_open = self.is_open() && is_planted(Fault::SessionOpenedTwice);
                if is_open || matches!(self.phase, Phase::Waiting { may_be_cut: true, .. }) {
                    self.open(effects);
                }
            }
            Command::Passkey(answer, caller) => {
                let stage = self.pairing.stage;
                let taken =
                    if self.is_open() { self.take_passkey(answer) } else { Err(NotExpected::Stage(stage)) };
                let answer = taken.map_or_else(Answer::NotExpected, |()| Answer::Done);
                effects.push(Effect::Reply(caller, answer));
            }
            Command::Unlink(caller) if self.is_open() => self.stop(After::Unlinked(Some(caller)), effects),
            Command::Unlink(caller) => self.unlinked(Some(caller), at, effects),
            Command::Stop if self.is_open() => self.stop(After::Left, effects),
            Command::Stop => self.forget(Then::Close, at, effects),
        }
    }

    fn event(&mut self, event: Event, at: Moment, effects: &mut Effects) {
        match (&self.phase, event) {
            (Phase::Open { .. }, Event::Ended(end)) => self.ended(&end, at, effects),
            // The driver shows codes only when the records have no device that a phone accepted.
            (Phase::Open { .. }, Event::Qr { .. }) if !self.is_wanted => {
                self.stop(After::UnexpectedCode, effects);
            }
            // The code no longer counts once the phone has used it.
            (Phase::Open { .. }, Event::Qr { .. }) if self.is_at_passkey() => {}
            (Phase::Open { .. }, event) => self.hear(event, at, effects),
            (Phase::Ending { .. }, Event::Ended(_)) => self.over(at, effects),
            // Nobody will use the code.
            (Phase::Ending { .. }, Event::Qr { .. }) => {}
            (Phase::Ending { .. }, event) => self.hear(event, at, effects),
            // The session is over.
            _ => {}
        }
    }

    fn silence(&mut self, at: Moment, effects: &mut Effects) {
        match self.phase {
            Phase::Open { .. } => {
                self.ended(&End::Failed { sentence: "it broke down".to_owned() }, at, effects);
            }
            Phase::Ending { .. } => self.over(at, effects),
            _ => {}
        }
    }

    fn woken(&mut self, at: Moment, effects: &mut Effects) {
        self.wakes_at = None;
        let is_due = |moment: Option<Instant>| moment.is_some_and(|moment| moment <= at.monotonic);
        match &mut self.phase {
            Phase::Waiting { until, asks, .. } if is_due(Some(*until)) => {
                if *asks && !self.is_wanted {
                    self.end(effects);
                } else {
                    self.open(effects);
                }
            }
            Phase::Open { look_at, .. } => {
                if is_due(Some(*look_at)) {
                    *look_at = at.monotonic + LOOK_INTERVAL;
                    effects.push(Effect::Look);
                }
                if is_due(self.write_again_at) {
                    self.write(effects);
                }
                if is_due(self.gate.until) {
                    self.not_passed(End::PasskeyTimedOut, effects);
                }
            }
            Phase::Ending { until, .. } if is_due(*until) => {
                tracing::warn!(channel.id = %self.channel, channel.name = %self.name, "the web session's last events were not read in time");
                self.over(at, effects);
            }
            Phase::Settling { .. } if is_due(self.write_again_at) => self.write(effects),
            Phase::Wiping { to, again_at, .. } if is_due(*again_at) => {
                *again_at = None;
                effects.push(Effect::Wipe(to.clone()));
            }
            _ => {}
        }
    }

    /// Passes waiting requests to the session.
    fn ask_session(&mut self, effects: &mut Effects) {
        let Phase::Open { asks_code, .. } = &mut self.phase else { return };
        if !*asks_code && let Some(number) = self.code_wanted.take() {
            *asks_code = true;
            effects.push(Effect::AskCode(number));
        }
        if let Some(answer) = self.gate.wanted.take() {
            effects.push(Effect::AnswerPasskey(answer));
        }
    }

    /// Ends the machine.
    fn end(&mut self, effects: &mut Effects) {
        self.phase = Phase::Over;
        effects.push(Effect::End);
    }

    /// The only place that computes when the machine has to be woken.
    fn set_timer(&mut self, effects: &mut Effects) {
        let next = match &self.phase {
            Phase::Waiting { until, .. } => Some(*until),
            Phase::Open { look_at, .. } => {
                let moments = [Some(*look_at), self.write_again_at, self.gate.until];
                moments.into_iter().flatten().min()
            }
            Phase::Ending { until, .. } => *until,
            Phase::Settling { .. } => self.write_again_at,
            Phase::Wiping { again_at, .. } => *again_at,
            Phase::Opening | Phase::Leaving | Phase::Over => None,
        };
        if mem::replace(&mut self.wakes_at, next) != next
            && let Some(next) = next
        {
            effects.push(Effect::WakeAt(next));
        }
    }

    /// Changes the shown progress of the pairing.
    fn show(&mut self, effects: &mut Effects, change: impl FnOnce(&mut Pairing)) {
        change(&mut self.pairing);
        effects.push(Effect::Show(Box::new(self.pairing.clone())));
    }
}

/// The time after this wait.
fn later(at: Moment, wait: Duration) -> Instant {
    at.monotonic.checked_add(wait).unwrap_or(at.monotonic + FAR_FUTURE)
}
