//! The company's messages in a conversation, from the ledger: as their person got them, or as they went to the group.

use std::collections::HashMap;
use std::time::Duration;

use uuid::Uuid;

use super::Conversations;
use super::thread::{OwnEntry, ThreadFrom};
use crate::Error;
use crate::contents::StoredValues;
use clock::Timestamp;
use domain::contact::Person;
use domain::content::{Content, Stored};
use domain::message::Key;
use domain::page::{Start, Window};
use domain::phone::PhoneNumber;
use domain::template::contact_field::Addressee;
use domain::values::{Lookup, Unpacked};
use store::CompanyStore;
use store::conversations::{Conversation, ThreadCursor};
use store::sends::list::Filter;
use store::sends::messages::{Addressed, ToPerson};

/// The most messages that are looked at for the entries after a place.
const MOST_AFTER: u64 = 2_000;

impl Conversations<'_> {
    /// The company's messages to the person or group on this side of a place.
    pub(super) async fn own(
        &self,
        records: CompanyStore<'_>,
        of: &Conversation,
        from: ThreadFrom,
        limit: u64,
    ) -> Result<Vec<OwnEntry>, Error> {
        let (to, limit) = match from {
            ThreadFrom::Latest => (None, limit),
            ThreadFrom::Before(place) => (Some(place.at.plus(Duration::from_millis(1))), limit),
            // The latest ones come first.
            ThreadFrom::After(_) => (None, MOST_AFTER),
        };
        let has_place = |entry: ThreadCursor| match from {
            ThreadFrom::Latest => true,
            ThreadFrom::Before(place) => entry < place,
            ThreadFrom::After(place) => entry > place,
        };
        let found = match (of.peer.number(), of.peer.group()) {
            (Some(number), _) => {
                let numbers = self.engine.0.shared.people.forms(self.company, number);
                let sends = Filter { channel_id: Some(of.channel_id), to, ..Filter::default() };
                let asked = ToPerson { numbers, state: None, sends };
                let window = Window::<Key> { start: Start::Offset(0), limit };
                records.sends().to_person(&asked, window, Timestamp::now()).await?.records
            }
            (None, Some(group)) => records.sends().to_group(of.channel_id, group, to, limit).await?,
            (None, None) => return Ok(Vec::new()),
        };
        // Of messages after a place many are looked through: only those that are shown are opened and filled in.
        let is_wanted = |found: &Addressed| has_place(ThreadCursor { at: went_at(found), id: found.send_id });
        let found: Vec<_> = found.into_iter().filter(is_wanted).collect();
        let sends: Vec<_> = found.iter().map(|found| found.send_id).collect();
        let contents = records.conversations().contents_of_sends(&sends).await?;
        let contents: SentContents = contents
            .into_iter()
            .filter_map(|(id, json, recipients)| {
                Some((id, (serde_json::from_str(&json).ok()?, recipients > 1)))
            })
            .collect();
        let people = of_personal(records, &found, &contents).await?;
        let values = self.values_of(&found, &contents).await?;
        let entries = found.into_iter().map(|message| {
            let outcome = &message.message.outcome;
            let (stored, is_bulk) = contents.get(&message.send_id).cloned().unzip();
            let key = Key { send_id: message.send_id, ordinal: outcome.position.ordinal };
            let to = Addressee {
                person: outcome.position.recipient.and_then(|number| people.get(&number)),
                values: values.get(&key).map(|values| values as &dyn Lookup),
            };
            let content = stored.map(|stored: Stored| match has_placeholders(&stored) {
                // A person who lacks a value got nothing.
                true => stored.content.filled(to).unwrap_or(stored.content),
                false => stored.content,
            });
            OwnEntry {
                at: went_at(&message),
                is_bulk: is_bulk.unwrap_or_default(),
                content,
                message,
                reactions: Vec::new(),
            }
        });
        // A reaction of ours is no entry of its own.
        let is_entry = |own: &OwnEntry| !matches!(own.content, Some(Content::Reaction { .. }));
        Ok(entries.filter(is_entry).collect())
    }

    /// What the requests of these messages said about their recipients.
    async fn values_of(
        &self,
        found: &[Addressed],
        contents: &SentContents,
    ) -> Result<HashMap<Key, Unpacked>, Error> {
        let shared = &self.engine.0.shared;
        let mut values = HashMap::new();
        for message in found {
            if contents.get(&message.send_id).is_some_and(|(stored, _)| stored.values) {
                let key = Key { send_id: message.send_id, ordinal: message.message.outcome.position.ordinal };
                let mut stored = StoredValues::of(&shared.store, key.send_id).await?;
                let own = stored.at((&shared.store, &*shared.contents), key.ordinal).await?;
                values.extend(own.map(|own| (key, own.clone())));
            }
        }
        Ok(values)
    }
}

/// When a message went; until then, when its send was accepted.
fn went_at(message: &Addressed) -> Timestamp {
    let accepted = Timestamp::from_millis((message.send_id.as_u128() >> 80) as i64);
    message.message.outcome.taken_at.unwrap_or(accepted)
}

/// What sends say, by their ids, and whether they have several recipients.
type SentContents = HashMap<Uuid, (Stored, bool)>;

/// Whether each recipient gets texts of their own; braces in other texts are text.
const fn has_placeholders(stored: &Stored) -> bool {
    stored.values || stored.content.is_personal()
}

/// The contacts of those of these messages whose texts have placeholders.
async fn of_personal(
    records: CompanyStore<'_>,
    found: &[Addressed],
    contents: &SentContents,
) -> Result<HashMap<PhoneNumber, Person>, Error> {
    let is_personal =
        |found: &&Addressed| contents.get(&found.send_id).is_some_and(|(stored, _)| has_placeholders(stored));
    let numbers = found.iter().filter(is_personal);
    let numbers: Vec<_> = numbers.filter_map(|found| found.message.outcome.position.recipient).collect();
    Ok(records.contacts().people(&numbers).await?)
}
