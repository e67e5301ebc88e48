//! Fetches a channel's unfinished sends from the store, with their outcomes so far.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Instant;

use uuid::Uuid;

use super::people::{self, KnownPerson, Wants};
use crate::channel::machine::{Counting, Fetch, Fetched, Found, Restoring, Waits};
use crate::contents::{ContentKeys, StoredValues, values_from};
use clock::Timestamp;
use domain::channel::Kind;
use domain::message::Key;
use domain::phone::PhoneNumber;
use domain::send::Recipients;
use store::sends::{Size, Unfinished, WaitingMessages};
use store::templates::waiting::Candidate;
use store::{Error, Result, Store};

/// The sends that are examined in one read while the quota of templates is used up.
const AT_ONCE: usize = 1_000;

/// Restored sends.
#[derive(Default)]
struct Taken {
    found: Vec<Found>,
    broken: Vec<Uuid>,
}

/// The result of a search for people who count against the quota of templates.
#[derive(Default)]
struct Look {
    /// Sends with a recipient who counts, and for bulk sends the first message to such a person.
    found: Vec<(Uuid, Option<u64>)>,
    /// Whether no further send exists.
    all: bool,
    /// Bulk sends none of whose recipients counts, each with the number of people that had begun to count by then.
    nobody: HashMap<Uuid, u64>,
}

/// Reads the oldest unfinished sends of the channel that may go, except those that the machine has or that cannot be
/// read, at most as many as there is room for. While templates may not go, it also reads template sends to people who
/// count already.
pub(super) async fn fetch(store: Store, channel: Uuid, kind: Kind, fetch: Fetch) -> Result<Fetched> {
    let Fetch { size, ready, held, room, counted } = fetch;
    let limit = held.len() + room;
    let next_due = store.sends().next_due(channel, ready.now).await?;
    let unfinished = store.sends().unfinished(channel, size, ready, limit).await?;
    let mut all = unfinished.len() < limit;
    let mut new = unfinished.into_iter().filter(|send| !held.contains(&send.id));
    let Taken { mut found, mut broken } =
        restore_all(&store, kind, new.by_ref().take(room).collect()).await?;
    all &= new.next().is_none();
    let (mut took, mut nobody_counted) = (None, HashMap::new());
    if let Some(counting) = counted.filter(|_| found.len() < room) {
        let began = Instant::now();
        let space = Space { channel, size, held: &held, room: room - found.len(), now: ready.now };
        let look = look_for_counted(&store, &counting, space).await?;
        let more = take(&store, kind, &look).await?;
        all &= look.all;
        found.extend(more.found);
        broken.extend(more.broken);
        (took, nobody_counted) = (Some(began.elapsed()), look.nobody);
    }
    Ok(Fetched { found, broken, all, next_due, took, nobody_counted })
}

/// The scope of a search for people who count.
struct Space<'a> {
    channel: Uuid,
    size: Size,
    held: &'a HashSet<Uuid>,
    room: usize,
    now: Timestamp,
}

/// The oldest template sends with a recipient who counts.
async fn look_for_counted(store: &Store, counting: &Counting, space: Space<'_>) -> Result<Look> {
    let Space { channel, size, held, room, now } = space;
    let mut look = Look { all: true, ..Look::default() };
    let mut last = Uuid::nil();
    loop {
        let candidates = store.templates().waiting(channel, size, now, last, AT_ONCE).await?;
        let Some(newest) = candidates.last() else { return Ok(look) };
        last = newest.id;
        for candidate in candidates.iter().filter(|candidate| !held.contains(&candidate.id)) {
            if look.found.len() >= room {
                look.all = false;
                return Ok(look);
            }
            look_at(store, counting, candidate, &mut look).await?;
        }
    }
}

async fn look_at(store: &Store, counting: &Counting, candidate: &Candidate, look: &mut Look) -> Result<()> {
    let Candidate { id, recipients, high_water } = *candidate;
    let count = match recipients {
        Recipients::One(number) => {
            look.found.extend(counting.counts(number).then_some((id, None)));
            return Ok(());
        }
        Recipients::Group => {
            look.found.push((id, None));
            return Ok(());
        }
        Recipients::Blocks(count) => count,
    };
    if counting.is_known_to_count_nobody(id) {
        look.nobody.insert(id, counting.arrivals());
        return Ok(());
    }
    let mut next = high_water;
    while next < count {
        let (first, numbers) = numbers_from(store, id, next).await?;
        if let Some(place) = numbers.iter().position(|number| counting.counts(*number)) {
            look.found.push((id, Some(first + place as u64)));
            return Ok(());
        }
        next = first + numbers.len() as u64;
    }
    look.nobody.insert(id, counting.arrivals());
    Ok(())
}

/// Restores the sends that a search found, each with the first message to a person who counts.
async fn take(store: &Store, kind: Kind, look: &Look) -> Result<Taken> {
    let ids: Vec<_> = look.found.iter().map(|(id, _)| *id).collect();
    let mut taken = restore_all(store, kind, store.sends().unfinished_among(&ids).await?).await?;
    let places: HashMap<_, _> = look.found.iter().copied().collect();
    for found in &mut taken.found {
        found.counted_at = places.get(&found.id()).copied().flatten();
    }
    Ok(taken)
}

