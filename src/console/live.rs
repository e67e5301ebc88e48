//! Live parts: fragments of a page that are sent again when they change, as server-sent events.
//!
//! A page has one stream at most: its handler says `Page::live("/console/…/live")`, and the handler of that address answers
//! with [`stream`], which renders the fragments every so often and sends those that changed. Each fragment is an element
//! with an id, the same that the page itself shows, so that a page without its stream shows the same after a reload.
//!
//! A stream takes a place of [`Streams`] and a task of the worker that serves it. Data that several pages
//! show is read once for all of them with [`Shared`], most simply by [`stream_shared`].

mod places;

use std::any::Any;
use std::collections::HashMap;
use std::convert::Infallible;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::http::header::{CONTENT_TYPE, HeaderName};
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::stream;
use maud::Markup;
use parking_lot::Mutex;
use tokio::sync::{OnceCell, mpsc};
use uuid::Uuid;

use self::places::Holder;
pub use self::places::STREAMS;
pub(super) use self::places::Streams;
use super::State;
use super::cookie;
use super::error::{Error, Result};
use super::visitor::Visitor;
use crate::accounts::{Role, Session};
use crate::surface::Listener;

/// How often a stream without changes sends a heartbeat.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// The maximum of events that wait for a slow reader. A reader with more is disconnected, and reconnects.
const WAITING: usize = 8;
/// How often a stream without changes looks whether its person may still see it. A stream with changes looks before each
/// of them.
const RIGHTS: Duration = Duration::from_secs(5);
/// When a page whose stream ended for another one asks again.
const ASKS_AGAIN: Duration = Duration::from_secs(60);
/// Tells a proxy not to buffer the stream.
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// What a session may see. A stream ends when it changes, and the page that opens it again gets what the person may see
/// then.
#[derive(Debug, PartialEq, Eq)]
struct Rights {
    person: Uuid,
    is_operator: bool,
    company: Option<(Uuid, Role)>,
}

impl Rights {
    fn of(session: &Session) -> Self {
        let company = session.company.as_ref().map(|chosen| (chosen.company_id, chosen.role));
        Self { person: session.user.id, is_operator: session.user.is_operator, company }
    }

    /// Whether the session has them now. The database says so, because another process may have changed them.
    async fn hold(&self, state: &State, token: &str, listener: Listener) -> bool {
        let session = state.session(token, listener).await;
        matches!(session, Ok(Some(session)) if Self::of(&session) == *self)
    }
}

/// Answers with a stream of fragments: first all of them, and then at intervals those that have changed; an empty one says
/// that there is nothing new. The
/// stream ends when the browser disconnects or reads too slowly, when the person's session ends, changes its company or
/// has other rights there, when `render` fails, when another stream needs its place, and when the service stops. No
/// event is sent that was written for rights that the person has no longer.
///
/// # Errors
///
/// [`Error::Forbidden`] for a visitor who is not signed in, [`Error::Unavailable`] when the service is stopping.
pub(super) fn stream<F>(
    request: &HttpRequest,
    state: &Data<State>,
    every: Duration,
    mut render: F,
) -> Result<HttpResponse>
where
    F: AsyncFnMut() -> Result<Vec<Markup>> + 'static,
{
    let visitor = Visitor::of(request)?;
    let session = visitor.person.map(|person| person.signed_in).ok_or(Error::Forbidden)?;
    let token = cookie::session(request.headers(), visitor.is_https).ok_or(Error::Forbidden)?.to_owned();
    let (rights, mut place) = (Rights::of(&session), state.streams.take(Holder::of(&session))?);
    let (tell, told) = mpsc::channel::<Bytes>(WAITING);
    let (mut closing, state) = (state.streams.closing(), state.clone());
    let listener = Listener::of(request);
    actix_web::rt::spawn(async move {
        tokio::select! {
            () = follow(&state, (token.as_str(), listener, &rights), every, &mut render, &tell) => {}
            () = tell.closed() => {}
            () = place.ended() => {
                let _ = tell.try_send(format!("retry: {}\n\n", ASKS_AGAIN.as_millis()).into());
            }
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

/// A stream of what many readers see at the same time: the value of the key is [read once](Shared::get) for all of them, and
/// rendered for each.
pub(super) fn stream_shared<T: Any + Send + Sync>(
    request: &HttpRequest,
    state: &Data<State>,
    (key, every): (String, Duration),
    read: impl AsyncFn(&State) -> Result<T> + 'static,
    render: impl Fn(&T) -> Vec<Markup> + 'static,
) -> Result<HttpResponse> {
    let own = state.clone();
    stream(request, state, every, async move || {
        let value = own.shared.get(key.clone(), every, async || read(own.get_ref()).await).await?;
        Ok(render(&value))
    })
}

async fn follow(
    state: &State,
    (token, listener, rights): (&str, Listener, &Rights),
    every: Duration,
    render: &mut impl AsyncFnMut() -> Result<Vec<Markup>>,
    tell: &mpsc::Sender<Bytes>,
) {
    // Pages that lose their streams together, because the service ended, do not reconnect at the same time.
    let retry = 2_000 + rand::random::<u32>() % 4_000;
    let mut next = format!("retry: {retry}\n\n");
    let (hasher, mut sent) = (RandomState::new(), Vec::new());
    let (mut beat, mut checked) = (Instant::now(), Instant::now());
    loop {
        let Ok(fragments) = render().await else { return };
        sent.resize(fragments.len(), 0);
        for (Markup { 0: fragment }, sent) in fragments.iter().zip(&mut sent) {
            // Without news.
            if fragment.is_empty() {
                continue;
            }
            let hash = hasher.hash_one(fragment);
            if *sent != hash {
                *sent = hash;
                event(fragment, &mut next);
            }
        }
        // After the fragments are written: what they show was allowed until then.
        if !next.is_empty() || checked.elapsed() >= RIGHTS {
            checked = Instant::now();
            if !rights.hold(state, token, listener).await {
                return;
            }
        }
        if beat.elapsed() >= HEARTBEAT {
            beat = Instant::now();
            next.push_str(":\n\n");
        }
        if !next.is_empty() && tell.try_send(Bytes::from(std::mem::take(&mut next))).is_err() {
            return;
        }
        tokio::time::sleep(every.min(RIGHTS)).await;
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
    /// The value of this key, if it is kept and not older than `age`.
    pub(super) fn ready<T: Any + Send + Sync>(&self, key: &str, age: Duration) -> Option<Arc<T>> {
        let values = self.0.lock();
        let value = values.get(key).filter(|value| value.since.elapsed() < age)?;
        Arc::clone(value.cell.get()?).downcast().ok()
    }

    /// The value of this key, read with `read` when the kept value is older than `age`. Of several callers at
    /// the same time, one reads. The key must contain the company, or anything else that decides who may see
    /// the value.
    pub(super) async fn get<T: Any + Send + Sync>(
        &self,
        key: String,
        age: Duration,
        read: impl AsyncFnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        let cell = {
            let mut values = self.0.lock();
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
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_fragment_of_many_lines_is_one_event() {
        let mut written = String::new();
        event("<p id=\"a\">\none</p>", &mut written);
        assert_eq!(written, "event: fragment\ndata: <p id=\"a\">\ndata: one</p>\n\n");
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
        assert_eq!(
            (shared.ready("b", minute).as_deref(), shared.ready::<usize>("c", minute)),
            (Some(&1_usize), None)
        );
        assert!(shared.get("a".to_owned(), minute, async || Ok("text")).await.is_err(), "a key has one type");
    }
}
