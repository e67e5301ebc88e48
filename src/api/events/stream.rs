//! The events of a company as server-sent events.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use actix_web::http::header::{CONTENT_TYPE, HeaderName};
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::stream::unfold;
use uuid::Uuid;

use super::{STREAM, after, asked, place};
use crate::api::State;
use crate::api::auth::{Company, bearer};
use crate::api::error::Error;
use crate::api::list_query::Query;
use crate::domain::event::Event;
use crate::domain::event::log::Sequence;
use crate::engine::events::{After, EventFilter, EventPart, Seat};

/// How often a stream without events sends a comment, and looks whether its key is still valid.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Events that are read at once.
const STEP: usize = 200;
/// Tells a proxy not to buffer the stream.
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Answers with the events as they happen.
pub(super) async fn open(
    company: Company,
    state: Data<State>,
    query: &Query,
    request: &HttpRequest,
) -> Result<HttpResponse, Error> {
    let asked = asked(query)?;
    let last =
        request.headers().get("last-event-id").and_then(|id| id.to_str().ok()).filter(|id| !id.is_empty());
    let after = last.map_or_else(|| after(query), place)?;
    let seat = state.engine.events().wait(company.id)?;
    let place = state.engine.events().place(company.id, after).await?;
    let key = bearer(request.headers()).ok_or(Error::Internal)?.to_owned();
    // Clients that lose their streams together, because the service stops, do not all come back at the same time.
    let retry = 1_000 + rand::random::<u32>() % 4_000;
    let opened = Followed {
        state,
        company: company.id,
        key,
        asked,
        place,
        seat,
        spoke: Instant::now(),
        checked: Instant::now(),
        more: true,
        said: format!("retry: {retry}\n\n"),
    };
    let parts = unfold(Some(opened), async |followed| {
        let mut followed = followed?;
        let goes_on = followed.next().await;
        let said = Bytes::from(std::mem::take(&mut followed.said));
        Some((Ok::<_, Infallible>(said), goes_on.then_some(followed)))
    });
    Ok(HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, STREAM))
        .insert_header((BUFFERING, "no"))
        .streaming(Box::pin(parts)))
}

/// A stream that a client follows.
struct Followed {
    state: Data<State>,
    company: Uuid,
    key: String,
    asked: EventFilter,
    place: Sequence,
    seat: Seat,
    /// When the client was last sent something.
    spoke: Instant,
    /// When the key was last known to be valid.
    checked: Instant,
    /// Whether there may be more in the log.
    more: bool,
    /// What goes to the client next.
    said: String,
}

impl Followed {
    /// Waits for something to say. Returns whether the stream goes on.
    async fn next(&mut self) -> bool {
        loop {
            if self.seat.is_closing() || !self.is_allowed().await {
                return false;
            }
            if self.more {
                let read = self.state.engine.events().read(self.company, self.place, &self.asked, STEP).await;
                // The client connects again, and reads the reason.
                let Ok(EventPart { events, next, more }) = read else { return false };
                (self.place, self.more) = (next, more);
                for event in &events {
                    self.say(event);
                }
            }
            if self.said.is_empty() && self.spoke.elapsed() >= HEARTBEAT {
                // An id without an event: a client that connects again need not begin further back.
                let _ = write!(self.said, ":\nid: {}\n\n", self.place.as_i64());
            }
            if !self.said.is_empty() {
                self.spoke = Instant::now();
                return true;
            }
            if !self.more {
                if !self.seat.changed(HEARTBEAT.saturating_sub(self.spoke.elapsed())).await {
                    return false;
                }
                self.more = true;
            }
        }
    }

    /// Whether the key is still valid, and the log still has what follows. The log is kept while somebody follows it.
    async fn is_allowed(&mut self) -> bool {
        if self.checked.elapsed() < HEARTBEAT {
            return true;
        }
        self.checked = Instant::now();
        if self.state.engine.events().place(self.company, After::Event(self.place)).await.is_err() {
            return false;
        }
        matches!(self.state.engine.authenticate(&self.key).await, Ok(Some(caller)) if caller.company_id == self.company)
    }

    fn say(&mut self, event: &Event) {
        let Ok(json) = serde_json::to_string(event) else { return };
        // Writing into a string cannot fail.
        let _ =
            write!(self.said, "id: {}\nevent: {}\ndata: {json}\n\n", event.sequence.as_i64(), event.r#type);
    }
}
