//! Writes entries of the log, each in the transaction of its change.

use std::collections::BTreeMap;

use entity::channel::ActiveModel;
use sea_orm::{ActiveEnum as _, ActiveValue, ConnectionTrait, DbBackend, Value};
use uuid::Uuid;

use super::LOCK;
use crate::dialect::{Bulk, Cell, Incoming, Rows, Type};
use crate::nouns::EventLog;
use crate::sends::key;
use crate::sends::reschedule::takes_marks;
use crate::{Error, Result, fetch, fetch_one};
use clock::Timestamp;
use domain::channel::{self, Status};
use domain::event::is_told;
use domain::event::log::{Fact, LogEntry, Moved, Why, pack};
use domain::message::{Key, State};
use domain::send;

/// What a block takes besides its entries, in bytes: its row and its places in the indexes.
const ROW: i64 = 120;
/// The most entries of a block: what is read at once.
const BLOCK: usize = 4_096;
const COLUMNS: &[(&str, Type)] =
    &[("company_id", Type::Uuid), ("entries", Type::Int), ("bytes", Type::Int), ("packed", Type::Bytes)];
const SEND: &[(&str, Type)] = &[("id", Type::Uuid), ("state", Type::Int)];

/// What a statement that moves messages yields of each that it moved.
const RETURNED: &str = " RETURNING message.send_id, message.ordinal, message.company_id, message.state";

/// A message that a statement moved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MovedRow {
    pub(crate) key: Key,
    pub(crate) company_id: Uuid,
    pub(crate) state: State,
}

/// The states that have no event, as SQL.
pub(crate) fn untold_states() -> String {
    let untold = State::ALL.into_iter().filter(|state| !is_told(*state));
    untold.map(|state| state.as_i16().to_string()).collect::<Vec<_>>().join(", ")
}

