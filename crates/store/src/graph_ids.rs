//! What the door that speaks Graph names by ids of its own, and what it finds by ids of the provider.

use std::collections::BTreeMap;
use std::time::Duration;

use entity::{channel, conversation_message, message, send};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _, Select, Value,
};
use serde_json::json;
use uuid::Uuid;

use crate::changes::{self, What, Who};
use crate::nouns::GraphIds;
use crate::one_row::{find_row, insert_new};
use crate::suppressions::listed;
use crate::{Error, Result, fetch_one};
use clock::Timestamp;
use domain::channel::Channel;
use domain::graph::GraphIdKind;
use domain::inbound::Direction;
use domain::message::{Key, State};
use domain::phone::PhoneNumber;

/// How many ids are tried before one is free: of ten trillion, a company has a few.
const ATTEMPTS: usize = 8;
/// For how long a message that a person answers is looked for by the provider's id.
const REMEMBERED: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// The bits of a time in an id that are below the three bytes by which an index of messages counts hours.
const SPAN_BITS: u32 = 24;

/// A message that somebody wrote, found by the provider's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedMessage {
    /// Our id of it, which is that of its file too.
    pub id: Uuid,
    /// Its conversation.
    pub conversation_id: Uuid,
    /// Who wrote it.
    pub direction: Direction,
    /// When it was written.
    pub at: Timestamp,
}

