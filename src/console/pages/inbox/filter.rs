//! Which conversations the list shows, as the address says it.

use maud::{Markup, html};
use url::form_urlencoded::Serializer;
use uuid::Uuid;

use super::PLACE;
use super::around::{InboxAround, channel_of};
use super::offered::NAME_CHARS;
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::component::field::Field;
use crate::console::component::fold::fold;
use crate::console::error::Error;
use crate::console::form::Form;
use crate::console::query::Query;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::console::words::Words;
use crate::domain::inbound::ConversationState;
use crate::domain::page::PageRequest;
use crate::domain::phone::PhoneNumber;
use crate::engine::conversations::types::{AssignedTo, ConversationCursor, ConversationFilter};

/// The longest search, in characters.
const SEARCH_CHARS: usize = 200;
/// The channels whose names contain the one that is looked for: among them is the one that has it.
const FOUND: u64 = 500;

/// The conversations that people look at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InboxView {
    Open,
    Unread,
    Mine,
    Unassigned,
    Closed,
    Groups,
}

impl InboxView {
    const ALL: [Self; 6] =
        [Self::Open, Self::Unread, Self::Mine, Self::Unassigned, Self::Closed, Self::Groups];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Unread => "unread",
            Self::Mine => "mine",
            Self::Unassigned => "unassigned",
            Self::Closed => "closed",
            Self::Groups => "groups",
        }
    }

    fn word(self, text: Text) -> String {
        text.get(match self {
            Self::Open => "inbox-view-open",
            Self::Unread => "inbox-view-unread",
            Self::Mine => "inbox-view-mine",
            Self::Unassigned => "inbox-view-unassigned",
            Self::Closed => "inbox-view-closed",
            Self::Groups => "inbox-view-groups",
        })
    }
}

/// Which conversations, and from where on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InboxFilter {
    pub(super) view: InboxView,
    channel: Option<Uuid>,
    tag: Option<Uuid>,
    pub(super) search: Option<String>,
    pub(super) after: Option<ConversationCursor>,
}

impl InboxFilter {
    /// The filter of an address. Invalid values count as absent.
    pub(super) fn read(words: &Words) -> Self {
        let view = InboxView::ALL.into_iter().find(|view| view.as_str() == words.one("view"));
        let search: String = words.one("search").chars().take(SEARCH_CHARS).collect();
        let after = words.one("after").split_once('.').and_then(|(at, id)| {
            let at = Timestamp::from_millis(at.parse().ok()?);
            Some(ConversationCursor { last_at: at, id: id.parse().ok()? })
        });
        Self {
            view: view.unwrap_or(InboxView::Open),
            channel: words.one("channel").parse().ok(),
            tag: words.one("tag").parse().ok(),
            search: Some(search).filter(|search| !search.is_empty()),
            after,
        }
    }

    /// What is asked of the engine for this user. `numbers` are those of contacts that the search finds.
    pub(super) fn asked(&self, user: Uuid, numbers: Vec<PhoneNumber>) -> ConversationFilter {
        let (view, is_search) = (self.view, self.search.is_some());
        let state = match view {
            InboxView::Closed => Some(ConversationState::Closed),
            // A search and the list of groups know no state, so that nothing is missed.
            InboxView::Groups => None,
            InboxView::Open if is_search => None,
            _ => Some(ConversationState::Open),
        };
        ConversationFilter {
            groups: view == InboxView::Groups,
            unread: view == InboxView::Unread,
            assigned: match view {
                InboxView::Mine => Some(AssignedTo::User(user)),
                InboxView::Unassigned => Some(AssignedTo::Nobody),
                _ => None,
            },
            state,
            channel_id: self.channel,
            tag: self.tag,
            search: self.search.clone(),
            numbers,
        }
    }

    /// The filter, encoded for an address, without the place in the list.
    pub(super) fn encoded(&self) -> String {
        let mut query = Serializer::new(String::new());
        if self.view != InboxView::Open {
            query.append_pair("view", self.view.as_str());
        }
        for (name, id) in [("channel", self.channel), ("tag", self.tag)] {
            if let Some(id) = id {
                query.append_pair(name, &id.to_string());
            }
        }
        if let Some(search) = &self.search {
            query.append_pair("search", search);
        }
        query.finish()
    }

    /// The pairs of the encoded filter, for a form that is sent with `GET`.
    pub(super) fn pairs(&self) -> Vec<(String, String)> {
        url::form_urlencoded::parse(self.encoded().as_bytes()).into_owned().collect()
    }

    /// The address of the list.
    pub(super) fn list(&self) -> String {
        with(PLACE.to_owned(), &self.encoded())
    }

    /// The address of a conversation, or of a form of it, such as `/answer`.
    pub(super) fn of(&self, id: Uuid, form: &str) -> String {
        with(format!("{PLACE}/{id}{form}"), &self.encoded())
    }

    /// The address of a conversation with one more pair.
    pub(super) fn and(&self, id: Uuid, name: &str, value: &str) -> String {
        self.with_all(id, "", &[(name, value)])
    }

    /// The address of a conversation, or of a form of it, with more pairs; those without a value are left out.
    pub(super) fn with_all(&self, id: Uuid, form: &str, pairs: &[(&str, &str)]) -> String {
        let mut query = Serializer::new(self.encoded());
        query.extend_pairs(pairs.iter().filter(|(_, value)| !value.is_empty()));
        with(format!("{PLACE}/{id}{form}"), &query.finish())
    }

