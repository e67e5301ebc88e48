//! The world around a machine that is driven by hand: no runtime, no store, and no time but the one it is told.

use std::collections::BTreeSet;

use super::*;
use crate::config;
use crate::domain::message::{Outcome, Position};
use crate::domain::send::{Mark, Progress, TemplateUse};
use crate::engine::account;
use crate::engine::fair_queue::Turn;
use crate::store::ledger::PendingWrites;
use crate::store::sends::{Unfinished, Waiting, WaitingMessages};
use crate::store::templates::recipients::WrittenTo;

pub(super) const SECOND: Duration = Duration::from_secs(1);
pub(super) const MINUTE: Duration = Duration::from_secs(60);
pub(super) const DAY: Duration = Duration::from_secs(24 * 3_600);

/// A machine, what is under way for it, and what it did.
pub(super) struct World {
    pub(super) machine: Machine,
    pub(super) at: Moment,
    rng: SmallRng,
    effects: Effects,
    /// Messages whose answers are awaited.
    pub(super) attempts: Vec<Attempt>,
    pub(super) wake_at: Option<Instant>,
    /// A sentence for each effect so far.
    pub(super) log: Vec<String>,
    /// What was to be written so far, the newest last.
    pub(super) writes: Vec<PendingWrites>,
    /// Looks into the store so far.
    pub(super) fetches: Vec<Fetch>,
    /// Changes of the channel's state that were to be saved so far.
    pub(super) saves: Vec<SaveConnection>,
    pub(super) replies: Vec<(Caller, Answer)>,
    pub(super) figures: Vec<Figure>,
    /// Where the channel stands in line for permits.
    pub(super) turns: Vec<Turn>,
    /// What the ledger was asked, and was not answered.
    questions: Vec<Question>,
}

impl World {
    /// With a channel that was just started, by a source of chance with this seed.
    pub(super) fn new(seed: u64) -> Self {
        Self::with_tier(seed, |_| ())
    }

    /// The same with a tier that was changed.
    pub(super) fn with_tier(seed: u64, change: impl Fn(&mut Tier)) -> Self {
        Self::with(seed, change, |_| ())
    }

    /// The same with a tier and a channel that were changed.
    pub(super) fn with(seed: u64, change: impl Fn(&mut Tier), alter: impl Fn(&mut Channel)) -> Self {
        Self::configured(seed, change, alter, |_, _| ())
    }

