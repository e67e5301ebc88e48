//! Random operations, on rows that exist and sometimes on rows that do not.

use std::collections::BTreeSet;
use std::time::Duration;

use uuid::Uuid;

use super::operation::{ACCOUNTS, Account, Operation, Read};
use super::{inbound, pairs, personal};
use crate::universe::model::templates::Listing;
use crate::universe::model::{Model, SendRow};
use clock::Timestamp;
use domain::block::pack;
use domain::message::{Failure, Key, Outcome, Position, State as At};
use domain::phone::PhoneNumber;
use domain::send::{Block, Control, Mark, Progress, Recipients, Schedule, State};
use domain::suppression::{HOLD, Suppression};
use machines::dice::Dice;
use store::ledger::{Activation, BlockOf, NewSend, OutcomeOf, PendingWrites, Receipt};
use store::sends::{Ready, Size, StoredLabel};
use store::suppressions::{Says, Word};

const BEGINNING: i64 = 1_700_000_000_000;
/// The recipients of a full block.
const BLOCK: u64 = 3;
const MINUTE: Duration = Duration::from_secs(60);

pub(super) struct Generator {
    dice: Dice,
    /// For what people write, beside everything else.
    people: Dice,
    now: Timestamp,
    loses_leases: bool,
    has_lost: bool,
    /// Sends that are being resolved, and how many recipients they will have.
    resolving: Vec<(Uuid, u64, u64)>,
}

impl Generator {
    pub(super) const fn new(seed: u64, loses_leases: bool) -> Self {
        let now = Timestamp::from_millis(BEGINNING);
        let (dice, people) = (Dice::new(seed), Dice::new(!seed));
        Self { dice, people, now, loses_leases, has_lost: false, resolving: Vec::new() }
    }

    /// The operation that gives the lease back at the end, if it was lost.
    pub(super) fn regain(&self) -> Option<Operation> {
        self.has_lost.then_some(Operation::RegainLease)
    }

    pub(super) fn next(&mut self, model: &Model) -> Operation {
        self.now = self.now.plus(self.dice.time(Duration::ZERO, MINUTE));
        let account = ACCOUNTS[usize::from(self.dice.happens(250))];
        let (company_id, now) = (account.company_id, self.now);
        match self.dice.below(100) {
            0..45 => Operation::Commit { batch: self.batch(model), now },
            45..75 => Operation::Read(self.read(model)),
            75..77 => {
                let control = if self.dice.happens(500) { Control::Paused } else { Control::Running };
                Operation::Control { company_id, send_id: self.send(model), control }
            }
            77..79 => Operation::Cancel { company_id, send_id: self.send(model), now },
            79..81 => {
                Operation::Reschedule { company_id, send_id: self.send(model), start: self.moment(), now }
            }
            81..84 => Operation::Expire { now, limit: u32::try_from(self.dice.between(1, 3)).unwrap() },
            84..86 => Operation::PutOffUnknown { until: self.moment() },
            86..90 => Operation::EndLeft { now },
            90..92 => {
                if self.dice.happens(500) {
                    self.now = now.minus(self.dice.time(Duration::ZERO, 30 * MINUTE));
                }
                Operation::ClockWentBack { now: self.now }
            }
            92..94 => {
                let sends: BTreeSet<_> = (0..self.dice.between(1, 3)).map(|_| self.send(model)).collect();
                Operation::Settle { sends: sends.into_iter().collect(), now }
            }
            94 => Operation::RemoveUnresolved,
            95..98 => self.template(model, account),
            _ if !self.loses_leases => Operation::Read(self.read(model)),
            _ => {
                self.has_lost = !self.has_lost;
                if self.has_lost { Operation::LoseLease } else { Operation::RegainLease }
            }
        }
    }

    fn moment(&mut self) -> Timestamp {
        let around = self.now.minus(5 * MINUTE);
        around.plus(self.dice.time(Duration::ZERO, 20 * MINUTE))
    }

    fn maybe_moment(&mut self, in_thousand: u64) -> Option<Timestamp> {
        if self.dice.happens(in_thousand) { Some(self.moment()) } else { None }
    }

    /// A send that exists, or rarely one that does not.
    fn send(&mut self, model: &Model) -> Uuid {
        let known: Vec<_> = model.sends.keys().copied().collect();
        let any = self.dice.pick(&known).copied();
        let nobody = Uuid::from_u128(self.dice.wide());
        any.filter(|_| !self.dice.happens(50)).unwrap_or(nobody)
    }

