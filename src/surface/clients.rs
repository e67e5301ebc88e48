//! The connections of a listener's clients: how many are open, and which are closed to make room for newer
//! ones.
//!
//! A connection takes a file. A process has few files, and needs them for the provider and the database too.
//! Most of the time a connection waits for its client: for a request, for the rest of a request, or until the
//! answer is read. When there are too many connections, those that have waited longest are closed. A connection
//! whose request is in progress is never closed.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::Waker;
use std::time::{Duration, Instant};

use futures_util::task::AtomicWaker;
use metrics::Gauge;
use parking_lot::Mutex;

/// The value of [`Client::waiting_since`] while a request is in progress.
const AT_WORK: u64 = 0;
/// This fraction of all connections is closed at once, so that a new connection rarely has to search for
/// connections to close.
const AT_ONCE: usize = 16;

/// Why the service ended a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// There were too many connections.
    Room,
    /// A request's head took too long to arrive.
    Head,
    /// An answer was not read.
    Unread,
}

impl Ending {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Room => "room",
            Self::Head => "head",
            Self::Unread => "unread",
        }
    }
}

/// All connections of one listener.
pub(crate) struct Clients {
    most: usize,
    began: Instant,
    open: AtomicUsize,
    next: AtomicU64,
    all: Mutex<HashMap<u64, Arc<Client>>>,
    gauge: Gauge,
}

impl Clients {
    /// No connections yet, and at most `most` before the first is closed.
    pub(crate) fn new(listener: &'static str, most: usize) -> Arc<Self> {
        metrics::gauge!("pombo_connections_max", "listener" => listener).set(most as f64);
        let gauge = metrics::gauge!("pombo_connections", "listener" => listener);
        gauge.set(0.0);
        Arc::new(Self {
            most,
            began: Instant::now(),
            open: AtomicUsize::new(0),
            next: AtomicU64::new(0),
            all: Mutex::new(HashMap::new()),
            gauge,
        })
    }

    /// Adds a connection. Others are closed when there are too many.
    pub(crate) fn open(self: &Arc<Self>) -> Opened {
        let client = Arc::new(Client {
            clients: Arc::clone(self),
            waiting_since: AtomicU64::new(self.now()),
            sends_body: AtomicBool::new(false),
            requests: AtomicU64::new(0),
            makes_room: AtomicBool::new(false),
            waker: AtomicWaker::new(),
        });
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let mut all = self.all.lock();
        all.insert(id, Arc::clone(&client));
        self.open.store(all.len(), Ordering::Relaxed);
        self.gauge.set(all.len() as f64);
        if all.len() > self.most {
            self.make_room(&all, id);
        }
        Opened { id, client }
    }

    fn close(&self, id: u64) {
        let mut all = self.all.lock();
        all.remove(&id);
        self.open.store(all.len(), Ordering::Relaxed);
        self.gauge.set(all.len() as f64);
    }

    /// Closes the connections that have waited longest for their clients, but never the newest one.
    fn make_room(&self, all: &HashMap<u64, Arc<Client>>, newest: u64) {
        let mut ending = 0;
        let mut waiting = Vec::new();
        for (_, client) in all.iter().filter(|(id, _)| **id != newest) {
            let since = client.waiting_since.load(Ordering::Relaxed);
            if since == AT_WORK {
                continue;
            }
            if client.makes_room.load(Ordering::Relaxed) {
                ending += 1;
            } else {
                waiting.push((since, client));
            }
        }
        let excess = all.len() - self.most;
        if ending >= excess || waiting.is_empty() {
            return;
        }
        let wanted = (excess - ending + self.most / AT_ONCE).min(waiting.len());
        if wanted < waiting.len() {
            waiting.select_nth_unstable_by_key(wanted, |&(since, _)| since);
        }
        for (_, client) in waiting.into_iter().take(wanted) {
            client.end();
        }
    }

    fn is_crowded(&self) -> bool {
        self.open.load(Ordering::Relaxed) > self.most
    }

    /// Microseconds since the listener was created; never [`AT_WORK`].
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX).max(AT_WORK + 1)
    }
}

/// A connection of [`Clients`]; closed when it is dropped.
pub(crate) struct Opened {
    id: u64,
    client: Arc<Client>,
}

impl Opened {
    pub(crate) const fn client(&self) -> &Arc<Client> {
        &self.client
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.client.clients.close(self.id);
    }
}

/// The state of a connection. Its requests have access to it, too.
pub(crate) struct Client {
    clients: Arc<Clients>,
    /// When it began to wait for its client, or [`AT_WORK`].
    waiting_since: AtomicU64,
    /// Whether it waits for a request's body.
    sends_body: AtomicBool,
    /// The number of requests so far.
    requests: AtomicU64,
    /// Whether it has to end as soon as possible, if it still waits.
    makes_room: AtomicBool,
    waker: AtomicWaker,
}

