//! Writes of a session: the channel's state, and the number of the phone.

use std::mem;

use super::effect::{Answer, Change, Effect, Effects, Write};
use super::end_policy::{self, Then};
use super::input::Saved;
use super::pairing::Stage;
use super::{Machine, Phase, WRITE_PAUSE};
use crate::{Caller, Moment};
use domain::channel::{Connection, Reason, Status};

impl Machine {
    /// Changes to a state, unless the channel is in it already.
    pub(super) fn go_over(
        &mut self,
        status: Status,
        reason: Option<Reason>,
        at: Moment,
        effects: &mut Effects,
    ) {
        self.go_over_to(Connection { status, reason, since: at.wall }, effects);
    }

    /// The session is connected, to a restricted account if WhatsApp restricted it recently.
    pub(super) fn connected(&mut self, at: Moment, effects: &mut Effects) {
        let until = self.restriction.as_ref().and_then(end_policy::restricted_until);
        match until.filter(|until| *until > at.wall).and(self.restriction.clone()) {
            Some(restricted) => self.go_over_to(restricted, effects),
            None => self.go_over(Status::Connected, None, at, effects),
        }
    }

    /// WhatsApp restricted the account.
    pub(super) fn restricted(&mut self, at: Moment, effects: &mut Effects) {
        let reason = Some(end_policy::restricted());
        let restricted = Connection { status: Status::Connected, reason, since: at.wall };
        self.restriction = Some(restricted.clone());
        self.go_over_to(restricted, effects);
    }

    fn go_over_to(&mut self, to: Connection, effects: &mut Effects) {
        let code = |reason: &Option<Reason>| reason.as_ref().map(|reason| reason.code.clone());
        let newest = self.next_connection.as_ref().unwrap_or(&self.connection);
        if newest.status != to.status || code(&newest.reason) != code(&to.reason) {
            self.next_connection = Some(to);
        }
        self.write(effects);
    }

    /// Writes the state and number that are not stored yet. A failed write is retried at the next occasion.
    pub(super) fn write(&mut self, effects: &mut Effects) {
        if self.writing.is_some() {
            return;
        }
        let next = self.next_connection.clone();
        let connection = next.map(|to| Change { from: self.connection.clone(), to });
        let number = self.next_number;
        if number.is_none() && connection.is_none() {
            self.write_again_at = None;
            return;
        }
        let write = Write { number, connection };
        self.writing = Some(write.clone());
        effects.push(Effect::Write(Box::new(write)));
    }

    /// A write ended.
    pub(super) fn written(&mut self, result: Result<Saved, String>, at: Moment, effects: &mut Effects) {
        let Some(Write { number, connection }) = self.writing.take() else { return };
        match result {
            Ok(saved) => {
                if self.next_number == number {
                    self.next_number = None;
                }
                self.saved(saved, connection);
                self.write(effects);
            }
            Err(words) => self.unwritten(&words, at),
        }
        let is_over = self.writing.is_none();
        match self.phase {
            Phase::Settling { then } if is_over && self.write_again_at.is_none() => {
                self.forget(then, at, effects);
            }
            Phase::Leaving if is_over => self.forget(Then::Close, at, effects),
            _ => {}
        }
    }

    fn saved(&mut self, saved: Saved, change: Option<Change>) {
        let Some(Change { from, to }) = change else { return };
        match saved {
            // The session's state is newer than the stored one.
            Saved::Overtaken(connection) => {
                self.connection = connection;
                return;
            }
            Saved::Done => {
                let (from, to) = (from.status, to.status);
                tracing::info!(channel.id = %self.channel, channel.name = %self.name, %from, %to, "the channel changed state");
            }
            Saved::Gone => {}
        }
        if self.next_connection.as_ref() == Some(&to) {
            self.next_connection = None;
        }
        self.connection = to;
    }

    /// Deletes the keys and writes the channel's state in one transaction, and retries until that succeeds. Commands
    /// that arrive during this are refused.
    pub(super) fn wipe(&mut self, to: Connection, done: Option<Caller>, effects: &mut Effects) {
        effects.push(Effect::Wipe(to.clone()));
        self.phase = Phase::Wiping { to, done, again_at: None };
    }

    /// The deletion of the keys ended.
    pub(super) fn wiped(&mut self, result: Result<(), String>, at: Moment, effects: &mut Effects) {
        let Phase::Wiping { to, done, again_at } = &mut self.phase else { return };
        if let Err(words) = result {
            *again_at = Some(at.monotonic + WRITE_PAUSE);
            return self.unwritten(&words, at);
        }
        tracing::info!(channel.id = %self.channel, channel.name = %self.name, to = %to.status, "the web session's keys were deleted");
        let done = mem::take(done);
        self.show_stage(Stage::default(), effects);
        if let Some(caller) = done {
            effects.push(Effect::Reply(caller, Answer::Done));
        }
        self.end(effects);
    }

    /// Logs a failed write, once and not with every attempt.
    fn unwritten(&mut self, words: &str, at: Moment) {
        if self.write_again_at.replace(at.monotonic + WRITE_PAUSE).is_none() {
            tracing::error!(channel.id = %self.channel, channel.name = %self.name, error = words, "cannot write the channel's state");
        }
    }
}