    /// The same with other settings.
    pub(super) fn configured(
        seed: u64,
        change: impl Fn(&mut Tier),
        alter: impl Fn(&mut Channel),
        configure: impl Fn(&mut config::Engine, &mut config::Retry),
    ) -> Self {
        let mut config = Config::default();
        configure(&mut config.engine, &mut config.retry);
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
            writes: Vec::new(),
            fetches: Vec::new(),
            saves: Vec::new(),
            replies: Vec::new(),
            figures: Vec::new(),
            turns: Vec::new(),
            questions: Vec::new(),
        };
        world.feed(Input::Started);
        world
    }

    /// The same with a connector, and a store that holds nothing.
    pub(super) fn ready(seed: u64) -> Self {
        Self::new(seed).begun()
    }

    /// With a connector, and a store that holds nothing.
    pub(super) fn begun(self) -> Self {
        let mut world = self;
        world.connected();
        world.store_is_empty();
        // The first permit is earned.
        world.pass(SECOND);
        world
    }

    /// There is a connector of the present generation.
    pub(super) fn connected(&mut self) -> Vec<&'static str> {
        let generation = self.machine.link.generation();
        self.feed(Input::Connected { generation, result: Ok(Connected { app: AppId::of(b"app") }) })
    }

    /// The looks into the store found nothing.
    pub(super) fn store_is_empty(&mut self) {
        for size in [Size::Direct, Size::Bulk] {
            self.feed(Input::Fetched { size, result: Ok(nothing()) });
        }
    }

    /// What happens to the machine, and a word for each effect.
    pub(super) fn feed(&mut self, input: Input) -> Vec<&'static str> {
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
                let detail = format!("{word} {:?} {:?}", writes.outcomes, writes.marks);
                self.writes.push(*writes);
                ("write", detail)
            }
            Effect::Fetch(fetch) => {
                let detail = format!("{:?} {}", fetch.size, fetch.room);
                self.fetches.push(*fetch);
                ("fetch", detail)
            }
            Effect::ReadStates { messages, question } => {
                self.questions.push(question);
                ("read states", format!("{question:?} {messages:?}"))
            }
            Effect::WakeAt(at) => {
                self.wake_at = Some(at);
                ("wake", format!("{at:?}"))
            }
            Effect::Reply(caller, answer) => {
                let detail = format!("{caller:?} {answer:?}");
                self.replies.push((caller, answer));
                ("reply", detail)
            }
            Effect::Note(figure) => {
                self.figures.push(figure);
                ("note", format!("{figure:?}"))
            }
            Effect::Connect { generation } => ("connect", generation.to_string()),
            Effect::Probe { turn, .. } => ("probe", format!("{turn:?}")),
            Effect::SaveConnection(saving) => {
                let detail = format!("{saving:?}");
                self.saves.push(*saving);
                ("save", detail)
            }
            Effect::Publish(connection) => ("publish", format!("{connection:?}")),
            Effect::AwaitPermits(turn) => {
                self.turns.push(turn);
                ("await permits", String::new())
            }
            Effect::ReadWaits(send_id) => ("read waits", format!("{}", send_id.as_u128())),
            Effect::ReadRecipients { send_id, from } => {
                ("read recipients", format!("{} {from}", send_id.as_u128()))
            }
            Effect::ReadWebActivity { since } => ("read activity", since.to_string()),
            Effect::LookUp(words) => ("look up", format!("{words:?}")),
            Effect::SaveNumber(number) => ("keep number", format!("{number:?}")),
            Effect::PauseTemplate(id) => ("pause template", id.to_string()),
            Effect::End => ("end", String::new()),
        };
        self.log.push(format!("{word} {detail}"));
        word
    }

    /// So much time passes, and the timer fires if it is due.
    pub(super) fn pass(&mut self, time: Duration) -> Vec<&'static str> {
        self.at = Moment { monotonic: self.at.monotonic + time, wall: self.at.wall.plus(time) };
        if self.wake_at.take_if(|at| *at <= self.at.monotonic).is_some() {
            return self.feed(Input::Timer);
        }
        Vec::new()
    }

    /// How long until the timer fires.
    pub(super) fn wakes_in(&self) -> Duration {
        self.wake_at.unwrap().saturating_duration_since(self.at.monotonic)
    }

    /// A send to one person is accepted.
    pub(super) fn accept(&mut self, id: u128) -> Vec<&'static str> {
        self.accept_for(id, id as u64)
    }

    /// The same, for this person.
    pub(super) fn accept_for(&mut self, id: u128, who: u64) -> Vec<&'static str> {
        self.accept_to(id, Recipients::One(person(who)))
    }

    pub(super) fn accept_to(&mut self, id: u128, recipients: Recipients) -> Vec<&'static str> {
        self.accept_order(id, order(), recipients)
    }

    /// A send of this template is accepted, to one person.
    pub(super) fn accept_template(&mut self, id: u128, template: i64) -> Vec<&'static str> {
        let order = Order { template: Some(marketing(template)), ..order() };
        self.accept_order(id, order, Recipients::One(person(id as u64)))
    }

    pub(super) fn accept_order(
        &mut self,
        id: u128,
        order: Order,
        recipients: Recipients,
    ) -> Vec<&'static str> {
        let send = AcceptedSend { id: Uuid::from_u128(id), order: Arc::new(order), recipients };
        self.feed(Input::Accepted { sends: vec![send], is_late: false })
    }

    /// A send to these people is accepted, and they are read.
    pub(super) fn accept_bulk(&mut self, id: u128, order: Order, people: &[u64]) -> Vec<&'static str> {
        self.accept_order(id, order, Recipients::Blocks(people.len() as u64));
        self.read_people(id, 0, people)
    }

    /// The recipients of the send from this ordinal on are read.
    pub(super) fn read_people(&mut self, id: u128, from: u64, people: &[u64]) -> Vec<&'static str> {
        let result = Ok(people.iter().map(|who| person(*who)).collect());
        self.feed(Input::RecipientsRead { send_id: Uuid::from_u128(id), from, result })
    }

    pub(super) fn written(&mut self) -> Vec<&'static str> {
        self.feed(Input::Written(Ok(Written::default())))
    }

    /// All that is to be written is durable, until there is nothing more to write.
    pub(super) fn flush(&mut self) {
        while self.written().contains(&"write") {}
    }

    /// The same, the ledger knows no rows of the messages that it is asked about, and the store holds nothing.
    pub(super) fn settle(&mut self) {
        self.flush();
        for question in std::mem::take(&mut self.questions) {
            self.feed(Input::StatesRead { question, result: Ok(Vec::new()) });
            self.flush();
        }
        self.store_is_empty();
        self.flush();
    }

    /// Time passes until a message starts. How long that took.
    pub(super) fn until_attempt(&mut self) -> Duration {
        let begun = self.at.monotonic;
        for _ in 0..1_000 {
            self.settle();
            if !self.attempts.is_empty() {
                return self.at.monotonic - begun;
            }
            self.pass(self.wakes_in());
        }
        panic!("nothing started: {:?}", self.log);
    }

    /// How many effects of this word there were so far.
    pub(super) fn count(&self, word: &str) -> usize {
        self.log.iter().filter(|line| line.starts_with(word)).count()
    }

    /// The sends whose messages are under way.
    pub(super) fn under_way(&self) -> Vec<u128> {
        self.attempts.iter().map(|attempt| attempt.ticket.send_id.as_u128()).collect()
    }

    /// The provider answers the message that was started last.
    pub(super) fn answer(&mut self, reply: Reply) -> Vec<&'static str> {
        let Attempt { ticket, generation, started, .. } = self.attempts.pop().unwrap();
        self.feed(Input::Answered(Answered { ticket, generation, reply, started }))
    }

    /// The provider answers the message that was started first.
    pub(super) fn answer_first(&mut self, reply: Reply) -> Vec<&'static str> {
        self.attempts.rotate_left(1);
        self.answer(reply)
    }

    /// The outcomes that were written last.
    pub(super) fn outcomes(&self) -> Vec<(u128, Outcome)> {
        let write = self.writes.last().unwrap();
        write.outcomes.iter().map(|of| (of.send_id.as_u128(), of.outcome.clone())).collect()
    }

    /// The one outcome that was written last.
    pub(super) fn outcome(&self) -> Outcome {
        let mut outcomes = self.outcomes();
        assert_eq!(outcomes.len(), 1, "{outcomes:?}");
        outcomes.remove(0).1
    }

    /// The mark of the send that was written last.
    pub(super) fn mark(&self, id: u128) -> Mark {
        let marks = self.writes.iter().flat_map(|write| &write.marks);
        *marks.filter(|mark| mark.send_id.as_u128() == id).last().unwrap()
    }

    /// Whether something waits for what was written last.
    pub(super) fn is_awaited(&self) -> bool {
        let mut lines = self.log.iter().rev();
        lines.find(|line| line.starts_with("write")).unwrap().starts_with("write awaited")
    }

    /// A send to one person as the store has it; no message of it was attempted.
    pub(super) fn stored(&self, id: u128) -> Restoring {
        let order = order();
        let send = Unfinished {
            id: Uuid::from_u128(id),
            company_id: order.company_id,
            content: serde_json::to_string(&order.stored()).unwrap(),
            recipients: Recipients::One(person(id as u64)),
            progress: Progress::default(),
            template: None,
            expires_at: None,
        };
        let waiting = WaitingMessages::default();
        let (kind, wall) = (self.machine.channel().kind, self.at.wall);
        Restoring { kind, send, waiting, recorded: BTreeSet::new(), unknown: Vec::new(), wall }
    }

    /// A send to one person whose message waits in the store in this state, until `due`.
    pub(super) fn waiting(&self, id: u128, state: State, due: Timestamp) -> Restoring {
        let mut stored = self.stored(id);
        stored.send.progress = Progress { high_water: 1, settled: 1 };
        stored.waiting.soon = vec![waiting(0, id as u64, state, due)];
        stored
    }

    /// A look into the store found these, and there is no more.
    pub(super) fn found(&mut self, size: Size, stored: Vec<Restoring>) -> Vec<&'static str> {
        let found = stored.into_iter().map(|stored| Found::new(stored).unwrap()).collect();
        self.feed(Input::Fetched { size, result: Ok(Fetched { found, ..nothing() }) })
    }

    /// The account has read whom it wrote to: these people, an hour ago.
    pub(super) fn account_knows(&mut self, people: &[u64]) -> Vec<&'static str> {
        let (common, at) = (Arc::clone(&self.machine.common), self.at);
        let spans = common.accounts.take_effects().into_iter().filter_map(|(_, effect)| match effect {
            account::Effect::ReadPeople { span } => Some(span),
            _ => None,
        });
        let span = spans.last().unwrap();
        let hour_ago = at.wall.minus(60 * MINUTE);
        let written_to = |who: &u64| WrittenTo { recipient: person(*who), at: hour_ago, is_certain: true };
        let people = people.iter().map(written_to).collect();
        common.accounts.feed("2", account::Input::PeopleFound(people), at);
        common.accounts.feed("2", account::Input::PeopleRead { span, result: Ok(()) }, at);
        self.hear_account()
    }

    /// The channel is told what its account has for it.
    pub(super) fn hear_account(&mut self) -> Vec<&'static str> {
        let common = Arc::clone(&self.machine.common);
        let mut words = Vec::new();
        for (_, effect) in common.accounts.take_effects() {
            if let account::Effect::Tell { channel, news } = effect
                && channel == self.machine.channel().id
            {
                words.extend(self.feed(Input::Account(news)));
            }
        }
        words
    }
}

