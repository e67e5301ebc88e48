//! The rules: each is a sentence, and the world ends at the first broken one.

mod attempts;
mod end;
mod pace;
mod promises;
mod quota;
mod rows;
mod shares;
mod told;
mod web;

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::time::Duration;

use uuid::Uuid;

use self::pace::Pacing;
use self::promises::Promises;
use self::quota::WrittenTo;
use self::shares::Shares;
use self::web::Sessions;
use super::clock::Clock;
use super::plan::Plan;
use crate::ledger::AcceptedSend;
use clock::Timestamp;
use domain::channel::Connection;
use domain::message::{Key, State};
use domain::phone::PhoneNumber;

/// How often a timer may fire at one moment.
const WAKES_AT_ONCE: u32 = 20;
/// The most steps in a second of a world, which takes some ten thousand in all. More steps are a loop.
const MOST_STEPS: u32 = 100_000;

/// A rule that was broken.
#[derive(Debug, Clone)]
pub(super) struct Violation {
    pub(super) rule: &'static str,
    pub(super) what: String,
}

/// The state of an attempted message.
#[derive(Debug, Clone, Copy, Default)]
struct Attempted {
    /// How often it was attempted.
    times: u32,
    /// The process knows, and has not lost since, that the provider has it.
    is_confirmed: bool,
    /// Its outcome was unknown at least once.
    was_in_doubt: bool,
    /// Its outcome was unknown while the tier said that such messages are held.
    is_held: bool,
    /// The process that attempted it last, and whether that heard an answer.
    life: u64,
    is_answered: bool,
}

/// Selects what belonged to a process that is gone.
pub(super) struct Gone<'a> {
    pub(super) message: &'a dyn Fn(Key) -> bool,
    pub(super) channel: &'a dyn Fn(usize) -> bool,
    pub(super) account: &'a dyn Fn(&str) -> bool,
}

/// An accepted send.
#[derive(Debug, Clone, Copy)]
struct Accepted {
    /// When the mark of its only message became durable in this process.
    marked_at: Option<Duration>,
}

pub(super) struct Watch {
    /// How many of the last steps are kept.
    keeps: usize,
    trace: VecDeque<String>,
    violation: Option<Violation>,
    attempted: HashMap<Key, Attempted>,
    /// Messages that processes attempted that are still there, each with the life of that process.
    attempted_here: HashMap<Key, u64>,
    /// The process takes back reserved messages, and ends.
    is_stopping: bool,
    /// There are several nodes: a channel that moves takes back what was only reserved.
    pub(super) has_nodes: bool,
    accepted: HashMap<Uuid, Accepted>,
    /// Sends for which a caller was told that no message starts any more.
    stopped: HashSet<Uuid>,
    /// Sends that were paused or ended at least once.
    steered: HashSet<Uuid>,
    /// The connector that the present answer is from, if it is an earlier one.
    old_generation: Option<u64>,
    high_water: HashMap<Uuid, u64>,
    /// Sends whose clients read that they are refused.
    refused: HashSet<Uuid>,
    /// Messages that are over, as the machine was told.
    over: HashSet<Key>,
    /// The states of rows as they were last.
    rows: HashMap<Key, State>,
    settled: HashMap<Uuid, u64>,
    /// One more than the highest attempted ordinal, by send.
    highest: HashMap<Uuid, u64>,
    ended: HashMap<Uuid, domain::send::State>,
    /// The latest that the wall clock ever said.
    latest: Timestamp,
    /// By channel.
    pacing: Vec<Pacing>,
    /// The turns of bulk sends, by channel; and those of channels.
    shares: Vec<Shares<Uuid>>,
    turns: Shares<usize>,
    /// People who get too many messages, as the provider said, by channel.
    slowed: HashSet<(usize, PhoneNumber)>,
    promises: Promises,
    written_to: WrittenTo,
    /// Messages that went while their channel was refused, and are under way.
    canaries: HashMap<Key, usize>,
    /// Sends to one recipient whose mark became durable.
    marked: BTreeSet<Uuid>,
    /// Timers since the world is quiet, by channel; `probes` counts the questions to the provider.
    wakes: Vec<u64>,
    sessions: Sessions,
    /// When each channel's timer fired last, and how often at that moment.
    woken_at: Vec<(Duration, u32)>,
    /// The present second, and the steps in it.
    steps_of_second: (u64, u32),
    probes: Vec<u64>,
}

