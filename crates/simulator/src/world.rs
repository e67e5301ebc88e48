//! Everything that the simulator's handlers share. Only `server` creates it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};

use super::account::Account;
use super::budget::Budget;
use super::diary::Diary;
use super::directory::Directory;
use super::error::GraphError;
use super::latency::Latency;
use super::log::Log;
use super::media::Library;
use super::options::Options;
use super::outbox::Outbox;
use super::pacing::Pacings;
use super::phone::PhoneNumber;
use super::script::{Script, read_rule};
use super::seed::Seed;
use super::signs::Signs;
use super::throttle::PairThrottle;
use super::timers::Timers;
use super::web_session;
use super::window::Windows;

/// The time of an event that never comes, in milliseconds since the start.
const NEVER: u64 = u64::MAX;

#[derive(Debug)]
pub(super) struct World {
    pub(super) options: Options,
    pub(super) directory: RwLock<Directory>,
    pub(super) log: Log,
    pub(super) script: Script,
    pub(super) outbox: Arc<Outbox>,
    pub(super) timers: Timers,
    pub(super) pacings: Pacings,
    /// Who wrote to which number.
    pub(super) windows: Windows,
    /// The budget of the app's calls, which all numbers share.
    pub(super) app: Budget,
    pub(super) web_sessions: Arc<web_session::Shared>,
    /// What people saw of the numbers besides messages.
    pub(super) signs: Signs,
    /// What people wrote.
    pub(super) diary: Arc<Diary>,
    /// Files that clients uploaded and people sent.
    pub(super) media: Mutex<Library>,
    seed: Seed,
    started: Instant,
    out_until: AtomicU64,
    has_pair_throttle: AtomicBool,
    pairs: Mutex<PairThrottle>,
    latency: RwLock<Latency>,
    /// Answers to sends so far, each with a latency of its own.
    answers: AtomicU64,
}

impl World {
    /// A world as the seed describes it, or a sentence about the seed's fault.
    pub(super) fn new(options: Options, seed: Seed) -> Result<Self, String> {
        let mut directory =
            Directory::new(options.accept_any).with(options.level, options.throttle_on_first_use());
        directory.add(seed.clone())?;
        let receipts = options.receipts.clone();
        let diary = Arc::<Diary>::default();
        let world = Self {
            directory: RwLock::new(directory),
            log: Log::new(options.log_limit, options.body_limit),
            script: Script::default(),
            outbox: Arc::default(),
            timers: Timers::default(),
            pacings: Pacings::default(),
            windows: Windows::default(),
            app: Budget::default(),
            web_sessions: Arc::new(web_session::Shared::new(
                options.web_sessions.clone(),
                Arc::clone(&diary),
            )),
            diary,
            signs: Signs::default(),
            media: Mutex::default(),
            seed,
            started: Instant::now(),
            out_until: AtomicU64::new(0),
            has_pair_throttle: AtomicBool::new(options.pair_throttle),
            pairs: Mutex::default(),
            latency: RwLock::new(options.latency.clone()),
            answers: AtomicU64::new(0),
            options,
        };
        world.begin_failures()?;
        world.open_windows();
        if let Some(receipts) = receipts {
            world.aim(receipts)?;
        }
        Ok(world)
    }

    /// Milliseconds since the start, for counters and throttles.
    pub(super) fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Resets to the seed: accounts, figures, log, script, switches, outstanding receipts, uploaded files and
    /// messages of web sessions. Only the receivers of webhooks stay, and devices stay linked.
    pub(super) fn reset(&self) -> Result<(), String> {
        let mut directory = Directory::new(self.options.accept_any)
            .with(self.options.level, self.options.throttle_on_first_use());
        directory.add(self.seed.clone())?;
        *self.directory.write() = directory;
        self.log.clear();
        self.script.clear();
        self.begin_failures()?;
        self.timers.clear();
        self.pacings.clear();
        self.outbox.clear();
        self.web_sessions.forget_messages();
        self.signs.clear();
        self.media.lock().clear();
        self.diary.clear();
        self.app.calm();
        *self.pairs.lock() = PairThrottle::default();
        self.end_outage();
        self.set_pair_throttle(self.options.pair_throttle);
        self.set_latency(self.options.latency.clone());
        self.open_windows();
        Ok(())
    }

