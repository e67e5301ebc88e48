//! Operators and clients, who act at bad moments.

use std::time::Duration;

use uuid::Uuid;

use super::answers::REFUSED_CONTENT;
use super::values::TEXT;
use super::world::{Event, World};
use crate::channel::machine::{Caller, Input};
use crate::ledger::{AcceptedSend, Order};
use connectors::Disposition;
use domain::block::pack;
use domain::channel::{Connection, Status};
use domain::content::Content;
use domain::phone::PhoneNumber;
use domain::rate::Rate;
use domain::send::{Block, Control, Label, Recipients, Schedule, State, TemplateUse};
use store::sends::reschedule::Rescheduled;
use telemetry::Origin;

/// Recipients in one block.
const BLOCK: usize = 16;

/// The least time that a send takes to be accepted and marked.
const AT_ONCE: Duration = Duration::from_millis(15);

/// An action of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    SendToOne,
    SendToMany,
    /// Some sends to one person, one after the other.
    SendSeveral,
    Pause,
    Resume,
    Cancel,
    /// The start of a send is moved, if it is scheduled and has not begun.
    Reschedule,
    Retune,
    Reconnect,
    /// A token is replaced, and the former one is refused at once, with messages under way.
    ReplaceToken,
    /// The process is stopped, and started again.
    Stop,
}

/// The number of the first person, which has two forms.
const FIRST: u64 = 5_511_980_000_000;

impl World {
    /// Plans what people do while things go wrong.
    pub(super) fn plan_people(&mut self) {
        let (singles, bulks) = (self.dice.between(3, 60), self.dice.between(1, 8));
        let mut often = |most| if self.plan.is_calm { 0 } else { self.dice.below(most) };
        let actions = [
            (Action::SendToOne, singles),
            (Action::SendToMany, bulks),
            (Action::Pause, often(8)),
            (Action::Resume, often(8)),
            (Action::Cancel, often(5)),
            (Action::Retune, often(5)),
            (Action::Reconnect, often(5)),
            (Action::SendSeveral, often(6)),
            (Action::ReplaceToken, often(5)),
            (Action::Stop, often(3)),
            (Action::Reschedule, often(8)),
        ];
        for (action, times) in actions {
            for _ in 0..times {
                let at = self.dice.time(Duration::from_millis(1), self.plan.lasts);
                self.after(at, Event::Person(action));
            }
        }
    }

    pub(super) fn act(&mut self, action: Action) {
        let any = self.dice.pick(&self.known).copied();
        match (action, any) {
            (Action::SendToOne, _) => {
                let recipients = Recipients::One(self.person_s_number());
                let Some(channel) = self.any_account() else { return };
                self.send(channel, recipients, Vec::new());
            }
            (Action::SendToMany, _) => {
                let (recipients, blocks) = self.audience();
                let Some(channel) = self.any_account() else { return };
                self.send(channel, recipients, blocks);
            }
            (Action::SendSeveral, _) => {
                let Some(channel) = self.any_account() else { return };
                let recipients = Recipients::One(self.person_s_number());
                for _ in 0..self.dice.between(2, 9) {
                    self.send(channel, recipients, Vec::new());
                }
            }
            (Action::Pause, Some(send_id)) => self.control(send_id, Control::Paused),
            (Action::Resume, Some(send_id)) => self.control(send_id, Control::Running),
            (Action::Cancel, Some(send_id)) => self.cancel(send_id),
            (Action::Reschedule, _) => self.reschedule(),
            (Action::Retune, _) => self.retune(),
            (Action::Reconnect, _) => {
                let channel = self.any_channel();
                self.reconnect(channel);
            }
            (Action::ReplaceToken, _) => {
                let Some(channel) = self.any_account() else { return };
                self.provider.begin(Disposition::Disconnect, channel, "", 0, Duration::ZERO);
                let wait = self.dice.time(Duration::from_millis(1), Duration::from_millis(500));
                self.after(wait, Event::Reconnects(channel));
            }
            (Action::Stop, _) if self.nodes.is_some() => self.stop_node(),
            (Action::Stop, _) => self.stop(),
            (Action::Pause | Action::Resume | Action::Cancel, None) => {}
        }
    }

    /// A business account. Clients of web sessions have actions of their own.
    fn any_account(&mut self) -> Option<usize> {
        let channels: Vec<_> = (0..self.channels.len()).filter(|channel| !self.is_web(*channel)).collect();
        self.dice.pick(&channels).copied()
    }

