//! The messages to one person, over all sends of a company.
//!
//! Those with a row are found by an index that leads with the hours of their sends: the search looks into each span of
//! hours since the company's first send. Those without a row are in sends that are not over, or were canceled or expired:
//! each of these is a single send to the person, or has blocks of ascending numbers, among which a search by halves
//! finds the person's. Sends to groups have one message each, and an index of their own.

use std::collections::{HashMap, HashSet};

use entity::send;
use sea_orm::{EntityTrait, QueryFilter, QuerySelect, Value};
use uuid::Uuid;

use super::{COLUMNS, Message, message};
use crate::contacts::signed;
use crate::dialect::{Rows, Type};
use crate::nouns::Sends;
use crate::retention::first_id_at;
use crate::sends::list::{ALIVE, Filter};
use crate::sends::{GROUP, key, send_state};
use crate::suppressions::listed;
use crate::{Result, fetch, fetch_one};
use clock::Timestamp;
use domain::fold::like_anywhere;
use domain::message::{Key, Outcome, Position};
use domain::page::{Page, Window};
use domain::phone::PhoneNumber;
use domain::send::State;

const KEYS: &[(&str, Type)] = &[("send_id", Type::Uuid), ("ordinal", Type::Int)];

/// The messages that are searched for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToPerson {
    /// All numbers of the person.
    pub numbers: Vec<PhoneNumber>,
    /// The state of the messages.
    pub state: Option<message::State>,
    /// The sends that they belong to.
    pub sends: Filter,
}

/// A message, with what is asked of its send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addressed {
    /// The send.
    pub send_id: Uuid,
    /// The channel that sends it.
    pub channel_id: Uuid,
    /// The caller's reference of the send.
    pub reference: Option<String>,
    /// The message.
    pub message: Message,
    /// The caller's reference of the message.
    pub message_reference: Option<String>,
}

/// A send that has messages without rows.
struct OpenSend {
    send_id: Uuid,
    recipient: Option<i64>,
    state: State,
    high_water: u64,
    settled: u64,
    recipients: u64,
}

impl OpenSend {
    fn read(row: (Uuid, Option<i64>, i16, i64, i64, i64)) -> Result<Self> {
        let (send_id, recipient, state, high_water, settled, recipients) = row;
        let [high_water, settled, recipients] = [high_water, settled, recipients].map(i64::cast_unsigned);
        let state = send_state(state)?;
        Ok(Self { send_id, recipient, state, high_water, settled, recipients })
    }

    /// The message of this recipient, which has no row.
    fn message(&self, position: Position) -> Message {
        let is_reserved = position.ordinal < self.high_water;
        let state = if is_reserved { self.state.of_reserved() } else { self.state.of_unattempted() };
        Message {
            outcome: Outcome {
                position,
                state,
                attempts: 0,
                provider_message_id: None,
                error: None,
                retry_at: None,
                taken_at: None,
            },
            updated_at: None,
        }
    }
}

/// The span of hours of a send's id, as the index counts them.
pub(crate) const fn span(id: Uuid) -> i64 {
    (id.as_u128() >> 104) as i64
}

