//! Linking a phone: codes, the passkey gate, and the keys that are written before the phone is told.

use std::time::Duration;

use super::super::world::World;
use super::WebEvent;
use super::actions::{Action, CHALLENGE};
use super::phone::SessionStep;
use crate::web_session::machine::Input;
use crate::web_session::{Pairing, PasskeyAnswer, Stage};
use domain::secret::Secret;
use driver::{Challenge, End, Event, PairingFailure, PasskeyRefused};

impl World {
    /// The session that messages of the channel go out through.
    fn handle(&self, channel: usize) -> Option<u64> {
        self.process.as_ref()?.web.handles.get(&channel).copied()
    }

    /// The person looks at the shown progress of the pairing.
    pub(super) fn show_pairing(&mut self, channel: usize, pairing: &Pairing) {
        let Some(number) = self.handle(channel) else { return };
        let action = match pairing.stage {
            Stage::Waiting if pairing.qr.is_some() || pairing.code.is_some() => Action::Scans(number),
            Stage::PasskeyRequired if pairing.passkey.as_ref().is_some_and(|it| !it.waits_for_phone) => {
                Action::Signs
            }
            Stage::PasskeyConfirm if pairing.passkey.as_ref().is_some_and(|it| !it.waits_for_phone) => {
                Action::Confirms
            }
            _ => return,
        };
        if self.dice.happens(700) {
            let wait = self.dice.time(Duration::from_millis(500), Duration::from_secs(15));
            self.after_for_web(wait, WebEvent::Person { channel, action });
        }
    }

    /// The person scans the code, or types it.
    pub(super) fn scan(&mut self, number: u64) {
        let asks_passkey = self.dice.happens(300);
        let refuses = self.goes_wrong(50);
        let Some(session) = self.session(number).filter(|it| it.device.is_none() && !it.is_scanned) else {
            return;
        };
        session.is_scanned = true;
        if refuses {
            let sentence = "the phone refused".to_owned();
            return self.end_session(number, Some(End::PairingFailed { sentence }));
        }
        let wait = self.dice.time(Duration::from_millis(200), Duration::from_secs(3));
        let step = if asks_passkey && let Ok(challenge) = Challenge::parse(CHALLENGE) {
            let valid_for = self.dice.time(Duration::from_secs(10), Duration::from_secs(60));
            SessionStep::Tells(Event::PasskeyRequired { challenge, valid_for })
        } else {
            SessionStep::Paired
        };
        self.step_later(number, wait, step);
    }

    /// The keys are written, then the session reports that the phone accepted the device.
    pub(super) fn paired(&mut self, number: u64) {
        let fails = self.goes_wrong(self.plan.trouble.read_fails);
        let Some(session) = self.session(number).filter(|it| it.device.is_none() && !it.is_closed) else {
            return;
        };
        let channel = session.channel;
        if fails {
            let sentence = "its keys could not be written".to_owned();
            return self.end_session(number, Some(End::Failed { sentence }));
        }
        let Some(phone) = self.web.phones.get_mut(&channel) else { return };
        phone.devices += 1;
        let (device, own) = (phone.devices, phone.number);
        phone.linked = Some(device);
        phone.held.clear();
        self.web.keys.link(channel, device);
        self.figures.paired += 1;
        self.watch.linked(channel);
        if let Some(session) = self.session(number) {
            session.device = Some(device);
        }
        self.tell_supervisor(number, Some(Event::Paired { number: own, lid: None, business_name: None }));
        let wait = self.dice.time(Duration::from_millis(100), Duration::from_secs(3));
        self.step_later(number, wait, SessionStep::Dials);
    }

    /// WhatsApp gives a pairing code, or none.
    pub(super) fn answer_code(&mut self, channel: usize) {
        let answer = if self.goes_wrong(200) {
            Err(PairingFailure::Throttled { retry_after: None })
        } else {
            Ok(Secret::new("ABCD-EFGH".to_owned()))
        };
        self.answer_later(channel, Input::CodeAnswered(answer));
    }

    /// Plans the replies to an answer at the passkey gate: WhatsApp's, then the phone's.
    pub(super) fn answer_gate(&mut self, channel: usize, answer: &PasskeyAnswer) {
        if self.goes_wrong(100) {
            let refused = PasskeyRefused("it is not of this account".to_owned());
            return self.answer_later(channel, Input::PasskeyAnswered(Err(refused)));
        }
        self.answer_later(channel, Input::PasskeyAnswered(Ok(())));
        let Some(number) = self.handle(channel) else { return };
        let wait = self.dice.time(Duration::from_millis(500), Duration::from_secs(6));
        let is_proven = self.dice.happens(300);
        let step = match answer {
            PasskeyAnswer::Assertion(_) => {
                SessionStep::Tells(Event::PasskeyCode { code: Secret::new("AB-CD".to_owned()), is_proven })
            }
            PasskeyAnswer::Confirmation => SessionStep::Paired,
        };
        self.step_later(number, wait, step);
    }

    fn answer_later(&mut self, channel: usize, input: Input) {
        let Some(number) = self.handle(channel) else { return };
        let wait = self.dice.time(Duration::from_millis(50), Duration::from_secs(2));
        self.step_later(number, wait, SessionStep::Answers(input));
    }
}