impl Watch {
    pub(super) fn new(plan: &Plan, keeps: usize) -> Self {
        let pacing = plan.channels.iter().map(|channel| Pacing::new(plan, &channel.tier)).collect();
        Self {
            keeps,
            trace: VecDeque::new(),
            violation: None,
            attempted: HashMap::new(),
            attempted_here: HashMap::new(),
            is_stopping: false,
            has_nodes: false,
            accepted: HashMap::new(),
            stopped: HashSet::new(),
            steered: HashSet::new(),
            old_generation: None,
            high_water: HashMap::new(),
            refused: HashSet::new(),
            over: HashSet::new(),
            rows: HashMap::new(),
            settled: HashMap::new(),
            highest: HashMap::new(),
            ended: HashMap::new(),
            latest: Timestamp::from_millis(0),
            pacing,
            promises: Promises::default(),
            shares: vec![Shares::new(10, 3); plan.channels.len()],
            // A channel whose own pace lets few messages go at once queues more often, and comes back a little late.
            turns: Shares::new(3, 3 + 2 * plan.total_in_flight as u64),
            slowed: HashSet::new(),
            written_to: WrittenTo::default(),
            canaries: HashMap::new(),
            marked: BTreeSet::new(),
            wakes: vec![0; plan.channels.len()],
            sessions: Sessions::default(),
            woken_at: vec![(Duration::ZERO, 0); plan.channels.len()],
            steps_of_second: (0, 0),
            probes: vec![0; plan.channels.len()],
        }
    }

    /// This rule is broken. Only the first is kept.
    pub(super) fn break_(&mut self, rule: &'static str, what: String) {
        self.violation.get_or_insert(Violation { rule, what });
    }

    pub(super) const fn is_broken(&self) -> bool {
        self.violation.is_some()
    }

    pub(super) const fn violation(&self) -> Option<&Violation> {
        self.violation.as_ref()
    }

    /// The last steps, of a world that is traced.
    pub(super) fn steps(&self) -> impl Iterator<Item = &str> {
        self.trace.iter().map(String::as_str)
    }

    pub(super) const fn is_traced(&self) -> bool {
        self.keeps > 0
    }

    /// Notes a step.
    pub(super) fn trace(&mut self, clock: &Clock, what: &str) {
        if self.trace.len() == self.keeps {
            self.trace.pop_front();
        }
        self.trace.push_back(format!("{:>12.6} {what}", clock.elapsed().as_secs_f64()));
    }

    /// The wall clock says this.
    pub(super) fn see(&mut self, wall: Timestamp) {
        self.latest = self.latest.max(wall);
    }

    /// A client read that its send is accepted.
    pub(super) fn accepted(&mut self, send: &AcceptedSend) {
        self.accepted.insert(send.id, Accepted { marked_at: None });
    }

    /// Clients read that their sends are refused.
    pub(super) fn refused(&mut self, sends: impl Iterator<Item = Uuid>) {
        for send_id in sends {
            if self.accepted.contains_key(&send_id) {
                self.break_("no accepted send is refused", send_id.to_string());
            }
            self.refused.insert(send_id);
        }
    }

    /// A send that a process finds in the store is accepted, even if no caller heard of that.
    pub(super) fn found(&mut self, send_id: Uuid) {
        self.accepted.entry(send_id).or_insert(Accepted { marked_at: None });
    }

    /// A person lets a send run again.
    pub(super) fn resumed(&mut self, send_id: Uuid) {
        self.stopped.remove(&send_id);
    }

    /// The provider's decision about an attempt. An uncertain answer leaves the outcome unknown.
    pub(super) fn provider_decided(&mut self, key: Key, is_certain: bool, holds_doubt: bool) {
        let attempted = self.attempted.entry(key).or_default();
        if !is_certain {
            attempted.was_in_doubt = true;
            attempted.is_held |= holds_doubt;
        }
    }

    /// The answer to a template is here.
    pub(super) fn template_answered(
        &mut self,
        account: &str,
        person: PhoneNumber,
        was_taken: bool,
        now: Duration,
    ) {
        self.written_to.end(account, person.person(), was_taken, now);
    }

    /// A template may have been sent to this person.
    pub(super) fn template_perhaps_sent(&mut self, account: &str, person: PhoneNumber, now: Duration) {
        self.written_to.begin(account, person.person());
        self.written_to.end(account, person.person(), true, now);
    }

    /// The process hears the provider's answer.
    pub(super) fn answered(&mut self, key: Key, is_accepted: bool) {
        let attempted = self.attempted.entry(key).or_default();
        attempted.is_confirmed |= is_accepted;
        attempted.is_answered = true;
        self.canaries.remove(&key);
    }

    /// The process hears that this person got too many messages.
    pub(super) fn is_slowed(&mut self, channel: usize, person: PhoneNumber) {
        self.slowed.insert((channel, person.person()));
    }

