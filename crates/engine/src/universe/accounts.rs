//! The shell of the business accounts in the world: carries out the effects of their real machines.
//!
//! Durations and failures follow from the count of steps: the dice are thrown by the other parts, so that a world
//! without busy accounts keeps its story.

use std::sync::Arc;
use std::time::Duration;

use super::world::{Event, World};
use crate::account::{Effect, Input, Unread};
use crate::channel::machine;
use clock::Timestamp;

impl World {
    /// Carries out the effects of the accounts' machines.
    pub(super) fn serve_accounts(&mut self) {
        let Some(process) = &self.process else { return };
        for (account, effect) in process.common.accounts.take_effects() {
            self.do_for_account(&account, &effect);
        }
    }

    fn do_for_account(&mut self, account: &Arc<str>, effect: &Effect) {
        let Some(process) = &self.process else { return };
        let life = process.life;
        match effect {
            Effect::Tell { channel, update } => {
                let Some(channel) = self.channel_of(*channel) else { return };
                let input = Box::new(machine::Input::Account(*update));
                self.after(self.account_takes(300), Event::Tell { life, channel, input, is_answer: false });
            }
            Effect::WakeAt(at) => {
                let at = self.clock.since_beginning(*at).max(self.clock.elapsed());
                let (account, input) = (Arc::clone(account), Box::new(Input::Timer));
                self.event_queue.plan(at, Event::Account { life, account, input });
            }
            Effect::ListTemplates { company, .. } => {
                let (wait, is_success) = (self.account_takes(400_000), !self.account_fails());
                if is_success {
                    self.list_templates();
                }
                let input = Box::new(Input::TemplatesListed { company: *company, is_success });
                let account = Arc::clone(account);
                self.after(wait, Event::Account { life, account, input });
            }
            Effect::ReadPeople { span } => {
                let (account, span) = (Arc::clone(account), *span);
                self.after(self.account_takes(3_000), Event::AccountReads { life, account, span });
            }
            Effect::End => process.common.accounts.forget(account),
            Effect::Answer(_) | Effect::Publish(_) => {}
        }
    }

    /// A duration of less than `most` microseconds.
    const fn account_takes(&self, most: u64) -> Duration {
        Duration::from_micros(self.figures.steps.wrapping_mul(7_919) % most)
    }

    /// Whether an operation fails: one in seven does while things go wrong.
    fn account_fails(&mut self) -> bool {
        let fails = self.is_troubled() && self.figures.steps.is_multiple_of(7);
        self.figures.faults += u64::from(fails);
        fails
    }

    /// Passes an input to an account's machine.
    pub(super) fn tell_account(&self, account: &str, input: Input) {
        let now = self.clock.now();
        if let Some(process) = &self.process {
            process.common.accounts.feed(account, input, now);
        }
    }

    /// Reads the people whom an account wrote to; the end of the read takes time too.
    pub(super) fn read_for_account(&mut self, account: Arc<str>, span: (Timestamp, Timestamp)) {
        let result = if self.account_fails() {
            Err(Unread)
        } else {
            let of_account =
                self.channels.iter().filter(|channel| channel.waba_id.as_deref() == Some(&*account));
            let channels: Vec<_> = of_account.map(|channel| channel.id).collect();
            let mut people = self.model.template_recipients(&channels, span);
            people.iter_mut().for_each(|written| written.recipient = written.recipient.person());
            self.tell_account(&account, Input::PeopleFound(people));
            Ok(())
        };
        let wait = self.account_takes(3_000);
        let Some(process) = &self.process else { return };
        let (life, input) = (process.life, Box::new(Input::PeopleRead { span, result }));
        self.after(wait, Event::Account { life, account, input });
    }
}
