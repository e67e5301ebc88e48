//! Live parts: fragments of a page that are sent again when they change, as server-sent events.
//!
//! A page has one stream at most: its handler says `Page::live("/console/…/live")`, and the handler of that address answers
//! with [`stream`], which renders the fragments every so often and sends those that changed. Each fragment is an element
//! with an id, the same that the page itself shows, so that a page without its stream shows the same after a reload.
//!
//! A stream takes a place of [`Streams`] and a task of the worker that serves it. Data that several pages
//! show is read once for all of them with [`Shared`].

use std::any::Any;
use std::collections::HashMap;
use std::convert::Infallible;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use actix_web::http::header::{CONTENT_TYPE, HeaderName};
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::stream;
use maud::Markup;
use tokio::sync::{OnceCell, mpsc, watch};
use uuid::Uuid;

use super::State;
use super::cookie;
use super::error::Error;
use super::visitor::Visitor;
use crate::surface::Listener;

/// How often a stream without changes sends a heartbeat.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// The maximum of events that wait for a slow reader. A reader with more is disconnected, and reconnects.
const WAITING: usize = 8;
/// The maximum of streams of all pages.
const MOST: usize = 2_000;
/// The gauge of open streams.
pub const STREAMS: &str = "pombo_console_streams";
/// Tells a proxy not to buffer the stream.
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The open streams; clones share them.
#[derive(Debug, Clone)]
pub(super) struct Streams {
    open: Arc<AtomicUsize>,
    closing: Arc<watch::Sender<bool>>,
}

impl Default for Streams {
    fn default() -> Self {
        Self { open: Arc::default(), closing: Arc::new(watch::Sender::new(false)) }
    }
}

impl Streams {
    /// Ends all streams and refuses new ones.
    pub(super) fn close(&self) {
        self.closing.send_replace(true);
    }

    /// The number of open streams.
    pub(super) fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    fn take(&self) -> Result<Place, Error> {
        let place = Place(self.clone());
        let others = self.open.fetch_add(1, Ordering::Relaxed);
        self.show();
        // Dropping the place returns it.
        if others >= MOST || *self.closing.borrow() { Err(Error::Unavailable) } else { Ok(place) }
    }

    fn show(&self) {
        metrics::gauge!(STREAMS).set(self.open() as f64);
    }
}

/// The place of one stream.
struct Place(Streams);

impl Drop for Place {
    fn drop(&mut self) {
        let Self(streams) = self;
        streams.open.fetch_sub(1, Ordering::Relaxed);
        streams.show();
    }
}

/// Answers with a stream of fragments: first all of them, and then at intervals those that have changed. The
/// stream ends when the browser disconnects or reads too slowly, when the person's session ends or changes
/// its company, when `render` fails, and when the service stops.
///
/// # Errors
///
/// [`Error::Unavailable`] when there are too many streams.
pub(super) fn stream<F>(
    request: &HttpRequest,
    state: &Data<State>,
    every: Duration,
    mut render: F,
) -> Result<HttpResponse, Error>
where
    F: AsyncFnMut() -> Result<Vec<Markup>, Error> + 'static,
{
    let place = state.streams.take()?;
    let (tell, told) = mpsc::channel::<Bytes>(WAITING);
    let mut closing = state.streams.closing.subscribe();
    let visitor = Visitor::of(request)?;
    let company = visitor.person.and_then(|person| person.company).map(|company| company.id);
    let (state, token) =
        (state.clone(), cookie::session(request.headers(), visitor.is_https).map(str::to_owned));
    let listener = Listener::of(request);
    actix_web::rt::spawn(async move {
        let _place = place;
        let followed = follow(&state, (token.as_deref(), listener, company), every, &mut render, &tell);
        tokio::select! {
            () = followed => {}
            () = tell.closed() => {}
            _ = closing.wait_for(|closing| *closing) => {}
        }
    });
    let events = stream::unfold(told, async |mut told| {
        told.recv().await.map(|event| (Ok::<_, Infallible>(event), told))
    });
    Ok(HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, "text/event-stream"))
        .insert_header((BUFFERING, "no"))
        .streaming(Box::pin(events)))
}

