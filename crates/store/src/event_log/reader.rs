//! Who reads the log, and how far. The webhook endpoints of a company read its log, too, each with a place of its own.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use sea_orm::ConnectionTrait;
use uuid::Uuid;

use crate::nouns::EventLog;
use crate::{Result, execute, fetch, fetch_one};
use clock::Timestamp;
use domain::event::log::Sequence;

/// How long a process relies on what it knows of the readers.
const KNOWN_FOR: Duration = Duration::from_secs(1);
/// How often the use of a reader is written.
const USED_EVERY: Duration = Duration::from_secs(60 * 60);

/// A reader with a place of its own in the log, besides webhook endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// The stream outside, which has the events of every company.
    Nats,
    /// A company's programs that ask for its events.
    Company(Uuid),
}

/// What a reader has not read yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Behind {
    /// Events.
    pub events: u64,
    /// When the oldest was written.
    pub oldest: Option<Timestamp>,
}

/// The companies whose events are written.
#[derive(Debug, Default)]
pub(super) struct KnownReaders {
    read_at: Option<Instant>,
    /// Rises with each change that this process makes.
    generation: u64,
    /// Those of every company.
    all: bool,
    companies: HashSet<Uuid>,
}

impl KnownReaders {
    /// This process changed who reads.
    const fn change(&mut self) {
        self.read_at = None;
        self.generation += 1;
    }

    fn is_fresh(&self) -> bool {
        self.read_at.is_some_and(|at| at.elapsed() < KNOWN_FOR)
    }
}

impl Reader {
    const fn key(self) -> (&'static str, Uuid) {
        match self {
            Self::Nats => ("nats", Uuid::nil()),
            Self::Company(company) => ("company", company),
        }
    }
}

impl EventLog<'_> {
    /// Whether somebody reads the log of any company. `to` is the transaction of the change.
    pub(crate) async fn is_read(self, to: &impl ConnectionTrait) -> Result<bool> {
        let known = &self.store.pools.log.known;
        let generation = {
            let known = known.lock();
            if known.is_fresh() {
                return Ok(known.all || !known.companies.is_empty());
            }
            known.generation
        };
        let sql = "SELECT company_id FROM event_reader UNION SELECT company_id FROM webhook_endpoint";
        let companies: HashSet<Uuid> = fetch(to, sql, []).await?.into_iter().collect();
        let all = companies.contains(&Uuid::nil());
        let is_read = !companies.is_empty();
        let mut known = known.lock();
        let read_at = (known.generation == generation).then(Instant::now);
        *known = KnownReaders { read_at, generation: known.generation, all, companies };
        Ok(is_read)
    }

    /// Whether this company's events are written, by what [`EventLog::is_read`] found.
    pub(super) fn is_read_of(self, company: Uuid) -> bool {
        let known = self.store.pools.log.known.lock();
        known.all || known.companies.contains(&company)
    }

    /// A reader was added or removed: this process reads them again before its next write.
    pub(crate) fn readers_changed(self) {
        self.store.pools.log.known.lock().change();
    }

    /// A reader begins at the end of the log, or goes on where it was; of a company's programs, which keep their places
    /// themselves, it is where the company's log begins. The changes of other processes are in the log within a second.
    pub async fn register(self, reader: Reader, now: Timestamp) -> Result<Sequence> {
        self.register_at(reader, None, now).await
    }

    /// Like [`EventLog::register`], for a reader that knows where it was.
    pub async fn register_at(
        self,
        reader: Reader,
        place: Option<Sequence>,
        now: Timestamp,
    ) -> Result<Sequence> {
        if let Some(sequence) = self.place_of(reader, now).await? {
            return Ok(sequence);
        }
        let (kind, company) = reader.key();
        let place = match (place, reader) {
            (Some(place), _) => place,
            (None, Reader::Nats) => Sequence::end_of(self.settle().await?.through),
            (None, Reader::Company(_)) => self.beginning(company, now).await?,
        };
        let sql = "INSERT INTO event_reader (kind, company_id, sequence, used_at) VALUES ($1, $2, $3, $4) \
                   ON CONFLICT (kind, company_id) DO NOTHING";
        let values = [kind.into(), company.into(), place.as_i64().into(), now.millis().into()];
        execute(&self.store.write, sql, values).await?;
        self.readers_changed();
        Ok(place)
    }

    /// The end of a block without entries: every place that the company's programs had before is below it, also if nothing
    /// was written since.
    async fn beginning(self, company: Uuid, now: Timestamp) -> Result<Sequence> {
        let transaction = self.store.begin().await?;
        self.add_empty_block(&transaction, company, now).await?;
        let sql = "SELECT MAX(seq) FROM event_block WHERE company_id = $1";
        let block = fetch_one::<Option<i64>>(&transaction, sql, [company.into()]).await?.flatten();
        transaction.commit().await?;
        Ok(Sequence::end_of(block.unwrap_or_default()))
    }

    /// Where the reader is; `None` if it is not registered. Its use is written from time to time.
    pub async fn place_of(self, reader: Reader, now: Timestamp) -> Result<Option<Sequence>> {
        let (kind, company) = reader.key();
        let sql = "SELECT sequence, used_at FROM event_reader WHERE kind = $1 AND company_id = $2";
        let row = fetch_one::<(i64, i64)>(&self.store.read, sql, [kind.into(), company.into()]).await?;
        let Some((sequence, used_at)) = row else { return Ok(None) };
        if now.from_now(Timestamp::from_millis(used_at)) >= USED_EVERY {
            let sql = "UPDATE event_reader SET used_at = $3 WHERE kind = $1 AND company_id = $2";
            let values = [kind.into(), company.into(), now.millis().into()];
            execute(&self.store.write, sql, values).await?;
        }
        Ok(Some(Sequence::from_i64(sequence)))
    }

    /// The reader has read up to there. A place never goes back.
    pub async fn advance(self, reader: Reader, to: Sequence) -> Result<()> {
        let (kind, company) = reader.key();
        let sql =
            "UPDATE event_reader SET sequence = $3 WHERE kind = $1 AND company_id = $2 AND sequence < $3";
        let values = [kind.into(), company.into(), to.as_i64().into()];
        execute(&self.store.write, sql, values).await?;
        Ok(())
    }

    /// The reader reads no more.
    pub async fn forget(self, reader: Reader) -> Result<()> {
        let (kind, company) = reader.key();
        let sql = "DELETE FROM event_reader WHERE kind = $1 AND company_id = $2";
        execute(&self.store.write, sql, [kind.into(), company.into()]).await?;
        self.readers_changed();
        Ok(())
    }

    /// What is in the log after this place, of all companies. Of a block that was read in part, all counts.
    pub async fn behind(self, place: Sequence) -> Result<Behind> {
        let sql = "SELECT CAST(COALESCE(SUM(entries), 0) AS BIGINT), MIN(written_at) FROM event_block WHERE seq > $1";
        let first = if place == Sequence::end_of(place.block()) { place.block() } else { place.block() - 1 };
        let row: Option<(i64, Option<i64>)> = fetch_one(&self.store.read, sql, [first.into()]).await?;
        let (events, oldest) = row.unwrap_or_default();
        Ok(Behind { events: events.cast_unsigned(), oldest: oldest.map(Timestamp::from_millis) })
    }
}
