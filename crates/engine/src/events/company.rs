//! The events of one company, for its programs.

use uuid::Uuid;

use super::tail::Seat;
use crate::{Engine, Error};
use clock::Timestamp;
use domain::error::{Code, Refusal};
use domain::event::log::Sequence;
use domain::event::{Event, Type};
use store::event_log::Reader;

/// The events of companies.
#[derive(Clone, Copy)]
pub struct Events<'e> {
    pub(super) engine: &'e Engine,
}

/// Where to read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// From the oldest event that is kept.
    Beginning,
    /// What happens from now on.
    End,
    /// What follows this event.
    Event(Sequence),
}

/// Which events are asked for.
#[derive(Debug, Clone, Default)]
pub struct EventFilter {
    /// Of these types; all if there is none.
    pub types: Vec<Type>,
    /// Of this channel.
    pub channel_id: Option<Uuid>,
}

/// A part of a company's events.
#[derive(Debug)]
pub struct EventPart {
    /// The events, in their order.
    pub events: Vec<Event>,
    /// Where the next part begins.
    pub next: Sequence,
    /// Whether there are more now.
    pub more: bool,
}

impl EventFilter {
    fn wants(&self, r#type: Type) -> bool {
        // What the stream at NATS missed is of no concern to others.
        r#type != Type::OutboxLost && (self.types.is_empty() || self.types.contains(&r#type))
    }
}

impl Engine {
    /// The events of companies.
    pub const fn events(&self) -> Events<'_> {
        Events { engine: self }
    }
}

impl Events<'_> {
    /// Where in the company's log to read from. Its log begins when it is first read.
    ///
    /// # Errors
    ///
    /// `cursor_expired` when what follows the event is no longer kept.
    pub async fn place(&self, company: Uuid, after: After) -> Result<Sequence, Error> {
        let records = self.engine.records_of(company).await?;
        let log = records.event_log();
        let beginning = log.register(Reader::Company(company), Timestamp::now()).await?;
        match after {
            After::Beginning => Ok(beginning),
            After::End => Ok(Sequence::end_of(log.settle().await?.through).max(beginning)),
            After::Event(sequence) if sequence >= beginning => Ok(sequence),
            After::Event(_) => Err(expired(beginning).into()),
        }
    }

    /// At most `limit` events after this place.
    ///
    /// # Errors
    ///
    /// `cursor_expired` when what follows the place is no longer kept.
    pub async fn read(
        &self,
        company: Uuid,
        after: Sequence,
        asked: &EventFilter,
        limit: usize,
    ) -> Result<EventPart, Error> {
        let records = self.engine.records_of(company).await?;
        let log = records.event_log();
        let through = log.settle().await?.through;
        let page = log.read(Some(company), (after, through), limit, |r#type| asked.wants(r#type)).await?;
        if let Some(beginning) = page.begins_after {
            return Err(expired(beginning).into());
        }
        let events = page.told.into_iter().filter_map(|told| told.event);
        let is_meant = |event: &Event| asked.channel_id.is_none_or(|id| event.channel_id == Some(id));
        let mut events: Vec<_> = events.filter(is_meant).collect();
        self.engine.0.shared.contents.open_events(&mut events).await;
        Ok(EventPart { events, next: page.next.max(after), more: page.more })
    }

    /// A place among those who wait for events of this company.
    ///
    /// # Errors
    ///
    /// `rate_limited` when too many wait.
    pub fn wait(&self, company: Uuid) -> Result<Seat, Error> {
        Ok(self.engine.0.tail.enter(company)?)
    }

    /// Answers those who wait, and lets no others wait: the service is stopping.
    pub fn release_callers(&self) {
        self.engine.0.tail.close();
    }
}

fn expired(beginning: Sequence) -> Refusal {
    let sentence = format!(
        "events after this place are no longer kept: the log begins after {}, so read from `after={0}`, and read sends \
         and messages again for what happened before",
        beginning.as_i64()
    );
    Refusal::new(Code::CursorExpired, sentence)
}
