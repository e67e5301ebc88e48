//! The places of open streams, shared fairly among those who hold them.
//!
//! A new stream always gets a place. When a bound is reached, the oldest stream of the largest holder ends: of the
//! session itself, of the session with the most within its company, or of the company with the most.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{oneshot, watch};
use uuid::Uuid;

use crate::accounts::Session;
use crate::console::error::{Error, Result};

/// The gauge of open streams.
pub const STREAMS: &str = "pombo_console_streams";

/// The maximum numbers of streams.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// Of one session.
    session: usize,
    /// Of one company: of everybody who has chosen it.
    company: usize,
    /// Of all.
    all: usize,
}

/// A person looks at a few pages at a time, and a hidden page closes its stream. Ten companies with as many people as
/// they like, or hundreds of usual ones, get along with all.
const BOUNDS: Bounds = Bounds { session: 20, company: 200, all: 2_000 };

/// Who holds a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Holder {
    /// The company; without one, the person.
    company: Uuid,
    person: Uuid,
    session: Uuid,
}

impl Holder {
    pub(super) fn of(session: &Session) -> Self {
        let company = session.company.as_ref().map_or(session.user.id, |company| company.company_id);
        Self { company, person: session.user.id, session: session.id }
    }
}

/// The open streams; clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Streams {
    open: Arc<Mutex<Open>>,
    closing: Arc<watch::Sender<bool>>,
    bounds: Bounds,
}

/// The streams by their numbers: the oldest has the lowest. A stream that is removed ends.
#[derive(Debug, Default)]
struct Open {
    streams: BTreeMap<u64, (Holder, oneshot::Sender<()>)>,
    next: u64,
}

impl Default for Streams {
    fn default() -> Self {
        Self::bounded(BOUNDS)
    }
}

impl Streams {
    fn bounded(bounds: Bounds) -> Self {
        Self { open: Arc::default(), closing: Arc::new(watch::Sender::new(false)), bounds }
    }

    /// Ends all streams and refuses new ones.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Tells when [`Streams::close`] is called.
    pub(super) fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// The number of open streams.
    pub(crate) fn open(&self) -> usize {
        self.open.lock().streams.len()
    }

    /// A place for a new stream. Other streams may end for it.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] when the service is stopping.
    pub(super) fn take(&self, holder: Holder) -> Result<StreamPlace> {
        if *self.closing.borrow() {
            return Err(Error::Unavailable);
        }
        let mut open = self.open.lock();
        while let Some(number) = open.to_end_for(holder, self.bounds) {
            open.streams.remove(&number);
        }
        let number = open.next;
        open.next += 1;
        let (end, ended) = oneshot::channel();
        open.streams.insert(number, (holder, end));
        show(&open);
        drop(open);
        Ok(StreamPlace { streams: self.clone(), number, ended })
    }
}

impl Open {
    /// The stream that has to end so that `holder` can have another one.
    fn to_end_for(&self, holder: Holder, bounds: Bounds) -> Option<u64> {
        let all: Vec<_> = self.streams.iter().map(|(number, (held_by, _))| (*number, *held_by)).collect();
        let of_company = || all.iter().copied().filter(|(_, by)| by.company == holder.company);
        let of_session = || of_company().filter(|(_, by)| by.session == holder.session);
        let largest_of = |among: Vec<(u64, Holder)>| {
            let among = of_largest(among, holder, |holder| holder.person);
            of_largest(among, holder, |holder| holder.session)
        };
        let among = if of_session().count() >= bounds.session {
            of_session().collect()
        } else if of_company().count() >= bounds.company {
            largest_of(of_company().collect())
        } else if all.len() >= bounds.all {
            largest_of(of_largest(all, holder, |holder| holder.company))
        } else {
            return None;
        };
        among.first().map(|(number, _)| *number)
    }
}

/// The streams of the holder that has the most, with the new one of `newcomer`; of equal ones, of the one with the
/// oldest stream.
fn of_largest(
    among: Vec<(u64, Holder)>,
    newcomer: Holder,
    key: impl Fn(&Holder) -> Uuid,
) -> Vec<(u64, Holder)> {
    let mut counts: HashMap<Uuid, usize> = HashMap::from([(key(&newcomer), 1)]);
    among.iter().for_each(|(_, holder)| *counts.entry(key(holder)).or_default() += 1);
    let largest = among.iter().map(|(_, holder)| key(holder)).rev().max_by_key(|key| counts[key]);
    among.into_iter().filter(|(_, holder)| Some(key(holder)) == largest).collect()
}

