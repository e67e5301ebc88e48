//! Inbound events of the provider.

use std::collections::HashSet;

use sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::PendingWrites;
use crate::dialect::{Bulk, Cell, Incoming, Type};
use crate::nouns::Ledger;
use crate::{Result, fetch};
use clock::Timestamp;
use domain::event::log::{Fact, FactKind, LogEntry};
use domain::phone::PhoneNumber;

/// The kind of an event that is a message from a recipient.
pub const INBOUND_MESSAGE: &str = "inbound_message";

/// An inbound event of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Time-ordered id.
    pub id: Uuid,
    /// The company that it belongs to.
    pub company_id: Uuid,
    /// Which channel heard it.
    pub channel_id: Uuid,
    /// Its kind, such as [`INBOUND_MESSAGE`].
    pub kind: &'static str,
    /// The provider's id of the event: the channel keeps one event of each kind and id.
    pub identity: String,
    /// The sender, if the provider names a number.
    pub from: Option<PhoneNumber>,
    /// When it happened, by the provider's time.
    pub at: Timestamp,
    /// The provider's JSON.
    pub payload: String,
}

const EVENT: &[(&str, Type)] = &[
    ("id", Type::Uuid),
    ("company_id", Type::Uuid),
    ("channel_id", Type::Uuid),
    ("kind", Type::Text),
    ("identity", Type::Text),
    ("payload", Type::Text),
    ("sender", Type::Int),
    ("at", Type::Int),
];

impl Event {
    fn told(&self) -> LogEntry {
        let from = self.from.map(PhoneNumber::as_i64);
        let what = FactKind::Inbound { id: self.id, provider_message_id: self.identity.clone(), from };
        LogEntry::Fact(Fact { channel_id: Some(self.channel_id), at: self.at, what })
    }
}

impl Ledger<'_> {
    /// Stores the events that are not stored yet.
    pub(super) async fn keep_events(
        self,
        to: &impl ConnectionTrait,
        batch: &PendingWrites,
        now: Timestamp,
    ) -> Result<()> {
        let mut rows = Bulk::new(self.store.backend, EVENT);
        let mut events: Vec<_> = batch.events.iter().collect();
        events.sort_by_key(|event| (event.channel_id, event.kind, &event.identity));
        for event in &events {
            rows.push([
                event.id.into(),
                event.company_id.into(),
                event.channel_id.into(),
                event.kind.into(),
                event.identity.as_str().into(),
                event.payload.as_str().into(),
                Cell::Int(event.from.map(PhoneNumber::as_i64)),
                event.at.millis().into(),
            ]);
        }
        let insert = |incoming: &str, now: usize| {
            format!(
                "INSERT INTO event (id, company_id, channel_id, kind, identity, payload, created_at) \
                 SELECT id, company_id, channel_id, kind, identity, payload, ${now} \
                 FROM {incoming} AS incoming WHERE TRUE ON CONFLICT (channel_id, kind, identity) DO NOTHING"
            )
        };
        let own = vec![now.millis().into()];
        if !self.store.event_log().is_read(to).await? {
            self.store.write(to, rows, own, insert).await?;
            return Ok(());
        }
        let mut kept = HashSet::<Uuid>::new();
        for Incoming { select, mut values, next } in rows.into_statements() {
            values.extend_from_slice(&own);
            let sql = insert(&select, next) + " RETURNING id";
            kept.extend(fetch::<Uuid>(to, sql, values).await?);
        }
        let told = batch.events.iter().filter(|event| kept.contains(&event.id));
        self.store.event_log().tell(to, told.map(|event| (event.company_id, event.told())), now).await?;
        Ok(())
    }
}
