//! Alerts to people: who is told of what, what waits to be told, and the outbox of mails.
//!
//! What happens is read from the log of events by one reader, [`Reader::Alerts`]. Its place moves in the transaction that
//! writes the [threads](AlertThread), and these change in the transaction that writes the mails: a process that ends anywhere
//! in between loses and repeats nothing. A mail is taken before it is sent and removed afterwards.

mod facts;
mod mark;
mod outbox;
mod subscriptions;

use sea_orm::QueryResult;
use uuid::Uuid;

pub use self::facts::FactPage;
pub use self::mark::EventMark;
pub use self::outbox::{AlertMail, MOST_MAILS, NewMail};
pub use self::subscriptions::{AlertChoice, AlertListener, MOST_CHOICES};
use crate::dialect::{Rows, Type};
use crate::event_log::Reader;
use crate::nouns::Alerts;
use crate::{Error, Result, Transaction, execute, fetch, moment};
use clock::Timestamp;
use domain::alert::{AlertKind, AlertThread};
use domain::event::log::{Fact, Sequence};

/// Which thread it is.
pub type ThreadKey = (Uuid, AlertKind, Uuid);

const KEY: &[(&str, Type)] = &[("company_id", Type::Uuid), ("kind", Type::Text), ("subject", Type::Uuid)];
const COLUMNS: &str = "alert_thread.company_id, alert_thread.kind, alert_thread.subject, troubled, untold, since, facts, \
                       due_at, held_until, told_better, told_at, revision";

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
            "SELECT {COLUMNS} FROM {asked} AS asked JOIN alert_thread ON alert_thread.company_id = asked.company_id \
             AND alert_thread.kind = asked.kind AND alert_thread.subject = asked.subject"
        );
        self.store.rows(sql, values).await?.iter().map(thread).collect()
    }

    /// The threads of a company in which something waits to be told by now.
    pub async fn due(self, company: Uuid, now: Timestamp) -> Result<Vec<AlertThread>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM alert_thread WHERE company_id = $1 AND due_at <= $2 ORDER BY due_at, kind, subject"
        );
        self.store.rows(sql, [company.into(), now.millis().into()]).await?.iter().map(thread).collect()
    }

    /// The companies in which something waits to be told by now, each with the time when its people were told last.
    pub async fn due_companies(self, now: Timestamp) -> Result<Vec<(Uuid, Option<Timestamp>)>> {
        let sql = "SELECT company_id, MAX(told_at) FROM alert_thread WHERE company_id IN \
                   (SELECT company_id FROM alert_thread WHERE due_at <= $1) GROUP BY company_id";
        let rows = fetch::<(Uuid, Option<i64>)>(&self.store.read, sql, [now.millis().into()]).await?;
        Ok(rows.into_iter().map(|(company, at)| (company, at.map(Timestamp::from_millis))).collect())
    }

    /// Writes what the reader heard, and moves its place. `false`, and nothing is written, if another process moved the place
    /// or wrote one of the threads meanwhile.
    pub async fn heard(self, from: Sequence, to: Sequence, threads: &[AlertThread]) -> Result<bool> {
        let transaction = self.store.begin().await?;
        let sql = "UPDATE event_reader SET sequence = $2 WHERE kind = $1 AND sequence = $3";
        let (kind, _) = Reader::Alerts.key();
        let values = [kind.into(), to.as_i64().into(), from.as_i64().into()];
        if execute(&transaction, sql, values).await? == 0 || !write(&transaction, threads).await? {
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
        let sql =
            "DELETE FROM alert_thread WHERE due_at IS NULL AND troubled = 0 AND COALESCE(told_at, 0) < $1";
        execute(&self.store.write, sql, [before.millis().into()]).await
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
        let sql = "INSERT INTO alert_thread (company_id, kind, subject, troubled, untold, since, facts, due_at, held_until, \
                   told_better, told_at, revision) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 + 1) \
                   ON CONFLICT (company_id, kind, subject) DO UPDATE SET troubled = excluded.troubled, \
                   untold = excluded.untold, since = excluded.since, facts = excluded.facts, due_at = excluded.due_at, \
                   held_until = excluded.held_until, told_better = excluded.told_better, told_at = excluded.told_at, \
                   revision = excluded.revision WHERE alert_thread.revision = excluded.revision - 1";
        let values = [
            (*company_id).into(),
            kind.as_str().into(),
            (*subject).into(),
            i64::from(*is_troubled).into(),
            untold.cast_signed().into(),
            millis(since).into(),
            facts.into(),
            millis(due_at).into(),
            millis(held_until).into(),
            i64::from(*told_better).into(),
            millis(told_at).into(),
            (*revision).into(),
        ];
        if execute(within, sql, values).await? == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

fn thread(row: &QueryResult) -> Result<AlertThread> {
    let is = |column| Ok::<_, Error>(row.try_get::<i64>("", column)? != 0);
    let facts: String = row.try_get("", "facts")?;
    Ok(AlertThread {
        company_id: row.try_get("", "company_id")?,
        kind: kind(&row.try_get::<String>("", "kind")?)?,
        subject: row.try_get("", "subject")?,
        is_troubled: is("troubled")?,
        untold: row.try_get::<i64>("", "untold")?.cast_unsigned(),
        since: moment(row, "since")?,
        facts: read_json::<Vec<Fact>>(&facts, "the facts of an alert")?,
        due_at: moment(row, "due_at")?,
        held_until: moment(row, "held_until")?,
        told_better: is("told_better")?,
        told_at: moment(row, "told_at")?,
        revision: row.try_get("", "revision")?,
    })
}

fn kind(word: &str) -> Result<AlertKind> {
    word.parse().map_err(|_| Error::Impossible(format!("{word} is no kind of alert")))
}

fn read_json<T: serde::de::DeserializeOwned>(text: &str, what: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| Error::Impossible(format!("{what}: {error}")))
}