impl EventLog<'_> {
    /// Like [`Store::write`](crate::Store::write), for statements that move messages. Returns those that moved: what a row
    /// was before, another node may have changed meanwhile, but what the statement made of it is sure.
    pub(crate) async fn moving(
        self,
        to: &impl ConnectionTrait,
        rows: Bulk,
        own: Vec<Value>,
        sql: impl Fn(&str, usize) -> String,
    ) -> Result<Vec<MovedRow>> {
        let mut moved = Vec::new();
        for Incoming { select, mut values, next } in rows.into_statements() {
            values.extend_from_slice(&own);
            let rows = fetch(to, sql(&select, next) + RETURNED, values).await?;
            for (send_id, ordinal, company_id, state) in rows {
                let (key, state) = (key((send_id, ordinal)), crate::sends::state(state)?);
                moved.push(MovedRow { key, company_id, state });
            }
        }
        // The database yields them in any order.
        moved.sort_unstable_by_key(|row| (row.key.send_id, row.key.ordinal));
        Ok(moved)
    }

    /// Tells of messages that moved, at the time of each.
    pub(crate) async fn tell_moved(
        self,
        to: &impl ConnectionTrait,
        moved: &[MovedRow],
        at: impl Fn(&MovedRow) -> Timestamp,
        now: Timestamp,
    ) -> Result<()> {
        let told = moved.iter().filter(|row| is_told(row.state)).map(|row| {
            let MovedRow { key, company_id, state } = *row;
            (company_id, LogEntry::Message(Moved { key, state, at: at(row) }))
        });
        self.tell(to, told, now).await
    }

    /// Tells of the waiting messages of a send that ends: those that never started take the state `end`, the others are
    /// unknown, which those that were unknown before had told. Their rows are locked from now on.
    pub(crate) async fn tell_ended_messages(
        self,
        to: &impl ConnectionTrait,
        send_id: Uuid,
        end: State,
        now: Timestamp,
    ) -> Result<()> {
        if !self.is_read(to).await? {
            return Ok(());
        }
        let sql = format!(
            "SELECT message.ordinal, send.company_id, message.state FROM message \
             JOIN send ON send.id = message.send_id \
             WHERE message.send_id = $1 AND message.retry_at IS NOT NULL ORDER BY message.ordinal{}",
            self.store.locking_of("message")
        );
        let mut told = Vec::new();
        for (ordinal, company_id, state) in fetch(to, sql, [send_id.into()]).await? {
            let state = match crate::sends::state(state)? {
                State::Unknown => continue,
                State::Queued => end,
                _ => State::Unknown,
            };
            let key = key((send_id, ordinal));
            told.push((company_id, LogEntry::Message(Moved { key, state, at: now })));
        }
        self.tell(to, told, now).await
    }

    /// Tells of each of these sends that ends in this state. Called before they end, with their rows locked.
    pub(crate) async fn tell_ends(
        self,
        to: &impl ConnectionTrait,
        sends: impl Iterator<Item = (Uuid, send::State)>,
        now: Timestamp,
    ) -> Result<()> {
        let mut rows = Rows::new(self.store.backend, SEND);
        for (send_id, state) in sends.filter(|(_, state)| state.is_over()) {
            rows.push([send_id.into(), i64::from(state.as_i16()).into()]);
        }
        if rows.is_empty() || !self.hears_ends(to).await? {
            return Ok(());
        }
        let (ending, mut values) = rows.select(1);
        values.push(now.millis().into());
        let sql = format!(
            "SELECT send.company_id, send.id, send.channel_id, CAST(ending.state AS BIGINT), send.recipients \
             FROM {ending} AS ending JOIN send ON send.id = ending.id AND send.state = {} AND {} ORDER BY send.id",
            send::State::Active.as_i16(),
            takes_marks(values.len())
        );
        self.tell_sends(to, sql, values, now).await
    }

    /// Tells of a send that the previous statement ended.
    pub(crate) async fn tell_end(
        self,
        to: &impl ConnectionTrait,
        send_id: Uuid,
        now: Timestamp,
    ) -> Result<()> {
        if !self.hears_ends(to).await? {
            return Ok(());
        }
        let sql =
            "SELECT company_id, id, channel_id, CAST(state AS BIGINT), recipients FROM send WHERE id = $1";
        self.tell_sends(to, sql.to_owned(), vec![send_id.into()], now).await
    }

    async fn tell_sends(
        self,
        to: &impl ConnectionTrait,
        sql: String,
        values: Vec<Value>,
        now: Timestamp,
    ) -> Result<()> {
        let mut told = Vec::new();
        let ended = fetch::<(Uuid, Uuid, Uuid, i64, i64)>(to, sql, values).await?;
        for (company_id, send_id, channel_id, state, recipients) in ended {
            let state = i16::try_from(state).ok().and_then(send::State::from_i16);
            let state = state.ok_or_else(|| Error::Impossible("a send in no known state".to_owned()))?;
            let fact = Fact::of_send((send_id, channel_id), state, recipients.cast_unsigned(), now);
            told.push((company_id, LogEntry::Fact(fact)));
        }
        self.tell(to, told, now).await
    }

    /// Tells if these changes give the channel another status, or another reason for it. Called before the change.
    pub(crate) async fn tell_channel(
        self,
        to: &impl ConnectionTrait,
        id: Uuid,
        changes: &ActiveModel,
    ) -> Result<()> {
        let (ActiveValue::Set(status), ActiveValue::Set(code)) = (&changes.status, &changes.status_code)
        else {
            return Ok(());
        };
        if !self.hears_facts(to).await? {
            return Ok(());
        }
        let word = status.to_value();
        let sql = "SELECT company_id FROM channel WHERE id = $1 AND (status <> $2 OR COALESCE(status_code, '') <> $3)";
        let values: [Value; 3] = [id.into(), word.clone().into(), code.clone().unwrap_or_default().into()];
        let Some(company_id) = fetch_one(to, sql, values).await? else { return Ok(()) };
        let now = Timestamp::now();
        let since = changes.status_since.try_as_ref().copied().map_or(now, Timestamp::from_millis);
        let reason = code.as_ref().map(|code| Why {
            code: code.clone(),
            sentence: changes.status_sentence.try_as_ref().cloned().flatten().unwrap_or_default(),
            provider_code: changes.status_provider_code.try_as_ref().copied().flatten(),
        });
        let status =
            word.parse().map_err(|_| Error::Impossible(format!("{word} is no status of a channel")))?;
        let fact = Fact::of_channel(id, status, reason, since);
        self.tell(to, [(company_id, LogEntry::Fact(fact))], now).await
    }

    /// Tells of each connected web session with keys that it becomes `connecting`. Called before the change.
    pub(crate) async fn tell_resumed(self, to: &impl ConnectionTrait, now: Timestamp) -> Result<()> {
        if !self.is_read(to).await? {
            return Ok(());
        }
        let sql = "SELECT company_id, id FROM channel WHERE status = $1 AND kind = $2 \
                   AND EXISTS (SELECT 1 FROM web_session_record WHERE web_session_record.channel_id = channel.id) \
                   ORDER BY id";
        let values = [Status::Connected.as_str().into(), channel::Kind::WebSession.as_str().into()];
        let resumed = fetch(to, sql, values).await?.into_iter();
        let fact = |id| LogEntry::Fact(Fact::of_channel(id, Status::Connecting, None, now));
        self.tell(to, resumed.map(|(company_id, id)| (company_id, fact(id))), now).await
    }

    /// Tells facts of a company. The rows that they are about are locked.
    pub(crate) async fn tell_facts(
        self,
        to: &impl ConnectionTrait,
        company_id: Uuid,
        facts: Vec<Fact>,
        now: Timestamp,
    ) -> Result<()> {
        if facts.is_empty() || !self.hears_facts(to).await? {
            return Ok(());
        }
        self.tell(to, facts.into_iter().map(|fact| (company_id, LogEntry::Fact(fact))), now).await
    }

    /// Tells what the provider said to a company, which changes nothing here.
    pub async fn tell_said(self, company_id: Uuid, said: Vec<Fact>) -> Result<()> {
        if said.is_empty() || !self.hears_facts(&self.store.read).await? {
            return Ok(());
        }
        let transaction = self.store.begin().await?;
        self.tell_facts(&transaction, company_id, said, Timestamp::now()).await?;
        transaction.commit().await?;
        self.store.tell_of_events();
        Ok(())
    }

    /// Writes entries, each of a company, in their order. Those that no reader wants are left out.
    pub(crate) async fn tell(
        self,
        to: &impl ConnectionTrait,
        entries: impl IntoIterator<Item = (Uuid, LogEntry)>,
        now: Timestamp,
    ) -> Result<()> {
        let mut by_company = BTreeMap::<Uuid, Vec<LogEntry>>::new();
        {
            // By what was found when the caller asked who reads.
            let known = self.store.pools.log.known.lock();
            for (company_id, entry) in entries {
                if known.want(company_id, &entry) {
                    by_company.entry(company_id).or_default().push(entry);
                }
            }
        }
        let mut rows = self.no_blocks();
        for (company_id, entries) in &by_company {
            entries.chunks(BLOCK).for_each(|block| push(&mut rows, *company_id, block));
        }
        self.add_blocks(to, rows, now).await
    }

    const fn no_blocks(self) -> Bulk {
        Bulk::new(self.store.backend, COLUMNS)
    }

    /// Adds a block without entries to a company's log.
    pub(super) async fn add_empty_block(
        self,
        to: &impl ConnectionTrait,
        company_id: Uuid,
        now: Timestamp,
    ) -> Result<()> {
        let mut rows = self.no_blocks();
        push(&mut rows, company_id, &[]);
        self.add_blocks(to, rows, now).await
    }

    async fn add_blocks(self, to: &impl ConnectionTrait, rows: Bulk, now: Timestamp) -> Result<()> {
        let (one, two) = LOCK;
        let locked = match self.store.backend {
            DbBackend::Postgres => {
                format!(" CROSS JOIN (SELECT pg_advisory_xact_lock_shared({one}, {two})) AS locked")
            }
            _ => String::new(),
        };
        let insert = |incoming: &str, now| {
            format!(
                "INSERT INTO event_block (company_id, entries, bytes, packed, written_at) \
                 SELECT incoming.company_id, incoming.entries, incoming.bytes, incoming.packed, ${now} \
                 FROM {incoming} AS incoming{locked}"
            )
        };
        self.store.write(to, rows, vec![now.millis().into()], insert).await?;
        Ok(())
    }
}

fn push(rows: &mut Bulk, company_id: Uuid, block: &[LogEntry]) {
    let packed = pack(block);
    let (entries, bytes) = (block.len() as i64, packed.len() as i64 + ROW);
    rows.push([company_id.into(), entries.into(), bytes.into(), Cell::Bytes(&packed)]);
}
