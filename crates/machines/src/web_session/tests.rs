//! A session's machine, driven by hand.

mod codes;
mod gate;
mod pairing;
mod settling;
mod timing;
mod writing;

use std::collections::VecDeque;

use super::*;
use crate::web_session::pairing::Stage;
use domain::channel::{Kind, Reason};
use domain::secret::Secret;
use domain::web_session::{Ack, AckState, Ban, MessageId, RESTRICTED};

const WALL: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// The machine, and the effects that it asked for, in words.
struct World {
    machine: Machine,
    now: Moment,
    effects: Effects,
    done: VecDeque<String>,
    writes: Vec<Write>,
    shown: Pairing,
    wakes_at: Option<Instant>,
    asked: u64,
}

fn channel(status: Status, linked_at: Option<Timestamp>) -> Channel {
    Channel {
        id: Uuid::nil(),
        company_id: Uuid::nil(),
        kind: Kind::WebSession,
        name: String::new(),
        phone_number: None,
        phone_number_id: None,
        waba_id: None,
        tier: String::new(),
        own_options: Default::default(),
        connection: Connection { status, reason: None, since: WALL },
        trial: None,
        quality_rating: None,
        level: None,
        messaging_limit: None,
        linked_at,
        revision: 0,
        created_at: WALL,
        updated_at: WALL,
    }
}

fn number(last: u64) -> PhoneNumber {
    PhoneNumber::from_u64(5_511_900_000_000 + last).unwrap()
}

fn secret(text: &str) -> Secret {
    Secret::new(text.to_owned())
}

fn qr() -> Event {
    Event::Qr { payload: secret("qr"), valid_for: Duration::from_secs(60) }
}

fn ack(state: AckState) -> Event {
    Event::Ack(Ack { id: MessageId::generate(), state, at: WALL, from: None })
}

impl World {
    /// Of a channel whose phone is linked.
    fn linked() -> Self {
        Self::new(&channel(Status::Connecting, Some(WALL)), true, Some(Duration::ZERO))
    }

    /// Of a channel that never had a phone.
    fn unlinked() -> Self {
        Self::new(&channel(Status::Pairing, None), false, Some(Duration::ZERO))
    }

    fn new(channel: &Channel, is_linked: bool, turn: Option<Duration>) -> Self {
        let shown = Pairing { stage: Stage::Starting, ..Pairing::default() };
        let mut world = Self {
            machine: Machine::new(channel, is_linked, shown.clone()),
            now: Moment { monotonic: Instant::now(), wall: WALL },
            effects: Effects::default(),
            done: VecDeque::new(),
            writes: Vec::new(),
            shown,
            wakes_at: None,
            asked: 0,
        };
        world.input(Input::Started { turn });
        world
    }

    fn input(&mut self, input: Input) {
        self.machine.handle(input, self.now, &mut self.effects);
        for effect in self.effects.drain() {
            let word = match effect {
                Effect::Open => "open".to_owned(),
                Effect::Stop { unlinks: true } => "unlink".to_owned(),
                Effect::Stop { unlinks: false } => "stop".to_owned(),
                Effect::Forget => "forget".to_owned(),
                Effect::AskCode(number) => format!("ask a code for {number}"),
                Effect::AnswerPasskey(_) => "answer".to_owned(),
                Effect::Look => "look".to_owned(),
                Effect::Write(write) => {
                    let to = write.connection.as_ref().map(|change| word(&change.to));
                    self.writes.push(*write);
                    format!("write {}", to.unwrap_or_default())
                }
                Effect::Wipe(to) => format!("wipe {}", word(&to)),
                Effect::Hear(_) => "hear".to_owned(),
                Effect::Tell(_) => "tell".to_owned(),
                Effect::Show(pairing) => {
                    self.shown = *pairing;
                    continue;
                }
                Effect::Reply(Caller(caller), answer) => format!("{caller}: {answer:?}"),
                Effect::WakeAt(at) => {
                    self.wakes_at = Some(at);
                    continue;
                }
                Effect::End => "end".to_owned(),
            };
            self.done.push_back(word);
        }
    }

    /// The effects since the last call.
    fn done(&mut self) -> Vec<String> {
        std::mem::take(&mut self.done).into()
    }

    fn caller(&mut self) -> Caller {
        self.asked += 1;
        Caller(self.asked)
    }

