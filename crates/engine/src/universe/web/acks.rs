//! WhatsApp's acknowledgements: late, lost, doubled, and after the session has reconnected.

use std::time::Duration;

use uuid::Uuid;

use super::super::answers::Asked;
use super::super::world::World;
use super::WebEvent;
use super::phone::SessionStep;
use crate::ledger::Hear;
use crate::ledger::machine::Input as ToLedger;
use crate::web_session::heard;
use crate::web_session::machine::is_written_by_sender;
use domain::message::Key;
use driver::{Ack, AckState, Event, MessageId, RESTRICTED};
use store::ledger::Receipt;

/// Delay before receipts that were not written are handed to the ledger again.
const AGAIN: Duration = Duration::from_secs(1);

impl World {
    /// Plans WhatsApp's acknowledgements of a message that it has.
    pub(super) fn plan_acks(&mut self, channel: usize, session: u64, send_id: Uuid) {
        let trouble = self.plan.trouble;
        let mut at = self.dice.time(Duration::from_millis(20), Duration::from_millis(900));
        let is_refused = self.goes_wrong(trouble.undeliverable);
        let code = Some(if self.dice.happens(500) { RESTRICTED } else { 479 });
        let word = if is_refused { AckState::Refused { code } } else { AckState::Server };
        // The server's own acknowledgement comes on this connection or never.
        if !self.goes_wrong(trouble.receipt_missing / 2) {
            let ack = self.ack(send_id, word);
            self.after_for_web(at, WebEvent::Step { session, step: SessionStep::Tells(Event::Ack(ack)) });
        }
        if is_refused {
            return;
        }
        let last = self.dice.below(3);
        for state in
            [AckState::Delivered, AckState::Read].into_iter().take(usize::try_from(last).unwrap_or(0))
        {
            at += self.dice.time(Duration::from_millis(50), Duration::from_secs(4));
            if self.goes_wrong(trouble.receipt_missing) {
                continue;
            }
            if self.goes_wrong(trouble.receipt_late) {
                at += self.dice.time(Duration::from_secs(1), Duration::from_secs(60));
            }
            self.after_anyway(at, WebEvent::Receipt { channel, send_id, state });
            if self.goes_wrong(trouble.receipt_twice) {
                let again = at + self.dice.time(Duration::ZERO, Duration::from_secs(20));
                self.after_anyway(again, WebEvent::Receipt { channel, send_id, state });
            }
        }
    }

    fn ack(&self, send_id: Uuid, state: AckState) -> Ack {
        Ack { id: MessageId::of_send(send_id), state, at: self.clock.wall(), from: None }
    }

    /// WhatsApp sends an acknowledgement to the session that is connected, or to the next one.
    pub(super) fn tell_ack(&mut self, channel: usize, send_id: Uuid, state: AckState) {
        let ack = self.ack(send_id, state);
        let Some(phone) = self.web.phones.get_mut(&channel) else { return };
        let open = phone.open;
        if let Some(open) = open
            && self.session(open).is_some_and(|session| session.is_connected)
        {
            return self.tell_supervisor(open, Some(Event::Ack(ack)));
        }
        if let Some(phone) = self.web.phones.get_mut(&channel) {
            phone.hold(ack);
        }
    }

    /// The supervisor gets an acknowledgement: an attempt that waits for the first one writes it, the others are
    /// written here.
    pub(super) fn hear_ack(&mut self, channel: usize, ack: &Ack) {
        let is_awaited =
            self.send_of(channel, ack).is_some_and(|send_id| self.first_word(send_id, ack.state));
        if !is_written_by_sender(is_awaited, ack.state) {
            self.take_in_ack(channel, ack);
        }
    }

    /// The send of a message, by the time in its id.
    fn send_of(&self, channel: usize, ack: &Ack) -> Option<Uuid> {
        let (millis, tail) = ack.id.stamp()?;
        self.model.send_of_stamp(self.channels[channel].id, millis, tail)
    }

    pub(super) fn take_in_ack(&mut self, channel: usize, ack: &Ack) {
        let Some(send_id) = self.send_of(channel, ack) else { return };
        let (state, error) = heard(ack.state);
        let receipt = Receipt {
            key: Key { send_id, ordinal: 0 },
            company_id: self.channels[channel].company_id,
            state,
            provider_message_id: Some(ack.id.as_str().to_owned()),
            error,
            at: ack.at,
            charge: None,
        };
        self.hear_session(channel, vec![receipt]);
    }

    pub(super) fn hear_session(&mut self, channel: usize, receipts: Vec<Receipt>) {
        let hear = Hear { receipts: receipts.clone(), ..Hear::default() };
        self.ask_ledger(Asked::HearSession(channel, receipts), |caller| ToLedger::Hear { hear, caller });
    }

    /// The ledger could not write these receipts now.
    pub(in crate::universe) fn hear_session_again(&mut self, channel: usize, receipts: Vec<Receipt>) {
        self.after_for_web(AGAIN, WebEvent::HearAgain { channel, receipts });
    }
}
