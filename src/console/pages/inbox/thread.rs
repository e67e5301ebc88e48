//! An open conversation: what is read of it, and its entries.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use maud::{Markup, html};
use serde_json::Value;
use uuid::Uuid;

use super::around::{Names, channel_of, names, title};
use super::entry::entry;
use super::filter::InboxFilter;
use super::window::Reach;
use crate::clock::Timestamp;
use crate::console::State;
use crate::console::error::Error;
use crate::console::pages::send::message::template_words;
use crate::console::pages::send::words;
use crate::console::text::Text;
use crate::console::visitor::Viewer;
use crate::domain::channel::Channel;
use crate::domain::content::Content;
use crate::domain::inbound::InboundFile;
use crate::domain::message::State as At;
use crate::engine::conversations::types::{Conversation, ThreadCursor};
use crate::engine::conversations::{OwnEntry, Thread, ThreadEntry, ThreadFrom};

/// The entries of one part.
const SHOWN: u64 = 40;

/// How long after a message the conversation is read often, because its state may change.
const MOVING: Duration = Duration::from_secs(10 * 60);

/// An open conversation.
pub(super) struct OpenThread {
    pub(super) thread: Thread,
    pub(super) name: String,
    pub(super) reach: Reach,
    /// Its channel; `None` when it was removed.
    pub(super) channel: Option<Arc<Channel>>,
    /// The names of bulk sends.
    sends: HashMap<Uuid, String>,
    /// The parts of the templates of sends.
    templates: HashMap<Uuid, Value>,
}

impl OpenThread {
    /// The latest entries, or those before a place.
    pub(super) async fn read(
        state: &State,
        text: Text,
        (company, id): (Uuid, Uuid),
        before: Option<ThreadCursor>,
    ) -> Result<Self, Error> {
        let conversations = state.engine.conversations(company);
        let from = before.map_or(ThreadFrom::Latest, ThreadFrom::Before);
        let thread = conversations.thread(id, from, SHOWN).await?;
        let now = Timestamp::now();
        let windows = conversations.windows(thread.conversation.channel_id).await?;
        let channel = channel_of(state, company, thread.conversation.channel_id).await?;
        let reach = Reach::of(&thread.conversation, channel.as_deref(), windows.are_enforced(now), now);
        let names: Names = names(state, company, thread.conversation.peer.number().into_iter()).await?;
        let name = title(&thread.conversation, &names);
        let mut sends = HashMap::new();
        let records = state.engine.company(company).await?;
        for entry in &thread.entries {
            let ThreadEntry::Own(own) = entry else { continue };
            let send = own.message.send_id;
            if own.is_bulk && !sends.contains_key(&send) {
                // A send that was deleted meanwhile has no page any more.
                if let Some(head) = records.sends().head(send, now).await? {
                    sends.insert(send, words::name(text, &head));
                }
            }
        }
        let of_template: Vec<_> = thread.entries.iter().filter_map(template_send).collect();
        let of_sends = records.templates().of_sends(&of_template).await?;
        let distinct: HashSet<_> = of_sends.values().copied().collect();
        let mut parts = HashMap::with_capacity(distinct.len());
        for id in distinct {
            if let Some(found) = records.templates().find(id).await? {
                parts.insert(id, found.components);
            }
        }
        let templates = of_sends.into_iter().filter_map(|(send, id)| Some((send, parts.get(&id)?.clone())));
        let templates = templates.collect();
        drop(records);
        Ok(Self { thread, name, reach, channel, sends, templates })
    }

    /// The words of a message of ours with a template; `None` for another, and when the template is gone.
    pub(super) fn template_words(&self, own: &OwnEntry) -> Option<String> {
        let Some(Content::Template { components, .. }) = &own.content else { return None };
        let parts = self.templates.get(&own.message.send_id)?;
        Some(template_words(parts.clone(), components)).filter(|words| !words.is_empty())
    }

    pub(super) const fn conversation(&self) -> &Conversation {
        &self.thread.conversation
    }

    /// The name of a bulk send.
    pub(super) fn send(&self, id: Uuid) -> Option<&str> {
        self.sends.get(&id).map(String::as_str)
    }

    /// The entry of the message with this id at the provider.
    pub(super) fn named(&self, provider_id: &str) -> Option<&ThreadEntry> {
        self.thread.entries.iter().find(|entry| {
            let id = match entry {
                ThreadEntry::Written(written) => Some(written.provider_id.as_str()),
                ThreadEntry::Own(own) => own.message.message.outcome.provider_message_id.as_deref(),
            };
            id == Some(provider_id)
        })
    }

    /// Whether a message of ours may still change its state soon, or a file arrive.
    pub(super) fn is_moving(&self) -> bool {
        let since = Timestamp::now().minus(MOVING);
        self.thread.entries.iter().any(|entry| match entry {
            ThreadEntry::Own(own) => {
                let state = own.message.message.outcome.state;
                own.at > since && matches!(state, At::Queued | At::Sending | At::Sent | At::Delivered)
            }
            ThreadEntry::Written(written) => {
                let media = written.body.as_ref().and_then(|body| body.content.media());
                let file = media.and_then(|media| media.file.as_ref());
                written.at > since && matches!(file, Some(InboundFile::Fetching { .. }))
            }
        })
    }

    /// The moment of the last entry.
    pub(super) fn last_at(&self) -> Timestamp {
        self.thread.entries.last().map_or(self.thread.conversation.last_at, |entry| entry.place().at)
    }

    /// The entries, with the link to earlier ones.
    pub(super) fn entries(&self, viewer: &Viewer, filter: &InboxFilter) -> Markup {
        let (text, conversation) = (viewer.text, self.conversation());
        let up_to = self.last_at().millis();
        html! {
            div id="thread" data-unread=(conversation.unread) data-up-to=(up_to) {
                @if let Some(earlier) = self.thread.earlier {
                    @let before = format!("{}.{}", earlier.at.millis(), earlier.id);
                    p { a href=(filter.and(conversation.id, "before", &before)) { (text.get("inbox-earlier")) } }
                }
                @if self.thread.entries.is_empty() { p.soft { (text.get("inbox-no-messages")) } }
                ol.talk { @for one in &self.thread.entries { (entry(viewer, self, filter, one)) } }
            }
        }
    }
}

/// The send of a message of ours with a template.
fn template_send(entry: &ThreadEntry) -> Option<Uuid> {
    match entry {
        ThreadEntry::Own(own) if matches!(own.content, Some(Content::Template { .. })) => {
            Some(own.message.send_id)
        }
        ThreadEntry::Own(_) | ThreadEntry::Written(_) => None,
    }
}

/// The place in a thread that an address names.
pub(super) fn place(word: &str) -> Option<ThreadCursor> {
    let (at, id) = word.split_once('.')?;
    Some(ThreadCursor { at: Timestamp::from_millis(at.parse().ok()?), id: id.parse().ok()? })
}