async fn follow(
    state: &State,
    (token, listener, company): (Option<&str>, Listener, Option<Uuid>),
    every: Duration,
    render: &mut impl AsyncFnMut() -> Result<Vec<Markup>, Error>,
    tell: &mpsc::Sender<Bytes>,
) {
    // Pages that lose their streams together, because the service ended, do not reconnect at the same time.
    let retry = 2_000 + rand::random::<u32>() % 4_000;
    let mut next = format!("retry: {retry}\n\n");
    let (hasher, mut sent, mut checked) = (RandomState::new(), Vec::new(), Instant::now());
    loop {
        let Ok(fragments) = render().await else { return };
        sent.resize(fragments.len(), 0);
        for (Markup { 0: fragment }, sent) in fragments.iter().zip(&mut sent) {
            let hash = hasher.hash_one(fragment);
            if *sent != hash {
                *sent = hash;
                event(fragment, &mut next);
            }
        }
        if checked.elapsed() >= HEARTBEAT {
            checked = Instant::now();
            let Some(token) = token else { return };
            let Ok(Some(session)) = state.session(token, listener).await else { return };
            // Another company was chosen, or the person does not belong to this one any more.
            if session.company.map(|chosen| chosen.company_id) != company {
                return;
            }
            next.push_str(":\n\n");
        }
        if !next.is_empty() && tell.try_send(Bytes::from(std::mem::take(&mut next))).is_err() {
            return;
        }
        tokio::time::sleep(every.min(HEARTBEAT)).await;
    }
}

/// Writes a fragment as an event: each line of the fragment is a line of the event.
fn event(fragment: &str, to: &mut String) {
    to.push_str("event: fragment\n");
    for line in fragment.split(['\n', '\r']) {
        to.push_str("data: ");
        to.push_str(line);
        to.push('\n');
    }
    to.push('\n');
}

/// Values that live pages share: a value that is read for one page serves all pages until it is too old.
#[derive(Debug, Default)]
pub(super) struct Shared(Mutex<HashMap<String, Value>>);

#[derive(Debug, Clone)]
struct Value {
    since: Instant,
    cell: Arc<OnceCell<Arc<dyn Any + Send + Sync>>>,
}

/// The number of values from which on old values are removed.
const SHARED_MOST: usize = 1_024;

impl Shared {
    /// The value of this key, if it is kept, however old it is.
    pub(super) fn ready<T: Any + Send + Sync>(&self, key: &str) -> Option<Arc<T>> {
        let values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let value = values.get(key)?.cell.get()?;
        Arc::clone(value).downcast().ok()
    }

    /// The value of this key, read with `read` when the kept value is older than `age`. Of several callers at
    /// the same time, one reads. The key must contain the company, or anything else that decides who may see
    /// the value.
    ///
    /// # Errors
    ///
    /// Those of `read`.
    pub(super) async fn get<T: Any + Send + Sync>(
        &self,
        key: String,
        age: Duration,
        read: impl AsyncFnOnce() -> Result<T, Error>,
    ) -> Result<Arc<T>, Error> {
        let cell = {
            let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if values.len() >= SHARED_MOST {
                values.retain(|_, value| value.since.elapsed() < age);
            }
            let fresh = || Value { since: Instant::now(), cell: Arc::default() };
            let value = values.entry(key).or_insert_with(fresh);
            // A value that is being read also serves callers that come meanwhile.
            if value.since.elapsed() >= age && value.cell.initialized() {
                *value = fresh();
            }
            Arc::clone(&value.cell)
        };
        let value = cell
            .get_or_try_init(async || {
                let value: Arc<dyn Any + Send + Sync> = Arc::new(read().await?);
                Ok::<_, Error>(value)
            })
            .await?;
        Arc::clone(value).downcast().map_err(|_| Error::Internal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fragment_of_many_lines_is_one_event() {
        let mut written = String::new();
        event("<p id=\"a\">\none</p>", &mut written);
        assert_eq!(written, "event: fragment\ndata: <p id=\"a\">\ndata: one</p>\n\n");
    }

    #[test]
    fn a_place_is_returned_when_dropped_and_refused_while_closing() {
        let streams = Streams::default();
        let first = streams.take().ok();
        assert_eq!((first.is_some(), streams.open()), (true, 1));
        drop(first);
        assert_eq!(streams.open(), 0);
        streams.close();
        assert!(streams.take().is_err());
        assert_eq!(streams.open(), 0);
    }

    #[actix_web::test]
    async fn shared_values_are_read_once_within_their_age() {
        let shared = Shared::default();
        let reads = AtomicUsize::new(0);
        let read = async || Ok(reads.fetch_add(1, Ordering::Relaxed));
        let minute = Duration::from_secs(60);
        let of = |key: &str, age| shared.get(key.to_owned(), age, read);
        assert_eq!((*of("a", minute).await.unwrap(), *of("a", minute).await.unwrap()), (0, 0));
        assert_eq!((*of("b", minute).await.unwrap(), *of("a", Duration::ZERO).await.unwrap()), (1, 2));
        assert_eq!((shared.ready("b").as_deref(), shared.ready::<usize>("c")), (Some(&1_usize), None));
        assert!(shared.get("a".to_owned(), minute, async || Ok("text")).await.is_err(), "a key has one type");
    }
}
