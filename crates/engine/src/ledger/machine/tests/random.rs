//! The machine with a database that fails in every way, from a seed: what each caller is told is true.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use machines::dice::Dice;

const SEEDS: u64 = 400;
const STEPS: usize = 300;

/// What is durable.
#[derive(Default)]
struct Database {
    sends: BTreeMap<Uuid, send::State>,
    withdrawn: BTreeSet<Uuid>,
    /// The attempts of messages, by sends and ordinals.
    outcomes: BTreeMap<(Uuid, u64), u16>,
    /// The batches that it was asked to write, and may still write.
    late: Vec<PendingWrites>,
    /// Sends and ordinals that it refuses permanently.
    refuses: BTreeSet<u64>,
}

impl Database {
    fn commit(&mut self, batch: &PendingWrites) -> Result<Committed, Cause> {
        let is_refused = |number: u64| self.refuses.contains(&number);
        let new: BTreeSet<_> = batch.sends.iter().map(|send| send.id).collect();
        let is_taken = |id: &Uuid| self.sends.contains_key(id) || self.withdrawn.contains(id);
        let of_outcomes = batch.outcomes.iter().any(|row| is_refused(row.outcome.position.ordinal));
        if of_outcomes || new.iter().any(|id| is_taken(id) || is_refused(number_of(*id))) {
            return Err(Cause::Refused);
        }
        let resolves = |id: &Uuid| new.contains(id) || self.sends.get(id) == Some(&send::State::Resolving);
        let extended = batch.blocks.iter().map(|block| &block.send_id);
        if !extended.chain(batch.activations.iter().map(|activation| &activation.send_id)).all(resolves) {
            return Err(Cause::Missing);
        }
        self.sends.extend(batch.sends.iter().map(|send| (send.id, send.state)));
        self.sends
            .extend(batch.activations.iter().map(|activation| (activation.send_id, send::State::Active)));
        for OutcomeOf { send_id, outcome, .. } in &batch.outcomes {
            let attempts = self.outcomes.entry((*send_id, outcome.position.ordinal)).or_default();
            // A later attempt is never taken back by an earlier one.
            assert!(*attempts <= outcome.attempts, "an earlier outcome is written after a later one");
            *attempts = outcome.attempts;
        }
        Ok(Committed::default())
    }

    /// Writes the batches that it was asked to write long ago, if they still fit.
    fn catch_up(&mut self) {
        for batch in std::mem::take(&mut self.late) {
            let sends = PendingWrites { outcomes: Vec::new(), ..batch };
            let _ = self.commit(&sends);
        }
    }

    fn settle(&mut self, sends: &[Uuid]) -> Vec<u64> {
        let mut accepted = Vec::new();
        for id in sends {
            if self.sends.get(id) == Some(&send::State::Active) {
                accepted.push(number_of(*id));
            } else {
                self.sends.remove(id);
                self.withdrawn.insert(*id);
            }
        }
        accepted
    }
}

fn number_of(id: Uuid) -> u64 {
    u64::try_from(id.as_u128()).expect("a small number")
}

struct Play {
    dice: Dice,
    world: World,
    database: Database,
    asked: u64,
    /// What each caller was told.
    answers: BTreeMap<u64, String>,
    /// The outcomes that a caller recorded.
    recorded: BTreeMap<u64, (Uuid, u64, u16)>,
    attempts: u16,
}

impl Play {
    fn new(seed: u64) -> Self {
        Self {
            dice: Dice::new(seed),
            world: World::with_capacity(40),
            database: Database::default(),
            asked: 0,
            answers: BTreeMap::new(),
            recorded: BTreeMap::new(),
            attempts: 0,
        }
    }

    fn next(&mut self) -> u64 {
        self.asked += 1;
        if self.dice.below(25) == 0 {
            self.database.refuses.insert(self.asked);
        }
        self.asked
    }

    fn ask(&mut self) {
        let number = self.next();
        match self.dice.below(5) {
            0 | 1 => self.world.accept(number, 1_000_000 + self.dice.below(3)),
            2 => self.world.accept_first_part(number),
            3 => self.record(number),
            _ => self.world.hear(number, 1),
        }
    }

    /// Records the next attempt of one of a few messages. A channel records a message again only when its earlier
    /// record of that message is durable.
    fn record(&mut self, number: u64) {
        let ordinal = 1 + self.dice.below(8).min(number);
        let waits = |(caller, (_, of, _)): (&u64, &(Uuid, u64, u16))| {
            *of == ordinal && !self.answers.contains_key(caller)
        };
        if self.recorded.iter().any(waits) {
            return self.world.hear(number, 1);
        }
        self.attempts += 1;
        self.recorded.insert(number, (id(5_000_000), ordinal, self.attempts));
        let row = of(5_000_000, outcome(ordinal, self.attempts));
        self.world.record(number, vec![row], Vec::new());
    }

