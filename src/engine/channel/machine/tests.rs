//! A machine that is driven by hand: no runtime, no store, and no time but the one it is told.

mod explain;
mod later;
mod unknown;

use std::time::Instant;

use rand::SeedableRng as _;
use rand::rngs::SmallRng;
use uuid::Uuid;

use super::*;
use crate::clock::Timestamp;
use crate::config::Config;
use crate::connector::Reply;
use crate::domain::channel::{Connection, Kind, Level, Status};
use crate::domain::content::Content;
use crate::domain::message::{Failure, Key, State};
use crate::domain::phone::PhoneNumber;
use crate::domain::send::{Recipients, Schedule};
use crate::domain::tier;
use crate::engine::account::AppId;
use crate::engine::ledger::{AcceptedSend, Order, Written};
use crate::store::sends::Size;
use crate::telemetry::Origin;

const SECOND: Duration = Duration::from_secs(1);

/// A machine, what is under way for it, and what it did.
struct World {
    machine: Machine,
    at: Moment,
    rng: SmallRng,
    effects: Effects,
    /// Messages whose answers are awaited.
    attempts: Vec<Attempt>,
    wake_at: Option<Instant>,
    /// A sentence for each effect so far.
    log: Vec<String>,
}

impl World {
    /// With a channel that was just started, by a source of chance with this seed.
    fn new(seed: u64) -> Self {
        Self::with_tier(seed, |_| ())
    }

    /// The same with a tier that was changed.
    fn with_tier(seed: u64, change: impl Fn(&mut Tier)) -> Self {
        Self::with(seed, change, |_| ())
    }

    /// The same with a tier and a channel that were changed.
    fn with(seed: u64, change: impl Fn(&mut Tier), alter: impl Fn(&mut Channel)) -> Self {
        let config = Config::default();
        let common = Common::new(config.engine, config.retry, Duration::from_secs(3_600));
        let mut tiers = tier::parse(tier::BUILT_IN).unwrap();
        tiers.iter_mut().for_each(change);
        let settings = |tier: &Tier| (tier.name.clone(), serde_json::to_string(tier).unwrap());
        common.tiers.replace(tiers.iter().map(settings));
        let wall = Timestamp::from_millis(1_700_000_000_000);
        let mut channel = Channel {
            id: Uuid::from_u128(1),
            company_id: Uuid::from_u128(2),
            kind: Kind::BusinessAccount,
            name: "shop".to_owned(),
            phone_number: None,
            phone_number_id: Some("1".to_owned()),
            waba_id: Some("2".to_owned()),
            tier: "standard".to_owned(),
            connection: Connection { status: Status::Connected, reason: None, since: wall },
            trial: None,
            quality_rating: None,
            level: Some(Level::Standard),
            messaging_limit: None,
            linked_at: None,
            revision: 1,
            created_at: wall,
            updated_at: wall,
        };
        alter(&mut channel);
        let at = Moment { monotonic: Instant::now(), wall };
        let mut rng = SmallRng::seed_from_u64(seed);
        let machine = Machine::new(Arc::new(common), Arc::new(channel), at, &mut rng);
        let mut world = Self {
            machine,
            at,
            rng,
            effects: Effects::default(),
            attempts: Vec::new(),
            wake_at: None,
            log: Vec::new(),
        };
        world.feed(Input::Started);
        world
    }

    /// The same with a connector, and a store that holds nothing.
    fn ready(seed: u64) -> Self {
        Self::new(seed).begun()
    }

    /// With a connector, and a store that holds nothing.
    fn begun(self) -> Self {
        let mut world = self;
        world.feed(Input::Connected { generation: 1, result: Ok(Connected { app: AppId::of(b"app") }) });
        for size in [Size::Direct, Size::Bulk] {
            world.feed(Input::Fetched { size, result: Ok(nothing()) });
        }
        // The first permit is earned.
        world.pass(SECOND);
        world
    }

