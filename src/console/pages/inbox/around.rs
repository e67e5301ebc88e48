//! What every page of the inbox shows beside conversations, read at the same time for everybody of a company.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use crate::accounts::Member;
use crate::console::State;
use crate::console::component::number;
use crate::console::error::Error;
use crate::console::text::Text;
use crate::domain::channel::Channel;
use crate::domain::contact::{Person, Tag};
use crate::domain::page::PageRequest;
use crate::domain::phone::PhoneNumber;
use crate::engine::conversations::types::{Conversation, QuickReply};

/// How old it may be.
const AGE: Duration = Duration::from_secs(5);
/// The channels and tags that are offered.
const MOST: u64 = 500;

/// Channels, people, tags and quick replies of a company.
pub(super) struct InboxAround {
    pub(super) channels: Vec<Channel>,
    /// Those who answer, by e-mail.
    pub(super) members: Vec<Member>,
    pub(super) tags: Vec<Tag>,
    pub(super) quick_replies: Vec<QuickReply>,
}

impl InboxAround {
    pub(super) async fn read(state: &State, company: Uuid) -> Result<Arc<Self>, Error> {
        let key = format!("around the inbox {company}");
        let read = state.shared.get(key, AGE, async || {
            let members = state.engine.conversations(company).assignees().await?;
            let quick_replies = state.engine.conversations(company).quick_replies().all().await?;
            let (records, page) =
                (state.engine.company(company).await?, PageRequest { page: 1, limit: MOST });
            let channels = records.channels().page(page, None).await?.records;
            let tags = records.tags().page(page, None).await?.records;
            Ok(Self { channels, members, tags, quick_replies })
        });
        read.await
    }

    pub(super) fn channel(&self, id: Uuid) -> Option<&Channel> {
        self.channels.iter().find(|channel| channel.id == id)
    }

    /// The name of a person who answers, or who did.
    pub(super) fn member(&self, text: Text, id: Uuid) -> String {
        let member = self.members.iter().find(|member| member.user_id == id);
        member.map_or_else(|| text.get("inbox-somebody"), |member| member.name.clone())
    }
}

/// Names of contacts by their numbers.
pub(super) type Names = HashMap<PhoneNumber, String>;

/// The names of the contacts with these numbers.
pub(super) async fn names(
    state: &State,
    company: Uuid,
    numbers: impl Iterator<Item = PhoneNumber>,
) -> Result<Names, Error> {
    let numbers: Vec<_> = numbers.collect();
    let people = state.engine.company(company).await?.contacts().people(&numbers).await?;
    let name = |person: &Person| format!("{} {}", person.first_name, person.last_name).trim().to_owned();
    let named = people.iter().map(|(number, person)| (*number, name(person)));
    Ok(named.filter(|(_, name)| !name.is_empty()).collect())
}

/// With whom a conversation is: the contact's name, the name in the profile, the number, or the id.
pub(super) fn title(conversation: &Conversation, names: &Names) -> String {
    let number = conversation.peer.number();
    let known = number.and_then(|number| names.get(&number)).or(conversation.name.as_ref());
    known.cloned().unwrap_or_else(|| match (number, conversation.peer.group(), conversation.peer.user_id()) {
        (Some(number), ..) => number::grouped(number),
        (None, Some(id), _) | (None, None, Some(id)) => id.to_owned(),
        (None, None, None) => "—".to_owned(),
    })
}
