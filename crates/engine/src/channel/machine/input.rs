//! Inputs: the events that a channel's machine handles.

use std::sync::Arc;
use std::time::Instant;

use uuid::Uuid;

use super::effect::Question;
use super::restored::{Fetched, Waits};
use super::work::Ticket;
use crate::account::{AccountUpdate, AppId};
use crate::fair_queue::Grant;
use crate::ledger::{AcceptedSend, Written};
use crate::machine::Caller;
use clock::Timestamp;
use connectors::{Disposition, Health, Reply};
use domain::channel::Channel;
use domain::message::{Failure, Key, State};
use domain::phone::PhoneNumber;
use domain::send;
use store::sends::Size;

/// Something that happens to a channel.
pub(crate) enum Input {
    /// The channel starts. The first input of a machine.
    Started,
    /// The time of the last [`Effect::WakeAt`](super::Effect::WakeAt) has come.
    Timer,

    /// These sends became durable. They are late when the channel may have been told of them before.
    Accepted { sends: Vec<AcceptedSend>, is_late: bool },
    /// An attempt ended, with or without an answer.
    Answered(Answered),
    /// The write is durable, with its results; or nothing can be written any more, because the lease is lost or the
    /// ledger closed.
    Written(Result<Written, LeaseLost>),

    /// The sends read from the store.
    Fetched { size: Size, result: Result<Fetched, Failed> },
    /// The waiting messages of a send, read from the store.
    WaitsRead { send_id: Uuid, result: Result<Waits, Failed> },
    /// The recipients of a send from this ordinal on.
    RecipientsRead { send_id: Uuid, from: u64, result: Result<Vec<PhoneNumber>, Failed> },
    /// The states of these messages; those without a row are left out.
    StatesRead { question: Question, result: Result<Vec<(Key, State)>, Failed> },
    /// The web session's recent activity.
    WebActivityRead(Result<WebActivity, Failed>),
    /// The connector of this generation.
    Connected { generation: u64, result: Result<Connected, NotConnected> },
    /// The result of a probe.
    Probed { generation: u64, health: Health },
    /// The outcome of writing the channel's state.
    ConnectionSaved(Saved),
    /// A write that marks a template as paused ended.
    TemplateMarked { template_id: i64, result: Result<(), Failed> },
    /// Permits, or none when the queue is gone.
    PermitsGranted(Option<Grant>),

    /// The channel's record, or its tier, was changed.
    Refreshed(Arc<Channel>),
    /// The store says that this send is paused, or over in this state. The caller is answered when no message of the
    /// send starts any more. For an ended send, the answer also waits until the store says that the reserved messages
    /// never started.
    Released { send_id: Uuid, over: Option<send::State>, caller: Caller },
    /// A caller asks whether a message of a web session is admitted.
    Admit { admit: Admit, caller: Caller },
    /// A caller asks whether a lookup of a number is admitted.
    AdmitLookup { lookup: AdmitLookup, caller: Caller },
    /// A send in the store may go now.
    Look,
    /// The store holds these sends, each the oldest of its size that may go now. The channel reads the store when it is
    /// told of an unknown send for the second time: a send that has just ended may be named once.
    Overlooked { direct: Option<Uuid>, bulk: Option<Uuid> },
    /// The wall clock was set.
    ClockWasSet,
    /// An update of the business account.
    Account(AccountUpdate),
    /// The provider changed whether these templates may be sent.
    TemplatesChanged(Vec<(i64, bool)>),
    /// Receipts of these messages are durable.
    Heard(Vec<(Key, State)>),
    /// A webhook reports trouble with the number or its account.
    Troubled(Troubled),
    /// A webhook says that the number changed: probe it.
    Recheck,
    /// Start no more messages, wait for those in flight, and write their outcomes. The caller is answered when that is
    /// done, and the machine ends.
    Stop(Caller),
}

/// The provider's answer to one message.
pub(crate) struct Answered {
    pub(crate) ticket: Ticket,
    /// The generation of the connector: an answer to an earlier token says nothing about the present one.
    pub(crate) generation: u64,
    pub(crate) reply: Reply,
    pub(crate) started: Instant,
}

/// Nothing can be written any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LeaseLost;

/// A read or write of the store failed; the log says why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failed {
    /// A retry may succeed.
    Temporarily,
    /// A retry cannot succeed.
    Permanently,
}

/// The activity of a web session in the last 24 hours, in chronological order.
#[derive(Debug, Default)]
pub(crate) struct WebActivity {
    /// Attempts, by their sends.
    pub(crate) attempts: Vec<(Timestamp, Uuid)>,
    /// The first messages to strangers: people who neither wrote to the session nor had been written to.
    pub(crate) strangers: Vec<(Timestamp, PhoneNumber)>,
    /// Numbers about which WhatsApp was asked, other than for a message that went.
    pub(crate) asked: Vec<(Timestamp, PhoneNumber)>,
    /// The messages that keep their turn and wait, whenever they were accepted, with their recipients who are strangers.
    pub(crate) kept: Vec<(Uuid, Option<PhoneNumber>)>,
}

/// The connector of a business account.
#[derive(Debug)]
pub(crate) struct Connected {
    /// The app behind its token; the app's channels share a budget at the provider.
    pub(crate) app: AppId,
}

/// Why a business account has no connector.
#[derive(Debug)]
pub(crate) enum NotConnected {
    /// The secrets cannot be read now.
    Failed,
    /// The account has no usable token, for the reason in this sentence.
    Unusable(String),
}

/// The outcome of writing the channel's state.
#[derive(Debug)]
pub(crate) enum Saved {
    /// The state is written, with this revision.
    Done { revision: i64 },
    /// Another process or a person changed the stored state. This is the channel now, or `None` if it was removed.
    Overtaken(Option<Box<Channel>>),
    /// The write failed.
    Failed,
}

/// The question whether a message whose caller waits is admitted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Admit {
    /// The recipient, if it never wrote to the session and was never written to.
    pub(crate) stranger: Option<PhoneNumber>,
    /// How long the caller may wait.
    pub(crate) patience: std::time::Duration,
    /// The recipient, in a dry run: the limits that the message would meet after it was written count too.
    pub(crate) tried: Option<PhoneNumber>,
}

/// The question whether WhatsApp may be asked about a number, for a caller who waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AdmitLookup {
    /// The number.
    pub(crate) number: PhoneNumber,
    /// It never wrote to the session and was never written to.
    pub(crate) is_stranger: bool,
    /// How long the caller may wait.
    pub(crate) patience: std::time::Duration,
}

/// Trouble with the number or its account.
#[derive(Debug, Clone)]
pub(crate) struct Troubled {
    pub(crate) disposition: Disposition,
    pub(crate) failure: Failure,
    /// The trouble was met by a message that the provider had accepted.
    pub(crate) is_of_message: bool,
    /// When the provider took that message, where that is known and decides.
    pub(crate) taken_at: Option<Timestamp>,
}