/// This person's number.
pub(super) fn person(who: u64) -> PhoneNumber {
    PhoneNumber::from_u64(5_511_900_000_000 + who).unwrap()
}

/// A request for a text that may go at once.
pub(super) fn order() -> Order {
    Order {
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
    }
}

/// The marketing template of this id.
pub(super) const fn marketing(id: i64) -> TemplateUse {
    TemplateUse { id, is_marketing: true }
}

/// A message that waits in the store in this state, until `due`.
pub(super) fn waiting(ordinal: u64, who: u64, state: State, due: Timestamp) -> Waiting {
    let position = Position { ordinal, recipient: Some(person(who)) };
    Waiting { position, state, attempts: 1, retry_at: due, taken_at: None }
}

pub(super) fn nothing() -> Fetched {
    Fetched {
        found: Vec::new(),
        broken: Vec::new(),
        all: true,
        next_due: None,
        took: None,
        nobody_counted: std::collections::HashMap::new(),
    }
}

pub(super) fn accepted() -> Reply {
    Reply::Accepted { id: "wamid.1".to_owned() }
}

pub(super) fn failure() -> Failure {
    Failure { code: None, sentence: "no".to_owned() }
}

/// The provider refuses, and does not say for how long.
pub(super) fn refused(disposition: Disposition) -> Reply {
    Reply::Refused { disposition, failure: failure(), retry_after: None }
}

/// The provider refuses, and says for how long.
pub(super) fn refused_for(disposition: Disposition, wait: Duration) -> Reply {
    Reply::Refused { disposition, failure: failure(), retry_after: Some(wait) }
}
