//! The records of web sessions in the store: keys, and the people they wrote to and heard from.

use std::collections::BTreeMap;

use clock::Timestamp;
use domain::phone::PhoneNumber;

/// The rows of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::universe) enum Kept {
    /// A device that no phone has accepted.
    Begun,
    /// The device of this number.
    Device(u64),
}

/// A person, as a session knows them.
#[derive(Debug, Clone, Copy, Default)]
struct Contact {
    first_sent: Option<Timestamp>,
    first_heard: Option<Timestamp>,
}

#[derive(Debug, Default)]
pub(in crate::universe) struct Keys {
    /// By channel.
    kept: BTreeMap<usize, Kept>,
    contacts: BTreeMap<(usize, PhoneNumber), Contact>,
}

impl Keys {
    pub(super) fn of(&self, channel: usize) -> Option<Kept> {
        self.kept.get(&channel).copied()
    }

    pub(super) fn begin(&mut self, channel: usize) {
        self.kept.entry(channel).or_insert(Kept::Begun);
    }

    pub(super) fn link(&mut self, channel: usize, device: u64) {
        self.kept.insert(channel, Kept::Device(device));
    }

    pub(super) fn wipe(&mut self, channel: usize) {
        self.kept.remove(&channel);
    }

    /// Whether neither wrote to the other before.
    pub(in crate::universe) fn is_stranger(&self, channel: usize, number: PhoneNumber) -> bool {
        let contact = self.contacts.get(&(channel, number));
        contact.is_none_or(|contact| contact.first_sent.is_none() && contact.first_heard.is_none())
    }

    pub(super) fn note_sent(&mut self, channel: usize, number: PhoneNumber, at: Timestamp) {
        self.contacts.entry((channel, number)).or_default().first_sent.get_or_insert(at);
    }

    pub(super) fn note_heard(&mut self, channel: usize, number: PhoneNumber, at: Timestamp) {
        self.contacts.entry((channel, number)).or_default().first_heard.get_or_insert(at);
    }

    /// The people to whom the session first wrote at `since` or later, before they wrote to it, in the order of time.
    pub(in crate::universe) fn first_sent_since(
        &self,
        channel: usize,
        since: Timestamp,
    ) -> Vec<(Timestamp, PhoneNumber)> {
        let own = self.contacts.iter().filter(|((of, _), _)| *of == channel);
        let mut strangers: Vec<_> = own
            .filter_map(|((_, number), contact)| {
                let sent = contact.first_sent.filter(|sent| *sent >= since)?;
                contact.first_heard.is_none_or(|heard| heard >= sent).then_some((sent, *number))
            })
            .collect();
        strangers.sort();
        strangers
    }
}
