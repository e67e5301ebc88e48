//! The store as the universe has it: tables in memory, with the meaning of every statement that the engine uses.
//!
//! It is written from what the statements of [`store`] promise, and its [tests](self::tests) hold it to them:
//! the same random operations drive it and the real store, on both databases, and every table is compared. It never
//! fails by itself and takes no time: the world decides which of its answers are lost, late or wrong.

mod commit;
mod control;
mod events;
mod inbound;
mod messages;
mod personal;
mod quota;
mod reads;
mod receipts;
mod suppressions;
mod templates;
mod web;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

pub(crate) use self::templates::Listing;
use clock::Timestamp;
use domain::message::{Failure, Key, State as At};
use domain::phone::PhoneNumber;
use domain::send::{Control, Progress, Recipients, State};
use domain::suppression::Source;
use store::suppressions::Subject;

/// A row of sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SendRow {
    pub(crate) company_id: Uuid,
    pub(crate) channel_id: Uuid,
    /// `None` for a send that was withdrawn: its id is taken, so that the send cannot be written any more.
    pub(crate) state: Option<State>,
    pub(crate) control: Control,
    pub(crate) content: String,
    pub(crate) template_id: Option<i64>,
    pub(crate) recipients: Recipients,
    pub(crate) skipped: u64,
    pub(crate) progress: Progress,
    pub(crate) due_at: Option<Timestamp>,
    pub(crate) send_at: Option<Timestamp>,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) created_at: Timestamp,
    pub(crate) finished_at: Option<Timestamp>,
}

/// A row of messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MessageRow {
    pub(crate) company_id: Uuid,
    /// `None` for the group that the send's content names.
    pub(crate) recipient: Option<PhoneNumber>,
    pub(crate) state: At,
    pub(crate) attempts: u16,
    pub(crate) provider_message_id: Option<String>,
    pub(crate) error: Option<Failure>,
    pub(crate) retry_at: Option<Timestamp>,
    pub(crate) taken_at: Option<Timestamp>,
    pub(crate) updated_at: Timestamp,
}

/// A row of suppressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SuppressionRow {
    pub(crate) until: Option<Timestamp>,
    pub(crate) provider_code: Option<i64>,
    pub(crate) created_at: Timestamp,
    pub(crate) said_at: Timestamp,
    pub(crate) source: Option<Source>,
}

/// What the engine reads of a row of templates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TemplateRow {
    pub(crate) waba_id: String,
    pub(crate) name: String,
    pub(crate) status: String,
    pub(crate) category: String,
    pub(crate) status_said_at: Timestamp,
    pub(crate) category_said_at: Timestamp,
    pub(crate) quality_said_at: Timestamp,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Model {
    sends: BTreeMap<Uuid, SendRow>,
    /// By send and first ordinal.
    blocks: BTreeMap<(Uuid, u64), Vec<PhoneNumber>>,
    personal: self::personal::PersonalRows,
    /// By send and ordinal.
    messages: BTreeMap<(Uuid, u64), MessageRow>,
    /// The states of each message that the log has events of, in their order.
    events: BTreeMap<(Uuid, u64), Vec<At>>,
    suppressions: BTreeMap<Subject, SuppressionRow>,
    /// What people wrote, in the order in which it became durable.
    inbound: Vec<self::inbound::InboundRow>,
    templates: BTreeMap<i64, TemplateRow>,
    /// Raised by each process that takes the lease, or its part in it.
    epoch: u64,
    /// The epochs whose writes are accepted.
    open: BTreeSet<u64>,
}

impl Model {
    /// Takes the lease: writes under an earlier one are refused from now on.
    pub(crate) fn take_lease(&mut self) -> u64 {
        self.open.clear();
        self.join()
    }

    /// A node takes its part in the lease, beside the others.
    pub(crate) fn join(&mut self) -> u64 {
        self.epoch += 1;
        self.open.insert(self.epoch);
        self.epoch
    }

    /// Closes the fence of a node: its writes are refused from now on.
    pub(crate) fn close_fence(&mut self, epoch: u64) {
        self.open.remove(&epoch);
    }

    /// Whether the process that took the lease as `epoch`, or its part in it, has it still.
    pub(crate) fn is_held_by(&self, epoch: u64) -> bool {
        self.open.contains(&epoch)
    }

    /// Every send, with its id.
    pub(crate) const fn sends(&self) -> &BTreeMap<Uuid, SendRow> {
        &self.sends
    }

    /// The send of this id.
    pub(crate) fn send(&self, send_id: Uuid) -> Option<&SendRow> {
        self.sends.get(&send_id)
    }

    /// The message of this key, if it has a row.
    pub(crate) fn message(&self, key: Key) -> Option<&MessageRow> {
        self.messages.get(&(key.send_id, key.ordinal))
    }

    /// The messages of a send that have a row, by ordinal.
    pub(crate) fn messages_of(&self, send_id: Uuid) -> impl Iterator<Item = (u64, &MessageRow)> {
        self.messages.range((send_id, 0)..=(send_id, u64::MAX)).map(|((_, ordinal), row)| (*ordinal, row))
    }
}

impl SendRow {
    /// Whether it is accepted and not over.
    pub(crate) fn is_active(&self) -> bool {
        self.state == Some(State::Active)
    }

    /// Whether it is accepted, over or not.
    pub(crate) fn is_accepted(&self) -> bool {
        !matches!(self.state, None | Some(State::Resolving))
    }

    /// Whether it has recipient blocks.
    pub(crate) const fn is_bulk(&self) -> bool {
        matches!(self.recipients, Recipients::Blocks(_))
    }
}