    fn ordinal(&mut self, model: &Model, send_id: Uuid) -> u64 {
        let recipients = model.send(send_id).map_or(3, |send| send.recipients.count());
        self.dice.below(recipients + 1)
    }

    fn number(&mut self) -> PhoneNumber {
        PhoneNumber::from_u64(5_511_900_000_000 + self.dice.below(12)).unwrap()
    }

    fn batch(&mut self, model: &Model) -> PendingWrites {
        let mut batch = PendingWrites::default();
        if self.dice.happens(350) {
            self.add_send(model, &mut batch);
        }
        if self.dice.happens(250) {
            self.extend(model, &mut batch);
        }
        if self.dice.happens(500) {
            for _ in 0..self.dice.between(1, 6) {
                self.add_outcome(model, &mut batch);
            }
        }
        if self.dice.happens(400) {
            for _ in 0..self.dice.between(1, 3) {
                self.add_mark(model, &mut batch);
            }
        }
        if self.dice.happens(350) {
            for _ in 0..self.dice.between(1, 5) {
                self.add_receipt(model, &mut batch);
            }
        }
        if self.dice.happens(300) {
            for _ in 0..self.dice.between(1, 4) {
                let word = self.word();
                batch.suppressions.push(word);
            }
        }
        if self.people.happens(250) {
            for _ in 0..self.people.between(1, 4) {
                batch.inbound.push(inbound::message(&mut self.people, self.now));
            }
        }
        batch
    }

    fn add_send(&mut self, model: &Model, batch: &mut PendingWrites) {
        let account = ACCOUNTS[usize::from(self.dice.happens(250))];
        let id = if self.dice.happens(40) { self.send(model) } else { Uuid::from_u128(self.dice.wide()) };
        let templates: Vec<_> =
            model.templates.iter().filter(|(_, row)| row.waba_id == account.waba_id).collect();
        let template = self.dice.pick(&templates).map(|(id, _)| **id);
        let recipients = match self.dice.below(10) {
            0..5 => Recipients::One(self.number()),
            5 => Recipients::Group,
            _ => Recipients::Blocks(self.dice.between(2, 8)),
        };
        let is_bulk = matches!(recipients, Recipients::Blocks(_));
        let is_resolving = is_bulk && self.dice.happens(500);
        let end = recipients.count();
        let here = if is_resolving { BLOCK.min(end) } else { end };
        if is_bulk {
            batch
                .blocks
                .extend((0..here).step_by(3).map(|first| BlockOf { send_id: id, block: block(first, end) }));
        }
        if is_resolving {
            self.resolving.push((id, here, end));
        }
        if self.people.happens(400) {
            personal::add(&mut self.people, batch, (id, account.company_id), end);
        }
        batch.sends.push(NewSend {
            id,
            company_id: account.company_id,
            channel_id: account.channels[usize::from(self.dice.happens(300))],
            state: if is_resolving { State::Resolving } else { State::Active },
            content: format!("{{\"n\":{}}}", self.dice.below(100)),
            template_id: template.filter(|_| self.dice.happens(500)),
            recipients,
            skipped: self.dice.below(3),
            schedule: Schedule { send_at: self.maybe_moment(250), expires_at: self.maybe_moment(250) },
            label: StoredLabel::default(),
        });
    }

    /// Adds more of an audience, or its end; sometimes to any send, which may take none.
    fn extend(&mut self, model: &Model, batch: &mut PendingWrites) {
        if self.dice.happens(100) {
            let instead = pairs::any(&mut self.people, model);
            batch.activations.push(Activation { instead, ..activation(self.send(model), 2, 0) });
            return;
        }
        if self.dice.happens(100) {
            batch.blocks.push(BlockOf { send_id: self.send(model), block: block(0, 2) });
            return;
        }
        let Some(place) = self.resolving.len().checked_sub(1) else { return };
        let place = usize::try_from(self.dice.between(0, place as u64)).unwrap();
        let (id, first, end) = self.resolving[place];
        if first < end {
            batch.blocks.push(BlockOf { send_id: id, block: block(first, end) });
            self.resolving[place].1 = end.min(first + BLOCK);
        } else {
            self.resolving.swap_remove(place);
            let instead = pairs::whole(&mut self.people, &mut self.resolving);
            batch.activations.push(Activation { instead, ..activation(id, end, 1) });
        }
    }

