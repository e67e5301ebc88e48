//! What one number has done: the figures by which tests prove that nothing was lost or repeated.

use std::collections::HashSet;

use serde::Serialize;

use super::throttle::SlidingSecond;
use crate::clock::Timestamp;

/// The figures of one number, exact since the start (or the last reset), whatever the log still holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NumberFigures {
    /// The number that these are about.
    pub phone_number_id: String,
    /// Accepted messages.
    pub messages: u64,
    /// Different recipients among them; equal to `messages` when nobody was written to twice.
    pub unique_recipients: u64,
    /// When the first was accepted.
    pub first_at: Option<Timestamp>,
    /// When the last was accepted.
    pub last_at: Option<Timestamp>,
    /// The most sends, accepted or not, that arrived within any one second (to the millisecond).
    pub max_per_second: u32,
    /// All sends that arrived with a valid token, accepted or not.
    pub arrivals: u64,
    /// Those among them that were answered with an error.
    pub refused: u64,
}

/// The running count behind [`NumberFigures`].
#[derive(Debug, Default)]
pub(super) struct Figures {
    arrivals: u64,
    refused: u64,
    messages: u64,
    phones: HashSet<u64>,
    others: HashSet<Box<str>>,
    first_at: Option<Timestamp>,
    last_at: Option<Timestamp>,
    second: SlidingSecond,
    peak: u32,
}

impl Figures {
    /// Notes a send that reached the number, `now` milliseconds after the simulator's start.
    pub(super) fn arrive(&mut self, now: u64) {
        self.arrivals += 1;
        self.peak = self.peak.max(self.second.add(now));
    }

    /// Notes that it was refused.
    pub(super) fn refuse(&mut self) {
        self.refused += 1;
    }

    /// Notes that it was accepted. Phones are kept as numbers: 8 bytes each, not text.
    pub(super) fn accept(&mut self, recipient: &str, at: Timestamp) {
        self.messages += 1;
        self.first_at.get_or_insert(at);
        self.last_at = Some(at);
        match recipient.parse::<u64>() {
            Ok(phone) => {
                self.phones.insert(phone);
            }
            Err(_) if !self.others.contains(recipient) => {
                self.others.insert(Box::from(recipient));
            }
            Err(_) => {}
        }
    }

    /// The figures now.
    pub(super) fn of(&self, phone_number_id: &str) -> NumberFigures {
        NumberFigures {
            phone_number_id: phone_number_id.to_owned(),
            messages: self.messages,
            unique_recipients: (self.phones.len() + self.others.len()) as u64,
            first_at: self.first_at,
            last_at: self.last_at,
            max_per_second: self.peak,
            arrivals: self.arrivals,
            refused: self.refused,
        }
    }
}
