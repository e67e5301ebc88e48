//! The figures of one number, by which tests prove that no message was lost or repeated.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::keys::SeenKeys;
use super::throttle::SlidingSecond;
use super::timeline::{Columns, Timeline};
use clock::Timestamp;

/// The figures of one number, exact since the start (or the last reset), whatever the log still holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NumberFigures {
    /// The phone number that these figures are about.
    pub phone_number_id: String,
    /// Accepted messages.
    pub messages: u64,
    /// Different recipients among them; equal to `messages` when no recipient got two messages.
    pub unique_recipients: u64,
    /// The most messages that one recipient got.
    pub most_per_recipient: u32,
    /// Accepted messages whose key (`biz_opaque_callback_data`) had been accepted from this number before.
    /// Messages without key are not among them; the last 4,000,000 keys are remembered.
    pub repeated: u64,
    /// When the first was accepted.
    pub first_at: Option<Timestamp>,
    /// When the last was accepted.
    pub last_at: Option<Timestamp>,
    /// The most sends, accepted or not, that arrived within any one second (to the millisecond).
    pub max_per_second: u32,
    /// The most messages that were accepted within any one second (to the millisecond).
    pub max_accepted_per_second: u32,
    /// All sends that arrived with a valid token, accepted or not.
    pub arrivals: u64,
    /// Sends that were answered with an error, or neither answered nor accepted.
    pub refused: u64,
    /// Refused sends because of too many requests: codes 4, 80007 and 130429.
    pub throttled: u64,
    /// Refused sends because of too many messages to one recipient: code 131056.
    pub pair_violations: u64,
}

/// The running count behind [`NumberFigures`].
#[derive(Debug, Default)]
pub(super) struct Figures {
    arrivals: u64,
    refused: u64,
    throttled: u64,
    pair_violations: u64,
    messages: u64,
    repeated: u64,
    most_per_recipient: u32,
    phones: HashMap<u64, u32>,
    others: HashMap<Box<str>, u32>,
    keys: SeenKeys,
    first_at: Option<Timestamp>,
    last_at: Option<Timestamp>,
    arriving: SlidingSecond,
    most_arriving: u32,
    accepting: SlidingSecond,
    most_accepted: u32,
    columns: Columns,
}

impl Figures {
    /// Notes a send that reached the number, `now` milliseconds after the simulator's start.
    pub(super) fn arrive(&mut self, now: u64) {
        self.arrivals += 1;
        self.most_arriving = self.most_arriving.max(self.arriving.add(now));
    }

    /// Notes that a send was refused; with this code, or without an answer.
    pub(super) fn refuse(&mut self, code: Option<u32>) {
        self.refused += 1;
        match code {
            Some(4 | 80_007 | 130_429) => self.throttled += 1,
            Some(131_056) => self.pair_violations += 1,
            _ => {}
        }
    }

    /// Notes that a send was accepted. Phones are kept as numbers: 12 bytes each, not text.
    pub(super) fn accept(&mut self, recipient: &str, key: &str, at: Timestamp, now: u64) {
        self.messages += 1;
        self.first_at.get_or_insert(at);
        self.last_at = Some(at);
        self.most_accepted = self.most_accepted.max(self.accepting.add(now));
        self.columns.note(now);
        if !key.is_empty() && self.keys.note(key) {
            self.repeated += 1;
        }
        let count = match recipient.parse::<u64>() {
            Ok(phone) => self.phones.entry(phone).or_default(),
            Err(_) => self.others.entry(Box::from(recipient)).or_default(),
        };
        *count += 1;
        self.most_per_recipient = self.most_per_recipient.max(*count);
    }

    /// The figures now.
    pub(super) fn of(&self, phone_number_id: &str) -> NumberFigures {
        NumberFigures {
            phone_number_id: phone_number_id.to_owned(),
            messages: self.messages,
            unique_recipients: (self.phones.len() + self.others.len()) as u64,
            most_per_recipient: self.most_per_recipient,
            repeated: self.repeated,
            first_at: self.first_at,
            last_at: self.last_at,
            max_per_second: self.most_arriving,
            max_accepted_per_second: self.most_accepted,
            arrivals: self.arrivals,
            refused: self.refused,
            throttled: self.throttled,
            pair_violations: self.pair_violations,
        }
    }

    /// The recipients of more than `above` messages, with how many each got.
    pub(super) fn recipients(&self, above: u32) -> BTreeMap<String, u32> {
        let phones = self.phones.iter().map(|(phone, count)| (phone.to_string(), *count));
        let others = self.others.iter().map(|(other, count)| (other.to_string(), *count));
        phones.chain(others).filter(|(_, count)| *count > above).collect()
    }

    pub(super) fn timeline(&self) -> Timeline {
        self.columns.shown()
    }
}