impl GraphIds<'_> {
    /// What this id stands for in the company, and whose it is: a channel's or the company's.
    pub async fn find(self, id: i64) -> Result<Option<(GraphIdKind, Uuid)>> {
        let of = [("id", id.into()), ("company_id", self.company.into())];
        let found = find_row::<(i16, Uuid)>(&self.store.read, ("graph_id", "kind, owner_id"), of).await?;
        Ok(found.and_then(|(kind, owner)| Some((GraphIdKind::from_i16(kind)?, owner))))
    }

    /// The id of a channel or of the company, which is made when it is asked for first and never changes.
    pub async fn of(self, kind: GraphIdKind, owner: Uuid) -> Result<i64> {
        let company = self.company;
        let of: [(_, Value); 3] =
            [("owner_id", owner.into()), ("kind", kind.as_i16().into()), ("company_id", company.into())];
        for attempt in 0..ATTEMPTS {
            // Nearly always it is there, and nobody's writes wait for a list of numbers.
            let pool = if attempt == 0 { &self.store.read } else { &self.store.write };
            if let Some(id) = find_row::<i64>(pool, ("graph_id", "id"), of.clone()).await? {
                return Ok(id);
            }
            // A second caller at the same time reads what the first one wrote; an id that is taken is drawn again.
            let (_, random) = Uuid::now_v7().as_u64_pair();
            let row = [("id", Value::from(kind.id(random)))].into_iter().chain(of.clone());
            insert_new(&self.store.write, "graph_id", row).await?;
        }
        Err(Error::Impossible("a free id of the door that speaks Graph".to_owned()))
    }

    /// The company's business account with this number of the provider.
    pub async fn number(self, phone_number_id: &str) -> Result<Option<Uuid>> {
        let number = self.channel_ids().filter(channel::Column::PhoneNumberId.eq(phone_number_id));
        Ok(number.into_tuple::<Uuid>().one(&self.store.read).await?)
    }

    /// The company's channels, the oldest first, at most `limit`.
    pub async fn channels(self, limit: u32) -> Result<Vec<Uuid>> {
        let oldest = self.channel_ids().order_by_asc(channel::Column::Id).limit(u64::from(limit));
        Ok(oldest.into_tuple::<Uuid>().all(&self.store.read).await?)
    }

    fn channel_ids(self) -> Select<channel::Entity> {
        let own = channel::Entity::find().filter(channel::Column::CompanyId.eq(self.company));
        own.select_only().column(channel::Column::Id)
    }

    /// The message of a channel with this id of the provider, if somebody else than Pombo wrote it.
    pub async fn message(self, channel: Uuid, provider_id: &str) -> Result<Option<NamedMessage>> {
        use conversation_message::{Column, Entity, Model};
        let named = Entity::find().filter(Column::ChannelId.eq(channel)).order_by_asc(Column::Id);
        let named =
            named.filter(Column::ProviderId.eq(provider_id)).filter(Column::CompanyId.eq(self.company));
        let found = named.one(&self.store.read).await?;
        Ok(found.and_then(|Model { id, conversation_id, direction, at, .. }| {
            let (direction, at) = (Direction::from_i16(direction)?, Timestamp::from_millis(at));
            Some(NamedMessage { id, conversation_id, direction, at })
        }))
    }

    /// The provider's id of a message that the company sent through a channel; `None` while the provider has none, and for one of
    /// another channel or company.
    pub async fn provider_id(self, channel: Uuid, Key { send_id, ordinal }: Key) -> Result<Option<String>> {
        let sql = "SELECT message.provider_message_id FROM message JOIN send ON send.id = message.send_id \
                   WHERE message.send_id = $1 AND message.ordinal = $2 AND send.company_id = $3 \
                   AND send.channel_id = $4";
        let Ok(ordinal) = i64::try_from(ordinal) else { return Ok(None) };
        let values = [send_id.into(), ordinal.into(), self.company.into(), channel.into()];
        Ok(fetch_one::<Option<String>>(&self.store.read, sql, values).await?.flatten())
    }

    /// Whether the company sent this through the channel.
    pub async fn is_sent_through(self, channel: Uuid, send: Uuid) -> Result<bool> {
        let own = self.own(send).filter(send::Column::ChannelId.eq(channel)).column(send::Column::Id);
        Ok(own.into_tuple::<Uuid>().one(&self.store.read).await?.is_some())
    }

    /// The company's send of this id, still without columns.
    fn own(self, send: Uuid) -> Select<send::Entity> {
        send::Entity::find_by_id(send).filter(send::Column::CompanyId.eq(self.company)).select_only()
    }

    /// The message that went through a channel to a person with these numbers in the last 30 days and has this id of the provider.
    pub async fn sent(
        self,
        channel: Uuid,
        numbers: &[PhoneNumber],
        provider_id: &str,
        now: Timestamp,
    ) -> Result<Option<Key>> {
        let span = |at: Timestamp| at.millis() >> SPAN_BITS;
        let sql = format!(
            "SELECT message.send_id, message.ordinal FROM {spans} AS span CROSS JOIN message \
             WHERE {hours} = span.hours AND message.recipient IN ({numbers}) AND message.company_id = $1 \
             AND message.provider_message_id = $2 \
             AND EXISTS (SELECT 1 FROM send WHERE send.id = message.send_id AND send.channel_id = $3) LIMIT 1",
            spans = self.store.spans(4, 5),
            numbers = listed(numbers),
            hours = self.store.hours_of("message.send_id"),
        );
        let values = [
            self.company.into(),
            provider_id.into(),
            channel.into(),
            span(now.minus(REMEMBERED)).into(),
            span(now).into(),
        ];
        let found = fetch_one::<(Uuid, i64)>(&self.store.read, sql, values).await?;
        Ok(found.map(|(send_id, ordinal)| Key { send_id, ordinal: ordinal.cast_unsigned() }))
    }

    /// A note that the company's program put on a send under this name.
    pub async fn note(self, send: Uuid, name: &str) -> Result<Option<String>> {
        let found = self.own(send).column(send::Column::Metadata).into_tuple::<Option<String>>();
        let Some(metadata) = found.one(&self.store.read).await?.flatten() else { return Ok(None) };
        let mut notes: BTreeMap<String, String> = serde_json::from_str(&metadata)
            .map_err(|error| Error::Impossible(format!("the metadata of a send: {error}")))?;
        Ok(notes.remove(name))
    }

    /// The recipient of a send with one message that never began; `None` for every other send.
    pub async fn recipient_of_unbegun(self, send: Uuid) -> Result<Option<PhoneNumber>> {
        let sql = "SELECT recipient FROM send WHERE id = $1 AND company_id = $2 AND recipient > 0 AND high_water = 0 \
                   AND NOT EXISTS (SELECT 1 FROM message WHERE message.send_id = send.id AND message.ordinal = 0)";
        let found = fetch_one::<i64>(&self.store.read, sql, [send.into(), self.company.into()]).await?;
        Ok(found.and_then(PhoneNumber::from_i64))
    }

    /// Records that a program's request went on to the provider with a channel's token. `status` is the provider's; `None`
    /// when there was no answer.
    pub async fn record_passed(
        self,
        who: &Who,
        channel: &Channel,
        request: &str,
        status: Option<u16>,
    ) -> Result<()> {
        let company = self.company.to_string();
        let after =
            json!({ "company_id": company, "name": channel.name, "request": request, "status": status });
        let transaction = self.store.begin().await?;
        changes::record_one(&transaction, who, What::PassedOn, channel.id, None, after).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// The state of a message; `None` for another company's.
    pub async fn state(self, Key { send_id, ordinal }: Key) -> Result<Option<State>> {
        let found = message::Entity::find_by_id((send_id, ordinal.cast_signed()));
        let found = found.filter(message::Column::CompanyId.eq(self.company)).one(&self.store.read).await?;
        Ok(found.and_then(|message| State::from_i16(message.state)))
    }
}
