//! An unlinked device: the codes that it shows, one after the other, until the phone uses one.

use std::sync::Arc;

use tokio::sync::mpsc::WeakSender;
use tokio::time::Instant;

use super::Shared;
use super::codes::{self, Code};
use super::device::Command;
use super::telling::Telling;
use domain::phone::PhoneNumber;
use domain::secret::Secret;
use driver::Event;

/// The phone's default number; no country has the code 999.
const OWN_NUMBER: u64 = 999_700_000_001;

pub(super) struct Pairing {
    shared: Arc<Shared>,
    device: WeakSender<Command>,
    qr: Option<Code>,
    /// QR codes so far.
    shown: u32,
    /// Whether there will be no more codes.
    is_exhausted: bool,
    /// A code to be typed, and the number of the phone that it is for.
    typed: Option<(Code, PhoneNumber)>,
}

impl Pairing {
    pub(super) fn new(shared: Arc<Shared>, device: WeakSender<Command>) -> Self {
        Self { shared, device, qr: None, shown: 0, is_exhausted: false, typed: None }
    }

    /// When the next action is due.
    pub(super) fn next_time(&self) -> Option<Instant> {
        let typed = self.typed.as_ref().map(|(code, _)| code.until);
        self.qr.as_ref().map(|code| code.until).into_iter().chain(typed).min()
    }

    /// Removes expired codes and shows the next one. Returns whether no usable code is left.
    pub(super) fn pass(&mut self, now: Instant, telling: &mut Telling) -> bool {
        if self.typed.as_ref().is_some_and(|(code, _)| code.until <= now) {
            self.typed = None;
            telling.tell(Event::PairingCodeExpired);
        }
        while !self.is_exhausted && self.qr.as_ref().is_none_or(|code| code.until <= now) {
            self.qr = None;
            if self.shown == self.shared.options.qr_codes {
                self.is_exhausted = true;
                telling.tell(Event::QrExhausted);
            } else {
                self.show(now, telling);
            }
        }
        self.is_exhausted && self.typed.is_none()
    }

    fn show(&mut self, now: Instant, telling: &mut Telling) {
        let options = &self.shared.options;
        let valid_for = if self.shown == 0 { options.first_qr } else { options.next_qr };
        let text = codes::scanned();
        telling.tell(Event::Qr { payload: Secret::new(text.clone()), valid_for });
        self.qr = Some(Code::show(&self.shared, &self.device, text, now + valid_for));
        self.shown += 1;
    }

    /// Shows a code to type into the phone with this number, in place of an older one.
    pub(super) fn give_code(&mut self, number: PhoneNumber, now: Instant, telling: &mut Telling) -> Secret {
        let (text, valid_for) = (codes::typed(), self.shared.options.pairing_code);
        let code = Secret::new(text.clone());
        telling.tell(Event::PairingCode { code: code.clone(), valid_for });
        self.typed = Some((Code::show(&self.shared, &self.device, text, now + valid_for), number));
        code
    }

    /// The number of the phone that used this code; `None` when the code is not shown any more. A code that was typed
    /// belongs to its number already.
    pub(super) fn used(&self, code: &str, number: Option<PhoneNumber>) -> Option<PhoneNumber> {
        if let Some((typed, number)) = &self.typed
            && typed.text == code
        {
            return Some(*number);
        }
        self.qr.as_ref().filter(|qr| qr.text == code)?;
        number.or(PhoneNumber::from_u64(OWN_NUMBER))
    }
}
