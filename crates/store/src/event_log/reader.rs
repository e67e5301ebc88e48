//! Who reads the log, and how far. The webhook endpoints of a company read its log, too, each with a place of its own.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use entity::event_block;
use entity::event_reader::{Column, Entity};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect, Select};
use uuid::Uuid;

use crate::nouns::EventLog;
use crate::one_row::{delete_rows, insert_new, update_rows};
use crate::queries::sum_of;
use crate::{Result, fetch};
use clock::Timestamp;
use domain::alert::AlertKind;
use domain::event::log::{LogEntry, Sequence};

/// How long a process relies on what it knows of the readers.
const KNOWN_FOR: Duration = Duration::from_secs(1);
/// How often the use of a reader is written.
const USED_EVERY: Duration = Duration::from_secs(60 * 60);

/// A reader with a place of its own in the log, besides webhook endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// The stream outside, which has the events of every company.
    Nats,
    /// The mails to people, for which alone what [alerts](domain::alert) are about is written, of every company.
    Alerts,
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
    /// Whether people are told of alerts.
    alerts: bool,
    /// The companies of which a person is told of the ends of sends.
    ends: HashSet<Uuid>,
}

/// What of a company's events a reader wants, as [`READERS`] writes it.
const EVERYTHING: i64 = 0;
const ALERTS: i64 = 1;
/// The companies, nil for all of them, with what is wanted.
const READERS: &str = "SELECT company_id, CAST(CASE kind WHEN 'alerts' THEN 1 ELSE 0 END AS BIGINT) FROM event_reader \
                       UNION SELECT company_id, CAST(0 AS BIGINT) FROM webhook_endpoint \
                       UNION SELECT company_id, CAST(2 AS BIGINT) FROM alert_subscription \
                       WHERE kind = 'send' AND wanted = 1";

impl KnownReaders {
    /// This process changed who reads.
    const fn change(&mut self) {
        self.read_at = None;
        self.generation += 1;
    }

    fn of(rows: Vec<(Uuid, i64)>) -> Self {
        let mut known = Self::default();
        for (company, wanted) in rows {
            match wanted {
                ALERTS => known.alerts = true,
                EVERYTHING if company.is_nil() => known.all = true,
                EVERYTHING => {
                    known.companies.insert(company);
                }
                _ => {
                    known.ends.insert(company);
                }
            }
        }
        known
    }

    fn is_read(&self) -> bool {
        self.all || !self.companies.is_empty()
    }

    /// Whether this entry is written.
    pub(super) fn want(&self, company: Uuid, entry: &LogEntry) -> bool {
        if self.all || self.companies.contains(&company) {
            return true;
        }
        let LogEntry::Fact(fact) = entry else { return false };
        self.alerts
            && match fact.alert() {
                Some((AlertKind::Send, _)) => self.ends.contains(&company),
                alert => alert.is_some(),
            }
    }

    fn is_fresh(&self) -> bool {
        self.read_at.is_some_and(|at| at.elapsed() < KNOWN_FOR)
    }
}

impl Reader {
    pub(crate) const fn key(self) -> (&'static str, Uuid) {
        match self {
            Self::Nats => ("nats", Uuid::nil()),
            Self::Alerts => ("alerts", Uuid::nil()),
            Self::Company(company) => ("company", company),
        }
    }

    pub(super) fn row(self) -> Select<Entity> {
        let (kind, company) = self.key();
        Entity::find_by_id((kind.to_owned(), company))
    }
}

