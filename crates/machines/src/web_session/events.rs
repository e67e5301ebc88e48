//! Handles the events of a session.

use super::Machine;
use super::SessionUpdate;
use super::effect::{Effect, Effects};
use super::end_policy;
use super::pairing::{Pairing, Shown, Stage};
use crate::Moment;
use domain::channel::Status;
use domain::web_session::{AckState, Event};

/// Whether the caller that waits for the first acknowledgement of a message writes it. All other acknowledgements are
/// written here.
pub const fn is_written_by_sender(is_awaited: bool, state: AckState) -> bool {
    is_awaited && matches!(state, AckState::Server | AckState::Refused { .. })
}

impl Machine {
    /// Handles an event, except [`Event::Ended`].
    pub(super) fn hear(&mut self, event: Event, at: Moment, effects: &mut Effects) {
        match event {
            Event::Qr { payload, valid_for } => {
                self.is_linked = false;
                let qr = Shown { secret: payload, expires_at: at.wall.plus(valid_for) };
                self.show(effects, |pairing| {
                    pairing.stage = Stage::Waiting;
                    pairing.qr = Some(qr);
                });
                self.go_over(Status::Pairing, None, at, effects);
            }
            Event::QrExhausted => self.show(effects, |pairing| pairing.qr = None),
            Event::PairingCode { code, valid_for } => self.show_code(code, valid_for, at, effects),
            Event::PairingCodeExpired => {
                self.code_for = None;
                self.show(effects, |pairing| pairing.code = None);
            }
            Event::PairingCodeFailed(failure) => self.code_failed(&failure, effects),
            Event::PasskeyRequired { challenge, valid_for } => {
                self.passkey_required(challenge, valid_for, at, effects);
            }
            Event::PasskeyCode { code, is_proven } => self.passkey_code(code, is_proven, effects),
            Event::Paired { number, lid: _, business_name: _ } => {
                tracing::info!(channel.id = %self.channel, channel.name = %self.name, "a phone was linked");
                self.is_linked = true;
                self.code_for = None;
                self.next_number = Some((number, at.wall));
                self.linked_at = Some(at.wall);
                self.restriction = None;
                self.show_stage(Stage::Linking, effects);
                self.go_over(Status::Connecting, None, at, effects);
            }
            Event::Connected => {
                self.is_linked = true;
                self.is_wanted = false;
                self.failures = 0;
                self.show_stage(Stage::Linked, effects);
                self.connected(at, effects);
            }
            Event::Unreachable { attempts, sentence } => {
                let (status, reason) = end_policy::unreachable(attempts, &sentence);
                if self.is_linked {
                    self.go_over(status, reason, at, effects);
                } else if reason.is_some() {
                    self.go_over(Status::Pairing, reason, at, effects);
                }
            }
            // The session reconnects at once, and reports a failure.
            Event::Disconnected { sentence } => {
                tracing::debug!(channel.id = %self.channel, channel.name = %self.name, sentence, "the connection was lost");
                self.gate_lost(effects);
            }
            Event::Ack(ack) => {
                if ack.state.is_restricted() && self.connection.reason.is_none() {
                    self.restricted(at, effects);
                }
                effects.push(Effect::Hear(ack));
            }
            Event::LidLearned { number, lid } => effects.push(Effect::Tell(SessionUpdate::Lid(number, lid))),
            Event::Inbound { from } => effects.push(Effect::Tell(SessionUpdate::Inbound(from))),
            Event::Missed { count } => {
                tracing::warn!(channel.id = %self.channel, channel.name = %self.name, count, "delivery updates dropped: consumer too slow");
            }
            Event::Ended(_) => {}
        }
    }

    /// Shows this stage, without the codes of earlier steps.
    pub(super) fn show_stage(&mut self, stage: Stage, effects: &mut Effects) {
        self.show(effects, |pairing| *pairing = Pairing { stage, ..Pairing::default() });
    }
}
