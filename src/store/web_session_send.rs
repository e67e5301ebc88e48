//! The sends of web sessions, by the time that is in their ids.

use sea_orm::{QueryResult, Value};
use uuid::Uuid;

use super::web_session_contact::MOST_TIMES;
use super::{Result, Store};
use crate::clock::Timestamp;

/// In so many words, because the index is a partial one.
pub(super) const ATTEMPTS: &str = "SELECT id FROM send
    WHERE channel_id = $1 AND id >= $2 AND recipient IS NOT NULL AND expires_at IS NOT NULL AND high_water > 0
    ORDER BY id DESC LIMIT $3";
pub(super) const OF_STAMP: &str = "SELECT id FROM send WHERE id >= $1 AND id <= $2 AND channel_id = $3";

/// The bits of an id behind its milliseconds.
const BEHIND_MILLIS: u32 = 80;
/// Ids have so many bits of milliseconds.
const MILLIS_BITS: u32 = 48;

impl Store {
    /// When, at `since` or later, those sends of a web session were accepted of which a message was attempted, or may
    /// have been: the time in their ids. Ascending; the latest 100,000. Sends of web sessions are told by having one
    /// recipient and an expiry, which all of them have.
    ///
    /// # Errors
    ///
    /// Those of any query.
    pub async fn web_attempts_since(&self, channel: Uuid, since: Timestamp) -> Result<Vec<Timestamp>> {
        let first = since.millis().max(0).cast_unsigned();
        let values = [channel.into(), id_at(first).into(), MOST_TIMES.into()];
        let ids = self.ids_of(ATTEMPTS, values).await?;
        Ok(ids.into_iter().rev().map(accepted_at).collect())
    }

    /// The send of the channel whose id has these Unix milliseconds and ends with these bytes; `None` when there is
    /// none, or more than one: nobody can tell which is meant then.
    ///
    /// # Errors
    ///
    /// Those of any query.
    pub async fn send_of_stamp(&self, channel: Uuid, millis: u64, tail: [u8; 3]) -> Result<Option<Uuid>> {
        if millis >> MILLIS_BITS > 0 {
            return Ok(None);
        }
        let (first, rest) = (id_at(millis), (1_u128 << BEHIND_MILLIS) - 1);
        let last = Uuid::from_u128(first.as_u128() | rest);
        let ids = self.ids_of(OF_STAMP, [first.into(), last.into(), channel.into()]).await?;
        let mut matching = ids.into_iter().filter(|id| id.as_bytes().ends_with(&tail));
        Ok(matching.next().filter(|_| matching.next().is_none()))
    }

    async fn ids_of(&self, sql: &str, values: [Value; 3]) -> Result<Vec<Uuid>> {
        let rows = self.rows(sql, values).await?;
        rows.iter().map(|row: &QueryResult| Ok(row.try_get_by_index(0)?)).collect()
    }
}

/// No id of these milliseconds is lower.
const fn id_at(millis: u64) -> Uuid {
    Uuid::from_u128((millis as u128) << BEHIND_MILLIS)
}

/// The time in a send's id.
const fn accepted_at(id: Uuid) -> Timestamp {
    // 48 bits are never negative.
    Timestamp::from_millis(((id.as_u128() >> BEHIND_MILLIS) as u64).cast_signed())
}