    fn add_outcome(&mut self, model: &Model, batch: &mut PendingWrites) {
        let send_id = self.send(model);
        let Some(send) = model.send(send_id).filter(|send| send.state.is_some()) else { return };
        let ordinal = self.ordinal(model, send_id).min(send.recipients.count() - 1);
        let state = *self.dice.pick(&At::ALL).unwrap();
        let outcome = Outcome {
            position: Position { ordinal, recipient: self.recipient(model, send, Key { send_id, ordinal }) },
            state,
            attempts: if self.dice.happens(20) { u16::MAX } else { self.dice.below(5) as u16 },
            provider_message_id: self.dice.happens(400).then(|| format!("wamid.{ordinal}")),
            error: self.failure(),
            retry_at: self.maybe_moment(if state.is_open() { 800 } else { 100 }),
            taken_at: self.maybe_moment(600),
        };
        batch.outcomes.push(OutcomeOf { send_id, company_id: send.company_id, outcome });
    }

    fn recipient(&mut self, model: &Model, send: &SendRow, key: Key) -> Option<PhoneNumber> {
        match send.recipients {
            Recipients::One(number) => Some(number),
            Recipients::Group => None,
            Recipients::Blocks(_) => Some(model.number_at(key).unwrap_or_else(|| self.number())),
        }
    }

    fn failure(&mut self) -> Option<Failure> {
        let code = [None, Some(131_026), Some(131_049)][usize::try_from(self.dice.below(3)).unwrap()];
        self.dice.happens(300).then(|| Failure { code, sentence: "it did not arrive".to_owned() })
    }

    fn add_mark(&mut self, model: &Model, batch: &mut PendingWrites) {
        let send_id = self.send(model);
        let recipients = match model.send(send_id) {
            // A channel marks only what it has read, and it reads no audience before the end of that is written.
            Some(send) if send.is_bulk() && send.state == Some(State::Resolving) => 0,
            Some(send) => send.recipients.count(),
            None => 1,
        };
        let high_water = self.dice.between(0, recipients);
        let settled = self.dice.between(0, high_water);
        let state = match self.dice.below(10) {
            0 => State::Finished,
            1 => State::Canceled,
            2 => State::Expired,
            _ => State::Active,
        };
        let progress = Progress { high_water, settled };
        batch.marks.push(Mark { send_id, progress, state, due_at: self.maybe_moment(200) });
    }

    fn add_receipt(&mut self, model: &Model, batch: &mut PendingWrites) {
        let send_id = self.send(model);
        let ordinal = self.ordinal(model, send_id);
        let own = model.send(send_id).map(|send| send.company_id);
        let other = ACCOUNTS[usize::from(self.dice.happens(500))].company_id;
        let state = *self.dice.pick(&[At::Sent, At::Delivered, At::Read, At::Failed]).unwrap();
        batch.receipts.push(Receipt {
            key: Key { send_id, ordinal },
            company_id: own.filter(|_| !self.dice.happens(150)).unwrap_or(other),
            state,
            provider_message_id: self.dice.happens(600).then(|| format!("wamid.heard.{ordinal}")),
            error: (state == At::Failed).then(|| self.failure()).flatten(),
            at: self.moment(),
            charge: None,
        });
    }

    fn word(&mut self) -> Word {
        let provider_code = self.dice.happens(500).then_some(131_050);
        let said_at = self.moment();
        let says = match self.dice.below(5) {
            0 => Says::Stop { provider_code },
            1 => Says::Resume,
            2 => Says::StopWord,
            3 => Says::StartWord,
            _ => Says::Hold { until: self.moment().plus(HOLD), provider_code },
        };
        Word {
            company_id: ACCOUNTS[usize::from(self.dice.happens(300))].company_id,
            recipient: PhoneNumber::from_u64(5_511_900_000_000 + self.dice.below(4)).unwrap(),
            scope: Suppression::ALL[usize::from(self.dice.happens(300))],
            said_at,
            says,
        }
    }