/// Restores these sends.
async fn restore_all(store: &Store, kind: Kind, sends: Vec<Unfinished>) -> Result<Taken> {
    let mut taken = Taken::default();
    for send in sends {
        let id = send.id;
        match restore(store, kind, send).await {
            Ok(found) => taken.found.push(found),
            Err(error) if error.is_passing() => return Err(error),
            Err(error) => {
                tracing::error!(send.id = %id, %error, "a send cannot be read and is skipped");
                taken.broken.push(id);
            }
        }
    }
    Ok(taken)
}

async fn restore(store: &Store, kind: Kind, send: Unfinished) -> Result<Found> {
    let (id, progress) = (send.id, send.progress);
    let started = progress.high_water > 0;
    let waiting = if started { read_waits(store, id).await? } else { WaitingMessages::default() };
    let recorded: BTreeSet<u64> = if progress.high_water > progress.settled {
        store.sends().recorded(id, progress).await?.into_iter().collect()
    } else {
        BTreeSet::new()
    };
    let mut unknown = Vec::new();
    let mut stretch = (0, Vec::new());
    for ordinal in (progress.settled..progress.high_water).filter(|ordinal| !recorded.contains(ordinal)) {
        unknown.push((ordinal, recipient(store, &send, ordinal, &mut stretch).await?));
    }
    let restoring = Restoring { kind, send, waiting, recorded, unknown, wall: Timestamp::now() };
    Found::new(restoring)
        .map_err(|error| Error::Impossible(format!("the content of send {id} cannot be read: {error}")))
}

/// The messages of a send that wait in the store.
pub(super) async fn waits(store: &Store, send_id: Uuid) -> Result<Waits> {
    Ok(Waits::new(send_id, read_waits(store, send_id).await?))
}

async fn read_waits(store: &Store, send_id: Uuid) -> Result<WaitingMessages> {
    store.sends().waiting(send_id, Timestamp::now().plus(Waits::HORIZON), Waits::AT_ONCE).await
}

/// The recipient of one message, `None` for the group; `stretch` is the last block that was read.
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

/// What is known of the recipients from an ordinal to the end of its block, of numbers or of values; empty beyond the last one.
pub(super) async fn people_from(
    store: &Store,
    contents: &ContentKeys,
    wants: Wants,
    (send_id, ordinal): (Uuid, u64),
) -> Result<Vec<KnownPerson>> {
    let mut values = Vec::new();
    if wants.values {
        values = values_from((store, contents), send_id, ordinal).await?;
        if !wants.contacts && !values.is_empty() {
            // Nothing more is wanted, so that the numbers are not read.
            let known = values.into_iter().map(|values| KnownPerson { person: None, values: Some(values) });
            return Ok(known.collect());
        }
    }
    let most = if values.is_empty() { people::AT_ONCE } else { values.len() };
    let (first, numbers) = store.sends().block_at(send_id, ordinal).await?;
    let used = usize::try_from(ordinal - first).unwrap_or(usize::MAX);
    let numbers: Vec<_> = numbers.into_iter().skip(used).take(most).collect();
    let mut people = if wants.contacts {
        store.of(wants.company).contacts().people(&numbers).await?
    } else {
        HashMap::new()
    };
    let mut values = values.into_iter();
    let known =
        numbers.iter().map(|number| KnownPerson { person: people.remove(number), values: values.next() });
    Ok(known.collect())
}

/// What is known of the recipients of these messages.
pub(super) async fn people_of(
    store: &Store,
    contents: &ContentKeys,
    mut asked: Vec<(Key, Option<PhoneNumber>, Wants)>,
) -> Result<HashMap<Key, KnownPerson>> {
    asked.sort_unstable_by_key(|(key, ..)| (key.send_id, key.ordinal));
    let with_contacts = asked.iter().filter(|(_, _, wants)| wants.contacts);
    let numbers: Vec<_> = with_contacts.filter_map(|(_, number, _)| *number).collect();
    let people = match asked.first() {
        // All belong to the channel's company.
        Some((_, _, wants)) if !numbers.is_empty() => {
            store.of(wants.company).contacts().people(&numbers).await?
        }
        _ => HashMap::new(),
    };
    let mut known = HashMap::with_capacity(asked.len());
    let mut values: Option<(Uuid, StoredValues)> = None;
    for (key, number, wants) in asked {
        let person = number.and_then(|number| people.get(&number)).cloned();
        let mut found = KnownPerson { person, values: None };
        if wants.values {
            if values.as_ref().is_none_or(|(send_id, _)| *send_id != key.send_id) {
                values = Some((key.send_id, StoredValues::of(store, key.send_id).await?));
            }
            if let Some((_, values)) = &mut values {
                found.values = values.at((store, contents), key.ordinal).await?.cloned();
            }
        }
        known.insert(key, found);
    }
    Ok(known)
}

/// The recipients from `ordinal` to the end of its block.
pub(super) async fn numbers_from(
    store: &Store,
    send_id: Uuid,
    ordinal: u64,
) -> Result<(u64, Vec<PhoneNumber>)> {
    let (first, mut numbers) = store.sends().block_at(send_id, ordinal).await?;
    let used = usize::try_from(ordinal - first).unwrap_or(usize::MAX).min(numbers.len());
    numbers.drain(..used);
    if numbers.is_empty() {
        return Err(Error::Impossible(format!("send {send_id} has no recipient {ordinal}")));
    }
    Ok((ordinal, numbers))
}