    fn any_channel(&mut self) -> usize {
        usize::try_from(self.dice.below(self.channels.len() as u64)).unwrap_or(0)
    }

    fn send(&mut self, channel: usize, recipients: Recipients, blocks: Vec<Block>) {
        let record = &self.channels[channel];
        let (company_id, channel_id) = (record.company_id, record.id);
        let of_account: Vec<_> = self
            .plan
            .templates
            .iter()
            .filter(|it| Some(&it.waba_id) == record.waba_id.as_ref())
            .cloned()
            .collect();
        let template = self.dice.pick(&of_account).filter(|_| self.dice.happens(500)).cloned();
        let schedule = self.schedule(channel);
        let is_refused = template.is_none() && self.goes_wrong(self.plan.trouble.row_refused);
        // Decided without the dice, so that the story of a world stays the same.
        let has_values = template.is_none() && !is_refused && self.figures.steps.is_multiple_of(3);
        let seal = has_values.then(|| Uuid::from_u128(u128::from(self.figures.steps)));
        let content = match &template {
            None if has_values => Content::Text { body: TEXT.to_owned(), preview_url: None },
            None if is_refused => Content::Text { body: REFUSED_CONTENT.to_owned(), preview_url: None },
            None => Content::Text { body: "hello".to_owned(), preview_url: None },
            Some(template) => Content::Template {
                name: template.name.clone(),
                language: "pt_BR".to_owned(),
                components: Vec::new(),
                contact_fields: false,
            },
        };
        let order = Order {
            company_id,
            channel_id,
            content,
            group: None,
            quotes: None,
            sender: None,
            template: template.as_ref().map(|it| TemplateUse { id: it.id, is_marketing: it.is_marketing }),
            schedule,
            label: Label::default(),
            personal: seal,
            sources: Vec::new(),
            claim: None,
            is_awaited: false,
            keeps_turn: false,
            confirms: false,
            origin: Origin::default(),
        };
        let Some(process) = &self.process else { return };
        let is_away = process.stands_until > self.clock.elapsed() || process.is_stopping;
        if is_away || !process.channels[channel].shown.accepts() {
            return;
        }
        self.submit(order, recipients, blocks);
    }

    /// A person's number in one of its forms: some companies have the one that the provider keeps from earlier.
    fn person_s_number(&mut self) -> PhoneNumber {
        let person = self.person();
        let has_other = person.as_u64().is_multiple_of(4);
        person.other_form().filter(|_| has_other).unwrap_or(person)
    }

    pub(super) fn person(&mut self) -> PhoneNumber {
        let number = FIRST + self.dice.below(self.plan.people);
        PhoneNumber::from_u64(number).unwrap_or_else(|| unreachable!("it has thirteen digits"))
    }

    fn audience(&mut self) -> (Recipients, Vec<Block>) {
        let part = self.dice.between(30, 900);
        let all = FIRST..FIRST + self.plan.people;
        let chosen: Vec<_> =
            all.filter(|_| self.dice.happens(part)).filter_map(PhoneNumber::from_u64).collect();
        let chosen = if chosen.len() < 2 { vec![self.person()] } else { chosen };
        let mut first_ordinal = 0;
        let blocks = chosen.chunks(BLOCK).map(|numbers| {
            let recipients = numbers.len() as u64;
            let block = Block { first_ordinal, recipients, packed: pack(numbers) };
            first_ordinal += recipients;
            block
        });
        let blocks = blocks.collect();
        (Recipients::Blocks(chosen.len() as u64), blocks)
    }

    fn schedule(&mut self, channel: usize) -> Schedule {
        let wall = self.clock.wall();
        let send_at = self
            .dice
            .happens(200)
            .then(|| wall.plus(self.dice.time(Duration::ZERO, Duration::from_secs(90))));
        let from = send_at.unwrap_or(wall);
        let expires_at = self
            .dice
            .happens(200)
            .then(|| from.plus(self.dice.time(Duration::from_secs(1), Duration::from_secs(120))));
        // Some sends expire at the very moment at which the channel would start its next message.
        let timer = self.process.as_ref().and_then(|process| process.channels[channel].wake);
        let timer = timer.filter(|at| *at > self.clock.elapsed() + AT_ONCE && send_at.is_none());
        let timer = timer.filter(|_| self.dice.happens(100)).map(|at| self.clock.wall_at(at));
        let expires_at = timer.or(expires_at);
        Schedule { send_at, expires_at }
    }

