//! Fetching a channel's unfinished sends from the store, with what became of them before.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::connector::Rendered;
use super::counted::{self, Counting};
use super::settled::Settled;
use super::work::{Beginning, Doubt, Source, Ticket, Work};
use crate::clock::Timestamp;
use crate::domain::channel::{Channel, Kind};
use crate::domain::content::Stored;
use crate::domain::message::State;
use crate::domain::phone::PhoneNumber;
use crate::domain::send::{Progress, Recipients};
use crate::engine::ledger::AcceptedSend;
use crate::store::send::{Ready, Size, Unfinished, Waiting, WaitingMessages};
use crate::store::{Error, Result, Store};

/// Waiting messages that are due within this are read.
pub(super) const HORIZON: Duration = Duration::from_secs(60);
/// How many of them are read at once, for each send.
const AT_ONCE: usize = 500;

/// A send as it was found in the store.
pub(super) struct Found {
    pub(super) work: Work,
    /// Messages that wait to be tried again, and when.
    pub(super) waiting: Waits,
    /// Messages that were perhaps sent before the process ended: nobody knows.
    pub(super) unknown: Vec<Ticket>,
    /// The first message, of those that were never handed out, to somebody who counts against the quota of templates.
    pub(super) counted_at: Option<u64>,
}

/// The messages of a send that wait in the store.
#[derive(Default)]
pub(super) struct Waits {
    /// Those that are due soon.
    pub(super) soon: Vec<(Ticket, Timestamp)>,
    /// How many more there are, and when the first of these is due.
    pub(super) later: u64,
    pub(super) later_due: Option<Timestamp>,
}

/// What a look into the store brought.
pub(super) struct Fetched {
    pub(super) found: Vec<Found>,
    /// Sends that cannot be read and never will be.
    pub(super) broken: Vec<Uuid>,
    /// Whether the store holds no more.
    pub(super) all: bool,
    /// When the next send is due that waits for its moment.
    pub(super) next_due: Option<Timestamp>,
    /// How long it took to look for people who count against the quota of templates, if that was asked.
    pub(super) took: Option<Duration>,
    /// Sends with many recipients of whom nobody does.
    pub(super) nobody_counted: HashMap<Uuid, u64>,
}

/// Sends that were read back.
#[derive(Default)]
pub(super) struct Taken {
    pub(super) found: Vec<Found>,
    broken: Vec<Uuid>,
}

/// The oldest unfinished sends of the channel that may go, without those in `held`, at most `room`; when templates may
/// not, those that are for people who are `counted` besides.
pub(super) async fn fetch(
    store: Store,
    channel: &Channel,
    size: Size,
    ready: Ready,
    held: HashSet<Uuid>,
    room: usize,
    counted: Option<Counting>,
) -> Result<Fetched> {
    let limit = held.len() + room;
    let next_due = store.next_due_send(channel.id, ready.now).await?;
    let unfinished = store.unfinished(channel.id, size, ready, limit).await?;
    let mut all = unfinished.len() < limit;
    let mut new = unfinished.into_iter().filter(|send| !held.contains(&send.id));
    let Taken { mut found, mut broken } =
        restore_all(&store, channel.kind, new.by_ref().take(room).collect()).await?;
    all &= new.next().is_none();
    let (mut took, mut nobody_counted) = (None, HashMap::new());
    if let Some(counting) = counted.filter(|_| found.len() < room) {
        let began = Instant::now();
        let mut look = counting.look(&store, channel.id, size, &held, room - found.len()).await?;
        let more = counted::take(&store, channel.kind, &look).await?;
        all &= look.all;
        found.extend(more.found);
        broken.extend(more.broken);
        (took, nobody_counted) = (Some(began.elapsed()), look.nobody());
    }
    Ok(Fetched { found, broken, all, next_due, took, nobody_counted })
}

/// Reads these sends back.
pub(super) async fn restore_all(store: &Store, kind: Kind, sends: Vec<Unfinished>) -> Result<Taken> {
    let mut taken = Taken::default();
    for send in sends {
        let id = send.id;
        match restore(store, kind, send).await {
            Ok(found) => taken.found.push(found),
            Err(error) if error.is_passing() => return Err(error),
            Err(error) => {
                tracing::error!(send.id = %id, %error, "the send cannot be read and is left out");
                taken.broken.push(id);
            }
        }
    }
    Ok(taken)
}

/// A send that was accepted just now.
pub(super) fn begin(kind: Kind, send: &AcceptedSend) -> Work {
    let source = match send.recipients {
        Recipients::One(number) => Source::One(number),
        Recipients::Group => Source::Group,
        Recipients::Blocks(_) => Source::Blocks { first: 0, numbers: Vec::new(), loading: false },
    };
    Work::new(Beginning {
        id: send.id,
        company_id: send.order.company_id,
        rendered: Rendered::new(kind, &send.order.stored()),
        recipients: send.recipients.count(),
        source,
        template: send.order.template,
        expires_at: send.order.schedule.expires_at,
        progress: Progress::default(),
        settled: Settled::new(0, []),
    })
}

