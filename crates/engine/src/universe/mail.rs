//! People write to channels. The provider tells it out of order, often twice, repeats it until it is taken, and then again
//! for more than a day. Nothing of it may be lost or doubled, whatever happens to the process.
//!
//! People write in some worlds only: what a seed does in the others stays as it was.

use std::collections::BTreeMap;
use std::time::Duration;

use uuid::Uuid;

use super::answers::Asked;
use super::dice::Dice;
use super::model::Model;
use super::world::{Event, World};
use crate::ledger::Hear;
use crate::ledger::machine::Input;
use domain::event::Type;
use domain::inbound::{ConversationKind, Direction, PeerKey, SERVICE_WINDOW};
use domain::phone::PhoneNumber;
use store::conversations::Inbound;

/// People write in one world of this many, in that with this rest.
const WORLDS: (u64, u64) = (7, 2);
/// How long the provider repeats messages that were taken.
const REPEATED_FOR: Duration = Duration::from_secs(26 * 3_600);
/// The first person who writes.
const FIRST: u64 = 5_511_970_000_000;

/// What people wrote.
#[derive(Default)]
pub(super) struct Mail {
    /// By the provider's id, each with whether the provider read that it was taken.
    told: BTreeMap<String, bool>,
    /// How often the engine was told of a message: it gives each time an id of its own.
    times: u128,
}

impl Mail {
    /// Whether everything that was told was taken.
    pub(super) fn is_taken(&self) -> bool {
        self.told.values().all(|is_taken| *is_taken)
    }

    /// What is broken at the end: each message has to be in a conversation once, and nothing else.
    pub(super) fn broken(&self, model: &Model) -> Vec<(&'static str, String)> {
        let mut kept: BTreeMap<&str, u32> = BTreeMap::new();
        for message in model.inbound() {
            *kept.entry(message.provider_id.as_str()).or_default() += 1;
        }
        let mut broken = Vec::new();
        for id in self.told.keys() {
            match kept.remove(id.as_str()).unwrap_or_default() {
                0 => broken.push(("nothing that a person writes is lost", id.clone())),
                1 => {}
                times => {
                    let what = format!("{id}: {times} times");
                    broken.push(("what a person writes is in a conversation once", what));
                }
            }
        }
        broken.extend(kept.keys().map(|id| ("conversations have only what people wrote", (*id).to_owned())));
        broken
    }
}

impl World {
    /// Plans what people write while things go wrong, and how often the provider tells it.
    pub(super) fn plan_mail(&mut self, seed: u64) {
        let (each, rest) = WORLDS;
        if seed % each != rest {
            return;
        }
        let mut dice = Dice::new(!seed);
        for number in 0..dice.between(10, 120) {
            let at = dice.time(Duration::from_millis(1), self.plan.lasts);
            let channel = usize::try_from(dice.below(self.channels.len() as u64)).unwrap_or(0);
            let message = self.message_of_person(number, channel, FIRST + dice.below(20), at);
            self.after(at, Event::Wrote(Box::new(message.clone())));
            if dice.happens(400) {
                let again = at + dice.time(Duration::ZERO, Duration::from_secs(30));
                self.after(again, Event::Wrote(Box::new(message.clone())));
            }
            if dice.happens(200) {
                let again = at + dice.time(Duration::from_secs(60), REPEATED_FOR);
                self.after(again, Event::Wrote(Box::new(message)));
            }
        }
    }

    fn message_of_person(&self, number: u64, channel: usize, person: u64, at: Duration) -> Inbound {
        let channel = &self.channels[channel];
        let at = self.clock.wall().plus(at);
        let person = PhoneNumber::parse(&person.to_string()).ok();
        Inbound {
            id: Uuid::nil(),
            company_id: channel.company_id,
            channel_id: channel.id,
            with: ConversationKind::Person,
            peer: person.map_or_else(|| PeerKey::of_user("US.1"), PeerKey::of_number),
            others: Vec::new(),
            number: person,
            user_id: None,
            name: None,
            provider_id: format!("wamid.of.{number}"),
            direction: Direction::In,
            writer: None,
            kind: "text",
            r#type: Type::MessageReceived,
            target: None,
            at,
            is_past: false,
            is_to_be_read: true,
            window_until: Some(at.plus(SERVICE_WINDOW)),
            is_referred: false,
            body: Vec::new(),
            line: Vec::new(),
            answer: None,
            is_kept: true,
            file: Vec::new(),
        }
    }

    /// The provider tells what a person wrote, and repeats it until it is taken.
    pub(super) fn person_wrote(&mut self, message: Inbound) {
        self.mail.told.entry(message.provider_id.clone()).or_default();
        let now = self.clock.elapsed();
        match &self.process {
            Some(process) if process.stands_until <= now => {
                self.mail.times += 1;
                let heard = Inbound { id: Uuid::from_u128(self.mail.times), ..message.clone() };
                let hear = Hear { inbound: vec![heard], ..Hear::default() };
                self.ask_ledger(Asked::Wrote(Box::new(message)), |caller| Input::Hear { hear, caller });
            }
            Some(_) | None => self.tell_mail_again(Box::new(message)),
        }
    }

    /// The provider repeats a message that was not taken.
    pub(super) fn tell_mail_again(&mut self, message: Box<Inbound>) {
        let wait = self.dice.time(Duration::from_secs(1), Duration::from_secs(20));
        self.after(wait, Event::Wrote(message));
    }

    /// The provider reads that a message was taken: it must be durable by then.
    pub(super) fn mail_was_taken(&mut self, message: &Inbound) {
        let is_there = self.model.inbound().any(|kept| kept.is_of(message));
        if !is_there {
            let what = message.provider_id.clone();
            self.watch
                .break_("what a person writes is durable when the provider reads that it is taken", what);
        }
        self.mail.told.insert(message.provider_id.clone(), true);
    }
}