    /// A client reads that its send is accepted.
    pub(super) fn accepted(&mut self, send: &AcceptedSend) {
        self.known.push(send.id);
        self.watch.accepted(send);
    }

    /// The place of a channel.
    pub(super) fn channel_of(&self, channel_id: Uuid) -> Option<usize> {
        self.channels.iter().position(|channel| channel.id == channel_id)
    }

    pub(super) fn control(&mut self, send_id: Uuid, control: Control) {
        if self.is_cut_off() {
            return;
        }
        let Some(company_id) = self.model.send(send_id).map(|send| send.company_id) else { return };
        let Some(send) = self.model.control_send(company_id, send_id, control) else { return };
        if send.state.is_over() {
            return;
        }
        let Some(channel) = self.channel_of(send.channel_id) else { return };
        match control {
            Control::Paused => self.release(channel, send_id, None),
            Control::Running => {
                self.watch.resumed(send_id);
                self.have_looked(channel);
            }
        }
    }

    fn cancel(&mut self, send_id: Uuid) {
        if self.is_cut_off() {
            return;
        }
        let Some(company_id) = self.model.send(send_id).map(|send| send.company_id) else { return };
        let send = self.model.cancel_send(company_id, send_id, self.clock.wall());
        let Some(send) = send.filter(|send| send.state == State::Canceled) else { return };
        if let Some(channel) = self.channel_of(send.channel_id) {
            self.release(channel, send_id, Some(State::Canceled));
        }
    }

    /// Moves the start of a send that waits for it, often at the last moment.
    fn reschedule(&mut self) {
        if self.is_cut_off() {
            return;
        }
        let wall = self.clock.wall();
        let scheduled: Vec<_> =
            self.known.iter().copied().filter(|id| self.model.waits_for_its_start(*id, wall)).collect();
        let Some(send_id) = self.dice.pick(&scheduled).copied() else { return };
        let Some(company_id) = self.model.send(send_id).map(|send| send.company_id) else { return };
        let start = wall.plus(self.dice.time(Duration::from_millis(1), Duration::from_secs(90)));
        let moved = self.model.reschedule_send(company_id, send_id, start, wall);
        if let Rescheduled::Done { channel_id, note: _ } = moved
            && let Some(channel) = self.channel_of(channel_id)
        {
            self.have_looked(channel);
        }
    }

    /// Tells a channel to start no more messages of a send.
    pub(super) fn release(&mut self, channel: usize, send_id: Uuid, over: Option<State>) {
        self.watch.steered(send_id);
        if self.is_left_to_another(channel, send_id, over) {
            return;
        }
        let Some(process) = &mut self.process else {
            // Nothing runs: it is done at once.
            self.watch_stopped(send_id);
            return;
        };
        process.callers += 1;
        let caller = Caller(process.callers);
        process.channels[channel].stopping.push((caller, send_id));
        self.inform(channel, Input::Released { send_id, over, caller });
    }

    /// An operator changes a tier, or gives a channel another one.
    fn retune(&mut self) {
        if self.dice.happens(500) {
            let place = usize::try_from(self.dice.below(self.plan.tiers.len() as u64)).unwrap_or(0);
            let rate = u32::try_from(self.dice.between(1, 30)).unwrap_or(1);
            let tier = &mut self.plan.tiers[place];
            tier.messages_per_second = Rate::each_second(rate);
            self.revision += 1;
            let name = tier.name.clone();
            // Every channel of the tier is told.
            for channel in self.channels.iter_mut().filter(|channel| channel.tier == name) {
                channel.revision = self.revision;
            }
        } else {
            let channel = usize::try_from(self.dice.below(self.channels.len() as u64)).unwrap_or(0);
            let kind = self.channels[channel].kind;
            let tiers: Vec<_> = self.plan.tiers.iter().filter(|tier| tier.kind == kind).collect();
            let Some(tier) = self.dice.pick(&tiers).map(|tier| tier.name.clone()) else { return };
            self.revision += 1;
            self.channels[channel].tier = tier;
            self.channels[channel].revision = self.revision;
        }
    }

    /// An operator gives a channel a new token.
    pub(super) fn reconnect(&mut self, channel: usize) {
        if self.is_web(channel) {
            return self.pair_again(channel);
        }
        self.provider.renew_token(channel);
        self.revision += 1;
        let wall = self.clock.wall();
        let record = &mut self.channels[channel];
        record.connection = Connection { status: Status::Connecting, reason: None, since: wall };
        if let Some(trial) = &mut record.trial {
            trial.due = wall;
        }
        record.revision = self.revision;
    }
}
