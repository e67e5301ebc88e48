//! Reads the log in the form in which events are told.

use std::collections::{BTreeMap, HashMap, HashSet};

use entity::event_block::{Column, Entity};
use entity::send;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QueryResult, QuerySelect, QueryTrait};
use uuid::Uuid;

use super::Reader;
use crate::dialect::{Rows, Type};
use crate::nouns::EventLog;
use crate::sends::{GROUP, key, state};
use crate::{Result, fetch};
use clock::Timestamp;
use domain::content::Stored;
use domain::event::log::{Fact, FactKind, LogEntry, Moved, Sequence, unpack};
use domain::event::{self, Data, ErrorData, Event, EventPlace, LostData, MessageData};
use domain::message::{Key, State};
use domain::phone::PhoneNumber;
use domain::request::GROUP_SUFFIX;

/// The most blocks that are read at once.
const BLOCKS: u32 = 200;
/// The least entries that are read at once. Those that nobody wants cost little.
const ENTRIES: u64 = 4_096;
const KEY: &[(&str, Type)] = &[("send_id", Type::Uuid), ("ordinal", Type::Int)];

/// A part of the log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// The events, in their order.
    pub told: Vec<LogEvent>,
    /// How far this part goes: the next one begins after it.
    pub next: Sequence,
    /// Whether there is more in the log now.
    pub more: bool,
    /// The company's log begins after this place, which is later than what was asked for: nothing was read.
    pub begins_after: Option<Sequence>,
}

/// An event of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEvent {
    /// Its place.
    pub sequence: Sequence,
    /// The event; `None` for an entry that this program cannot read, or whose message is no longer in the ledger.
    pub event: Option<Event>,
}

/// What a message's events tell besides its state.
struct MessageDetails {
    company_id: Uuid,
    channel_id: Uuid,
    reference: Option<String>,
    message_reference: Option<String>,
    recipient: String,
    state: State,
    provider_message_id: Option<String>,
    error: Option<ErrorData>,
}

/// An entry that was read, with its company.
pub(super) type FoundEntry = (Sequence, Uuid, Option<LogEntry>);

