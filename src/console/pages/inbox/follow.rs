//! The live parts of the inbox: what is unread, the list, the open conversation, and who is writing.
//!
//! The head of the list is read often, once for everybody of a company. It tells when the rest has changed, so that two
//! hundred people who look at their conversations cost few reads.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use maud::{Markup, html};
use uuid::Uuid;

use super::around::InboxAround;
use super::filter::{InboxFilter, InboxView};
use super::listed::{InboxList, marked};
use super::thread::OpenThread;
use crate::clock::Timestamp;
use crate::console::error::Error;
use crate::console::menu::counts;
use crate::console::query::Query;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::console::{State, live, unread};
use crate::domain::inbound::ConversationState;
use crate::engine::conversations::BegunAnswers;
use crate::engine::conversations::types::ConversationFilter;

/// The path of the live parts.
pub(super) const LIVE: &str = "/console/inbox/live";
/// How often the head of the list is looked at, and how old it may be.
const EVERY: Duration = Duration::from_millis(100);
/// The conversations at the head of the list.
const HEAD: u64 = 50;
/// The least and the most time between two reads of the list: while much arrives, and while nothing does.
const LIST: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(5));
/// How often the open conversation is read while states of its messages change, and while they do not.
const THREAD: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(10));
/// How often the people who are writing are read.
const WRITING: Duration = Duration::from_secs(2);

/// The head of a company's list.
struct InboxHead {
    /// A digest of each conversation.
    digests: HashMap<Uuid, u64>,
    /// A digest of all of them.
    whole: u64,
}

impl InboxHead {
    async fn read(state: &State, company: Uuid) -> Result<Arc<Self>, Error> {
        let key = format!("the head of the inbox {company}");
        let read = state.shared.get(key, EVERY, async || {
            let filter =
                ConversationFilter { state: Some(ConversationState::Open), ..ConversationFilter::default() };
            let part = state.engine.conversations(company).list(filter, None, HEAD).await?;
            let (mut whole, mut digests) = (DefaultHasher::new(), HashMap::new());
            for listed in part.conversations {
                let (one, mut digest) = (listed.conversation, DefaultHasher::new());
                (one.last_at, one.last_inbound_at, one.unread, one.assigned_to, one.last.id)
                    .hash(&mut digest);
                let digest = digest.finish();
                (one.id, digest).hash(&mut whole);
                digests.insert(one.id, digest);
            }
            Ok(Self { digests, whole: whole.finish() })
        });
        read.await
    }
}

/// When a part was read last, and what the head said then.
#[derive(Default)]
struct LastRead(Option<(Instant, u64)>);

impl LastRead {
    /// Whether it is time to read again: after the longer time, or after the shorter one when the head says something else.
    fn is_due(&self, head: u64, (least, most): (Duration, Duration)) -> bool {
        self.0.is_none_or(|(at, said)| at.elapsed() >= most || said != head && at.elapsed() >= least)
    }

    fn note(&mut self, head: u64) {
        self.0 = Some((Instant::now(), head));
    }
}

/// What one open page follows.
struct InboxFollower {
    viewer: Viewer,
    filter: InboxFilter,
    open: Option<Uuid>,
    list: LastRead,
    thread: LastRead,
    writing: LastRead,
    /// Whether states of messages in the open conversation may change soon.
    is_moving: bool,
}

/// Keeps a page of the inbox up to date.
pub(in crate::console) async fn follow(
    viewer: Viewer,
    state: Data<State>,
    request: HttpRequest,
    query: Query,
) -> Result<HttpResponse, Error> {
    let open = query.parsed("open");
    if let Some(open) = open {
        state.engine.conversations(viewer.company.id).one(open).await?;
    }
    let (list, thread, writing) = (LastRead::default(), LastRead::default(), LastRead::default());
    let filter = InboxFilter::read(&query);
    let mut follower = InboxFollower { viewer, filter, open, list, thread, writing, is_moving: true };
    let own = state.clone();
    live::stream(&request, &state, EVERY, async move || follower.parts(&own).await)
}

