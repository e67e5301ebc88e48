//! The world: virtual time, what is durable, the process that may crash, and everybody around it.

use std::time::Duration;

use uuid::Uuid;

use super::agenda::Agenda;
use super::clock::Clock;
use super::dice::Dice;
use super::model::Model;
use super::people::Deed;
use super::plan::Plan;
use super::process::Process;
use super::provider::Provider;
use super::reads::Reading;
use super::watch::Watch;
use crate::domain::channel::Channel;
use crate::engine::channel::machine::Input;
use crate::store::ledger::Receipt;

/// When trouble is over, everything must be done within this.
const PATIENCE: Duration = Duration::from_secs(30 * 3_600);
/// So often it is looked whether everything is done.
const LOOK: Duration = Duration::from_secs(5);
/// A world that is done is watched so long: it must be quiet.
const QUIET: Duration = Duration::from_secs(3_600);

/// Something that happens.
pub(super) enum Event {
    /// An answer, or news, for a channel of the process. `is_answer` when the machine waits for it.
    Tell {
        life: u64,
        channel: usize,
        input: Box<Input>,
        is_answer: bool,
    },
    /// The timer of a channel fires.
    Timer {
        life: u64,
        channel: usize,
        timer: u64,
    },
    /// The store is read for a channel.
    Read {
        life: u64,
        channel: usize,
        reading: Box<Reading>,
    },
    /// The commit under way is durable, or not.
    CommitApplies {
        life: u64,
    },
    /// What became of the commit under way is known.
    CommitReports {
        life: u64,
    },
    /// The ledger tries again.
    LedgerTries {
        life: u64,
    },
    /// Sends in doubt are settled.
    Settles {
        life: u64,
    },
    /// The provider tells of a message.
    Webhook {
        channel: usize,
        receipt: Box<Receipt>,
    },
    /// A person does something.
    Person(Deed),
    /// A round of the sentinel.
    Changes {
        life: u64,
    },
    Expiry {
        life: u64,
    },
    Overlooked {
        life: u64,
    },
    /// A process that lost the lease ends.
    Ends {
        life: u64,
    },
    /// A second is over: what may go wrong in any second does, or not.
    Second,
    /// The process starts again.
    Restart,
    /// An operator gives this channel a new token.
    Reconnects(usize),
    /// The provider lets a template be sent again.
    TemplateResumes(i64),
    /// Nothing goes wrong any more.
    Calm,
    /// It is looked whether everything is done.
    Look,
}

/// How far a world is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Troubled,
    /// Trouble is over since then.
    Calm(Duration),
    /// All is done since then.
    Quiet(Duration),
    Over,
}

/// What happened in a world, in numbers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Figures {
    pub(super) steps: u64,
    pub(super) crashes: u64,
    /// What went wrong besides crashes.
    pub(super) faults: u64,
    pub(super) attempts: u64,
}

/// See the module.
pub(super) struct World {
    pub(super) plan: Plan,
    pub(super) clock: Clock,
    pub(super) dice: Dice,
    pub(super) agenda: Agenda<Event>,
    pub(super) phase: Phase,
    /// What is durable.
    pub(super) model: Model,
    /// The records of channels, durable too.
    pub(super) channels: Vec<Channel>,
    /// The revision of the channel that was changed last.
    pub(super) revision: i64,
    pub(super) process: Option<Process>,
    pub(super) lives: u64,
    pub(super) provider: Provider,
    pub(super) watch: Watch,
    pub(super) figures: Figures,
    /// Sends that people know of.
    pub(super) known: Vec<Uuid>,
}

impl World {
    /// The world of a seed at its beginning.
    pub(super) fn new(seed: u64, is_traced: bool) -> Self {
        let mut dice = Dice::new(seed);
        let plan = Plan::of(&mut dice);
        let provider = Provider::new(&plan, dice.split());
        let mut world = Self {
            clock: Clock::new(),
            agenda: Agenda::new(),
            phase: Phase::Troubled,
            model: Model::default(),
            channels: plan.channels.clone(),
            revision: 1,
            process: None,
            lives: 0,
            provider,
            watch: Watch::new(&plan, is_traced),
            figures: Figures::default(),
            known: Vec::new(),
            dice,
            plan,
        };
        world.list_templates();
        world.start();
        world.plan_people();
        world.after(Duration::from_secs(1), Event::Second);
        world.after(world.plan.lasts, Event::Calm);
        world
    }

