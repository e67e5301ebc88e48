//! The passkey gate: WhatsApp asks for a passkey of the account, then the person compares a code.

use std::time::{Duration, Instant};

use super::effect::Effects;
use super::ending::After;
use super::pairing::{Pairing, Passkey, Stage};
use super::{Machine, later};
use super::{NotExpected, PasskeyAnswer};
use crate::Moment;
use domain::secret::Secret;
use domain::web_session::{Challenge, End, PasskeyRefused};

/// The gate as the machine follows it.
#[derive(Default)]
pub(super) struct Gate {
    /// When WhatsApp gives up waiting.
    pub(super) until: Option<Instant>,
    /// An answer that was not passed to the session yet.
    pub(super) wanted: Option<PasskeyAnswer>,
    /// The present step was answered.
    is_answered: bool,
}

impl Machine {
    pub(super) const fn is_at_passkey(&self) -> bool {
        self.pairing.stage.is_at_passkey()
    }

    /// WhatsApp asks for a passkey of the account.
    pub(super) fn passkey_required(
        &mut self,
        challenge: Challenge,
        valid_for: Duration,
        at: Moment,
        effects: &mut Effects,
    ) {
        tracing::info!(channel.id = %self.channel, channel.name = %self.name, "WhatsApp asks for a passkey of the account");
        self.gate = Gate { until: Some(later(at, valid_for)), ..Gate::default() };
        self.code_for = None;
        let expires_at = at.wall.plus(valid_for);
        let passkey = Passkey { challenge, code: None, expires_at, waits_for_phone: false };
        self.show(effects, |pairing| {
            let stage = Stage::PasskeyRequired;
            *pairing = Pairing { stage, passkey: Some(passkey), ..Pairing::default() };
        });
    }

    /// The passkey was accepted, and the phone shows this code.
    pub(super) fn passkey_code(&mut self, code: Secret, is_proven: bool, effects: &mut Effects) {
        if !self.is_at_passkey() {
            return;
        }
        self.gate.is_answered = is_proven;
        self.gate.wanted = is_proven.then_some(PasskeyAnswer::Confirmation);
        self.show(effects, |pairing| {
            pairing.stage = Stage::PasskeyConfirm;
            if let Some(passkey) = &mut pairing.passkey {
                passkey.code = Some(code);
                passkey.waits_for_phone = false;
            }
        });
    }

    /// The connection on which WhatsApp waited is lost, and its question with it.
    pub(super) fn gate_lost(&mut self, effects: &mut Effects) {
        if self.is_at_passkey() {
            self.gate = Gate::default();
            self.show_stage(Stage::Starting, effects);
        }
    }

    /// Takes an answer for the present step, to be passed to the session.
    pub(super) fn take_passkey(&mut self, answer: PasskeyAnswer) -> Result<(), NotExpected> {
        match (&answer, self.pairing.stage, &self.pairing.passkey) {
            (_, stage, _) if self.gate.is_answered && stage.is_at_passkey() => {
                return Err(NotExpected::Answered);
            }
            (PasskeyAnswer::Assertion(assertion), Stage::PasskeyRequired, Some(passkey)) => {
                if !assertion.answers(&passkey.challenge) {
                    return Err(NotExpected::OtherChallenge);
                }
            }
            (PasskeyAnswer::Confirmation, Stage::PasskeyConfirm, Some(_)) => {}
            (_, stage, _) => return Err(NotExpected::Stage(stage)),
        }
        self.gate.is_answered = true;
        self.gate.wanted = Some(answer);
        Ok(())
    }

    /// The session reports WhatsApp's result for an answer.
    pub(super) fn passkey_answered(&mut self, answer: Result<(), PasskeyRefused>, effects: &mut Effects) {
        if !self.is_open() {
            return;
        }
        match answer {
            Ok(()) => {
                let is_answered = self.gate.is_answered;
                self.show(effects, |pairing| {
                    if let Some(passkey) = &mut pairing.passkey {
                        passkey.waits_for_phone = is_answered;
                    }
                });
            }
            Err(PasskeyRefused(sentence)) => self.not_passed(End::PasskeyRefused { sentence }, effects),
        }
    }

    /// WhatsApp no longer waits, or did not accept the answer.
    pub(super) fn not_passed(&mut self, end: End, effects: &mut Effects) {
        if self.is_at_passkey() {
            self.stop(After::Pairing(end), effects);
        } else {
            // WhatsApp's question is over.
            self.gate = Gate::default();
        }
    }
}