    /// What happens to the machine, and a word for each effect.
    fn feed(&mut self, input: Input) -> Vec<&'static str> {
        self.machine.handle(input, self.at, &mut self.rng, &mut self.effects);
        let effects: Vec<_> = self.effects.drain().collect();
        effects.into_iter().map(|effect| self.take(effect)).collect()
    }

    fn take(&mut self, effect: Effect) -> &'static str {
        let (word, detail) = match effect {
            Effect::Attempt(attempt) => {
                let detail = format!("{:?}", attempt.ticket);
                self.attempts.push(attempt);
                ("attempt", detail)
            }
            Effect::Write { writes, is_awaited } => {
                let word = if is_awaited { "awaited" } else { "in time" };
                ("write", format!("{word} {:?} {:?}", writes.outcomes, writes.marks))
            }
            Effect::Fetch(fetch) => ("fetch", format!("{:?} {}", fetch.size, fetch.room)),
            Effect::ReadStates { messages, .. } => ("read states", format!("{messages:?}")),
            Effect::WakeAt(at) => {
                self.wake_at = Some(at);
                ("wake", format!("{at:?}"))
            }
            Effect::Reply(caller, answer) => ("reply", format!("{caller:?} {answer:?}")),
            Effect::Note(figure) => ("note", format!("{figure:?}")),
            Effect::Connect { generation } => ("connect", generation.to_string()),
            Effect::Probe { turn, .. } => ("probe", format!("{turn:?}")),
            Effect::SaveConnection(saving) => ("save", format!("{saving:?}")),
            Effect::Publish(connection) => ("publish", format!("{connection:?}")),
            Effect::AwaitPermits(_) => ("await permits", String::new()),
            Effect::End => ("end", String::new()),
            Effect::ReadWaits(_)
            | Effect::ReadRecipients { .. }
            | Effect::ReadWebActivity { .. }
            | Effect::LookUp(_)
            | Effect::SaveNumber(_)
            | Effect::PauseTemplate(_) => ("other", String::new()),
        };
        self.log.push(format!("{word} {detail}"));
        word
    }

    /// So much time passes, and the timer fires if it is due.
    fn pass(&mut self, time: Duration) -> Vec<&'static str> {
        self.at = Moment { monotonic: self.at.monotonic + time, wall: self.at.wall.plus(time) };
        if self.wake_at.take_if(|at| *at <= self.at.monotonic).is_some() {
            return self.feed(Input::Timer);
        }
        Vec::new()
    }

    /// A send to one person is accepted.
    fn accept(&mut self, id: u128) -> Vec<&'static str> {
        self.accept_for(id, id as u64)
    }

    /// The same, for this person.
    fn accept_for(&mut self, id: u128, person: u64) -> Vec<&'static str> {
        let number = PhoneNumber::from_u64(5_511_900_000_000 + person).unwrap();
        self.accept_to(id, Recipients::One(number))
    }

    fn accept_to(&mut self, id: u128, recipients: Recipients) -> Vec<&'static str> {
        let order = Order {
            company_id: Uuid::from_u128(2),
            channel_id: Uuid::from_u128(1),
            content: Content::Text { body: "hi".to_owned() },
            group: None,
            template: None,
            schedule: Schedule::default(),
            sources: Vec::new(),
            claim: None,
            is_awaited: false,
            origin: Origin::default(),
        };
        let send = AcceptedSend { id: Uuid::from_u128(id), order: Arc::new(order), recipients };
        self.feed(Input::Accepted { sends: vec![send], is_late: false })
    }

    fn written(&mut self) -> Vec<&'static str> {
        self.feed(Input::Written(Ok(Written::default())))
    }

    /// How many effects of this word there were so far.
    fn count(&self, word: &str) -> usize {
        self.log.iter().filter(|line| line.starts_with(word)).count()
    }

    /// The provider answers the message that was started last.
    fn answer(&mut self, reply: Reply) -> Vec<&'static str> {
        let Attempt { ticket, generation, started, .. } = self.attempts.pop().unwrap();
        self.feed(Input::Answered(Answered { ticket, generation, reply, started }))
    }
}

fn nothing() -> Fetched {
    Fetched {
        found: Vec::new(),
        broken: Vec::new(),
        all: true,
        next_due: None,
        took: None,
        nobody_counted: std::collections::HashMap::new(),
    }
}

fn accepted() -> Reply {
    Reply::Accepted { id: "wamid.1".to_owned() }
}

fn failure() -> Failure {
    Failure { code: None, sentence: "no".to_owned() }
}

#[test]
fn a_machine_asks_for_a_connector_and_for_what_the_store_holds() {
    let mut world = World::new(1);
    assert_eq!(world.log.len(), 4, "{:?}", world.log);
    assert!(world.wake_at.is_some(), "it looks into the store without any occasion");
    let connected = Input::Connected { generation: 1, result: Ok(Connected { app: AppId::of(b"app") }) };
    assert!(!world.feed(connected).contains(&"attempt"));
    let connected = Input::Connected { generation: 7, result: Err(NotConnected::Failed) };
    assert_eq!(world.feed(connected), [""; 0], "what an earlier connector brings is out of date");
}

#[test]
fn a_message_goes_when_its_mark_is_durable_and_is_over_when_its_outcome_is() {
    let mut world = World::ready(1);
    assert_eq!(world.accept(10), ["write"], "its mark");
    assert_eq!(world.written(), ["attempt"]);
    assert_eq!(world.answer(accepted()), ["note", "note", "write"]);
    let outcome = world.log.last().unwrap();
    assert!(
        outcome.contains("Sent") && outcome.contains("wamid.1") && outcome.contains("Finished"),
        "{outcome}"
    );
    assert_eq!(world.written(), [""; 0], "nothing is left to do");
    assert_eq!(world.machine.explain(world.at).active_sends, 0);
}

