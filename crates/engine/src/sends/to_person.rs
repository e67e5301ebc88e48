//! The messages to one person, and those with one name.

use uuid::Uuid;

use crate::Error;
use crate::sends::Sends;
use clock::Timestamp;
use domain::message::{Key, State};
use domain::page::{Page, Window};
use domain::phone::PhoneNumber;
use store::sends::list::Filter;
use store::sends::messages::{Addressed, ToPerson};

/// The most messages that are found by the caller's own name for them: a name is meant for one.
const MOST_NAMED: u32 = 100;

/// Messages that have a reference of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WithReference {
    /// The reference.
    pub reference: String,
    /// Only those to this person.
    pub number: Option<PhoneNumber>,
    /// Only those in this state.
    pub state: Option<State>,
    /// Only those through this channel.
    pub channel_id: Option<Uuid>,
    /// Only those of sends with this reference.
    pub of_send: Option<String>,
    /// Only those of sends accepted at this time or later.
    pub from: Option<Timestamp>,
    /// Only those of sends accepted before this time.
    pub to: Option<Timestamp>,
}

impl Sends<'_> {
    /// A company's messages to the person with this number, under any of the person's numbers, those of later sends
    /// first. `state` is the state of the messages, and `sends` selects the sends that they belong to.
    pub async fn to_person(
        &self,
        company_id: Uuid,
        number: PhoneNumber,
        state: Option<State>,
        sends: Filter,
        window: Window<Key>,
    ) -> Result<Page<Addressed>, Error> {
        let numbers = self.engine.0.shared.people.forms(company_id, number);
        let records = self.engine.records_of(company_id).await?;
        let asked = ToPerson { numbers, state, sends };
        Ok(records.of(company_id).sends().to_person(&asked, window, Timestamp::now()).await?)
    }

    /// A company's messages with a reference of their own, those of later sends first: among the latest 100 with it.
    pub async fn with_reference(
        &self,
        company_id: Uuid,
        asked: &WithReference,
        window: Window<Key>,
    ) -> Result<Page<Addressed>, Error> {
        let numbers = asked.number.map(|number| self.engine.0.shared.people.forms(company_id, number));
        let records = self.engine.records_of(company_id).await?;
        let company = records.of(company_id);
        let mut found = Vec::new();
        for (send_id, ordinal) in company.sends().with_reference(&asked.reference, MOST_NAMED).await? {
            let send = company.sends().head(send_id, Timestamp::now()).await?;
            let snapshot = company.sends().snapshot(send_id).await?;
            // It may be removed meanwhile.
            let (Some(send), Some(snapshot)) = (send, snapshot) else { continue };
            let Some(message) = records.messages().from(&snapshot, None, ordinal, 1).await?.pop() else {
                continue;
            };
            let is_asked = asked.channel_id.is_none_or(|id| id == send.channel_id)
                && asked.of_send.as_ref().is_none_or(|name| send.label.reference.as_ref() == Some(name))
                && asked.from.is_none_or(|from| send.created_at >= from)
                && asked.to.is_none_or(|to| send.created_at < to)
                && asked.state.is_none_or(|state| message.outcome.state == state)
                && numbers.as_ref().is_none_or(|numbers| {
                    message.outcome.position.recipient.is_some_and(|number| numbers.contains(&number))
                });
            if is_asked {
                let (channel_id, reference) = (send.channel_id, send.label.reference);
                let message_reference = Some(asked.reference.clone());
                found.push(Addressed { send_id, channel_id, reference, message, message_reference });
            }
        }
        let total = found.len() as u64;
        let (offset, after) = window.parts();
        if let Some(Key { send_id, ordinal }) = after {
            let is_behind = |found: &Addressed| {
                let place = found.message.outcome.position.ordinal;
                found.send_id < send_id || found.send_id == send_id && place > ordinal
            };
            found.retain(is_behind);
        }
        let skipped = usize::try_from(offset).unwrap_or(usize::MAX);
        let most = usize::try_from(window.limit).unwrap_or(usize::MAX);
        Ok(Page { records: found.into_iter().skip(skipped).take(most).collect(), total })
    }
}
