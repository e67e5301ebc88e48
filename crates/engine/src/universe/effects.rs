//! Carries out the effects of machines.

use std::time::Duration;

use super::commits::REFUSED_CHARACTER;
use super::provider::{Fate, Request};
use super::reads::Reading;
use super::words;
use super::world::{Event, World};
use crate::account::AppId;
use crate::channel::machine::{
    Answer, Answered, Attempt, Caller, Connected, Effect, Failed, Input, NotConnected, SaveConnection, Saved,
};
use connectors::{Disposition, Reply};
use store::ledger::Receipt;

impl World {
    /// Passes an input to a channel's machine, and carries out its effects.
    pub(super) fn tell(&mut self, channel: usize, input: Input, is_answer: bool) {
        let now = self.clock.now();
        let is_fenced = self.is_fenced();
        let Some(process) = &mut self.process else { return };
        let running = &mut process.channels[channel];
        if is_answer {
            running.under_way -= 1;
        }
        let Some(machine) = &mut running.machine else { return };
        if !matches!(input, Input::Timer) {
            self.watch.forget_promises();
        }
        match &input {
            // A fenced node gets no answers any more.
            Input::Answered(_) | Input::Heard(_) if is_fenced => {}
            Input::Answered(Answered { ticket, reply, .. }) => {
                self.watch.answered(ticket.key(), matches!(reply, Reply::Accepted { .. }));
                // Some failures may come after the provider took the message: those count too.
                let was_taken = match reply {
                    Reply::Accepted { .. } | Reply::Uncertain(_) => true,
                    Reply::Refused { disposition, .. } => {
                        matches!(disposition, Disposition::Retry | Disposition::Wait)
                    }
                    Reply::NotSent(_) | Reply::NoSocket(_) | Reply::Unsendable(_) => false,
                };
                if let (Some(person), Reply::Refused { disposition: Disposition::Pair, .. }) =
                    (ticket.recipient, reply)
                {
                    self.watch.is_slowed(channel, person);
                }
                if let (Some(person), Some(account)) = (ticket.recipient, &self.channels[channel].waba_id) {
                    let send = self.model.send(ticket.send_id);
                    if send.is_some_and(|send| send.template_id.is_some()) {
                        self.watch.template_answered(account, person, was_taken, self.clock.elapsed());
                    }
                }
            }
            Input::Heard(messages) => self.watch.told(messages),
            _ => {}
        }
        let generation = running.generation;
        self.watch.heard_from(match &input {
            Input::Answered(answered) if answered.generation != generation => Some(answered.generation),
            _ => None,
        });
        let mut effects = std::mem::take(&mut process.effects);
        machine.handle(input, now, &mut self.dice, &mut effects);
        for effect in effects.drain() {
            self.carry_out(channel, effect);
        }
        if let Some(process) = &mut self.process {
            process.effects = effects;
        }
        self.watch_step(channel);
    }

    /// The timer that was set last fires.
    pub(super) fn fire(&mut self, channel: usize, timer: u64) {
        let Some(process) = &mut self.process else { return };
        let running = &mut process.channels[channel];
        if running.timer != timer {
            return;
        }
        running.wake = None;
        self.watch.woken(channel, self.clock.elapsed());
        self.tell(channel, Input::Timer, false);
    }

    /// Plans an answer that the machine waits for.
    pub(super) fn answer(&mut self, channel: usize, wait: Duration, input: Input) {
        let Some(process) = &mut self.process else { return };
        process.channels[channel].under_way += 1;
        let life = process.life;
        self.after(wait, Event::Tell { life, channel, input: Box::new(input), is_answer: true });
    }

    /// Plans an input that the machine does not wait for.
    pub(super) fn inform(&mut self, channel: usize, input: Input) {
        let wait = self.hop();
        let Some(process) = &self.process else { return };
        let life = process.life;
        self.after(wait, Event::Tell { life, channel, input: Box::new(input), is_answer: false });
    }

    /// Plans an input for a channel, on whichever node it runs.
    pub(super) fn inform_runner(&mut self, channel: usize, input: Input) {
        match self.life_that_runs(channel) {
            None if self.nodes.is_none() => self.inform(channel, input),
            None => {}
            Some(life) => {
                let (wait, input) = (self.hop(), Box::new(input));
                self.after(wait, Event::Tell { life, channel, input, is_answer: false });
            }
        }
    }

    /// How long a message takes from one part of the process to another.
    pub(super) fn hop(&mut self) -> Duration {
        Duration::from_micros(self.dice.below(300))
    }

