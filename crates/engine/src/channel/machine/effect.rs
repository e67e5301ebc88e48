//! Effects: what the shell does for the machine, in the order in which the machine decided it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::counted::Counting;
use super::lookup_pacing::Lookup;
use super::rendered::Rendered;
use super::web_pacing::TooSoon;
use super::work::Ticket;
use crate::fair_queue::Turn;
use crate::handover::{Admitted, PendingReply, Slot};
use crate::machine::{self, Caller};
use clock::Timestamp;
use domain::channel::{Connection, Number, Status, Trial};
use domain::message::Key;
use domain::outlook::Reason;
use store::ledger::PendingWrites;
use store::sends::{Ready, Size};
use store::suppressions::Word;

/// The effects of one or more inputs.
pub(crate) type Effects = machine::Effects<Effect>;

/// Something that the shell does for the machine. Effects are carried out in their order. An effect that brings an
/// input brings it later, never while an input is handled, and exactly once; several come in any order.
pub(crate) enum Effect {
    /// Hand this message to the provider. Brings [`Input::Answered`](super::Input::Answered).
    Attempt(Attempt),
    /// Write this; the ledger retries until it is durable. Brings [`Input::Written`](super::Input::Written). At most
    /// one write is under way. Unless it `is_awaited`, other messages go meanwhile.
    Write { writes: Box<PendingWrites>, is_awaited: bool },
    /// Read sends. Brings [`Input::Fetched`](super::Input::Fetched). At most one such read is under way.
    Fetch(Box<Fetch>),
    /// Read the messages of this send that wait in the store. Brings [`Input::WaitsRead`](super::Input::WaitsRead).
    ReadWaits(Uuid),
    /// Read the recipients of this send from this ordinal to the end of its block. Brings
    /// [`Input::RecipientsRead`](super::Input::RecipientsRead).
    ReadRecipients { send_id: Uuid, from: u64 },
    /// Read the states of these messages. Brings [`Input::StatesRead`](super::Input::StatesRead).
    ReadStates { question: Question, messages: Vec<Key> },
    /// Read the web session's activity since then. Brings [`Input::WebActivityRead`](super::Input::WebActivityRead).
    ReadWebActivity { since: Timestamp },
    /// Read the suppressions of these recipients from the store again. Brings nothing.
    LookUp(Vec<Word>),
    /// Create a connector of this generation; the previous one is out of date. For a business account this reads its
    /// secrets and brings [`Input::Connected`](super::Input::Connected). A web session has its connector already: it
    /// brings nothing.
    Connect { generation: u64 },
    /// Probe the number after `turn`, through the connector of this generation. Brings
    /// [`Input::Probed`](super::Input::Probed).
    Probe { generation: u64, turn: Duration },
    /// Write the channel's state, unless a state other than `from` is stored. Brings
    /// [`Input::ConnectionSaved`](super::Input::ConnectionSaved). At most one such write is under way.
    SaveConnection(Box<SaveConnection>),
    /// Publish this state to callers that want to send. Brings nothing.
    Publish(Connection),
    /// Write the provider's report on the number. Brings nothing.
    SaveNumber(Number),
    /// Mark the template as paused. Brings [`Input::TemplateMarked`](super::Input::TemplateMarked).
    PauseTemplate(i64),
    /// Queue for permits. Brings [`Input::PermitsGranted`](super::Input::PermitsGranted).
    AwaitPermits(Turn),
    /// Wake the machine at this time, which replaces the previous one. Brings [`Input::Timer`](super::Input::Timer).
    WakeAt(Instant),
    /// Answer this caller. Brings nothing.
    Reply(Caller, Answer),
    /// Count this. Brings nothing.
    Note(Figure),
    /// The machine ends: nothing more is done, effects under way bring no input, and callers that still wait are told
    /// that the channel ended.
    End,
}

/// A message to hand over.
pub(crate) struct Attempt {
    pub(crate) ticket: Ticket,
    /// The part that all messages of its send share.
    pub(crate) rendered: Rendered,
    /// For a web session; boxed because it is rare.
    pub(crate) web: Option<Box<WebAttempt>>,
    /// The generation of the connector to use.
    pub(crate) generation: u64,
    pub(crate) started: Instant,
}

/// The parts of an attempt that only web sessions have.
pub(crate) struct WebAttempt {
    /// The pending reply, while a caller waits.
    pub(crate) pending_reply: Option<Arc<PendingReply>>,
    /// Its slot among the messages of 24 hours: kept when the message is handed over, given back on drop.
    pub(crate) slot: Slot<Uuid>,
}

/// The sends to read: the oldest of this size that may go.
pub(crate) struct Fetch {
    pub(crate) size: Size,
    pub(crate) ready: Ready,
    /// Except these, which the machine has or which cannot be read.
    pub(crate) held: HashSet<Uuid>,
    /// The most sends to read.
    pub(crate) room: usize,
    /// While templates may not go, sends to people who count already are read too.
    pub(crate) counted: Option<Counting>,
}

/// The channel's new state, and the state that it replaces.
#[derive(Debug, Clone)]
pub(crate) struct SaveConnection {
    pub(crate) from: Connection,
    pub(crate) to: Connection,
    pub(crate) trial: Option<Trial>,
}

/// The reason for reading states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    /// The wait for receipts of these messages is over.
    IsOver,
    /// The outcome of these messages has just become unknown: a receipt may have arrived before.
    WasHeard,
}

/// An answer to a caller.
#[derive(Debug)]
pub(crate) enum Answer {
    /// The command was carried out.
    Done,
    /// Whether a message is admitted.
    Admission(Result<Admitted, TooSoon>),
    /// Whether a lookup is admitted.
    Lookup(Result<Lookup, TooSoon>),
}

/// Something that is counted for metrics and statistics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Figure {
    /// The provider accepted a message.
    Sent,
    /// A message failed.
    Failed,
    /// A message is retried later.
    Retried,
    /// The outcome of a message is unknown.
    Unknown,
    /// A message was not sent because its recipient opted out.
    Suppressed,
    /// The provider answered after this time.
    Answered(Duration),
    /// A single message was put back for this reason.
    Held(Reason),
    /// The channel changed to this status.
    Changed(Status),
}
