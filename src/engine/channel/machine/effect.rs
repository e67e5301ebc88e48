//! Effects: what the machine wants done, in the order in which it decided.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::counted::Counting;
use super::rendered::Rendered;
use super::rhythm::TooSoon;
use super::work::Ticket;
use crate::clock::Timestamp;
use crate::domain::channel::{Connection, Number, Status, Trial};
use crate::domain::message::Key;
use crate::domain::outlook::Reason;
use crate::engine::fair_line::Turn;
use crate::engine::machine::{self, Caller};
use crate::engine::web_session::{Admitted, Errand, Slot};
use crate::store::ledger::PendingWrites;
use crate::store::sends::{Ready, Size};
use crate::store::suppressions::Word;

/// The effects of one or more inputs.
pub(crate) type Effects = machine::Effects<Effect>;

/// Something that the shell does for the machine. Effects are carried out in their order. Those that bring an input
/// bring it later, never while an input is handled, exactly once, and in any order among themselves.
pub(crate) enum Effect {
    /// Hand this message to the provider. Brings [`Input::Answered`](super::Input::Answered).
    Attempt(Attempt),
    /// Write this; it is repeated by the ledger until it is durable. Brings [`Input::Written`](super::Input::Written).
    /// There is at most one write under way. Unless it `is_awaited`, other messages go meanwhile.
    Write { writes: Box<PendingWrites>, is_awaited: bool },
    /// Read sends. Brings [`Input::Fetched`](super::Input::Fetched). There is at most one such read under way.
    Fetch(Box<Fetch>),
    /// Read the messages of this send that wait in the store. Brings [`Input::WaitsRead`](super::Input::WaitsRead).
    ReadWaits(Uuid),
    /// Read the recipients of this send from this ordinal to the end of its block. Brings
    /// [`Input::RecipientsRead`](super::Input::RecipientsRead).
    ReadRecipients { send_id: Uuid, from: u64 },
    /// Read the states of these messages. Brings [`Input::StatesRead`](super::Input::StatesRead).
    ReadStates { question: Question, messages: Vec<Key> },
    /// Read what the web session sent since then. Brings [`Input::WebActivityRead`](super::Input::WebActivityRead).
    ReadWebActivity { since: Timestamp },
    /// Read again from the store who is suppressed of those of whom this was said. Brings nothing.
    LookUp(Vec<Word>),
    /// Make a connector of this generation; the one before is out of date. For a business account this reads its
    /// secrets and brings [`Input::Connected`](super::Input::Connected). A web session's is there at once: it brings
    /// nothing.
    Connect { generation: u64 },
    /// Ask the provider after `turn` how the number is, through the connector of this generation. Brings
    /// [`Input::Probed`](super::Input::Probed).
    Probe { generation: u64, turn: Duration },
    /// Write the channel's state, unless another than `from` is stored. Brings
    /// [`Input::ConnectionSaved`](super::Input::ConnectionSaved). There is at most one such write under way.
    SaveConnection(Box<SaveConnection>),
    /// Show this state to everybody who asks to send. Brings nothing.
    Publish(Connection),
    /// Write what the provider says of the number. Brings nothing.
    SaveNumber(Number),
    /// Mark the template as paused. Brings [`Input::TemplateMarked`](super::Input::TemplateMarked).
    PauseTemplate(i64),
    /// Stand in line for permits. Brings [`Input::PermitsGranted`](super::Input::PermitsGranted).
    AwaitPermits(Turn),
    /// Wake the machine then, and at no moment that was asked for before. Brings [`Input::Timer`](super::Input::Timer).
    WakeAt(Instant),
    /// Answer this caller, who waits. Brings nothing.
    Reply(Caller, Answer),
    /// Count this. Brings nothing.
    Note(Figure),
    /// The machine is at its end: nothing more is done, whatever is under way brings no input, and callers who still
    /// wait are told that the channel ended.
    End,
}

/// A message to hand over.
pub(crate) struct Attempt {
    pub(crate) ticket: Ticket,
    /// What all messages of its send share.
    pub(crate) rendered: Rendered,
    /// Of a web session, boxed because it is rare.
    pub(crate) web: Option<Box<WebAttempt>>,
    /// Which connector is to be used.
    pub(crate) generation: u64,
    pub(crate) started: Instant,
}

/// What goes with a message of a web session.
pub(crate) struct WebAttempt {
    /// Of a caller who waits until the message is handed over.
    pub(crate) errand: Option<Arc<Errand>>,
    /// Its place among the messages of 24 hours: kept when it is handed over, given back when it is dropped.
    pub(crate) slot: Slot<Uuid>,
}

/// Which sends are to be read: the oldest of this size that may go.
pub(crate) struct Fetch {
    pub(crate) size: Size,
    pub(crate) ready: Ready,
    /// Without these, which the machine has.
    pub(crate) held: HashSet<Uuid>,
    /// At most so many.
    pub(crate) room: usize,
    /// While templates may not go, those for people who count already are read besides.
    pub(crate) counted: Option<Counting>,
}

/// The channel's new state and what it is to take the place of.
#[derive(Debug, Clone)]
pub(crate) struct SaveConnection {
    pub(crate) from: Connection,
    pub(crate) to: Connection,
    pub(crate) trial: Option<Trial>,
}

/// Why states are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    /// The time to wait for receipts of these messages is over.
    IsOver,
    /// It is unknown since just now whether the provider has them: a receipt may have been here before.
    WasHeard,
}

/// What a caller is told.
#[derive(Debug)]
pub(crate) enum Answer {
    /// It is done.
    Done,
    /// Whether a message is let in.
    Admission(Result<Admitted, TooSoon>),
}

/// Something that is counted for people and monitoring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Figure {
    /// The provider took a message.
    Sent,
    /// A message failed, with the provider's code.
    Failed(Option<i64>),
    /// A message is tried again later.
    Retried,
    /// Nobody knows whether the provider has a message.
    Unknown,
    /// A message was not sent because its recipient opted out.
    Suppressed,
    /// The provider answered after this time.
    Answered(Duration),
    /// A message waits for this reason.
    Held(Reason),
    /// The channel went over to this status.
    Changed(Status),
}
