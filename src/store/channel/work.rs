//! Channels that have something left to send, found without reading what is queued.

use sea_orm::QueryResult;
use uuid::Uuid;

use crate::clock::Timestamp;
use crate::domain::send::{Control, State};
use crate::store::template::APPROVED;
use crate::store::{Result, Store};

/// How many of a channel's unfinished sends are looked at, the oldest ones.
const OLDEST_SENDS: u32 = 100;

/// A channel with unfinished sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtWork {
    /// Which channel.
    pub channel_id: Uuid,
    /// Its oldest send with one recipient that may go now, if one of its oldest sends is such.
    pub direct: Option<Uuid>,
    /// The same of sends with recipient blocks.
    pub bulk: Option<Uuid>,
}

impl Store {
    /// Channels with unfinished sends whose id is greater than `after`, by id, at most `limit`.
    ///
    /// What it costs does not grow with what is queued: one step in an index leads to the next channel, and of each
    /// channel only the oldest sends are read.
    ///
    /// # Errors
    ///
    /// Those of any query.
    pub async fn channels_at_work(&self, after: Uuid, now: Timestamp, limit: u32) -> Result<Vec<AtWork>> {
        let sql = format!(
            "WITH RECURSIVE working(channel_id, number) AS (\
             SELECT first.channel_id, 1 FROM ({first}) AS first \
             UNION ALL \
             SELECT ({following}), number + 1 FROM working WHERE channel_id IS NOT NULL AND number < $3) \
             SELECT channel_id, ({direct}), ({bulk}) FROM working WHERE channel_id IS NOT NULL ORDER BY channel_id",
            first = next_channel("$1"),
            following = next_channel("working.channel_id"),
            direct = oldest_send("IS NOT NULL"),
            bulk = oldest_send("IS NULL"),
        );
        let rows = self.rows(sql, [after.into(), now.millis().into(), i64::from(limit).into()]).await?;
        let at_work = |row: &QueryResult| {
            Ok(AtWork {
                channel_id: row.try_get_by_index(0)?,
                direct: row.try_get_by_index(1)?,
                bulk: row.try_get_by_index(2)?,
            })
        };
        rows.iter().map(at_work).collect()
    }
}

/// The next channel with unfinished sends.
fn next_channel(after: &str) -> String {
    format!(
        "SELECT channel_id FROM send WHERE state < 2 AND channel_id > {after} ORDER BY channel_id LIMIT 1"
    )
}

/// The oldest send of the channel at hand that may go now, with one recipient or not.
fn oldest_send(recipient: &str) -> String {
    let (active, running) = (State::Active.as_i16(), Control::Running.as_i16());
    format!(
        "SELECT oldest.id FROM (SELECT id, state, control, due_at, template_id, recipient FROM send \
         WHERE channel_id = working.channel_id AND state < 2 ORDER BY id LIMIT {OLDEST_SENDS}) AS oldest \
         LEFT JOIN template ON template.id = oldest.template_id \
         WHERE oldest.state = {active} AND control = {running} AND (due_at IS NULL OR due_at <= $2) \
         AND (template_id IS NULL OR template.status = '{APPROVED}') AND recipient {recipient} \
         ORDER BY oldest.id LIMIT 1"
    )
}