async fn restore(store: &Store, kind: Kind, send: Unfinished) -> Result<Found> {
    let stored = serde_json::from_str::<Stored>(&send.content).map_err(|error| {
        Error::Impossible(format!("the content of send {} cannot be read: {error}", send.id))
    })?;
    let progress = send.progress;
    let started = progress.high_water > 0;
    let waiting = if started { waits(store, send.id).await? } else { Waits::default() };
    let recorded: BTreeSet<u64> = if progress.high_water > progress.settled {
        store.recorded(send.id, progress).await?.into_iter().collect()
    } else {
        BTreeSet::new()
    };
    let mut unknown = Vec::new();
    let mut stretch = (0, Vec::new());
    for ordinal in (progress.settled..progress.high_water).filter(|ordinal| !recorded.contains(ordinal)) {
        let recipient = recipient(store, &send, ordinal, &mut stretch).await?;
        unknown.push(Ticket {
            send_id: send.id,
            ordinal,
            recipient,
            attempts: 1,
            again: true,
            doubt: Doubt::Full,
            paced: true,
            counted: None,
            taken_at: Some(Timestamp::now()),
        });
    }
    let source = match send.recipients {
        Recipients::One(number) => Source::One(number),
        Recipients::Group => Source::Group,
        Recipients::Blocks(_) => {
            Source::Blocks { first: progress.high_water, numbers: Vec::new(), loading: false }
        }
    };
    let work = Work::new(Beginning {
        id: send.id,
        company_id: send.company_id,
        rendered: Rendered::new(kind, &stored.borrowed()),
        recipients: send.recipients.count(),
        source,
        template: send.template,
        expires_at: send.expires_at,
        progress,
        settled: Settled::new(progress.settled, recorded),
    });
    Ok(Found { work, waiting, unknown, counted_at: None })
}

/// The messages of a send that wait in the store.
pub(super) async fn waits(store: &Store, send_id: Uuid) -> Result<Waits> {
    let horizon = Timestamp::now().plus(HORIZON);
    let WaitingMessages { soon, later, later_due } = store.waiting(send_id, horizon, AT_ONCE).await?;
    let ticket = |Waiting { position, state, attempts, retry_at, taken_at }: Waiting| {
        let (ordinal, recipient) = (position.ordinal, position.recipient);
        // Whatever is not merely queued was perhaps sent.
        let doubt = match (state, taken_at) {
            (State::Queued, None) => Doubt::None,
            (State::Queued, Some(_)) => Doubt::Slight,
            _ => Doubt::Full,
        };
        let ticket = Ticket {
            send_id,
            ordinal,
            recipient,
            attempts,
            again: true,
            doubt,
            paced: true,
            counted: None,
            taken_at,
        };
        (ticket, retry_at)
    };
    Ok(Waits { soon: soon.into_iter().map(ticket).collect(), later, later_due })
}

/// The recipient of one message, `None` for the group; `stretch` is the block that was read last.
async fn recipient(
    store: &Store,
    send: &Unfinished,
    ordinal: u64,
    stretch: &mut (u64, Vec<PhoneNumber>),
) -> Result<Option<PhoneNumber>> {
    match send.recipients {
        Recipients::One(number) => return Ok(Some(number)),
        Recipients::Group => return Ok(None),
        Recipients::Blocks(_) => {}
    }
    let within = |(first, numbers): &(u64, Vec<PhoneNumber>)| {
        let place = usize::try_from(ordinal.checked_sub(*first)?).ok()?;
        numbers.get(place).copied()
    };
    if within(stretch).is_none() {
        *stretch = numbers_from(store, send.id, ordinal).await?;
    }
    let number = within(stretch);
    number.map(Some).ok_or_else(|| Error::Impossible(format!("send {} has no recipient {ordinal}", send.id)))
}

/// The recipients from `ordinal` to the end of its block.
pub(super) async fn numbers_from(
    store: &Store,
    send_id: Uuid,
    ordinal: u64,
) -> Result<(u64, Vec<PhoneNumber>)> {
    let (first, mut numbers) = store.block_at(send_id, ordinal).await?;
    let used = usize::try_from(ordinal - first).unwrap_or(usize::MAX).min(numbers.len());
    numbers.drain(..used);
    if numbers.is_empty() {
        return Err(Error::Impossible(format!("send {send_id} has no recipient {ordinal}")));
    }
    Ok((ordinal, numbers))
}