impl Client {
    /// Marks a request as in progress until the guard is dropped.
    pub(crate) fn work(self: &Arc<Self>) -> Working {
        self.waiting_since.store(AT_WORK, Ordering::Relaxed);
        self.makes_room.store(false, Ordering::Relaxed);
        self.requests.fetch_add(1, Ordering::Relaxed);
        Working(Arc::clone(self))
    }

    /// Marks the request in progress as waiting for its body until the guard is dropped.
    pub(crate) fn await_body(self: &Arc<Self>) -> AwaitingBody {
        self.sends_body.store(true, Ordering::Relaxed);
        self.waiting_since.store(self.clients.now(), Ordering::Relaxed);
        AwaitingBody(Arc::clone(self))
    }

    fn end(&self) {
        self.makes_room.store(true, Ordering::Relaxed);
        self.waker.wake();
    }

    /// Whether the connection has to end now.
    pub(crate) fn makes_room(&self) -> bool {
        self.makes_room.load(Ordering::Relaxed) && self.waiting_since.load(Ordering::Relaxed) != AT_WORK
    }

    /// Notes the task to wake when the connection has to end.
    pub(crate) fn register(&self, waker: &Waker) {
        self.waker.register(waker);
    }

    /// The number of requests so far, for the connection.
    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// When it began to wait for a request.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let since = self.waiting_since.load(Ordering::Relaxed);
        let is_idle = since != AT_WORK && !self.sends_body.load(Ordering::Relaxed);
        is_idle.then(|| self.clients.began + Duration::from_micros(since))
    }
}

/// Counts a connection that the service ended.
pub(crate) fn count(ending: Ending) {
    metrics::counter!("pombo_connections_ended_total", "reason" => ending.as_str()).increment(1);
}

/// The guard of [`Client::work`].
pub(crate) struct Working(Arc<Client>);

impl Drop for Working {
    fn drop(&mut self) {
        let Self(client) = self;
        client.waiting_since.store(client.clients.now(), Ordering::Relaxed);
        if client.clients.is_crowded() {
            client.end();
        }
    }
}

/// The guard of [`Client::await_body`].
pub(crate) struct AwaitingBody(Arc<Client>);

impl Drop for AwaitingBody {
    fn drop(&mut self) {
        self.0.waiting_since.store(AT_WORK, Ordering::Relaxed);
        self.0.sends_body.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clients(most: usize, open: usize) -> (Arc<Clients>, Vec<Opened>) {
        let clients = Clients::new("test", most);
        let opened = (0..open)
            .map(|number| {
                let opened = clients.open();
                opened.client.waiting_since.store(number as u64 + 1, Ordering::Relaxed);
                opened
            })
            .collect();
        // New connections are younger, however coarse the clock is.
        while clients.now() <= open as u64 {
            std::thread::yield_now();
        }
        (clients, opened)
    }

    fn ending(opened: &[Opened]) -> Vec<usize> {
        (0..opened.len()).filter(|index| opened[*index].client.makes_room()).collect()
    }

    #[test]
    fn the_longest_idle_connections_make_room_and_busy_ones_never_do() {
        let (clients, mut opened) = clients(4, 4);
        let _first = opened[0].client.work();
        let _second = opened[1].client.work();
        let waiting = opened[1].client.await_body();
        assert!(ending(&opened).is_empty());
        opened.push(clients.open());
        assert_eq!(
            ending(&opened),
            [2],
            "the first is at work, and the second has waited for its body only for moments"
        );
        opened.push(clients.open());
        assert_eq!(ending(&opened), [2, 3]);
        opened.drain(2..4);
        assert_eq!(clients.open.load(Ordering::Relaxed), 4);
        let _third = opened[2].client.work();
        let _fourth = opened[3].client.work();
        opened.push(clients.open());
        assert_eq!(ending(&opened), [1], "all others are at work, and the newest one is never closed");
        drop(waiting);
        assert!(ending(&opened).is_empty(), "its body arrived");
    }

    #[test]
    fn a_connection_that_becomes_idle_while_there_are_too_many_ends() {
        let (clients, mut opened) = clients(1, 1);
        let first = opened[0].client.work();
        opened.push(clients.open());
        let second = opened[1].client.work();
        assert!(ending(&opened).is_empty());
        drop(first);
        assert_eq!(ending(&opened), [0]);
        opened.remove(0);
        drop(second);
        assert!(ending(&opened).is_empty());
    }

    #[test]
    fn many_end_at_once_when_there_are_many() {
        let (clients, mut opened) = clients(160, 160);
        opened.push(clients.open());
        assert_eq!(ending(&opened), (0..11).collect::<Vec<_>>());
        opened.push(clients.open());
        assert_eq!(ending(&opened).len(), 11, "those make room for this one too");
    }
}
