//! The inbox: the conversations, and beside them the open one; on a phone, one after the other. Reading and answering work
//! without script. With it, the page is kept up to date, keeps what is typed, and tells of what arrives.

mod about;
pub(in crate::console) mod actions;
pub(in crate::console) mod answer;
mod around;
mod composer;
mod entry;
mod filter;
mod follow;
mod listed;
pub(in crate::console) mod notes;
mod offered;
mod said;
mod thread;
mod window;

use std::sync::Arc;

use actix_web::web::Data;
use maud::{Markup, html};
use uuid::Uuid;

use self::about::{AboutPerson, buttons};
use self::around::InboxAround;
use self::composer::{Composer, FILE, MESSAGE, REPLY, TEMPLATE};
use self::filter::InboxFilter;
pub(in crate::console) use self::follow::follow;
use self::follow::{LIVE, awaited, writing};
use self::listed::{InboxList, marked};
use self::thread::{OpenThread, place};
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::assets;
use crate::console::component::badge::{Tone, badge};
use crate::console::component::empty::empty;
use crate::console::component::notice;
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::page::{Menu, Page};
use crate::console::query::{Id, Query};
use crate::console::unread;
use crate::console::visitor::Viewer;
use crate::domain::inbound::ConversationState;
use crate::engine::conversations::BegunAnswers;
use crate::engine::conversations::types::ThreadCursor;

/// The path of the list.
const PLACE: &str = "/console/inbox";

/// Shows the list.
pub(in crate::console) async fn list(
    viewer: Viewer,
    state: Data<State>,
    query: Query,
) -> Result<Page, Error> {
    let (text, company) = (viewer.text, viewer.company.id);
    let (filter, unknown) = InboxFilter::read(&query).named(&state, company, &query).await?;
    let around = InboxAround::read(&state, company).await?;
    let fields = filter.fields(&around, &filter.form(&state, &viewer, &around, &unknown).await?);
    let own = own_unread(&viewer, &state).await?;
    let list = InboxList::read(&state, (company, viewer.signed_in.user.id), &filter).await?;
    let list = list.panel(&viewer, &around, &filter);
    let done = state.flashes.take(viewer.session, "done");
    let beside = empty(&text.get("inbox-choose"), &html! {});
    let body = panes(&viewer, done.as_deref(), &filter, [&fields, &list, &own], None, &beside);
    Ok(live(Page::new(text.get("inbox-title"), Menu::Inbox, body), &filter, None))
}

/// Shows a conversation beside the list.
pub(in crate::console) async fn show(
    viewer: Viewer,
    state: Data<State>,
    id: Id,
    query: Query,
) -> Result<Page, Error> {
    let filter = InboxFilter::read(&query);
    let mut asking = Asking::of(&state, &viewer, id.0, &filter, query.one(TEMPLATE)).await?;
    if let Some(before) = place(query.one("before")) {
        asking = asking.before(&state, &viewer, before).await?;
    }
    let begun = asking.begun.own.clone().unwrap_or_default();
    let asked = [REPLY, FILE].map(|name| (name, query.one(name).to_owned()));
    let form = Form::filled(viewer.text, asked.into_iter().chain([(MESSAGE, begun)]));
    page(&viewer, &state, &asking, &form).await
}

/// An open conversation, with all that its page shows.
struct Asking {
    filter: InboxFilter,
    around: Arc<InboxAround>,
    thread: OpenThread,
    composer: Composer,
    begun: BegunAnswers,
    /// Whether the latest entries are shown.
    is_latest: bool,
}

impl Asking {
    async fn of(
        state: &State,
        viewer: &Viewer,
        id: Uuid,
        filter: &InboxFilter,
        template: &str,
    ) -> Result<Self, Error> {
        let company = viewer.company.id;
        let around = InboxAround::read(state, company).await?;
        let thread = OpenThread::read(state, viewer.text, (company, id), None).await?;
        let composer = Composer::read(state, viewer, &thread, template).await?;
        let user = viewer.signed_in.user.id;
        let begun = state.engine.conversations(company).begun(id, user, Timestamp::now()).await?;
        Ok(Self { filter: filter.clone(), around, thread, composer, begun, is_latest: true })
    }

    /// Puts what the person has begun to write into a form about something else.
    fn put_begun(&self, form: &mut Form) {
        form.put(MESSAGE, self.begun.own.clone().unwrap_or_default());
    }

