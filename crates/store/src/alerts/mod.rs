//! Alerts to people: who is told of what, what waits to be told, and the outbox of mails.
//!
//! What happens is read from the log of events by one reader, [`Reader::Alerts`]. Its place moves in the transaction that
//! writes the [threads](AlertThread), and these change in the transaction that writes the mails: a process that ends anywhere
//! in between loses and repeats nothing. A mail is taken before it is sent and removed afterwards.

mod facts;
mod mark;
mod outbox;
mod subscriptions;

use entity::alert_thread::{Column, Entity, Model};
use sea_orm::sea_query::{ExprTrait as _, OnConflict};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, Insert, QueryFilter as _, QueryOrder as _, QuerySelect as _,
    QueryTrait as _,
};
use uuid::Uuid;

pub use self::facts::FactPage;
pub use self::mark::EventMark;
pub use self::outbox::{AlertMail, MOST_MAILS, NewMail};
pub use self::subscriptions::{AlertChoice, AlertListener, MOST_CHOICES};
use crate::dialect::{Rows, Type};
use crate::event_log::Reader;
use crate::nouns::Alerts;
use crate::one_row::update_rows;
use crate::{Error, Result, Transaction};
use clock::Timestamp;
use domain::alert::{AlertKind, AlertThread};
use domain::event::log::{Fact, Sequence};

/// Which thread it is.
pub type ThreadKey = (Uuid, AlertKind, Uuid);

const KEY: &[(&str, Type)] = &[("company_id", Type::Uuid), ("kind", Type::Text), ("subject", Type::Uuid)];

impl Alerts<'_> {
    /// Those of these threads in which something happened.
    pub async fn threads(self, keys: &[ThreadKey]) -> Result<Vec<AlertThread>> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let mut rows = Rows::new(self.store.backend, KEY);
        for (company, kind, subject) in keys {
            rows.push([(*company).into(), kind.as_str().into(), (*subject).into()]);
        }
        let (asked, values) = rows.select(1);
        let sql = format!(
            "SELECT alert_thread.* FROM {asked} AS asked JOIN alert_thread ON alert_thread.company_id = asked.company_id \
             AND alert_thread.kind = asked.kind AND alert_thread.subject = asked.subject"
        );
        let found = Entity::find().from_raw_sql(self.store.statement(sql, values));
        found.all(&self.store.read).await?.iter().map(thread).collect()
    }

    /// The threads of a company in which something waits to be told by now.
    pub async fn due(self, company: Uuid, now: Timestamp) -> Result<Vec<AlertThread>> {
        let due =
            Entity::find().filter(Column::CompanyId.eq(company)).filter(Column::DueAt.lte(now.millis()));
        let due = due.order_by_asc(Column::DueAt).order_by_asc(Column::Kind).order_by_asc(Column::Subject);
        due.all(&self.store.read).await?.iter().map(thread).collect()
    }

    /// The companies in which something waits to be told by now, each with the time when its people were told last.
    pub async fn due_companies(self, now: Timestamp) -> Result<Vec<(Uuid, Option<Timestamp>)>> {
        let companies = || Entity::find().select_only().column(Column::CompanyId);
        let due = companies().filter(Column::DueAt.lte(now.millis())).into_query();
        let told = companies().expr(Column::ToldAt.max()).filter(Column::CompanyId.in_subquery(due));
        let told = told.group_by(Column::CompanyId).into_tuple::<(Uuid, Option<i64>)>();
        let rows = told.all(&self.store.read).await?;
        Ok(rows.into_iter().map(|(company, at)| (company, at.map(Timestamp::from_millis))).collect())
    }

    /// Writes what the reader heard, and moves its place. `false`, and nothing is written, if another process moved the place
    /// or wrote one of the threads meanwhile.
    pub async fn heard(self, from: Sequence, to: Sequence, threads: &[AlertThread]) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let (kind, _) = Reader::Alerts.key();
        let of = [("kind", kind.into()), ("sequence", from.as_i64().into())];
        let moved = update_rows(&transaction, "event_reader", [("sequence", to.as_i64().into())], of).await?;
        if moved == 0 || !write(&transaction, threads).await? {
            return transaction.unchanged(false).await;
        }
        transaction.commit().await?;
        Ok(true)
    }

    /// Writes threads whose people are told, with the mails. `false`, and nothing is written, if another process wrote one of the
    /// threads meanwhile.
    pub async fn tell(self, threads: &[AlertThread], mails: &[NewMail<'_>], now: Timestamp) -> Result<bool> {
        let transaction = self.store.begin().await?;
        if !write(&transaction, threads).await? {
            return transaction.unchanged(false).await;
        }
        for mail in mails {
            outbox::add(&transaction, mail, now).await?;
        }
        transaction.commit().await?;
        Ok(true)
    }

    /// Removes threads in which nothing happened since this time.
    pub async fn forget(self, before: Timestamp) -> Result<u64> {
        let gone = Entity::delete_many().filter(Column::DueAt.is_null()).filter(Column::Troubled.eq(0_i64));
        let gone = gone.filter(Column::ToldAt.if_null(0_i64).lt(before.millis()));
        Ok(gone.exec(&self.store.write).await?.rows_affected)
    }
}

/// Writes threads, each over the revision that it was read with. Returns whether all were.
async fn write(within: &Transaction, threads: &[AlertThread]) -> Result<bool> {
    for thread in threads {
        let AlertThread {
            company_id,
            kind,
            subject,
            is_troubled,
            untold,
            since,
            facts,
            due_at,
            held_until,
            told_better,
            told_at,
            revision,
        } = thread;
        let facts = serde_json::to_string(facts)
            .map_err(|error| Error::Impossible(format!("facts that are no JSON: {error}")))?;
        let millis = |at: &Option<Timestamp>| at.map(Timestamp::millis);
        let row = Model {
            company_id: *company_id,
            kind: kind.as_str().to_owned(),
            subject: *subject,
            troubled: (*is_troubled).into(),
            untold: untold.cast_signed(),
            since: millis(since),
            facts,
            due_at: millis(due_at),
            held_until: millis(held_until),
            told_better: (*told_better).into(),
            told_at: millis(told_at),
            revision: revision + 1,
        };
        let as_read = OnConflict::columns([Column::CompanyId, Column::Kind, Column::Subject])
            .update_columns([
                Column::Troubled,
                Column::Untold,
                Column::Since,
                Column::Facts,
                Column::DueAt,
                Column::HeldUntil,
                Column::ToldBetter,
                Column::ToldAt,
                Column::Revision,
            ])
            .action_and_where(Column::Revision.eq(*revision))
            .to_owned();
        if Insert::one(row).on_conflict(as_read).exec_without_returning(within).await? == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

fn thread(row: &Model) -> Result<AlertThread> {
    let at = |millis: Option<i64>| millis.map(Timestamp::from_millis);
    Ok(AlertThread {
        company_id: row.company_id,
        kind: kind(&row.kind)?,
        subject: row.subject,
        is_troubled: row.troubled != 0,
        untold: row.untold.cast_unsigned(),
        since: at(row.since),
        facts: read_json::<Vec<Fact>>(&row.facts, "the facts of an alert")?,
        due_at: at(row.due_at),
        held_until: at(row.held_until),
        told_better: row.told_better != 0,
        told_at: at(row.told_at),
        revision: row.revision,
    })
}

fn kind(word: &str) -> Result<AlertKind> {
    word.parse().map_err(|_| Error::Impossible(format!("{word} is no kind of alert")))
}

fn read_json<T: serde::de::DeserializeOwned>(text: &str, what: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| Error::Impossible(format!("{what}: {error}")))
}
