//! Guesses at passwords and codes, counted where every node sees them.
//!
//! A subject is a hash: of an account, a network, a device or a session. Which subjects a guess has, and how many
//! guesses are too many, is decided by those who sign people in. Times are by the database's clock, which the nodes
//! have in common. A row counts until [`KEPT`] after its last guess, and is never removed before.

use std::time::Duration;

use sea_orm::ConnectionTrait as _;

use crate::dialect::{Cell, Rows, Type, now};
use crate::nouns::SignIns;
use crate::{Result, execute, fetch};

/// How long after its last guess a subject's guesses count.
pub const KEPT: Duration = Duration::from_secs(3_600);

/// What is counted: a hash.
pub type Subject = [u8; 32];

const SUBJECTS: &[(&str, Type)] = &[("subject", Type::Bytes)];

/// The guesses of a subject.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Guesses {
    /// How many count now.
    pub attempts: u32,
    /// How long ago the last one began.
    pub since: Duration,
    /// Whether the subject has a row.
    pub is_stored: bool,
}

/// The rows of these subjects, in the subjects' order.
fn in_order(rows: Vec<(Vec<u8>, i64, i64)>, subjects: &[Subject]) -> Vec<Guesses> {
    let mut found = vec![Guesses::default(); subjects.len()];
    for (subject, attempts, since) in rows {
        let since = Duration::from_millis(u64::try_from(since).unwrap_or_default());
        let attempts = if since < KEPT { u32::try_from(attempts).unwrap_or_default() } else { 0 };
        let places = subjects.iter().zip(&mut found).filter(|(one, _)| one.as_slice() == subject);
        places.for_each(|(_, place)| *place = Guesses { attempts, since, is_stored: true });
    }
    found
}

impl SignIns<'_> {
    fn subjects(self, subjects: &[Subject]) -> Rows {
        // Rows are locked in the order of their keys.
        let mut sorted = subjects.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let mut rows = Rows::new(self.store.backend, SUBJECTS);
        sorted.iter().for_each(|subject| rows.push([Cell::Bytes(subject)]));
        rows
    }

    /// The guesses of these subjects.
    pub async fn guesses(self, subjects: &[Subject]) -> Result<Vec<Guesses>> {
        let (asked, values) = self.subjects(subjects).select(1);
        let sql = format!(
            "SELECT subject, attempts, {} - last_at AS since FROM sign_in_guess
             WHERE subject IN (SELECT subject FROM {asked} AS asked)",
            now(self.store.backend)
        );
        Ok(in_order(fetch(&self.store.read, sql, values).await?, subjects))
    }

    /// Counts a guess for each of these subjects, unless `wait` says that it has to wait; returns that wait. Guesses
    /// at the same subject take turns, on whichever node they are made.
    pub async fn count_guess(
        self,
        subjects: &[Subject],
        wait: impl Fn(&[Guesses]) -> Duration,
    ) -> Result<Duration> {
        let transaction = self.store.begin().await?;
        let (asked, values) = self.subjects(subjects).select(1);
        // The update changes nothing: it locks the rows that exist. SQLite needs a condition between a sub-select and
        // the conflict.
        let sql = format!(
            "INSERT INTO sign_in_guess (subject, attempts, last_at)
             SELECT subject, 0, 0 FROM {asked} AS asked WHERE TRUE ORDER BY subject
             ON CONFLICT (subject) DO UPDATE SET attempts = sign_in_guess.attempts
             RETURNING subject, attempts, {} - last_at AS since",
            now(self.store.backend)
        );
        let waits = wait(&in_order(fetch(&transaction, sql, values).await?, subjects));
        if waits > Duration::ZERO {
            return transaction.unchanged(waits).await;
        }
        let (asked, values) = self.subjects(subjects).behind([kept().into()]);
        let sql = format!(
            "UPDATE sign_in_guess SET last_at = {now},
                 attempts = CASE WHEN last_at <= {now} - $1 THEN 1 ELSE attempts + 1 END
             WHERE subject IN (SELECT subject FROM {asked} AS asked)",
            now = now(self.store.backend)
        );
        execute(&transaction, sql, values).await?;
        transaction.commit().await?;
        Ok(Duration::ZERO)
    }

    /// Takes a guess of each of the subjects `back`, and forgets all guesses of the others.
    pub async fn end_guess(self, back: &[Subject], forgotten: &[Subject]) -> Result<()> {
        let transaction = self.store.begin().await?;
        let all = [back, forgotten].concat();
        if !self.store.locking().is_empty() {
            // All rows first, in the one order, because each statement below is about some of them.
            let (asked, values) = self.subjects(&all).select(1);
            let sql = format!(
                "SELECT subject FROM sign_in_guess WHERE subject IN (SELECT subject FROM {asked} AS asked)
                 ORDER BY subject{}",
                self.store.locking()
            );
            transaction.query_all_raw(self.store.statement(sql, values)).await?;
        }
        for (subjects, sql) in [
            (back, "UPDATE sign_in_guess SET attempts = attempts - 1"),
            (forgotten, "UPDATE sign_in_guess SET attempts = 0"),
            (&*all, "DELETE FROM sign_in_guess"),
        ] {
            if subjects.is_empty() {
                continue;
            }
            let (asked, values) = self.subjects(subjects).select(1);
            let over = if sql.starts_with("DELETE") { " AND attempts <= 0" } else { "" };
            let sql = format!("{sql} WHERE subject IN (SELECT subject FROM {asked} AS asked){over}");
            execute(&transaction, sql, values).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Removes some rows that count no more, at most `limit`, and counts the others up to `most`.
    pub async fn sweep_guesses(self, limit: u32, most: u64) -> Result<u64> {
        let skip = if self.store.locking().is_empty() { "" } else { " SKIP LOCKED" };
        let over = format!("last_at <= {} - $1", now(self.store.backend));
        let sql = format!(
            "DELETE FROM sign_in_guess WHERE {over} AND subject IN (SELECT subject FROM sign_in_guess
             WHERE {over} ORDER BY last_at LIMIT $2{}{skip})",
            self.store.locking()
        );
        let values = [kept().into(), i64::from(limit).into()];
        execute(&self.store.write, sql, values).await?;
        let sql = "SELECT COUNT(*) FROM (SELECT 1 FROM sign_in_guess LIMIT $1) AS counted";
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.store.count(sql, [most.into()]).await
    }
}

fn kept() -> i64 {
    i64::try_from(KEPT.as_millis()).unwrap_or(i64::MAX)
}