    fn command(&mut self, command: impl FnOnce(Caller) -> Command) {
        assert!(self.machine.hears_commands(), "the machine hears no command now");
        let command = command(self.caller());
        self.input(Input::Command(command));
    }

    fn pair(&mut self, number: Option<PhoneNumber>) {
        self.command(|caller| Command::Pair(number, caller));
    }

    /// Waits until the machine asked to be woken; returns how long that was.
    fn sleep(&mut self) -> Duration {
        let at = self.wakes_at.take().expect("the machine asked to be woken");
        let waited = at.saturating_duration_since(self.now.monotonic);
        self.now.monotonic = at.max(self.now.monotonic);
        self.input(Input::Timer);
        waited
    }

    fn event(&mut self, event: Event) {
        self.input(Input::Event(event));
    }

    fn saved(&mut self) {
        self.input(Input::Written(Ok(Saved::Done)));
    }

    /// Opens the session that is due.
    fn opens(&mut self) {
        self.sleep();
        assert_eq!(self.done(), ["open"]);
        self.input(Input::Opened(Ok(())));
        assert_eq!(self.done(), ["look"]);
        self.input(Input::Looked { has_given_up: false });
    }

    /// Opens a session that a person wants. Its first requests stay for the test to check.
    fn opens_wanted(&mut self) {
        self.done();
        self.sleep();
        assert_eq!(self.done(), ["open"]);
        self.input(Input::Opened(Ok(())));
        assert_eq!(self.done.pop_front().as_deref(), Some("look"));
        self.input(Input::Looked { has_given_up: false });
    }

    fn connects(&mut self) {
        self.opens();
        self.event(Event::Connected);
        assert_eq!(self.done(), ["write connected"]);
        self.saved();
        assert!(self.done().is_empty());
    }
}

/// A state in a word, or two.
fn word(connection: &Connection) -> String {
    let Connection { status, reason, .. } = connection;
    reason.as_ref().map_or_else(|| status.to_string(), |reason| format!("{status} {}", reason.code))
}

fn failed() -> Event {
    Event::Ended(End::Failed { sentence: "x".to_owned() })
}

#[test]
fn a_session_is_opened_in_its_turn_and_followed() {
    let turn = Duration::from_millis(300);
    let mut world = World::new(&channel(Status::Connecting, Some(WALL)), true, Some(turn));
    world.pair(None);
    assert_eq!(world.done(), ["1: Done"], "nobody jumps the queue");
    assert_eq!(world.sleep(), turn);
    assert_eq!(world.done(), ["open"]);
    assert!(!world.machine.hears_commands());
    world.input(Input::Opened(Ok(())));
    world.event(Event::Connected);
    assert_eq!(world.done(), ["look", "write connected"]);
    world.saved();
    assert_eq!(world.shown.stage, Stage::Linked);
    assert_eq!(world.sleep(), LOOK_INTERVAL);
    assert_eq!(world.done(), ["look"]);
}

#[test]
fn a_machine_that_is_started_for_a_command_opens_a_session_only_on_command() {
    let mut world = World::new(&channel(Status::Disconnected, Some(WALL)), true, None);
    assert_eq!(world.sleep(), ASKING);
    assert_eq!(world.done(), ["end"]);
    let mut world = World::new(&channel(Status::Disconnected, Some(WALL)), true, None);
    world.pair(None);
    assert_eq!(world.done(), ["1: Done", "open"]);
}

#[test]
fn a_failed_session_is_opened_again_after_growing_waits_that_may_be_cut_short() {
    let mut world = World::linked();
    for seconds in [5, 10, 20] {
        world.opens();
        world.event(failed());
        assert_eq!(world.done(), ["write disconnected session_failed"]);
        world.saved();
        assert_eq!(world.done(), ["forget"]);
        let wait = world.wakes_at.unwrap() - world.now.monotonic;
        assert_eq!(wait, Duration::from_secs(seconds));
    }
    world.pair(None);
    assert_eq!(world.done(), ["1: Done", "open"]);
    world.input(Input::Opened(Err("no".to_owned())));
    assert_eq!(world.done(), ["write disconnected session_failed"]);
}

