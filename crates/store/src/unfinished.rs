//! The messages that have not gone, by channel and by what their sends wait for: figures for monitoring.

use uuid::Uuid;

use super::{Error, Result, fetch};
use crate::nouns::AllSends;
use crate::templates::APPROVED;
use clock::Timestamp;
use domain::channel::Status;
use domain::send::{Control, State};

/// What a send waits for, as far as the database knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// For nothing: its channel decides.
    No,
    /// A person paused it.
    Paused,
    /// Its `send_at` has not come.
    Scheduled,
    /// Its template is not approved.
    Template,
}

/// The messages of a channel that have not gone and wait for the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    /// The channel.
    pub channel_id: Uuid,
    /// Its tier.
    pub tier: String,
    /// Its status.
    pub status: Status,
    /// What their sends wait for.
    pub waits: Waits,
    /// Whether their sends have a template.
    pub has_template: bool,
    /// Messages that were not taken up yet.
    pub fresh: u64,
    /// Messages that were put back, and go later.
    pub again: u64,
}

impl AllSends<'_> {
    /// The messages of all unfinished sends. Reads every unfinished send and every message that was put back, so the cost
    /// grows with their number.
    pub async fn census(self, now: Timestamp) -> Result<Vec<Unfinished>> {
        let sql = format!(
            "SELECT left_over.channel_id, channel.tier, channel.status, left_over.waits, left_over.has_template, \
             CAST(SUM(left_over.fresh) AS BIGINT), CAST(SUM(left_over.again) AS BIGINT) \
             FROM (SELECT send.channel_id, send.recipients - send.settled AS fresh, \
             (SELECT COUNT(*) FROM message WHERE message.send_id = send.id AND message.retry_at IS NOT NULL \
             AND message.ordinal < send.settled) AS again, \
             CASE WHEN send.control <> $2 THEN 1 WHEN send.send_at > $3 THEN 2 \
             WHEN send.template_id IS NOT NULL AND COALESCE(template.status, '') <> '{APPROVED}' THEN 3 ELSE 0 END AS waits, \
             CASE WHEN send.template_id IS NULL THEN 0 ELSE 1 END AS has_template \
             FROM send LEFT JOIN template ON template.id = send.template_id \
             WHERE send.state < 2 AND send.state = $1) AS left_over \
             JOIN channel ON channel.id = left_over.channel_id \
             GROUP BY left_over.channel_id, channel.tier, channel.status, left_over.waits, left_over.has_template"
        );
        let values = [State::Active.as_i16().into(), Control::Running.as_i16().into(), now.millis().into()];
        type Columns = (Uuid, String, String, i32, i32, i64, i64);
        let rows = fetch::<Columns>(&self.store.read, sql, values).await?;
        let unfinished = |(channel_id, tier, word, waits, has_template, fresh, again): Columns| {
            Ok(Unfinished {
                channel_id,
                tier,
                status: word.parse().map_err(|_| Error::Impossible(format!("channel status `{word}`")))?,
                waits: match waits {
                    1 => Waits::Paused,
                    2 => Waits::Scheduled,
                    3 => Waits::Template,
                    _ => Waits::No,
                },
                has_template: has_template != 0,
                fresh: fresh.max(0).cast_unsigned(),
                again: again.cast_unsigned(),
            })
        };
        rows.into_iter().map(unfinished).collect()
    }
}
