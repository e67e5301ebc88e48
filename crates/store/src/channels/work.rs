//! Finds channels that have messages to send, without reading the queued messages.

use sea_orm::Value;
use uuid::Uuid;

use crate::nouns::AllChannels;
use crate::templates::APPROVED;
use crate::{Result, fetch};
use clock::Timestamp;
use domain::send::{Control, State};

/// The number of a channel's oldest unfinished sends that are examined.
const OLDEST_SENDS: u32 = 100;
/// How many of a channel's newest sends are counted, at most.
const COUNTED: u32 = 100;

/// A channel with unfinished sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtWork {
    /// Which channel.
    pub channel_id: Uuid,
    /// Its oldest send with one recipient that may go now, among its oldest sends.
    pub direct: Option<Uuid>,
    /// The same for sends with recipient blocks.
    pub bulk: Option<Uuid>,
}

/// Values that change when sends of a channel are accepted, resumed or ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recent {
    /// The newest send that is neither finished nor paused.
    pub newest: Option<Uuid>,
    /// How many such sends there are, counted up to a hundred.
    pub count: i64,
}

impl AllChannels<'_> {
    /// Channels with unfinished sends whose id is greater than `after`, by id, at most `limit`.
    ///
    /// The cost does not grow with the queue: one step in an index leads to the next channel, and only the oldest sends
    /// of each channel are read.
    pub async fn at_work(self, after: Uuid, now: Timestamp, limit: u32) -> Result<Vec<AtWork>> {
        let rows = fetch(&self.store.read, at_work_sql(""), work_values(after, now, limit)).await?;
        Ok(rows.into_iter().map(|(channel_id, direct, bulk)| AtWork { channel_id, direct, bulk }).collect())
    }

    /// Like [`AllChannels::at_work`](crate::AllChannels::at_work), with the values that show whether there are sends that the channel does not
    /// know of yet.
    pub async fn with_news(self, after: Uuid, now: Timestamp, limit: u32) -> Result<Vec<(AtWork, Recent)>> {
        let going = format!(
            "FROM send WHERE channel_id = working.channel_id AND state < 2 AND state = {} AND control = {} \
             ORDER BY id DESC LIMIT",
            State::Active.as_i16(),
            Control::Running.as_i16(),
        );
        let recent =
            format!(", (SELECT id {going} 1), (SELECT COUNT(*) FROM (SELECT 1 {going} {COUNTED}) AS going)");
        let rows = fetch(&self.store.read, at_work_sql(&recent), work_values(after, now, limit)).await?;
        let with_news = |(channel_id, direct, bulk, newest, count)| {
            (AtWork { channel_id, direct, bulk }, Recent { newest, count })
        };
        Ok(rows.into_iter().map(with_news).collect())
    }
}

fn work_values(after: Uuid, now: Timestamp, limit: u32) -> [Value; 3] {
    [after.into(), now.millis().into(), i64::from(limit).into()]
}

/// The query for channels with unfinished sends, with these columns in addition.
fn at_work_sql(columns: &str) -> String {
    format!(
        "WITH RECURSIVE working(channel_id, number) AS (\
             SELECT first.channel_id, 1 FROM ({first}) AS first \
             UNION ALL \
             SELECT ({following}), number + 1 FROM working WHERE channel_id IS NOT NULL AND number < $3) \
             SELECT channel_id, ({direct}), ({bulk}){columns} FROM working WHERE channel_id IS NOT NULL ORDER BY channel_id",
        first = next_channel("$1"),
        following = next_channel("working.channel_id"),
        direct = oldest_send("IS NOT NULL"),
        bulk = oldest_send("IS NULL"),
    )
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
