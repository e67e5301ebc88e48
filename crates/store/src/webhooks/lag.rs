//! How far the deliveries to a company's endpoints are behind its log of events.

use std::collections::HashMap;

use uuid::Uuid;

use super::replay::{COLUMNS as REPLAY_COLUMNS, replay};
use crate::Result;
use crate::nouns::Webhooks;
use clock::Timestamp;
use domain::event::log::MOST;
use domain::webhook::Replay;

/// What an endpoint has not got yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndpointLag {
    /// The failed events that wait for another attempt.
    pub retries: u64,
    /// The events that were given up although the log has them.
    pub given_up: u64,
    /// The events that were removed from the log before the endpoint got them, whatever their types, since a person enabled it
    /// last.
    pub lost: u64,
    /// When the oldest part of the company's log was written that the endpoint has not got, whatever types of events are in
    /// it; `None` when there is none.
    pub waiting_since: Option<Timestamp>,
    /// Its last replay, whether it has ended or not.
    pub replay: Option<Replay>,
}

impl Webhooks<'_> {
    /// How far behind each of the company's endpoints is. The place of an endpoint in the log is some seconds old when only
    /// events of other types were written.
    pub async fn lags(self) -> Result<HashMap<Uuid, EndpointLag>> {
        // The number of a place divided by the entries of a block is the number of its block.
        let sql = format!(
            "SELECT webhook_endpoint.id, \
             (SELECT count(*) FROM webhook_retry WHERE endpoint_id = webhook_endpoint.id), \
             (SELECT written_at FROM event_block WHERE event_block.company_id = webhook_endpoint.company_id \
             AND seq >= (webhook_endpoint.sequence + 1) / {MOST} AND entries > 0 ORDER BY seq LIMIT 1), \
             (SELECT count(*) FROM webhook_given_up WHERE endpoint_id = webhook_endpoint.id), \
             webhook_endpoint.lost, {REPLAY_COLUMNS} \
             FROM webhook_endpoint LEFT JOIN webhook_replay ON webhook_replay.endpoint_id = webhook_endpoint.id \
             WHERE webhook_endpoint.company_id = $1"
        );
        let rows = self.store.rows(sql, [self.company.into()]).await?;
        rows.iter()
            .map(|row| {
                let retries: i64 = row.try_get_by_index(1)?;
                let waiting_since: Option<i64> = row.try_get_by_index(2)?;
                let given_up: i64 = row.try_get_by_index(3)?;
                let (lost, replayed): (i64, Option<Uuid>) =
                    (row.try_get_by_index(4)?, row.try_get_by_index(5)?);
                let lag = EndpointLag {
                    retries: retries.unsigned_abs(),
                    waiting_since: waiting_since.map(Timestamp::from_millis),
                    given_up: given_up.unsigned_abs(),
                    lost: lost.unsigned_abs(),
                    replay: replayed.map(|_| replay(row, 5)).transpose()?,
                };
                Ok((row.try_get_by_index(0)?, lag))
            })
            .collect()
    }
}