#[test]
fn the_same_inputs_have_the_same_effects() {
    let run = |seed| {
        let mut world = World::ready(seed);
        let start = world.at.monotonic;
        for id in 10..40 {
            world.accept(id);
            if id % 3 == 0 {
                world.written();
            }
            while let Some(attempt) = world.attempts.last() {
                let is_lost = attempt.ticket.send_id.as_u128() % 2 == 0;
                world.answer(if is_lost { Reply::NotSent(failure()) } else { accepted() });
            }
            world.pass(SECOND / 2);
        }
        // Instants differ from run to run, and what happens at them does not.
        world.log.retain(|line| !line.starts_with("wake"));
        (world.log, world.wake_at.map(|at| at.saturating_duration_since(start)))
    };
    assert_eq!(run(7), run(7));
    let first_look = |seed| {
        let world = World::new(seed);
        world.wake_at.map(|at| at.saturating_duration_since(world.at.monotonic))
    };
    assert_ne!(first_look(7), first_look(8), "chance spreads the waits");
}

#[test]
fn a_pause_is_kept_however_the_wall_clock_is_set() {
    let mut world = World::ready(1);
    world.accept(10);
    world.written();
    assert!(world.answer(Reply::NotSent(failure())).contains(&"write"));
    world.written();
    world.at.wall = world.at.wall.plus(Duration::from_secs(3_600));
    assert!(!world.feed(Input::ClockWasSet).contains(&"attempt"));
    world.feed(Input::Fetched { size: Size::Direct, result: Ok(nothing()) });
    world.feed(Input::Fetched { size: Size::Bulk, result: Ok(nothing()) });
    world.pass(2 * SECOND);
    world.written();
    assert_eq!(world.attempts.len(), 1, "{:?}", world.log);
}

#[test]
fn what_failed_at_the_store_is_tried_once_more_by_the_one_timer() {
    let mut world = World::new(1);
    let before = world.at.monotonic;
    let failed = Input::Fetched { size: Size::Direct, result: Err(Failed::Temporarily) };
    assert_eq!(world.feed(failed), ["wake"]);
    assert_eq!(world.wake_at, Some(before + SECOND));
    assert_eq!(world.pass(SECOND / 2), [""; 0]);
    assert!(world.pass(SECOND / 2).contains(&"fetch"));
}

#[test]
fn a_released_send_does_not_begin_and_its_caller_is_answered_once_that_is_durable() {
    let mut world = World::ready(1);
    world.accept(10);
    let over = Some(crate::domain::send::State::Canceled);
    let released = Input::Released { send_id: Uuid::from_u128(10), over, caller: Caller(5) };
    assert_eq!(world.feed(released), [""; 0], "its mark is on its way");
    assert_eq!(world.written(), ["write"]);
    assert_eq!(world.written(), ["reply"]);
    assert!(world.attempts.is_empty());
    let unknown = Input::Released { send_id: Uuid::from_u128(11), over: None, caller: Caller(6) };
    assert_eq!(world.feed(unknown), ["reply"], "of one that is not here, nothing starts any more");
    assert!(!world.accept(11).contains(&"write"), "and nothing when it arrives");
}

#[test]
fn a_stop_waits_for_what_is_in_flight_and_starts_nothing() {
    let mut world = World::ready(1);
    world.accept(10);
    world.written();
    assert_eq!(world.feed(Input::Stop(Caller(1))), ["write"], "where its send stands");
    assert_eq!(world.accept(11), [""; 0]);
    assert_eq!(world.answer(accepted()), ["note", "note"]);
    assert_eq!(world.written(), ["write"], "the outcome");
    assert_eq!(world.written(), ["reply", "end"]);
    assert_eq!(world.feed(Input::Look), [""; 0]);
}

#[test]
fn a_lost_lease_ends_it_at_once() {
    let mut world = World::ready(1);
    world.accept(10);
    assert_eq!(world.feed(Input::Written(Err(LeaseLost))), ["end"]);
    assert_eq!(world.pass(Duration::from_secs(3_600)), [""; 0]);
}

#[test]
fn a_receipt_that_came_before_the_answer_was_lost_ends_the_message() {
    let mut world = World::ready(1);
    world.accept(10);
    world.written();
    let key = world.attempts[0].ticket.key();
    let effects = world.answer(Reply::Uncertain(failure()));
    assert!(effects.contains(&"read states"), "{effects:?}");
    world.written();
    let states =
        Input::StatesRead { question: Question::WasHeard, result: Ok(vec![(key, State::Delivered)]) };
    world.feed(states);
    world.written();
    assert_eq!(world.machine.explain(world.at).active_sends, 0, "{:?}", world.log);
    world.pass(Duration::from_secs(3_600));
    assert!(world.attempts.is_empty());
}

#[test]
fn effects_and_machines_are_small() {
    assert!(size_of::<Effect>() <= 192, "{}", size_of::<Effect>());
    assert!(size_of::<Machine>() <= 2_720, "{}", size_of::<Machine>());
}