    fn write(&mut self, is_calm: bool) {
        let Some(commit) = &self.world.commit else { return };
        let result = match if is_calm { 9 } else { self.dice.below(10) } {
            0 => Err(Cause::Unavailable),
            1 => {
                let _ = self.database.commit(&commit.batch);
                Err(Cause::InDoubt)
            }
            2 => {
                self.database.late.push((*commit.batch).clone());
                Err(Cause::InDoubt)
            }
            _ => self.database.commit(&commit.batch),
        };
        self.world.written(result);
    }

    fn settle(&mut self, is_calm: bool) {
        let Some(sends) = self.world.settling.clone() else { return };
        if !is_calm && self.dice.below(3) == 0 {
            self.world.settles(Err(Cause::Unavailable));
            return;
        }
        let accepted = self.database.settle(&sends);
        self.world.settles(Ok(&accepted));
    }

    fn step(&mut self) {
        match self.dice.below(8) {
            0..=2 => self.ask(),
            3 if self.world.gathers => {
                self.world.begin();
            }
            3 | 4 => self.write(false),
            5 => self.settle(false),
            6 if self.world.wakes_at.is_some() => {
                self.world.sleep();
            }
            _ => self.database.catch_up(),
        }
        self.hear_answers();
    }

    /// Goes on with the sends that are accepted in parts, and remembers the answer to each caller.
    fn hear_answers(&mut self) {
        for told in self.world.told() {
            let Some((caller, answer)) = told.split_once(": ") else { continue };
            let Ok(caller) = caller.parse::<u64>() else { continue };
            let before = self.answers.insert(caller, answer.to_owned());
            assert_eq!(before, None, "{caller} is answered twice");
            let is_part = self.database.sends.get(&id(caller)) == Some(&send::State::Resolving);
            if is_part && !self.world.is_over && answer.starts_with("accepted") {
                let number = self.next();
                if self.dice.below(3) == 0 {
                    self.world.input(Input::Withdraw(id(caller)));
                    self.answers.insert(number, "nobody waits".to_owned());
                } else {
                    let activate = activated(caller, 9);
                    self.world.input(Input::Activate { activate, caller: Caller(number) });
                }
            }
        }
    }

    /// Without more faults, everything ends.
    fn end(&mut self) {
        let closing = self.asked + 1;
        self.asked = closing;
        self.world.input(Input::Close(Caller(closing)));
        for _ in 0..10_000 {
            self.hear_answers();
            if self.world.is_over {
                break;
            }
            if self.world.gathers {
                self.world.begin();
            } else if self.world.commit.is_some() {
                self.write(true);
            } else if self.world.settling.is_some() {
                self.settle(true);
            } else {
                self.world.sleep();
            }
        }
        self.database.catch_up();
        assert!(self.world.is_over, "the ledger does not end");
        assert_eq!(self.answers.len() as u64, self.asked, "a caller is not answered");
    }

    /// Checks that each answer is true.
    fn check(&self) {
        for (caller, answer) in &self.answers {
            let state = self.database.sends.get(&id(*caller));
            match answer.split_once(' ').map_or(answer.as_str(), |(first, _)| first) {
                "accepted" => {
                    let is_withdrawn = self.database.withdrawn.contains(&id(*caller));
                    assert!(state.is_some() || is_withdrawn, "send {caller} is accepted and not there");
                }
                "Unavailable" | "Refused" => {
                    assert_ne!(state, Some(&send::State::Active), "send {caller} is refused and there");
                }
                "written," => {
                    let (send, ordinal, attempts) = self.recorded[caller];
                    let written = self.database.outcomes.get(&(send, ordinal)).copied().unwrap_or_default();
                    let is_refused = self.database.refuses.contains(&ordinal);
                    assert!(is_refused || written >= attempts, "the outcome of {caller} is not there");
                }
                "done" | "nobody" => {}
                other => panic!("{caller} is told {other}"),
            }
        }
    }
}

#[test]
fn whatever_the_database_does_each_caller_is_told_the_truth_once() {
    let (mut accepted, mut refused, mut doubts) = (0, 0, 0);
    for seed in 0..SEEDS {
        let mut play = Play::new(seed);
        for _ in 0..STEPS {
            play.step();
        }
        play.end();
        play.check();
        let count = |word: &str| play.answers.values().filter(|answer| answer.starts_with(word)).count();
        accepted += count("accepted");
        refused += count("Refused");
        doubts += play.world.figures.iter().filter(|figure| matches!(figure, Figure::InDoubt(1..))).count();
    }
    assert!(accepted > 1_000 && refused > 100 && doubts > 1_000, "{accepted} {refused} {doubts}");
}
