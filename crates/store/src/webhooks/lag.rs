//! How far the deliveries to a company's endpoints are behind its log of events.

use std::collections::HashMap;

use entity::webhook_replay;
use sea_orm::FromQueryResult as _;
use uuid::Uuid;

use super::replay::replay;
use crate::nouns::Webhooks;
use crate::{Result, moment};
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
            "SELECT webhook_endpoint.id AS endpoint, webhook_endpoint.lost, webhook_replay.*, \
             (SELECT count(*) FROM webhook_retry WHERE endpoint_id = webhook_endpoint.id) AS retries, \
             (SELECT count(*) FROM webhook_given_up WHERE endpoint_id = webhook_endpoint.id) AS given_up, \
             (SELECT written_at FROM event_block WHERE event_block.company_id = webhook_endpoint.company_id \
             AND seq >= (webhook_endpoint.sequence + 1) / {MOST} AND entries > 0 ORDER BY seq LIMIT 1) AS waiting_since \
             FROM webhook_endpoint LEFT JOIN webhook_replay ON webhook_replay.endpoint_id = webhook_endpoint.id \
             WHERE webhook_endpoint.company_id = $1"
        );
        let rows = self.store.rows(sql, [self.company.into()]).await?;
        rows.iter()
            .map(|row| {
                let count = |column: &str| row.try_get::<i64>("", column).map(i64::unsigned_abs);
                let replayed = Option::<webhook_replay::Model>::from_query_result(row, "")?;
                let lag = EndpointLag {
                    retries: count("retries")?,
                    given_up: count("given_up")?,
                    lost: count("lost")?,
                    waiting_since: moment(row, "waiting_since")?,
                    replay: replayed.map(replay).transpose()?,
                };
                Ok((row.try_get("", "endpoint")?, lag))
            })
            .collect()
    }
}