/// The place of one stream; dropping it returns it.
pub(super) struct StreamPlace {
    streams: Streams,
    number: u64,
    ended: oneshot::Receiver<()>,
}

impl StreamPlace {
    /// Returns when the stream has to end for another one.
    pub(super) async fn ended(&mut self) {
        // The other end is dropped, and sends nothing.
        let _ = (&mut self.ended).await;
    }
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        let mut open = self.streams.open.lock();
        open.streams.remove(&self.number);
        show(&open);
    }
}

fn show(open: &Open) {
    metrics::gauge!(STREAMS).set(open.streams.len() as f64);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Bounds = Bounds { session: 3, company: 5, all: 8 };

    fn holder(company: u128, person: u128, session: u128) -> Holder {
        let id = Uuid::from_u128;
        Holder { company: id(company), person: id(1_000 + person), session: id(2_000 + session) }
    }

    /// Takes a place for each holder, in this order.
    fn taken(streams: &Streams, holders: &[Holder]) -> Vec<StreamPlace> {
        holders.iter().map(|holder| streams.take(*holder).ok().unwrap()).collect()
    }

    /// The indexes of the places whose streams have to end.
    fn ended(places: &mut [StreamPlace]) -> Vec<usize> {
        let is_over = |place: &mut StreamPlace| {
            matches!(place.ended.try_recv(), Err(oneshot::error::TryRecvError::Closed))
        };
        places.iter_mut().enumerate().filter_map(|(index, place)| is_over(place).then_some(index)).collect()
    }

    #[test]
    fn a_place_is_returned_when_dropped_and_refused_while_closing() {
        let streams = Streams::default();
        let first = streams.take(holder(1, 1, 1)).ok();
        assert_eq!((first.is_some(), streams.open()), (true, 1));
        drop(first);
        assert_eq!(streams.open(), 0);
        streams.close();
        assert!(streams.take(holder(1, 1, 1)).is_err());
        assert_eq!(streams.open(), 0);
    }

    #[test]
    fn the_oldest_stream_of_a_session_ends_for_its_next_one() {
        let streams = Streams::bounded(SMALL);
        let mut places = taken(&streams, &[holder(1, 1, 1); 5]);
        assert_eq!(ended(&mut places), [0, 1]);
        assert_eq!(streams.open(), 3);
        drop(places);
        assert_eq!(streams.open(), 0, "a place that ended is returned once");
    }

    #[test]
    fn within_a_company_the_person_with_the_most_streams_makes_room() {
        let streams = Streams::bounded(SMALL);
        // One person with two sessions, and one with a single stream.
        let (one, two, other) = (holder(1, 1, 1), holder(1, 1, 2), holder(1, 2, 3));
        let mut places = taken(&streams, &[other, one, one, two, two]);
        assert!(ended(&mut places).is_empty());
        places.extend(taken(&streams, &[holder(1, 3, 4)]));
        assert_eq!(ended(&mut places), [1], "the oldest of the first of two equal sessions");
        places.extend(taken(&streams, &[two]));
        assert_eq!(ended(&mut places), [1, 3], "a newcomer that would have the most makes room itself");
        assert_eq!(streams.open(), 5);
    }

    #[test]
    fn among_all_the_company_with_the_most_streams_makes_room() {
        let streams = Streams::bounded(SMALL);
        let large = [holder(1, 1, 1), holder(1, 1, 1), holder(1, 2, 2), holder(1, 2, 2), holder(1, 2, 2)];
        let mut places = taken(&streams, &[holder(2, 3, 3)]);
        places.extend(taken(&streams, &large));
        places.extend(taken(&streams, &[holder(3, 4, 4), holder(4, 5, 5)]));
        assert!(ended(&mut places).is_empty());
        places.extend(taken(&streams, &[holder(5, 6, 6)]));
        assert_eq!(ended(&mut places), [3], "not the oldest of all, and not of the smaller session");
        assert_eq!(streams.open(), 8);
    }
}