    /// The people whom the seed names wrote now.
    fn open_windows(&self) {
        self.windows.clear();
        self.windows.keep(self.options.service_window);
        let numbers = self.seed.accounts.iter().flat_map(|account| &account.numbers);
        for number in numbers {
            let Some(known) = self.directory.read().number(&number.phone_number_id).cloned() else {
                continue;
            };
            for address in &number.written_by {
                self.windows.open(known.index, address, self.now());
            }
        }
    }

    /// The first checks of every request but a send: for an outage, the token, and the app's budget.
    pub(super) fn admit(&self, token: Option<&str>) -> Result<(), GraphError> {
        self.recognize(token)?;
        if self.app.is_spent(self.now()) { Err(GraphError::over_budget(4)) } else { Ok(()) }
    }

    /// The first checks of a send. The number counts the send before it checks the app's budget.
    pub(super) fn recognize(&self, token: Option<&str>) -> Result<(), GraphError> {
        if self.now() < self.out_until.load(Ordering::Relaxed) {
            return Err(GraphError::new(2));
        }
        self.directory.read().check(token)
    }

    /// The number of this id, for a token that was admitted.
    pub(super) fn number(&self, token: Option<&str>, id: &str) -> Result<Arc<PhoneNumber>, GraphError> {
        let found = self.directory.read().visible_number(token, id);
        found.or_else(|| self.number_on_first_use(id)).ok_or_else(|| GraphError::unknown_object(id))
    }

    /// The account of this id, for a token that was admitted, unless its budget is spent.
    pub(super) fn account(&self, token: Option<&str>, waba_id: &str) -> Result<Arc<Account>, GraphError> {
        let found = self.directory.read().visible_account(token, waba_id);
        let found = found.or_else(|| self.account_on_first_use(waba_id));
        let account = found.ok_or_else(|| GraphError::unknown_object(waba_id))?;
        account.spare(self.now())?;
        Ok(account)
    }

    /// The number of this id, created now if every id is accepted; checks no token.
    pub(super) fn number_on_first_use(&self, id: &str) -> Option<Arc<PhoneNumber>> {
        self.options.accept_any.then(|| self.directory.write().number_on_first_use(id)).flatten()
    }

    /// The account of this id, created now if every id is accepted; checks no token.
    pub(super) fn account_on_first_use(&self, waba_id: &str) -> Option<Arc<Account>> {
        self.options.accept_any.then(|| self.directory.write().account_on_first_use(waba_id)).flatten()
    }

    /// Whether the limit per pair lets this message through; counts it if so.
    pub(super) fn permits_pair(&self, number: &PhoneNumber, recipient: &str) -> bool {
        !self.has_pair_throttle.load(Ordering::Relaxed)
            || self.pairs.lock().permit(number.index, recipient, self.now())
    }

    /// How long the next answer to a send takes.
    pub(super) fn latency(&self) -> Duration {
        self.latency.read().of(self.answers.fetch_add(1, Ordering::Relaxed))
    }

    pub(super) fn set_latency(&self, latency: Latency) {
        *self.latency.write() = latency;
    }

    /// Adds the rules of the options' failures.
    fn begin_failures(&self) -> Result<(), String> {
        let rules = (1..).zip(&self.options.failures).map(|(seed, fail)| read_rule(0, &fail.rule(seed)));
        self.script.add(rules.collect::<Result<_, _>>()?)
    }

    /// Everything is answered with 503 and code 2, for this long or without end.
    pub(super) fn begin_outage(&self, span: Option<Duration>) {
        let until = span.map_or(NEVER, |span| self.until(span));
        self.out_until.store(until, Ordering::Relaxed);
    }

    pub(super) fn end_outage(&self) {
        self.out_until.store(0, Ordering::Relaxed);
    }

    /// The end of a span that begins now.
    pub(super) fn until(&self, span: Duration) -> u64 {
        self.now().saturating_add(u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn set_pair_throttle(&self, is_on: bool) {
        self.has_pair_throttle.store(is_on, Ordering::Relaxed);
    }
}