    /// The address of the rest of the list.
    pub(super) fn rest(&self, place: ConversationCursor) -> String {
        let mut query = Serializer::new(self.encoded());
        query.append_pair("after", &format!("{}.{}", place.last_at.millis(), place.id));
        with(PLACE.to_owned(), &query.finish())
    }

    /// Whether the folded part narrows the list.
    const fn is_narrowed(&self) -> bool {
        self.channel.is_some() || self.tag.is_some()
    }

    /// The filter with the channel and the tag that a query names in place of their ids, as a field for any name sends them;
    /// and the fields whose names the company does not have.
    pub(super) async fn named(
        mut self,
        state: &State,
        company: Uuid,
        query: &Query,
    ) -> Result<(Self, Vec<&'static str>), Error> {
        let mut unknown = Vec::new();
        if self.channel.is_none()
            && let Some(name) = query.text("channel", NAME_CHARS)
        {
            let records = state.engine.company(company).await?;
            let few = PageRequest { page: 1, limit: FOUND };
            let found = records.channels().page(few, Some(name)).await?.records;
            let exact = found.iter().find(|channel| channel.name == name).or(match &found[..] {
                [only] => Some(only),
                _ => None,
            });
            self.channel = exact.map(|channel| channel.id);
            unknown.extend(exact.is_none().then_some("channel"));
        }
        if self.tag.is_none()
            && let Some(name) = query.text("tag", NAME_CHARS)
        {
            self.tag = state.engine.company(company).await?.tags().named(name).await?;
            unknown.extend(self.tag.is_none().then_some("tag"));
        }
        Ok((self, unknown))
    }

    /// The form of the filters by channel and tag, with a fault at the fields that named nothing.
    pub(super) async fn form(
        &self,
        state: &State,
        viewer: &Viewer,
        around: &InboxAround,
        unknown: &[&str],
    ) -> Result<Form, Error> {
        let (text, company) = (viewer.text, viewer.company.id);
        let mut form = Form::new(text);
        if let Some(id) = self.channel {
            let channel = channel_of(state, company, id).await?;
            form.put("channel", around.channels.value(id, channel.map(|channel| channel.name.clone())));
        }
        if let Some(id) = self.tag {
            let tag = if around.tags.is_whole() {
                None
            } else {
                state.engine.company(company).await?.tags().find(id).await?
            };
            form.put("tag", around.tags.value(id, tag.map(|tag| tag.summary.name)));
        }
        for field in unknown {
            form.fault(field, text.get("inbox-unknown-name"));
        }
        Ok(form)
    }

    /// The search, the views, and the filters by channel and tag.
    pub(super) fn fields(&self, around: &InboxAround, form: &Form) -> Markup {
        let text = form.text();
        let any = || Some(text.get("inbox-all"));
        let (channel, tag) = (text.get("inbox-channel"), text.get("inbox-tag"));
        let (channel, tag) = (Field::new(form, "channel", &channel), Field::new(form, "tag", &tag));
        let view = (self.view != InboxView::Open).then_some(self.view.as_str());
        let folded = html! {
            (around.channels.field(channel.within("list"), any(), &[]))
            (around.tags.field(tag.within("list"), any(), &[]))
            button.plain type="submit" { (text.get("inbox-show")) }
        };
        html! {
            form.search method="get" action=(PLACE) role="search" {
                label for="find" { (text.get("inbox-search")) }
                input id="find" type="search" name="search" value=[self.search.as_deref()] maxlength=(SEARCH_CHARS)
                    autocomplete="off";
                button.plain type="submit" { (text.get("inbox-find")) }
                @if let Some(view) = view { input type="hidden" name="view" value=(view); }
                (fold(text, self.is_narrowed() || form.has_faults(), &folded))
            }
            ul.tags aria-label=(text.get("inbox-views")) {
                @for view in InboxView::ALL {
                    @let other = Self { view, after: None, ..self.clone() };
                    li { a href=(other.list()) aria-current=[(view == self.view).then_some("true")] { (view.word(text)) } }
                }
            }
        }
    }
}

/// An address with a query, if there is one.
fn with(place: String, query: &str) -> String {
    if query.is_empty() { place } else { format!("{place}?{query}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_the_same_in_the_address_that_it_makes() {
        for query in [
            "",
            "view=mine",
            "view=closed&search=Jo%C3%A3o+%2B55",
            "channel=01890a5d-ac96-774b-bcce-b302099a8057",
        ] {
            let filter = InboxFilter::read(&Words::parse(query.as_bytes()));
            assert_eq!(filter.encoded(), query);
            assert_eq!(InboxFilter::read(&Words::parse(filter.encoded().as_bytes())), filter);
        }
        let next = ConversationCursor { last_at: Timestamp::from_millis(7), id: Uuid::from_u128(9) };
        let wrong = InboxFilter::read(&Words::parse(b"view=nothing&channel=x&after=1"));
        assert_eq!((wrong.encoded().as_str(), wrong.after), ("", None));
        let place = wrong.rest(next);
        let (_, query) = place.split_once('?').unwrap();
        assert_eq!(InboxFilter::read(&Words::parse(query.as_bytes())).after, Some(next));
    }
}
