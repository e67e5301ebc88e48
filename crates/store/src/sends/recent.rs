//! A company's latest sends, for counts of their messages that block nothing: a page of sends, then the messages of small sends
//! together and those of a large one part by part.

use std::collections::HashMap;

use sea_orm::{QueryResult, Value};
use uuid::Uuid;

use super::list::{Filter, count_of_each_state, counts};
use super::send_state;
use crate::contacts::signed;
use crate::dialect::Rows;
use crate::nouns::Sends;
use crate::{Result, fetch};
use clock::Timestamp;
use domain::message;
use domain::send::{Counts, State};

/// A send whose messages can be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Countable {
    /// Its id; later sends have greater ones.
    pub id: Uuid,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// The stored state.
    pub state: State,
    /// Unique recipients.
    pub recipients: u64,
    /// Ordinals at and above it have no rows.
    pub high_water: u64,
}

impl Sends<'_> {
    /// The company's sends that were accepted at `from` or later, newest first, at most `limit`; with `before`, only those
    /// with lower ids.
    pub async fn accepted_since(
        self,
        from: Timestamp,
        before: Option<Uuid>,
        limit: u64,
    ) -> Result<Vec<Countable>> {
        let filter = Filter { from: Some(from), ..Filter::default() };
        let (mut condition, mut values) = filter.condition(self.company, from);
        if let Some(before) = before {
            values.push(before.into());
            condition += &format!(" AND id < ${}", values.len());
        }
        values.push(signed(limit).into());
        let sql = format!(
            "SELECT id, created_at, state, recipients, high_water FROM send WHERE {condition} \
             ORDER BY id DESC LIMIT ${}",
            values.len()
        );
        self.store.rows(sql, values).await?.iter().map(countable).collect()
    }

    /// The rows of each of these sends by state. A send without rows is not among them.
    pub async fn count_each(self, sends: &[Uuid]) -> Result<HashMap<Uuid, Counts>> {
        let asked = Rows::of_ids(self.store.backend, sends);
        if asked.is_empty() {
            return Ok(HashMap::new());
        }
        let (asked, values) = asked.select(1);
        // With a grouping by state as well, a million rows would be sorted first.
        let sql = format!(
            "SELECT send_id, {} FROM message WHERE send_id IN (SELECT id FROM {asked} AS asked) GROUP BY send_id",
            count_of_each_state()
        );
        let rows = self.store.rows(sql, values).await?;
        rows.iter().map(|row| Ok((row.try_get_by_index::<Uuid>(0)?, counts(row)?))).collect()
    }

    /// The rows of one send with ordinals from `from` up to `to`, by state.
    pub async fn count_part(self, send_id: Uuid, from: u64, to: u64) -> Result<Counts> {
        self.store.sends().count_between([send_id.into(), signed(from).into(), signed(to).into()]).await
    }
}

impl Sends<'_> {
    /// Why rows of these sends failed: the messages of each code of the provider's; `None` stands for failures without one.
    pub async fn causes_of(self, sends: &[Uuid]) -> Result<Vec<(Option<i64>, u64)>> {
        let asked = Rows::of_ids(self.store.backend, sends);
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let (asked, values) = asked.select(1);
        let sql = format!(
            "SELECT error_code, COUNT(*) FROM message WHERE send_id IN (SELECT id FROM {asked} AS asked) AND state = {} \
             GROUP BY error_code",
            message::State::Failed.as_i16()
        );
        self.causes(sql, values).await
    }

    /// Why rows of one send with ordinals from `from` up to `to` failed.
    pub async fn causes_of_part(self, send_id: Uuid, from: u64, to: u64) -> Result<Vec<(Option<i64>, u64)>> {
        let (within, failed) = (self.store.rows_between(), message::State::Failed.as_i16());
        let sql = format!("SELECT error_code, COUNT(*) {within} AND state = {failed} GROUP BY error_code");
        self.causes(sql, vec![send_id.into(), signed(from).into(), signed(to).into()]).await
    }

    async fn causes(self, sql: String, values: Vec<Value>) -> Result<Vec<(Option<i64>, u64)>> {
        let causes: Vec<(Option<i64>, i64)> = fetch(&self.store.read, sql, values).await?;
        Ok(causes.into_iter().map(|(code, messages)| (code, messages.cast_unsigned())).collect())
    }
}

fn countable(row: &QueryResult) -> Result<Countable> {
    let number = |index: usize| row.try_get_by_index::<i64>(index);
    Ok(Countable {
        id: row.try_get_by_index(0)?,
        created_at: Timestamp::from_millis(number(1)?),
        state: send_state(row.try_get_by_index(2)?)?,
        recipients: number(3)?.cast_unsigned(),
        high_water: number(4)?.cast_unsigned(),
    })
}
