//! What every page of the inbox shows beside conversations, read at the same time for everybody of a company.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use super::offered::{OFFERED, Offered};
use crate::accounts::Member;
use crate::console::State;
use crate::console::component::number;
use crate::console::error::Error;
use crate::console::text::Text;
use crate::domain::channel::Channel;
use crate::domain::contact::Person;
use crate::domain::page::PageRequest;
use crate::domain::phone::PhoneNumber;
use crate::engine::conversations::types::{Conversation, QuickReply};

/// How old it may be.
const AGE: Duration = Duration::from_secs(5);

/// Channels, people, tags and quick replies of a company.
pub(super) struct InboxAround {
    pub(super) channels: Offered,
    /// Those who answer, by e-mail.
    pub(super) members: Vec<Member>,
    /// The same people, to choose from: by name while they are few, and else by e-mail address.
    pub(super) assignees: Offered,
    pub(super) tags: Offered,
    pub(super) quick_replies: Vec<QuickReply>,
}

impl InboxAround {
    pub(super) async fn read(state: &State, company: Uuid) -> Result<Arc<Self>, Error> {
        let key = format!("around the inbox {company}");
        let read = state.shared.get(key, AGE, async || {
            let members = state.engine.conversations(company).assignees().await?;
            let quick_replies = state.engine.conversations(company).quick_replies().all().await?;
            let (records, page) =
                (state.engine.company(company).await?, PageRequest { page: 1, limit: OFFERED });
            let channels = records.channels().page(page, None).await?;
            let tags = records.tags().page(page, None).await?;
            let named = channels.records.into_iter().map(|channel| (channel.id, channel.name));
            let channels = Offered::new(named, channels.total);
            let named = tags.records.into_iter().map(|tag| (tag.summary.id, tag.summary.name));
            let tags = Offered::new(named, tags.total);
            let total = members.len() as u64;
            let known_as = |member: &Member| {
                let name = if total > OFFERED { &member.email } else { &member.name };
                (member.user_id, name.clone())
            };
            let assignees = Offered::new(members.iter().map(known_as), total);
            Ok(Self { channels, members, assignees, tags, quick_replies })
        });
        read.await
    }

    /// The name of a person who answers, or who did.
    pub(super) fn member(&self, text: Text, id: Uuid) -> String {
        let member = self.members.iter().find(|member| member.user_id == id);
        member.map_or_else(|| text.get("inbox-somebody"), |member| member.name.clone())
    }
}

/// The channel of this id, if the company has it.
pub(super) async fn channel_of(
    state: &State,
    company: Uuid,
    id: Uuid,
) -> Result<Option<Arc<Channel>>, Error> {
    let found = state.engine.channel(id).await?;
    Ok(found.filter(|channel| channel.company_id == company))
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