impl EventLog<'_> {
    /// Whether somebody reads everything in the log of any company. `to` is the transaction of the change.
    pub(crate) async fn is_read(self, to: &impl ConnectionTrait) -> Result<bool> {
        self.ask_readers(to, KnownReaders::is_read).await
    }

    /// The same of facts, some of which people are told by mail.
    pub(crate) async fn hears_facts(self, to: &impl ConnectionTrait) -> Result<bool> {
        self.ask_readers(to, |known| known.is_read() || known.alerts).await
    }

    /// The same of the ends of sends.
    pub(crate) async fn hears_ends(self, to: &impl ConnectionTrait) -> Result<bool> {
        self.ask_readers(to, |known| known.is_read() || known.alerts && !known.ends.is_empty()).await
    }

    async fn ask_readers(
        self,
        to: &impl ConnectionTrait,
        ask: impl Fn(&KnownReaders) -> bool,
    ) -> Result<bool> {
        let known = &self.store.pools.log.known;
        let generation = {
            let known = known.lock();
            if known.is_fresh() {
                return Ok(ask(&known));
            }
            known.generation
        };
        let read = KnownReaders::of(fetch(to, READERS, []).await?);
        let answer = ask(&read);
        let mut known = known.lock();
        let read_at = (known.generation == generation).then(Instant::now);
        *known = KnownReaders { read_at, generation: known.generation, ..read };
        Ok(answer)
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
            (None, Reader::Nats | Reader::Alerts) => Sequence::end_of(self.settle().await?.through),
            (None, Reader::Company(_)) => self.beginning(company, now).await?,
        };
        let row = [
            ("kind", kind.into()),
            ("company_id", company.into()),
            ("sequence", place.as_i64().into()),
            ("used_at", now.millis().into()),
        ];
        insert_new(&self.store.write, "event_reader", row).await?;
        self.readers_changed();
        Ok(place)
    }

    /// The end of a block without entries: every place that the company's programs had before is below it, also if nothing
    /// was written since.
    async fn beginning(self, company: Uuid, now: Timestamp) -> Result<Sequence> {
        let transaction = self.store.begin().await?;
        self.add_empty_block(&transaction, company, now).await?;
        let last = event_block::Entity::find().select_only().expr(event_block::Column::Seq.max());
        let last = last.filter(event_block::Column::CompanyId.eq(company)).into_tuple::<Option<i64>>();
        let block = last.one(&transaction).await?.flatten();
        transaction.commit().await?;
        Ok(Sequence::end_of(block.unwrap_or_default()))
    }

    /// Where the reader is; `None` if it is not registered. Its use is written from time to time.
    pub async fn place_of(self, reader: Reader, now: Timestamp) -> Result<Option<Sequence>> {
        let Some(row) = reader.row().one(&self.store.read).await? else { return Ok(None) };
        if now.from_now(Timestamp::from_millis(row.used_at)) >= USED_EVERY {
            let (kind, company) = reader.key();
            let of = [("kind", kind.into()), ("company_id", company.into())];
            update_rows(&self.store.write, "event_reader", [("used_at", now.millis().into())], of).await?;
        }
        Ok(Some(Sequence::from_i64(row.sequence)))
    }

    /// The reader has read up to there. A place never goes back.
    pub async fn advance(self, reader: Reader, to: Sequence) -> Result<()> {
        let (kind, company) = reader.key();
        let behind = Entity::update_many().col_expr(Column::Sequence, Expr::value(to.as_i64()));
        let behind = behind.filter(Column::Kind.eq(kind)).filter(Column::CompanyId.eq(company));
        behind.filter(Column::Sequence.lt(to.as_i64())).exec(&self.store.write).await?;
        Ok(())
    }

    /// The reader reads no more.
    pub async fn forget(self, reader: Reader) -> Result<()> {
        let (kind, company) = reader.key();
        let of = [("kind", kind.into()), ("company_id", company.into())];
        delete_rows(&self.store.write, "event_reader", of).await?;
        self.readers_changed();
        Ok(())
    }

    /// What is in the log after this place, of all companies. Of a block that was read in part, all counts.
    pub async fn behind(self, place: Sequence) -> Result<Behind> {
        use event_block::Column;
        let first = if place == Sequence::end_of(place.block()) { place.block() } else { place.block() - 1 };
        let after = event_block::Entity::find().filter(Column::Seq.gt(first)).select_only();
        let after = after.expr(sum_of(Expr::col(Column::Entries))).expr(Column::WrittenAt.min());
        let row = after.into_tuple::<(i64, Option<i64>)>().one(&self.store.read).await?;
        let (events, oldest) = row.unwrap_or_default();
        Ok(Behind { events: events.cast_unsigned(), oldest: oldest.map(Timestamp::from_millis) })
    }
}
