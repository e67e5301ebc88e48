//! Building blocks for tests of the machine: sends and messages as the store has them, people, and the provider's
//! answers.

use std::collections::BTreeSet;

use super::*;
use crate::account;
use domain::message::Position;
use domain::send::{Label, Progress, TemplateUse};
use domain::template::WrittenTo;
use store::sends::{Unfinished, Waiting, WaitingMessages};

impl World {
    /// A send to one person as the store has it; no message of it was attempted.
    pub(super) fn stored(&self, id: u128) -> Restoring {
        let order = order();
        let send = Unfinished {
            id: Uuid::from_u128(id),
            company_id: order.company_id,
            content: serde_json::to_string(&order.stored()).unwrap(),
            recipients: Recipients::One(person(id as u64)),
            progress: Progress::default(),
            template: None,
            expires_at: None,
        };
        let waiting = WaitingMessages::default();
        let (kind, wall) = (self.machine.channel().kind, self.at.wall);
        Restoring { kind, send, waiting, recorded: BTreeSet::new(), unknown: Vec::new(), wall }
    }

    /// A send to one person whose message waits in the store in this state, until `due`.
    pub(super) fn waiting(&self, id: u128, state: State, due: Timestamp) -> Restoring {
        let mut stored = self.stored(id);
        stored.send.progress = Progress { high_water: 1, settled: 1 };
        stored.waiting.soon = vec![waiting(0, id as u64, state, due)];
        stored
    }

    /// A read of the store found these sends, and there are no more.
    pub(super) fn found(&mut self, size: Size, stored: Vec<Restoring>) -> Vec<&'static str> {
        let found = stored.into_iter().map(|stored| Found::new(stored).unwrap()).collect();
        self.feed(Input::Fetched { size, result: Ok(Fetched { found, ..nothing() }) })
    }

    /// The account has read that it wrote to these people an hour ago.
    pub(super) fn account_knows(&mut self, people: &[u64]) -> Vec<&'static str> {
        let (common, at) = (Arc::clone(&self.machine.common), self.at);
        let spans = common.accounts.take_effects().into_iter().filter_map(|(_, effect)| match effect {
            account::Effect::ReadPeople { span } => Some(span),
            _ => None,
        });
        let span = spans.last().unwrap();
        let hour_ago = at.wall.minus(60 * MINUTE);
        let written_to = |who: &u64| WrittenTo { recipient: person(*who), at: hour_ago, is_certain: true };
        let people = people.iter().map(written_to).collect();
        common.accounts.feed("2", account::Input::PeopleFound(people), at);
        common.accounts.feed("2", account::Input::PeopleRead { span, result: Ok(()) }, at);
        self.hear_account()
    }

    /// Passes the updates of its account to the channel.
    pub(super) fn hear_account(&mut self) -> Vec<&'static str> {
        let common = Arc::clone(&self.machine.common);
        let mut words = Vec::new();
        for (_, effect) in common.accounts.take_effects() {
            if let account::Effect::Tell { channel, update } = effect
                && channel == self.machine.channel().id
            {
                words.extend(self.feed(Input::Account(update)));
            }
        }
        words
    }
}

/// This person's number.
pub(super) fn person(who: u64) -> PhoneNumber {
    PhoneNumber::from_u64(5_511_900_000_000 + who).unwrap()
}

/// A request for a text that may go at once.
pub(super) fn order() -> Order {
    Order {
        company_id: Uuid::from_u128(2),
        channel_id: Uuid::from_u128(1),
        content: Content::Text { body: "hi".to_owned(), preview_url: None },
        group: None,
        quotes: None,
        sender: None,
        template: None,
        schedule: Schedule::default(),
        label: Label::default(),
        personal: None,
        sources: Vec::new(),
        claim: None,
        is_awaited: false,
        keeps_turn: false,
        confirms: false,
        origin: Origin::default(),
    }
}

/// The marketing template of this id.
pub(super) const fn marketing(id: i64) -> TemplateUse {
    TemplateUse { id, is_marketing: true }
}

/// A message that waits in the store in this state, until `due`.
pub(super) fn waiting(ordinal: u64, who: u64, state: State, due: Timestamp) -> Waiting {
    let position = Position { ordinal, recipient: Some(person(who)) };
    Waiting { position, state, attempts: 1, retry_at: due, taken_at: None }
}

pub(super) fn nothing() -> Fetched {
    Fetched {
        found: Vec::new(),
        broken: Vec::new(),
        all: true,
        next_due: None,
        took: None,
        nobody_counted: std::collections::HashMap::new(),
    }
}

pub(super) fn accepted() -> Reply {
    Reply::Accepted { id: "wamid.1".to_owned(), known_as: None }
}

pub(super) fn failure() -> Failure {
    Failure { code: None, sentence: "no".to_owned() }
}

/// The provider refuses, and does not say for how long.
pub(super) fn refused(disposition: Disposition) -> Reply {
    Reply::Refused { disposition, failure: failure(), retry_after: None }
}

/// The provider refuses, and says for how long.
pub(super) fn refused_for(disposition: Disposition, wait: Duration) -> Reply {
    Reply::Refused { disposition, failure: failure(), retry_after: Some(wait) }
}
