//! The world: virtual time, durable state, the process that may crash, and everybody around it.

use std::time::Duration;

use uuid::Uuid;

use super::clock::Clock;
use super::commits::Database;
use super::dice::Dice;
use super::event_queue::EventQueue;
pub(super) use super::events::Event;
use super::mail::Mail;
use super::model::Model;
use super::nodes::Nodes;
use super::plan::Plan;
use super::process::Process;
use super::provider::Provider;
use super::watch::Watch;
use super::web::Web;
use domain::channel::Channel;

/// When trouble is over, everything must be done within this.
const PATIENCE: Duration = Duration::from_secs(30 * 3_600);
/// How often the world checks whether everything is done.
const LOOK: Duration = Duration::from_secs(5);
/// How long a world that is done is watched: it must stay quiet.
const QUIET: Duration = Duration::from_secs(3_600);

/// The phase of a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Troubled,
    /// Trouble is over since then.
    Calm(Duration),
    /// All is done since then.
    Quiet(Duration),
    Over,
}

/// The figures of a world.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Figures {
    pub(super) steps: u64,
    pub(super) crashes: u64,
    /// What went wrong besides crashes.
    pub(super) faults: u64,
    /// Rows that the database refused permanently.
    pub(super) refused_rows: u64,
    /// Sends whose commit was in doubt for a while.
    pub(super) settled: u64,
    /// Sessions that were opened, phones that were linked and unlinked, and messages that sessions handed over.
    pub(super) opened: u64,
    pub(super) paired: u64,
    pub(super) unlinked: u64,
    pub(super) handed_over: u64,
    pub(super) attempts: u64,
    /// How often channels went from one node to another.
    pub(super) moves: u64,
}

pub(super) struct World {
    pub(super) plan: Plan,
    pub(super) clock: Clock,
    pub(super) dice: Dice,
    pub(super) event_queue: EventQueue<Event>,
    pub(super) phase: Phase,
    /// The durable state.
    pub(super) model: Model,
    /// The writes under way.
    pub(super) database: Database,
    /// The records of channels, durable too.
    pub(super) channels: Vec<Channel>,
    /// The revision of the channel that was changed last.
    pub(super) revision: i64,
    /// The process that runs; of several nodes, the one that something happens to.
    pub(super) process: Option<Process>,
    /// `None` in a world of one process.
    pub(super) nodes: Option<Nodes>,
    pub(super) lives: u64,
    pub(super) provider: Provider,
    pub(super) web: Web,
    /// What people wrote.
    pub(super) mail: Mail,
    pub(super) watch: Watch,
    pub(super) figures: Figures,
    /// Sends that people know of.
    pub(super) known: Vec<Uuid>,
    /// Sends that their clients have withdrawn, in the present step.
    pub(super) withdrawn: Vec<Uuid>,
    /// The moment in the newest id of a send.
    pub(super) last_id_millis: u64,
}

impl World {
    /// The world of a seed at its beginning.
    pub(super) fn new(seed: u64, keeps: usize) -> Self {
        let mut dice = Dice::new(seed);
        let plan = Plan::of(&mut dice);
        let mut world = Self::of(plan, dice, keeps);
        world.list_templates();
        world.start();
        world.begin();
        world.plan_mail(seed);
        world
    }

    /// A world in which nothing runs yet.
    pub(super) fn of(plan: Plan, mut dice: Dice, keeps: usize) -> Self {
        let provider = Provider::new(&plan, dice.split());
        Self {
            clock: Clock::new(),
            event_queue: EventQueue::new(),
            phase: Phase::Troubled,
            model: Model::default(),
            database: Database::default(),
            channels: plan.channels.clone(),
            revision: 1,
            process: None,
            nodes: None,
            lives: 0,
            provider,
            web: Web::new(&plan),
            mail: Mail::default(),
            watch: Watch::new(&plan, keeps),
            figures: Figures::default(),
            known: Vec::new(),
            withdrawn: Vec::new(),
            last_id_millis: 0,
            dice,
            plan,
        }
    }

    /// Plans what people do, and what goes wrong.
    pub(super) fn begin(&mut self) {
        self.plan_people();
        self.plan_web_people();
        self.after(Duration::from_secs(1), Event::Second);
        self.after(self.plan.lasts, Event::Calm);
    }

    /// Runs to the end, or until something is broken.
    pub(super) fn run(&mut self) {
        while self.phase != Phase::Over && !self.watch.is_broken() {
            let Some((at, event)) = self.event_queue.next() else {
                self.watch.break_("a world that is not done has something planned", String::new());
                return;
            };
            self.step(at, event);
        }
    }

    /// Plans something for later.
    pub(super) fn after(&mut self, wait: Duration, event: Event) {
        self.event_queue.plan(self.clock.elapsed() + wait, event);
    }

    /// Whether things still go wrong.
    pub(super) fn is_troubled(&self) -> bool {
        self.phase == Phase::Troubled
    }

    /// Whether something goes wrong now that does so `in_thousand` times in a thousand while there is trouble.
    pub(super) fn goes_wrong(&mut self, in_thousand: u64) -> bool {
        let goes_wrong = self.is_troubled() && self.dice.happens(in_thousand);
        self.figures.faults += u64::from(goes_wrong);
        goes_wrong
    }