    fn carry_out(&mut self, channel: usize, effect: Effect) {
        if self.watch.is_traced()
            && let Some(word) = words::effect(&effect)
        {
            self.watch.trace(&self.clock, &format!("    channel {channel} wants: {word}"));
        }
        match effect {
            Effect::Attempt(attempt) => self.attempt(channel, attempt),
            Effect::Write { writes, is_awaited } => {
                if let Some(process) = &mut self.process {
                    process.channels[channel].under_way += 1;
                }
                self.record(channel, writes, is_awaited);
            }
            Effect::Fetch(fetch) => self.ask_store(channel, Reading::Sends(fetch)),
            Effect::ReadWaits(send_id) => self.ask_store(channel, Reading::Waits(send_id)),
            Effect::ReadRecipients { send_id, from } => {
                self.ask_store(channel, Reading::Recipients { send_id, from });
            }
            Effect::ReadStates { question, messages } => {
                self.ask_store(channel, Reading::States { question, messages });
            }
            Effect::ReadWebActivity { since } => self.ask_store(channel, Reading::WebActivity(since)),
            Effect::LookUp(words) => self.look_up(&words),
            Effect::Connect { generation } => {
                if let Some(process) = &mut self.process {
                    process.channels[channel].generation = generation;
                }
                // The connector of a web session is there at once.
                if !self.is_web(channel) {
                    self.connect(channel, generation);
                }
            }
            Effect::Probe { generation, turn } => {
                self.watch.probed(channel);
                let now = self.clock.elapsed() + turn;
                let (after, health) = self.provider.health(channel, now);
                self.answer(channel, turn + after, Input::Probed { generation, health });
            }
            Effect::SaveConnection(save) => self.save_connection(channel, *save),
            Effect::Publish(connection) => {
                self.watch.shown(channel, &connection);
                if !connection.accepts() && self.is_troubled() && self.dice.happens(500) {
                    let wait = self.dice.time(Duration::from_millis(500), Duration::from_secs(20));
                    self.after(wait, Event::Reconnects(channel));
                }
                if let Some(process) = &mut self.process {
                    process.channels[channel].shown = connection;
                }
            }
            Effect::SaveNumber(number) => {
                if number.level.is_some() {
                    self.channels[channel].level = number.level;
                }
            }
            Effect::PauseTemplate(template_id) => self.pause_template(channel, template_id),
            Effect::AwaitPermits(turn) => {
                if let Some(process) = &mut self.process {
                    process.channels[channel].turns.push(turn);
                }
            }
            Effect::WakeAt(at) => {
                let at = self.clock.since_beginning(at).max(self.clock.elapsed());
                let Some(process) = &mut self.process else { return };
                let (life, running) = (process.life, &mut process.channels[channel]);
                running.timer += 1;
                running.wake = Some(at);
                let timer = running.timer;
                self.event_queue.plan(at, Event::Timer { life, channel, timer });
            }
            Effect::Reply(caller, Answer::Admission(answer)) => self.admission(channel, caller, answer),
            // No client of these worlds checks numbers.
            Effect::Reply(_, Answer::Lookup(_)) => {}
            Effect::Reply(caller, Answer::Done) => self.reply(channel, caller),
            Effect::Note(_) => {}
            Effect::End => {
                if let Some(process) = &mut self.process {
                    process.channels[channel].machine = None;
                }
                self.has_left(channel);
            }
        }
    }

    /// Hands a message to the provider.
    fn attempt(&mut self, channel: usize, attempt: Attempt) {
        if !self.may_begin() {
            return self.answer_not_begun(channel, &attempt);
        }
        self.figures.attempts += 1;
        self.watch_attempt(channel, attempt.ticket.key(), attempt.ticket.recipient);
        if self.nodes.is_some() {
            self.begin_soon(channel, attempt);
        } else if self.is_web(channel) {
            self.attempt_in_session(channel, attempt);
        } else {
            self.reach_provider(channel, &attempt);
        }
    }