impl InboxFollower {
    /// The parts; those without news are empty.
    async fn parts(&mut self, state: &State) -> Result<Vec<Markup>, Error> {
        let company = self.viewer.company.id;
        let head = InboxHead::read(state, company).await?;
        let around = InboxAround::read(state, company).await?;
        let mut parts = vec![html! {}; 4];
        if self.list.is_due(head.whole, LIST) {
            self.list.note(head.whole);
            let user = Some(self.viewer.signed_in.user.id);
            let own = awaited(unread::count(state, company, user, EVERY).await?);
            let [side, below] = counts(self.viewer.text, unread::count(state, company, None, EVERY).await?);
            parts = vec![side, below, own, self.rendered(state, &around).await?];
        }
        let Some(open) = self.open else { return Ok(parts) };
        let digest = head.digests.get(&open).copied().unwrap_or_default();
        let most = if self.is_moving { THREAD.0 } else { THREAD.1 };
        let (mut thread, mut window) = (html! {}, html! {});
        if self.thread.is_due(digest, (Duration::ZERO, most)) {
            self.thread.note(digest);
            let of = (company, open);
            let shown = OpenThread::read(state, self.viewer.text, of, None).await?;
            self.is_moving = shown.is_moving();
            window = shown.reach.line(&self.viewer, shown.conversation(), Timestamp::now());
            thread = shown.entries(&self.viewer, &self.filter);
        }
        let mut written = html! {};
        if self.writing.is_due(0, (WRITING, WRITING)) {
            self.writing.note(0);
            let user = self.viewer.signed_in.user.id;
            let begun = state.engine.conversations(company).begun(open, user, Timestamp::now()).await?;
            written = writing(self.viewer.text, &around, &begun);
        }
        parts.extend([thread, window, written]);
        Ok(parts)
    }

    /// The list, rendered once for everybody who sees the same.
    async fn rendered(&self, state: &State, around: &InboxAround) -> Result<Markup, Error> {
        let (viewer, filter) = (&self.viewer, &self.filter);
        let (company, user) = (viewer.company.id, viewer.signed_in.user.id);
        let whose = if filter.view == InboxView::Mine { user } else { Uuid::nil() };
        let (language, zone) = (viewer.text.0.as_str(), viewer.zone.name());
        let key = format!("the inbox {company} {whose} {language} {zone} {}", filter.encoded());
        let list = state.shared.get(key, EVERY, async || {
            let list = InboxList::read(state, (company, user), filter).await?;
            Ok(list.panel(viewer, around, filter))
        });
        let list: Arc<Markup> = list.await?;
        Ok(marked(&list, self.open))
    }
}

/// How many unread conversations wait for this person: theirs, and those of nobody. Only the script reads it.
pub(super) fn awaited(unread: u64) -> Markup {
    html! { span id="unread-own" data-unread=(unread) hidden {} }
}

/// Who else is writing an answer.
pub(super) fn writing(text: Text, around: &InboxAround, begun: &BegunAnswers) -> Markup {
    let names: Vec<_> = begun.writing.iter().map(|user| around.member(text, *user)).collect();
    html! {
        p.writing id="writing" role="status" {
            @if !names.is_empty() { (text.with("inbox-writing", [("names", names.join(", ").into())])) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_read_again_when_the_head_says_so_and_not_too_often() {
        let (now, hour) = (Duration::ZERO, Duration::from_secs(3_600));
        let mut read = LastRead::default();
        assert!(read.is_due(7, (hour, hour)));
        read.note(7);
        assert!(!read.is_due(7, (now, hour)) && read.is_due(8, (now, hour)) && !read.is_due(8, (hour, hour)));
        assert!(read.is_due(7, (now, now)));
    }
}