impl Sends<'_> {
    /// The messages of the company's accepted sends to a person, those of later sends first, and how many there are.
    pub async fn to_person(
        self,
        asked: &ToPerson,
        window: impl Into<Window<Key>>,
        now: Timestamp,
    ) -> Result<Page<Addressed>> {
        let nothing = Page { records: Vec::new(), total: 0 };
        if asked.numbers.is_empty() {
            return Ok(nothing);
        }
        let rowless = self.rowless(asked).await?;
        let Some((mut found, mut values)) = self.with_rows(asked, now).await? else { return Ok(nothing) };
        if !rowless.is_empty() {
            let (select, more) = self.keys(rowless.keys()).select(values.len() + 1);
            found += &format!(" UNION SELECT send_id, ordinal FROM {select} AS rowless");
            values.extend(more);
        }
        let count = format!("SELECT COUNT(*) FROM ({found}) AS found");
        let total = self.store.count(count, values.clone()).await?;
        let window = window.into();
        let limit = window.limit;
        let (offset, after) = window.parts();
        if offset >= total {
            return Ok(Page { records: Vec::new(), total });
        }
        let mut sql = format!("SELECT send_id, ordinal FROM ({found}) AS found");
        if let Some(Key { send_id, ordinal }) = after {
            let (id, place) = (values.len() + 1, values.len() + 2);
            sql += &format!(" WHERE send_id < ${id} OR (send_id = ${id} AND ordinal > ${place})");
            values.extend([send_id.into(), signed(ordinal).into()]);
        }
        let (most, skipped) = (values.len() + 1, values.len() + 2);
        sql += &format!(" ORDER BY send_id DESC, ordinal LIMIT ${most} OFFSET ${skipped}");
        values.extend([signed(limit).into(), signed(offset).into()]);
        let keys = fetch(&self.store.read, sql, values).await?.into_iter().map(key).collect();
        let mut records = self.addressed(keys, rowless).await?;
        // A message may have got its row, and another state, since it was found without one.
        records.retain(|found| asked.state.is_none_or(|state| found.message.outcome.state == state));
        Ok(Page { records, total })
    }

    /// The latest messages of the company's accepted sends to a group through a channel, those of later sends first, at most
    /// `limit`; with `to`, only those of sends that were accepted before.
    pub async fn to_group(
        self,
        channel: Uuid,
        group: &str,
        to: Option<Timestamp>,
        limit: u64,
    ) -> Result<Vec<Addressed>> {
        // Nothing else of a content reads like this: quotation marks in texts have a backslash before them.
        let named = like_anywhere(&format!("\"group\":\"{group}\""));
        let mut values: Vec<Value> =
            vec![self.company.into(), channel.into(), named.into(), signed(limit).into()];
        let mut earlier = "";
        if let Some(to) = to {
            values.push(first_id_at(to).into());
            earlier = " AND id < $5";
        }
        let latest = format!(
            "company_id = $1 AND channel_id = $2 AND recipient = {GROUP} AND content LIKE $3 ESCAPE '\\' \
             AND state > {resolving}{earlier} ORDER BY id DESC LIMIT $4",
            resolving = State::Resolving.as_i16(),
        );
        let (mut keys, mut rowless) = (Vec::new(), HashMap::new());
        for open in self.open_sends(&latest, values).await? {
            let key = Key { send_id: open.send_id, ordinal: 0 };
            keys.push(key);
            rowless.insert(key, open.message(Position { ordinal: 0, recipient: None }));
        }
        self.addressed(keys, rowless).await
    }

    /// A statement for the keys of the messages that have rows, and its parameters; `None` when the company has no send
    /// from that time.
    async fn with_rows(self, asked: &ToPerson, now: Timestamp) -> Result<Option<(String, Vec<Value>)>> {
        let ends = "SELECT (SELECT id FROM send WHERE company_id = $1 ORDER BY id LIMIT 1), \
                    (SELECT id FROM send WHERE company_id = $1 ORDER BY id DESC LIMIT 1)";
        let ends =
            fetch_one::<(Option<Uuid>, Option<Uuid>)>(&self.store.read, ends, [self.company.into()]).await?;
        let Some((Some(first), Some(last))) = ends else { return Ok(None) };
        let (from, to) = asked.sends.ids();
        let (first, last) = (from.map_or(first, |from| first.max(from)), to.map_or(last, |to| last.min(to)));
        let (of_send, mut values) = asked.sends.condition(self.company, now);
        let (begin, end) = (values.len() + 1, values.len() + 2);
        values.extend([span(first).into(), span(last).into()]);
        let state = asked.state.map(|state| format!(" AND message.state = {}", state.as_i16()));
        let sql = format!(
            "SELECT message.send_id, message.ordinal FROM {spans} AS span CROSS JOIN message \
             WHERE {hours} = span.hours AND message.recipient IN ({numbers}) AND message.company_id = $1{state} \
             AND EXISTS (SELECT 1 FROM send WHERE send.id = message.send_id AND {of_send})",
            spans = self.store.spans(begin, end),
            hours = self.store.hours_of("message.send_id"),
            numbers = listed(&asked.numbers),
            state = state.unwrap_or_default(),
        );
        Ok(Some((sql, values)))
    }

    /// The matching messages that have no rows.
    async fn rowless(self, asked: &ToPerson) -> Result<HashMap<Key, Message>> {
        use State::{Active, Canceled, Expired};
        let ends = [Active, Canceled, Expired].map(|state| [state.of_reserved(), state.of_unattempted()]);
        if asked.state.is_some_and(|state| !ends.concat().contains(&state)) {
            return Ok(HashMap::new());
        }
        let may_be = format!(
            "settled < recipients AND (recipient IS NULL OR recipient IN ({}))",
            listed(&asked.numbers)
        );
        let mut found = HashMap::new();
        for of_send in [
            format!("{ALIVE} AND state = {} AND {may_be}", Active.as_i16()),
            format!("company_id = $1 AND state > {} AND {may_be}", State::Finished.as_i16()),
        ] {
            let (condition, values) = asked.sends.narrow(of_send, vec![self.company.into()]);
            for open in self.open_sends(&condition, values).await? {
                for position in self.positions(&open, &asked.numbers).await? {
                    let message = open.message(position);
                    if asked.state.is_none_or(|state| state == message.outcome.state) {
                        let key = Key { send_id: open.send_id, ordinal: position.ordinal };
                        found.insert(key, message);
                    }
                }
            }
        }
        if found.is_empty() {
            return Ok(found);
        }
        let (asked, values) = self.keys(found.keys()).select(1);
        let sql = format!(
            "SELECT send_id, ordinal FROM message \
             WHERE (send_id, ordinal) IN (SELECT send_id, ordinal FROM {asked} AS asked)"
        );
        for row in fetch(&self.store.read, sql, values).await? {
            found.remove(&key(row));
        }
        Ok(found)
    }

    /// The sends that the end of a statement chooses, after `WHERE`.
    async fn open_sends(self, chosen: &str, values: Vec<Value>) -> Result<Vec<OpenSend>> {
        let sql =
            format!("SELECT id, recipient, state, high_water, settled, recipients FROM send WHERE {chosen}");
        fetch(&self.store.read, sql, values).await?.into_iter().map(OpenSend::read).collect()
    }

    /// Where these numbers are among the recipients of a send whose messages may have no rows.
    async fn positions(self, open: &OpenSend, numbers: &[PhoneNumber]) -> Result<Vec<Position>> {
        if let Some(stored) = open.recipient {
            return Ok(vec![Position { ordinal: 0, recipient: super::super::recipient(stored)? }]);
        }
        let mut found = Vec::new();
        for number in numbers {
            let (mut low, mut high) = (open.settled, open.recipients);
            while low < high {
                let middle = low + (high - low) / 2;
                let (first, block) = self.store.sends().block_at(open.send_id, middle).await?;
                let (Some(least), Some(greatest)) = (block.first(), block.last()) else { break };
                if number < least {
                    high = first;
                } else if number > greatest {
                    low = first + block.len() as u64;
                } else {
                    if let Ok(place) = block.binary_search(number) {
                        let ordinal = first + place as u64;
                        found.push(Position { ordinal, recipient: Some(*number) });
                    }
                    break;
                }
            }
        }
        Ok(found)
    }

    /// These messages, in this order. One whose send was removed meanwhile is left out.
    async fn addressed(self, keys: Vec<Key>, mut rowless: HashMap<Key, Message>) -> Result<Vec<Addressed>> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let (asked, values) = self.keys(keys.iter()).select(1);
        let sql = format!(
            "SELECT {COLUMNS}, send_id FROM message \
             WHERE (send_id, ordinal) IN (SELECT send_id, ordinal FROM {asked} AS asked)"
        );
        let mut rows = HashMap::with_capacity(keys.len());
        for row in self.store.rows(sql, values.clone()).await? {
            let (message, send_id) = (message(&row)?, row.try_get_by_index(10)?);
            rows.insert(Key { send_id, ordinal: message.outcome.position.ordinal }, message);
        }
        let sql = format!(
            "SELECT send_id, ordinal, reference FROM message_reference \
             WHERE (send_id, ordinal) IN (SELECT send_id, ordinal FROM {asked} AS asked)"
        );
        let mut names = HashMap::new();
        for (send_id, ordinal, name) in fetch::<(Uuid, i64, String)>(&self.store.read, sql, values).await? {
            names.insert(key((send_id, ordinal)), name);
        }
        let distinct: HashSet<Uuid> = keys.iter().map(|key| key.send_id).collect();
        let columns = [send::Column::Id, send::Column::ChannelId, send::Column::Reference];
        let sends = send::Entity::find().select_only().columns(columns);
        let sends = sends.filter(self.store.among(send::Column::Id, &distinct));
        let sends = sends.into_tuple::<(Uuid, Uuid, Option<String>)>().all(&self.store.read).await?;
        let sends: HashMap<_, _> =
            sends.into_iter().map(|(id, channel, text)| (id, (channel, text))).collect();
        let addressed = keys.into_iter().filter_map(|key| {
            let message = rows.remove(&key).or_else(|| rowless.remove(&key))?;
            let (channel_id, reference) = sends.get(&key.send_id)?.clone();
            let message_reference = names.remove(&key);
            Some(Addressed { send_id: key.send_id, channel_id, reference, message, message_reference })
        });
        Ok(addressed.collect())
    }

    /// These keys as rows of a sub-select.
    fn keys<'k>(self, keys: impl Iterator<Item = &'k Key>) -> Rows {
        let mut rows = Rows::new(self.store.backend, KEYS);
        keys.for_each(|key| rows.push([key.send_id.into(), signed(key.ordinal).into()]));
        rows
    }
}
