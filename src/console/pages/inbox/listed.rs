//! The list of conversations: who, the last line, its age, what is unread, and how long the window is open.

use std::collections::HashMap;
use std::sync::Arc;

use maud::{Markup, PreEscaped, html};
use uuid::Uuid;

use super::around::{InboxAround, Names, channel_of, names, title};
use super::filter::InboxFilter;
use super::said;
use super::window::Reach;
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::component::empty::empty;
use crate::console::component::time::moment;
use crate::console::error::Error;
use crate::console::text::Text;
use crate::console::unread::shown;
use crate::console::visitor::Viewer;
use crate::domain::channel::Channel;
use crate::domain::inbound::ConversationState;
use crate::domain::page::PageRequest;
use crate::domain::phone::PhoneNumber;
use crate::engine::conversations::types::{Conversation, ThreadSide};
use crate::engine::conversations::{ConversationPart, ListedConversation};

/// The conversations of one part.
const SHOWN: u64 = 30;
/// The contacts whose names match a search, and whose conversations are found by it.
const FOUND: u64 = 300;

/// A part of the list.
pub(super) struct InboxList {
    part: ConversationPart,
    names: Names,
    /// The channels of its conversations.
    channels: HashMap<Uuid, Arc<Channel>>,
}

impl InboxList {
    /// The part that a user's filter asks for.
    pub(super) async fn read(
        state: &State,
        (company, user): (Uuid, Uuid),
        filter: &InboxFilter,
    ) -> Result<Self, Error> {
        let numbers = match &filter.search {
            Some(search) => named(state, company, search).await?,
            None => Vec::new(),
        };
        let asked = filter.asked(user, numbers);
        let part = state.engine.conversations(company).list(asked, filter.after, SHOWN).await?;
        let numbers = part.conversations.iter().filter_map(|listed| listed.conversation.peer.number());
        let names = names(state, company, numbers).await?;
        let mut channels = HashMap::new();
        for listed in &part.conversations {
            let id = listed.conversation.channel_id;
            if !channels.contains_key(&id)
                && let Some(channel) = channel_of(state, company, id).await?
            {
                channels.insert(id, channel);
            }
        }
        Ok(Self { part, names, channels })
    }

    /// The list without a mark at the open conversation: everybody with the same filter sees the same.
    pub(super) fn panel(&self, viewer: &Viewer, around: &InboxAround, filter: &InboxFilter) -> Markup {
        let (text, now) = (viewer.text, Timestamp::now());
        html! {
            div id="conversations" {
                @if self.part.conversations.is_empty() {
                    (empty(&text.get(if filter.search.is_some() { "inbox-none-found" } else { "inbox-none" }), &html! {}))
                }
                ul.conversations {
                    @for listed in &self.part.conversations { (self.row(viewer, around, filter, listed, now)) }
                }
                @if let Some(next) = self.part.next {
                    p { a href=(filter.rest(next)) { (text.get("inbox-more")) } }
                }
            }
        }
    }

    fn row(
        &self,
        viewer: &Viewer,
        around: &InboxAround,
        filter: &InboxFilter,
        listed: &ListedConversation,
        now: Timestamp,
    ) -> Markup {
        let (text, conversation) = (viewer.text, &listed.conversation);
        let name = title(conversation, &self.names);
        let channel = self.channels.get(&conversation.channel_id).map(Arc::as_ref);
        // Whether a closed window is refused is said in the conversation.
        let reach = Reach::of(conversation, channel, true, now);
        let is_unread = conversation.unread > 0;
        html! {
            li id=(row_id(conversation.id)) {
                a.unread[is_unread] href=(filter.of(conversation.id, "")) {
                    span.face aria-hidden="true" { (initials(&name)) }
                    span.title { bdi { (name) } (reach.ring(viewer, now)) }
                    span.age { (moment(viewer, conversation.last_at)) }
                    span.line { (line(text, listed)) }
                    span.soft {
                        @if let Some(channel) = channel { bdi { (channel.name) } }
                        @if conversation.state == ConversationState::Closed { " · " (text.get("inbox-closed")) }
                        @if let Some(user) = conversation.assigned_to { " · " bdi { (around.member(text, user)) } }
                    }
                    @if is_unread {
                        span.count { (shown(conversation.unread)) span.unseen { " " (text.get("shell-unread")) } }
                    }
                }
            }
        }
    }
}

/// The numbers of contacts whose names match a search.
async fn named(state: &State, company: Uuid, search: &str) -> Result<Vec<PhoneNumber>, Error> {
    let records = state.engine.company(company).await?;
    let page = PageRequest { page: 1, limit: FOUND };
    let found = records.contacts().page(page, Some(search)).await?.records;
    Ok(found.iter().filter_map(|contact| contact.person.phone()).collect())
}

fn row_id(id: Uuid) -> String {
    format!("c-{id}")
}

/// The list with a mark at the open conversation.
pub(super) fn marked(Markup { 0: list }: &Markup, open: Option<Uuid>) -> Markup {
    let Some(open) = open else { return PreEscaped(list.clone()) };
    let place = format!("<li id=\"{}\"><a ", row_id(open));
    PreEscaped(list.replacen(&place, &format!("{place}aria-current=\"true\" "), 1))
}

/// The last entry in one line.
fn line(text: Text, listed: &ListedConversation) -> Markup {
    let Conversation { last, .. } = &listed.conversation;
    let said = listed.line.clone().filter(|line| !line.is_empty());
    html! {
        @match last.side {
            ThreadSide::Person => {},
            ThreadSide::Echo | ThreadSide::Own => { (text.get("inbox-you")) " " },
        }
        @match said {
            Some(line) => bdi { (line) },
            None if !last.kind.is_empty() => (said::kind(text, &last.kind)),
            None => {},
        }
    }
}

/// The first letters of the first two words of a name.
fn initials(name: &str) -> String {
    let letters = name.split_whitespace().filter_map(|word| word.chars().find(|c| c.is_alphanumeric()));
    letters.take(2).flat_map(char::to_uppercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_open_conversation_is_marked_and_no_other() {
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let list = html! { @for id in [one, other] { li id=(row_id(id)) { a.unread href="/x" {} } } };
        let shown = marked(&list, Some(other)).into_string();
        assert_eq!(shown.matches("aria-current").count(), 1);
        assert!(
            shown.contains(&format!("id=\"{}\"><a aria-current=\"true\" class", row_id(other))),
            "{shown}"
        );
        assert_eq!(marked(&list, None).into_string(), list.into_string());
    }

    #[test]
    fn a_face_has_the_letters_of_the_name() {
        assert_eq!(initials("joão (padaria) silva"), "JP");
        assert_eq!(initials("+55 11 98888"), "51");
        assert_eq!(initials("—"), "");
    }
}
