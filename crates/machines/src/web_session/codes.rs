//! Pairing codes: requested, shown, refused.

use std::time::Duration;

use super::effect::Effects;
use super::pairing::{Shown, Stage};
use super::{Machine, Phase};
use crate::Moment;
use domain::channel::Status;
use domain::phone::PhoneNumber;
use domain::secret::Secret;
use domain::web_session::PairingFailure;

/// How long a pairing code is valid; the session's own time is more exact.
const CODE_SPAN: Duration = Duration::from_secs(160);

impl Machine {
    /// A person wants to link a phone.
    pub(super) fn want(&mut self, number: Option<PhoneNumber>, effects: &mut Effects) {
        // A linked and connected session needs no code: one that it shows later is unexpected all the same.
        self.is_wanted = !(self.is_linked && self.connection.status == Status::Connected);
        if self.is_linked || self.is_at_passkey() {
            return;
        }
        if number.is_some() && number != self.code_for {
            self.code_wanted = number;
            self.code_for = number;
            self.show(effects, |pairing| (pairing.code, pairing.code_failure) = (None, None));
        }
    }

    pub(super) fn code_answered(
        &mut self,
        answer: Result<Secret, PairingFailure>,
        at: Moment,
        effects: &mut Effects,
    ) {
        let Phase::Open { asks_code, .. } = &mut self.phase else { return };
        *asks_code = false;
        match answer {
            // The session may have shown the code already, with its remaining time.
            Ok(code) if self.pairing.code.as_ref().is_some_and(|shown| shown.secret == code) => {}
            Ok(code) => self.show_code(code, CODE_SPAN, at, effects),
            Err(failure) => self.code_failed(&failure, effects),
        }
    }

    pub(super) fn show_code(&mut self, code: Secret, valid_for: Duration, at: Moment, effects: &mut Effects) {
        // The answer to the request for a code may come after the phone has used the code.
        if self.is_at_passkey() {
            return;
        }
        let code = Shown { secret: code, expires_at: at.wall.plus(valid_for) };
        self.show(effects, |pairing| {
            pairing.stage = Stage::Waiting;
            (pairing.code, pairing.code_failure) = (Some(code), None);
        });
    }

    pub(super) fn code_failed(&mut self, failure: &PairingFailure, effects: &mut Effects) {
        // Another code was requested meanwhile and is still to come.
        if self.code_wanted.is_none() {
            self.code_for = None;
        }
        let sentence = failure.to_string();
        tracing::info!(channel.id = %self.channel, channel.name = %self.name, sentence, "WhatsApp gave no pairing code");
        self.show(effects, |pairing| (pairing.code, pairing.code_failure) = (None, Some(sentence)));
    }
}
