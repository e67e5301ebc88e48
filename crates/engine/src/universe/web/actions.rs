//! People with a phone in their hand, and those who link and unlink it through the service.

use std::time::Duration;

use serde_json::json;

use super::super::world::World;
use super::WebEvent;
use crate::web_session::PasskeyAnswer;
use domain::phone::PhoneNumber;
use driver::{Assertion, Event};

/// How often a person who is turned away asks.
const TRIES: u32 = 3;
/// WhatsApp's challenge, and the challenge as a browser signs it.
pub(super) const CHALLENGE: &str = r#"{"challenge":"AAAA"}"#;
const SIGNED: &str = "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiQUFBQSJ9";

/// An action of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::universe) enum Action {
    /// A client sends a message to one person.
    Sends,
    Wish(Wish),
    /// The device is taken off the phone's list.
    Unlinks,
    /// The same device connects elsewhere.
    ConnectsElsewhere,
    /// WhatsApp bans the account.
    IsBanned,
    /// A person writes to the session.
    IsWrittenTo,
    /// The code of this session is scanned, or typed.
    Scans(u64),
    /// The challenge is signed.
    Signs,
    /// The codes are the same.
    Confirms,
}

/// A request of a person to the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::universe) enum Wish {
    Pair { tries: u32, code_for: Option<PhoneNumber> },
    Unlink { tries: u32 },
    Passkey(PasskeyAnswer),
}

impl World {
    /// Plans what people do with web channels while things go wrong.
    pub(in crate::universe) fn plan_web_people(&mut self) {
        for channel in (0..self.channels.len()).filter(|channel| self.is_web(*channel)).collect::<Vec<_>>() {
            let singles = self.dice.between(5, 50);
            let mut often = |most| if self.plan.is_calm { 0 } else { self.dice.below(most) };
            let actions = [
                (Action::Sends, singles),
                (Action::Wish(pair(None)), often(4)),
                (Action::Wish(Wish::Unlink { tries: TRIES }), often(2)),
                (Action::Unlinks, often(2)),
                (Action::ConnectsElsewhere, often(3)),
                (Action::IsBanned, often(2)),
                (Action::IsWrittenTo, often(12)),
            ];
            for (action, times) in actions {
                for _ in 0..times {
                    let wait = self.dice.time(Duration::from_millis(1), self.plan.lasts);
                    self.after_anyway(wait, WebEvent::Person { channel, action: action.clone() });
                }
            }
        }
    }

    pub(super) fn person_with_phone(&mut self, channel: usize, action: Action) {
        match action {
            Action::Sends => self.write_to_one(channel),
            Action::Wish(wish) => self.wish(channel, wish),
            Action::Unlinks => self.unlink_on_phone(channel),
            Action::ConnectsElsewhere => self.connect_elsewhere(channel),
            Action::IsBanned => self.ban(channel),
            Action::IsWrittenTo => {
                let from = self.person();
                let open = self.web.phones.get(&channel).and_then(|phone| phone.open);
                if let Some(open) = open
                    && self.session(open).is_some_and(|session| session.is_connected)
                {
                    self.tell_supervisor(open, Some(Event::Inbound { from }));
                }
            }
            Action::Scans(session) => self.scan(session),
            Action::Signs => {
                let given = json!({
                    "type": "public-key", "id": "AAAA", "rawId": "AAAA",
                    "response": { "clientDataJSON": SIGNED, "authenticatorData": "AAAA", "signature": "AAAA" },
                });
                if let Ok(assertion) = Assertion::parse(&given) {
                    self.wish(channel, Wish::Passkey(PasskeyAnswer::Assertion(assertion)));
                }
            }
            Action::Confirms => self.wish(channel, Wish::Passkey(PasskeyAnswer::Confirmation)),
        }
    }

    /// A person asks the service for something.
    fn wish(&mut self, channel: usize, wish: Wish) {
        let now = self.clock.elapsed();
        let Some(process) = self.process.as_ref().filter(|process| process.stands_until <= now) else {
            return;
        };
        let is_kept = process.web.supervisors.contains_key(&channel);
        let is_linked = self.web.keys.of(channel).is_some();
        match &wish {
            // There is nothing to unlink.
            Wish::Unlink { .. } if !is_linked && !is_kept => {}
            Wish::Passkey(_) if !is_kept => {}
            Wish::Unlink { .. } | Wish::Passkey(_) | Wish::Pair { .. } => self.command(channel, wish),
        }
    }

    /// A person links the phone of a channel, or has its session opened again.
    pub(in crate::universe) fn pair_again(&mut self, channel: usize) {
        let code_for = if self.dice.happens(300) { Some(self.person()) } else { None };
        self.wish(channel, pair(code_for));
    }
}

const fn pair(code_for: Option<PhoneNumber>) -> Wish {
    Wish::Pair { tries: TRIES, code_for }
}
