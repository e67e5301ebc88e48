//! The world around a machine that is driven by hand: no runtime, no store, and no clock: tests pass the time in.

use super::*;
use crate::fair_queue::Turn;
use domain::message::Outcome;
use domain::send::Mark;
use store::ledger::PendingWrites;

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
    /// The requested writes so far, the newest last.
    pub(super) writes: Vec<PendingWrites>,
    /// The requested reads of sends so far.
    pub(super) fetches: Vec<Fetch>,
    /// The requested saves of the channel's state so far.
    pub(super) saves: Vec<SaveConnection>,
    pub(super) replies: Vec<(Caller, Answer)>,
    pub(super) figures: Vec<Figure>,
    /// The turns that the channel waits for to get permits.
    pub(super) turns: Vec<Turn>,
    /// Questions to the ledger that are not answered yet.
    questions: Vec<Question>,
}

impl World {
    /// A world with a channel that has just started, and random numbers from this seed.
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
            own_options: Default::default(),
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

    /// The reads of the store found nothing.
    pub(super) fn store_is_empty(&mut self) {
        for size in [Size::Direct, Size::Bulk] {
            self.feed(Input::Fetched { size, result: Ok(nothing()) });
        }
    }

    /// Passes an input to the machine. Returns a word for each effect.
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

    /// Lets this time pass; the timer fires if it is due.
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

    /// Makes each write durable, until there is nothing more to write.
    pub(super) fn flush(&mut self) {
        while self.written().contains(&"write") {}
    }

    /// The same; the ledger also answers that it has no rows of the messages, and the store holds nothing.
    pub(super) fn settle(&mut self) {
        self.flush();
        for question in std::mem::take(&mut self.questions) {
            self.feed(Input::StatesRead { question, result: Ok(Vec::new()) });
            self.flush();
        }
        self.store_is_empty();
        self.flush();
    }

    /// Lets time pass until a message starts. Returns how long that took.
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
        let mut marks = self.writes.iter().flat_map(|write| &write.marks);
        *marks.rfind(|mark| mark.send_id.as_u128() == id).unwrap()
    }

    /// Whether something waits for what was written last.
    pub(super) fn is_awaited(&self) -> bool {
        let mut lines = self.log.iter().rev();
        lines.find(|line| line.starts_with("write")).unwrap().starts_with("write awaited")
    }
}