impl EventLog<'_> {
    /// At most `limit` events after `after` and up to the block `through`, as [`settled`](EventLog::settle), of the
    /// types that are wanted: of one company, or with the losses of each of all.
    pub async fn read(
        self,
        company: Option<Uuid>,
        (after, through): (Sequence, i64),
        limit: usize,
        wants: impl Fn(event::Type) -> bool,
    ) -> Result<Page> {
        let page = self.read_kept(company, (after, through), limit, wants).await?;
        let Some(company) = company else { return Ok(page) };
        // After the blocks: what was removed before they were read is known here.
        let begins_after = self.begins_after(company).await?.filter(|begin| *begin > after);
        if begins_after.is_some() {
            return Ok(Page { next: after, begins_after, ..Page::default() });
        }
        Ok(page)
    }

    /// Like [`EventLog::read`], for a reader whose place is its own, such as a webhook endpoint: where the log begins for
    /// the company's programs is of no concern to it, and what was removed is skipped.
    pub async fn read_kept(
        self,
        company: Option<Uuid>,
        (after, through): (Sequence, i64),
        limit: usize,
        wants: impl Fn(event::Type) -> bool,
    ) -> Result<Page> {
        let blocks = |through: i64| {
            Entity::find()
                .filter(Column::Seq.gte(after.block()))
                .filter(Column::Seq.lte(through))
                .apply_if(company, |blocks, company| blocks.filter(Column::CompanyId.eq(company)))
                .order_by_asc(Column::Seq)
                .limit(u64::from(BLOCKS))
                .select_only()
        };
        // Without their entries first, so that only the blocks are read that the limit needs.
        let sizes = blocks(through).columns([Column::Seq, Column::Entries]).into_tuple::<(i64, i64)>();
        let sizes = sizes.all(&self.store.read).await?;
        let (mut enough, mut entries) = (through, 0);
        for &(block, size) in &sizes {
            entries += if block == after.block() { 0 } else { size.unsigned_abs() };
            if entries > (limit as u64).max(ENTRIES) {
                enough = block;
                break;
            }
        }
        let rows = blocks(enough).columns([Column::Seq, Column::CompanyId, Column::Packed]);
        let rows = rows.into_tuple::<(i64, Uuid, Vec<u8>)>().all(&self.store.read).await?;
        let is_last = sizes.len() < BLOCKS as usize && enough == through;
        let mut losses = match company {
            Some(_) => BTreeMap::new(),
            None => self.losses(after).await?,
        };
        let (mut found, mut told, mut next) = (Vec::<FoundEntry>::new(), Vec::new(), after);
        let mut is_full = false;
        'blocks: for (block, company_id, packed) in rows {
            let later = losses.split_off(&(block, Uuid::nil()));
            told.extend(std::mem::replace(&mut losses, later).into_values());
            for (place, entry) in unpack(&packed).into_iter().enumerate() {
                let sequence = Sequence::new(block, place);
                if sequence <= after {
                    continue;
                }
                if found.len() >= limit {
                    is_full = true;
                    break 'blocks;
                }
                next = sequence;
                let is_wanted = entry.as_ref().is_none_or(|entry| entry.r#type().is_none_or(&wants));
                if is_wanted {
                    found.push((sequence, company_id, entry));
                }
            }
            next = next.max(Sequence::end_of(block));
        }
        if is_last && !is_full {
            next = next.max(Sequence::end_of(through));
            told.extend(losses.into_values());
        }
        told.extend(self.render(found).await?);
        told.sort_by_key(|told| told.sequence);
        Ok(Page { told, next, more: is_full || !is_last, begins_after: None })
    }

    /// Where the log of a company begins, if its programs read it.
    async fn begins_after(self, company: Uuid) -> Result<Option<Sequence>> {
        let reader = Reader::Company(company).row().one(&self.store.read).await?;
        Ok(reader.map(|reader| Sequence::from_i64(reader.sequence)))
    }

    /// The losses after this place, by the block up to which they go.
    async fn losses(self, after: Sequence) -> Result<BTreeMap<(i64, Uuid), LogEvent>> {
        let sql = "SELECT company_id, through, events, first_at, last_at FROM event_loss WHERE through > $1";
        type Columns = (Uuid, i64, i64, i64, i64);
        let rows = fetch::<Columns>(&self.store.read, sql, [(after.block() - 1).into()]).await?;
        let losses = rows.into_iter().map(|(company_id, through, count, first, last)| {
            let [since, at] = [first, last].map(Timestamp::from_millis);
            let data = LostData { count: count.cast_unsigned(), since };
            let sequence = Sequence::end_of(through);
            let event = Some(Event::of_loss(company_id, sequence, at, data));
            ((through, company_id), LogEvent { sequence, event })
        });
        Ok(losses.filter(|(_, told)| told.sequence > after).collect())
    }

    /// The events of these entries.
    pub(super) async fn render(self, found: Vec<FoundEntry>) -> Result<Vec<LogEvent>> {
        let keys = found.iter().filter_map(|(_, _, entry)| match entry {
            Some(LogEntry::Message(moved)) => Some(moved.key),
            _ => None,
        });
        let messages = self.messages(keys.collect()).await?;
        let sends = found.iter().filter_map(|(_, _, entry)| match entry {
            Some(LogEntry::Fact(Fact { what: FactKind::Send { id, .. }, .. })) => Some(*id),
            _ => None,
        });
        let references = self.references(sends.collect()).await?;
        let told = found.into_iter().map(|(sequence, company_id, entry)| {
            let event = match entry {
                Some(LogEntry::Fact(fact)) => {
                    let mut event = Event::of_fact(company_id, sequence, fact);
                    if let Some(Event { data: Data::Send(send), .. }) = &mut event {
                        send.reference = references.get(&send.send_id).cloned();
                    }
                    event
                }
                Some(LogEntry::Message(moved)) => messages
                    .get(&moved.key)
                    .filter(|message| message.company_id == company_id)
                    .and_then(|message| message.told(sequence, moved)),
                None => {
                    tracing::error!(sequence = sequence.as_i64(), "an event cannot be read");
                    None
                }
            };
            LogEvent { sequence, event }
        });
        Ok(told.collect())
    }

    async fn messages(self, keys: HashSet<Key>) -> Result<HashMap<Key, MessageDetails>> {
        if keys.is_empty() {
            return Ok(HashMap::new());
        }
        let mut asked = Rows::new(self.store.backend, KEY);
        keys.iter().for_each(|key| asked.push([key.send_id.into(), key.ordinal.cast_signed().into()]));
        let (asked, values) = asked.select(1);
        let sql = format!(
            "SELECT message.send_id, message.ordinal, send.company_id, send.channel_id, message.recipient, \
             message.state, message.provider_message_id, message.error_code, message.error, \
             CASE WHEN message.recipient = {GROUP} THEN send.content END, send.reference, own.reference \
             FROM {asked} AS asked \
             JOIN message ON message.send_id = asked.send_id AND message.ordinal = asked.ordinal \
             JOIN send ON send.id = message.send_id \
             LEFT JOIN message_reference AS own ON own.send_id = message.send_id AND own.ordinal = message.ordinal"
        );
        self.store.rows(sql, values).await?.iter().map(message).collect()
    }

    /// The callers' references of those of these sends that have one.
    async fn references(self, sends: HashSet<Uuid>) -> Result<HashMap<Uuid, String>> {
        if sends.is_empty() {
            return Ok(HashMap::new());
        }
        let asked = send::Entity::find().filter(self.store.among(send::Column::Id, &sends));
        let named = asked.filter(send::Column::Reference.is_not_null()).select_only();
        let named = named.columns([send::Column::Id, send::Column::Reference]).into_tuple::<(Uuid, String)>();
        Ok(named.all(&self.store.read).await?.into_iter().collect())
    }
}