    /// Runs to the end, or until something is broken.
    pub(super) fn run(&mut self) {
        while self.phase != Phase::Over && !self.watch.is_broken() {
            let Some((at, event)) = self.agenda.next() else {
                self.watch.break_("a world that is not done has something planned", String::new());
                return;
            };
            self.step(at, event);
        }
    }

    /// Plans something for later.
    pub(super) fn after(&mut self, wait: Duration, event: Event) {
        self.agenda.plan(self.clock.elapsed() + wait, event);
    }

    /// Whether things still go wrong.
    pub(super) fn is_troubled(&self) -> bool {
        self.phase == Phase::Troubled
    }

    /// Whether something happens that does so many times in a thousand while things go wrong.
    pub(super) fn goes_wrong(&mut self, in_thousand: u64) -> bool {
        let goes_wrong = self.is_troubled() && self.dice.happens(in_thousand);
        self.figures.faults += u64::from(goes_wrong);
        goes_wrong
    }

    fn step(&mut self, at: Duration, event: Event) {
        // What is under way for a process that is gone brings nothing; one that stands still sees it later.
        if let Some(life) = event.life() {
            match &self.process {
                Some(process) if process.life == life => {
                    if process.stands_until > at {
                        self.agenda.plan(process.stands_until, event);
                        return;
                    }
                }
                _ => return,
            }
        }
        self.clock.go_to(at);
        self.figures.steps += 1;
        self.watch.see(self.clock.wall());
        if self.watch.is_traced() {
            self.watch.trace(&self.clock, &event.to_string());
        }
        match event {
            Event::Tell { channel, input, is_answer, .. } => self.tell(channel, *input, is_answer),
            Event::Timer { channel, timer, .. } => self.fire(channel, timer),
            Event::Read { channel, reading, .. } => self.read(channel, *reading),
            Event::CommitApplies { life } => self.commit_applies(life),
            Event::CommitReports { .. } => self.commit_reports(),
            Event::LedgerTries { .. } => self.ledger_tries(),
            Event::Settles { .. } => self.settle(),
            Event::Webhook { channel, receipt } => self.webhook(channel, *receipt),
            Event::Person(deed) => self.act(deed),
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
        self.serve_permits();
        self.commit();
    }

    /// What may go wrong in any second.
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
            if let Some(process) = &mut self.process {
                process.stands_until = until;
            }
        }
        if self.goes_wrong(trouble.clock_set) {
            let by = i64::try_from(self.dice.between(1_000, 90_000)).unwrap_or(0);
            let by = if self.dice.happens(500) { by } else { -by };
            self.clock.set(by);
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
        if self.process.is_none() {
            self.start();
        }
        self.list_templates();
        self.mend();
        self.after(LOOK, Event::Look);
    }

    /// Whether everything is done, and stays so.
    fn look(&mut self) {
        let now = self.clock.elapsed();
        match self.phase {
            Phase::Calm(since) => {
                if self.is_done() {
                    self.phase = Phase::Quiet(now);
                    self.watch.begin_quiet();
                } else if now <= since + PATIENCE {
                    // They are listed now and then.
                    self.list_templates();
                } else {
                    let open = self.open_sends();
                    self.watch.break_("every accepted message ends once trouble stops", open);
                }
            }
            Phase::Quiet(since) if now > since + QUIET => {
                self.phase = Phase::Over;
                self.watch_end();
            }
            Phase::Quiet(_) | Phase::Troubled | Phase::Over => {}
        }
        // Later and later: what waits for a day is not looked at every second.
        let wait = match self.phase {
            Phase::Calm(since) => LOOK.max((now - since) / 10),
            _ => LOOK * 60,
        };
        self.after(wait, Event::Look);
    }
}

impl Event {
    /// The life of the process that it is for; `None` when it is for somebody else.
    const fn life(&self) -> Option<u64> {
        match self {
            Self::Tell { life, .. }
            | Self::Timer { life, .. }
            | Self::Read { life, .. }
            | Self::CommitReports { life }
            | Self::LedgerTries { life }
            | Self::Settles { life }
            | Self::Ends { life }
            | Self::Changes { life }
            | Self::Expiry { life }
            | Self::Overlooked { life } => Some(*life),
            // A database that was asked to commit does so, whatever became of the process.
            Self::CommitApplies { .. }
            | Self::Webhook { .. }
            | Self::Person(_)
            | Self::Second
            | Self::Restart
            | Self::Reconnects(_)
            | Self::TemplateResumes(_)
            | Self::Calm
            | Self::Look => None,
        }
    }
}