    fn step(&mut self, at: Duration, event: Event) {
        // An event for a process that is gone is dropped; a process that stands still gets it later.
        match event.life() {
            Some(life) => self.turn_to_life(life),
            None => self.turn_to_anybody(&event, at),
        }
        if let Some(life) = event.life() {
            match &self.process {
                Some(process) if process.life == life => {
                    if process.stands_until > at {
                        self.event_queue.plan(process.stands_until, event);
                        return;
                    }
                }
                _ => return,
            }
        }
        self.clock.go_to(at);
        self.figures.steps += 1;
        self.watch.stepped(at, &event);
        self.watch.see(self.clock.wall());
        if self.watch.is_traced() {
            self.watch.trace(&self.clock, &event.to_string());
        }
        match event {
            Event::Tell { channel, input, is_answer, .. } => self.tell(channel, *input, is_answer),
            Event::Timer { channel, timer, .. } => self.fire(channel, timer),
            Event::Read { channel, reading, .. } => self.read(channel, *reading),
            Event::Account { account, input, .. } => self.tell_account(&account, *input),
            Event::AccountReads { account, span, .. } => self.read_for_account(account, span),
            Event::CommitApplies { number } => self.commit_applies(number),
            Event::Ledger { event, .. } => self.ledger_event(*event),
            Event::Web { event, .. } => self.web_event(*event),
            Event::Node { event, .. } => self.node_event(*event),
            Event::Webhook { channel, receipt } => self.webhook(channel, *receipt),
            Event::Wrote(message) => self.person_wrote(*message),
            Event::Person(action) => self.act(action),
            Event::Changes { .. } => self.take_up_changes(),
            Event::Expiry { .. } => self.expire(),
            Event::Overlooked { .. } => self.report_overlooked(),
            Event::Ends { .. } => self.crash(),
            Event::Second => self.second(),
            Event::Restart if self.process.is_none() => self.start(),
            Event::Restart => {}
            Event::Reconnects(channel) => self.reconnect(channel),
            Event::TemplateResumes(id) => self.resume_template(id),
            Event::Calm => self.calm_down(),
            Event::Look => self.look(),
        }
        self.serve_accounts();
        self.withdraw_sends();
        self.read_ends();
        self.serve_permits();
        self.end_if_stopped();
    }

    /// Things that may go wrong in any second.
    fn second(&mut self) {
        if !self.is_troubled() {
            return;
        }
        self.after(Duration::from_secs(1), Event::Second);
        let trouble = self.plan.trouble;
        if self.goes_wrong(trouble.crash) {
            self.crash();
        }
        if self.goes_wrong(trouble.lease_lost) {
            // Another process takes the lease, and ends.
            self.model.take_lease();
        }
        if self.goes_wrong(trouble.stand_still) {
            let still = self.dice.time(Duration::from_millis(200), Duration::from_secs(8));
            let until = self.clock.elapsed() + still;
            self.watch.upset(until);
            if let Some(process) = &mut self.process {
                process.stands_until = until;
            }
        }
        self.trouble_nodes();
        if self.goes_wrong(trouble.webhooks) {
            self.tell_by_webhook();
        }
        if self.goes_wrong(trouble.clock_set) {
            let by = i64::try_from(self.dice.between(1_000, 90_000)).unwrap_or(0);
            let by = if self.dice.happens(500) { by } else { -by };
            self.clock.set(by);
            self.watch.upset(self.clock.elapsed());
            self.watch.forget_promises();
            if let Some(process) = &mut self.process {
                process.clock_set += by;
            }
        }
    }

    /// Trouble is over: what was broken is mended.
    fn calm_down(&mut self) {
        self.phase = Phase::Calm(self.clock.elapsed());
        self.provider.calm_down();
        if self.nodes.is_some() {
            self.mend_nodes();
        } else if self.process.is_none() {
            self.start();
        }
        self.list_templates();
        self.mend();
        self.after(LOOK, Event::Look);
    }

    /// How long a world that is done is watched. Nodes renew their leases all the while.
    fn quiet_for(&self) -> Duration {
        if self.nodes.is_some() { QUIET / 6 } else { QUIET }
    }

    /// Whether everything is done, and stays so.
    fn look(&mut self) {
        let now = self.clock.elapsed();
        match self.phase {
            Phase::Calm(since) => {
                self.watch_callers(since);
                if self.is_done() {
                    self.phase = Phase::Quiet(now);
                    self.watch.begin_quiet();
                } else if now <= since + PATIENCE {
                    // The templates are listed now and then.
                    self.list_templates();
                } else {
                    let open = self.open_sends();
                    self.watch.break_("every accepted message ends once trouble stops", open);
                }
            }
            Phase::Quiet(since) if now > since + self.quiet_for() => {
                self.phase = Phase::Over;
                self.watch_end();
            }
            Phase::Quiet(_) | Phase::Troubled | Phase::Over => {}
        }
        // Checks become less frequent: messages that wait for a day need none every second.
        let wait = match self.phase {
            Phase::Calm(since) => LOOK.max((now - since) / 10),
            _ => LOOK * 60,
        };
        self.after(wait, Event::Look);
    }
}
