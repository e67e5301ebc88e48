//! Inputs: what happens to a channel.

use std::sync::Arc;
use std::time::Instant;

use uuid::Uuid;

use super::effect::Question;
use super::restored::{Fetched, Waits};
use super::work::Ticket;
use crate::clock::Timestamp;
use crate::connector::{Disposition, Health, Reply};
use crate::domain::channel::Channel;
use crate::domain::message::{Failure, Key, State};
use crate::domain::phone::PhoneNumber;
use crate::domain::send;
use crate::engine::account::{AppId, News};
use crate::engine::fair_line::Grant;
use crate::engine::ledger::{AcceptedSend, Written};
use crate::engine::machine::Caller;
use crate::store::sends::Size;

/// Something that happens to a channel.
pub(crate) enum Input {
    /// The channel is taken up. The first input of a machine.
    Started,
    /// The moment that was asked for last has come.
    Timer,

    /// These sends became durable. They are late when what was said of them meanwhile may have been heard before.
    Accepted { sends: Vec<AcceptedSend>, is_late: bool },
    /// The provider answered an attempt, or did not.
    Answered(Answered),
    /// What was to be written is durable, with what was found out by that; or nothing can be written any more: the
    /// lease is lost, or the ledger closed.
    Written(Result<Written, LeaseLost>),

    /// What a look into the store found.
    Fetched { size: Size, result: Result<Fetched, Failed> },
    /// The messages of a send that wait in the store.
    WaitsRead { send_id: Uuid, result: Result<Waits, Failed> },
    /// The recipients of a send from this ordinal on.
    RecipientsRead { send_id: Uuid, from: u64, result: Result<Vec<PhoneNumber>, Failed> },
    /// Where these messages are; those without a row are left out.
    StatesRead { question: Question, result: Result<Vec<(Key, State)>, Failed> },
    /// What the web session did lately.
    WebActivityRead(Result<WebActivity, Failed>),
    /// The connector of this generation.
    Connected { generation: u64, result: Result<Connected, NotConnected> },
    /// What the provider says of the number.
    Probed { generation: u64, health: Health },
    /// The outcome of writing the channel's state.
    ConnectionSaved(Saved),
    /// Whether the template was marked as paused.
    TemplateMarked { template_id: i64, result: Result<(), Failed> },
    /// Permits, or none when the line is gone.
    PermitsGranted(Option<Grant>),

    /// The channel's record, or its tier, was changed.
    Refreshed(Arc<Channel>),
    /// The store says that this send is paused, or over in this state. The caller is answered when no message of it
    /// starts any more; of one that is over, when it is written besides that what was only reserved never started.
    Released { send_id: Uuid, over: Option<send::State>, caller: Caller },
    /// A caller asks whether a message of a web session may come in.
    Admit { admit: Admit, caller: Caller },
    /// Something in the store may go now.
    Look,
    /// The store holds these sends, each the oldest of its size that may go now.
    Overlooked { direct: Option<Uuid>, bulk: Option<Uuid> },
    /// The wall clock was set.
    ClockWasSet,
    /// The business account has news.
    Account(News),
    /// The provider says of these templates whether they may be sent.
    TemplatesChanged(Vec<(i64, bool)>),
    /// Receipts of these messages are durable.
    Heard(Vec<(Key, State)>),
    /// The provider told, outside any answer, that something is wrong with the number or its account.
    Troubled(Troubled),
    /// The provider has news of the number.
    Recheck,
    /// Start no more messages, wait for those in flight, write what is known. The caller is answered when done, and
    /// the machine ends.
    Stop(Caller),
}

/// The provider's answer to one message.
pub(crate) struct Answered {
    pub(crate) ticket: Ticket,
    /// Which connector asked: an answer to an earlier token says nothing of the present one.
    pub(crate) generation: u64,
    pub(crate) reply: Reply,
    pub(crate) started: Instant,
}

/// Nothing can be written any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LeaseLost;

/// The store did not do what it was asked; the log says why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failed {
    /// The same may succeed later.
    ForNow,
    /// It will never succeed.
    ForEver,
}

/// What a web session did within the last 24 hours, in the order of time.
#[derive(Debug, Default)]
pub(crate) struct WebActivity {
    /// Attempts, by their sends.
    pub(crate) attempts: Vec<(Timestamp, Uuid)>,
    /// The first messages to people who neither wrote to the session nor had been written to.
    pub(crate) strangers: Vec<(Timestamp, PhoneNumber)>,
}

/// A business account's connector is there.
#[derive(Debug)]
pub(crate) struct Connected {
    /// The app that it speaks for, whose channels share a budget at the provider.
    pub(crate) app: AppId,
}

/// Why a business account has no connector.
#[derive(Debug)]
pub(crate) enum NotConnected {
    /// Its secrets cannot be read now.
    Failed,
    /// It has no usable token, in a sentence.
    Unusable(String),
}

/// The outcome of writing the channel's state.
#[derive(Debug)]
pub(crate) enum Saved {
    /// It is written, with this revision.
    Done { revision: i64 },
    /// Somebody else changed it before: this is the channel now, if it is still there.
    Overtaken(Option<Box<Channel>>),
    /// It could not be written.
    Failed,
}

/// May a message come in that a caller waits for?
#[derive(Debug, Clone, Copy)]
pub(crate) struct Admit {
    /// The recipient, if it never wrote to the session and was never written to.
    pub(crate) stranger: Option<PhoneNumber>,
    /// How long the caller may wait.
    pub(crate) patience: std::time::Duration,
    /// The recipient of a message that is only tried: what it would meet after it was written counts too.
    pub(crate) tried: Option<PhoneNumber>,
}

/// Something is wrong with the number or its account.
#[derive(Debug, Clone)]
pub(crate) struct Troubled {
    pub(crate) disposition: Disposition,
    pub(crate) failure: Failure,
    /// A message met it that the provider had accepted.
    pub(crate) is_of_message: bool,
}