    /// The provider gets a message.
    pub(super) fn reach_provider(&mut self, channel: usize, attempt: &Attempt) {
        self.watch_words(attempt);
        let Attempt { ticket, rendered: _, web: _, generation, started } = *attempt;
        let (key, recipient) = (ticket.key(), ticket.recipient);
        let now = self.clock.elapsed();
        let record = &self.channels[channel];
        let template = self.model.send(key.send_id).and_then(|send| send.template_id);
        let is_marketing =
            self.plan.templates.iter().any(|planned| Some(planned.id) == template && planned.is_marketing);
        let request = Request {
            channel,
            waba_id: record.waba_id.as_deref().unwrap_or_default(),
            company: record.company_id.as_u128(),
            key,
            recipient,
            template,
            is_marketing,
        };
        let Fate { reply, after, receipts } = self.provider.receive(&request, now);
        let reply = self.with_refused_words(reply);
        let is_certain = !matches!(reply, Reply::Uncertain(_)) && !self.is_fenced();
        self.figures.faults += u64::from(!matches!(reply, Reply::Accepted { .. }));
        let holds = self.watch.holds(channel);
        self.watch.provider_decided(key, is_certain, holds);
        // The receipt of a message with an unknown outcome may arrive just before its retry.
        let is_due = !is_certain && self.is_troubled() && self.dice.happens(400);
        for (wait, state) in receipts {
            let soon =
                if is_due { self.dice.time(Duration::ZERO, Duration::from_secs(2)) } else { Duration::ZERO };
            let wait = if is_due { after + self.plan.unknown_grace + soon } else { wait };
            let receipt = Receipt {
                key,
                company_id: self.channels[channel].company_id,
                state,
                provider_message_id: None,
                error: None,
                at: self.clock.wall().plus(wait),
                charge: None,
            };
            self.after(wait, Event::Webhook { channel, receipt: Box::new(receipt) });
        }
        self.answer(channel, after, Input::Answered(Answered { ticket, generation, reply, started }));
    }

    /// Adds a character to some texts of the provider that the database always refuses.
    fn with_refused_words(&mut self, mut reply: Reply) -> Reply {
        if self.goes_wrong(self.plan.trouble.row_refused) {
            match &mut reply {
                Reply::Accepted { id: words, .. } => words.push(REFUSED_CHARACTER),
                Reply::Refused { failure, .. } | Reply::Uncertain(failure) => {
                    failure.sentence.push(REFUSED_CHARACTER);
                }
                Reply::NotSent(_) | Reply::NoSocket(_) | Reply::Unsendable(_) => {}
            }
        }
        reply
    }

    fn connect(&mut self, channel: usize, generation: u64) {
        let wait = self.dice.time(Duration::from_millis(1), Duration::from_millis(30));
        let result = if self.store_fails() {
            Err(NotConnected::Failed)
        } else {
            let secret = self.channels[channel].company_id;
            Ok(Connected { app: AppId::of(secret.as_bytes()) })
        };
        self.answer(channel, wait, Input::Connected { generation, result });
    }

    /// The state of a channel is written, unless somebody else changed it since.
    fn save_connection(&mut self, channel: usize, save: SaveConnection) {
        let wait = self.dice.time(Duration::from_millis(1), Duration::from_millis(40));
        let SaveConnection { from, to, trial } = save;
        let saved = if self.store_fails() {
            Saved::Failed
        } else if self.channels[channel].connection == from {
            self.revision += 1;
            let record = &mut self.channels[channel];
            record.connection = to;
            record.trial = trial;
            record.revision = self.revision;
            Saved::Done { revision: self.revision }
        } else {
            let record = self.channels[channel].clone();
            self.watch.retuned(channel, &self.plan, &record.tier, self.clock.elapsed());
            Saved::Overtaken(Some(Box::new(record)))
        };
        self.answer(channel, wait, Input::ConnectionSaved(saved));
    }

    fn pause_template(&mut self, channel: usize, template_id: i64) {
        let wait = self.dice.time(Duration::from_millis(1), Duration::from_millis(40));
        let result = if self.store_fails() {
            Err(Failed::Temporarily)
        } else {
            self.model.pause_template(template_id, self.clock.wall());
            let resumed = self.dice.time(Duration::from_secs(5), Duration::from_secs(60));
            self.after(resumed, Event::TemplateResumes(template_id));
            Ok(())
        };
        self.answer(channel, wait, Input::TemplateMarked { template_id, result });
    }

    /// The caller hears that it is done.
    fn reply(&mut self, channel: usize, caller: Caller) {
        let Some(process) = &mut self.process else { return };
        let stopping = &mut process.channels[channel].stopping;
        if let Some(place) = stopping.iter().position(|(waiting, _)| *waiting == caller) {
            let (_, send_id) = stopping.swap_remove(place);
            if !self.answer_note(caller) && !self.is_anothers(channel) {
                self.watch_stopped(send_id);
            }
        }
    }

    /// Passes permits to the channels whose turn came.
    pub(super) fn serve_permits(&mut self) {
        let Some(process) = &mut self.process else { return };
        let life = process.life;
        let mut granted = Vec::new();
        for (channel, running) in process.channels.iter_mut().enumerate() {
            running.turns.retain_mut(|turn| {
                let grant = turn.try_take();
                let is_granted = grant.is_some();
                granted.extend(grant.map(|grant| (channel, grant)));
                !is_granted
            });
        }
        for (channel, grant) in granted {
            let input = Box::new(Input::PermitsGranted(Some(grant)));
            self.after(Duration::ZERO, Event::Tell { life, channel, input, is_answer: false });
        }
    }
}
