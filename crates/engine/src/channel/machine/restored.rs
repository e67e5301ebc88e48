//! A channel's unfinished sends, from the store or just accepted.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use uuid::Uuid;

use super::rendered::Rendered;
use super::settled::Settled;
use super::work::{Beginning, PriorOutcome, Source, Ticket, Work};
use crate::ledger::AcceptedSend;
use clock::Timestamp;
use domain::channel::Kind;
use domain::content::Stored;
use domain::message::State;
use domain::phone::PhoneNumber;
use domain::send::{Progress, Recipients};
use store::sends::{Unfinished, Waiting, WaitingMessages};

/// A send from the store.
pub(crate) struct Found {
    pub(super) work: Work,
    /// Messages that wait for a retry, with their times.
    pub(super) waiting: Waits,
    /// Messages that an earlier process may have sent: their outcome is unknown.
    pub(super) unknown: Vec<Ticket>,
    /// The first message, among those never handed out, to a person who counts against the quota of templates.
    pub(crate) counted_at: Option<u64>,
}

/// A send's state in the store.
pub(crate) struct Restoring {
    pub(crate) kind: Kind,
    pub(crate) send: Unfinished,
    /// Its waiting messages, if any was ever attempted.
    pub(crate) waiting: WaitingMessages,
    /// The ordinals from `send.progress.settled` to below `send.progress.high_water` that have a row.
    pub(crate) recorded: BTreeSet<u64>,
    /// The other ordinals between these marks, which may have been attempted, with their recipients: `None` is the
    /// group.
    pub(crate) unknown: Vec<(u64, Option<PhoneNumber>)>,
    /// The present moment.
    pub(crate) wall: Timestamp,
}

/// The messages of a send that wait in the store.
#[derive(Default)]
pub(crate) struct Waits {
    /// The messages that are due soon.
    pub(super) soon: Vec<(Ticket, Timestamp)>,
    /// How many more there are, and when the first of them is due.
    pub(super) later: u64,
    pub(super) later_due: Option<Timestamp>,
}

/// The result of reading sends from the store.
pub(crate) struct Fetched {
    pub(crate) found: Vec<Found>,
    /// Sends that can never be read.
    pub(crate) broken: Vec<Uuid>,
    /// Whether the store holds no more.
    pub(crate) all: bool,
    /// When the next send that waits for its time is due.
    pub(crate) next_due: Option<Timestamp>,
    /// How long the search for people who count against the quota of templates took, if there was one.
    pub(crate) took: Option<Duration>,
    /// Bulk sends none of whose recipients counts, with the number of people that had begun to count by then.
    pub(crate) nobody_counted: HashMap<Uuid, u64>,
}

impl Waits {
    /// Waiting messages are read this long before they are due.
    pub(crate) const HORIZON: Duration = Duration::from_secs(60);
    /// How many of them are read at once, for each send.
    pub(crate) const AT_ONCE: usize = 500;

    /// The waiting messages of this send.
    pub(crate) fn new(send_id: Uuid, waiting: WaitingMessages) -> Self {
        let WaitingMessages { soon, later, later_due } = waiting;
        let ticket = |Waiting { position, state, attempts, retry_at, taken_at }: Waiting| {
            // A message that is not merely queued may have been sent.
            let prior = match (state, taken_at) {
                (State::Queued, None) => PriorOutcome::NotTaken,
                (State::Queued, Some(_)) => PriorOutcome::PerhapsTaken,
                _ => PriorOutcome::Unknown,
            };
            let ticket = Ticket {
                send_id,
                ordinal: position.ordinal,
                recipient: position.recipient,
                attempts,
                again: true,
                prior,
                has_waited: true,
                counted: None,
                taken_at,
            };
            (ticket, retry_at)
        };
        Self { soon: soon.into_iter().map(ticket).collect(), later, later_due }
    }
}

impl Found {
    /// A send that continues from its state in the store.
    ///
    /// # Errors
    ///
    /// When its content cannot be read.
    pub(crate) fn new(restoring: Restoring) -> serde_json::Result<Self> {
        let Restoring { kind, send, waiting, recorded, unknown, wall } = restoring;
        let stored = serde_json::from_str::<Stored>(&send.content)?;
        let unknown = unknown.into_iter().map(|(ordinal, recipient)| Ticket {
            send_id: send.id,
            ordinal,
            recipient,
            attempts: 1,
            again: true,
            prior: PriorOutcome::Unknown,
            has_waited: true,
            counted: None,
            taken_at: Some(wall),
        });
        let unknown = unknown.collect();
        let work = Work::new(Beginning {
            id: send.id,
            company_id: send.company_id,
            rendered: Rendered::new(kind, &stored.borrowed()),
            confirms: stored.confirms,
            recipients: send.recipients.count(),
            source: source(send.recipients, send.progress.high_water),
            template: send.template,
            expires_at: send.expires_at,
            progress: send.progress,
            settled: Settled::new(send.progress.settled, recorded),
        });
        Ok(Self { work, waiting: Waits::new(send.id, waiting), unknown, counted_at: None })
    }

    /// The id of the send.
    pub(crate) const fn id(&self) -> Uuid {
        self.work.id
    }
}

/// The work of a send that was just accepted.
pub(super) fn begin(kind: Kind, send: &AcceptedSend) -> Work {
    let AcceptedSend { id, order, recipients } = send;
    Work::new(Beginning {
        id: *id,
        company_id: order.company_id,
        rendered: Rendered::new(kind, &order.stored()),
        confirms: order.confirms,
        recipients: recipients.count(),
        source: source(*recipients, 0),
        template: order.template,
        expires_at: order.schedule.expires_at,
        progress: Progress::default(),
        settled: Settled::new(0, BTreeSet::new()),
    })
}

/// The source of the recipients from `first` on.
const fn source(recipients: Recipients, first: u64) -> Source {
    match recipients {
        Recipients::One(number) => Source::One(number),
        Recipients::Group => Source::Group,
        Recipients::Blocks(_) => Source::Blocks { first, numbers: Vec::new(), loading: None },
    }
}