fn message(row: &QueryResult) -> Result<(Key, MessageDetails)> {
    let key = key((row.try_get_by_index(0)?, row.try_get_by_index(1)?));
    let (code, sentence): (Option<i64>, Option<String>) =
        (row.try_get_by_index(7)?, row.try_get_by_index(8)?);
    let content: Option<String> = row.try_get_by_index(9)?;
    let has_error = code.is_some() || sentence.is_some();
    let message = MessageDetails {
        company_id: row.try_get_by_index(2)?,
        channel_id: row.try_get_by_index(3)?,
        reference: row.try_get_by_index(10)?,
        message_reference: row.try_get_by_index(11)?,
        recipient: shown(row.try_get_by_index(4)?, content.as_deref()),
        state: state(row.try_get_by_index(5)?)?,
        provider_message_id: row.try_get_by_index(6)?,
        error: has_error.then(|| ErrorData { code, message: sentence.unwrap_or_default() }),
    };
    Ok((key, message))
}

impl MessageDetails {
    /// The event of a state that the message reached. The error is that of the message's present state.
    fn told(&self, sequence: Sequence, moved: Moved) -> Option<Event> {
        let r#type = event::Type::of_message(moved.state)?;
        let Key { send_id, ordinal } = moved.key;
        let data = MessageData {
            send_id,
            reference: self.reference.clone(),
            message_reference: self.message_reference.clone(),
            ordinal,
            recipient: self.recipient.clone(),
            provider_message_id: self.provider_message_id.clone(),
            error: self.error.clone().filter(|_| moved.state == self.state),
        };
        let channel_id = Some(self.channel_id);
        let place = EventPlace { company_id: self.company_id, channel_id, sequence };
        Some(Event::of_message(place, r#type, moved.at, data))
    }
}

/// The recipient as the API writes it. A group's name is in the content of its send.
fn shown(recipient: i64, content: Option<&str>) -> String {
    match PhoneNumber::from_i64(recipient) {
        Some(number) => format!("+{number}"),
        None => {
            let content: Option<Stored> = content.and_then(|content| serde_json::from_str(content).ok());
            let group = content.and_then(|content| content.group).unwrap_or_default();
            format!("{group}{GROUP_SUFFIX}")
        }
    }
}