    /// The same with earlier entries.
    async fn before(self, state: &State, viewer: &Viewer, before: ThreadCursor) -> Result<Self, Error> {
        let of = (viewer.company.id, self.thread.conversation().id);
        let thread = OpenThread::read(state, viewer.text, of, Some(before)).await?;
        Ok(Self { thread, is_latest: false, ..self })
    }
}

/// The page of an open conversation, with the form of the answer or of a note.
async fn page(viewer: &Viewer, state: &State, asking: &Asking, form: &Form) -> Result<Page, Error> {
    let (text, company) = (viewer.text, viewer.company.id);
    let Asking { filter, around, thread, composer, begun, is_latest } = asking;
    let conversation = thread.conversation();
    let list = InboxList::read(state, (company, viewer.signed_in.user.id), filter).await?;
    let list = marked(&list.panel(viewer, around, filter), Some(conversation.id));
    let fields = filter.fields(around, &filter.form(state, viewer, around, &[]).await?);
    let own = own_unread(viewer, state).await?;
    let about = AboutPerson::read(state, company, conversation).await?;
    let done = state.flashes.take(viewer.session, "done");
    let beside = html! {
        div.heading {
            p.back { a href=(filter.list()) { (text.get("inbox-back")) } }
            h2 { bdi { (thread.name) } }
            @if conversation.state == ConversationState::Closed { (badge(Tone::Plain, &text.get("inbox-closed"))) }
            @if let Some(user) = conversation.assigned_to {
                span.soft { (text.get("inbox-assigned")) ": " bdi { (around.member(text, user)) } }
            }
        }
        (buttons(viewer, around, filter, thread))
        (about.show(viewer, around, filter, thread, form))
        div.thread tabindex="0" role="region" aria-label=(text.get("inbox-messages")) {
            (thread.entries(viewer, filter))
        }
        @if !is_latest { p { a href=(filter.of(conversation.id, "")) { (text.get("inbox-latest")) } } }
        (writing(text, around, begun))
        (composer.show(viewer, around, filter, thread, form))
    };
    let body = panes(viewer, done.as_deref(), filter, [&fields, &list, &own], Some(conversation.id), &beside);
    let page = Page::new(text.get("inbox-title"), Menu::Inbox, body);
    Ok(live(page, filter, Some(conversation.id).filter(|_| *is_latest)))
}

/// The part that says how many unread conversations wait for the person.
async fn own_unread(viewer: &Viewer, state: &State) -> Result<Markup, Error> {
    let user = Some(viewer.signed_in.user.id);
    Ok(awaited(unread::count(state, viewer.company.id, user, unread::AGE).await?))
}

/// Both panes, of which a phone shows one.
fn panes(
    viewer: &Viewer,
    done: Option<&str>,
    filter: &InboxFilter,
    [fields, list, own]: [&Markup; 3],
    open: Option<Uuid>,
    beside: &Markup,
) -> Markup {
    let text = viewer.text;
    let seen = open.filter(|_| viewer.may_answer()).map(|id| filter.of(id, "/seen"));
    html! {
        @if let Some(sentence) = done { (notice::done(sentence)) }
        div.inbox.opened[open.is_some()] data-seen=[seen]
            data-arrived=(text.get("inbox-arrived")) {
            section.pane aria-label=(text.get("inbox-conversations")) {
                (fields)
                (list)
                p.arrivals hidden {
                    label.choice { input type="checkbox" id="notify"; span { (text.get("inbox-notify")) } }
                    label.choice { input type="checkbox" id="sound"; span { (text.get("inbox-sound")) } }
                    label for="rings" { (text.get("inbox-rings")) }
                    select id="rings" {
                        option value="all" { (text.get("inbox-rings-all")) }
                        option value="own" { (text.get("inbox-rings-own")) }
                        option value="none" { (text.get("inbox-rings-none")) }
                    }
                }
                (own)
            }
            section.pane.open aria-label=(text.get("inbox-conversation")) { (beside) }
        }
    }
}

/// The page with its live parts, and the script of the inbox.
fn live(page: Page, filter: &InboxFilter, open: Option<Uuid>) -> Page {
    // Only the beginning of the list is followed.
    if filter.after.is_some() {
        return page;
    }
    let query = filter.encoded();
    let open = open.map(|id| format!("open={id}"));
    let query = [Some(query).filter(|query| !query.is_empty()), open];
    let query: Vec<_> = query.into_iter().flatten().collect();
    let address = if query.is_empty() { LIVE.to_owned() } else { format!("{LIVE}?{}", query.join("&")) };
    page.live(address).script(&assets::INBOX).script(&assets::EMOJI)
}