#[test]
fn no_command_cuts_the_wait_for_the_end_of_a_ban_short() {
    let mut world = World::linked();
    world.opens();
    let ban = Ban { until: WALL.plus(Duration::from_secs(3_600)), code: 101, sentence: "x".to_owned() };
    world.event(Event::Ended(End::Banned(ban)));
    world.saved();
    world.done();
    world.pair(None);
    assert_eq!(world.done(), ["1: Done"]);
    assert_eq!(world.sleep(), Duration::from_secs(3_660));
    assert_eq!(world.done(), ["open"]);
}

#[test]
fn an_end_that_needs_a_person_ends_the_machine() {
    let mut world = World::linked();
    world.connects();
    world.event(Event::Ended(End::Replaced));
    assert_eq!(world.done(), ["write disconnected replaced"]);
    world.saved();
    assert_eq!(world.done(), ["forget", "end"]);
}

#[test]
fn a_session_that_breaks_down_or_has_given_up_has_failed() {
    let mut world = World::linked();
    world.connects();
    world.input(Input::Silence);
    assert_eq!(world.done(), ["write disconnected session_failed"]);
    world.saved();
    world.opens_after_forget();
    world.input(Input::Looked { has_given_up: true });
    assert_eq!(world.done(), ["stop"]);
    world.input(Input::Stopped);
    world.event(Event::Ended(End::Stopped));
    assert_eq!(world.done(), ["write disconnected session_failed"]);
}

#[test]
fn the_phone_is_unlinked_and_the_last_events_are_read_before_the_keys_are_deleted() {
    let mut world = World::linked();
    world.connects();
    world.command(Command::Unlink);
    assert_eq!(world.done(), ["unlink"]);
    assert!(!world.machine.hears_commands());
    world.input(Input::Stopped);
    world.event(ack(AckState::Delivered));
    world.event(qr());
    assert_eq!(world.done(), ["hear"], "nobody will use a code");
    world.event(Event::Ended(End::Stopped));
    assert_eq!(world.done(), ["wipe pairing"]);
    world.input(Input::Wiped(Err("away".to_owned())));
    world.pair(None);
    assert_eq!(world.done(), ["2: TurnedAway"]);
    assert_eq!(world.sleep(), WRITE_PAUSE);
    assert_eq!(world.done(), ["wipe pairing"]);
    world.input(Input::Wiped(Ok(())));
    assert_eq!(world.done(), ["1: Done", "end"]);
    assert_eq!(world.shown, Pairing::default());
}

#[test]
fn a_stop_keeps_the_link_and_waits_for_the_last_events_up_to_a_limit() {
    let mut world = World::linked();
    world.connects();
    world.command(|_| Command::Stop);
    world.input(Input::Stopped);
    world.event(ack(AckState::Read));
    assert_eq!(world.done(), ["stop", "hear"]);
    assert_eq!(world.sleep(), ending::LAST_WORDS);
    assert_eq!(world.done(), ["forget", "end"]);
}

#[test]
fn a_stop_while_nothing_is_open_ends_at_once() {
    let mut world = World::linked();
    world.command(|_| Command::Stop);
    assert_eq!(world.done(), ["forget", "end"]);
}

#[test]
fn a_code_that_nobody_wants_ends_the_session() {
    // The process ended in the middle of pairing.
    let mut world = World::unlinked();
    world.opens();
    world.event(qr());
    assert_eq!(world.done(), ["stop"]);
    world.input(Input::Stopped);
    world.input(Input::Silence);
    assert_eq!(world.done(), ["wipe pairing"]);
    // The keys of a linked phone are gone.
    let mut world = World::linked();
    world.opens();
    world.event(qr());
    world.input(Input::Stopped);
    world.event(Event::Ended(End::Stopped));
    assert_eq!(world.done(), ["stop", "write disconnected link_lost"]);
    world.saved();
    assert_eq!(world.done(), ["forget", "end"]);
}

impl World {
    /// The service stops, and the session ends with it.
    fn stops(&mut self) {
        self.command(|_| Command::Stop);
        self.input(Input::Stopped);
        self.done();
        self.event(Event::Ended(End::Stopped));
    }

    fn opens_after_forget(&mut self) {
        assert_eq!(self.done(), ["forget"]);
        self.sleep();
        self.input(Input::Opened(Ok(())));
        assert_eq!(self.done(), ["open", "look"]);
    }
}