    /// The machine is told of receipts.
    pub(super) fn told(&mut self, messages: &[(Key, State)]) {
        self.over.extend(messages.iter().filter(|(_, state)| !state.is_open()).map(|(key, _)| *key));
    }

    /// The process of these messages is gone. Attempts without a written outcome are unknown.
    pub(super) fn crashed(
        &mut self,
        now: Duration,
        of: &Gone<'_>,
        holds: impl Fn(Key) -> bool,
        state: impl Fn(Key) -> Option<State>,
    ) {
        self.written_to.crash(now, of.account);
        self.over.retain(|key| !(of.message)(*key));
        self.canaries.retain(|key, _| !(of.message)(*key));
        self.attempted_here.retain(|key, _| !(of.message)(*key));
        self.is_stopping = false;
        for (key, attempted) in self.attempted.iter_mut().filter(|(key, _)| (of.message)(**key)) {
            attempted.is_confirmed = false;
            match state(*key) {
                None | Some(State::Sending) => {
                    attempted.was_in_doubt = true;
                    attempted.is_held |= holds(*key);
                }
                Some(state) if !state.is_open() => {
                    self.over.insert(*key);
                }
                Some(_) => {}
            }
        }
        for accepted in self.accepted.values_mut() {
            accepted.marked_at = None;
        }
        for (_, pacing) in self.pacing.iter_mut().enumerate().filter(|(channel, _)| (of.channel)(*channel)) {
            pacing.crashed();
        }
    }

    /// Another process takes a channel up that was given away.
    pub(super) fn moved(&mut self, channel: usize) {
        self.pacing[channel].crashed();
        for accepted in self.accepted.values_mut() {
            accepted.marked_at = None;
        }
    }

    /// The process stopped gracefully: all that it did is written.
    pub(super) fn stopped(&mut self) {
        self.is_stopping = false;
        self.attempted_here.clear();
        self.canaries.clear();
        for accepted in self.accepted.values_mut() {
            accepted.marked_at = None;
        }
        self.pacing.iter_mut().for_each(Pacing::crashed);
    }

    /// The process was told to stop.
    pub(super) const fn stopping(&mut self) {
        self.is_stopping = true;
    }

    /// Messages that the process of this life attempted.
    pub(super) fn attempted_here(&self, life: u64) -> impl Iterator<Item = Key> {
        self.attempted_here.iter().filter(move |(_, by)| **by == life).map(|(key, _)| *key)
    }

    /// Whether every tier of a channel so far holds messages with an unknown outcome.
    pub(super) fn holds(&self, channel: usize) -> bool {
        self.pacing[channel].always_holds()
    }

    /// A send is paused or ended.
    pub(super) fn steered(&mut self, send_id: Uuid) {
        self.steered.insert(send_id);
    }

    /// The present input is an answer from this earlier connector; `None` if it is not.
    pub(super) const fn heard_from(&mut self, old_generation: Option<u64>) {
        self.old_generation = old_generation;
    }

    /// A channel publishes its state.
    pub(super) fn shown(&mut self, channel: usize, connection: &Connection) {
        if let Some(generation) = self.old_generation.filter(|_| !connection.accepts()) {
            let what = format!("channel {channel}: {connection:?} by an answer of connector {generation}");
            self.break_("an answer to an old token says nothing of the new one", what);
        }
    }

    /// A step is taken at this moment.
    pub(super) fn stepped(&mut self, now: Duration, event: &impl ToString) {
        let (second, steps) = &mut self.steps_of_second;
        *steps = if *second == now.as_secs() { *steps + 1 } else { 1 };
        *second = now.as_secs();
        if *steps > MOST_STEPS {
            let what = event.to_string();
            self.break_("no world loops without progress", what);
        }
    }

    /// A timer of this channel fired.
    pub(super) fn woken(&mut self, channel: usize, now: Duration) {
        self.wakes[channel] += 1;
        let (at, times) = &mut self.woken_at[channel];
        *times = if *at == now { *times + 1 } else { 1 };
        *at = now;
        if *times > WAKES_AT_ONCE {
            let what = format!("channel {channel}: {times} times at once");
            self.break_("a timer that fired is not set for the same moment again and again", what);
        }
    }

    /// The provider is asked about this channel.
    pub(super) fn probed(&mut self, channel: usize) {
        self.probes[channel] += 1;
    }

    /// All is done: from now on the channels must be quiet.
    pub(super) fn begin_quiet(&mut self) {
        self.wakes.fill(0);
        self.probes.fill(0);
    }

    /// A channel's tier, or the tier itself, was changed.
    pub(super) fn retuned(&mut self, channel: usize, plan: &Plan, tier: &str, now: Duration) {
        self.pacing[channel].retune(plan, tier, now);
    }
}