    fn template(&mut self, model: &Model, account: Account) -> Operation {
        const STATUSES: [&str; 4] = ["APPROVED", "APPROVED", "PAUSED", "REJECTED"];
        const CATEGORIES: [&str; 2] = ["MARKETING", "UTILITY"];
        let of_account = model.templates.iter().filter(|(_, row)| row.waba_id == account.waba_id);
        let known: Vec<_> = of_account.map(|(id, row)| (*id, row.name.clone())).collect();
        let known = self.dice.pick(&known).cloned().filter(|_| self.dice.happens(700));
        let Some((id, name)) = known else {
            let mut listed = Vec::new();
            for number in 0..4 {
                if self.dice.happens(750) {
                    let status = (*self.dice.pick(&STATUSES).unwrap()).to_owned();
                    let category = (*self.dice.pick(&CATEGORIES).unwrap()).to_owned();
                    listed.push(Listing { name: format!("t{number}"), status, category });
                }
            }
            return Operation::ListTemplates { account, listed, as_of: self.moment() };
        };
        if self.dice.happens(300) {
            return Operation::PauseTemplate { id };
        }
        let status = self.dice.pick(&STATUSES).copied().filter(|_| self.dice.happens(700));
        let category = self.dice.pick(&CATEGORIES).copied().filter(|_| self.dice.happens(500));
        Operation::ChangeTemplate { account, id, name, status, category, said_at: self.moment() }
    }

    fn read(&mut self, model: &Model) -> Read {
        let account = ACCOUNTS[usize::from(self.dice.happens(250))];
        let channel = account.channels[usize::from(self.dice.happens(300))];
        let size = if self.dice.happens(500) { Size::Direct } else { Size::Bulk };
        let limit = usize::try_from(self.dice.between(1, 6)).unwrap();
        let (send_id, now) = (self.send(model), self.now);
        match self.dice.below(14) {
            0 | 1 => {
                let ready = Ready { now, templates: self.dice.happens(600) };
                Read::Unfinished { channel, size, ready, limit }
            }
            2 => {
                // No caller asks for one send twice.
                let sends: BTreeSet<_> = (0..6).map(|_| self.send(model)).collect();
                Read::UnfinishedAmong(sends.into_iter().collect())
            }
            3 | 4 => {
                // Asks about a send with waiting messages, if there is one.
                let waiting: Vec<_> = model
                    .messages
                    .iter()
                    .filter(|(_, row)| row.retry_at.is_some())
                    .map(|(key, _)| key.0)
                    .collect();
                let send_id = self.dice.pick(&waiting).copied().unwrap_or(send_id);
                Read::Waiting { send_id, horizon: self.moment(), limit: limit.min(3) }
            }
            5 => Read::States { send_id, ordinals: (0..6).filter(|_| self.dice.happens(700)).collect() },
            6 => {
                let keys = (0..5).map(|_| {
                    let send_id = self.send(model);
                    Key { send_id, ordinal: self.ordinal(model, send_id) }
                });
                Read::RecipientsOf { company_id: account.company_id, keys: keys.collect() }
            }
            7 => {
                let high_water = self.ordinal(model, send_id);
                Read::Recorded { send_id, progress: Progress { settled: high_water / 2, high_water } }
            }
            8 => Read::Block { send_id, ordinal: self.ordinal(model, send_id) },
            9 if self.dice.happens(500) => Read::NextDue { channel, now: self.moment() },
            9 => Read::WaitingTemplates {
                channel,
                size,
                now,
                after: Uuid::from_u128(self.dice.wide() / 4),
                limit,
            },
            10 => Read::TemplateRecipients { account, since: self.moment(), now },
            // The times in the ids are random.
            11 => Read::WebAttempts { channel, since: Timestamp::from_millis(0) },
            12 => Read::SendOfStamp { channel, send_id },
            _ if self.dice.happens(500) => Read::Suppressions { now },
            _ => {
                let subjects = (0..4).map(|_| self.word().subject()).collect();
                Read::SuppressionsAmong { subjects, now }
            }
        }
    }
}

/// The block from `first` on, of an audience of `end` recipients.
fn block(first: u64, end: u64) -> Block {
    let end = end.min(first + BLOCK);
    let numbers: Vec<_> =
        (first..end).map(|ordinal| PhoneNumber::from_u64(5_511_900_000_000 + ordinal).unwrap()).collect();
    Block { first_ordinal: first, recipients: end - first, packed: pack(&numbers) }
}

const fn activation(send_id: Uuid, recipients: u64, skipped: u64) -> Activation {
    Activation { send_id, recipients, skipped, instead: None }
}
